//! How many decisions a second become durable, next to how often the disk can sync at all.
//!
//! `bench-store [FOLDER] [postgres URL]`: the folder must be on the disk in question; the database must be empty.

use std::{
    env,
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use countersign_canon::{Json, Text, Timestamp};
use countersign_ledger::{Access, LoadedVersion, Principal, Session, SessionKind, Source};
use countersign_policy::{ActionKind, Mode, ProbeFacts, Role, shipped};
use countersign_store::{
    Call, Command, Decide, FreshIds, Origin, PolicyDocuments, Proceed, Reply, StartSession, Store, StoreOptions,
};

const SLICE: Duration = Duration::from_secs(3);

fn main() {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder).unwrap();
    let database = arguments.next();
    let before = syncs_per_second(folder.path());
    println!("append 1 KB + fdatasync, before: {before:.0}/s");
    let data = folder.path().join("data");
    let store = Store::open(&StoreOptions { data, database, checkpoints: None, now: now() }).unwrap();
    let session = set_up(&store);
    for clients in [1, 16, 128] {
        let (rate, latencies) = decisions(&store, &session, clients);
        let at = |part: usize| latencies[(latencies.len() - 1) * part / 100].as_micros();
        println!(
            "{clients:3} clients: {rate:.0} durable decisions/s, {:.2} of the disk, p50 {} us, p99 {} us",
            rate / before,
            at(50),
            at(99)
        );
    }
    let after = syncs_per_second(folder.path());
    println!("append 1 KB + fdatasync, after: {after:.0}/s");
    verify(&store);
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_unix(i64::try_from(since.as_secs()).unwrap()).unwrap()
}

/// What the disk can do: appends of a kilobyte, each synced.
fn syncs_per_second(folder: &Path) -> f64 {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(folder.join("raw")).unwrap();
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < SLICE {
        file.write_all(&[7; 1024]).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}

fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::new(text.to_owned()).unwrap()
}

fn call(access: Access, command: Command) -> Call {
    let source = Source { component: text("bench"), version: text("0.1.0"), provider: text("countersign") };
    let principal = Principal::parse("bench").unwrap();
    Call { origin: Origin { principal, access, credential: None, endpoint: text("bench"), source }, now: now(), command }
}

fn set_up(store: &Store) -> Session {
    let json = |bytes: &[u8]| Json::parse(bytes).unwrap().into_owned();
    let standard = shipped::STANDARD;
    let documents = PolicyDocuments {
        policy: json(standard.policy),
        lattice: json(standard.lattice),
        allow: json(standard.allow),
    };
    store.call(call(Access::Admin, Command::Activate(Box::new(documents)))).unwrap();
    let start = StartSession {
        session_id: FreshIds::session().unwrap(),
        kind: SessionKind::Session,
        role: Role::parse("copilot").unwrap(),
        mode: Mode::WritesAllowed,
        client: text("bench"),
    };
    let answer = store.call(call(Access::Admin, Command::StartSession(start))).unwrap();
    let Reply::Session(session) = answer.reply else { panic!("{:?}", answer.reply) };
    session
}

/// Decisions that are to begin, from so many clients at once: how many a second, and how long each took, sorted.
fn decisions(store: &Store, session: &Session, clients: usize) -> (f64, Vec<Duration>) {
    let stopped = AtomicBool::new(false);
    let start = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let client = || {
            let mut latencies = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let asked = Instant::now();
                let answer = store.call(call(Access::Agent, Command::Decide(Box::new(read_file(session))))).unwrap();
                assert!(answer.permit.is_some(), "{:?}", answer.reply);
                latencies.push(asked.elapsed());
            }
            latencies
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        std::thread::sleep(SLICE);
        stopped.store(true, Ordering::Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    (rate, latencies)
}

fn read_file(session: &Session) -> Decide {
    Decide {
        session_id: Some(session.session_id.clone()),
        action_kind: ActionKind::parse("fs.read").unwrap(),
        action_payload: Json::object([("path", Json::from("src/main.rs"))]),
        approval_id: None,
        evidence_refs: Vec::new(),
        warrant: None,
        probe: None,
        proceed: Proceed::Begin,
        client_request_id: None,
        fresh: FreshIds::make().unwrap(),
    }
}

/// Verifies the whole log and makes every decision again.
fn verify(store: &Store) {
    let start = Instant::now();
    let report = store.verify_log(None, &[]).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "log verify: {} events, {} checkpoints in {seconds:.2} s, {:.0} events/s",
        report.head.size,
        report.checkpoints,
        report.head.size as f64 / seconds
    );
    let versions = store.policy_versions().unwrap();
    let loaded = LoadedVersion::load(&versions[0]).unwrap();
    let records = store.decisions(0, u32::MAX).unwrap();
    let probe = ProbeFacts::load(br#"{"schema": "urm.probe.facts.v1", "client": "bench", "facts": []}"#).unwrap();
    let start = Instant::now();
    for decision in &records {
        decision.record.redecide(&loaded, &probe).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("re-decided {} decisions in {seconds:.2} s, {:.0}/s", records.len(), records.len() as f64 / seconds);
}

//! How many decisions a second become durable, next to how often the disk can sync at all.
//!
//! `bench-store [FOLDER] [postgres URL]`: the folder must be on the disk in question; the database must be empty.

mod over_http;

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

pub(crate) const SLICE: Duration = Duration::from_secs(3);

fn main() {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().map_or_else(env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder).unwrap();
    let database = arguments.next();
    let before = syncs_per_second(folder.path());
    println!("append 1 KB + fdatasync, before: {before:.0}/s, p50 {} us", sync_p50(folder.path()).as_micros());
    let data = folder.path().join("data");
    over_the_network(&data, database.clone(), before);
    let store = Store::open(&StoreOptions { data, database, checkpoints: None, now: now() }).unwrap();
    let session = set_up(&store);
    for clients in [1, 16, 128] {
        show(&format!("in process, {clients:3} clients"), decisions(&store, &session, clients), before);
    }
    let after = syncs_per_second(folder.path());
    println!("append 1 KB + fdatasync, after: {after:.0}/s");
    println!("memory: {}", memory());
    fill(&store, &session);
    println!("memory after that: {}", memory());
    verify(&store);
}

/// Decisions over HTTP, then questions, next to an empty handler.
fn over_the_network(data: &Path, database: Option<String>, disk: f64) {
    let served = over_http::start(data, database);
    let decision = served.decision();
    for clients in [1, 16, 128] {
        show(&format!("over HTTP, {clients:3} clients"), over_http::load(served.address(), &decision, clients), disk);
    }
    let empty = over_http::start_empty();
    for clients in [1, 16] {
        let (nothing, _) = over_http::load(empty, &served.evaluation(empty), clients);
        let (asked, _) = over_http::load(served.address(), &served.evaluation(served.address()), clients);
        println!(
            "policy/eval, {clients:2} clients: {asked:.0}/s, an empty handler {nothing:.0}/s: {:.0} %",
            100.0 * asked / nothing
        );
    }
}

fn show(what: &str, (rate, latencies): (f64, Vec<Duration>), disk: f64) {
    let at = |part: usize| latencies[(latencies.len() - 1) * part / 100].as_micros();
    println!(
        "{what}: {rate:.0} durable decisions/s, {:.2} of the disk, p50 {} us, p99 {} us",
        rate / disk,
        at(50),
        at(99)
    );
}

/// How long one synced append takes, in the middle.
fn sync_p50(folder: &Path) -> Duration {
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(folder.join("raw")).unwrap();
    let mut taken: Vec<Duration> = (0..2000)
        .map(|_| {
            let start = Instant::now();
            file.write_all(&[7; 1024]).unwrap();
            file.sync_data().unwrap();
            start.elapsed()
        })
        .collect();
    taken.sort_unstable();
    taken[taken.len() / 2]
}

/// What this process holds in memory.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned()
}

/// As many further decisions as the variable FILL says, from 128 clients.
fn fill(store: &Store, session: &Session) {
    let wanted: usize = env::var("FILL").ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut made = 0;
    while made < wanted {
        made += decisions(store, session, 128).1.len();
        println!("  {made} decisions more, {}", memory());
    }
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
    let loaded = LoadedVersion::load(versions.first().unwrap()).unwrap();
    let records = store.decisions(0, 100_000).unwrap();
    let probe = ProbeFacts::load(br#"{"schema": "urm.probe.facts.v1", "client": "bench", "facts": []}"#).unwrap();
    let start = Instant::now();
    for decision in &records {
        decision.record.redecide(&loaded, &probe).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("re-decided {} decisions in {seconds:.2} s, {:.0}/s", records.len(), records.len() as f64 / seconds);
}

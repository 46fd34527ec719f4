//! Power cuts, replayed: the system calls of a real run are recorded, and the files rebuilt as a cut would leave them.
//!
//! At a boundary between two calls a file holds what was synced; of what was written since, nothing, everything, or some
//! 512-byte sectors. Making, renaming and removing files count as durable at once; the shared memory of SQLite's log is not a
//! file that survives. Killing a process shows none of this: its writes are in the system's memory.
#![expect(
    clippy::disallowed_methods,
    reason = "Effect: processes, files and the environment, to record a run and rebuild files"
)]
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command,
    sync::Mutex,
};

use countersign_ledger::{EventKind, ExecutionState, SignedCheckpoint, StreamId};
use countersign_policy::{ApprovalState, Mode};
use countersign_store::{Decide, Store, StoreOptions};

use crate::{
    lab::{Lab, action, at},
    server::{is_soak, skip},
    sqlite::{append, event},
};

/// Where a recorded run works; nothing for an ordinary test.
pub(crate) const FOLDER: &str = "COUNTERSIGN_POWER_CUT_FOLDER";

/// The folder of a recorded run, or one of the test's own.
fn work_in(run: impl FnOnce(&Path)) {
    match env::var_os(FOLDER) {
        Some(folder) => run(Path::new(&folder)),
        None => run(tempfile::tempdir().unwrap().path()),
    }
}

/// Notes that something was acknowledged, in one write that ends with a zero.
fn acknowledge(folder: &Path, what: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join("acks")).unwrap();
    file.write_all(format!("{what}\0").as_bytes()).unwrap();
}

/// The run: approvals asked for, granted and used up; each answer's checkpoint is what its client keeps.
#[test]
fn the_recorded_run_of_the_store() {
    work_in(|folder| {
        let lab = Lab::at(&folder.join("data"));
        let session = lab.session(Mode::WritesAllowed);
        for round in 0..40 {
            if round % 15 == 14 {
                // What is in the log goes to its place now, not only after many more rounds than anybody waits for.
                let beside = rusqlite::Connection::open(folder.join("data/state.db")).unwrap();
                beside.execute_batch("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(RESTART)").unwrap();
            }
            let id = lab.approved(&session);
            let decide = Decide { approval_id: Some(id), ..action(Some(&session), "deploy", "prod") };
            let (_, answer) = lab.decide(decide).unwrap();
            assert!(answer.permit.is_some());
            acknowledge(folder, answer.checkpoint.unwrap().as_str());
        }
    });
}

/// The planted bug, and the control: rows in a plain database, synced at every commit or not.
fn plain_run(folder: &Path, synchronous: &str) {
    fs::create_dir_all(folder.join("data")).unwrap();
    let connection = rusqlite::Connection::open(folder.join("data/state.db")).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; CREATE TABLE t (n INTEGER);"
        ))
        .unwrap();
    for number in 0..60 {
        connection.execute("INSERT INTO t VALUES (?1)", [number]).unwrap();
        acknowledge(folder, &number.to_string());
    }
}

/// The planted bug, and the control: what uses an approval up is told in the same transaction, or after it.
fn telling_run(folder: &Path, between: &str) {
    fs::create_dir_all(folder.join("data")).unwrap();
    let connection = rusqlite::Connection::open(folder.join("data/state.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             BEGIN; CREATE TABLE used (n INTEGER); CREATE TABLE told (n INTEGER); COMMIT;",
        )
        .unwrap();
    for number in 0..60 {
        let statements = format!(
            "BEGIN IMMEDIATE; INSERT INTO used VALUES ({number}); {between} INSERT INTO told VALUES ({number}); COMMIT;"
        );
        connection.execute_batch(&statements).unwrap();
        acknowledge(folder, &number.to_string());
    }
}

#[test]
fn the_recorded_run_with_the_event_inside() {
    work_in(|folder| telling_run(folder, ""));
}

#[test]
fn the_recorded_run_with_the_event_outside() {
    work_in(|folder| telling_run(folder, "COMMIT; BEGIN IMMEDIATE;"));
}

#[test]
fn the_recorded_run_with_full_sync() {
    work_in(|folder| plain_run(folder, "FULL"));
}

#[test]
fn the_recorded_run_with_normal_sync() {
    work_in(|folder| plain_run(folder, "NORMAL"));
}

/// One recorded call.
#[derive(Debug, Clone)]
enum Op {
    Write { path: String, offset: Option<usize>, bytes: Vec<u8> },
    Truncate { path: String, size: usize },
    Sync { path: String },
    Create { path: String },
    Rename { from: String, to: String },
    Remove { path: String },
}

/// Runs one of the tests above under strace; its calls, in order.
fn record(test: &str) -> Vec<Op> {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let output = Command::new("strace")
        .args(["-f", "-y", "-xx", "-s", "1000000", "-o"])
        .arg(&trace)
        .args(["-e", "trace=openat,write,pwrite64,ftruncate,fsync,fdatasync,rename,unlink"])
        .arg(env::current_exe().unwrap())
        .args([test, "--exact", "--test-threads=1"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let root = format!("{}/", folder.path().display());
    let text = fs::read_to_string(&trace).unwrap();
    let mut waiting = BTreeMap::new();
    text.lines().filter_map(|line| read_call(line, &root, &mut waiting)).collect()
}

/// Reads one line of strace; a call that another thread interrupted counts when it ends.
fn read_call<'t>(line: &'t str, root: &str, waiting: &mut BTreeMap<&'t str, &'t str>) -> Option<Op> {
    let (pid, call) = line.split_once(char::is_whitespace)?;
    let call = call.trim_start();
    if let Some(begun) = call.strip_suffix(" <unfinished ...>") {
        waiting.insert(pid, begun);
        return None;
    }
    let call = if call.starts_with("<... ") { waiting.remove(pid)? } else { call };
    let (name, arguments) = call.split_once('(')?;
    let texts: Vec<&str> = arguments.split('"').skip(1).step_by(2).collect();
    let own = |bytes: Vec<u8>| {
        let path = String::from_utf8(bytes).ok()?;
        path.strip_prefix(root).map(str::to_owned)
    };
    let named = |index: usize| own(unhex(texts.get(index)?));
    let open = || own(unhex(arguments.split_once('<')?.1.split_once('>')?.0));
    let last_number = || {
        let inside = arguments.rsplit_once(')').map_or(arguments, |(inside, _)| inside);
        inside.rsplit(", ").next()?.parse::<usize>().ok()
    };
    match name {
        "openat" if arguments.contains("O_CREAT") => Some(Op::Create { path: named(0)? }),
        "write" => Some(Op::Write { path: open()?, offset: None, bytes: unhex(texts.first()?) }),
        "pwrite64" => {
            Some(Op::Write { path: open()?, offset: Some(last_number()?), bytes: unhex(texts.first()?) })
        }
        "ftruncate" => Some(Op::Truncate { path: open()?, size: last_number()? }),
        "fsync" | "fdatasync" => Some(Op::Sync { path: open()? }),
        "rename" => Some(Op::Rename { from: named(0)?, to: named(1)? }),
        "unlink" => Some(Op::Remove { path: named(0)? }),
        _ => None,
    }
}

fn unhex(text: &str) -> Vec<u8> {
    text.split("\\x").skip(1).filter_map(|digits| u8::from_str_radix(digits, 16).ok()).collect()
}

/// A file as the disk has it, and what was written since.
#[derive(Default, Clone)]
struct Image {
    durable: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Bytes(usize, Vec<u8>),
    Size(usize),
}

/// What of the unsynced changes a cut leaves.
#[derive(Debug, Clone, Copy)]
enum Left {
    Nothing,
    Everything,
    SomeSectors(u64),
}

impl Image {
    fn at_cut(&self, left: Left) -> Vec<u8> {
        let mut bytes = self.durable.clone();
        let mut state = if let Left::SomeSectors(seed) = left { seed } else { 0 };
        let mut is_kept = || match left {
            Left::Nothing => false,
            Left::Everything => true,
            Left::SomeSectors(_) => {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) & 1 == 1
            }
        };
        for change in &self.since {
            match change {
                Change::Size(size) if is_kept() => bytes.resize(*size, 0),
                Change::Size(_) => (),
                Change::Bytes(offset, written) => {
                    let mut from = 0;
                    while from < written.len() {
                        let until = written.len().min((offset + from) / 512 * 512 + 512 - offset);
                        if is_kept() {
                            bytes.resize(bytes.len().max(offset + until), 0);
                            bytes[offset + from..offset + until].copy_from_slice(&written[from..until]);
                        }
                        from = until;
                    }
                }
            }
        }
        bytes
    }

    fn size(&self) -> usize {
        self.at_cut(Left::Everything).len()
    }
}

/// The disk during a run, and what was acknowledged so far.
#[derive(Default)]
struct Disk {
    files: BTreeMap<String, Image>,
    acknowledged: Vec<String>,
}

impl Disk {
    fn apply(&mut self, op: Op) {
        match op {
            Op::Write { path, bytes, .. } if path == "acks" => {
                let text = String::from_utf8(bytes).unwrap();
                self.acknowledged.push(text.trim_end_matches('\0').to_owned());
            }
            Op::Write { path, offset, bytes } => {
                let image = self.files.entry(path).or_default();
                let offset = offset.unwrap_or_else(|| image.size());
                image.since.push(Change::Bytes(offset, bytes));
            }
            Op::Truncate { path, size } => self.files.entry(path).or_default().since.push(Change::Size(size)),
            Op::Sync { path } => {
                let image = self.files.entry(path).or_default();
                image.durable = image.at_cut(Left::Everything);
                image.since.clear();
            }
            Op::Create { path } => drop(self.files.entry(path).or_default()),
            Op::Rename { from, to } => {
                let image = self.files.remove(&from).unwrap_or_default();
                self.files.insert(to, image);
            }
            Op::Remove { path } => drop(self.files.remove(&path)),
        }
    }

    /// The files as a cut now would leave them.
    fn cut(&self, left: Left) -> Vec<(&str, Vec<u8>)> {
        let kept = self.files.iter().filter(|(path, _)| path.starts_with("data/") && !path.ends_with("-shm"));
        kept.map(|(path, image)| (path.as_str(), image.at_cut(left))).collect()
    }
}

/// What came of a replay.
#[derive(Default)]
struct Replayed {
    faults: Vec<String>,
    /// Every state that was looked at: the files and how much was acknowledged. The same state twice is looked at once.
    seen: BTreeSet<u64>,
    cuts: usize,
}

/// Where the power is cut, and how much of what is not synced is left.
#[derive(Clone, Copy)]
struct Cuts {
    /// At so many places, evenly; zero for every boundary.
    places: usize,
    /// In so many random ways, besides nothing and everything.
    torn: u64,
}

/// Cuts the power again and again during a run; what went wrong, and how often was looked.
fn replay(
    ops: &[Op],
    Cuts { places, torn }: Cuts,
    check: impl Fn(&Path, &[String]) -> Result<(), String> + Sync,
) -> Replayed {
    let every = ops.len().checked_div(places).map_or(1, |every| every.max(1));
    let replayed = Mutex::new(Replayed::default());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (replayed, check) = (&replayed, &check);
            // Each goes through the whole run and looks at its share of the places.
            scope.spawn(move || {
                let mut disk = Disk::default();
                for (index, op) in ops.iter().enumerate() {
                    disk.apply(op.clone());
                    if index % every == 0 && index / every % workers == worker {
                        let seeds = (0..torn).map(|seed| u64::try_from(index).unwrap() * torn + seed);
                        for left in
                            [Left::Nothing, Left::Everything].into_iter().chain(seeds.map(Left::SomeSectors))
                        {
                            look(&disk, (index, left), replayed, check);
                        }
                    }
                }
            });
        }
    });
    replayed.into_inner().unwrap()
}

/// Looks at what one cut leaves, unless the same was looked at before.
fn look(
    disk: &Disk,
    (index, left): (usize, Left),
    replayed: &Mutex<Replayed>,
    check: impl Fn(&Path, &[String]) -> Result<(), String>,
) {
    let files = disk.cut(left);
    let mut state = DefaultHasher::new();
    (&files, disk.acknowledged.len()).hash(&mut state);
    {
        let mut replayed = replayed.lock().unwrap();
        replayed.cuts += 1;
        if !replayed.seen.insert(state.finish()) {
            return;
        }
    }
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
    let private = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    private(&folder.path().join("data"), 0o700);
    for (path, bytes) in files {
        fs::write(folder.path().join(path), bytes).unwrap();
        private(&folder.path().join(path), 0o600);
    }
    if let Err(fault) = check(folder.path(), &disk.acknowledged) {
        replayed.lock().unwrap().faults.push(format!("after call {index}, {left:?} left: {fault}"));
    }
}

/// The store opens without repair, has everything that was acknowledged, used nothing twice, and goes on.
pub(crate) fn survives(folder: &Path, acknowledged: &[String]) -> Result<(), String> {
    let options = StoreOptions { data: folder.join("data"), database: None, checkpoints: None, now: at(0) };
    let store = Store::open(&options).map_err(|error| format!("it does not open: {error}"))?;
    let kept: Vec<SignedCheckpoint> = acknowledged.iter().cloned().map(SignedCheckpoint::from_text).collect();
    let consumed = store.approvals(Some(ApprovalState::Consumed)).map_err(|error| error.to_string())?;
    let executions = store.executions().map_err(|error| error.to_string())?;
    let events = store.log_events(0, u32::MAX).map_err(|error| error.to_string())?;
    let events = events.iter().filter(|it| it.event.event == EventKind::ApprovalConsumed).count();
    let begun =
        executions.iter().filter(|it| it.state == ExecutionState::Begun && it.approval_id.is_some()).count();
    if [consumed.len(), events, begun] != [consumed.len(); 3] || consumed.len() < acknowledged.len() {
        let found = format!("{} approvals consumed, {events} events, {begun} executions", consumed.len());
        return Err(format!("{found}, {} acknowledged", acknowledged.len()));
    }
    // What was there before is part of what is verified after going on.
    append(&store, vec![event(StreamId::policy())]);
    store.verify_log(None, &kept).map(drop).map_err(|error| error.to_string())
}

/// Every acknowledged row is there.
fn keeps_rows(folder: &Path, acknowledged: &[String]) -> Result<(), String> {
    let connection =
        rusqlite::Connection::open(folder.join("data/state.db")).map_err(|error| error.to_string())?;
    let found: Result<i64, _> = connection.query_row("SELECT COUNT(*) FROM t", (), |row| row.get(0));
    match found {
        Ok(found) if usize::try_from(found).is_ok_and(|found| found >= acknowledged.len()) => Ok(()),
        Err(_) if acknowledged.is_empty() => Ok(()),
        other => Err(format!("{other:?} rows, {} acknowledged", acknowledged.len())),
    }
}

/// As much was told as was used up, and everything acknowledged is there.
fn tells_what_it_used(folder: &Path, acknowledged: &[String]) -> Result<(), String> {
    let connection =
        rusqlite::Connection::open(folder.join("data/state.db")).map_err(|error| error.to_string())?;
    let count = |table: &str| -> Result<i64, rusqlite::Error> {
        connection.query_row(&format!("SELECT COUNT(*) FROM {table}"), (), |row| row.get(0))
    };
    let least = i64::try_from(acknowledged.len()).unwrap();
    match (count("used"), count("told")) {
        (Ok(used), Ok(told)) if used == told && used >= least => Ok(()),
        (Err(_), Err(_)) if acknowledged.is_empty() => Ok(()),
        other => Err(format!("{other:?} used and told, {} acknowledged", acknowledged.len())),
    }
}

/// The calls of a recorded run; nothing if they cannot be recorded here.
fn recorded(test: &str, run: &str) -> Option<Vec<Op>> {
    if Command::new("strace").arg("-V").output().is_err() {
        skip(test, "strace is not installed");
        return None;
    }
    Some(record(run))
}

#[test]
fn nothing_acknowledged_is_lost_to_a_power_cut() {
    let test = "power_cut::nothing_acknowledged_is_lost_to_a_power_cut";
    let Some(ops) = recorded(test, "power_cut::the_recorded_run_of_the_store") else { return };
    let acknowledged = ops.iter().filter(|op| matches!(op, Op::Write { path, .. } if path == "acks")).count();
    assert_eq!(acknowledged, 40, "the run was recorded whole");
    let (cuts, least) =
        if is_soak() { (Cuts { places: 0, torn: 15 }, 40_000) } else { (Cuts { places: 300, torn: 1 }, 600) };
    let Replayed { faults, seen, cuts } = replay(&ops, cuts, survives);
    assert_eq!(faults, Vec::<String>::new());
    assert!(seen.len() >= least, "{} different states after {cuts} cuts", seen.len());
    println!("{cuts} cuts at {} calls left {} different states; each was good", ops.len(), seen.len());
}

/// The harness sees what is lost without a sync at every commit, and nothing where there is one.
#[test]
fn the_harness_catches_a_missing_sync() {
    let test = "power_cut::the_harness_catches_a_missing_sync";
    let cuts = Cuts { places: 40, torn: 1 };
    let Some(good) = recorded(test, "power_cut::the_recorded_run_with_full_sync") else { return };
    assert_eq!(replay(&good, cuts, keeps_rows).faults, Vec::<String>::new());
    let Some(bad) = recorded(test, "power_cut::the_recorded_run_with_normal_sync") else { return };
    let Replayed { faults, seen, .. } = replay(&bad, cuts, keeps_rows);
    assert!(faults.len() > seen.len() / 3, "{} of {}", faults.len(), seen.len());
}

/// The harness sees an event that is not in the transaction of what it tells of, and nothing where it is.
#[test]
fn the_harness_catches_an_event_outside_the_transaction() {
    let test = "power_cut::the_harness_catches_an_event_outside_the_transaction";
    let cuts = Cuts { places: 0, torn: 1 };
    let Some(good) = recorded(test, "power_cut::the_recorded_run_with_the_event_inside") else { return };
    assert_eq!(replay(&good, cuts, tells_what_it_used).faults, Vec::<String>::new());
    let Some(bad) = recorded(test, "power_cut::the_recorded_run_with_the_event_outside") else { return };
    let Replayed { faults, seen, .. } = replay(&bad, cuts, tells_what_it_used);
    assert!(faults.len() > seen.len() / 10, "{} of {}", faults.len(), seen.len());
}

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
    collections::BTreeMap, env, fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path,
    process::Command,
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

#[test]
fn the_recorded_run_with_full_sync() {
    work_in(|folder| plain_run(folder, "FULL"));
}

#[test]
fn the_recorded_run_with_normal_sync() {
    work_in(|folder| plain_run(folder, "NORMAL"));
}

/// One recorded call.
#[derive(Debug)]
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

    /// Writes the files as a cut now would leave them.
    fn cut(&self, folder: &Path, left: Left) {
        fs::create_dir(folder.join("data")).unwrap();
        fs::set_permissions(folder.join("data"), fs::Permissions::from_mode(0o700)).unwrap();
        let kept = self.files.iter().filter(|(path, _)| path.starts_with("data/") && !path.ends_with("-shm"));
        for (path, image) in kept {
            fs::write(folder.join(path), image.at_cut(left)).unwrap();
            fs::set_permissions(folder.join(path), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

/// Cuts the power at so many places of a run, three ways each; what went wrong, and how often was looked.
fn replay(
    ops: Vec<Op>,
    places: usize,
    check: impl Fn(&Path, &[String]) -> Result<(), String>,
) -> (Vec<String>, usize) {
    let every = ops.len().checked_div(places).map_or(1, |every| every.max(1));
    let (mut disk, mut faults, mut checks) = (Disk::default(), Vec::new(), 0);
    let shared = Path::new("/dev/shm");
    for (index, op) in ops.into_iter().enumerate() {
        disk.apply(op);
        if index % every != 0 {
            continue;
        }
        for left in [Left::Nothing, Left::Everything, Left::SomeSectors(u64::try_from(index).unwrap())] {
            let folder =
                if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
            disk.cut(folder.path(), left);
            checks += 1;
            if let Err(fault) = check(folder.path(), &disk.acknowledged) {
                faults.push(format!("after call {index}, {left:?} left: {fault}"));
            }
        }
    }
    (faults, checks)
}

/// The store opens without repair, has everything that was acknowledged, used nothing twice, and goes on.
pub(crate) fn survives(folder: &Path, acknowledged: &[String]) -> Result<(), String> {
    let options = StoreOptions { data: folder.join("data"), database: None, checkpoints: None, now: at(0) };
    let store = Store::open(&options).map_err(|error| format!("it does not open: {error}"))?;
    let kept: Vec<SignedCheckpoint> = acknowledged.iter().cloned().map(SignedCheckpoint::from_text).collect();
    store.verify_log(None, &kept).map_err(|error| error.to_string())?;
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
    append(&store, vec![event(StreamId::policy())]);
    store.verify_log(None, &kept).map(drop).map_err(|error| format!("after going on: {error}"))
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

fn has_strace() -> bool {
    Command::new("strace").arg("-V").output().is_ok()
}

#[test]
fn nothing_acknowledged_is_lost_to_a_power_cut() {
    if !has_strace() {
        skip("power_cut::nothing_acknowledged_is_lost_to_a_power_cut", "strace is not installed");
        return;
    }
    let ops = record("power_cut::the_recorded_run_of_the_store");
    let places = if is_soak() { 0 } else { 200 };
    let acknowledged = ops.iter().filter(|op| matches!(op, Op::Write { path, .. } if path == "acks")).count();
    assert_eq!(acknowledged, 40, "the run was recorded whole");
    let (faults, checks) = replay(ops, places, survives);
    assert_eq!(faults, Vec::<String>::new());
    assert!(checks >= 600, "{checks}");
    println!("{checks} checks");
}

/// The harness sees what is lost without a sync at every commit, and nothing where there is one.
#[test]
fn the_harness_catches_a_missing_sync() {
    if !has_strace() {
        skip("power_cut::the_harness_catches_a_missing_sync", "strace is not installed");
        return;
    }
    let (faults, _) = replay(record("power_cut::the_recorded_run_with_full_sync"), 40, keeps_rows);
    assert_eq!(faults, Vec::<String>::new());
    let (faults, checks) = replay(record("power_cut::the_recorded_run_with_normal_sync"), 40, keeps_rows);
    assert!(faults.len() > checks / 3, "{} of {checks}", faults.len());
}

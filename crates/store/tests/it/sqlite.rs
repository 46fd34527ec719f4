//! The embedded store on a real disk: a shared log, private files, an engine that can be trusted.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to set up and look at a store")]

use std::{
    fs,
    os::unix::fs::{FileExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use countersign_canon::{Nullable, Wire};
use countersign_ledger::{Access, EventContext, EventKind, NewEvent, Source, StreamId, detail};
use countersign_policy::Mode;
use countersign_store::{Command, Decide, Reply, Store, StoreError, StoreOptions, Swept, store_codes};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::lab::{Lab, action, at, origin, text};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".countersign");
    (folder, data)
}

fn options(data: &Path) -> StoreOptions {
    StoreOptions { data: data.to_path_buf(), database: None, checkpoints: None, now: at(0) }
}

fn open(data: &Path) -> Result<Store, StoreError> {
    Store::open(&options(data))
}

pub(crate) fn event(stream_id: StreamId) -> NewEvent {
    NewEvent {
        event: EventKind::Advisory,
        stream_id,
        ts: at(0),
        source: Source { component: text("store"), version: text("0.1.0"), provider: text("countersign") },
        context: EventContext {
            session_id: None,
            run_id: None,
            role: Nullable(None),
            endpoint: text("test"),
            ir_hash: None,
        },
        detail: detail([]),
    }
}

pub(crate) fn append(store: &Store, events: Vec<NewEvent>) {
    let call = countersign_store::Call {
        origin: origin("root", Access::Admin),
        now: at(0),
        command: Command::Append(events),
    };
    store.call(call).unwrap();
}

/// The policy's stream has a hundred events, one after the other, and the log so many in all.
fn check_gapless(data: &Path, log_size: u64) {
    let store = open(data).unwrap();
    let seqs: Vec<i64> =
        store.events(&StreamId::policy(), 0).unwrap().iter().map(|event| event.seq.get()).collect();
    assert_eq!(seqs, (1..=100).collect::<Vec<i64>>());
    assert_eq!(store.verify_log(None, &[]).unwrap().head.size, log_size);
}

#[test]
fn several_stores_on_one_folder_share_one_gapless_log() {
    let (_folder, data) = folder();
    drop(open(&data).unwrap());
    let threads = [0, 1, 2, 3].map(|_| {
        let data = data.clone();
        std::thread::spawn(move || {
            let store = open(&data).unwrap();
            for _ in 0..25 {
                append(&store, vec![event(StreamId::policy()), event(StreamId::audit(None))]);
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    check_gapless(&data, 200);
}

#[test]
fn stores_that_stay_and_stores_that_are_opened_briefly_share_one_gapless_log() {
    let (_folder, data) = folder();
    drop(open(&data).unwrap());
    let threads = [true, false, true, false].map(|is_brief| {
        let data = data.clone();
        std::thread::spawn(move || {
            let opened = || if is_brief { Store::open_briefly(&options(&data)) } else { open(&data) };
            let mut store = opened().unwrap();
            for round in 0..25 {
                append(&store, vec![event(StreamId::policy())]);
                if is_brief || round == 12 {
                    drop(store);
                    store = opened().unwrap();
                }
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    check_gapless(&data, 100);
}

#[test]
fn a_store_that_is_opened_briefly_is_alone_unless_somebody_is_there() {
    let (_folder, data) = folder();
    let shared_index = data.join("state.db-shm");
    let brief = Store::open_briefly(&options(&data)).unwrap();
    append(&brief, vec![event(StreamId::policy())]);
    assert!(!shared_index.exists(), "nobody to share it with");
    // Whoever comes now waits for its end.
    let (coming, comes) = (data.clone(), std::time::Instant::now());
    let other = std::thread::spawn(move || (open(&coming).unwrap(), comes.elapsed()));
    let pause = std::time::Duration::from_millis(100);
    std::thread::sleep(pause);
    drop(brief);
    let (lasting, waited) = other.join().unwrap();
    assert!(waited >= pause, "{waited:?}");
    assert!(shared_index.exists());
    let brief = Store::open_briefly(&options(&data)).unwrap();
    append(&brief, vec![event(StreamId::policy())]);
    assert_eq!(lasting.events(&StreamId::policy(), 0).unwrap().len(), 2);
}

#[test]
fn the_newest_checkpoint_lies_outside_and_is_the_one_that_was_answered() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::ReadOnly);
    let (_, answer) = lab.decide(crate::lab::action(Some(&session), "fs.read", "x")).unwrap();
    let outside = lab.data.parent().unwrap().join("outside");
    let copies: Vec<_> = fs::read_dir(outside).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert_eq!(fs::read_to_string(&copies[0]).unwrap(), answer.checkpoint.unwrap().as_str());
    assert_eq!(lab.store.copy_fault(), None);
}

#[test]
fn a_backup_is_a_store_that_verifies() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::ReadOnly);
    let (_, answer) = lab.decide(crate::lab::action(Some(&session), "fs.read", "x")).unwrap();
    let (_folder, other) = folder();
    fs::create_dir(&other).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).unwrap();
    lab.store.back_up(&other.join("state.db")).unwrap();
    let backup = open(&other).unwrap();
    let kept = [answer.checkpoint.unwrap()];
    assert_eq!(backup.verify_log(None, &kept).unwrap().head, lab.store.verify_log(None, &kept).unwrap().head);
    assert!(lab.store.back_up(&other.join("state.db")).is_err(), "nothing is overwritten");
}

#[test]
fn files_are_for_their_owner_alone() {
    let (_folder, data) = folder();
    let store = open(&data).unwrap();
    append(&store, vec![event(StreamId::policy())]);
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o7777;
    let modes = ["", "state.db", "state.db-wal", "state.db-shm", "log.key"].map(mode);
    assert_eq!(modes, [0o700, 0o600, 0o600, 0o600, 0o600]);
}

#[test]
fn a_store_that_others_can_write_is_refused() {
    for (name, mode) in [("state.db", 0o620), ("log.key", 0o602), ("", 0o770), ("", 0o707)] {
        let (_folder, data) = folder();
        drop(open(&data).unwrap());
        let path = data.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = open(&data).unwrap_err();
        assert_eq!(refused.code(), store_codes::STORE_OPEN_TO_OTHERS, "{name} {mode:o}");
    }
}

#[test]
fn a_file_that_is_not_a_store_is_called_damaged() {
    let (_folder, data) = folder();
    drop(open(&data).unwrap());
    fs::remove_file(data.join("state.db")).unwrap();
    fs::write(data.join("state.db"), vec![b'x'; 8192]).unwrap();
    fs::set_permissions(data.join("state.db"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(open(&data).unwrap_err().code(), store_codes::STORE_CORRUPT);
}

#[test]
fn a_store_from_the_future_is_refused_and_left_alone() {
    let (_folder, data) = folder();
    drop(open(&data).unwrap());
    let raw = Connection::open(data.join("state.db")).unwrap();
    raw.execute("INSERT INTO schema_version (version) VALUES (99)", ()).unwrap();
    drop(raw);
    let refused = open(&data).unwrap_err();
    assert!(matches!(refused, StoreError::SchemaNewer { found: 99, known: _ }), "{refused}");
}

#[test]
fn events_cannot_be_changed_or_deleted_by_statement() {
    let (_folder, data) = folder();
    let store = open(&data).unwrap();
    append(&store, vec![event(StreamId::policy())]);
    let raw = Connection::open(data.join("state.db")).unwrap();
    for statement in ["UPDATE event SET body = '{}'", "DELETE FROM event"] {
        let refused = raw.execute(statement, ()).unwrap_err();
        assert!(refused.to_string().contains("event is append-only"), "{refused}");
    }
}

/// A store of schema 1, which had events and nothing else, is brought to the newest schema and signed.
#[test]
fn a_store_of_the_first_schema_is_brought_forward() {
    let (_folder, data) = folder();
    let filled = open(&data).unwrap();
    append(&filled, vec![event(StreamId::policy()), event(StreamId::audit(None)), event(StreamId::policy())]);
    let bodies: Vec<String> = filled.log_events(0, 10).unwrap().into_iter().map(|event| event.body).collect();
    let (_folder, old) = folder();
    fs::create_dir(&old).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o700)).unwrap();
    let raw = Connection::open(old.join("state.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE schema_version (version BIGINT PRIMARY KEY);
         INSERT INTO schema_version VALUES (1);
         CREATE TABLE event (log_index INTEGER PRIMARY KEY, stream_id TEXT NOT NULL, seq INTEGER NOT NULL,
             body TEXT NOT NULL, UNIQUE (stream_id, seq)) STRICT;",
    )
    .unwrap();
    for (index, (body, (stream, seq))) in
        bodies.iter().zip([("urm_policy", 1), ("urm_audit:none", 1), ("urm_policy", 2)]).enumerate()
    {
        let index = i64::try_from(index).unwrap();
        raw.execute("INSERT INTO event VALUES (?1, ?2, ?3, ?4)", (index, stream, seq, body)).unwrap();
    }
    drop(raw);
    fs::set_permissions(old.join("state.db"), fs::Permissions::from_mode(0o600)).unwrap();
    let store = open(&old).unwrap();
    append(&store, vec![event(StreamId::policy())]);
    assert_eq!(store.verify_log(None, &[]).unwrap().head.size, 4);
}

#[test]
fn a_store_of_the_second_schema_keeps_its_answers_and_forgets_them_after_a_day() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    let name = Some(text("one"));
    let named = || Decide { client_request_id: name.clone(), ..action(Some(&session), "fs.write", "x") };
    let (first, _) = lab.decide(named()).unwrap();
    let raw = Connection::open(lab.data.join("state.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE reply (request_key TEXT PRIMARY KEY, payload_hash TEXT NOT NULL, checkpoint INTEGER NOT NULL,
             body TEXT NOT NULL) STRICT;
         INSERT INTO reply SELECT request_key, payload_hash, checkpoint, body FROM answer;
         DROP TABLE answer; ALTER TABLE execution ADD COLUMN begun_at INTEGER NOT NULL DEFAULT 0;
         CREATE TABLE before AS SELECT version, policy_hash, body FROM policy_version;
         DROP TABLE policy_version; ALTER TABLE before RENAME TO policy_version;
         CREATE TABLE action (action_hash TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
         CREATE TABLE probe (probe_hash TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
         INSERT INTO probe SELECT hash, body FROM document WHERE kind = 'probe';
         DROP TABLE document; DROP TABLE proof_run;
         DELETE FROM schema_version WHERE version > 2;",
    )
    .unwrap();
    drop(raw);
    // Opening brings it forward.
    let store = lab.replica();
    let version = store.version_in_force().unwrap().unwrap();
    let documents = [&version.policy, &version.lattice, &version.allow].map(Wire::to_canonical);
    let documents = documents.each_ref().map(String::as_bytes);
    assert_eq!(store.is_in_force(documents).unwrap(), Some(version.version));
    drop(store);
    let (again, answer) = lab.decide(named()).unwrap();
    assert_eq!((again.decision_id, answer.is_replay), (first.decision_id, true));
    lab.wait(86_401);
    let swept = lab.tell("root", Access::Admin, Command::Sweep).unwrap().reply;
    assert!(matches!(swept, Reply::Swept(Swept { forgotten: 1, .. })), "{swept:?}");
    assert!(!lab.decide(named()).unwrap().1.is_replay);
}

/// Whoever can write into the database still cannot sign.
#[test]
fn an_approval_that_was_forged_in_the_database_is_not_believed() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    let raw = Connection::open(lab.data.join("state.db")).unwrap();
    let signatures = "(SELECT json_extract(body, '$.signatures') FROM approval WHERE state = 'consumed')";
    let granted = "state = 'granted', body = json_set(body, '$.state', 'granted'";
    for change in [
        format!("{granted}) WHERE state = 'pending'"),
        format!("{granted}, '$.expires_at', '2099-01-01T00:00:00Z') WHERE state = 'pending'"),
        format!("{granted}, '$.signatures', json({signatures}), '$.reason', 'fine') WHERE state = 'pending'"),
    ] {
        let before = lab.approved(&session);
        assert!(lab.code(&session, "deploy", Some(&before)).1);
        let id = lab.request(&session, "deploy");
        assert_eq!(raw.execute(&format!("UPDATE approval SET {change}"), ()).unwrap(), 1, "{change}");
        let decided = lab.code(&session, "deploy", Some(&id));
        assert_eq!(decided, ("URM_APPROVAL_INVALID".to_owned(), false), "{change}");
        raw.execute("DELETE FROM approval", ()).unwrap();
    }
}

/// Whoever can write into the database can make a used approval look unused; it is still used once.
#[test]
fn an_approval_that_was_set_back_in_the_database_permits_nothing_again() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    let raw = Connection::open(lab.data.join("state.db")).unwrap();
    let id = lab.approved(&session);
    let granted: String = raw.query_row("SELECT body FROM approval", (), |row| row.get(0)).unwrap();
    assert!(lab.code(&session, "deploy", Some(&id)).1);
    let events = lab.kinds(&session);
    assert_eq!(raw.execute("UPDATE approval SET state = 'granted', body = ?1", [&granted]).unwrap(), 1);
    let again = Decide { approval_id: Some(id), ..action(Some(&session), "deploy", "prod") };
    let refused = lab.decide(again).unwrap_err();
    assert_eq!(refused.code(), store_codes::URM_STORE_UNAVAILABLE, "{refused}");
    assert_eq!(lab.kinds(&session), events, "and nothing was half done");
    assert!(lab.code(&session, "fs.write", None).1, "others go on");
    assert_eq!(lab.store.executions().unwrap().len(), 2);
}

/// What a reviewer is shown is what the approval is for, or nothing.
#[test]
fn an_action_that_was_changed_in_the_database_is_not_shown() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.request(&session, "deploy");
    let hash = lab.store.approval(&id).unwrap().unwrap().action_hash;
    assert!(lab.store.action(&hash).unwrap().is_some());
    let raw = Connection::open(lab.data.join("state.db")).unwrap();
    let change = "UPDATE document SET body = replace(body, 'prod', 'test') WHERE kind = 'action'";
    assert_eq!(raw.execute(change, ()).unwrap(), 1);
    let refused = lab.store.action(&hash).unwrap_err();
    assert_eq!(refused.code(), store_codes::STORE_CORRUPT, "{refused}");
}

/// While everybody queues, somebody beside the writer puts the write-ahead log into the database, and it begins anew.
#[test]
fn the_log_of_a_busy_store_begins_anew_beside_the_writer() {
    // The writer itself would do so at 20 000 pages, 160 MB; told at 2 000, the other has time until then.
    const LOG_BYTES_MAX: u64 = 150 << 20;
    let (_folder, data) = folder();
    let store = open(&data).unwrap();
    let long = NewEvent { detail: detail([("text", "x".repeat(8000).into())]), ..event(StreamId::policy()) };
    let call = countersign_store::Call {
        origin: origin("root", Access::Admin),
        now: at(0),
        command: Command::Append(vec![long; 50]),
    };
    let log = data.join("state.db-wal");
    let beginning = log_beginning(&log);
    let mut events = 0;
    while log_beginning(&log) == beginning {
        let bytes = fs::metadata(&log).unwrap().len();
        assert!(bytes < LOG_BYTES_MAX, "the log has {bytes} bytes, and did not begin anew");
        let (answered, answer) = std::sync::mpsc::channel();
        store.submit(call.clone(), Box::new(move |result| answered.send(result).unwrap()));
        answer.recv().unwrap().unwrap();
        events += 50;
    }
    assert_eq!(store.verify_log(None, &[]).unwrap().head.size, events);
    drop(store);
    open(&data).unwrap().check_integrity().unwrap();
}

/// What a write-ahead log begins with: how often it began anew, and the salt of this time.
fn log_beginning(log: &Path) -> [u8; 12] {
    let mut beginning = [0; 12];
    fs::File::open(log).unwrap().read_exact_at(&mut beginning, 12).unwrap();
    beginning
}

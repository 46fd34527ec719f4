//! The embedded store on a real disk: gapless streams, private files, an engine that can be trusted.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to set up and look at a store")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use countersign_canon::{Json, Nullable, Object, Text, Timestamp, Value};
use countersign_ledger::{EventContext, EventKind, NewEvent, SessionId, Source, StreamId};
use countersign_store::{Sqlite, StoreError, store_codes};
use rusqlite::Connection;
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join(".countersign");
    (folder, data)
}

fn event(stream_id: StreamId, note: &str) -> NewEvent {
    let text = |text: &str| Text::new(text.to_owned()).unwrap();
    let Value::Object(detail) = Json::object([("note", Json::from(note.to_owned()))]).value else {
        panic!("an object is an object");
    };
    NewEvent {
        event: EventKind::Advisory,
        stream_id,
        ts: Timestamp::parse("2026-02-12T09:10:00Z").unwrap(),
        source: Source { component: text("store"), version: text("0.1.0"), provider: text("countersign") },
        context: EventContext {
            session_id: None,
            run_id: None,
            role: Nullable(None),
            endpoint: Text::new("test".to_owned()).unwrap(),
            ir_hash: None,
        },
        detail,
    }
}

fn session_stream(id: &str) -> StreamId {
    StreamId::copilot(&SessionId::parse(id).unwrap())
}

fn seqs_and_notes(store: &Sqlite, stream: &StreamId, after_seq: i64) -> Vec<(i64, String)> {
    let note = |detail: &Object<'static>| detail.get("note").and_then(Json::as_str).unwrap().to_owned();
    let events = store.events(stream, after_seq).unwrap();
    events.iter().map(|event| (event.seq.get(), note(&event.detail))).collect()
}

#[test]
fn every_stream_counts_from_one_without_gaps_and_survives_reopening() {
    let (_folder, data) = folder();
    let (a, b) = (session_stream("a"), session_stream("b"));
    let mut store = Sqlite::open(&data).unwrap();
    store.append(vec![event(a.clone(), "a1"), event(b.clone(), "b1"), event(a.clone(), "a2")]).unwrap();
    drop(store);

    let mut store = Sqlite::open(&data).unwrap();
    let appended = store.append(vec![event(a.clone(), "a3 \u{0}\u{1F600}")]).unwrap();
    assert_eq!(store.events(&a, 2).unwrap(), appended);
    let all = [(1, "a1"), (2, "a2"), (3, "a3 \u{0}\u{1F600}")].map(|(seq, note)| (seq, note.to_owned()));
    assert_eq!(seqs_and_notes(&store, &a, 0), all);
    assert_eq!(seqs_and_notes(&store, &b, 0), [(1, "b1".to_owned())]);
    assert_eq!(seqs_and_notes(&store, &StreamId::policy(), 0), []);
}

#[test]
fn two_connections_share_one_gapless_stream() {
    let (_folder, data) = folder();
    let stream = session_stream("shared");
    let threads = [0, 1, 2, 3].map(|_| {
        let (data, stream) = (data.clone(), stream.clone());
        std::thread::spawn(move || {
            let mut store = Sqlite::open(&data).unwrap();
            for _ in 0..25 {
                store.append(vec![event(stream.clone(), "x")]).unwrap();
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let store = Sqlite::open(&data).unwrap();
    let seqs: Vec<i64> = seqs_and_notes(&store, &stream, 0).into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(seqs, (1..=100).collect::<Vec<i64>>());
}

#[test]
fn files_are_for_their_owner_alone() {
    let (_folder, data) = folder();
    let mut store = Sqlite::open(&data).unwrap();
    store.append(vec![event(StreamId::policy(), "x")]).unwrap();
    let mode = |name: &str| fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o7777;
    let modes = ["", "state.db", "state.db-wal", "state.db-shm"].map(mode);
    assert_eq!(modes, [0o700, 0o600, 0o600, 0o600]);
}

#[test]
fn a_store_that_others_can_write_is_refused() {
    for (name, mode) in [("state.db", 0o620), ("state.db", 0o602), ("", 0o770), ("", 0o707)] {
        let (_folder, data) = folder();
        drop(Sqlite::open(&data).unwrap());
        let path = data.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let refused = Sqlite::open(&data).unwrap_err();
        assert_eq!(refused.code(), store_codes::STORE_OPEN_TO_OTHERS, "{name} {mode:o}");
    }
}

#[test]
fn a_file_that_is_not_a_store_is_called_damaged() {
    let (_folder, data) = folder();
    drop(Sqlite::open(&data).unwrap());
    fs::remove_file(data.join("state.db")).unwrap();
    fs::write(data.join("state.db"), vec![b'x'; 8192]).unwrap();
    fs::set_permissions(data.join("state.db"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(Sqlite::open(&data).unwrap_err().code(), store_codes::STORE_CORRUPT);
}

#[test]
fn a_store_from_the_future_is_refused_and_left_alone() {
    let (_folder, data) = folder();
    drop(Sqlite::open(&data).unwrap());
    let raw = Connection::open(data.join("state.db")).unwrap();
    raw.execute("INSERT INTO schema_version (version) VALUES (99)", ()).unwrap();
    drop(raw);
    let refused = Sqlite::open(&data).unwrap_err();
    assert!(matches!(refused, StoreError::SchemaNewer { found: 99, known: _ }), "{refused}");
}

#[test]
fn events_cannot_be_changed_or_deleted_by_statement() {
    let (_folder, data) = folder();
    let mut store = Sqlite::open(&data).unwrap();
    store.append(vec![event(StreamId::policy(), "x")]).unwrap();
    let raw = Connection::open(data.join("state.db")).unwrap();
    for statement in ["UPDATE event SET body = '{}'", "DELETE FROM event"] {
        let refused = raw.execute(statement, ()).unwrap_err();
        assert!(refused.to_string().contains("event is append-only"), "{refused}");
    }
}

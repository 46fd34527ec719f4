//! Somebody with a database client changes the log; verifying it names the first bad place, each time.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to copy a store and change the copy")]
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use countersign_ledger::{LogPlace, LogReport};
use countersign_policy::Mode;
use countersign_store::{Store, StoreOptions, VerifyError};
use rusqlite::Connection;

use crate::{
    lab::{Lab, action, at},
    server::Server,
};

/// A small, repeatable source of numbers: the test says its seed when it fails.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }
}

/// A database client in the wrong hands.
enum Raw {
    Sqlite(Connection),
    Postgresql(postgres::Client),
}

type Rows = Vec<Vec<String>>;

impl Raw {
    fn run(&mut self, statements: &str) {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(statements).unwrap(),
            Self::Postgresql(client) => client.batch_execute(statements).unwrap(),
        }
    }

    /// Takes away what keeps others from changing the log.
    fn unlock(&mut self) {
        self.run(match self {
            Self::Sqlite(_) => {
                "DROP TRIGGER event_no_UPDATE; DROP TRIGGER event_no_DELETE;
                 DROP TRIGGER checkpoint_no_UPDATE; DROP TRIGGER checkpoint_no_DELETE;"
            }
            Self::Postgresql(_) => {
                "DROP TRIGGER event_append_only ON event; DROP TRIGGER checkpoint_append_only ON checkpoint;"
            }
        });
    }

    /// These columns of a table as text, in this order.
    fn rows(&mut self, columns: &[&str], table: &str, order: &str) -> Rows {
        let cast: Vec<String> = columns.iter().map(|column| format!("CAST({column} AS TEXT)")).collect();
        let sql = format!("SELECT {} FROM {table} ORDER BY {table}.{order}", cast.join(", "));
        let columns = 0..columns.len();
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(&sql).unwrap();
                let row = |row: &rusqlite::Row<'_>| columns.clone().map(|column| row.get(column)).collect();
                statement.query_map((), row).unwrap().collect::<Result<_, _>>().unwrap()
            }
            Self::Postgresql(client) => {
                let row = |row: &postgres::Row| columns.clone().map(|column| row.get(column)).collect();
                client.query(&sql, &[]).unwrap().iter().map(row).collect()
            }
        }
    }

    /// The events and the checkpoints.
    fn log(&mut self) -> [Rows; 2] {
        [
            self.rows(&["log_index", "stream_id", "seq", "body"], "event", "log_index"),
            self.rows(&["number", "tree_size", "note"], "checkpoint", "number"),
        ]
    }
}

/// One random change, in words of SQL.
fn strike(raw: &mut Raw, [events, checkpoints]: &[Rows; 2], dice: &mut Dice) -> String {
    let [events, checkpoints] = [events, checkpoints].map(|rows| i64::try_from(rows.len()).unwrap());
    let (at, other) = (dice.roll(events), dice.roll(events));
    let (number, other_number) = (dice.roll(checkpoints) + 1, dice.roll(checkpoints) + 1);
    let statements = match dice.roll(18) {
        0 => format!("UPDATE event SET body = replace(body, '\"ts\":\"2027', '\"ts\":\"2028') WHERE log_index = {at}"),
        1 => format!("UPDATE event SET body = body || ' ' WHERE log_index = {at}"),
        2 => format!("UPDATE event SET stream_id = 'copilot:other' WHERE log_index = {at}"),
        3 => format!("UPDATE event SET seq = seq + 1000 WHERE log_index = {at}"),
        4 => format!("DELETE FROM event WHERE log_index = {at}"),
        5 => format!(
            "DELETE FROM event WHERE log_index = {at};
             UPDATE event SET log_index = log_index - 100000 WHERE log_index > {at};
             UPDATE event SET log_index = log_index + 99999 WHERE log_index < 0;"
        ),
        6 => format!("DELETE FROM event WHERE log_index >= {at}"),
        7 => format!(
            "UPDATE event SET log_index = -1 WHERE log_index = {at};
             UPDATE event SET log_index = {at} WHERE log_index = {other} AND {at} <> {other};
             UPDATE event SET log_index = {other} WHERE log_index = -1;"
        ),
        8 => format!(
            "INSERT INTO event SELECT {events}, stream_id, (SELECT MAX(seq) + 1 FROM event e WHERE e.stream_id = o.stream_id),
             body FROM event o WHERE log_index = {at}"
        ),
        9 => format!("UPDATE checkpoint SET note = replace(note, 'number', 'numbeR') WHERE number = {number}"),
        10 => format!("DELETE FROM checkpoint WHERE number = {number}"),
        11 => format!(
            "DELETE FROM checkpoint WHERE number = {number};
             UPDATE checkpoint SET number = number - 100000 WHERE number > {number};
             UPDATE checkpoint SET number = number + 99999 WHERE number < 0;"
        ),
        12 => format!(
            "UPDATE checkpoint SET note = (SELECT note FROM checkpoint WHERE number = {other_number}) WHERE number = {number}"
        ),
        13 => format!("UPDATE checkpoint SET tree_size = tree_size + 1000 WHERE number = {number}"),
        // An event between others, everything after it one further.
        14 => format!(
            "UPDATE event SET log_index = -log_index - 2 WHERE log_index >= {at};
             UPDATE event SET log_index = -log_index - 1 WHERE log_index < 0;
             INSERT INTO event SELECT {at}, 'copilot:other', {events}, body FROM event WHERE log_index = {at} + 1;"
        ),
        15 => format!("DELETE FROM checkpoint WHERE number >= {number}"),
        16 => format!(
            "INSERT INTO checkpoint SELECT {checkpoints} + 1, tree_size + 1000, note, peaks, ts FROM checkpoint WHERE number = {number}"
        ),
        // Back to how it was: what remains is whole, only a checkpoint held elsewhere tells.
        _ => format!(
            "DELETE FROM event WHERE log_index >= (SELECT tree_size FROM checkpoint WHERE number = {number});
             DELETE FROM checkpoint WHERE number > {number};"
        ),
    };
    raw.run(&statements);
    statements
}

/// Whether a verdict names the first place that differs, by whatever shows it.
fn is_named(
    [events, checkpoints]: &[Rows; 2],
    [events_after, checkpoints_after]: &[Rows; 2],
    place: LogPlace,
) -> bool {
    let same =
        |a: &Rows, b: &Rows| u64::try_from(a.iter().zip(b).take_while(|(a, b)| a == b).count()).unwrap();
    let sizes = |rows: &Rows| rows.iter().map(|row| row[1].parse().unwrap()).collect::<Vec<u64>>();
    let (event, checkpoint) = (same(events, events_after), same(checkpoints, checkpoints_after) + 1);
    let (sizes, left) = (sizes(checkpoints), sizes(checkpoints_after));
    let is_event_changed = event < u64::try_from(events.len()).unwrap();
    match place {
        LogPlace::Event(index) => index == event,
        // A change that keeps the structure is found by the checkpoint that covers it; without its checkpoint a batch is
        // covered by the next one, or by none.
        LogPlace::Events(from, until) => {
            let is_checkpoint_gone =
                !is_event_changed && sizes.iter().any(|size| from < *size && *size <= until);
            (from..until).contains(&event) || is_checkpoint_gone
        }
        // The checkpoint that was changed, or the first that covers an event which is no longer there.
        LogPlace::Checkpoint(number) => {
            let covering =
                sizes.iter().position(|size| *size > event).map(|at| u64::try_from(at).unwrap() + 1);
            number == checkpoint || is_event_changed && Some(number) == covering
        }
        // The checkpoint that was kept outside, if no smaller one covers the event.
        LogPlace::Outside(size) => {
            let is_uncovered =
                left.iter().filter(|covered| **covered < size).all(|covered| *covered <= event);
            is_event_changed && event < size && is_uncovered
        }
    }
}

/// Strikes once and verifies; whether anything was changed.
fn strike_and_verify(
    seed: u64,
    raw: &mut Raw,
    verify: impl FnOnce() -> Result<LogReport, VerifyError>,
) -> bool {
    let before = raw.log();
    let change = strike(raw, &before, &mut Dice(seed));
    let after = raw.log();
    match verify() {
        Ok(_) => assert_eq!(after, before, "seed {seed}: {change}: this was not found"),
        Err(VerifyError::Fault(fault)) => {
            assert_ne!(after, before, "seed {seed}: {change}: nothing was changed, and {fault}");
            assert!(is_named(&before, &after, fault.place), "seed {seed}: {change}: {fault}");
        }
        Err(VerifyError::Store(error)) => panic!("seed {seed}: {change}: {error}"),
    }
    after != before
}

/// A log worth changing.
fn act(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    for _ in 0..4 {
        let id = lab.approved(&session);
        lab.code(&session, "deploy", Some(&id));
        lab.decide(action(None, "fs.read", "x")).unwrap();
    }
}

#[test]
fn every_change_is_found_and_its_place_named() {
    let lab = Lab::sqlite();
    act(&lab);
    let keys = lab.store.log_keys().unwrap();
    let kept = [lab.store.checkpoint().unwrap().unwrap()];
    // Memory, where there is such a folder: eight hundred stores are opened, and none must survive.
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
    let original = folder.path().join("original.db");
    lab.store.back_up(&original).unwrap();
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).unwrap();
    let options = StoreOptions { data: copy.clone(), database: None, checkpoints: None, now: at(0) };
    let struck = (0..800).filter(|seed| {
        for left_over in ["state.db", "state.db-wal", "state.db-shm"] {
            let _absent = fs::remove_file(copy.join(left_over));
        }
        fs::copy(&original, copy.join("state.db")).unwrap();
        let mut raw = Raw::Sqlite(Connection::open(copy.join("state.db")).unwrap());
        raw.unlock();
        strike_and_verify(*seed, &mut raw, || {
            Store::open(&options).unwrap().verify_log(Some(keys.clone()), &kept)
        })
    });
    let struck = struck.count();
    assert!(struck >= 500, "{struck}");
    println!("{struck} changes");
}

#[test]
fn every_change_in_postgresql_is_found_and_its_place_named() {
    let Some(server) = Server::start("tampering::every_change_in_postgresql") else { return };
    let lab = Lab::postgresql(&server);
    act(&lab);
    let keys = lab.store.log_keys().unwrap();
    let kept = [lab.store.checkpoint().unwrap().unwrap()];
    let mut raw = Raw::Postgresql(server.client("t0"));
    raw.unlock();
    raw.run("CREATE TABLE kept_event AS TABLE event; CREATE TABLE kept_checkpoint AS TABLE checkpoint");
    let struck = (0..800).filter(|seed| {
        raw.run(
            "TRUNCATE event, checkpoint; INSERT INTO event TABLE kept_event;
             INSERT INTO checkpoint TABLE kept_checkpoint",
        );
        strike_and_verify(*seed, &mut raw, || lab.store.verify_log(Some(keys.clone()), &kept))
    });
    let struck = struck.count();
    assert!(struck >= 500, "{struck}");
    println!("{struck} changes");
}

#[test]
fn a_store_whose_end_was_changed_takes_no_more_decisions() {
    for change in [
        "DELETE FROM event WHERE log_index = (SELECT MAX(log_index) FROM event)",
        "UPDATE checkpoint SET peaks = '' WHERE number = (SELECT MAX(number) FROM checkpoint)",
        "DELETE FROM checkpoint WHERE number = (SELECT MAX(number) FROM checkpoint)",
    ] {
        let lab = Lab::sqlite();
        let session = lab.session(Mode::ReadOnly);
        let raw = Connection::open(lab.data.join("state.db")).unwrap();
        raw.execute_batch("DROP TRIGGER event_no_DELETE; DROP TRIGGER checkpoint_no_UPDATE; DROP TRIGGER checkpoint_no_DELETE;").unwrap();
        raw.execute_batch(change).unwrap();
        let refused = lab.decide(action(Some(&session), "fs.read", "x")).unwrap_err();
        assert_eq!(refused.code(), countersign_store::store_codes::STORE_CORRUPT, "{change}");
    }
}

//! Somebody with a database client changes the log; verifying it names the first bad place, each time.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to copy a store and change the copy")]
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use countersign_ledger::{LogPlace, NoteKey, SignedCheckpoint};
use countersign_policy::Mode;
use countersign_store::{Store, StoreOptions, VerifyError};
use rusqlite::Connection;

use crate::lab::{Lab, action, at};

/// A small, repeatable source of numbers: the test says its seed when it fails.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % sides.max(1)
    }
}

fn count(raw: &Connection, table: &str) -> i64 {
    raw.query_row(&format!("SELECT COUNT(*) FROM {table}"), (), |row| row.get(0)).unwrap()
}

/// One random change, in words of SQL.
fn strike(raw: &Connection, dice: &mut Dice) -> String {
    let (events, checkpoints) = (count(raw, "event"), count(raw, "checkpoint"));
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
    raw.execute_batch(&statements).unwrap();
    statements
}

type Rows = Vec<Vec<String>>;

fn rows(raw: &Connection, sql: &str, columns: usize) -> Rows {
    let mut statement = raw.prepare(sql).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        (0..columns).map(|column| row.get_ref(column).map(|value| format!("{value:?}"))).collect()
    };
    statement.query_map((), read).unwrap().collect::<Result<_, _>>().unwrap()
}

fn tables(raw: &Connection) -> (Rows, Rows) {
    let events = rows(raw, "SELECT log_index, stream_id, seq, body FROM event ORDER BY log_index", 4);
    (events, rows(raw, "SELECT number, tree_size, note FROM checkpoint ORDER BY number", 3))
}

fn verify(folder: &Path, keys: &[NoteKey], outside: &[SignedCheckpoint]) -> Result<(), VerifyError> {
    let options = StoreOptions { data: folder.to_path_buf(), database: None, checkpoints: None, now: at(0) };
    let store = Store::open(&options).unwrap();
    store.verify_log(Some(keys.to_vec()), outside).map(drop)
}

#[test]
fn every_change_is_found_and_its_place_named() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    for _ in 0..4 {
        let id = lab.approved(&session);
        lab.code(&session, "deploy", Some(&id));
        lab.decide(action(None, "fs.read", "x")).unwrap();
    }
    let keys = lab.store.log_keys().unwrap();
    let kept = [lab.store.checkpoint().unwrap().unwrap()];
    // Memory, where there is such a folder: eight hundred stores are opened, and none must survive.
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() }.unwrap();
    let original = folder.path().join("original.db");
    lab.store.back_up(&original).unwrap();
    let before = tables(&Connection::open(&original).unwrap());
    let copy = folder.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).unwrap();
    let mut struck = 0;
    for seed in 0..800 {
        for left_over in ["state.db", "state.db-wal", "state.db-shm"] {
            let _absent = fs::remove_file(copy.join(left_over));
        }
        fs::copy(&original, copy.join("state.db")).unwrap();
        let raw = Connection::open(copy.join("state.db")).unwrap();
        raw.execute_batch(
            "DROP TRIGGER event_no_UPDATE; DROP TRIGGER event_no_DELETE;
            DROP TRIGGER checkpoint_no_UPDATE; DROP TRIGGER checkpoint_no_DELETE;",
        )
        .unwrap();
        let change = strike(&raw, &mut Dice(seed));
        let after = tables(&raw);
        drop(raw);
        let verdict = verify(&copy, &keys, &kept);
        if after == before {
            assert!(verdict.is_ok(), "seed {seed}: {change}: {verdict:?}");
            continue;
        }
        struck += 1;
        let Err(VerifyError::Fault(fault)) = verdict else { panic!("seed {seed}: {change}: {verdict:?}") };
        let same =
            |a: &Rows, b: &Rows| u64::try_from(a.iter().zip(b).take_while(|(a, b)| a == b).count()).unwrap();
        let (event, checkpoint) = (same(&before.0, &after.0), same(&before.1, &after.1) + 1);
        let size =
            |row: &Vec<String>| row[1].trim_start_matches("Integer(").trim_end_matches(')').parse::<u64>();
        let sizes: Vec<u64> = before.1.iter().map(|row| size(row).unwrap()).collect();
        let left: Vec<u64> = after.1.iter().map(|row| size(row).unwrap()).collect();
        let is_event_changed = event < u64::try_from(before.0.len()).unwrap();
        // Without its checkpoint a batch is covered by the next one, or by none.
        let is_checkpoint_gone = |from: u64, until: u64| {
            !is_event_changed && sizes.iter().any(|size| from < *size && *size <= until)
        };
        let first_covering =
            sizes.iter().position(|size| *size > event).map(|at| u64::try_from(at).unwrap() + 1);
        let is_right = match fault.place {
            LogPlace::Event(index) => index == event,
            // A change that keeps the structure is found by the checkpoint that covers it.
            LogPlace::Events(from, until) => {
                (from..until).contains(&event) || is_checkpoint_gone(from, until)
            }
            // The checkpoint that was changed, or the first that covers an event which is no longer there.
            LogPlace::Checkpoint(number) => {
                number == checkpoint || is_event_changed && Some(number) == first_covering
            }
            // The checkpoint that was kept outside, if no smaller one covers the event.
            LogPlace::Outside(size) => {
                let is_uncovered =
                    left.iter().filter(|covered| **covered < size).all(|covered| *covered <= event);
                is_event_changed && event < size && is_uncovered
            }
        };
        assert!(is_right, "seed {seed}: {change}: {fault}, first change {event}/{checkpoint}");
    }
    assert!(struck >= 500, "{struck}");
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

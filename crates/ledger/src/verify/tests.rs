//! A sound log verifies at its level; every way of changing one is noticed at the right place.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::Reader;
use proptest::prelude::*;

use super::{LogCheck, LogFault, LogLevel, LogPlace, LogReport, StoredCheckpoint, StoredEvent};
use crate::{
    Checkpoint, Event, Frontier, KeyName, LeafHash, NoteKey, SecretKey, SignedCheckpoint, TreeHead,
    ledger_codes,
};

#[derive(Debug, Clone, PartialEq)]
struct EventRow {
    log_index: u64,
    stream_id: String,
    seq: i64,
    body: String,
}

#[derive(Debug, Clone, PartialEq)]
struct CheckpointRow {
    number: u64,
    tree_size: u64,
    note: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Log {
    events: Vec<EventRow>,
    checkpoints: Vec<CheckpointRow>,
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(KeyName::parse("host/urm-audit").unwrap(), &[seed; 32])
}

fn body(stream: &str, seq: i64, note: &str) -> String {
    format!(
        r#"{{"context":{{"endpoint":"test","role":null}},"detail":{{"note":"{note}"}},"event":"ADVISORY","schema":"urm-events@1","seq":{seq},"source":{{"component":"store","provider":"countersign","version":"0.1.0"}},"stream_id":"{stream}","ts":"2026-02-12T09:10:00Z"}}"#
    )
}

/// A log of `size` events in three streams, with a checkpoint after each third event and at the end.
fn log(size: u64, signer: &SecretKey, note: &str) -> Log {
    let bodies = (0..size).map(|index| {
        let stream = ["copilot:a", "urm_audit:none", "urm_policy"][usize::try_from(index % 3).unwrap()];
        let seq = i64::try_from(index / 3).unwrap() + 1;
        EventRow {
            log_index: index,
            stream_id: stream.to_string(),
            seq,
            body: body(stream, seq, &format!("{note}{index}")),
        }
    });
    let mut log = Log { events: bodies.collect(), checkpoints: Vec::new() };
    sign(&mut log, signer);
    log
}

/// Signs the log again, as somebody who holds the key would.
fn sign(log: &mut Log, signer: &SecretKey) {
    let mut frontier = Frontier::new();
    log.checkpoints.clear();
    for (index, row) in log.events.iter().enumerate() {
        frontier.push(LeafHash::of(row.body.as_bytes()));
        if index % 3 == 2 || index + 1 == log.events.len() {
            let number = u64::try_from(log.checkpoints.len()).unwrap() + 1;
            let head = TreeHead { size: frontier.size(), root: frontier.root() };
            let checkpoint = Checkpoint { origin: signer.public().name, head, number };
            log.checkpoints.push(CheckpointRow {
                number,
                tree_size: head.size,
                note: checkpoint.sign(signer).to_string(),
            });
        }
    }
}

fn verify(log: &Log, keys: Vec<NoteKey>, outside: &[SignedCheckpoint]) -> Result<LogReport, LogFault> {
    let mut check = LogCheck::new(keys, outside)?;
    let mut checkpoints = log.checkpoints.iter().peekable();
    for row in &log.events {
        let EventRow { log_index, stream_id, seq, body } = row;
        check.event(&StoredEvent { log_index: *log_index, stream_id, seq: *seq, body })?;
        while let Some(row) = checkpoints.next_if(|row| row.tree_size <= check.size()) {
            let CheckpointRow { number, tree_size, note } = row;
            check.checkpoint(&StoredCheckpoint { number: *number, tree_size: *tree_size, note })?;
        }
    }
    for CheckpointRow { number, tree_size, note } in checkpoints {
        check.checkpoint(&StoredCheckpoint { number: *number, tree_size: *tree_size, note })?;
    }
    check.finish()
}

fn keys() -> Vec<NoteKey> {
    Vec::from([secret(1).public()])
}

fn outside(log: &Log, checkpoint: usize) -> [SignedCheckpoint; 1] {
    [SignedCheckpoint::from_text(log.checkpoints[checkpoint].note.clone())]
}

#[test]
fn a_sound_log_verifies_at_the_level_that_was_checked() {
    for size in [0, 1, 2, 3, 4, 20] {
        let log = log(size, &secret(1), "");
        let level =
            |keys, outside: &[SignedCheckpoint]| verify(&log, keys, outside).map(|report| report.level);
        assert_eq!(level(Vec::new(), &[]), Ok(LogLevel::Root));
        assert_eq!(level(keys(), &[]), Ok(LogLevel::Signatures));
        if size > 0 {
            assert_eq!(level(keys(), &outside(&log, 0)), Ok(LogLevel::Outside));
        }
    }
}

#[test]
fn rollback_and_key_theft_are_caught_by_a_checkpoint_from_outside_alone() {
    let signer = secret(1);
    let before = log(20, &signer, "");
    let mut rolled_back = before.clone();
    rolled_back.events.truncate(12);
    rolled_back.checkpoints.truncate(4);
    let rewritten = log(20, &signer, "rewritten ");
    for (changed, code) in
        [(rolled_back, ledger_codes::LOG_ROLLED_BACK), (rewritten, ledger_codes::LOG_FORKED)]
    {
        assert!(verify(&changed, keys(), &[]).is_ok(), "this is why checkpoints go outside");
        assert_eq!(verify(&changed, keys(), &outside(&before, 6)).unwrap_err().code, code);
    }
    let forged = log(20, &secret(2), "");
    assert_eq!(verify(&forged, keys(), &[]).unwrap_err().code, ledger_codes::SIGNATURE_INVALID);
    assert!(
        verify(&before, keys(), &outside(&forged, 6)).is_err(),
        "an outside checkpoint must be signed too"
    );
}

/// One change to a log with a raw database client, recomputing whatever needs no key.
#[derive(Debug, Clone)]
enum Attack {
    EditBody(usize),
    DeleteEvent(usize, bool),
    SwapEvents(usize, usize, bool),
    InsertEvent(usize, bool),
    TruncateEvents(usize),
    EditNote(usize, usize, u8),
    DeleteCheckpoint(usize, bool),
    SwapCheckpoints(usize, usize),
    ReplaceCheckpoint(usize, usize),
    MoveStream(usize),
}

fn attack() -> impl Strategy<Value = Attack> {
    let at = 0_usize..1000;
    prop_oneof![
        at.clone().prop_map(Attack::EditBody),
        (at.clone(), any::<bool>()).prop_map(|(at, tidy)| Attack::DeleteEvent(at, tidy)),
        (at.clone(), at.clone(), any::<bool>()).prop_map(|(a, b, tidy)| Attack::SwapEvents(a, b, tidy)),
        (at.clone(), any::<bool>()).prop_map(|(at, tidy)| Attack::InsertEvent(at, tidy)),
        at.clone().prop_map(Attack::TruncateEvents),
        (at.clone(), at.clone(), 0_u8..7).prop_map(|(at, byte, bit)| Attack::EditNote(at, byte, bit)),
        (at.clone(), any::<bool>()).prop_map(|(at, tidy)| Attack::DeleteCheckpoint(at, tidy)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Attack::SwapCheckpoints(a, b)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Attack::ReplaceCheckpoint(a, b)),
        at.prop_map(Attack::MoveStream),
    ]
}

/// Numbers the events again, within their streams too, so that the structure is sound.
fn tidy_up(events: &mut [EventRow]) {
    let mut seqs = alloc::collections::BTreeMap::<String, i64>::new();
    for (index, row) in events.iter_mut().enumerate() {
        let seq = seqs.entry(row.stream_id.clone()).or_default();
        *seq += 1;
        row.log_index = u64::try_from(index).unwrap();
        let mut event: Event =
            Reader::read_document(row.body.as_bytes(), ledger_codes::URM_EVENT_INVALID).unwrap();
        event.seq = crate::Seq::new(*seq).unwrap();
        row.seq = *seq;
        row.body = countersign_canon::Wire::write(&event).to_canonical();
    }
}

/// Carries out the attack.
fn strike(log: &mut Log, attack: &Attack) {
    let (events, checkpoints) = (log.events.len(), log.checkpoints.len());
    match *attack {
        Attack::EditBody(at) => {
            let row = &mut log.events[at % events];
            row.body = row.body.replace("\"note\":\"", "\"note\":\"x");
        }
        Attack::DeleteEvent(at, tidy) => {
            log.events.remove(at % events);
            tidy.then(|| tidy_up(&mut log.events));
        }
        Attack::SwapEvents(a, b, tidy) => {
            let (a, b) = (a % events, b % events);
            log.events.swap(a, b);
            (log.events[a].log_index, log.events[b].log_index) =
                (log.events[b].log_index, log.events[a].log_index);
            tidy.then(|| tidy_up(&mut log.events));
        }
        Attack::InsertEvent(at, tidy) => {
            let row = log.events[at % events].clone();
            log.events.insert(at % events, row);
            tidy.then(|| tidy_up(&mut log.events));
        }
        Attack::TruncateEvents(at) => log.events.truncate(at % events),
        Attack::EditNote(at, byte, bit) => {
            let note = &mut log.checkpoints[at % checkpoints].note;
            let mut bytes = note.clone().into_bytes();
            let byte = byte % bytes.len();
            bytes[byte] ^= 1 << bit;
            *note = String::from_utf8_lossy(&bytes).into_owned();
        }
        Attack::DeleteCheckpoint(at, tidy) => {
            log.checkpoints.remove(at % checkpoints);
            let rows = log.checkpoints.iter_mut().zip(1..).filter(|_| tidy);
            rows.for_each(|(row, number)| row.number = number);
        }
        Attack::SwapCheckpoints(a, b) => {
            let (a, b) = (a % checkpoints, b % checkpoints);
            log.checkpoints.swap(a, b);
        }
        Attack::ReplaceCheckpoint(a, b) => {
            log.checkpoints[a % checkpoints].note = log.checkpoints[b % checkpoints].note.clone();
        }
        Attack::MoveStream(at) => log.events[at % events].stream_id = "copilot:other".to_string(),
    }
}

/// The first event and the first checkpoint that are not what they were.
fn first_change(before: &Log, after: &Log) -> (u64, u64) {
    let events = before.events.iter().zip(&after.events).take_while(|(a, b)| a == b).count();
    let checkpoints = before.checkpoints.iter().zip(&after.checkpoints).take_while(|(a, b)| a == b).count();
    (u64::try_from(events).unwrap(), u64::try_from(checkpoints).unwrap() + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_change_is_found_at_its_place(size in 1_u64..24, attack in attack()) {
        let before = log(size, &secret(1), "");
        let mut after = before.clone();
        strike(&mut after, &attack);
        let verdict = verify(&after, keys(), &[]);
        if after == before {
            prop_assert!(verdict.is_ok());
            return Ok(());
        }
        let (event, checkpoint) = first_change(&before, &after);
        let found = verdict.unwrap_err();
        // The place is the change itself, or the batch that holds it, or whose checkpoint is gone.
        let batch = before.checkpoints.get(usize::try_from(checkpoint).unwrap() - 1).map(|row| row.tree_size);
        let is_right = match found.place {
            LogPlace::Event(index) => index == event,
            LogPlace::Events(from, until) => (from..until).contains(&event) || batch == Some(until),
            LogPlace::Checkpoint(number) => {
                number == checkpoint || before.checkpoints.get(usize::try_from(number).unwrap() - 1)
                    .is_some_and(|row| row.tree_size > event)
            }
            LogPlace::Outside(_) => false,
        };
        prop_assert!(is_right, "{found}, first change {event}/{checkpoint}");
    }
}

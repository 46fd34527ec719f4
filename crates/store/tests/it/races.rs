//! Many want one approval; exactly one gets it, whatever database is under the store and however many stores there are.
#![expect(clippy::disallowed_methods, reason = "Effect: database, to race on a raw connection")]
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use std::sync::{
    Barrier,
    atomic::{AtomicUsize, Ordering},
    mpsc::channel,
};

use countersign_ledger::{Access, ExecutionState};
use countersign_policy::{ApprovalId, ApprovalState, Mode};
use countersign_store::{
    Answer, Call, CallError, Command, Decide, FreshIds, Reply, Store, StoreError, store_codes,
};

use crate::{
    lab::{Lab, action, at, code_of, origin, text},
    server::Server,
};

const THREADS: usize = 16;
const CONTENDERS: usize = 1000;

/// How a thousand contend: all at once, or sixteen at a time and each after its answer.
#[derive(Debug, Clone, Copy)]
enum Crowd {
    AtOnce,
    InTurns,
}

/// The crowds of so many rounds: some in every run, all of them when there is time.
fn rounds() -> impl Iterator<Item = Crowd> {
    let rounds = if crate::server::is_soak() { 100 } else { 6 };
    [Crowd::AtOnce, Crowd::InTurns].into_iter().cycle().take(rounds)
}

/// Lets a thousand contenders loose at once; how many won.
fn winners(contend: impl Fn(usize) -> bool + Sync) -> usize {
    let (barrier, won) = (Barrier::new(THREADS), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, won, contend) = (&barrier, &won, &contend);
            scope.spawn(move || {
                barrier.wait();
                for contender in (thread..CONTENDERS).step_by(THREADS) {
                    won.fetch_add(usize::from(contend(contender)), Ordering::Relaxed);
                }
            });
        }
    });
    won.into_inner()
}

/// A thousand requests, all of them with a store before the first is answered; the answers.
fn at_once(stores: &[&Store], call: impl Fn() -> Call + Sync) -> Vec<Answer> {
    let barrier = Barrier::new(THREADS);
    let (answered, answers) = channel();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (barrier, call, answered) = (&barrier, &call, answered.clone());
            scope.spawn(move || {
                let calls: Vec<(usize, Call)> =
                    (thread..CONTENDERS).step_by(THREADS).map(|contender| (contender, call())).collect();
                barrier.wait();
                for (contender, call) in calls {
                    let answered = answered.clone();
                    let respond = Box::new(move |answer| answered.send(answer).unwrap());
                    stores[contender % stores.len()].submit(call, respond);
                }
            });
        }
    });
    drop(answered);
    answers.iter().map(Result::unwrap).collect()
}

/// One round on these stores: one permit, one execution, everybody else told that the approval is used up.
fn contend(lab: &Lab, stores: &[&Store], crowd: Crowd) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    let now = lab.now();
    let call = || {
        let decide = Decide {
            approval_id: Some(id.clone()),
            fresh: FreshIds::make(at(0)).unwrap(),
            ..action(Some(&session), "deploy", "prod")
        };
        let command = Command::Decide(Box::new(decide));
        Call { origin: origin("agent-1", Access::Agent), now, command }
    };
    let has_won = |answer: &Answer| {
        let Reply::Decided(decided) = &answer.reply else { panic!("{:?}", answer.reply) };
        let expected = if answer.permit.is_some() { "ALLOWED" } else { "URM_APPROVAL_CONSUMED" };
        assert_eq!(code_of(decided), expected);
        answer.permit.is_some()
    };
    let won = match crowd {
        Crowd::AtOnce => {
            let answers = at_once(stores, call);
            assert_eq!(answers.len(), CONTENDERS);
            answers.iter().filter(|answer| has_won(answer)).count()
        }
        Crowd::InTurns => {
            winners(|contender| has_won(&stores[contender % stores.len()].call(call()).unwrap()))
        }
    };
    assert_eq!(won, 1, "{crowd:?}");
    assert_eq!(lab.store.approval(&id).unwrap().unwrap().state, ApprovalState::Consumed);
    let of_this = |approval: &Option<ApprovalId>| approval.as_ref() == Some(&id);
    let executions = lab.store.executions().unwrap();
    assert_eq!(executions.iter().filter(|execution| of_this(&execution.approval_id)).count(), 1);
}

#[test]
fn one_of_a_thousand_gets_the_approval_on_sqlite() {
    let lab = Lab::sqlite();
    for crowd in rounds() {
        contend(&lab, &[&lab.store], crowd);
    }
    lab.store.verify_log(None, &[]).unwrap();
}

#[test]
fn one_of_a_thousand_gets_the_approval_on_sqlite_with_three_stores_on_one_folder() {
    let lab = Lab::sqlite();
    let (two, three) = (lab.replica(), lab.replica());
    for crowd in [Crowd::AtOnce, Crowd::InTurns] {
        contend(&lab, &[&lab.store, &two, &three], crowd);
    }
    lab.store.verify_log(None, &[]).unwrap();
}

#[test]
fn one_of_a_thousand_gets_the_approval_on_postgresql_with_one_and_three_stores() {
    let Some(server) = Server::start("races::postgresql") else { return };
    let lab = Lab::postgresql(&server);
    let (two, three) = (lab.replica(), lab.replica());
    for crowd in rounds() {
        contend(&lab, &[&lab.store], crowd);
        contend(&lab, &[&lab.store, &two, &three], crowd);
    }
    let report = lab.store.verify_log(None, &[]).unwrap();
    assert_eq!(report.head.size, u64::try_from(lab.store.log_events(0, u32::MAX).unwrap().len()).unwrap());
}

/// The planted bug: looking first and writing afterwards. The same harness sees more than one winner.
#[test]
fn the_harness_catches_check_then_act() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.db");
    let open = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        connection
    };
    open()
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
             CREATE TABLE approval (state TEXT); INSERT INTO approval VALUES ('granted');",
        )
        .unwrap();
    let caught = (0..20).any(|_| {
        open().execute("UPDATE approval SET state = 'granted'", ()).unwrap();
        let connections: Vec<_> = (0..THREADS).map(|_| std::sync::Mutex::new(open())).collect();
        let won = winners(|contender| {
            let connection = connections[contender % THREADS].lock().unwrap();
            let state: String =
                connection.query_row("SELECT state FROM approval", (), |row| row.get(0)).unwrap();
            if state != "granted" {
                return false;
            }
            std::thread::yield_now();
            connection.execute("UPDATE approval SET state = 'consumed'", ()).unwrap() == 1
        });
        won > 1
    });
    assert!(caught, "a harness that cannot fail shows nothing");
}

/// The server dies under load, again and again: nothing acknowledged is lost, doubt is a denial, and whoever asks again under
/// the same name has begun once, whether the first answer got lost before or after the commit.
#[test]
fn nothing_acknowledged_is_lost_when_postgresql_dies_under_load() {
    let Some(mut server) = Server::start("races::postgresql_dies") else { return };
    let lab = Lab::postgresql(&server);
    let session = lab.session(Mode::WritesAllowed);
    let (names, doubts) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let begin = || {
        let name = format!("request {}", names.fetch_add(1, Ordering::Relaxed));
        loop {
            let decide =
                Decide { client_request_id: Some(text(&name)), ..action(Some(&session), "fs.write", "x") };
            let command = Command::Decide(Box::new(decide));
            let call = Call { origin: origin("agent-1", Access::Agent), now: at(0), command };
            match lab.store.call(call) {
                Ok(answer) => break answer.permit.unwrap().id().clone(),
                Err(CallError::Store(StoreError::Unavailable { .. })) => {
                    doubts.fetch_add(1, Ordering::Relaxed);
                    crate::server::pause_ms(5);
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    let mut acknowledged = Vec::new();
    for _ in 0..if crate::server::is_soak() { 20 } else { 2 } {
        let stopped = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = || {
                let mut begun = Vec::new();
                while !stopped.load(Ordering::Relaxed) {
                    begun.push(begin());
                }
                begun
            };
            let clients: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            crate::server::pause_ms(300);
            server.crash_and_restart();
            crate::server::pause_ms(300);
            stopped.store(true, Ordering::Relaxed);
            acknowledged.extend(clients.into_iter().flat_map(|client| client.join().unwrap()));
        });
    }
    let (names, doubts) = (names.into_inner(), doubts.into_inner());
    assert!(acknowledged.len() > 10 && doubts > 0, "{} began, {doubts} doubts", acknowledged.len());
    assert_eq!(acknowledged.len(), names);
    let executions = lab.store.executions().unwrap();
    assert!(executions.iter().all(|execution| execution.state == ExecutionState::Begun));
    let mut begun: Vec<_> = executions.into_iter().map(|execution| execution.permit_id).collect();
    acknowledged.sort();
    begun.sort();
    assert_eq!(acknowledged, begun, "each name began once, and what began is what was told");
    lab.store.verify_log(None, &[]).unwrap();
}

/// What idles from before an outage is not what the first questions after it fail on.
#[test]
fn the_first_questions_after_an_outage_are_answered() {
    let Some(mut server) = Server::start("races::the_first_questions") else { return };
    let lab = Lab::postgresql(&server);
    let session = lab.session(Mode::WritesAllowed);
    let ask = || lab.store.session(&session.session_id);
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                (0..50).for_each(|_| assert!(ask().unwrap().is_some()));
            });
        }
    });
    server.crash_and_restart();
    for _ in 0..8 {
        assert_eq!(ask().unwrap().as_ref(), Some(&session));
    }
}

/// A server that was away and is back, crashed or shut down, takes the very first command, once.
#[test]
fn the_first_command_after_an_outage_is_carried_out() {
    let Some(mut server) = Server::start("races::the_first_command") else { return };
    let lab = Lab::postgresql(&server);
    let session = lab.session(Mode::WritesAllowed);
    let begin = || lab.code(&session, "fs.write", None);
    // Once as whoever calls, once through the queue.
    for crash in [true, false, true, false] {
        assert_eq!(begin(), ("ALLOWED".to_owned(), true));
        if crash {
            server.crash_and_restart()
        } else {
            server.restart()
        }
        assert_eq!(begin(), ("ALLOWED".to_owned(), true), "crash: {crash}");
        lab.store.submit(
            Call { origin: origin("root", Access::Admin), now: at(0), command: Command::Sweep },
            Box::new(|answer| drop(answer.unwrap())),
        );
    }
    assert_eq!(lab.store.executions().unwrap().len(), 8, "each began once");
    lab.store.verify_log(None, &[]).unwrap();
    server.crash();
    for _ in 0..3 {
        let refused = lab.decide(action(Some(&session), "fs.write", "prod")).unwrap_err();
        assert_eq!(refused.code(), store_codes::URM_STORE_UNAVAILABLE, "{refused}");
    }
}

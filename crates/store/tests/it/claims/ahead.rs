//! What holds of answers that are worked out while the writer is busy with those before.

use countersign_ledger::{Access, Session};
use countersign_policy::{ApprovalId, Mode};
use countersign_store::{Answer, Call, CallError, Command, Decide, Reply};

use crate::lab::{Lab, action, code_of, origin, signed};

/// One thing that somebody asks for: who, in which role, what.
type Request = (&'static str, Access, Command);

/// What a request comes to, as far as it is the same whenever it is asked.
fn outcome(answer: Result<Answer, CallError>) -> String {
    match answer {
        Err(error) => error.code().to_string(),
        Ok(Answer { reply: Reply::Decided(decided), permit, .. }) => {
            let asks = decided.pending_approval.is_some();
            format!("{}, permit: {}, asks: {asks}", code_of(&decided), permit.is_some())
        }
        Ok(answer) => format!("{:?}", std::mem::discriminant(&answer.reply)),
    }
}

/// Some of this can be answered from memory, some cannot, and some changes what the rest is answered with.
fn requests(lab: &Lab, session: &Session, approval: &ApprovalId) -> Vec<Request> {
    let decide = |kind: &str, approval: Option<&ApprovalId>| {
        let decide = Decide { approval_id: approval.cloned(), ..action(Some(session), kind, "prod") };
        ("agent-1", Access::Agent, Command::Decide(Box::new(decide)))
    };
    let stranger = Command::Decide(Box::new(action(Some(session), "fs.read", "prod")));
    let asked = lab.store.approval(approval).unwrap().unwrap();
    let grant = Command::Grant(approval.clone(), Box::new(signed(&asked, "ann", lab.now())));
    vec![
        decide("fs.read", None),
        decide("fs.write", None),
        decide("secret", None),
        ("agent-2", Access::Agent, stranger),
        decide("fs.write", None),
        decide("deploy", Some(approval)),
        ("ann", Access::Approver, grant),
        decide("fs.read", None),
        decide("deploy", Some(approval)),
        decide("deploy", Some(approval)),
        decide("launch", None),
        decide("launch", None),
        ("agent-1", Access::Agent, Command::StopSession(session.session_id.clone())),
        decide("fs.read", None),
    ]
}

pub(crate) fn what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other(lab: &Lab) {
    let prepared = || {
        let session = lab.session(Mode::WritesAllowed);
        let approval = lab.request(&session, "deploy");
        let requests = requests(lab, &session, &approval);
        (session, requests)
    };
    let (_, requests) = prepared();
    let one_by_one = |(who, access, command)| outcome(lab.tell(who, access, command));
    let expected: Vec<String> = requests.into_iter().map(one_by_one).collect();
    assert_eq!(expected.iter().filter(|outcome| outcome.contains("permit: true")).count(), 5, "{expected:?}");
    // All of them in one turn; then each in the turn after the one before.
    let (session, requests) = prepared();
    let queue = |(who, access, command)| lab.queue(who, access, command);
    let queued: Vec<_> = lab.while_the_writer_is_busy(&session, || requests.into_iter().map(queue).collect());
    let outcomes: Vec<String> = queued.into_iter().map(|answer| outcome(answer.recv().unwrap())).collect();
    assert_eq!(outcomes, expected);
    let (_, requests) = prepared();
    let outcomes: Vec<String> =
        requests.into_iter().map(|request| outcome(queue(request).recv().unwrap())).collect();
    assert_eq!(outcomes, expected);
    lab.store.verify_log(None, &[]).unwrap();
}

pub(crate) fn what_was_worked_out_ahead_counts_only_if_nobody_else_has_written(lab: &Lab) {
    let other = lab.replica();
    let session = lab.session(Mode::WritesAllowed);
    let ask = || {
        let decide = Command::Decide(Box::new(action(Some(&session), "fs.write", "prod")));
        lab.queue("agent-1", Access::Agent, decide)
    };
    let queued = lab.while_the_writer_is_busy(&session, || [ask(), ask()]);
    for answer in queued {
        assert_eq!(outcome(answer.recv().unwrap()), "ALLOWED, permit: true, asks: false");
    }
    let stop = Command::StopSession(session.session_id.clone());
    let queued = lab.while_the_writer_is_busy(&session, || {
        let before = ask();
        other.call(Call { origin: origin("root", Access::Admin), now: lab.now(), command: stop }).unwrap();
        [before, ask()]
    });
    for answer in queued {
        assert_eq!(outcome(answer.recv().unwrap()), "URM_POLICY_DENIED, permit: false, asks: false");
    }
    lab.store.verify_log(None, &[]).unwrap();
}

//! Whose approval counts is what the policy in force says, not the one that was in force when it was asked for.

use countersign_canon::Json;
use countersign_ledger::{Access, Session};
use countersign_policy::{ApprovalId, ApprovalState, Mode};
use countersign_store::{Command, Decide, Reply};

use crate::lab::{Lab, action, code_of, documents};

/// Writing needs an approval, asked for with these parameters.
fn policy(params: &str) -> String {
    format!(
        r#"{{"schema": "odeu.instructions.v1", "rules": [
        {{"rule_id": "allow", "rule_version": 1, "priority": 1, "kind": "allow",
         "when": {{"atom": "session_active", "args": []}}, "then": {{"effect": "allow_action"}}, "message": "", "code": "ALLOWED"}},
        {{"rule_id": "ask", "rule_version": 1, "priority": 1, "kind": "require",
         "when": {{"atom": "action_kind_is", "args": ["fs.write"]}},
         "then": {{"effect": "require_approval", "params": {params}}}, "message": "", "code": "ASK"}}]}}"#
    )
}

const ONE: &str = "{}";
const TWO: &str = r#"{"approvals": 2}"#;
const SECURITY: &str = r#"{"reviewers": "security"}"#;

/// The code, whether it may begin, and which request waits for people now.
fn write(lab: &Lab, session: &Session, approval: &ApprovalId) -> (String, bool, Option<ApprovalId>) {
    let decide = Decide { approval_id: Some(approval.clone()), ..action(Some(session), "fs.write", "prod") };
    let (decided, answer) = lab.decide(decide).unwrap();
    let pending = decided.pending_approval.as_ref().map(|pending| pending.approval_id.clone());
    (code_of(&decided), answer.permit.is_some(), pending)
}

fn not_enough(waiting: &ApprovalId) -> (String, bool, Option<ApprovalId>) {
    ("URM_APPROVAL_REQUIRED".to_owned(), false, Some(waiting.clone()))
}

fn enough() -> (String, bool, Option<ApprovalId>) {
    ("ALLOWED".to_owned(), true, None)
}

pub(crate) fn an_approval_is_held_to_what_is_needed_now(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    lab.activate(&policy(ONE));
    let one = lab.request(&session, "fs.write");
    // A request that waits while more people come to be needed is left alone, and another is made.
    lab.activate(&policy(TWO));
    let two = lab.request(&session, "fs.write");
    assert_ne!(one, two);
    assert_eq!(lab.grant("ann", &one).unwrap().state, ApprovalState::Granted);
    assert_eq!(write(lab, &session, &one), not_enough(&two));
    assert_eq!(lab.store.approval(&one).unwrap().unwrap().state, ApprovalState::Granted);
    assert_eq!(lab.grant("ann", &two).unwrap().state, ApprovalState::Pending);
    assert_eq!(lab.grant("bob", &two).unwrap().state, ApprovalState::Granted);
    assert_eq!(write(lab, &session, &two), enough());
    // The same where not more people but others are needed; one person is enough again for what two would have agreed to.
    let two = lab.request(&session, "fs.write");
    lab.activate(&policy(SECURITY));
    assert_ne!(lab.request(&session, "fs.write"), two);
    lab.activate(&policy(ONE));
    assert_eq!(lab.request(&session, "fs.write"), two);
    for who in ["ann", "bob"] {
        lab.grant(who, &two).unwrap();
    }
    assert_eq!(write(lab, &session, &two), enough());
    made_again(lab);
}

pub(crate) fn an_approval_that_was_granted_before_more_were_needed_is_not_enough(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    lab.activate(&policy(ONE));
    let one = lab.request(&session, "fs.write");
    lab.grant("ann", &one).unwrap();
    lab.activate(&policy(SECURITY));
    let (code, begins, waiting) = write(lab, &session, &one);
    assert_eq!((code.as_str(), begins), ("URM_APPROVAL_REQUIRED", false));
    let waiting = waiting.unwrap();
    assert_ne!(waiting, one);
    assert_eq!(lab.grant("ann", &waiting).unwrap().state, ApprovalState::Pending);
    assert_eq!(lab.grant("sam", &waiting).unwrap().state, ApprovalState::Granted);
    assert_eq!(write(lab, &session, &waiting), enough());
    lab.activate(&policy(ONE));
    assert_eq!(write(lab, &session, &one), enough());
    made_again(lab);
}

/// What is worked out ahead of the writer is held to it too: a policy may change in the very turn that an approval is used in.
pub(crate) fn what_is_worked_out_ahead_is_held_to_what_is_needed_by_then(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    lab.activate(&policy(ONE));
    let one = lab.request(&session, "fs.write");
    lab.grant("ann", &one).unwrap();
    let decide = |approval: Option<&ApprovalId>| {
        let decide = Decide { approval_id: approval.cloned(), ..action(Some(&session), "fs.write", "prod") };
        lab.queue("agent-1", Access::Agent, Command::Decide(Box::new(decide)))
    };
    let activate = Command::Activate(Box::new(documents(&policy(TWO))));
    let (activated, [first, second, third]) = lab.while_the_writer_is_busy(&session, || {
        let activated = lab.queue("root", Access::Admin, activate);
        (activated, [decide(Some(&one)), decide(None), decide(Some(&one))])
    });
    activated.recv().unwrap().unwrap();
    let mut waiting = Vec::new();
    for answer in [first, second, third] {
        let answer = answer.recv().unwrap().unwrap();
        assert_eq!(answer.permit, None);
        let Reply::Decided(decided) = answer.reply else { panic!("{:?}", answer.reply) };
        assert_eq!(code_of(&decided), "URM_APPROVAL_REQUIRED");
        waiting.push(decided.pending_approval.unwrap().approval_id);
    }
    waiting.dedup();
    assert_eq!(waiting.len(), 1, "one request for all of them");
    assert_ne!(waiting.first(), Some(&one));
    made_again(lab);
}

/// Every decision would be made again, byte for byte.
fn made_again(lab: &Lab) {
    lab.store.verify_log(None, &[]).unwrap();
    let versions = lab.store.policy_versions().unwrap();
    for decision in lab.store.decisions(0, 100).unwrap() {
        let version =
            versions.iter().find(|version| version.version == decision.record.policy_version).unwrap();
        let loaded = countersign_ledger::LoadedVersion::load(version).unwrap();
        let probe = decision.record.trace.get("probe_hash").and_then(Json::as_str).unwrap();
        let probe = lab.store.probe(&countersign_policy::ProbeHash::parse(probe).unwrap()).unwrap().unwrap();
        assert_eq!(decision.record.redecide(&loaded, &probe), Ok(()));
    }
}

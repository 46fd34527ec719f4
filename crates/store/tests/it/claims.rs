//! What every store must do, whatever database is under it: each claim takes a store and tries it.

mod ahead;
mod neighbours;
mod proofs;
mod quorum;

pub(crate) use ahead::{
    what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other,
    what_was_worked_out_ahead_counts_only_if_nobody_else_has_written,
};
pub(crate) use neighbours::what_another_process_changes_is_seen_at_once;
pub(crate) use proofs::a_proof_changes_nothing_but_the_evidence;
pub(crate) use quorum::{
    an_approval_is_held_to_what_is_needed_now,
    an_approval_that_was_granted_before_more_were_needed_is_not_enough,
    what_is_worked_out_ahead_is_held_to_what_is_needed_by_then,
};

use countersign_canon::Json;
use countersign_ledger::{
    Access, EventKind, ExecutionState, Executor, LogLevel, NewEvent, OutcomeStatus, PERMIT_TTL_S,
    SessionKind, StreamId, ledger_codes,
};
use countersign_policy::{ApprovalId, ApprovalState, Mode, ProbeFacts, codes as policy_codes};
use countersign_store::{Command, Decide, FreshIds, Proceed, Reply, store_codes};

use crate::lab::{Lab, action, at, bytes_of, code_of, session_id, signed, text};

/// A claim with its name.
pub(crate) type Claim = (&'static str, fn(&Lab));

/// Every claim.
pub(crate) const ALL: &[Claim] = &[
    ("a_write_is_denied_when_the_mode_disallows", a_write_is_denied_when_the_mode_disallows),
    ("a_valid_approval_works_exactly_once", a_valid_approval_works_exactly_once),
    (
        "an_approval_is_never_consumed_by_a_denial_or_a_question",
        an_approval_is_never_consumed_by_a_denial_or_a_question,
    ),
    ("an_approval_that_is_not_required_stays_unconsumed", an_approval_that_is_not_required_stays_unconsumed),
    ("every_unusable_approval_is_refused_with_its_code", every_unusable_approval_is_refused_with_its_code),
    ("a_stopped_session_begins_nothing", a_stopped_session_begins_nothing),
    ("what_another_process_changes_is_seen_at_once", what_another_process_changes_is_seen_at_once),
    (
        "what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other",
        what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other,
    ),
    (
        "what_was_worked_out_ahead_counts_only_if_nobody_else_has_written",
        what_was_worked_out_ahead_counts_only_if_nobody_else_has_written,
    ),
    ("every_decision_leaves_its_events", every_decision_leaves_its_events),
    (
        "a_decision_without_a_session_is_denied_and_recorded",
        a_decision_without_a_session_is_denied_and_recorded,
    ),
    (
        "a_denial_asks_for_one_approval_however_often_it_is_repeated",
        a_denial_asks_for_one_approval_however_often_it_is_repeated,
    ),
    ("a_quorum_is_needed_where_the_lattice_asks_for_one", a_quorum_is_needed_where_the_lattice_asks_for_one),
    ("an_approval_is_held_to_what_is_needed_now", an_approval_is_held_to_what_is_needed_now),
    (
        "an_approval_that_was_granted_before_more_were_needed_is_not_enough",
        an_approval_that_was_granted_before_more_were_needed_is_not_enough,
    ),
    (
        "what_is_worked_out_ahead_is_held_to_what_is_needed_by_then",
        what_is_worked_out_ahead_is_held_to_what_is_needed_by_then,
    ),
    ("nobody_acts_beyond_their_role", nobody_acts_beyond_their_role),
    ("a_lost_answer_is_found_again_by_its_name", a_lost_answer_is_found_again_by_its_name),
    (
        "a_mode_changes_in_the_transaction_that_uses_up_its_approval",
        a_mode_changes_in_the_transaction_that_uses_up_its_approval,
    ),
    ("time_ends_what_nobody_ends", time_ends_what_nobody_ends),
    ("what_nobody_reports_closes_with_its_permit", what_nobody_reports_closes_with_its_permit),
    (
        "a_clock_set_back_stops_decisions_until_it_has_caught_up",
        a_clock_set_back_stops_decisions_until_it_has_caught_up,
    ),
    ("the_log_verifies_and_every_decision_is_made_again", the_log_verifies_and_every_decision_is_made_again),
    ("a_policy_is_put_in_force_and_taken_back_by_number", a_policy_is_put_in_force_and_taken_back_by_number),
    ("a_proof_changes_nothing_but_the_evidence", a_proof_changes_nothing_but_the_evidence),
    ("an_execution_has_one_outcome", an_execution_has_one_outcome),
    ("only_the_store_says_what_it_has_done", only_the_store_says_what_it_has_done),
    ("a_run_acts_in_its_worker_stream", a_run_acts_in_its_worker_stream),
    (
        "advice_is_kept_on_a_denial_and_carries_the_decision",
        advice_is_kept_on_a_denial_and_carries_the_decision,
    ),
];

pub(crate) fn a_write_is_denied_when_the_mode_disallows(lab: &Lab) {
    let reader = lab.session(Mode::ReadOnly);
    assert_eq!(lab.code(&reader, "fs.read", None), ("ALLOWED".to_owned(), true));
    assert_eq!(lab.code(&reader, "fs.write", None), ("URM_MODE_DENIED".to_owned(), false));
    assert_eq!(lab.code(&reader, "secret", None), ("SECRET".to_owned(), false));
    assert_eq!(lab.code(&reader, "turn.steer", None), ("URM_CAPABILITY_MISSING".to_owned(), false));
    let writer = lab.session(Mode::WritesAllowed);
    assert_eq!(lab.code(&writer, "fs.write", None), ("ALLOWED".to_owned(), true));
}

pub(crate) fn a_valid_approval_works_exactly_once(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    assert_eq!(lab.code(&session, "deploy", Some(&id)), ("ALLOWED".to_owned(), true));
    assert_eq!(lab.code(&session, "deploy", Some(&id)), ("URM_APPROVAL_CONSUMED".to_owned(), false));
    let approval = lab.store.approval(&id).unwrap().unwrap();
    let execution = lab.store.execution(&approval.consumed_by.unwrap()).unwrap().unwrap();
    assert_eq!((execution.approval_id, execution.state), (Some(id), ExecutionState::Begun));
}

pub(crate) fn an_approval_is_never_consumed_by_a_denial_or_a_question(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    let ask = Decide {
        approval_id: Some(id.clone()),
        proceed: Proceed::Ask,
        ..action(Some(&session), "deploy", "prod")
    };
    let (asked, answer) = lab.decide(ask).unwrap();
    assert_eq!((code_of(&asked), answer.permit), ("ALLOWED".to_owned(), None));
    assert_eq!(lab.code(&session, "secret", Some(&id)), ("URM_APPROVAL_INVALID".to_owned(), false));
    let other = Decide { approval_id: Some(id.clone()), ..action(Some(&session), "deploy", "staging") };
    assert_eq!(code_of(&lab.decide(other).unwrap().0), "URM_APPROVAL_INVALID");
    assert_eq!(lab.store.approval(&id).unwrap().unwrap().state, ApprovalState::Granted);
    assert_eq!(lab.code(&session, "deploy", Some(&id)), ("ALLOWED".to_owned(), true));
}

pub(crate) fn an_approval_that_is_not_required_stays_unconsumed(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    // Require an approval for writing, get it, then no longer require it.
    let before = lab.store.activations().unwrap();
    lab.activate(
        r#"{"schema": "odeu.instructions.v1", "rules": [
        {"rule_id": "allow", "rule_version": 1, "priority": 1, "kind": "allow",
         "when": {"atom": "session_active", "args": []}, "then": {"effect": "allow_action"}, "message": "", "code": "ALLOWED"},
        {"rule_id": "ask", "rule_version": 1, "priority": 1, "kind": "require",
         "when": {"atom": "action_kind_is", "args": ["fs.write"]}, "then": {"effect": "require_approval"}, "message": "", "code": "ASK"}]}"#,
    );
    let id = lab.request(&session, "fs.write");
    lab.grant("ann", &id).unwrap();
    lab.tell("root", Access::Admin, Command::RollBack(before[0].version)).unwrap();
    assert_eq!(lab.code(&session, "fs.write", Some(&id)), ("ALLOWED".to_owned(), true));
    assert_eq!(lab.store.approval(&id).unwrap().unwrap().state, ApprovalState::Granted);
}

pub(crate) fn every_unusable_approval_is_refused_with_its_code(lab: &Lab) {
    let (session, other) = (lab.session(Mode::WritesAllowed), lab.session(Mode::WritesAllowed));
    let code = |id: &_| lab.code(&session, "deploy", Some(id)).0;
    assert_eq!(code(&FreshIds::make(at(0)).unwrap().approval_id), "URM_APPROVAL_INVALID", "unknown");
    let id = lab.request(&session, "deploy");
    assert_eq!(code(&id), "URM_APPROVAL_INVALID", "pending");
    lab.grant("ann", &id).unwrap();
    assert_eq!(lab.code(&other, "deploy", Some(&id)).0, "URM_APPROVAL_INVALID", "of another session");
    let elsewhere = Decide { approval_id: Some(id.clone()), ..action(Some(&session), "deploy", "staging") };
    assert_eq!(code_of(&lab.decide(elsewhere).unwrap().0), "URM_APPROVAL_INVALID", "for another payload");
    assert_eq!(lab.code(&session, "launch", Some(&id)).0, "URM_APPROVAL_INVALID", "for another kind");
    lab.tell("ann", Access::Approver, Command::Revoke(id.clone())).unwrap();
    assert_eq!(code(&id), "URM_APPROVAL_INVALID", "revoked");

    let id = lab.request(&session, "deploy");
    lab.tell("ann", Access::Approver, Command::Deny(id.clone(), text("no"))).unwrap();
    assert_eq!(code(&id), "URM_APPROVAL_INVALID", "denied");

    let id = lab.approved(&session);
    lab.wait(120);
    let ask = Decide {
        approval_id: Some(id.clone()),
        proceed: Proceed::Ask,
        ..action(Some(&session), "deploy", "prod")
    };
    assert_eq!(code_of(&lab.decide(ask).unwrap().0), "ALLOWED", "its last second");
    lab.wait(1);
    assert_eq!(code(&id), "URM_APPROVAL_EXPIRED");

    let id = lab.approved(&session);
    let key = crate::lab::approver_key("ann", &[]).key_id;
    lab.tell("root", Access::Admin, Command::RevokeKey(key)).unwrap();
    assert_eq!(code(&id), "URM_APPROVAL_INVALID", "signed with a key that no longer counts");
    assert!(lab.store.executions().unwrap().is_empty());
}

pub(crate) fn a_stopped_session_begins_nothing(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    let stop = || lab.tell("agent-1", Access::Agent, Command::StopSession(session.session_id.clone()));
    stop().unwrap();
    assert_eq!(lab.code(&session, "fs.read", None), ("URM_POLICY_DENIED".to_owned(), false));
    assert_eq!(lab.code(&session, "deploy", Some(&id)), ("URM_POLICY_DENIED".to_owned(), false));
    // Not even under a policy that does not ask whether the session is active.
    lab.activate(
        r#"{"schema": "odeu.instructions.v1", "rules": [
        {"rule_id": "allow", "rule_version": 1, "priority": 1, "kind": "allow",
         "when": {"atom": "role_is", "args": ["copilot"]}, "then": {"effect": "allow_action"}, "message": "", "code": "ALLOWED"}]}"#,
    );
    let refused = lab.decide(action(Some(&session), "fs.read", "x")).unwrap_err();
    assert_eq!(refused.code(), store_codes::URM_SESSION_STOPPED);
    assert_eq!(stop().unwrap_err().code(), store_codes::URM_SESSION_STOPPED);
    assert_eq!(
        lab.store.approval(&id).unwrap().unwrap().state,
        ApprovalState::Granted,
        "nothing was used up"
    );
}

pub(crate) fn every_decision_leaves_its_events(lab: &Lab) {
    use EventKind::{
        Advisory, ApprovalConsumed, ApprovalGranted, ApprovalRequested, ExecutionStarted, PolicyDenied,
        PolicyEvalPass, PolicyEvalStart, SessionStart,
    };
    let session = lab.session(Mode::WritesAllowed);
    lab.code(&session, "fs.write", None);
    lab.code(&session, "nonsense", None);
    let id = lab.approved(&session);
    lab.code(&session, "deploy", Some(&id));
    let expected = [
        &[SessionStart][..],
        &[PolicyEvalStart, PolicyEvalPass, Advisory, ExecutionStarted],
        &[PolicyEvalStart, PolicyDenied],
        &[PolicyEvalStart, PolicyDenied, ApprovalRequested],
        &[ApprovalGranted],
        &[PolicyEvalStart, PolicyEvalPass, ApprovalConsumed, ExecutionStarted],
    ];
    assert_eq!(lab.kinds(&session), expected.concat());
    let events = lab.store.events(&session.stream(), 0).unwrap();
    let seqs: Vec<i64> = events.iter().map(|event| event.seq.get()).collect();
    assert_eq!(seqs, (1..=15).collect::<Vec<i64>>());
    let start = &events[1].detail;
    assert_eq!(start.get("decision_code").and_then(Json::as_str), Some("PENDING"));
    for event in events.iter().filter(|event| matches!(event.event, PolicyEvalPass | PolicyDenied)) {
        for member in ["policy_hash", "decision_code", "matched_rule_ids", "decision_hash"] {
            assert!(event.detail.get(member).is_some(), "{member}");
        }
    }
}

pub(crate) fn a_decision_without_a_session_is_denied_and_recorded(lab: &Lab) {
    let (decided, answer) = lab.decide(action(None, "fs.read", "x")).unwrap();
    assert_eq!((code_of(&decided), answer.permit), ("URM_CAPABILITY_NOT_ALLOWED".to_owned(), None));
    let kinds: Vec<EventKind> =
        lab.store.events(&StreamId::audit(None), 0).unwrap().iter().map(|event| event.event).collect();
    assert!(kinds.ends_with(&[EventKind::PolicyEvalStart, EventKind::PolicyDenied]), "{kinds:?}");
    let unknown = Decide { session_id: Some(session_id("nobody")), ..action(None, "fs.read", "x") };
    assert_eq!(lab.decide(unknown).unwrap_err().code(), store_codes::URM_NOT_FOUND);
}

pub(crate) fn a_denial_asks_for_one_approval_however_often_it_is_repeated(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.request(&session, "deploy");
    assert_eq!(lab.request(&session, "deploy"), id);
    let approval = lab.store.approval(&id).unwrap().unwrap();
    let shown = lab.store.action(&approval.action_hash).unwrap().unwrap();
    assert_eq!(shown.get("action_payload").map(Json::to_canonical).as_deref(), Some(r#"{"target":"prod"}"#));
    lab.wait(86_401);
    assert_ne!(lab.request(&session, "deploy"), id, "the first one has expired");
}

pub(crate) fn a_quorum_is_needed_where_the_lattice_asks_for_one(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.request(&session, "launch");
    assert_eq!(lab.grant("ann", &id).unwrap().state, ApprovalState::Pending);
    assert_eq!(lab.grant("ann", &id).unwrap_err().code(), ledger_codes::URM_APPROVAL_STATE_CONFLICT);
    assert_eq!(lab.grant("bob", &id).unwrap().state, ApprovalState::Pending, "two, but none of security");
    assert_eq!(lab.code(&session, "launch", Some(&id)), ("URM_APPROVAL_INVALID".to_owned(), false));
    assert_eq!(lab.grant("sam", &id).unwrap().state, ApprovalState::Granted);
    assert_eq!(lab.code(&session, "launch", Some(&id)), ("ALLOWED".to_owned(), true));
}

pub(crate) fn nobody_acts_beyond_their_role(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.request(&session, "deploy");
    let approval = lab.store.approval(&id).unwrap().unwrap();
    let grant = |who: &str| Box::new(signed(&approval, who, lab.now()));
    let forbidden = [
        ("ann", Access::Agent, Command::Grant(id.clone(), grant("ann"))),
        ("ann", Access::Auditor, Command::Grant(id.clone(), grant("ann"))),
        ("bob", Access::Approver, Command::Grant(id.clone(), grant("ann"))),
        ("agent-1", Access::Agent, Command::Deny(id.clone(), text(""))),
        ("agent-1", Access::Agent, Command::Revoke(id.clone())),
        ("ann", Access::Approver, Command::AddKey(Box::new(crate::lab::approver_key("eve", &[])))),
        ("agent-2", Access::Agent, Command::StopSession(session.session_id.clone())),
        ("agent-2", Access::Agent, Command::Decide(Box::new(action(Some(&session), "fs.read", "x")))),
        ("ann", Access::Approver, Command::Decide(Box::new(action(Some(&session), "fs.read", "x")))),
        ("agent-1", Access::Agent, Command::RollBack(lab.store.activations().unwrap()[0].version)),
    ];
    for (who, access, command) in forbidden {
        let refused = lab.tell(who, access, command.clone()).unwrap_err();
        assert_eq!(refused.code(), store_codes::URM_FORBIDDEN, "{who} {access} {command:?}");
    }
    // The owner of a session that asks cannot grant, whatever else it may do.
    let own = lab.store.approval(&id).unwrap().unwrap();
    assert_eq!(own.requester.as_str(), "agent-1");
    let key = crate::lab::approver_key("agent-1", &[]);
    lab.tell("root", Access::Admin, Command::AddKey(Box::new(key))).unwrap();
    let refused =
        lab.tell("agent-1", Access::Admin, Command::Grant(id.clone(), grant("agent-1"))).unwrap_err();
    assert_eq!(refused.code(), ledger_codes::URM_APPROVAL_OWN_REQUEST);
    assert_eq!(lab.store.approval(&id).unwrap().unwrap().state, ApprovalState::Pending);
}

pub(crate) fn a_lost_answer_is_found_again_by_its_name(lab: &Lab) {
    /// A client may call its request what it likes.
    const ODD: &str = "one\0\n\"\u{1F600}";
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    let named = |name: &str| Decide {
        approval_id: Some(id.clone()),
        client_request_id: Some(text(name)),
        fresh: FreshIds::make(at(0)).unwrap(),
        ..action(Some(&session), "deploy", "prod")
    };
    let (first, answer) = lab.decide(named(ODD)).unwrap();
    assert!(!answer.is_replay);
    lab.wait(500);
    let (again, replay) = lab.decide(named(ODD)).unwrap();
    assert_eq!((&again, replay.is_replay), (&first, true));
    assert_eq!(replay.permit.unwrap().id(), answer.permit.unwrap().id());
    assert_eq!(replay.checkpoint, answer.checkpoint);
    let other = Decide { proceed: Proceed::Ask, ..named(ODD) };
    assert_eq!(lab.decide(other).unwrap_err().code(), store_codes::URM_IDEMPOTENCY_KEY_CONFLICT);
    let (denied, _) = lab.decide(named("two")).unwrap();
    assert_eq!(code_of(&denied), "URM_APPROVAL_CONSUMED");
    let (denied_again, replay) = lab.decide(named("two")).unwrap();
    assert_eq!((denied_again, replay.is_replay), (denied, true), "a decided denial keeps its name");
    let failed = Decide { session_id: Some(session_id("nobody")), ..named("three") };
    lab.decide(failed).unwrap_err();
    assert!(!lab.decide(named("three")).unwrap().1.is_replay, "a failed request does not burn its name");
    assert_eq!(lab.store.executions().unwrap().len(), 1);
}

pub(crate) fn a_mode_changes_in_the_transaction_that_uses_up_its_approval(lab: &Lab) {
    let session = lab.session(Mode::ReadOnly);
    let set_mode = |mode: &str| Decide {
        action_payload: Json::object([("mode", Json::from(mode.to_owned()))]),
        ..action(Some(&session), "session.set_mode", "")
    };
    let (decided, _) = lab.decide(set_mode("writes_allowed")).unwrap();
    let id = decided.pending_approval.unwrap().approval_id;
    lab.grant("ann", &id).unwrap();
    let proceed = Decide { approval_id: Some(id.clone()), ..set_mode("writes_allowed") };
    let (_, answer) = lab.decide(proceed).unwrap();
    let execution = lab.store.execution(answer.permit.unwrap().id()).unwrap().unwrap();
    assert_eq!(execution.state, ExecutionState::Succeeded);
    assert_eq!(lab.store.session(&session.session_id).unwrap().unwrap().mode, Mode::WritesAllowed);
    assert_eq!(lab.store.approval(&id).unwrap().unwrap().state, ApprovalState::Consumed);
    assert_eq!(lab.code(&session, "fs.write", None), ("ALLOWED".to_owned(), true));

    let (decided, _) = lab.decide(set_mode("anything")).unwrap();
    let id = decided.pending_approval.unwrap().approval_id;
    lab.grant("ann", &id).unwrap();
    let nonsense = Decide { approval_id: Some(id.clone()), ..set_mode("anything") };
    assert_eq!(lab.decide(nonsense).unwrap_err().code(), store_codes::URM_REQUEST_INVALID);
    assert_eq!(
        lab.store.approval(&id).unwrap().unwrap().state,
        ApprovalState::Granted,
        "nothing was used up"
    );
}

pub(crate) fn time_ends_what_nobody_ends(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let used = lab.approved(&session);
    lab.code(&session, "deploy", Some(&used));
    let unused = lab.approved(&session);
    let sweep = || {
        let answer = lab.tell("root", Access::Admin, Command::Sweep).unwrap();
        let Reply::Swept(swept) = answer.reply else { panic!("{:?}", answer.reply) };
        (swept.expired, swept.in_doubt, swept.unreported)
    };
    assert_eq!(sweep(), (0, 0, 0));
    lab.wait(121);
    assert_eq!(sweep(), (1, 0, 0));
    assert_eq!(lab.store.approval(&unused).unwrap().unwrap().state, ApprovalState::Expired);
    lab.wait(900);
    assert_eq!(sweep(), (0, 1, 0));
    assert_eq!(sweep(), (0, 0, 0));
    let execution = lab.store.executions().unwrap().remove(0);
    assert_eq!(execution.state, ExecutionState::InDoubt);
    assert_eq!(lab.code(&session, "deploy", Some(&used)), ("URM_APPROVAL_CONSUMED".to_owned(), false));
}

pub(crate) fn what_nobody_reports_closes_with_its_permit(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let used = lab.approved(&session);
    lab.code(&session, "deploy", Some(&used));
    let unheard = |id: &ApprovalId| Decide {
        approval_id: Some(id.clone()),
        executor: Executor::Silent,
        ..action(Some(&session), "deploy", "prod")
    };
    let silent = lab.approved(&session);
    let (_, answer) = lab.decide(unheard(&silent)).unwrap();
    let permit = answer.permit.unwrap().id().clone();
    let sweep = || {
        let answer = lab.tell("root", Access::Admin, Command::Sweep).unwrap();
        let Reply::Swept(swept) = answer.reply else { panic!("{:?}", answer.reply) };
        (swept.in_doubt, swept.unreported)
    };
    lab.wait(PERMIT_TTL_S);
    assert_eq!(sweep(), (0, 0), "the permit's last second still counts");
    lab.wait(1);
    assert_eq!(sweep(), (0, 1));
    assert_eq!(sweep(), (0, 0));
    let execution = lab.store.execution(&permit).unwrap().unwrap();
    assert_eq!((execution.state, execution.detail), (ExecutionState::Unreported, None));
    let last = lab.store.events(&session.stream(), 0).unwrap().pop().unwrap();
    assert_eq!(last.event, EventKind::ExecutionFinished);
    assert_eq!(last.detail.get("state").and_then(Json::as_str), Some("unreported"));
    let late = Command::Finish(permit, OutcomeStatus::Succeeded, text(""));
    assert!(lab.tell("root", Access::Admin, late).is_err(), "what is closed stays closed");
    assert_eq!(code_of(&lab.decide(unheard(&silent)).unwrap().0), "URM_APPROVAL_CONSUMED");
    lab.wait(900);
    assert_eq!(sweep(), (1, 0), "silence of one who reports is doubt");
}

pub(crate) fn a_clock_set_back_stops_decisions_until_it_has_caught_up(lab: &Lab) {
    lab.wait(100);
    let session = lab.session(Mode::WritesAllowed);
    lab.wait(-2);
    assert_eq!(lab.code(&session, "fs.read", None).0, "ALLOWED", "a small step is no step");
    lab.wait(-1);
    let refused = lab.decide(action(Some(&session), "fs.read", "x")).unwrap_err();
    assert_eq!(refused.code(), store_codes::URM_CLOCK_BACK);
    lab.wait(3);
    assert_eq!(lab.code(&session, "fs.read", None).0, "ALLOWED");
    assert!(lab.store.events(&session.stream(), 0).unwrap().iter().all(|event| event.ts == at(100)));
}

pub(crate) fn the_log_verifies_and_every_decision_is_made_again(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let id = lab.approved(&session);
    lab.code(&session, "deploy", Some(&id));
    lab.code(&session, "deploy", Some(&id));
    lab.code(&session, "nonsense", Some(&FreshIds::make(at(0)).unwrap().approval_id));
    let (_, answer) = lab.decide(action(None, "fs.read", "x")).unwrap();
    let kept = [answer.checkpoint.unwrap()];
    lab.code(&session, "fs.write", None);

    let report = lab.store.verify_log(None, &kept).unwrap();
    assert_eq!((report.level, report.head.size), (LogLevel::Outside, 23));
    let events = lab.store.log_events(0, 100).unwrap();
    let decisions = lab.store.decisions(0, 100).unwrap();
    assert_eq!((events.len(), decisions.len()), (23, 6));
    let versions = lab.store.policy_versions().unwrap();
    for decision in &decisions {
        let version =
            versions.iter().find(|version| version.version == decision.record.policy_version).unwrap();
        let loaded = countersign_ledger::LoadedVersion::load(version).unwrap();
        let probe = decision.record.trace.get("probe_hash").and_then(Json::as_str).unwrap();
        let probe = lab.store.probe(&countersign_policy::ProbeHash::parse(probe).unwrap()).unwrap().unwrap();
        assert_eq!(decision.record.redecide(&loaded, &probe), Ok(()));
        // The event in the log covers every byte of the record.
        let event = &events[usize::try_from(decision.log_index).unwrap()].event;
        let hash = event.detail.get("decision_hash").and_then(Json::as_str).unwrap();
        assert_eq!(hash, countersign_canon::Sha256::of(bytes_of(&decision.record).as_bytes()).to_string());
    }
    let mut forged = decisions[1].record.clone();
    forged.context.mode = Mode::ReadOnly;
    let loaded = countersign_ledger::LoadedVersion::load(&versions[0]).unwrap();
    let probe = ProbeFacts::load(br#"{"schema": "urm.probe.facts.v1", "client": "test", "facts": []}"#);
    assert!(forged.redecide(&loaded, &probe.unwrap()).is_err());
}

pub(crate) fn a_policy_is_put_in_force_and_taken_back_by_number(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let nothing = r#"{"schema": "odeu.instructions.v1", "rules": []}"#;
    lab.activate(nothing);
    assert_eq!(lab.code(&session, "fs.read", None).0, policy_codes::URM_POLICY_DENIED.as_str());
    lab.activate(nothing);
    let first = lab.store.activations().unwrap()[0].version;
    lab.tell("root", Access::Admin, Command::RollBack(first)).unwrap();
    assert_eq!(lab.code(&session, "fs.read", None).0, "ALLOWED");
    let versions: Vec<i64> = lab.store.activations().unwrap().iter().map(|it| it.version.get()).collect();
    assert_eq!(versions, [1, 2, 2, 1], "the same documents are the same version");
    let kinds: Vec<EventKind> =
        lab.store.events(&StreamId::policy(), 0).unwrap().iter().map(|event| event.event).collect();
    let activated = EventKind::PolicyActivated;
    assert_eq!(kinds, [activated, activated, activated, EventKind::PolicyRolledBack]);
    let unknown = countersign_ledger::VersionNumber::new(9).unwrap();
    let refused = lab.tell("root", Access::Admin, Command::RollBack(unknown)).unwrap_err();
    assert_eq!(refused.code(), store_codes::URM_NOT_FOUND);
}

pub(crate) fn an_execution_has_one_outcome(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let (decided, _) = lab.decide(action(Some(&session), "fs.write", "x")).unwrap();
    let permit = decided.permit.unwrap().permit_id;
    let finish = |who: &str, status| {
        lab.tell(who, Access::Agent, Command::Finish(permit.clone(), status, text("done")))
            .map(|answer| answer.reply)
    };
    assert_eq!(finish("agent-2", OutcomeStatus::Succeeded).unwrap_err().code(), store_codes::URM_FORBIDDEN);
    let Reply::Execution(execution) = finish("agent-1", OutcomeStatus::Failed).unwrap() else { panic!() };
    assert_eq!(execution.state, ExecutionState::Failed);
    let refused = finish("agent-1", OutcomeStatus::Succeeded).unwrap_err();
    assert_eq!(refused.code(), ledger_codes::URM_APPROVAL_STATE_CONFLICT);
    assert_eq!(lab.kinds(&session).last(), Some(&EventKind::ExecutionFinished));
}

pub(crate) fn a_run_acts_in_its_worker_stream(lab: &Lab) {
    let run = lab.start(SessionKind::Run, Mode::ReadOnly);
    assert_eq!(lab.code(&run, "fs.read", None), ("ALLOWED".to_owned(), true));
    let events = lab.store.events(&StreamId::worker(&run.session_id), 0).unwrap();
    assert_eq!(events.len(), 4);
    for event in &events {
        assert_eq!(
            (&event.context.run_id, &event.context.session_id),
            (&Some(run.session_id.clone()), &None)
        );
    }
    assert!(lab.store.events(&StreamId::copilot(&run.session_id), 0).unwrap().is_empty());
}

pub(crate) fn advice_is_kept_on_a_denial_and_carries_the_decision(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    lab.activate(
        r#"{"schema": "odeu.instructions.v1", "rules": [
        {"rule_id": "advise", "rule_version": 1, "priority": 1, "kind": "derive",
         "when": {"atom": "session_active", "args": []}, "then": {"effect": "emit_advisory"}, "message": "", "code": "HINT"}]}"#,
    );
    assert_eq!(lab.code(&session, "fs.write", None), ("URM_POLICY_DENIED".to_owned(), false));
    let events = lab.store.events(&session.stream(), 0).unwrap();
    let advice = events.iter().find(|event| event.event == EventKind::Advisory).unwrap();
    let text = |member: &str| advice.detail.get(member).and_then(Json::as_str);
    assert_eq!((text("decision"), text("decision_code")), (Some("deny"), Some("URM_POLICY_DENIED")));
}

pub(crate) fn only_the_store_says_what_it_has_done(lab: &Lab) {
    let event = |kind| NewEvent { event: kind, ..crate::sqlite::event(StreamId::audit(None)) };
    let tell = |kinds: &[EventKind]| {
        let events = kinds.iter().copied().map(event).collect();
        lab.tell("root", Access::Admin, Command::Append(events)).map(drop)
    };
    assert_eq!(tell(&[EventKind::ScanVerdict, EventKind::Advisory]), Ok(()));
    let refused = tell(&[EventKind::ScanVerdict, EventKind::ApprovalConsumed]).unwrap_err();
    assert_eq!(refused.code(), store_codes::URM_REQUEST_INVALID);
    assert_eq!(lab.store.events(&StreamId::audit(None), 0).unwrap().len(), 5, "all or none");
}

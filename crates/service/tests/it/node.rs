//! The protocol from the first question to the used-up approval, as a program in the same process sees it.

use countersign_canon::{Json, Text};
use countersign_ledger::{
    EventKind, ExecutionState, GrantTtl, KeyName, LogLevel, OutcomeStatus, Principal, SecretKey, Session,
    SessionKind, StreamId,
};
use countersign_policy::{ActionKind, ApprovalId, ApprovalState, Mode, NameSet, Role};
use countersign_service::{Ask, Caller, Decision, NewSession, Node, NodeOptions, ServiceError, now, sign};

struct Lab {
    node: Node,
    owner: Caller,
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let node = open(&folder);
        Self { node, owner: Caller::owner("test").unwrap(), folder }
    }

    fn session(&self, mode: Mode) -> Session {
        let new = NewSession::new(Role::parse("copilot").unwrap(), mode, "test").unwrap();
        self.node.start_session(&self.owner, new).unwrap()
    }

    fn decide(&self, session: &Session, kind: &str, approval: Option<&ApprovalId>) -> Decision {
        let ask = Ask::new(ActionKind::parse(kind).unwrap(), Json::from("shop"));
        let ask = Ask { approval_id: approval.cloned(), ..ask.in_session(&session.session_id).to_begin() };
        self.node.decide(&self.owner, ask).unwrap()
    }

    fn request(&self, session: &Session) -> ApprovalId {
        let decision = self.decide(session, "deploy", None);
        assert_eq!((decision.code(), &decision.permit), ("URM_APPROVAL_REQUIRED", &None));
        decision.decided.pending_approval.unwrap().approval_id
    }

    /// The key of ann, registered unless it is.
    fn key(&self) -> SecretKey {
        let key = SecretKey::from_seed(KeyName::parse("ann").unwrap(), &[7; 32]);
        if self.node.store().approver_keys().unwrap().is_empty() {
            self.node.add_key(&self.owner, &key.public(), NameSet::default()).unwrap();
        }
        key
    }

    fn grant(&self, id: &ApprovalId) -> Result<ApprovalState, ServiceError> {
        let approval = self.node.approval(id).unwrap();
        let time = (now().unwrap(), GrantTtl::new(120).unwrap());
        let signed = sign(&approval, &ann(), &self.key(), time, Text::cut("fine")).unwrap();
        self.node.grant(&self.owner.approver(ann()), id, signed).map(|approval| approval.state)
    }
}

fn open(folder: &tempfile::TempDir) -> Node {
    Node::open(&NodeOptions { data: folder.path().join("data"), database: None, checkpoints: None }).unwrap()
}

fn ann() -> Principal {
    Principal::parse("ann").unwrap()
}

#[test]
fn the_built_in_policy_comes_into_force_once() {
    let lab = Lab::new();
    assert_eq!(lab.node.store().activations().unwrap().len(), 1);
    drop(lab.node);
    let again = open(&lab.folder);
    assert_eq!(again.store().activations().unwrap().len(), 1);
    let events = again.store().events(&StreamId::policy(), 0).unwrap();
    assert_eq!(events.iter().map(|event| event.event).collect::<Vec<_>>(), [EventKind::PolicyActivated]);
}

#[test]
fn an_agent_is_told_what_it_needs_and_a_signed_yes_counts_once() {
    let lab = Lab::new();
    let session = lab.session(Mode::WritesAllowed);
    assert_eq!(lab.decide(&session, "fs.read", None).code(), "READ_ALLOWED");
    let destroy = lab.decide(&session, "shell.destructive", None);
    assert_eq!(destroy.code(), "DESTRUCTIVE_SHELL_DENIED");
    assert!(destroy.decided.reason.starts_with("Commands that destroy"));

    let id = lab.request(&session);
    assert_eq!(
        lab.decide(&session, "deploy", Some(&id)).code(),
        "URM_APPROVAL_INVALID",
        "nobody said yes yet"
    );
    assert_eq!(lab.grant(&id), Ok(ApprovalState::Granted));
    let allowed = lab.decide(&session, "deploy", Some(&id));
    assert_eq!(allowed.code(), "APPROVED_WRITE_ALLOWED");
    let permit = allowed.permit.unwrap();
    let done = lab.node.finish(&lab.owner, permit.id(), OutcomeStatus::Succeeded, Text::cut("")).unwrap();
    assert_eq!(done.state, ExecutionState::Succeeded);
    let repeated = lab.decide(&session, "deploy", Some(&id));
    assert_eq!((repeated.code(), &repeated.permit), ("URM_APPROVAL_CONSUMED", &None));
    assert_eq!(lab.node.verify_log(&[allowed.checkpoint.unwrap()]).unwrap().level, LogLevel::Outside);
}

#[test]
fn what_was_denied_or_taken_back_cannot_be_used() {
    let lab = Lab::new();
    let session = lab.session(Mode::WritesAllowed);
    let person = lab.owner.approver(ann());
    let id = lab.request(&session);
    lab.node.deny(&person, &id, Text::cut("fine")).unwrap();
    assert_eq!(lab.decide(&session, "deploy", Some(&id)).code(), "URM_APPROVAL_INVALID");
    assert_eq!(lab.grant(&id).unwrap_err().code().as_str(), "URM_APPROVAL_STATE_CONFLICT");
    let id = lab.request(&session);
    lab.grant(&id).unwrap();
    lab.node.revoke(&person, &id).unwrap();
    assert_eq!(lab.decide(&session, "deploy", Some(&id)).code(), "URM_APPROVAL_INVALID");
    assert!(lab.node.store().executions().unwrap().is_empty());
}

#[test]
fn a_gate_says_in_words_why_it_refused() {
    let lab = Lab::new();
    let session = lab.session(Mode::ReadOnly);
    let denied = lab.decide(&session, "fs.write", None);
    assert_eq!(denied.code(), "URM_MODE_DENIED");
    assert!(!denied.decided.reason.is_empty());
    lab.node.stop_session(&lab.owner, &session.session_id).unwrap();
    assert_eq!(lab.decide(&session, "fs.read", None).code(), "SESSION_INACTIVE");
}

#[test]
fn what_cannot_be_decided_has_its_code() {
    let lab = Lab::new();
    let unknown = ApprovalId::parse("nobody").unwrap();
    assert_eq!(lab.node.approval(&unknown).unwrap_err().code().as_str(), "URM_NOT_FOUND");
    let stranger = lab.owner.approver(ann());
    let new = NewSession::new(Role::parse("copilot").unwrap(), Mode::ReadOnly, "test").unwrap();
    assert_eq!(lab.node.start_session(&stranger, new).unwrap_err().code().as_str(), "URM_FORBIDDEN");
    let role = Role::parse("copilot").unwrap();
    assert_eq!(NewSession::new(role, Mode::ReadOnly, "").unwrap_err().code().as_str(), "SERVICE_TEXT_LENGTH");
}

mod k2_3 {
    use super::*;

    #[test]
    fn a_workers_events_go_to_its_worker_stream() {
        let lab = Lab::new();
        let role = Role::parse("pipeline_worker").unwrap();
        let new = NewSession::new(role, Mode::ReadOnly, "test").unwrap();
        let run = lab.node.start_session(&lab.owner, NewSession { kind: SessionKind::Run, ..new }).unwrap();
        assert_eq!(lab.decide(&run, "fs.read", None).code(), "READ_ALLOWED");
        let stream = StreamId::worker(&run.session_id);
        let events = lab.node.store().events(&stream, 0).unwrap();
        let kinds: Vec<EventKind> = events.iter().map(|event| event.event).collect();
        let expected = [
            EventKind::SessionStart,
            EventKind::PolicyEvalStart,
            EventKind::PolicyEvalPass,
            EventKind::ExecutionStarted,
        ];
        assert_eq!(kinds, expected);
        assert!(events.iter().all(|event| event.context.run_id.as_ref() == Some(&run.session_id)));
    }

    #[test]
    fn advice_is_kept_on_a_denial_and_says_what_was_decided() {
        let lab = Lab::new();
        let session = lab.session(Mode::WritesAllowed);
        lab.request(&session);
        let events = lab.node.store().events(&session.stream(), 0).unwrap();
        let advice = events.iter().find(|event| event.event == EventKind::Advisory).unwrap();
        let text = |key: &str| advice.detail.get(key).and_then(Json::as_str).unwrap();
        assert_eq!(text("code"), "DEPLOY_WITHOUT_CHECK");
        assert_eq!((text("decision"), text("decision_code")), ("deny", "URM_APPROVAL_REQUIRED"));
    }
}

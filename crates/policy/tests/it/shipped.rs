//! The shipped policies do what a team expects, for every kind of action that the lattice knows.

use countersign_canon::{Json, Timestamp, Within};
use countersign_policy::{
    ActionKind, AllowPolicy, ApprovalId, ApprovalRecord, ApprovalState, EvidenceRef, InForce, Lattice, Mode,
    Policy, ProbeFacts, ProvidedApproval, QuorumRule, Request, Role, SessionFacts, SessionId, action_hash,
    authorize,
    shipped::{Bundle, STANDARD, STRICT},
};

/// Decides one action of a kind for a role in a mode: the code, and the step that decided.
fn decide(bundle: Bundle, role: &str, mode: Mode, kind: &str, approved: bool) -> String {
    let policy = Policy::load(bundle.policy).unwrap();
    let lattice = Lattice::load(bundle.lattice).unwrap();
    let allow = AllowPolicy::load(bundle.allow, &lattice).unwrap();
    let probe = br#"{"schema": "urm.probe.facts.v1", "client": "codex", "facts": ["method:turn/steer", "tool:spawn_agent"]}"#;
    let now = Timestamp::parse("2026-02-12T09:10:00Z").unwrap();
    let action_kind = ActionKind::parse(kind).unwrap();
    let action_hash = action_hash(&action_kind, &Json::from("payload"));
    let session_id = SessionId::parse("s1").unwrap();
    let record = ApprovalRecord {
        approval_id: ApprovalId::parse("a1").unwrap(),
        session_id: session_id.clone(),
        action_kind: action_kind.clone(),
        action_hash,
        state: ApprovalState::Granted,
        signatures_valid: true,
        expires_at: now,
        quorum: Some(QuorumRule {
            approvals: Within::new(2).unwrap(),
            reviewers: [Role::parse("security").unwrap()].into_iter().collect(),
        }),
    };
    let evidence = Json::parse(br#"{"kind": "validator", "ref": "verdict:1"}"#).unwrap();
    let evidence = countersign_canon::Reader::read_json::<EvidenceRef>(
        &evidence,
        countersign_policy::codes::EXAMPLE_FAILED,
    );
    let request = Request {
        action_kind,
        action_hash,
        session: SessionFacts {
            session_id: Some(session_id),
            role: Some(Role::parse(role).unwrap()),
            mode,
            active: true,
        },
        probe: ProbeFacts::load(probe).unwrap(),
        approval: if approved { ProvidedApproval::Record(record) } else { ProvidedApproval::NotProvided },
        evidence_refs: vec![evidence.unwrap()],
        warrant: None,
    };
    let decided = authorize(InForce { policy: &policy, lattice: &lattice, allow: &allow }, &request, now);
    let evaluation = decided.trace.evaluation;
    format!("{} {}", evaluation.gate.number(), evaluation.decision_code)
}

/// The decisions about all kinds, one line each: without and with an approval.
fn table(bundle: Bundle, role: &str, mode: Mode) -> String {
    let lattice = Lattice::load(bundle.lattice).unwrap();
    let kinds: Vec<&str> = lattice.actions().map(|(kind, _)| kind.as_str()).collect();
    let line = |kind: &str| {
        let [without, with] = [false, true].map(|approved| decide(bundle, role, mode, kind, approved));
        if without == with { format!("{kind}: {without}\n") } else { format!("{kind}: {without} | {with}\n") }
    };
    kinds.into_iter().map(line).collect()
}

#[test]
fn every_kind_that_agents_use_is_in_the_lattice() {
    let expected = [
        "agent.spawn",
        "deploy",
        "fs.delete",
        "fs.read",
        "fs.write",
        "fs.write_outside",
        "git.commit",
        "git.push",
        "git.push_force",
        "mcp.call",
        "net.fetch",
        "pkg.install",
        "session.set_mode",
        "shell.destructive",
        "shell.read",
        "shell.unknown",
        "shell.write",
        "turn.steer",
    ];
    for bundle in [STANDARD, STRICT] {
        let lattice = Lattice::load(bundle.lattice).unwrap();
        let kinds: Vec<&str> = lattice.actions().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, expected);
    }
}

#[test]
fn every_rule_has_examples_both_ways() {
    for bundle in [STANDARD, STRICT] {
        for rule in Policy::load(bundle.policy).unwrap().rules() {
            let examples = rule.examples.as_ref().unwrap();
            assert!(!examples.matching.as_ref().unwrap().is_empty(), "{}", rule.rule_id);
            assert!(!examples.no_match.as_ref().unwrap().is_empty(), "{}", rule.rule_id);
        }
    }
}

#[test]
fn a_copilot_that_may_write() {
    assert_eq!(
        table(STANDARD, "copilot", Mode::WritesAllowed),
        "agent.spawn: 7 DELEGATION_ALLOWED
deploy: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
fs.delete: 7 WRITE_ALLOWED
fs.read: 7 READ_ALLOWED
fs.write: 7 WRITE_ALLOWED
fs.write_outside: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
git.commit: 7 WRITE_ALLOWED
git.push: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
git.push_force: 5 FORCE_PUSH_DENIED
mcp.call: 7 MCP_ALLOWED
net.fetch: 7 FETCH_ALLOWED
pkg.install: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
session.set_mode: 6 URM_APPROVAL_REQUIRED | 7 SET_MODE_ALLOWED
shell.destructive: 5 DESTRUCTIVE_SHELL_DENIED
shell.read: 7 READ_ALLOWED
shell.unknown: 5 UNKNOWN_SHELL_DENIED
shell.write: 7 WRITE_ALLOWED
turn.steer: 7 DELEGATION_ALLOWED
"
    );
}

#[test]
fn a_copilot_that_may_only_read() {
    assert_eq!(
        table(STANDARD, "copilot", Mode::ReadOnly),
        "agent.spawn: 7 DELEGATION_ALLOWED
deploy: 3 URM_MODE_DENIED
fs.delete: 3 URM_MODE_DENIED
fs.read: 7 READ_ALLOWED
fs.write: 3 URM_MODE_DENIED
fs.write_outside: 3 URM_MODE_DENIED
git.commit: 3 URM_MODE_DENIED
git.push: 3 URM_MODE_DENIED
git.push_force: 3 URM_MODE_DENIED
mcp.call: 3 URM_MODE_DENIED
net.fetch: 7 FETCH_ALLOWED
pkg.install: 3 URM_MODE_DENIED
session.set_mode: 6 URM_APPROVAL_REQUIRED | 7 SET_MODE_ALLOWED
shell.destructive: 3 URM_MODE_DENIED
shell.read: 7 READ_ALLOWED
shell.unknown: 3 URM_MODE_DENIED
shell.write: 3 URM_MODE_DENIED
turn.steer: 7 DELEGATION_ALLOWED
"
    );
}

#[test]
fn the_strict_policy_asks_for_every_change() {
    assert_eq!(
        table(STRICT, "copilot", Mode::WritesAllowed),
        "agent.spawn: 2 URM_CAPABILITY_NOT_ALLOWED
deploy: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
fs.delete: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
fs.read: 7 READ_ALLOWED
fs.write: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
fs.write_outside: 2 URM_CAPABILITY_NOT_ALLOWED
git.commit: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
git.push: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
git.push_force: 5 FORCE_PUSH_DENIED
mcp.call: 2 URM_CAPABILITY_NOT_ALLOWED
net.fetch: 2 URM_CAPABILITY_NOT_ALLOWED
pkg.install: 2 URM_CAPABILITY_NOT_ALLOWED
session.set_mode: 6 URM_APPROVAL_REQUIRED | 7 SESSION_ALLOWED
shell.destructive: 2 URM_CAPABILITY_NOT_ALLOWED
shell.read: 7 READ_ALLOWED
shell.unknown: 2 URM_CAPABILITY_NOT_ALLOWED
shell.write: 6 URM_APPROVAL_REQUIRED | 7 APPROVED_WRITE_ALLOWED
turn.steer: 7 SESSION_ALLOWED
"
    );
}

#[test]
fn an_auditor_only_looks() {
    for bundle in [STANDARD, STRICT] {
        for line in table(bundle, "auditor", Mode::WritesAllowed).lines() {
            let is_read = line.starts_with("fs.read") || line.starts_with("shell.read");
            assert_eq!(line.ends_with("7 READ_ALLOWED"), is_read, "{line}");
        }
    }
}

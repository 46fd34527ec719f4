//! The locks of K1 and K2.1 one by one: a policy, a context, the decision.

use countersign_canon::{Json, Sha256, Timestamp};
use countersign_policy::{
    ActionHash, ActionKind, AllowPolicy, ApprovalId, ApprovalRecord, ApprovalState, Authorization, Context,
    Decision, EVALUATOR_VERSION, ExampleContext, InForce, Lattice, Mode, Policy, ProbeFacts,
    ProvidedApproval, QuorumRule, Request, Role, SessionFacts, SessionId, TraceDocument, action_hash,
    authorize, codes,
};

/// A rule in short: id, priority, kind, condition. Its code is its id in capitals.
fn rule(id: &str, priority: u32, kind: &str, when: &str) -> String {
    let effect = match kind {
        "deny" => "deny_action",
        "allow" => "allow_action",
        "require" => "require_approval",
        other => other,
    };
    let kind = if matches!(kind, "deny" | "allow" | "require") { kind } else { "derive" };
    format!(
        r#"{{"rule_id":"{id}","rule_version":1,"priority":{priority},"kind":"{kind}","when":{when},"then":{{"effect":"{effect}"}},"message":"m","code":"{}"}}"#,
        id.to_uppercase()
    )
}

const SO: &str = r#"{"atom":"session_active","args":[]}"#;
const NOT_SO: &str = r#"{"op":"not","arg":{"atom":"session_active","args":[]}}"#;

fn policy(rules: &[(&str, u32, &str, &str)]) -> Policy {
    let rules: Vec<String> =
        rules.iter().map(|(id, priority, kind, when)| rule(id, *priority, kind, when)).collect();
    let text = format!(r#"{{"schema":"odeu.instructions.v1","rules":[{}]}}"#, rules.join(","));
    Policy::load(text.as_bytes()).unwrap()
}

fn context(facts: &str) -> Context {
    let text = format!(r#"{{"action_kind":"fs.write","session_active":true{facts}}}"#);
    let example: ExampleContext =
        countersign_canon::Reader::read_document(text.as_bytes(), codes::URM_CONTEXT_INVALID).unwrap();
    example.complete()
}

const APPROVED: &str =
    r#","approval_present":true,"approval_valid":true,"approval_unexpired":true,"approval_unused":true"#;

/// The single place that calls the kernel: decision, code, matched ids and whether an approval is required.
#[track_caller]
fn check(rules: &[(&str, u32, &str, &str)], facts: &str, expected: &str) {
    let policy = policy(rules);
    let found = policy.evaluate(&context(facts), false);
    let ids: Vec<&str> = found.matched.iter().map(|rule| rule.rule_id.as_str()).collect();
    let required = if found.required_approval { " required" } else { "" };
    assert_eq!(format!("{} {} {}{required}", found.decision, found.decision_code, ids.join(",")), expected);
    let mut reversed = rules.to_vec();
    reversed.reverse();
    assert_eq!(self::policy(&reversed).evaluate(&context(facts), false), found);
}

mod k1_5 {
    use super::{APPROVED, NOT_SO, SO, check};

    #[test]
    fn deny_overrides_allow_even_at_lower_priority() {
        check(&[("a", 1, "allow", SO), ("d", 9, "deny", SO)], "", "deny D a,d");
    }

    #[test]
    fn the_first_of_several_denials_gives_the_code() {
        check(&[("z", 1, "deny", SO), ("b", 2, "deny", SO), ("a", 2, "deny", SO)], "", "deny Z z,a,b");
    }

    #[test]
    fn without_an_allow_the_answer_is_the_fallback_denial() {
        check(&[], "", "deny URM_POLICY_DENIED ");
        check(&[("a", 1, "allow", NOT_SO)], "", "deny URM_POLICY_DENIED ");
        check(&[("r", 1, "require", SO)], "", "deny URM_POLICY_DENIED r required");
        check(&[("r", 1, "require", SO)], APPROVED, "deny URM_POLICY_DENIED r required");
    }

    #[test]
    fn a_required_approval_must_be_there_whole() {
        let rules = [("a", 1, "allow", SO), ("r", 9, "require", SO)];
        check(&rules, "", "deny URM_APPROVAL_REQUIRED a,r required");
        check(&rules, APPROVED, "allow A a,r required");
        for atom in ["approval_present", "approval_valid", "approval_unexpired", "approval_unused"] {
            let facts = APPROVED.replace(&format!("\"{atom}\":true"), &format!("\"{atom}\":false"));
            check(&rules, &facts, "deny URM_APPROVAL_REQUIRED a,r required");
        }
    }

    #[test]
    fn one_require_is_enough_and_only_if_it_matches() {
        check(&[("a", 1, "allow", SO), ("r", 1, "require", NOT_SO)], "", "allow A a");
        check(
            &[("a", 1, "allow", SO), ("r", 1, "require", NOT_SO), ("s", 1, "require", SO)],
            "",
            "deny URM_APPROVAL_REQUIRED a,s required",
        );
    }

    #[test]
    fn the_first_allow_gives_the_code() {
        check(&[("b", 5, "allow", SO), ("a", 5, "allow", SO), ("c", 4, "allow", SO)], "", "allow C c,a,b");
    }

    #[test]
    fn derive_decides_nothing_and_is_still_listed() {
        check(&[("x", 1, "emit_advisory", SO)], "", "deny URM_POLICY_DENIED x");
        check(&[("a", 2, "allow", SO), ("x", 1, "set_warrant_invalid", SO)], "", "allow A x,a");
    }
}

mod k1_6 {
    use super::{Policy, SO, Sha256, policy};

    #[test]
    fn the_hash_is_of_the_written_semantic_form() {
        let policy = policy(&[("b", 1, "allow", SO), ("a", 1, "deny", SO)]);
        let by_hand = r#"{"rules":[{"code":"A","kind":"deny","priority":1,"rule_id":"a","rule_version":1,"then":{"effect":"deny_action","params":{}},"when":{"args":[],"atom":"session_active"}},{"code":"B","kind":"allow","priority":1,"rule_id":"b","rule_version":1,"then":{"effect":"allow_action","params":{}},"when":{"args":[],"atom":"session_active"}}],"schema":"odeu.instructions.v1"}"#;
        assert_eq!(policy.semantic_form().to_canonical(), by_hand);
        assert_eq!(policy.hash().digest(), &Sha256::of(by_hand.as_bytes()));
    }

    #[test]
    fn empty_params_are_no_params_and_argument_order_counts() {
        let load = |then: &str, args: &str| {
            let text = format!(
                r#"{{"schema":"odeu.instructions.v1","rules":[{{"rule_id":"r","rule_version":1,"priority":1,"kind":"allow","when":{{"op":"or","args":[{args}]}},"then":{then},"message":"m","code":"C"}}]}}"#
            );
            *Policy::load(text.as_bytes()).unwrap().hash()
        };
        let (one, two) = (SO, r#"{"atom":"approval_present","args":[]}"#);
        let first = load(r#"{"effect":"allow_action"}"#, &format!("{one},{two}"));
        assert_eq!(load(r#"{"effect":"allow_action","params":{}}"#, &format!("{one},{two}")), first);
        assert_ne!(load(r#"{"effect":"allow_action"}"#, &format!("{two},{one}")), first);
    }
}

mod k1_7 {
    use countersign_canon::Wire as _;

    use super::{Context, Sha256, Timestamp, context};

    const CANONICAL: &str = r#"{"action_hash":"0000000000000000000000000000000000000000000000000000000000000000","action_kind":"deploy","approval_present":false,"approval_unexpired":false,"approval_unused":false,"approval_valid":false,"capabilities_allowed":[],"capabilities_present":["a","b"],"evaluation_ts":"2026-02-12T09:10:00Z","evidence_kinds":["proof","run"],"mode":"read_only","role":null,"session_active":false,"warrant":null}"#;

    #[test]
    fn lists_are_trimmed_sorted_and_without_repetitions() {
        let loose = CANONICAL
            .replace(r#"["a","b"]"#, r#"[" b","a","b","a "]"#)
            .replace(r#"["proof","run"]"#, r#"["run","proof","run"]"#);
        let context = Context::load(loose.as_bytes()).unwrap();
        assert_eq!(context.to_canonical(), CANONICAL);
        assert_eq!(context.hash().digest(), &Sha256::of(CANONICAL.as_bytes()));
    }

    #[test]
    fn every_field_must_be_there_and_no_other() {
        for (key, _) in [("role", ""), ("warrant", ""), ("evaluation_ts", ""), ("capabilities_allowed", "")] {
            let without = CANONICAL.replace(&format!("\"{key}\":"), &format!("\"x_{key}\":"));
            let issues = Context::load(without.as_bytes()).unwrap_err();
            assert_eq!(issues.len(), 2, "{key}");
        }
        let maps = CANONICAL.replace(r#""capabilities_allowed":[]"#, r#""capabilities_allowed":{"a":true}"#);
        assert_eq!(Context::load(maps.as_bytes()).unwrap_err()[0].expected.as_deref(), Some("an array"));
    }

    #[test]
    fn the_time_is_given_once() {
        let now = Timestamp::parse("2026-02-12T09:10:00Z").unwrap();
        let without = CANONICAL.replace(r#""evaluation_ts":"2026-02-12T09:10:00Z","#, "");
        assert_eq!(Context::load_at(without.as_bytes(), now).unwrap().to_canonical(), CANONICAL);
        assert!(Context::load_at(CANONICAL.as_bytes(), now).is_err());
        assert!(Context::load(without.as_bytes()).is_err());
        assert_eq!(context("").evaluation_ts, Timestamp::UNIX_EPOCH);
    }
}

/// Everything in order for one write that needs an approval; each test breaks one thing.
struct Scene {
    lattice: &'static str,
    granted: &'static str,
    probe: &'static str,
    mode: Mode,
    session: &'static str,
    approval: Option<ApprovalRecord>,
    unknown_approval: bool,
    now: i64,
}

const LATTICE: &str = r#"{"schema":"urm.capability.lattice.v1","capabilities":[{"id":"c","probe":["p","q"]}],"actions":{"deploy":{"capability":"c","requires_writes_allowed":true,"requires_approval":true}}}"#;

fn payload() -> Json<'static> {
    Json::object([("env", Json::from("prod"))])
}

fn approval() -> ApprovalRecord {
    let action_kind = ActionKind::parse("deploy").unwrap();
    ApprovalRecord {
        approval_id: ApprovalId::parse("a1").unwrap(),
        session_id: SessionId::parse("s1").unwrap(),
        action_hash: action_hash(&action_kind, &payload()),
        action_kind,
        state: ApprovalState::Granted,
        signatures_valid: true,
        expires_at: Timestamp::from_unix(100).unwrap(),
        quorum: Some(QuorumRule::anybody()),
    }
}

impl Scene {
    fn new() -> Self {
        Self {
            lattice: LATTICE,
            granted: r#"["c"]"#,
            probe: r#"["p","q"]"#,
            mode: Mode::WritesAllowed,
            session: "s1",
            approval: Some(approval()),
            unknown_approval: false,
            now: 100,
        }
    }

    fn decide<T>(&self, policy: &Policy, look: impl FnOnce(&Authorization<'_>) -> T) -> T {
        let lattice = Lattice::load(self.lattice.as_bytes()).unwrap();
        let allow = format!(r#"{{"schema":"urm.allow.v1","roles":{{"copilot":{}}}}}"#, self.granted);
        let allow = AllowPolicy::load(allow.as_bytes(), &lattice).unwrap();
        let probe = format!(r#"{{"schema":"urm.probe.facts.v1","client":"x","facts":{}}}"#, self.probe);
        let action_kind = ActionKind::parse("deploy").unwrap();
        let request = Request {
            action_hash: action_hash(&action_kind, &payload()),
            action_kind,
            session: SessionFacts {
                session_id: Some(SessionId::parse(self.session).unwrap()),
                role: Some(Role::parse("copilot").unwrap()),
                mode: self.mode,
                active: true,
            },
            probe: ProbeFacts::load(probe.as_bytes()).unwrap(),
            approval: match (&self.approval, self.unknown_approval) {
                (_, true) => ProvidedApproval::Unknown,
                (None, false) => ProvidedApproval::NotProvided,
                (Some(record), false) => ProvidedApproval::Record(record.clone()),
            },
            evidence_refs: Vec::new(),
            warrant: None,
        };
        let now = Timestamp::from_unix(self.now).unwrap();
        look(&authorize(InForce { policy, lattice: &lattice, allow: &allow }, &request, now))
    }

    #[track_caller]
    fn check(&self, expected: &str) {
        let policy = policy(&[("a", 1, "allow", SO), ("x", 2, "emit_advisory", SO)]);
        let found = self.decide(&policy, |decided| {
            let evaluation = &decided.trace.evaluation;
            let ids: Vec<&str> = evaluation.matched.iter().map(|rule| rule.rule_id.as_str()).collect();
            assert!(
                evaluation.required_approval == self.lattice.contains(r#""requires_approval":true"#),
                "the lattice requires it"
            );
            format!("{} {} {}", evaluation.gate.number(), evaluation.decision_code, ids.join(","))
        });
        assert_eq!(found, expected);
    }
}

mod k2_1 {
    use super::{
        ActionHash, ActionKind, ApprovalState, LATTICE, Mode, SO, Scene, SessionId, approval, policy,
    };

    #[test]
    fn with_everything_in_order_the_action_may_proceed() {
        Scene::new().check("7 A a,x");
    }

    #[test]
    fn gate_1_the_lattice_must_know_the_kind_and_the_probe_must_have_found_it() {
        let other = r#"{"schema":"urm.capability.lattice.v1","capabilities":[{"id":"c","probe":"none"}],"actions":{}}"#;
        Scene { lattice: other, ..Scene::new() }.check("1 URM_CAPABILITY_MISSING ");
        Scene { probe: r#"["p"]"#, ..Scene::new() }.check("1 URM_CAPABILITY_MISSING ");
        Scene { probe: "[]", granted: "[]", mode: Mode::ReadOnly, ..Scene::new() }
            .check("1 URM_CAPABILITY_MISSING ");
    }

    /// What is there for those who opt in is refused with a code of its own, and only where it is what is missing.
    #[test]
    fn gate_1_what_was_found_switched_off_is_told_from_what_is_missing() {
        Scene { probe: r#"["disabled:deploy","p"]"#, ..Scene::new() }.check("1 URM_EXPERIMENTAL_DISABLED ");
        Scene { probe: r#"["disabled:other","p"]"#, ..Scene::new() }.check("1 URM_CAPABILITY_MISSING ");
        let everything = Scene { probe: r#"["disabled:deploy","p","q"]"#, granted: "[]", ..Scene::new() };
        everything.check("2 URM_CAPABILITY_NOT_ALLOWED ");
    }

    #[test]
    fn gate_2_the_role_must_be_granted_the_capability() {
        Scene { granted: "[]", mode: Mode::ReadOnly, ..Scene::new() }.check("2 URM_CAPABILITY_NOT_ALLOWED ");
    }

    #[test]
    fn gate_3_a_write_needs_a_mode_that_allows_it() {
        Scene { mode: Mode::ReadOnly, unknown_approval: true, ..Scene::new() }.check("3 URM_MODE_DENIED ");
    }

    #[test]
    fn gate_4_an_approval_that_came_must_be_usable() {
        let with = |change: fn(&mut super::ApprovalRecord)| {
            let mut record = approval();
            change(&mut record);
            Scene { approval: Some(record), ..Scene::new() }
        };
        let invalid = "4 URM_APPROVAL_INVALID ";
        Scene { unknown_approval: true, ..Scene::new() }.check(invalid);
        with(|record| record.session_id = SessionId::parse("s2").unwrap()).check(invalid);
        with(|record| record.action_hash = ActionHash::parse(&"0".repeat(64)).unwrap()).check(invalid);
        with(|record| record.action_kind = ActionKind::parse("fs.read").unwrap()).check(invalid);
        with(|record| record.signatures_valid = false).check(invalid);
        for state in [ApprovalState::Pending, ApprovalState::Denied, ApprovalState::Revoked] {
            let mut record = approval();
            record.state = state;
            Scene { approval: Some(record), ..Scene::new() }.check(invalid);
        }
        with(|record| record.state = ApprovalState::Consumed).check("4 URM_APPROVAL_CONSUMED ");
        with(|record| record.state = ApprovalState::Expired).check("4 URM_APPROVAL_EXPIRED ");
    }

    #[test]
    fn an_approval_is_good_through_its_last_second() {
        Scene { now: 99, ..Scene::new() }.check("7 A a,x");
        Scene { now: 100, ..Scene::new() }.check("7 A a,x");
        Scene { now: 101, ..Scene::new() }.check("4 URM_APPROVAL_EXPIRED ");
    }

    #[test]
    fn gate_6_an_approval_that_the_lattice_requires_must_be_there() {
        Scene { approval: None, ..Scene::new() }.check("6 URM_APPROVAL_REQUIRED a,x");
    }

    #[test]
    fn an_approval_that_the_lattice_does_not_require_is_still_checked() {
        let free = r#"{"schema":"urm.capability.lattice.v1","capabilities":[{"id":"c","probe":["p","q"]}],"actions":{"deploy":{"capability":"c","requires_writes_allowed":true,"requires_approval":false}}}"#;
        Scene { lattice: free, approval: None, ..Scene::new() }.check("7 A a,x");
        Scene { lattice: free, unknown_approval: true, ..Scene::new() }.check("4 URM_APPROVAL_INVALID ");
        assert_ne!(free, LATTICE);
    }

    #[test]
    fn the_strictest_of_lattice_and_rules_says_who_must_approve() {
        let lattice = r#"{"schema":"urm.capability.lattice.v1","capabilities":[{"id":"c","probe":["p","q"]}],"actions":{"deploy":{"capability":"c","requires_writes_allowed":true,"requires_approval":true,"approvals":2,"reviewers":["data"]}}}"#;
        let scene = Scene { lattice, approval: None, ..Scene::new() };
        let need =
            scene.decide(&policy(&[("a", 1, "allow", SO)]), |decided| decided.approval_need.clone()).unwrap();
        assert_eq!(need.in_words(), "2 people, with a review by `data`");
    }

    #[test]
    fn gate_6_an_approval_that_fewer_people_gave_than_are_needed_now_is_not_enough() {
        let lattice = r#"{"schema":"urm.capability.lattice.v1","capabilities":[{"id":"c","probe":["p","q"]}],"actions":{"deploy":{"capability":"c","requires_writes_allowed":true,"requires_approval":true,"approvals":2,"reviewers":["data"]}}}"#;
        let given = |approvals: i64, reviewers: &[&str]| {
            let quorum = super::QuorumRule {
                approvals: countersign_canon::Within::new(approvals).unwrap(),
                reviewers: reviewers.iter().map(|kind| super::Role::parse(kind).unwrap()).collect(),
            };
            super::ApprovalRecord { quorum: Some(quorum), ..super::approval() }
        };
        let check =
            |approval, expected| Scene { lattice, approval: Some(approval), ..Scene::new() }.check(expected);
        check(given(1, &[]), "6 URM_APPROVAL_REQUIRED a,x");
        check(given(2, &[]), "6 URM_APPROVAL_REQUIRED a,x");
        check(given(1, &["data"]), "6 URM_APPROVAL_REQUIRED a,x");
        check(given(2, &["data"]), "7 A a,x");
        check(given(3, &["data", "security"]), "7 A a,x");
        // A record from before it was noted is decided again as it was decided then.
        check(super::ApprovalRecord { quorum: None, ..super::approval() }, "7 A a,x");
    }
}

mod k2_2 {
    use super::{Decision, EVALUATOR_VERSION, SO, Scene, TraceDocument, codes, context, policy};

    #[test]
    fn a_trace_has_its_fields_and_frozen_versions() {
        let policy = policy(&[("d", 1, "deny", SO), ("x", 1, "emit_advisory", SO)]);
        let text = policy.trace_context(&context("")).to_canonical();
        let trace: TraceDocument =
            countersign_canon::Reader::read_document(text.as_bytes(), codes::URM_CONTEXT_INVALID).unwrap();
        assert_eq!(trace.evaluator_version, EVALUATOR_VERSION);
        assert_eq!(trace.trace_version.as_str(), "odeu.instruction-trace.v1");
        assert_eq!(trace.policy_schema_version.as_str(), "odeu.instructions.schema.v1");
        assert_eq!(trace.policy_ir_version.as_str(), "odeu.instructions.v1");
        assert_eq!((trace.lattice_hash.0, trace.gate.get()), (None, 5));
    }

    /// K2.3: advice is kept on a denial and carries the decision.
    #[test]
    fn advice_is_kept_on_a_denial_with_the_decision() {
        let policy = policy(&[("d", 1, "deny", SO), ("x", 1, "emit_advisory", SO)]);
        let text = policy.trace_context(&context("")).to_canonical();
        let trace: TraceDocument =
            countersign_canon::Reader::read_document(text.as_bytes(), codes::URM_CONTEXT_INVALID).unwrap();
        let [advice] = trace.advisories.as_slice() else { panic!("one advisory") };
        assert_eq!((advice.decision, advice.decision_code.as_str()), (Decision::Deny, "D"));
    }

    #[test]
    fn the_trace_of_a_gate_binds_the_documents_it_can_be_decided_again_from() {
        let policy = policy(&[("a", 1, "allow", SO)]);
        let scene = Scene { probe: "[]", ..Scene::new() };
        scene.decide(&policy, |decided| {
            let bindings = decided.trace.bindings.unwrap();
            assert_eq!(decided.trace.policy_hash(), policy.hash());
            assert_ne!(bindings.lattice_hash.digest(), bindings.allow_hash.digest());
            assert_eq!(decided.trace.to_canonical(), decided.trace.to_json().to_canonical());
        });
    }
}

//! Obligations that people write, and the built-in ones: proved, refuted with a witness, vacuous.

use countersign_policy::{RuleId, shipped::STANDARD, shipped::STRICT};
use countersign_proof::{Documents, Failure, Obligation, Outcome, Subject, Theorem, check, prove};

use crate::policies::{self, and, atom, documents, not, policy, rule};

/// How the theorem comes out, in one word; a proof is checked.
#[track_caller]
fn outcome(theorem: &Theorem, documents: Documents) -> &'static str {
    let proof = prove(theorem, &Subject::load(documents).unwrap()).unwrap();
    match proof.outcome {
        Outcome::Proved(certificate) => {
            assert_eq!(check(certificate.to_text().as_bytes()).unwrap().artifact, proof.artifact);
            "proved"
        }
        Outcome::Failed(Failure::Refuted { .. }) => "refuted",
        Outcome::Failed(Failure::Vacuous { .. }) => "vacuous",
        Outcome::Failed(Failure::Explored(_)) => "explored",
    }
}

fn written(scope: &str, when: &str, never: &str) -> Theorem {
    let text = format!(
        r#"{{"schema": "countersign.obligation@1", "theorem_id": "mine@1", "scope": "{scope}", "when": {when}, "never": {never}}}"#
    );
    Theorem::Custom(Box::new(Obligation::load(text.as_bytes()).unwrap()))
}

#[test]
fn what_people_write_is_proved_or_refuted() {
    let auditor = atom("role_is:auditor");
    let deploys = and(&[auditor.clone(), atom("action_kind_is:deploy")]);
    let nothing = and(&[auditor.clone(), not(&auditor)]);
    let force_push = and(&[atom("action_kind_is:git.push_force"), atom("session_active")]);
    let cases = [
        ("kernel", &deploys, r#"{"decision": "allow"}"#, "proved"),
        ("authorize", &deploys, r#"{"decision": "allow"}"#, "proved"),
        ("kernel", &auditor, r#"{"decision": "allow"}"#, "refuted"),
        ("authorize", &auditor, r#"{"decision": "allow"}"#, "refuted"),
        ("kernel", &nothing, r#"{"decision": "allow"}"#, "vacuous"),
        (
            "kernel",
            &atom("action_kind_is:deploy"),
            r#"{"decision": "allow", "required_approval": false}"#,
            "proved",
        ),
        ("kernel", &atom("action_kind_is:fs.write"), r#"{"required_approval": true}"#, "proved"),
        ("kernel", &atom("action_kind_is:deploy"), r#"{"required_approval": true}"#, "refuted"),
        // Which code comes first is a matter of priorities.
        ("kernel", &force_push, r#"{"decision_code": "AUDITOR_ONLY_READS"}"#, "proved"),
        // Gate 2 comes before the rules: an auditor is not granted what it would need.
        ("authorize", &deploys, r#"{"decision_code": "AUDITOR_ONLY_READS"}"#, "proved"),
        ("authorize", &deploys, r#"{"decision_code": "URM_CAPABILITY_NOT_ALLOWED"}"#, "refuted"),
    ];
    for (scope, when, never, expected) in cases {
        assert_eq!(
            outcome(&written(scope, when, never), documents(STANDARD)),
            expected,
            "{scope} {when} {never}"
        );
    }
}

/// A wrong priority changes no allow into a deny, only which code is given: an obligation about the code finds it.
#[test]
fn a_wrong_priority_is_found_by_an_obligation_about_codes() {
    let rules = |first: i32| {
        policy(&[
            rule("deny.force_push", first, &atom("action_kind_is:git.push_force")),
            rule("deny.auditor", 20, &atom("role_is:auditor")),
        ])
    };
    let theorem =
        written("kernel", &atom("action_kind_is:git.push_force"), r#"{"decision_code": "DENY_AUDITOR"}"#);
    let with = |policy| Documents { policy, ..documents(STANDARD) };
    assert_eq!(outcome(&theorem, with(rules(10))), "proved");
    assert_eq!(outcome(&theorem, with(rules(30))), "refuted");
}

#[test]
fn rules_that_never_fire_or_are_shadowed_are_proved_so() {
    let a = atom("role_is:auditor");
    let rules = policy(&[
        rule("deny.a", 10, &a),
        rule("deny.both", 20, &and(&[a.clone(), atom("session_active")])),
        rule("deny.never", 20, &and(&[a.clone(), atom("role_is:copilot")])),
        rule("allow.a", 30, &a),
        rule("allow.b", 30, &atom("session_active")),
    ]);
    let cases = [
        ("deny.a", "refuted", "refuted"),
        ("deny.both", "refuted", "proved"),
        ("deny.never", "proved", "vacuous"),
        ("allow.a", "refuted", "proved"),
        ("allow.b", "refuted", "refuted"),
    ];
    for (id, never_fires, shadowed) in cases {
        let id = RuleId::parse(id).unwrap();
        let with = || Documents { policy: rules.clone(), ..documents(STANDARD) };
        assert_eq!(outcome(&Theorem::NeverFires(id.clone()), with()), never_fires, "{id}");
        assert_eq!(outcome(&Theorem::Shadowed(id.clone()), with()), shadowed, "{id}");
    }
    let missing = Theorem::Shadowed(RuleId::parse("deny.bot").unwrap());
    let issue = prove(&missing, &policies::subject(STANDARD)).unwrap_err();
    assert_eq!(issue.code.as_str(), "PROOF_RULE_UNKNOWN");
}

#[test]
fn two_policies_are_compared() {
    let a = rule("allow.a", 10, &atom("session_active"));
    let same = rule("allow.a", 20, &not(&not(&atom("session_active"))));
    let narrower = rule("allow.a", 10, &and(&[atom("session_active"), atom("mode_is:writes_allowed")]));
    let require = rule("require.a", 5, &atom("session_active"));
    let approved: Vec<String> =
        ["approval_present", "approval_valid", "approval_unexpired", "approval_unused"].map(atom).into();
    // The same contexts are allowed as with a require, but nothing is ever used up.
    let unasked = rule("allow.a", 10, &and(&[&[atom("session_active")], &approved[..]].concat()));
    let cases = [
        (vec![a.clone()], vec![a.clone()], "proved", "proved"),
        (vec![same], vec![a.clone()], "proved", "proved"),
        (vec![narrower.clone()], vec![a.clone()], "refuted", "proved"),
        (vec![a.clone()], vec![narrower], "refuted", "refuted"),
        (vec![a.clone(), require.clone()], vec![a.clone()], "refuted", "proved"),
        (vec![a.clone()], vec![a.clone(), require.clone()], "refuted", "refuted"),
        (vec![unasked], vec![a, require], "refuted", "refuted"),
    ];
    for (new, old, equivalent, tightens) in cases {
        let with = || Documents { policy: policy(&new), other: Some(policy(&old)), ..documents(STANDARD) };
        assert_eq!(outcome(&Theorem::Equivalent, with()), equivalent, "{new:?} {old:?}");
        assert_eq!(outcome(&Theorem::OnlyTightens, with()), tightens, "{new:?} {old:?}");
    }
    let issue = prove(&Theorem::Equivalent, &policies::subject(STANDARD)).unwrap_err();
    assert_eq!(issue.code.as_str(), "PROOF_POLICY_MISSING");
}

/// A rule that asks for an approval with these parameters.
fn asking(id: &str, priority: i32, params: &str) -> String {
    let effect = r#""effect": "require_approval""#;
    rule(id, priority, &atom("session_active")).replace(effect, &format!(r#"{effect}, "params": {params}"#))
}

#[test]
fn how_many_must_agree_and_of_which_kinds_is_compared_too() {
    let allow = || rule("allow.a", 10, &atom("session_active"));
    let with = |params: &str| policy(&[allow(), asking("require.a", 5, params)]);
    let [one, two, three] = [1, 2, 3].map(|count| with(&format!(r#"{{"approvals": {count}}}"#)));
    let secure = with(r#"{"reviewers": "security"}"#);
    let both = with(r#"{"approvals": 2, "reviewers": "data, security"}"#);
    // The same people, asked by two rules.
    let split = policy(&[
        allow(),
        asking("require.a", 5, r#"{"approvals": 2}"#),
        asking("require.b", 5, r#"{"reviewers": "security,data"}"#),
    ]);
    let cases = [
        (&one, &two, "refuted", "refuted"),
        (&two, &one, "refuted", "proved"),
        (&three, &two, "refuted", "proved"),
        (&two, &three, "refuted", "refuted"),
        (&secure, &one, "refuted", "proved"),
        (&one, &secure, "refuted", "refuted"),
        (&two, &secure, "refuted", "refuted"),
        (&both, &two, "refuted", "proved"),
        (&both, &secure, "refuted", "proved"),
        (&split, &both, "proved", "proved"),
        (&two, &two, "proved", "proved"),
    ];
    for (index, (new, old, equivalent, tightens)) in cases.into_iter().enumerate() {
        let with = || Documents { policy: new.clone(), other: Some(old.clone()), ..documents(STANDARD) };
        assert_eq!(outcome(&Theorem::Equivalent, with()), equivalent, "case {index}");
        assert_eq!(outcome(&Theorem::OnlyTightens, with()), tightens, "case {index}");
    }
}

#[test]
fn a_rule_that_asks_for_more_people_is_not_shadowed() {
    let rules = policy(&[
        rule("allow.a", 1, &atom("session_active")),
        asking("require.one", 10, "{}"),
        asking("require.two", 20, r#"{"approvals": 2}"#),
        asking("require.secure", 30, r#"{"reviewers": "security"}"#),
        asking("require.joint", 40, r#"{"approvals": 2, "reviewers": "security"}"#),
        asking("require.more", 50, r#"{"approvals": 3}"#),
    ]);
    for (id, shadowed) in [
        ("require.one", "refuted"),
        ("require.two", "refuted"),
        ("require.secure", "refuted"),
        ("require.joint", "proved"),
        ("require.more", "refuted"),
    ] {
        let with = Documents { policy: rules.clone(), ..documents(STANDARD) };
        let theorem = Theorem::Shadowed(RuleId::parse(id).unwrap());
        assert_eq!(outcome(&theorem, with), shadowed, "{id}");
    }
}

/// The strict policy is not simply the standard one with less in it, and the difference has a witness.
#[test]
fn the_shipped_policies_differ() {
    let both = || Documents { other: Some(policies::object(STANDARD.policy)), ..documents(STRICT) };
    assert_eq!(outcome(&Theorem::Equivalent, both()), "refuted");
}

#[test]
fn an_obligation_that_says_nothing_or_takes_our_name_is_refused() {
    let cases = [
        (r#""theorem_id": "mine", "never": {}"#, "/never"),
        (r#""theorem_id": "policies_are_equivalent", "never": {"decision": "allow"}"#, "/theorem_id"),
        (r#""theorem_id": "mine", "never": {"decision": "maybe"}"#, "/never/decision"),
    ];
    for (members, place) in cases {
        let when = atom("session_active");
        let text = format!(
            r#"{{"schema": "countersign.obligation@1", "scope": "kernel", "when": {when}, {members}}}"#
        );
        let issues = Obligation::load(text.as_bytes()).unwrap_err();
        assert_eq!(issues[0].code.as_str(), "PROOF_OBLIGATION_INVALID");
        assert_eq!(issues[0].pointer.to_string(), place);
    }
}

//! Unsafe edits in good policies: each is refuted, with a counterexample that the evaluator bears out and none is smaller.

use countersign_canon::Nullable;
use countersign_policy::{
    ActionKind, Context, Decision, Lattice, Mode, NameSet, Policy,
    shipped::{STANDARD, STRICT},
};
use countersign_proof::{Documents, Failure, Outcome, Scope, Subject, Theorem, prove};

use crate::policies::{and, atom, documents, kinds, not, op, policy, rule};

const WRITES: [&str; 4] = ["fs.write", "fs.delete", "shell.write", "git.commit"];
const APPROVED: [&str; 4] = ["fs.write_outside", "pkg.install", "git.push", "deploy"];
const MODE: &str = "mode_is:writes_allowed";

fn read_only() -> String {
    not(&atom(MODE))
}

fn approved() -> Vec<String> {
    ["approval_present", "approval_valid", "approval_unexpired", "approval_unused"].map(atom).into()
}

/// The kinds without one of them.
fn except<'k>(names: &[&'k str], gone: &str) -> Vec<&'k str> {
    names.iter().copied().filter(|name| *name != gone).collect()
}

/// Good: writes are kept to their mode by a deny, deployments to their approval by a require.
fn by_deny(deny: &[String], require: &[String]) -> Vec<String> {
    let allow = rule("allow.act", 50, &kinds(&[&WRITES[..], &APPROVED[..], &["fs.read"]].concat()));
    [deny, require, &[allow]].concat()
}

fn deny_of(names: &[&str], condition: &str) -> String {
    rule("deny.read_only", 20, &and(&[kinds(names), condition.to_owned()]))
}

fn require_of(condition: &str) -> String {
    rule("require.deploy", 30, condition)
}

fn deploy() -> String {
    atom("action_kind_is:deploy")
}

/// Good: every allow says the mode itself, and the allow of deployments the approval.
fn by_allow(writes: &str, deploys: &[String], more: &[String]) -> Vec<String> {
    let writes = rule("allow.write", 50, &and(&[kinds(&WRITES), writes.to_owned()]));
    let deploys = rule("allow.deploy", 50, &and(&[&[deploy()], deploys].concat()));
    [&[writes, deploys, rule("allow.read", 40, &atom("action_kind_is:fs.read"))], more].concat()
}

fn deployed() -> Vec<String> {
    [&[atom(MODE)], &approved()[..]].concat()
}

fn subject(rules: &[String], base: Documents) -> Subject {
    Subject::load(Documents { policy: policy(rules), ..base }).unwrap()
}

/// The good policies, and what was done to each.
fn edits() -> Vec<(String, Vec<String>)> {
    let all: Vec<&str> = [&WRITES[..], &APPROVED[..]].concat();
    let deny = || deny_of(&all, &read_only());
    let require = || require_of(&deploy());
    let mut edits = Vec::new();
    let mut plant = |name: String, rules: Vec<String>| edits.push((name, rules));
    for kind in &all {
        let fewer = deny_of(&except(&all, kind), &read_only());
        plant(format!("the deny forgets {kind}"), by_deny(&[fewer], &[require()]));
    }
    plant("the deny is missing".into(), by_deny(&[], &[require()]));
    plant("the deny is turned round".into(), by_deny(&[deny_of(&all, &atom(MODE))], &[require()]));
    plant(
        "the deny only advises".into(),
        by_deny(
            &[deny()
                .replace("deny.", "advise.")
                .replace("\"kind\": \"deny\"", "\"kind\": \"derive\"")
                .replace("deny_action", "emit_advisory")],
            &[require()],
        ),
    );
    for (name, narrow) in [
        ("for copilots only", atom("role_is:copilot")),
        ("for live sessions only", atom("session_active")),
        ("unless there is a proof", not(&atom("has_evidence_kind:proof"))),
        ("unless the claim is checked", not(&atom("warrant_is:checked"))),
        ("unless the client has a shell", not(&atom("capability_present:shell.write"))),
        ("unless an approval came", not(&atom("approval_present"))),
    ] {
        let narrowed = deny_of(&all, &and(&[read_only(), narrow]));
        plant(format!("the deny is {name}"), by_deny(&[narrowed], &[require()]));
    }
    plant("the require is missing".into(), by_deny(&[deny()], &[]));
    for (name, narrow) in [
        ("for auditors only", atom("role_is:auditor")),
        ("unless a validator ran", not(&atom("has_evidence_kind:validator"))),
        ("for one action only", atom(&format!("action_hash_matches:{:064x}", 1))),
    ] {
        let narrowed = require_of(&and(&[deploy(), narrow]));
        plant(format!("the require is {name}"), by_deny(&[deny()], &[narrowed]));
    }
    plant(
        "the require is of another kind".into(),
        by_deny(&[deny()], &[require_of(&atom("action_kind_is:fs.read"))]),
    );
    plant("writes may be in any mode".into(), by_allow(&atom("session_active"), &deployed(), &[]));
    plant("writes are in the wrong mode".into(), by_allow(&atom("mode_is:read_only"), &deployed(), &[]));
    let either = op("or", &[atom(MODE), atom("role_is:copilot")]);
    plant("copilots write in any mode".into(), by_allow(&either, &deployed(), &[]));
    for gone in 0..5 {
        let mut fewer = deployed();
        let dropped = fewer.remove(gone);
        plant(format!("the deployment forgets {dropped}"), by_allow(&atom(MODE), &fewer, &[]));
    }
    plant(
        "one sign of an approval is enough".into(),
        by_allow(&atom(MODE), &[atom(MODE), op("or", &approved())], &[]),
    );
    for (name, when) in [
        ("everything for copilots", atom("role_is:copilot")),
        ("one action whatever the mode", atom(&format!("action_hash_matches:{:064x}", 7))),
        ("what has proof", atom("has_evidence_kind:proof")),
        ("what is not read", not(&atom("action_kind_is:fs.read"))),
        ("force pushes", atom("action_kind_is:git.push_force")),
        ("what is unknown", atom("action_kind_is:shell.unknown")),
    ] {
        let more = [rule("allow.more", 60, &when)];
        plant(format!("one more rule allows {name}"), by_allow(&atom(MODE), &deployed(), &more));
    }
    edits
}

/// What the pilot obligation forbids, said without any formula.
fn is_broken(policy: &Policy, lattice: &Lattice, context: &Context) -> bool {
    let evaluation = policy.evaluate(context, false);
    let Some(entry) = lattice.action(&context.action_kind) else { return false };
    let approved = context.approval_present
        && context.approval_valid
        && context.approval_unexpired
        && context.approval_unused;
    let needs = entry.requires_approval || evaluation.required_approval;
    evaluation.decision == Decision::Allow
        && entry.requires_writes_allowed
        && (context.mode != Mode::WritesAllowed || (needs && !approved))
}

/// The context with each of its facts taken away in turn.
fn smaller(context: &Context) -> Vec<Context> {
    let one = |change: &dyn Fn(&mut Context)| {
        let mut changed = context.clone();
        change(&mut changed);
        changed
    };
    let all = [
        one(&|context| context.role = Nullable(None)),
        one(&|context| context.mode = Mode::ReadOnly),
        one(&|context| context.action_kind = ActionKind::parse("other").unwrap()),
        one(&|context| context.session_active = false),
        one(&|context| context.capabilities_present = NameSet::default()),
        one(&|context| context.capabilities_allowed = NameSet::default()),
        one(&|context| context.evidence_kinds = NameSet::default()),
        one(&|context| context.approval_present = false),
        one(&|context| context.approval_valid = false),
        one(&|context| context.approval_unexpired = false),
        one(&|context| context.approval_unused = false),
        one(&|context| context.warrant = Nullable(None)),
    ];
    all.into_iter().filter(|changed| changed != context).collect()
}

#[track_caller]
fn check_refuted(name: &str, subject: &Subject) {
    let Outcome::Failed(Failure::Refuted { scope, counterexample }) =
        prove(&Theorem::NoWrite, subject).unwrap().outcome
    else {
        panic!("{name}: not refuted")
    };
    assert_eq!(scope, Scope::Kernel, "{name}");
    let context = counterexample.context.unwrap();
    let lattice = subject.in_force().lattice;
    assert!(is_broken(subject.policy(), lattice, &context), "{name}: the evaluator does not agree");
    for smaller in smaller(&context) {
        assert!(
            !is_broken(subject.policy(), lattice, &smaller),
            "{name}: {smaller:?} is smaller than {context:?}"
        );
    }
}

#[test]
fn the_policies_were_good_before() {
    let all: Vec<&str> = [&WRITES[..], &APPROVED[..]].concat();
    let good = [
        by_deny(&[deny_of(&all, &read_only())], &[require_of(&deploy())]),
        by_allow(&atom(MODE), &deployed(), &[]),
    ];
    for rules in good {
        let outcome = prove(&Theorem::NoWrite, &subject(&rules, documents(STANDARD))).unwrap().outcome;
        assert!(matches!(outcome, Outcome::Proved(_)), "{outcome:?}");
    }
}

#[test]
fn every_planted_unsafe_edit_is_refuted_with_a_smallest_counterexample() {
    let edits = edits();
    assert!(edits.len() >= 30, "{}", edits.len());
    for (name, rules) in edits {
        check_refuted(&name, &subject(&rules, documents(STANDARD)));
    }
}

/// In the stricter lattice most writes need an approval, which the rules alone must ask for.
#[test]
fn a_kind_that_the_strict_policy_forgets_to_ask_about_is_found() {
    for kind in ["fs.write", "fs.delete", "shell.write", "git.commit", "git.push"] {
        let mut documents = documents(STRICT);
        let rules = documents.policy.get("rules").unwrap().as_array().unwrap().to_vec();
        let asked = format!(r#"{{"args":["{kind}"],"atom":"action_kind_is"}},"#);
        let rules: Vec<String> = rules
            .iter()
            .map(|rule| {
                let text = rule.to_canonical();
                let is_require = text.contains("\"rule_id\":\"require.write\"");
                // The examples would notice, and the policy would not load: they are the first line of defence.
                let at = text.find("\"examples\"").filter(|_| is_require);
                let text = match at {
                    None => text,
                    Some(at) => {
                        let end = text.find(",\"kind\"").unwrap();
                        format!("{}{}", &text[..at], &text[end + 1..])
                    }
                };
                if is_require { text.replace(&asked, "") } else { text }
            })
            .collect();
        documents.policy = policy(&rules);
        check_refuted(kind, &Subject::load(documents).unwrap());
    }
}

//! Policies put together from words, for tests.

use countersign_canon::{Json, Object};
use countersign_policy::shipped::Bundle;
use countersign_proof::{Documents, Subject};

pub(crate) fn object(bytes: &[u8]) -> Object<'static> {
    let json = Json::parse(bytes).unwrap().into_owned();
    json.as_object().unwrap().clone()
}

pub(crate) fn documents(bundle: Bundle) -> Documents {
    Documents {
        policy: object(bundle.policy),
        lattice: object(bundle.lattice),
        allow: object(bundle.allow),
        other: None,
    }
}

pub(crate) fn subject(bundle: Bundle) -> Subject {
    Subject::load(documents(bundle)).unwrap()
}

/// `kind_is:deploy` as an atom.
pub(crate) fn atom(word: &str) -> String {
    match word.split_once(':') {
        Some((name, argument)) => format!(r#"{{"atom": "{name}", "args": ["{argument}"]}}"#),
        None => format!(r#"{{"atom": "{word}", "args": []}}"#),
    }
}

pub(crate) fn not(inner: &str) -> String {
    format!(r#"{{"op": "not", "arg": {inner}}}"#)
}

pub(crate) fn op(op: &str, parts: &[String]) -> String {
    format!(r#"{{"op": "{op}", "args": [{}]}}"#, parts.join(", "))
}

pub(crate) fn and(parts: &[String]) -> String {
    op("and", parts)
}

pub(crate) fn kinds(names: &[&str]) -> String {
    op("or", &names.iter().map(|name| atom(&format!("action_kind_is:{name}"))).collect::<Vec<_>>())
}

/// One rule, of the kind that its id starts with.
pub(crate) fn rule(id: &str, priority: i32, when: &str) -> String {
    let (kind, _) = id.split_once('.').unwrap();
    let effect = match kind {
        "deny" => "deny_action",
        "allow" => "allow_action",
        "require" => "require_approval",
        _ => "emit_advisory",
    };
    let kind = if effect == "emit_advisory" { "derive" } else { kind };
    let code = id.to_uppercase().replace('.', "_");
    format!(
        r#"{{"rule_id": "{id}", "rule_version": 1, "priority": {priority}, "kind": "{kind}", "when": {when},
        "then": {{"effect": "{effect}"}}, "message": "", "code": "{code}"}}"#
    )
}

pub(crate) fn policy(rules: &[String]) -> Object<'static> {
    object(format!(r#"{{"schema": "odeu.instructions.v1", "rules": [{}]}}"#, rules.join(", ")).as_bytes())
}

/// A policy at the cap of rules, over a hundred kinds of which half write and some need an approval.
pub(crate) fn five_hundred() -> Documents {
    let mut rules = Vec::new();
    let (mut actions, mut capabilities) = (Vec::new(), Vec::new());
    for number in 0..100 {
        let kind = format!("kind.k{number}");
        let (writes, needs) = (number % 2 == 0, number % 4 == 0);
        let is = atom(&format!("action_kind_is:{kind}"));
        let mode = atom("mode_is:writes_allowed");
        let id = |what: &str| format!("{what}.r{number:03}");
        let allowed = if writes { and(&[is.clone(), mode]) } else { is.clone() };
        rules.push(rule(&id("allow"), 50, &allowed));
        rules.push(rule(&id("deny"), 20, &and(&[is.clone(), atom(&format!("role_is:role{}", number % 7))])));
        rules.push(rule(&id(if needs { "require" } else { "advise" }), 30, &is));
        rules.push(rule(&id("deny.hash"), 10, &atom(&format!("action_hash_matches:{number:064x}"))));
        let capability = atom(&format!("capability_present:cap{}", number % 9));
        rules.push(rule(&id("advise.more"), 90, &and(&[is, not(&capability)])));
        actions.push(format!(
            r#""{kind}": {{"capability": "cap{}", "requires_writes_allowed": {writes}, "requires_approval": {needs}}}"#,
            number % 9
        ));
    }
    for number in 0..9 {
        capabilities.push(format!(r#"{{"id": "cap{number}", "probe": "none"}}"#));
    }
    let granted = (0..9).map(|number| format!("\"cap{number}\"")).collect::<Vec<_>>().join(", ");
    let lattice = format!(
        r#"{{"schema": "urm.capability.lattice.v1", "capabilities": [{}], "actions": {{{}}}}}"#,
        capabilities.join(", "),
        actions.join(", ")
    );
    let allow = format!(r#"{{"schema": "urm.allow.v1", "roles": {{"copilot": [{granted}]}}}}"#);
    assert_eq!(rules.len(), 500);
    Documents {
        policy: policy(&rules),
        lattice: object(lattice.as_bytes()),
        allow: object(allow.as_bytes()),
        other: None,
    }
}

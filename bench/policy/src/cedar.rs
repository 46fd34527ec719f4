//! Cedar: one permit per rule, with a role and an action among the conjuncts hoisted into the scope. Cedar names only the
//! policies that determined its answer, so all rules are permits, and the host folds.

use std::str::FromStr as _;

use cedar_policy::{
    Authorizer, Context, Entities, EntityId, EntityTypeName, EntityUid, PolicySet, Request,
    RestrictedExpression,
};
use countersign_policy::{Atom, Expr, Policy};

use crate::answer::trace;

pub struct Cedar<'p> {
    policy: &'p Policy,
    policies: PolicySet,
    authorizer: Authorizer,
    entities: Entities,
    role: EntityTypeName,
    action: EntityTypeName,
    resource: EntityUid,
}

/// The policies as Cedar text, in the order of the rules.
pub fn text(policy: &Policy) -> String {
    policy.rules().iter().map(|rule| rule_text(&rule.when)).collect()
}

fn rule_text(when: &Expr) -> String {
    let parts: Vec<&Expr> = match when {
        Expr::And(parts) => parts.iter().collect(),
        other => vec![other],
    };
    let (mut principal, mut action, mut rest) = (None, None, Vec::new());
    for part in parts {
        match part {
            Expr::Leaf(Atom::RoleIs(role)) if principal.is_none() => principal = Some(role.as_str()),
            Expr::Leaf(Atom::ActionKindIs(kind)) if action.is_none() => action = Some(kind.as_str()),
            other => rest.push(expression(other)),
        }
    }
    let principal = principal.map_or("principal".into(), |role| format!("principal == Role::\"{role}\""));
    let action = action.map_or("action".into(), |kind| format!("action == Action::\"{kind}\""));
    let when = if rest.is_empty() { String::new() } else { format!(" when {{ {} }}", rest.join(" && ")) };
    format!("permit({principal}, {action}, resource){when};\n")
}

fn expression(expr: &Expr) -> String {
    let many = |parts: &[Expr], word: &str| {
        format!("({})", parts.iter().map(expression).collect::<Vec<_>>().join(word))
    };
    match expr {
        Expr::And(parts) => many(parts, " && "),
        Expr::Or(parts) => many(parts, " || "),
        Expr::Not(inner) => format!("!({})", expression(inner)),
        Expr::Leaf(atom) => atom_text(atom),
    }
}

fn atom_text(atom: &Atom) -> String {
    match atom {
        Atom::RoleIs(role) => format!("principal == Role::\"{role}\""),
        Atom::ActionKindIs(kind) => format!("action == Action::\"{kind}\""),
        Atom::ModeIs(mode) => format!("context.mode == \"{mode}\""),
        Atom::WarrantIs(warrant) => format!("context.warrant == \"{warrant}\""),
        Atom::ActionHashMatches(hash) => format!("context.action_hash == \"{hash}\""),
        Atom::CapabilityPresent(name) => format!("context.capabilities_present.contains(\"{name}\")"),
        Atom::CapabilityAllowed(name) => format!("context.capabilities_allowed.contains(\"{name}\")"),
        Atom::HasEvidenceKind(kind) => format!("context.evidence_kinds.contains(\"{kind}\")"),
        bare => format!("context.{}", bare.name()),
    }
}

/// Parses the policies and nothing else: what our loading is compared with.
pub fn parse(text: &str) -> PolicySet {
    PolicySet::from_str(text).expect("the policies parse")
}

impl<'p> Cedar<'p> {
    pub fn new(policy: &'p Policy) -> Self {
        Self {
            policy,
            policies: parse(&text(policy)),
            authorizer: Authorizer::new(),
            entities: Entities::empty(),
            role: "Role".parse().expect("a type"),
            action: "Action".parse().expect("a type"),
            resource: "Resource::\"any\"".parse().expect("an entity"),
        }
    }

    /// JSON bytes in, trace out.
    pub fn answer(&self, bytes: &[u8]) -> String {
        let json: serde_json::Value = serde_json::from_slice(bytes).expect("the context parses");
        let text = |key: &str| json[key].as_str().unwrap_or_default();
        let truth = |key: &str| json[key].as_bool().unwrap_or_default();
        let set = |key: &str| {
            let items = json[key].as_array().into_iter().flatten();
            RestrictedExpression::new_set(
                items.map(|item| RestrictedExpression::new_string(item.as_str().unwrap_or_default().into())),
            )
        };
        let mut pairs = Vec::with_capacity(12);
        for key in ["mode", "warrant", "action_hash"] {
            pairs.push((key.to_owned(), RestrictedExpression::new_string(text(key).into())));
        }
        for key in ["capabilities_present", "capabilities_allowed", "evidence_kinds"] {
            pairs.push((key.to_owned(), set(key)));
        }
        let approvals = ["approval_present", "approval_valid", "approval_unexpired", "approval_unused"];
        for key in approvals.into_iter().chain(["session_active"]) {
            pairs.push((key.to_owned(), RestrictedExpression::new_bool(truth(key))));
        }
        let uid = |kind: &EntityTypeName, id: &str| {
            EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id))
        };
        let request = Request::new(
            uid(&self.role, text("role")),
            uid(&self.action, text("action_kind")),
            self.resource.clone(),
            Context::from_pairs(pairs).expect("the context is a record"),
            None,
        )
        .expect("no schema to break");
        let response = self.authorizer.is_authorized(&request, &self.policies, &self.entities);
        let matched = response.diagnostics().reason().map(|id| {
            let id: &str = id.as_ref();
            id.trim_start_matches("policy").parse().expect("policies are numbered")
        });
        let canonical = canonical(&json);
        trace(self.policy, matched.collect(), approvals.iter().all(|key| truth(key)), canonical.as_bytes())
    }
}

/// The context in canonical form, from the value that was parsed for Cedar.
fn canonical(json: &serde_json::Value) -> String {
    // serde_json keeps the order of the text here, because Cedar switches that on; so the keys are sorted.
    let object = json.as_object().expect("a context is an object");
    let mut members: Vec<(&String, &serde_json::Value)> = object.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    let mut out = String::with_capacity(1024);
    for (key, value) in members {
        out.push_str(if out.is_empty() { "{\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        out.push_str(&value.to_string());
    }
    out.push('}');
    out
}

//! Why a decision came out as it did, in words: which rules matched, and which atom kept each other one from it.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Json, Value};

use crate::{Atom, AtomName, Context, Expr, Policy, Rule, Trace, context::InContext};

/// One atom of a condition that came out the wrong way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAtom {
    /// The atom.
    pub atom: Atom,
    /// What the condition wanted of it.
    pub wanted: bool,
    /// What the context has instead, in words.
    pub found: String,
}

impl FailedAtom {
    /// What was wanted and what was found, in words. Alternatives that failed alike are one line.
    #[must_use]
    pub fn describe_all(failed: &[Self]) -> Vec<String> {
        let is_alike = |a: &Self, b: &Self| {
            a.wanted && b.wanted && a.found == b.found && words_for_any(&[&a.atom, &b.atom]).is_some()
        };
        let groups = failed.chunk_by(is_alike);
        let describe = |group: &[Self]| {
            let atoms: Vec<&Atom> = group.iter().map(|failed| &failed.atom).collect();
            let (wanted, found) =
                group.first().map(|first| (first.wanted, first.found.as_str())).unwrap_or_default();
            let words = words_for_any(&atoms).filter(|_| wanted);
            let words =
                words.or_else(|| atoms.first().map(|atom| in_words(atom, wanted))).unwrap_or_default();
            format!("not met: {words} ({found})")
        };
        groups.map(describe).collect()
    }
}

/// A rule, and why it matched or did not.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleExplanation<'p> {
    /// The rule.
    pub rule: &'p Rule,
    /// Whether it matched.
    pub matched: bool,
    /// If not, the atoms that failed; each of them alone kept its branch from holding.
    pub failed: Vec<FailedAtom>,
}

/// A decision and what every rule had to do with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation<'p> {
    /// The decision.
    pub trace: Trace<'p>,
    /// Every rule, in the order in which rules decide.
    pub rules: Vec<RuleExplanation<'p>>,
}

impl Policy {
    /// Explains a decision that the rules alone make.
    #[must_use]
    pub fn explain(&self, context: &Context) -> Explanation<'_> {
        let rules = self.rules().iter().map(|rule| {
            let failed = failures(&rule.when, context, true);
            RuleExplanation { rule, matched: rule.when.evaluate(&mut InContext(context)), failed }
        });
        Explanation { trace: self.trace_context(context), rules: rules.collect() }
    }
}

impl Explanation<'_> {
    /// The explanation as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let rules = self.rules.iter().map(|explained| {
            let RuleExplanation { rule, matched, failed } = explained;
            let failed = failed.iter().map(|failed| {
                Json::object([
                    ("atom", Json::from(failed.atom.name().as_str())),
                    ("argument", failed.atom.argument().map_or_else(|| Json::from(Value::Null), Json::from)),
                    ("wanted", Json::from(failed.wanted)),
                    ("found", Json::from(failed.found.clone())),
                ])
            });
            Json::object([
                ("rule_id", Json::from(String::from(rule.rule_id.as_str()))),
                ("kind", Json::from(rule.kind.as_str())),
                ("code", Json::from(String::from(rule.code.as_str()))),
                ("message", Json::from(rule.message.clone())),
                ("matched", Json::from(*matched)),
                ("when", Json::from(condition_in_words(&rule.when))),
                ("failed", Json::array(failed)),
            ])
        });
        Json::object([
            ("schema", Json::from("instruction-policy-explain@1")),
            ("summary", Json::from(self.summary())),
            ("trace", self.trace.to_json()),
            ("rules", Json::array(rules)),
        ])
    }

    /// The decision in one sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let evaluation = &self.trace.evaluation;
        let code = evaluation.decision_code;
        let by = |kind: crate::Kind| {
            evaluation.matched.iter().find(|rule| rule.kind == kind).map(|rule| &rule.rule_id)
        };
        match (evaluation.gate, by(crate::Kind::Deny), by(crate::Kind::Allow)) {
            (crate::Gate::Kernel, Some(rule), _) => {
                format!("denied with {code}: rule `{rule}` matched, and a deny overrides everything else")
            }
            (crate::Gate::ApprovalRequired, _, _) => {
                let by: Vec<&str> = evaluation
                    .matched
                    .iter()
                    .filter(|rule| rule.kind == crate::Kind::Require)
                    .map(|rule| rule.rule_id.as_str())
                    .collect();
                let by = if by.is_empty() {
                    String::from("the lattice")
                } else {
                    format!("`{}`", by.join("`, `"))
                };
                format!("denied with {code}: {by} requires an approval, and no valid one is there")
            }
            (crate::Gate::Proceed, _, Some(rule)) => {
                format!("allowed with {code}: rule `{rule}` is the first that allows it, and none denies it")
            }
            _ => format!("denied with {code}: no rule allows it, and what nothing allows is denied"),
        }
    }
}

/// The atoms that kept a condition from being `wanted`; none if it is.
///
/// Recursion is bounded as the condition's depth is.
pub(crate) fn failures(condition: &Expr, context: &Context, wanted: bool) -> Vec<FailedAtom> {
    if condition.evaluate(&mut InContext(context)) == wanted {
        return Vec::new();
    }
    match condition {
        Expr::Leaf(atom) => {
            alloc::vec![FailedAtom { atom: atom.clone(), wanted, found: found_in_words(atom, context) }]
        }
        Expr::Not(inner) => failures(inner, context, !wanted),
        Expr::And(parts) | Expr::Or(parts) => {
            parts.iter().flat_map(|part| failures(part, context, wanted)).collect()
        }
    }
}

/// Why a condition is not `wanted`, in one line.
pub(crate) fn failed_atoms(condition: &Expr, context: &Context, wanted: bool) -> String {
    let failed = FailedAtom::describe_all(&failures(condition, context, wanted));
    if failed.is_empty() { String::from("it holds") } else { failed.join("; ") }
}

/// A condition in words.
#[must_use]
pub fn condition_in_words(condition: &Expr) -> String {
    condition_words(condition, false)
}

fn condition_words(condition: &Expr, nested: bool) -> String {
    let many = |parts: &[Expr], word: &str| match parts {
        [only] => condition_words(only, nested),
        _ => {
            let parts: Vec<String> = parts.iter().map(|part| condition_words(part, true)).collect();
            let joined = parts.join(word);
            if nested { format!("({joined})") } else { joined }
        }
    };
    match condition {
        Expr::Leaf(atom) => in_words(atom, true),
        Expr::Not(inner) => match inner.as_ref() {
            Expr::Leaf(atom) => in_words(atom, false),
            Expr::Not(_) | Expr::And(_) | Expr::Or(_) => format!("not {}", condition_words(inner, true)),
        },
        Expr::And(parts) => many(parts, " and "),
        Expr::Or(parts) => alternatives(parts).unwrap_or_else(|| many(parts, " or ")),
    }
}

/// Alternatives of one field, as one phrase.
fn alternatives(parts: &[Expr]) -> Option<String> {
    let atoms: Option<Vec<&Atom>> = parts
        .iter()
        .map(|part| match part {
            Expr::Leaf(atom) => Some(atom),
            Expr::Not(_) | Expr::And(_) | Expr::Or(_) => None,
        })
        .collect();
    words_for_any(&atoms?)
}

/// "The role is `a` or `b`", if the atoms all ask for one field.
fn words_for_any(atoms: &[&Atom]) -> Option<String> {
    let name = atoms.first()?.name();
    let field = match name {
        AtomName::RoleIs => "role",
        AtomName::ActionKindIs => "action",
        AtomName::WarrantIs => "warrant",
        AtomName::ModeIs
        | AtomName::SessionActive
        | AtomName::CapabilityPresent
        | AtomName::CapabilityAllowed
        | AtomName::ActionHashMatches
        | AtomName::ApprovalPresent
        | AtomName::ApprovalValid
        | AtomName::ApprovalUnexpired
        | AtomName::ApprovalUnused
        | AtomName::HasEvidenceKind => return None,
    };
    let values: Option<Vec<String>> =
        atoms.iter().map(|atom| atom.argument().filter(|_| atom.name() == name)).collect();
    let values: Vec<String> = values?.into_iter().map(|value| format!("`{value}`")).collect();
    let (last, others) = values.split_last()?;
    if others.is_empty() {
        return Some(format!("the {field} is {last}"));
    }
    Some(format!("the {field} is {} or {last}", others.join(", ")))
}

/// An atom, or its opposite, in words.
#[must_use]
pub fn in_words(atom: &Atom, holds: bool) -> String {
    let is = if holds { "is" } else { "is not" };
    let has = if holds { "has" } else { "does not have" };
    match atom {
        Atom::RoleIs(role) => format!("the role {is} `{role}`"),
        Atom::ModeIs(mode) => format!("the mode {is} `{mode}`"),
        Atom::SessionActive => format!("the session {is} active"),
        Atom::CapabilityPresent(capability) => format!("the client {has} `{capability}`"),
        Atom::CapabilityAllowed(capability) => format!("the role {is} granted `{capability}`"),
        Atom::ActionKindIs(kind) => format!("the action {is} `{kind}`"),
        Atom::ActionHashMatches(hash) => format!("the action {is} exactly `{hash}`"),
        Atom::ApprovalPresent => format!("an approval {is} given"),
        Atom::ApprovalValid => format!("the approval {is} valid for this action"),
        Atom::ApprovalUnexpired => format!("the approval {is} unexpired"),
        Atom::ApprovalUnused => format!("the approval {is} unused"),
        Atom::HasEvidenceKind(kind) => {
            format!("there is {}evidence of kind `{kind}`", if holds { "" } else { "no " })
        }
        Atom::WarrantIs(warrant) => format!("the warrant {is} `{warrant}`"),
    }
}

/// What the context has where this atom looks, in words.
fn found_in_words(atom: &Atom, context: &Context) -> String {
    match atom {
        Atom::RoleIs(_) => match context.role.as_ref() {
            Some(role) => format!("it is `{role}`"),
            None => String::from("there is no role"),
        },
        Atom::ModeIs(_) => format!("it is `{}`", context.mode),
        Atom::ActionKindIs(_) => format!("it is `{}`", context.action_kind),
        Atom::ActionHashMatches(_) => format!("it is `{}`", context.action_hash),
        Atom::WarrantIs(_) => match context.warrant.as_ref() {
            Some(warrant) => format!("it is `{warrant}`"),
            None => String::from("there is no warrant"),
        },
        Atom::SessionActive
        | Atom::CapabilityPresent(_)
        | Atom::CapabilityAllowed(_)
        | Atom::ApprovalPresent
        | Atom::ApprovalValid
        | Atom::ApprovalUnexpired
        | Atom::ApprovalUnused
        | Atom::HasEvidenceKind(_) => {
            String::from(if atom.holds(context) { "it is so" } else { "it is not so" })
        }
    }
}

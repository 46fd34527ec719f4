//! A bundle as lines of words: what a hook reads before every call costs it no more than looking at each word once.
//!
//! A line is what it is about, and then words with tabs between them. Conditions come in prefix order, each operator with the
//! number of its parts.

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Issue, Json, NonEmpty, Reader, Wire as _, Within};

use super::LoadedBundle;
use crate::{
    ActionEntry, ActionKind, AllowDocument, AllowHash, AllowPolicy, AllowSchema, Atom, AtomName, Capability,
    CapabilityEntry, Effect, Expr, Kind, Lattice, LatticeDocument, LatticeHash, LatticeSchema, NameSet,
    Operator, Policy, PolicyHash, Probe, ProbeFact, Role, Rule, RuleCode, RuleId, Then, codes,
};

/// What lines are about.
const RULE: &str = "rule";
const CAPABILITY: &str = "capability";
const ACTION: &str = "action";
const ROLE: &str = "role";

/// The word for something that is so.
const YES: &str = "yes";

type Hashes = (PolicyHash, LatticeHash, AllowHash);

/// The lines of a bundle, after its hashes: its rules in order and without their examples, its lattice, its allow policy.
pub(super) fn write(
    hashes: Hashes,
    rules: &[Rule],
    lattice: &LatticeDocument,
    allow: &AllowDocument,
) -> String {
    let (policy_hash, lattice_hash, allow_hash) = hashes;
    let hashes = [policy_hash.to_string(), lattice_hash.to_string(), allow_hash.to_string()];
    let rules = rules.iter().map(rule_words);
    let capabilities = lattice.capabilities.iter().map(|CapabilityEntry { id, probe }| {
        let facts = match probe {
            Probe::None => Vec::new(),
            Probe::All(facts) => facts.iter().map(|fact| fact.to_string()).collect(),
        };
        [String::from(CAPABILITY), id.to_string()].into_iter().chain(facts).collect()
    });
    let actions = lattice.actions.iter().map(|(kind, entry)| action_words(kind, entry));
    let roles = allow.roles.iter().map(|(role, granted)| {
        let names = granted.0.iter().map(|capability| capability.to_string());
        [String::from(ROLE), role.to_string()].into_iter().chain(names).collect()
    });
    let lines = [Vec::from(hashes)].into_iter().chain(rules).chain(capabilities).chain(actions).chain(roles);
    lines.map(|words: Vec<String>| format!("{}\n", words.join("\t"))).collect()
}

fn rule_words(rule: &Rule) -> Vec<String> {
    let Rule { rule_id, rule_version, priority, kind, when, then, message, code, examples: _ } = rule;
    let mut words = Vec::from([
        String::from(RULE),
        rule_id.to_string(),
        rule_version.get().to_string(),
        priority.get().to_string(),
        kind.to_string(),
        then.effect.to_string(),
        then.params.as_ref().map(|params| params.to_canonical()).unwrap_or_default(),
        code.to_string(),
        message.clone(),
    ]);
    condition_words(when, &mut words);
    words
}

fn condition_words(when: &Expr, words: &mut Vec<String>) {
    let mut operator = |operator: Operator, parts: &[Expr]| {
        words.push(operator.to_string());
        words.push(parts.len().to_string());
        parts.iter().for_each(|part| condition_words(part, words));
    };
    match when {
        Expr::And(parts) => operator(Operator::And, parts),
        Expr::Or(parts) => operator(Operator::Or, parts),
        Expr::Not(part) => {
            words.push(String::from(Operator::Not.as_str()));
            condition_words(part, words);
        }
        Expr::Leaf(atom) => {
            words.push(String::from(atom.name().as_str()));
            words.extend(atom.argument());
        }
    }
}

fn action_words(kind: &ActionKind, entry: &ActionEntry) -> Vec<String> {
    let ActionEntry { capability, requires_writes_allowed, requires_approval, approvals, reviewers } = entry;
    let yes = |is_so: bool| String::from(if is_so { YES } else { "" });
    let mut words = Vec::from([
        String::from(ACTION),
        kind.to_string(),
        capability.to_string(),
        yes(*requires_writes_allowed),
        yes(*requires_approval),
        approvals.map(|approvals| approvals.get().to_string()).unwrap_or_default(),
    ]);
    words.extend(reviewers.iter().flat_map(|reviewers| reviewers.0.iter()).map(|role| role.to_string()));
    words
}

/// Loads a bundle from its lines.
pub(super) fn read(lines: &'static str) -> Result<LoadedBundle, NonEmpty<Issue>> {
    let mut lines = Pieces { rest: Some(lines), end: b'\n' };
    let hashes = &mut Pieces::words(lines.next().unwrap_or_default());
    let hashes = (
        PolicyHash::parse(word(hashes)?).map_err(NonEmpty::of)?,
        LatticeHash::parse(word(hashes)?).map_err(NonEmpty::of)?,
        AllowHash::parse(word(hashes)?).map_err(NonEmpty::of)?,
    );
    let (mut rules, mut capabilities) = (Vec::new(), Vec::new());
    let (mut actions, mut roles) = (BTreeMap::new(), BTreeMap::new());
    for line in lines {
        let words = &mut Pieces::words(line);
        match words.next().unwrap_or_default() {
            RULE => rules.push(rule(words)?),
            CAPABILITY => capabilities.push(capability(words).map_err(NonEmpty::of)?),
            ACTION => {
                drop(actions.insert(ActionKind::parse(word(words)?).map_err(NonEmpty::of)?, action(words)?))
            }
            ROLE => {
                let role = Role::parse(word(words)?).map_err(NonEmpty::of)?;
                let granted = words.map(Capability::parse).collect::<Result<_, _>>().map_err(NonEmpty::of)?;
                roles.insert(role, granted);
            }
            "" => (),
            other => return Err(broken(other)),
        }
    }
    let lattice = LatticeDocument { schema: LatticeSchema::V1, capabilities, actions };
    Ok(LoadedBundle {
        policy: Policy::from_checked(rules, hashes.0),
        lattice: Lattice::from_checked(lattice, hashes.1),
        allow: AllowPolicy::from_checked(AllowDocument { schema: AllowSchema::V1, roles }, hashes.2),
    })
}

fn rule(words: &mut Pieces) -> Result<Rule, NonEmpty<Issue>> {
    Ok(Rule {
        rule_id: RuleId::parse(word(words)?).map_err(NonEmpty::of)?,
        rule_version: number(word(words)?)?,
        priority: number(word(words)?)?,
        kind: Kind::parse(word(words)?).map_err(NonEmpty::of)?,
        then: Then {
            effect: Effect::parse(word(words)?).map_err(NonEmpty::of)?,
            params: match word(words)? {
                "" => None,
                params => {
                    let params = Json::parse(params.as_bytes()).map_err(NonEmpty::of)?;
                    Some(Reader::read_json(&params, codes::URM_POLICY_INVALID_SCHEMA)?)
                }
            },
        },
        code: RuleCode::parse(word(words)?).map_err(NonEmpty::of)?,
        message: String::from(word(words)?),
        when: condition(words)?,
        examples: None,
    })
}

/// Recursion is bounded by the documents that the lines were made from.
fn condition(words: &mut Pieces) -> Result<Expr, NonEmpty<Issue>> {
    let name = word(words)?;
    let parts = |words: &mut Pieces| {
        let count: i64 = word(words)?.parse().map_err(|_| broken(name))?;
        (0..count).map(|_| condition(words)).collect::<Result<_, _>>()
    };
    // Not by reading the name as an operator: of what is none, it would be found out first what was meant.
    let operator = Operator::ALL.iter().find(|operator| operator.as_str() == name);
    Ok(match operator {
        Some(Operator::And) => Expr::And(parts(words)?),
        Some(Operator::Or) => Expr::Or(parts(words)?),
        Some(Operator::Not) => Expr::Not(Box::new(condition(words)?)),
        None => {
            let name = AtomName::parse(name).map_err(NonEmpty::of)?;
            Expr::Leaf(Atom::of(name, || words.next()).map_err(NonEmpty::of)?)
        }
    })
}

fn capability(words: &mut Pieces) -> Result<CapabilityEntry, Issue> {
    let id = Capability::parse(words.next().unwrap_or_default())?;
    let facts: Vec<ProbeFact> = words.map(ProbeFact::parse).collect::<Result<_, _>>()?;
    Ok(CapabilityEntry { id, probe: NonEmpty::new(facts).map_or(Probe::None, Probe::All) })
}

fn action(words: &mut Pieces) -> Result<ActionEntry, NonEmpty<Issue>> {
    Ok(ActionEntry {
        capability: Capability::parse(word(words)?).map_err(NonEmpty::of)?,
        requires_writes_allowed: word(words)? == YES,
        requires_approval: word(words)? == YES,
        approvals: match word(words)? {
            "" => None,
            approvals => Some(number(approvals)?),
        },
        reviewers: {
            let reviewers: NameSet<Role> =
                words.map(Role::parse).collect::<Result<_, _>>().map_err(NonEmpty::of)?;
            Some(reviewers).filter(|reviewers| !reviewers.0.is_empty())
        },
    })
}

/// The pieces of a text, none of them longer than to the next end.
struct Pieces {
    rest: Option<&'static str>,
    end: u8,
}

impl Pieces {
    const fn words(line: &'static str) -> Self {
        Self { rest: Some(line), end: b'\t' }
    }
}

impl Iterator for Pieces {
    type Item = &'static str;

    fn next(&mut self) -> Option<&'static str> {
        let text = self.rest?;
        let at = text.bytes().position(|byte| byte == self.end);
        self.rest = at.and_then(|at| text.get(at.saturating_add(1)..));
        text.get(..at.unwrap_or(text.len()))
    }
}

fn word(words: &mut Pieces) -> Result<&'static str, NonEmpty<Issue>> {
    words.next().ok_or_else(|| broken("the end"))
}

fn number<const MIN: i64, const MAX: i64>(word: &str) -> Result<Within<MIN, MAX>, NonEmpty<Issue>> {
    word.parse().ok().and_then(Within::new).ok_or_else(|| broken(word))
}

fn broken(found: &str) -> NonEmpty<Issue> {
    let message = format!("a shipped bundle has `{found}` in its lines");
    NonEmpty::of(Issue::new(codes::URM_POLICY_INVALID_SCHEMA, message))
}

//! The rules that match a context, in order, and what is kept ready for the traces that they appear in.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::{Decision, Effect, Policy, PolicyHash, PolicySchema, PolicySchemaVersion, QuorumRule, Rule};

/// What traces say of a policy, close together: a rule is large, and a decision meets many.
#[derive(Debug)]
pub(crate) struct Notes {
    effects: Vec<Effect>,
    /// The members that name the policy and its versions, in canonical JSON.
    policy: String,
    /// The ids as a list of strings in canonical JSON, without its brackets.
    ids: String,
    /// Where in `ids` each rule's id and comma end.
    ends: Vec<usize>,
    /// What a trace says of each rule that advises, in canonical JSON.
    advice: Vec<Option<Advice>>,
}

/// An advisory but for the decision, which stands between these, and a comma.
#[derive(Debug)]
struct Advice {
    head: String,
    tail: String,
}

impl Advice {
    fn of(rule: &Rule) -> Option<Self> {
        if rule.then.effect != Effect::EmitAdvisory {
            return None;
        }
        let mut tail = String::from("\",\"params\":");
        match &rule.then.params {
            None => tail.push_str("{}"),
            Some(params) => params.as_object().write_canonical(&mut tail),
        }
        tail.extend([",\"rule_id\":\"", rule.rule_id.as_str(), "\"},"]);
        Some(Self { head: format!("{{\"code\":\"{}\",\"decision\":\"", rule.code), tail })
    }
}

impl Notes {
    pub(crate) fn of(rules: &[Rule], hash: &PolicyHash) -> Self {
        // None of these needs an escape.
        let policy = format!(
            "\"policy_hash\":\"{hash}\",\"policy_ir_version\":\"{}\",\"policy_schema_version\":\"{}\"",
            PolicySchema::V1.as_str(),
            PolicySchemaVersion::V1.as_str(),
        );
        let (mut ids, mut ends) = (String::new(), Vec::with_capacity(rules.len()));
        for rule in rules {
            ids.extend(["\"", rule.rule_id.as_str(), "\","]);
            ends.push(ids.len());
        }
        let effects = rules.iter().map(|rule| rule.then.effect).collect();
        Self { effects, policy, ids, ends, advice: rules.iter().map(Advice::of).collect() }
    }

    /// A rule's id in quotes, and a comma.
    fn id(&self, index: usize) -> &str {
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.ids.get(start..end).unwrap_or_default()
    }
}

/// The rules of a policy that match, in the order in which rules decide.
#[derive(Clone)]
pub struct Matched<'p> {
    policy: &'p Policy,
    // INVARIANT: ascending; each is the index of a rule.
    indices: Vec<u16>,
}

impl<'p> Matched<'p> {
    /// The rules at these places of a policy; a place without a rule is left out.
    #[must_use]
    pub fn new(policy: &'p Policy, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut matched = Self::none(policy);
        matched.indices.extend(
            indices
                .into_iter()
                .filter(|index| *index < policy.rules().len())
                .filter_map(|index| u16::try_from(index).ok()),
        );
        matched.indices.sort_unstable();
        matched
    }

    /// No rule.
    #[must_use]
    pub const fn none(policy: &'p Policy) -> Self {
        Self { policy, indices: Vec::new() }
    }

    /// The policy that they are rules of.
    #[must_use]
    pub const fn policy(&self) -> &'p Policy {
        self.policy
    }

    /// Adds a rule that comes after all that are there.
    pub(crate) fn push(&mut self, index: u16) {
        if self.indices.is_empty() {
            self.indices.reserve(32);
        }
        self.indices.push(index);
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The rules.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &'p Rule> + Clone + use<'p, '_> {
        self.indices().filter_map(|index| self.policy.rules().get(index))
    }

    /// The rules that have this effect.
    pub fn with_effect(&self, effect: Effect) -> impl Iterator<Item = &'p Rule> + use<'p, '_> {
        let has = move |index: &usize| self.effect(*index) == Some(effect);
        self.indices().filter(has).filter_map(|index| self.policy.rules().get(index))
    }

    /// Whose approval they ask for, each in its strictest respect; nothing if none asks for one.
    #[must_use]
    pub fn quorum(&self) -> Option<QuorumRule> {
        let asked = self.with_effect(Effect::RequireApproval).filter_map(Rule::quorum);
        asked.reduce(|strictest, asked| strictest.and(&asked))
    }

    /// The first rule of each effect, by the effect's index.
    pub(crate) fn firsts(&self) -> [Option<&'p Rule>; Effect::ALL.len()] {
        // The last rule of an effect that is met from behind is its first; no branch hangs on what a rule does.
        let mut firsts = [usize::MAX; Effect::ALL.len()];
        for index in self.indices().rev() {
            if let Some(first) = self.effect(index).and_then(|effect| firsts.get_mut(effect.index())) {
                *first = index;
            }
        }
        firsts.map(|index| self.policy.rules().get(index))
    }

    /// Writes the ids as a list in canonical JSON.
    pub(crate) fn write_ids(&self, out: &mut String) {
        out.push('[');
        for index in self.indices() {
            out.push_str(self.policy.notes.id(index));
        }
        close_list(out);
    }

    /// Writes what the rules advise as a list in canonical JSON, each beside the decision. CLAUSE: K2.3.
    pub(crate) fn write_advisories(&self, decision: Decision, code: &str, out: &mut String) {
        out.push('[');
        let advice = self.indices().filter_map(|index| self.policy.notes.advice.get(index)?.as_ref());
        for advice in advice {
            out.push_str(&advice.head);
            out.push_str(decision.as_str());
            out.push_str("\",\"decision_code\":\"");
            out.push_str(code);
            out.push_str(&advice.tail);
        }
        close_list(out);
    }

    /// Writes the members that name the policy, as canonical JSON.
    pub(crate) fn write_policy(&self, out: &mut String) {
        out.push_str(&self.policy.notes.policy);
    }

    fn indices(&self) -> impl DoubleEndedIterator<Item = usize> + Clone + use<'_> {
        self.indices.iter().map(|index| usize::from(*index))
    }

    fn effect(&self, index: usize) -> Option<Effect> {
        self.policy.notes.effects.get(index).copied()
    }
}

/// Ends a list whose elements, if it has any, each have a comma behind them.
fn close_list(out: &mut String) {
    if out.ends_with(',') {
        out.pop();
    }
    out.push(']');
}

impl PartialEq for Matched<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Matched<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|rule| &rule.rule_id)).finish()
    }
}

//! What two policies say differently, rule by rule.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_canon::{Json, Wire as _};

use crate::{Policy, Rule, RuleId};

/// A rule that is in one policy, or different in the two.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleChange<'p> {
    /// Only in the new policy.
    Added(&'p Rule),
    /// Only in the old policy.
    Removed(&'p Rule),
    /// In both, with these fields different.
    Changed {
        /// The old rule.
        old: &'p Rule,
        /// The new rule.
        new: &'p Rule,
        /// The fields, in alphabetical order.
        fields: Vec<String>,
    },
}

impl RuleChange<'_> {
    /// The rule's id.
    #[must_use]
    pub const fn rule_id(&self) -> &RuleId {
        match self {
            Self::Added(rule) | Self::Removed(rule) | Self::Changed { old: _, new: rule, fields: _ } => {
                &rule.rule_id
            }
        }
    }

    /// What happened, in one word.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed { .. } => "changed",
        }
    }

    /// The change as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let (old, new, fields) = match self {
            Self::Added(new) => (None, Some(*new), &[][..]),
            Self::Removed(old) => (Some(*old), None, &[][..]),
            Self::Changed { old, new, fields } => (Some(*old), Some(*new), fields.as_slice()),
        };
        let side = |key: &'static str, rule: Option<&Rule>| rule.map(|rule| (key, rule.write()));
        let members = [
            ("change", Json::from(self.word())),
            ("rule_id", self.rule_id().write()),
            ("fields", Json::array(fields.iter().cloned())),
        ];
        Json::object(members.into_iter().chain(side("old", old)).chain(side("new", new)))
    }
}

/// Every rule that is not the same in both policies, sorted by id.
#[must_use]
pub fn rule_changes<'p>(old: &'p Policy, new: &'p Policy) -> Vec<RuleChange<'p>> {
    let mut pairs: BTreeMap<&RuleId, (Option<&Rule>, Option<&Rule>)> = BTreeMap::new();
    for rule in old.rules() {
        pairs.entry(&rule.rule_id).or_default().0 = Some(rule);
    }
    for rule in new.rules() {
        pairs.entry(&rule.rule_id).or_default().1 = Some(rule);
    }
    pairs
        .into_values()
        .filter_map(|pair| match pair {
            (None, None) => None,
            (None, Some(new)) => Some(RuleChange::Added(new)),
            (Some(old), None) => Some(RuleChange::Removed(old)),
            (Some(old), Some(new)) => {
                let fields = changed_fields(&old.write(), &new.write());
                (!fields.is_empty()).then_some(RuleChange::Changed { old, new, fields })
            }
        })
        .collect()
}

fn changed_fields(old: &Json<'_>, new: &Json<'_>) -> Vec<String> {
    let keys = |json: &Json<'_>| {
        let members = json.as_object().map(|object| object.members().to_vec()).unwrap_or_default();
        members.into_iter().map(|member| member.key.into_owned()).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = keys(old).into_iter().chain(keys(new)).collect();
    all.sort();
    all.dedup();
    all.retain(|key| old.get(key) != new.get(key));
    all
}

/// A condition's rule in one line, for lists.
#[must_use]
pub fn rule_in_words(rule: &Rule) -> String {
    let (effect, when) = (rule.then.effect, crate::condition_in_words(&rule.when));
    match rule.quorum().filter(|quorum| quorum.needs().next().is_some()) {
        Some(quorum) => format!("{effect} of {} when {when}", quorum.in_words()),
        None => format!("{effect} when {when}"),
    }
}

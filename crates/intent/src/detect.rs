//! Conflict detection: symmetric, deterministic, by index and not by comparing all pairs of everything.

mod constraint;
mod effect;
mod order;
mod resource;

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Json, Sha256, Text};

use crate::{
    ConflictId, EvidenceRef, Intent, Money, Registry,
    touch::Touches,
    wire::{CONFLICT_EVIDENCE_MAX, Conflict, ConflictType, Environment, Resolution, Severity},
};

pub(crate) use crate::detect::{
    constraint::{budgets, locks, modes, open_locks},
    effect::effects,
    order::{Edge, cycles, edges, undeclared},
    resource::resources,
};

/// How much the intents of one set may use together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Dollars.
    pub cost_usd: Money,
    /// Tokens.
    pub tokens: i64,
}

impl Limits {
    /// What holds unless somebody says otherwise.
    pub const DEFAULT: Self = Self { cost_usd: Money::dollars(100), tokens: 1_000_000 };
}

/// The intents that are weighed against each other, and what they touch.
#[derive(Debug)]
pub(crate) struct Field<'i> {
    /// Sorted by id.
    pub(crate) intents: Vec<&'i Intent>,
    /// Of each, in the same order.
    pub(crate) touches: Vec<Touches>,
    pub(crate) registry: Option<&'i Registry>,
}

impl<'i> Field<'i> {
    pub(crate) fn new(
        intents: Vec<&'i Intent>,
        environment: Option<Environment>,
        registry: Option<&'i Registry>,
    ) -> Self {
        let touches = intents.iter().map(|intent| Touches::of(intent, environment, registry)).collect();
        Self { intents, touches, registry }
    }

    pub(crate) fn intent(&self, index: usize) -> Option<&'i Intent> {
        self.intents.get(index).copied()
    }

    /// The reference to a place in one of the intents.
    pub(crate) fn reference(&self, index: usize, place: &str) -> Option<EvidenceRef> {
        self.intent(index).map(|intent| EvidenceRef::to_intent(intent.id(), place))
    }
}

/// What makes a conflict more than the sum of its pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Two intents, and that is all.
    Pair,
    /// All of them together use too much.
    Budget,
    /// They wait for each other in a circle.
    Cycle,
    /// They ask in ways that differ; the union takes the strictest.
    Modes,
    /// Their union would be over a cap of the form, or would break a red line.
    Cap,
}

/// A conflict as it is found, by index into the field.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) kind: ConflictType,
    pub(crate) severity: Severity,
    pub(crate) group: Group,
    /// Sorted, without repetitions; two or more.
    pub(crate) intents: Vec<usize>,
    pub(crate) resource: Option<String>,
    pub(crate) description: String,
    pub(crate) evidence: Vec<EvidenceRef>,
}

impl Finding {
    /// Whether the two are both in it.
    pub(crate) fn is_between(&self, a: usize, b: usize) -> bool {
        self.intents.contains(&a) && self.intents.contains(&b)
    }

    /// What findings are sorted by: place first, so that renaming intents in order does not reorder them.
    pub(crate) fn sort_key(
        &self,
    ) -> (ConflictType, &[usize], core::cmp::Reverse<Severity>, Option<&str>, &str) {
        (
            self.kind,
            &self.intents,
            core::cmp::Reverse(self.severity),
            self.resource.as_deref(),
            &self.description,
        )
    }

    fn resolutions(&self) -> Vec<Resolution> {
        match (self.severity, self.kind, self.group) {
            (_, _, Group::Cap) => [Resolution::Reject, Resolution::ManualResolution].into(),
            (Severity::Low | Severity::Medium, ConflictType::Resource | ConflictType::Effect, _) => {
                [Resolution::MergeUnion, Resolution::OverrideByPriority].into()
            }
            (Severity::Low | Severity::Medium, ConflictType::Order | ConflictType::Constraint, _) => {
                [Resolution::MergeUnion].into()
            }
            (Severity::High | Severity::Critical, _, _) => {
                [Resolution::OverrideByPriority, Resolution::Reject, Resolution::ManualResolution].into()
            }
        }
    }

    /// Its id, which comes from what it says.
    pub(crate) fn conflict_id(&self, field: &Field<'_>) -> Option<ConflictId> {
        let ids = self.intents.iter().filter_map(|&index| Some(field.intent(index)?.id().as_str()));
        let word = match self.kind {
            ConflictType::Resource => "resource",
            ConflictType::Effect => "effect",
            ConflictType::Order => "order",
            ConflictType::Constraint => "constraint",
        };
        let content = Json::object([
            ("type", Json::from(self.kind.as_str())),
            ("severity", Json::from(self.severity.as_str())),
            ("intent_ids", Json::array(ids)),
            ("resource_ref", Json::from(self.resource.as_deref().unwrap_or_default())),
            ("description", Json::from(self.description.as_str())),
        ]);
        ConflictId::parse(&format!("conflict_{word}_{}", short_hash(&content.to_canonical()))).ok()
    }

    /// The conflict as a document; nothing if it breaks the form, and then the caller must say so.
    pub(crate) fn to_wire(&self, field: &Field<'_>) -> Option<Conflict> {
        let ids: Vec<_> =
            self.intents.iter().filter_map(|&index| Some(field.intent(index)?.id().clone())).collect();
        let mut evidence = self.evidence.clone();
        evidence.sort();
        evidence.dedup();
        evidence.truncate(CONFLICT_EVIDENCE_MAX);
        let resource_ref = match self.resource.clone() {
            Some(resource) => Some(Text::new(resource)?),
            None => None,
        };
        Some(Conflict {
            conflict_id: self.conflict_id(field)?,
            kind: self.kind,
            severity: self.severity,
            intent_ids: countersign_canon::List::new(ids)?,
            resource_ref,
            description: Text::new(self.description.clone())?,
            evidence_refs: countersign_canon::List::new(evidence)?,
            resolutions: countersign_canon::List::new(self.resolutions())?,
        })
    }
}

/// A name in a description: whole, or its beginning. What it names in full stands beside it, as the resource.
pub(crate) fn shown(name: &str) -> String {
    // LIMIT: a description has 4000 characters, and names two things at most.
    crate::svg::shortened(name, 400)
}

/// Twelve hexadecimal digits of the hash of a canonical text: short enough to read, long enough for one document.
pub(crate) fn short_hash(canonical: &str) -> String {
    format!("{:.12}", Sha256::of(canonical.as_bytes()).to_hex(&mut [0; 64]))
}

/// Sorts and drops what was found twice.
pub(crate) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    findings.dedup_by(|a, b| a.sort_key() == b.sort_key());
    findings
}

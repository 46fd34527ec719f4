//! How many people must agree to an action, and of which sorts: what rules and the lattice ask for.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use core::cmp::Ordering;

use countersign_canon::{
    Definitions, Issue, Issues, Json, Member, Name as _, Object, Pointer, Within, canon_codes, nearest,
    record,
};

use crate::{ActionEntry, Algebra, Atom, Effect, NameSet, Role, codes};

/// LIMIT: how many people can be asked to approve one action; an approval has room for as many signatures.
pub const APPROVALS_MAX: i64 = 16;

/// The parameters of an effect that asks for an approval.
const APPROVALS: &str = "approvals";
const REVIEWERS: &str = "reviewers";

/// How many different people must say yes.
type People = Within<1, APPROVALS_MAX>;

record! {
    /// How many people must say yes, and of which kinds.
    pub struct QuorumRule {
        /// How many different people.
        approvals: Within<1, APPROVALS_MAX>,
        /// Kinds of reviewers of which each must be among them.
        reviewers: NameSet<Role>,
    }
}

impl QuorumRule {
    /// One person, whoever it is.
    #[must_use]
    pub fn anybody() -> Self {
        Self { approvals: Within::clamped(1), reviewers: NameSet::default() }
    }

    /// What the lattice asks for, of a kind of action that it requires an approval for.
    #[must_use]
    pub fn of_entry(entry: &ActionEntry) -> Self {
        let least = Self::anybody();
        Self {
            approvals: entry.approvals.unwrap_or(least.approvals),
            reviewers: entry.reviewers.clone().unwrap_or(least.reviewers),
        }
    }

    /// What the parameters of an effect ask for. What cannot be read asks for as many people as there can be: a policy
    /// that was activated before parameters were checked must not ask for fewer than somebody meant.
    pub(crate) fn of_params(params: &Object<'_>) -> Self {
        let mut quorum = Self::anybody();
        for member in params.members() {
            match read(member) {
                Ok(Asked::Approvals(approvals)) => quorum.approvals = quorum.approvals.max(approvals),
                Ok(Asked::Reviewers(reviewers)) => quorum.reviewers = reviewers,
                Err(_) => quorum.approvals = Within::clamped(APPROVALS_MAX),
            }
        }
        quorum
    }

    /// The stricter of both, in each respect.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let reviewers = self.reviewers.0.iter().chain(other.reviewers.0.iter()).cloned();
        Self { approvals: self.approvals.max(other.approvals), reviewers: reviewers.collect() }
    }

    /// Whether whoever satisfies this satisfies the other too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.approvals >= other.approvals && other.reviewers.0.is_subset(&self.reviewers.0)
    }

    /// What it asks for beyond one person's yes.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        let people = Some(self.approvals.get()).filter(|count| *count > 1).map(Need::People);
        people.into_iter().chain(self.reviewers.0.iter().cloned().map(Need::Review))
    }

    /// Who must agree, in words.
    #[must_use]
    pub fn in_words(&self) -> String {
        let people = match self.approvals.get() {
            1 => String::from("one person"),
            count => format!("{count} people"),
        };
        let kinds: Vec<String> = self.reviewers.0.iter().map(|kind| format!("`{kind}`")).collect();
        if kinds.is_empty() { people } else { format!("{people}, with a review by {}", kinds.join(" and ")) }
    }
}

impl Eq for QuorumRule {}

impl PartialOrd for QuorumRule {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for QuorumRule {
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { approvals, reviewers } = self;
        approvals.cmp(&other.approvals).then_with(|| reviewers.cmp(&other.reviewers))
    }
}

/// One thing that is asked of an approval beyond one person's yes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// At least so many people: two or more.
    People(i64),
    /// A review of this kind.
    Review(Role),
}

impl Need {
    /// Whether whoever asks for this quorum asks for this.
    #[must_use]
    pub fn is_asked_by(&self, quorum: &QuorumRule) -> bool {
        match self {
            Self::People(count) => quorum.approvals.get() >= *count,
            Self::Review(kind) => quorum.reviewers.0.contains(kind),
        }
    }
}

/// Everything that is asked for beyond one person's yes, and when, given what asks for which quorum when.
pub(crate) fn needs<A: Algebra<Atom>>(
    asking: &[(QuorumRule, A::Bit)],
    algebra: &mut A,
) -> BTreeMap<Need, A::Bit> {
    let all: BTreeSet<Need> = asking.iter().flat_map(|(quorum, _)| quorum.needs()).collect();
    let when = |need: Need| {
        let falsehood = algebra.constant(false);
        let asks = asking.iter().filter(|(quorum, _)| need.is_asked_by(quorum));
        let bit = asks.fold(falsehood, |any, (_, bit)| algebra.or(any, *bit));
        (need, bit)
    };
    all.into_iter().map(when).collect()
}

/// Whether what asks, when it does, asks for everything that this quorum does: with any one of them missing it does not.
pub fn settled<A: Algebra<Atom>>(
    asking: &[(QuorumRule, A::Bit)],
    quorum: &QuorumRule,
    algebra: &mut A,
) -> A::Bit {
    let falsehood = algebra.constant(false);
    let anybody = asking.iter().fold(falsehood, |any, (_, bit)| algebra.or(any, *bit));
    quorum.needs().fold(anybody, |all, need| {
        let asks = asking.iter().filter(|(asked, _)| need.is_asked_by(asked));
        let bit = asks.fold(falsehood, |any, (_, bit)| algebra.or(any, *bit));
        algebra.and(all, bit)
    })
}

/// What one parameter asks for.
enum Asked {
    Approvals(People),
    Reviewers(NameSet<Role>),
}

fn read(member: &Member<'_>) -> Result<Asked, Issue> {
    let value = &member.value;
    match member.key.as_ref() {
        APPROVALS => {
            let found = value.as_number().and_then(|number| number.as_i64());
            found.and_then(People::new).map(Asked::Approvals).ok_or_else(|| {
                let (cause, found) = match value.as_number() {
                    Some(number) => (canon_codes::WIRE_BOUNDS, format!("found {number}")),
                    None => (canon_codes::WIRE_TYPE, format!("found {}", value.type_name())),
                };
                Issue::new(cause, found)
                    .with_expected(format!("a whole number from 1 to {APPROVALS_MAX}"))
                    .with_hint("write how many people must approve, as a bare number")
            })
        }
        REVIEWERS => {
            let expected = "kinds of reviewers as one text, with commas between them";
            let Some(text) = value.as_str() else {
                let found = format!("found {}", value.type_name());
                return Err(Issue::new(canon_codes::WIRE_TYPE, found).with_expected(expected));
            };
            let kinds = text.split(',').map(|kind| Role::parse(kind.trim_matches(' ')));
            let kinds: NameSet<Role> = kinds.collect::<Result<_, _>>()?;
            Ok(Asked::Reviewers(kinds))
        }
        other => {
            let known = [APPROVALS, REVIEWERS];
            let issue = Issue::new(canon_codes::WIRE_UNKNOWN_FIELD, format!("unknown parameter `{other}`"))
                .with_expected(format!("one of {}", known.join(", ")));
            Err(match nearest(other, known) {
                Some(meant) => issue.with_hint(format!("did you mean `{meant}`?")),
                None => issue.with_hint("remove it: an approval is asked for with no other parameters"),
            })
        }
    }
}

/// Everything that is wrong with what the rules of a policy ask of approvals.
pub(crate) fn issues(document: &Json<'_>) -> Issues {
    let mut issues = Issues::new();
    let rules = document.get("rules").and_then(Json::as_array).unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let Some(then) = rule.get("then") else { continue };
        let effect = then.get("effect").and_then(Json::as_str);
        let params = then.get("params").and_then(Json::as_object);
        let (Some(params), Some(true)) = (params, effect.map(|it| it == Effect::RequireApproval.as_str()))
        else {
            continue;
        };
        for member in params.members() {
            let Err(issue) = read(member) else { continue };
            let place = Pointer::root().key("rules").index(index).key("then").key("params").key(&member.key);
            let issue = issue.under(codes::URM_POLICY_INVALID_SCHEMA).with_pointer(place);
            issues.push(issue.with_offset(member.value.offset()));
        }
    }
    issues
}

/// The schema of the parameters of an effect that asks for an approval.
pub(crate) fn schema(definitions: &mut Definitions) -> Json<'static> {
    use countersign_canon::Wire as _;
    let pattern = Role::pattern();
    let name = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')).unwrap_or(&pattern);
    let names = format!("^ *{name} *(, *{name} *)*$");
    let reviewers = Json::object([("type", Json::from("string")), ("pattern", Json::from(names))]);
    Json::object([
        ("properties", Json::object([(APPROVALS, People::schema(definitions)), (REVIEWERS, reviewers)])),
        ("additionalProperties", Json::from(false)),
    ])
}

#[cfg(test)]
mod tests;

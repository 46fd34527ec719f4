//! Names and closed vocabularies of policies, contexts and their neighbours.

use alloc::{collections::BTreeSet, format, string::String, sync::Arc, vec::Vec};

use countersign_canon::{
    Alphabet, Definitions, Issue, Json, Name, Reader, Shape, Wire, canon_codes, checked_name, choice,
    spell_texts,
};

use crate::action::NAME_SHAPE;

/// What rule ids and codes look like.
const ID_SHAPE: Shape = Shape { rest: Alphabet("A-Za-z0-9_.:@-"), ..NAME_SHAPE };

/// How many names a list of a context may have.
pub(crate) const NAMES_MAX: usize = 4096;

checked_name! {
    /// The name of a rule, unique in its policy.
    pub RuleId, "rule id", ID_SHAPE
}

checked_name! {
    /// The machine code that a rule decides with.
    pub RuleCode, "code", ID_SHAPE
}

checked_name! {
    /// Who acts, such as `copilot`.
    pub Role, "role", NAME_SHAPE
}

checked_name! {
    /// What a client can do at all, such as `fs.write`.
    pub Capability, "capability", NAME_SHAPE
}

checked_name! {
    /// Something that a probe found, such as `codex.method:turn/steer`.
    pub ProbeFact, "probe fact", NAME_SHAPE
}

checked_name! {
    /// A session, or the run of a worker.
    pub SessionId, "session id", NAME_SHAPE
}

checked_name! {
    /// An approval.
    pub ApprovalId, "approval id", NAME_SHAPE
}

choice! {
    /// What a session may do.
    pub enum Mode {
        /// Look, but not change.
        ReadOnly = "read_only",
        /// Look and change.
        WritesAllowed = "writes_allowed",
    }
}

choice! {
    /// What sort of evidence stands behind an action. In alphabetical order, which is the order in documents.
    pub enum EvidenceKind {
        /// A file or document.
        Artifact = "artifact",
        /// An event of the log.
        Event = "event",
        /// A checked proof.
        Proof = "proof",
        /// A run of a worker.
        Run = "run",
        /// A validator's verdict.
        Validator = "validator",
    }
}

choice! {
    /// How well founded the action's claim is.
    pub enum Warrant {
        /// Seen directly.
        Observed = "observed",
        /// Concluded from what was seen.
        Derived = "derived",
        /// Checked by a validator.
        Checked = "checked",
        /// Supposed.
        Hypothesis = "hypothesis",
        /// Not known.
        Unknown = "unknown",
    }
}

choice! {
    /// What a rule is for.
    pub enum Kind {
        /// It refuses.
        Deny = "deny",
        /// It permits.
        Allow = "allow",
        /// It asks for an approval.
        Require = "require",
        /// It adds advice and never decides.
        Derive = "derive",
    }
}

choice! {
    /// What a matching rule does.
    pub enum Effect {
        /// Refuses the action.
        DenyAction = "deny_action",
        /// Permits the action.
        AllowAction = "allow_action",
        /// Asks for an approval.
        RequireApproval = "require_approval",
        /// Marks the warrant as invalid in the trace.
        SetWarrantInvalid = "set_warrant_invalid",
        /// Adds advice to the trace.
        EmitAdvisory = "emit_advisory",
    }
}

impl Effect {
    /// The place of the effect among all of them.
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::DenyAction => 0,
            Self::AllowAction => 1,
            Self::RequireApproval => 2,
            Self::SetWarrantInvalid => 3,
            Self::EmitAdvisory => 4,
        }
    }
}

impl Kind {
    /// The effects that a rule of this kind may have.
    #[must_use]
    pub const fn effects(self) -> &'static [Effect] {
        match self {
            Self::Deny => &[Effect::DenyAction],
            Self::Allow => &[Effect::AllowAction],
            Self::Require => &[Effect::RequireApproval],
            Self::Derive => &[Effect::EmitAdvisory, Effect::SetWarrantInvalid],
        }
    }
}

/// A set of names: read from a list in any order, written as a sorted list without repetitions.
///
/// White space around an element is no part of the name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameSet<T>(
    /// The names; shared, as they are copied far more often than they are put together.
    pub Arc<BTreeSet<T>>,
);

impl<T> Default for NameSet<T> {
    fn default() -> Self {
        Self(Arc::new(BTreeSet::new()))
    }
}

impl<T: Ord> FromIterator<T> for NameSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        Self(Arc::new(names.into_iter().collect()))
    }
}

impl<T: Name> Wire for NameSet<T> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let items = reader.array(json)?;
        if items.len() > NAMES_MAX {
            let issue = Issue::new(canon_codes::WIRE_BOUNDS, format!("found {} elements", items.len()));
            reader.refuse(json, issue.with_expected(format!("at most {NAMES_MAX}")));
            return None;
        }
        let names: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| {
                reader.at_index(index, |reader| reader.text(item, |text| T::parse_name(text.trim())))
            })
            .collect();
        names.into_iter().collect::<Option<Self>>()
    }

    fn write(&self) -> Json<'static> {
        let mut names: Vec<&str> = self.0.iter().map(Name::as_name).collect();
        names.sort_unstable();
        Json::array(names.into_iter().map(String::from))
    }

    fn spell(&self, out: &mut String) {
        let names = self.0.iter().map(Name::as_name);
        if names.clone().is_sorted() {
            return spell_texts(names, out);
        }
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        spell_texts(names, out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // White space around the name is allowed here as it is in the reader.
        let pattern = T::pattern();
        let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')).unwrap_or(&pattern);
        let max = u32::try_from(NAMES_MAX).unwrap_or(u32::MAX);
        Json::object([
            ("type", Json::from("array")),
            ("maxItems", Json::from(max)),
            ("items", countersign_canon::pattern_schema(&format!("^\\s*{inner}\\s*$"))),
        ])
    }
}

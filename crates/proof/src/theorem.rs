//! What can be proved: the pilot obligation, what is built in, and what people write themselves.

use alloc::{boxed::Box, format};

use countersign_canon::{Issue, NonEmpty, Reader, canon_codes, choice, record};
use countersign_ledger::TheoremId;
use countersign_policy::{Atom, Decision, Expr, RuleCode, RuleId};

use crate::{Scope, code::codes};

choice! {
    /// The version of obligations.
    pub enum ObligationSchema {
        /// The only one so far.
        V1 = "countersign.obligation@1",
    }
}

record! {
    /// An obligation in the policy's own language: in all contexts with this, the decision is never that.
    pub struct Obligation {
        /// The version of this document.
        schema: ObligationSchema,
        /// Its name.
        theorem_id: TheoremId,
        /// Whether the rules alone must keep it, or all seven steps together.
        scope: Scope,
        /// The contexts it is about.
        when: Expr<Atom>,
        /// What must not come out there.
        never: Never,
    }
}

record! {
    /// A decision that must not come out: all that is said of it together.
    pub struct Never {
        /// Allow or deny.
        decision: Option<Decision>,
        /// The code.
        decision_code: Option<RuleCode>,
        /// Whether an approval is required.
        required_approval: Option<bool>,
    }
}

impl Obligation {
    /// Loads an obligation.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, under `PROOF_OBLIGATION_INVALID`.
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        let family = codes::PROOF_OBLIGATION_INVALID;
        Reader::read_document::<Self>(bytes, family)?
            .checked()
            .map_err(|issue| NonEmpty::of(issue.under(family)))
    }

    /// The obligation, if it says something under a name of its own.
    pub(crate) fn checked(self) -> Result<Self, Issue> {
        let root = countersign_canon::Pointer::root();
        if RESERVED.contains(&self.theorem_id.as_str()) {
            let message = format!("`{}` is the name of a built-in theorem", self.theorem_id);
            return Err(Issue::new(canon_codes::WIRE_VALUE, message).with_pointer(root.key("theorem_id")));
        }
        let Never { decision, decision_code, required_approval } = &self.never;
        if decision.is_none() && decision_code.is_none() && required_approval.is_none() {
            return Err(Issue::new(canon_codes::WIRE_MISSING_FIELD, "`never` says nothing")
                .with_pointer(root.key("never"))
                .with_expected("decision, decision_code or required_approval"));
        }
        Ok(self)
    }
}

const NO_WRITE: &str = "no_write_without_mode_and_approval";
const SINGLE_USE: &str = "approval_single_use_atomicity";
const NEVER_FIRES: &str = "rule_never_fires";
const SHADOWED: &str = "rule_is_shadowed";
const ONLY_TIGHTENS: &str = "policy_only_tightens";
const EQUIVALENT: &str = "policies_are_equivalent";
const RESERVED: [&str; 6] = [NO_WRITE, SINGLE_USE, NEVER_FIRES, SHADOWED, ONLY_TIGHTENS, EQUIVALENT];

/// What is to be proved.
#[derive(Debug, Clone, PartialEq)]
pub enum Theorem {
    /// An allowed action that writes is in the mode for it and has the approval it needs.
    NoWrite,
    /// An approval lets one execution begin, and is used up if and only if one does.
    SingleUse,
    /// No context makes this rule match.
    NeverFires(RuleId),
    /// Whenever this rule matches, others have settled what it would.
    Shadowed(RuleId),
    /// What the policy allows, the other one allowed already, with an approval wherever that required one, by as many people
    /// and of the same kinds.
    OnlyTightens,
    /// Every context gets the same decision, code and need of an approval, by the same people, from both policies.
    Equivalent,
    /// What somebody wrote.
    Custom(Box<Obligation>),
}

record! {
    /// A theorem as a document.
    pub struct TheoremDocument {
        /// Its name.
        theorem_id: TheoremId,
        /// The rule that it is about, if it is about one.
        rule_id: Option<RuleId>,
        /// What somebody wrote, if somebody did.
        obligation: Option<Obligation>,
    }
}

impl Theorem {
    /// The two obligations that every policy is held to (K4.1).
    pub const PILOTS: [Self; 2] = [Self::NoWrite, Self::SingleUse];

    /// Its name.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::NoWrite => NO_WRITE,
            Self::SingleUse => SINGLE_USE,
            Self::NeverFires(_) => NEVER_FIRES,
            Self::Shadowed(_) => SHADOWED,
            Self::OnlyTightens => ONLY_TIGHTENS,
            Self::Equivalent => EQUIVALENT,
            Self::Custom(obligation) => obligation.theorem_id.as_str(),
        }
    }

    /// The theorem as a document.
    ///
    /// # Errors
    ///
    /// Fails if one of our own names were none.
    pub fn document(&self) -> Result<TheoremDocument, Issue> {
        let rule_id = match self {
            Self::NeverFires(rule) | Self::Shadowed(rule) => Some(rule.clone()),
            Self::NoWrite | Self::SingleUse | Self::OnlyTightens | Self::Equivalent | Self::Custom(_) => None,
        };
        let obligation = match self {
            Self::Custom(obligation) => Some((**obligation).clone()),
            Self::NoWrite
            | Self::SingleUse
            | Self::NeverFires(_)
            | Self::Shadowed(_)
            | Self::OnlyTightens
            | Self::Equivalent => None,
        };
        Ok(TheoremDocument { theorem_id: TheoremId::parse(self.id())?, rule_id, obligation })
    }

    /// The theorem of a document; nothing if its parts do not fit together.
    #[must_use]
    pub fn of(document: TheoremDocument) -> Option<Self> {
        let TheoremDocument { theorem_id, rule_id, obligation } = document;
        match (theorem_id.as_str(), rule_id, obligation) {
            (NO_WRITE, None, None) => Some(Self::NoWrite),
            (SINGLE_USE, None, None) => Some(Self::SingleUse),
            (ONLY_TIGHTENS, None, None) => Some(Self::OnlyTightens),
            (EQUIVALENT, None, None) => Some(Self::Equivalent),
            (NEVER_FIRES, Some(rule), None) => Some(Self::NeverFires(rule)),
            (SHADOWED, Some(rule), None) => Some(Self::Shadowed(rule)),
            (id, None, Some(obligation)) if obligation.theorem_id.as_str() == id => {
                obligation.checked().ok().map(|obligation| Self::Custom(Box::new(obligation)))
            }
            _ => None,
        }
    }
}

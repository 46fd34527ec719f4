//! The facts that a decision is made from (K1.7).

use countersign_canon::{Nullable, Timestamp, Wire as _, record, typed_hash};

use crate::{
    ActionHash, ActionKind, Atom, Capability, EvidenceKind, Mode, NameSet, Role, Warrant, action_hash,
    algebra::Algebra, codes,
};
use countersign_canon::{Issue, Json, NonEmpty, Reader, Value};

typed_hash! {
    /// The hash of a context's semantic form.
    pub ContextHash
}

record! {
    /// Everything a rule may ask about: the whole input of a decision.
    pub struct Context {
        /// Who acts; null if nobody is known.
        role: Nullable<Role>,
        /// What the session may do.
        mode: Mode,
        /// What kind of action it is.
        action_kind: ActionKind,
        /// Which action it is.
        action_hash: ActionHash,
        /// Whether there is a live session.
        session_active: bool,
        /// What the client can do, as a probe found it.
        capabilities_present: NameSet<Capability>,
        /// What the role is granted.
        capabilities_allowed: NameSet<Capability>,
        /// What sorts of evidence came with the action.
        evidence_kinds: NameSet<EvidenceKind>,
        /// Whether an approval came with the action.
        approval_present: bool,
        /// Whether it is for this action and properly signed.
        approval_valid: bool,
        /// Whether it has not expired.
        approval_unexpired: bool,
        /// Whether it was neither used nor revoked.
        approval_unused: bool,
        /// How well founded the action's claim is.
        warrant: Nullable<Warrant>,
        /// The instant of the evaluation, given by whoever evaluates.
        evaluation_ts: Timestamp,
    }
}

impl Context {
    /// Reads a context.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, in document order, under `URM_CONTEXT_INVALID`.
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        Reader::read_document(bytes, codes::URM_CONTEXT_INVALID)
    }

    /// Reads a context whose `evaluation_ts` is given beside it; the document must then not have one.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, in document order, under `URM_CONTEXT_INVALID`.
    pub fn load_at(bytes: &[u8], evaluation_ts: Timestamp) -> Result<Self, NonEmpty<Issue>> {
        let family = codes::URM_CONTEXT_INVALID;
        let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(family)))?;
        let Value::Object(object) = &json.value else { return Reader::read_json(&json, family) };
        if let Some(there) = object.get("evaluation_ts") {
            let pointer = countersign_canon::Pointer::root().key("evaluation_ts");
            let issue =
                Issue::new(countersign_canon::canon_codes::WIRE_UNKNOWN_FIELD, "the time is given twice");
            let issue = issue.under(family).with_pointer(pointer).with_offset(there.offset());
            return Err(NonEmpty::of(issue.with_hint("leave it out of the context, or leave out the flag")));
        }
        let members = object.members().iter().map(|member| (member.key.clone(), member.value.clone()));
        let whole = members.chain([("evaluation_ts".into(), evaluation_ts.write())]);
        Reader::read_json(&Json::object(whole), family)
    }

    /// The hash that decisions carry.
    #[must_use]
    pub fn hash(&self) -> ContextHash {
        ContextHash::of_canonical(self.to_canonical().as_bytes())
    }
}

record! {
    /// A context as people write it in examples and tests: what is left out is absent, false, `null` or `read_only`.
    pub struct ExampleContext {
        /// What kind of action it is.
        action_kind: ActionKind,
        /// Who acts; nobody if left out.
        role: Option<Nullable<Role>>,
        /// What the session may do; `read_only` if left out.
        mode: Option<Mode>,
        /// Which action it is; the hash of this kind with a null payload if left out.
        action_hash: Option<ActionHash>,
        /// Whether there is a live session.
        session_active: Option<bool>,
        /// What the client can do.
        capabilities_present: Option<NameSet<Capability>>,
        /// What the role is granted.
        capabilities_allowed: Option<NameSet<Capability>>,
        /// What sorts of evidence came with the action.
        evidence_kinds: Option<NameSet<EvidenceKind>>,
        /// Whether an approval came with the action.
        approval_present: Option<bool>,
        /// Whether it is for this action and properly signed.
        approval_valid: Option<bool>,
        /// Whether it has not expired.
        approval_unexpired: Option<bool>,
        /// Whether it was neither used nor revoked.
        approval_unused: Option<bool>,
        /// How well founded the action's claim is.
        warrant: Option<Nullable<Warrant>>,
        /// The instant of the evaluation; 1970-01-01T00:00:00Z if left out.
        evaluation_ts: Option<Timestamp>,
    }
}

impl ExampleContext {
    /// The context with everything filled in.
    #[must_use]
    pub fn complete(&self) -> Context {
        let this = self.clone();
        let action_hash =
            this.action_hash.unwrap_or_else(|| action_hash(&self.action_kind, &Json::from(Value::Null)));
        Context {
            role: this.role.unwrap_or(Nullable(None)),
            mode: this.mode.unwrap_or(Mode::ReadOnly),
            action_kind: this.action_kind,
            action_hash,
            session_active: this.session_active.unwrap_or_default(),
            capabilities_present: this.capabilities_present.unwrap_or_default(),
            capabilities_allowed: this.capabilities_allowed.unwrap_or_default(),
            evidence_kinds: this.evidence_kinds.unwrap_or_default(),
            approval_present: this.approval_present.unwrap_or_default(),
            approval_valid: this.approval_valid.unwrap_or_default(),
            approval_unexpired: this.approval_unexpired.unwrap_or_default(),
            approval_unused: this.approval_unused.unwrap_or_default(),
            warrant: this.warrant.unwrap_or(Nullable(None)),
            evaluation_ts: this.evaluation_ts.unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }
}

/// Conditions over a context, with plain truth values: the reference evaluator.
#[derive(Debug)]
pub(crate) struct InContext<'c>(pub(crate) &'c Context);

impl Algebra<Atom> for InContext<'_> {
    type Bit = bool;

    fn constant(&mut self, truth: bool) -> bool {
        truth
    }

    fn leaf(&mut self, atom: &Atom) -> bool {
        atom.holds(self.0)
    }

    fn not(&mut self, bit: bool) -> bool {
        !bit
    }

    fn and(&mut self, left: bool, right: bool) -> bool {
        left && right
    }

    fn or(&mut self, left: bool, right: bool) -> bool {
        left || right
    }
}

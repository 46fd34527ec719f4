//! The trace of a decision (K2.2): what was decided, by which rules, under which policy, from which facts.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Issue, Json, NonEmpty, Nullable, Text, Value, Wire, Within, choice, record};

use crate::{
    AllowHash, Context, ContextHash, Decision, Effect, Evaluation, EvidenceKind, Gate, LatticeHash, NameSet,
    Params, Policy, PolicyHash, ProbeHash, Rule, RuleCode, RuleId, compile::Facts,
};

/// The semantic version of the evaluator: it changes only if a decision could.
pub const EVALUATOR_VERSION: &str = "1.0.0";

choice! {
    /// The version of traces.
    pub enum TraceVersion {
        /// The first.
        V1 = "odeu.instruction-trace.v1",
    }
}

choice! {
    /// The version of the policy schema.
    pub enum PolicySchemaVersion {
        /// The first.
        V1 = "odeu.instructions.schema.v1",
    }
}

record! {
    /// A piece of evidence.
    pub struct EvidenceRef {
        /// What sort of evidence.
        kind: EvidenceKind,
        /// Which piece.
        reference = "ref": Text<1, 512>,
        /// What it is about.
        note: Option<String>,
    }
}

record! {
    /// Advice of a derive rule, with the decision it was given beside.
    pub struct Advisory {
        /// The rule.
        rule_id: RuleId,
        /// What it says to machines.
        code: RuleCode,
        /// Its parameters.
        params: Params,
        /// The final decision.
        decision: Decision,
        /// Its code.
        decision_code: RuleCode,
    }
}

record! {
    /// A trace as a document.
    pub struct TraceDocument {
        /// Yes or no.
        decision: Decision,
        /// With which code.
        decision_code: RuleCode,
        /// Under which policy.
        policy_hash: PolicyHash,
        /// From which facts.
        input_context_hash: ContextHash,
        /// Every matching rule, in the order in which rules decide.
        matched_rule_ids: Vec<RuleId>,
        /// Whether the lattice or a rule requires an approval.
        required_approval: bool,
        /// The version of traces.
        trace_version: TraceVersion,
        /// The version of the policy schema.
        policy_schema_version: PolicySchemaVersion,
        /// The version of the policy language.
        policy_ir_version: crate::PolicySchema,
        /// The semantic version of the evaluator.
        evaluator_version: String,
        /// What derive rules advise.
        advisories: Vec<Advisory>,
        /// Whether a derive rule marked the warrant as invalid.
        warrant_invalid: bool,
        /// Evidence, sorted and without repetitions; the one part that is not a function of policy and context.
        evidence_refs: Vec<EvidenceRef>,
        /// Which of the seven steps decided.
        gate: Within<1, 7>,
        /// Under which lattice; null where there was none.
        lattice_hash: Nullable<LatticeHash>,
        /// Under which allow policy; null where there was none.
        allow_hash: Nullable<AllowHash>,
        /// With which probe facts; null where there were none.
        probe_hash: Nullable<ProbeHash>,
    }
}

/// The documents beside the policy that a decision was made under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bindings {
    /// The lattice.
    pub lattice_hash: LatticeHash,
    /// The allow policy.
    pub allow_hash: AllowHash,
    /// The probe facts.
    pub probe_hash: ProbeHash,
}

/// The trace of one decision, borrowing from the policy it was made under.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace<'p> {
    /// What the gates and rules say.
    pub evaluation: Evaluation<'p>,
    /// From which facts.
    pub input_context_hash: ContextHash,
    /// Evidence.
    pub evidence_refs: Vec<EvidenceRef>,
    /// Under which other documents, if gates 1 to 4 were asked.
    pub bindings: Option<Bindings>,
}

impl Policy {
    /// Decides from a context's bytes by the rules alone: what `policy eval` shows.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the context.
    ///
    /// # Examples
    ///
    /// ```
    /// let policy = countersign_policy::Policy::load(br#"{"schema": "odeu.instructions.v1", "rules": []}"#)?;
    /// let issues = policy.trace(br#"{"role": "copilot"}"#).unwrap_err();
    /// assert_eq!(issues.len(), 13);
    /// # Ok::<(), countersign_canon::NonEmpty<countersign_canon::Issue>>(())
    /// ```
    pub fn trace(&self, context: &[u8]) -> Result<Trace<'_>, NonEmpty<Issue>> {
        let mut facts = Facts::BLANK;
        if self.compiled.recognise(context, &mut facts).is_some() {
            let hash = ContextHash::of_canonical(context);
            return Ok(Trace::bare(self.evaluate_facts(&facts, false), hash));
        }
        Context::load(context).map(|context| self.trace_context(&context))
    }

    /// Decides from a context by the rules alone.
    #[must_use]
    pub fn trace_context(&self, context: &Context) -> Trace<'_> {
        Trace::bare(self.evaluate(context, false), context.hash())
    }
}

impl<'p> Trace<'p> {
    /// A trace of the rules alone.
    const fn bare(evaluation: Evaluation<'p>, input_context_hash: ContextHash) -> Self {
        Self { evaluation, input_context_hash, evidence_refs: Vec::new(), bindings: None }
    }

    /// Under which policy.
    #[must_use]
    pub const fn policy_hash(&self) -> &'p PolicyHash {
        self.evaluation.matched.policy().hash()
    }

    /// Puts evidence beside the decision, which it does not change; those that were not there already. CLAUSE: K4.2.
    pub fn attach(&mut self, refs: Vec<EvidenceRef>) -> Vec<EvidenceRef> {
        let new: Vec<EvidenceRef> =
            refs.into_iter().filter(|evidence| !self.evidence_refs.contains(evidence)).collect();
        let all = self.evidence_refs.iter().chain(&new).cloned().collect();
        self.evidence_refs = EvidenceRef::sorted(all);
        new
    }

    /// The trace as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let Evaluation { decision, decision_code, gate, required_approval, warrant_invalid, matched } =
            &self.evaluation;
        let text = |text: &str| Json::from(String::from(text));
        let bound = |hash: Option<String>| hash.map_or_else(|| Json::from(Value::Null), Json::from);
        let bindings = self.bindings.as_ref();
        Json::object([
            ("decision", decision.write()),
            ("decision_code", text(decision_code)),
            ("policy_hash", self.policy_hash().write()),
            ("input_context_hash", self.input_context_hash.write()),
            ("matched_rule_ids", Json::array(matched.iter().map(|rule| rule.rule_id.write()))),
            ("required_approval", Json::from(*required_approval)),
            ("trace_version", TraceVersion::V1.write()),
            ("policy_schema_version", PolicySchemaVersion::V1.write()),
            ("policy_ir_version", crate::PolicySchema::V1.write()),
            ("evaluator_version", text(EVALUATOR_VERSION)),
            ("advisories", Json::array(self.advisories().map(|rule| self.advisory(rule)))),
            ("warrant_invalid", Json::from(*warrant_invalid)),
            ("evidence_refs", Json::array(self.evidence_refs.iter().map(Wire::write))),
            ("gate", Json::from(gate.number())),
            ("lattice_hash", bound(bindings.map(|bindings| format!("{}", bindings.lattice_hash)))),
            ("allow_hash", bound(bindings.map(|bindings| format!("{}", bindings.allow_hash)))),
            ("probe_hash", bound(bindings.map(|bindings| format!("{}", bindings.probe_hash)))),
        ])
    }

    /// The canonical bytes of the trace, written straight out: the same bytes as [`Trace::to_json`] gives.
    #[must_use]
    pub fn to_canonical(&self) -> String {
        let Evaluation { decision, decision_code, gate, required_approval, warrant_invalid, matched } =
            &self.evaluation;
        // Room for most traces, and still small enough for an allocator's quick lists.
        let mut out = String::with_capacity(1000);
        out.push_str("{\"advisories\":");
        matched.write_advisories(*decision, decision_code, &mut out);
        let truth = |truth: bool| if truth { "true" } else { "false" };
        let mut hex = [0_u8; 64];
        let bindings = self.bindings.as_ref();
        bound(&mut out, ",\"allow_hash\":", bindings.map(|bindings| bindings.allow_hash.digest()));
        member(&mut out, ",\"decision\":\"", decision.as_str());
        member(&mut out, "\",\"decision_code\":\"", decision_code);
        member(&mut out, "\",\"evaluator_version\":\"", EVALUATOR_VERSION);
        if self.evidence_refs.is_empty() {
            member(&mut out, "\",\"evidence_refs\":", "[]");
        } else {
            let evidence = Json::array(self.evidence_refs.iter().map(Wire::write));
            member(&mut out, "\",\"evidence_refs\":", &evidence.to_canonical());
        }
        member(
            &mut out,
            ",\"gate\":",
            ["0", "1", "2", "3", "4", "5", "6", "7"].get(gate_index(*gate)).unwrap_or(&"0"),
        );
        member(&mut out, ",\"input_context_hash\":\"", self.input_context_hash.digest().to_hex(&mut hex));
        bound(&mut out, "\",\"lattice_hash\":", bindings.map(|bindings| bindings.lattice_hash.digest()));
        out.push_str(",\"matched_rule_ids\":");
        matched.write_ids(&mut out);
        out.push(',');
        matched.write_policy(&mut out);
        bound(&mut out, ",\"probe_hash\":", bindings.map(|bindings| bindings.probe_hash.digest()));
        member(&mut out, ",\"required_approval\":", truth(*required_approval));
        member(&mut out, ",\"trace_version\":\"", TraceVersion::V1.as_str());
        member(&mut out, "\",\"warrant_invalid\":", truth(*warrant_invalid));
        out.push('}');
        out
    }

    /// The matching rules that only advise.
    fn advisories(&self) -> impl Iterator<Item = &Rule> {
        self.evaluation.matched.with_effect(Effect::EmitAdvisory)
    }

    /// CLAUSE: K2.3, advice carries the final decision, also a denial.
    fn advisory(&self, rule: &Rule) -> Json<'static> {
        Json::object([
            ("rule_id", rule.rule_id.write()),
            ("code", rule.code.write()),
            ("params", rule.then.params.clone().unwrap_or_default().write()),
            ("decision", self.evaluation.decision.write()),
            ("decision_code", Json::from(String::from(self.evaluation.decision_code))),
        ])
    }
}

fn gate_index(gate: Gate) -> usize {
    usize::try_from(gate.number()).unwrap_or(0)
}

#[inline]
fn member(out: &mut String, lead: &str, text: &str) {
    out.push_str(lead);
    out.push_str(text);
}

fn bound(out: &mut String, lead: &str, hash: Option<&countersign_canon::Sha256>) {
    let mut hex = [0_u8; 64];
    match hash {
        None => member(out, lead, "null"),
        Some(hash) => {
            member(out, lead, "\"");
            member(out, hash.to_hex(&mut hex), "\"");
        }
    }
}

impl EvidenceRef {
    /// Sorts pieces of evidence and leaves out repetitions.
    #[must_use]
    pub fn sorted(refs: Vec<Self>) -> Vec<Self> {
        let mut refs = refs;
        let key = |evidence: &Self| {
            (evidence.kind, String::from(evidence.reference.as_str()), evidence.note.clone())
        };
        refs.sort_by_key(key);
        refs.dedup();
        refs
    }
}

/// The kinds of some evidence.
pub(crate) fn kinds_of(refs: &[EvidenceRef]) -> NameSet<EvidenceKind> {
    refs.iter().map(|evidence| evidence.kind).collect()
}

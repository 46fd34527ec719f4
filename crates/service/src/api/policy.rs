//! Policies: which is in force, what it would say, and how another one comes into force.

use countersign_canon::{Definitions, Issue, Json, Nullable, Object, Reader, Timestamp, Value, Wire, record};
use countersign_ledger::{Activation, PolicyVersion, Principal, VersionNumber};
use countersign_policy::{
    ActionHash, ActionKind, Capability, Context, EvidenceKind, Mode, NameSet, Policy, PolicyHash, Role,
    TraceDocument, Warrant,
};
use countersign_store::{Command, Refusal};

use super::{ADMINS, ANYBODY, Asked, Endpoint, Limits, Route};
use crate::{Caller, ServiceError, clock, node::activation_of};

record! {
    /// Shows the policy in force.
    pub struct GetPolicy {}
}

record! {
    /// The policy in force.
    pub struct ActivePolicy {
        /// Since when, by whom.
        activation: Activation,
        /// Its three documents.
        version: PolicyVersion,
    }
}

impl Endpoint for GetPolicy {
    type Reply = ActivePolicy;
    const ROUTE: Route = Route::get("/v1/policy", ANYBODY, "Show the policy in force");

    fn ask(self, _: &Caller) -> Result<Asked<ActivePolicy>, ServiceError> {
        Ok(Asked::question(|node| {
            let activation = node.store().activations()?.pop().ok_or(Refusal::PolicyNotLoaded)?;
            let version = node.store().policy_version(activation.version)?.ok_or(Refusal::PolicyNotLoaded)?;
            Ok(ActivePolicy { activation, version })
        }))
    }
}

record! {
    /// A context without its time, which is the service's to give.
    pub struct Facts {
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
    }
}

impl Facts {
    /// The context at this instant.
    fn at(self, evaluation_ts: Timestamp) -> Context {
        Context {
            role: self.role,
            mode: self.mode,
            action_kind: self.action_kind,
            action_hash: self.action_hash,
            session_active: self.session_active,
            capabilities_present: self.capabilities_present,
            capabilities_allowed: self.capabilities_allowed,
            evidence_kinds: self.evidence_kinds,
            approval_present: self.approval_present,
            approval_valid: self.approval_valid,
            approval_unexpired: self.approval_unexpired,
            approval_unused: self.approval_unused,
            warrant: self.warrant,
            evaluation_ts,
        }
    }
}

/// Evaluates a context under the policy in force: no action, no event.
#[derive(Debug, Clone, PartialEq)]
pub struct EvaluateContext(pub Facts);

/// Explains what the policy in force says about a context: no action, no event.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainContext(pub Facts);

impl Wire for EvaluateContext {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        Facts::read(json, reader).map(Self)
    }

    fn write(&self) -> Json<'static> {
        self.0.write()
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Facts::schema(definitions)
    }
}

impl Wire for ExplainContext {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        Facts::read(json, reader).map(Self)
    }

    fn write(&self) -> Json<'static> {
        self.0.write()
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Facts::schema(definitions)
    }
}

/// A trace as the kernel wrote it.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceReply(pub Json<'static>);

impl Wire for TraceReply {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        TraceDocument::read(json, reader)?;
        Some(Self(json.clone().into_owned()))
    }

    fn write(&self) -> Json<'static> {
        self.0.clone()
    }

    fn spell(&self, out: &mut String) {
        self.0.write_canonical(out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        TraceDocument::schema(definitions)
    }
}

impl Endpoint for EvaluateContext {
    type Reply = TraceReply;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        ..Route::post("/v1/policy/eval", ANYBODY, "Say what the policy in force decides about a context")
    };

    fn decision_code(reply: &TraceReply) -> Option<&str> {
        reply.0.get("decision_code").and_then(Json::as_str)
    }

    fn ask(self, _: &Caller) -> Result<Asked<TraceReply>, ServiceError> {
        let context = self.0.at(clock::now()?);
        Ok(Asked::Consideration(Box::new(move |version| {
            Ok(TraceReply(version.policy.trace_context(&context).to_json()))
        })))
    }
}

impl Endpoint for ExplainContext {
    type Reply = Object<'static>;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        ..Route::post(
            "/v1/policy/explain",
            ANYBODY,
            "Explain what the policy in force decides about a context",
        )
    };

    fn decision_code<'r>(reply: &'r Object<'static>) -> Option<&'r str> {
        reply.get("decision_code").and_then(Json::as_str)
    }

    fn ask(self, _: &Caller) -> Result<Asked<Object<'static>>, ServiceError> {
        let context = self.0.at(clock::now()?);
        Ok(Asked::Consideration(Box::new(move |version| object(version.policy.explain(&context).to_json()))))
    }
}

fn object(json: Json<'static>) -> Result<Object<'static>, ServiceError> {
    match json.value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ServiceError::defect("a document is not an object"))
        }
    }
}

record! {
    /// Checks a policy without putting it in force.
    pub struct ValidatePolicy {
        /// The rules.
        policy: Object<'static>,
    }
}

record! {
    /// What is wrong with a policy.
    pub struct PolicyReport {
        /// Whether nothing is.
        valid: bool,
        /// Its hash, if nothing is.
        policy_hash: Option<PolicyHash>,
        /// Every problem, in document order.
        issues: Vec<Object<'static>>,
    }
}

impl Endpoint for ValidatePolicy {
    type Reply = PolicyReport;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        ..Route::post("/v1/policy/validate", ANYBODY, "Check a policy without putting it in force")
    };

    fn ask(self, _: &Caller) -> Result<Asked<PolicyReport>, ServiceError> {
        Ok(Asked::question(move |_| {
            let text = Json::from(Value::Object(self.policy)).to_canonical();
            match Policy::load(text.as_bytes()) {
                Ok(policy) => {
                    Ok(PolicyReport { valid: true, policy_hash: Some(*policy.hash()), issues: Vec::new() })
                }
                Err(issues) => {
                    let issues = issues.iter().map(|issue: &Issue| object(issue.to_json()));
                    Ok(PolicyReport {
                        valid: false,
                        policy_hash: None,
                        issues: issues.collect::<Result<_, _>>()?,
                    })
                }
            }
        }))
    }
}

record! {
    /// Lists which policy was in force when, by whom.
    pub struct ListActivations {}
}

record! {
    /// That a policy version came into force.
    pub struct ActivationView {
        /// The how manieth activation this is.
        number: VersionNumber,
        /// What came into force.
        version: VersionNumber,
        /// The hash of its rules.
        policy_hash: PolicyHash,
        /// When.
        activated_at: Timestamp,
        /// By whom.
        activated_by: Principal,
    }
}

record! {
    /// Which policy was in force when, by whom; the last one is in force.
    pub struct PolicyHistory {
        /// Every activation.
        activations: Vec<ActivationView>,
    }
}

impl ActivationView {
    fn new(activation: Activation, policy_hash: PolicyHash) -> Self {
        let Activation { number, version, activated_at, activated_by } = activation;
        Self { number, version, policy_hash, activated_at, activated_by }
    }
}

impl Endpoint for ListActivations {
    type Reply = PolicyHistory;
    const ROUTE: Route =
        Route::get("/v1/policy/history", ANYBODY, "List which policy was in force when, by whom");

    fn ask(self, _: &Caller) -> Result<Asked<PolicyHistory>, ServiceError> {
        Ok(Asked::question(|node| {
            let versions = node.store().policy_versions()?;
            let view = |activation: Activation| {
                let version = versions.iter().find(|version| version.version == activation.version);
                let version = version.ok_or_else(|| ServiceError::defect("an activation has no version"))?;
                Ok(ActivationView::new(activation, version.policy_hash))
            };
            let activations =
                node.store().activations()?.into_iter().map(view).collect::<Result<_, ServiceError>>();
            Ok(PolicyHistory { activations: activations? })
        }))
    }
}

record! {
    /// Puts a policy in force that is in the local policy folder or was in force before; no document is taken.
    pub struct ActivatePolicy {
        /// The hash of its rules; whatever is in the folder if left out.
        policy_hash: Option<PolicyHash>,
    }
}

impl Endpoint for ActivatePolicy {
    type Reply = Activation;
    const ROUTE: Route =
        Route::post("/v1/policy/activate", ADMINS, "Put a policy of the policy folder in force");

    fn ask(self, caller: &Caller) -> Result<Asked<Activation>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| node.activate_local(&caller, self.policy_hash.as_ref())))
    }
}

record! {
    /// Puts an earlier policy version back in force.
    pub struct RollBackPolicy {
        /// Its number.
        version: VersionNumber,
    }
}

impl Endpoint for RollBackPolicy {
    type Reply = Activation;
    const ROUTE: Route =
        Route::post("/v1/policy/rollback", ADMINS, "Put an earlier policy version back in force");

    fn ask(self, _: &Caller) -> Result<Asked<Activation>, ServiceError> {
        Ok(Asked::change(Command::RollBack(self.version), activation_of))
    }
}

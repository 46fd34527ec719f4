//! Decisions: may this action proceed, and why.

use countersign_canon::{
    Definitions, Json, List, Object, Reader, Text, Value, Wire, record, schema_document,
};
use countersign_ledger::{Decided, DecisionId, DecisionRecord, Executor, PendingApproval, PermitDocument};
use countersign_policy::{
    ActionKind, ApprovalId, EvidenceRef, ProbeFacts, SessionId, TraceDocument, Warrant,
};
use countersign_store::{FreshIds, Proceed, Refusal};

use super::{AGENTS, ANYBODY, Asked, Endpoint, READERS, Route, own_or_missing};
use crate::{Ask, Caller, Decision, ServiceError, clock};

record! {
    /// Asks whether an action may proceed. The time is the service's to give.
    pub struct DecideAction {
        /// The session it belongs to.
        session_id: Option<SessionId>,
        /// The run it belongs to, instead.
        run_id: Option<SessionId>,
        /// Its kind.
        action_kind: ActionKind,
        /// Its payload.
        action_payload: Json<'static>,
        /// The approval that comes with it.
        approval_id: Option<ApprovalId>,
        /// The evidence that comes with it.
        evidence_refs: Option<List<EvidenceRef, 0, 100>>,
        /// How well founded its claim is.
        warrant: Option<Warrant>,
        /// What a probe found about the client; without it nothing counts as found.
        probe: Option<ProbeFacts>,
        /// Whether it begins at once if it is allowed.
        proceed: bool,
        /// The name under which a lost answer is found again.
        client_request_id: Option<Text<1, 128>>,
    }
    also session_or_run
}

/// An action belongs to a session or to a run, not to both.
fn session_or_run() -> [(&'static str, Json<'static>); 1] {
    let both = Json::object([("required", Json::array(["session_id", "run_id"]))]);
    [("not", both)]
}

impl From<Ask> for DecideAction {
    fn from(ask: Ask) -> Self {
        Self {
            session_id: ask.session_id,
            run_id: None,
            action_kind: ask.action_kind,
            action_payload: ask.action_payload,
            approval_id: ask.approval_id,
            evidence_refs: List::new(ask.evidence_refs),
            warrant: ask.warrant,
            probe: ask.probe,
            proceed: ask.proceed == Proceed::Begin,
            client_request_id: ask.client_request_id,
        }
    }
}

impl Endpoint for DecideAction {
    type Reply = DecisionReply;
    const ROUTE: Route = Route::post("/v1/decisions", AGENTS, "Decide whether an action may proceed");

    fn decision_code(reply: &DecisionReply) -> Option<&str> {
        Some(reply.code())
    }

    fn ask(self, _: &Caller) -> Result<Asked<DecisionReply>, ServiceError> {
        if self.session_id.is_some() && self.run_id.is_some() {
            let message = "an action belongs to a session or to a run, not to both".to_owned();
            return Err(Refusal::Invalid { message }.into());
        }
        let ask = Ask {
            session_id: self.session_id.or(self.run_id),
            action_kind: self.action_kind,
            action_payload: self.action_payload,
            approval_id: self.approval_id,
            evidence_refs: self.evidence_refs.map(List::into_vec).unwrap_or_default(),
            warrant: self.warrant,
            probe: self.probe,
            proceed: if self.proceed { Proceed::Begin } else { Proceed::Ask },
            client_request_id: self.client_request_id,
            executor: Executor::Reporting,
        };
        Ok(Asked::change(ask.into_command(FreshIds::make(clock::now()?)?), |answer| {
            Decision::from_answer(answer).map(DecisionReply::from)
        }))
    }
}

record! {
    /// What came of a decision, beside its trace.
    pub struct Outcome {
        /// The decision.
        decision_id: DecisionId,
        /// Why it came out so, in one sentence.
        reason: String,
        /// The permit, if the action may begin now.
        permit: Option<PermitDocument>,
        /// What an approval was asked for with, if one is needed.
        pending_approval: Option<PendingApproval>,
        /// The signed end of the log that holds the decision: for the caller to keep.
        checkpoint: Option<String>,
        /// Whether this is the answer to an earlier request with the same name.
        idempotent_replay: bool,
    }
}

/// The answer to a question about an action: the fields of the trace and those of the outcome, side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionReply {
    /// What came of it.
    pub outcome: Outcome,
    /// What was decided, and why.
    pub trace: Object<'static>,
}

impl From<Decision> for DecisionReply {
    fn from(decision: Decision) -> Self {
        let Decision { decided, permit: _, checkpoint, is_replay } = decision;
        let Decided { decision_id, reason, trace, permit, pending_approval } = decided;
        let outcome = Outcome {
            decision_id,
            reason,
            permit,
            pending_approval,
            checkpoint: checkpoint.map(|note| note.as_str().to_owned()),
            idempotent_replay: is_replay,
        };
        Self { outcome, trace }
    }
}

impl DecisionReply {
    /// The code of the decision.
    #[must_use]
    pub fn code(&self) -> &str {
        self.trace.get("decision_code").and_then(Json::as_str).unwrap_or_default()
    }

    /// Whether the action is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.trace.get("decision").and_then(Json::as_str) == Some("allow")
    }

    /// Whether only a person's approval is missing.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        self.code() == countersign_policy::codes::URM_APPROVAL_REQUIRED.as_str()
    }
}

/// The members of an object, as pairs.
fn members(json: &Json<'_>) -> Vec<(String, Json<'static>)> {
    let members = json.as_object().map_or(&[][..], |object| object.members());
    members.iter().map(|member| (member.key.to_string(), member.value.clone().into_owned())).collect()
}

/// The declaration of a document's own object, out of its schema.
fn declaration<T: Wire>(name: &str) -> Json<'static> {
    let document = schema_document::<T>("", "");
    document.get("$defs").and_then(|all| all.get(name)).cloned().unwrap_or_else(|| Json::from(true))
}

impl Wire for DecisionReply {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.object(json)?;
        let own = declaration::<Outcome>("Outcome");
        let is_own = |key: &str| own.get("properties").is_some_and(|fields| fields.get(key).is_some());
        let (outcome, trace): (Vec<_>, Vec<_>) = members(json).into_iter().partition(|(key, _)| is_own(key));
        let outcome = Outcome::read(&Json::object(outcome), reader)?;
        let trace = Json::object(trace);
        TraceDocument::read(&trace, reader)?;
        Some(Self { outcome, trace: Object::read(&trace, reader)? })
    }

    fn write(&self) -> Json<'static> {
        let trace = members(&Json::from(Value::Object(self.trace.clone())));
        Json::object(trace.into_iter().chain(members(&self.outcome.write())))
    }

    fn spell(&self, out: &mut String) {
        match self.outcome.write().value {
            Value::Object(outcome) => self.trace.write_canonical_with(&outcome, out),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.trace.write_canonical(out);
            }
        }
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        // What the two refer to is defined on the way.
        let _references = (TraceDocument::schema(definitions), Outcome::schema(definitions));
        definitions.define("DecisionReply", |_| {
            let parts = [declaration::<TraceDocument>("TraceDocument"), declaration::<Outcome>("Outcome")];
            let list = |key: &str| {
                let lists = parts.iter().filter_map(|part| part.get(key)?.as_array());
                Json::array(lists.flatten().cloned())
            };
            let fields = parts.iter().filter_map(|part| part.get("properties")).flat_map(members);
            Json::object([
                ("type", Json::from("object")),
                ("description", Json::from("A decision: what was decided and why, and what came of it.")),
                ("additionalProperties", Json::from(false)),
                ("required", list("required")),
                ("properties", Json::object(fields)),
            ])
        })
    }
}

record! {
    /// Shows a stored decision, with everything it was made from.
    pub struct GetDecision {
        /// The decision.
        decision_id: DecisionId,
    }
}

impl Endpoint for GetDecision {
    type Reply = DecisionRecord;
    const ROUTE: Route = Route::get("/v1/decisions/{decision_id}", ANYBODY, "Show a stored decision");

    fn ask(self, caller: &Caller) -> Result<Asked<DecisionRecord>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let (found, id) = (node.store().decision(&self.decision_id)?, self.decision_id.as_str());
            own_or_missing(&caller, found, |record| record.principal == caller.principal, ("decision", id))
        }))
    }
}

record! {
    /// Decides a stored decision again, from its own facts and policy.
    pub struct ReplayDecision {
        /// The decision.
        decision_id: DecisionId,
    }
}

record! {
    /// What came of deciding again.
    pub struct Replayed {
        /// Whether the bytes are the same.
        same: bool,
        /// What differs, in words.
        finding: String,
        /// The stored trace.
        trace: Object<'static>,
    }
}

impl Endpoint for ReplayDecision {
    type Reply = Replayed;
    const ROUTE: Route =
        Route::get("/v1/decisions/{decision_id}/replay", READERS, "Decide a stored decision again");

    fn ask(self, _: &Caller) -> Result<Asked<Replayed>, ServiceError> {
        Ok(Asked::question(move |node| {
            let (record, same) = node.redecide(&self.decision_id)?;
            let finding = same.clone().err().unwrap_or_else(|| "the same bytes".to_owned());
            Ok(Replayed { same: same.is_ok(), finding, trace: record.trace })
        }))
    }
}

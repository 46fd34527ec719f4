//! A decision, and with it, in the same transaction, everything that follows from it (K2.1 step 7).

use countersign_canon::{Json, Sha256, Text, Timestamp, Value, Wire as _, Within};
use countersign_ledger::{
    Approval, ApprovalRequest, Decided, DecisionRecord, EvaluationEnded, EvaluationStarted, EventKind,
    Execution, ExecutionState, Executor, LoadedVersion, NewEvent, OutcomeStatus, PendingApproval,
    PendingCode, PermitDocument, Requirement, Session, SessionState, begin, detail,
};
use countersign_policy::{
    Authorization, Decision, Evaluation, EvidenceRef, Gate, NameSet, ProbeFacts, ProbeSchema,
    ProvidedApproval, Request, SessionFacts, TraceVersion, action_hash, authorize, codes as policy_codes,
    deciding_rule,
};

use super::{Made, session::mode_of};
use crate::{
    StoreError,
    batch::StoredReply,
    request::{CallError, Decide, Origin, Proceed, Refusal},
    shelf::{Kept, read_body, read_rows},
    working::{Working, object_of},
};

/// The one kind of action that the store carries out itself.
const SET_MODE: &str = "session.set_mode";

/// What is known when the decision has been made and nothing changed yet.
struct Asked<'a> {
    origin: &'a Origin,
    decide: &'a Decide,
    session: Option<Session>,
    approval: Option<Approval>,
    now: Timestamp,
}

impl Asked<'_> {
    /// An event about it.
    fn event<D>(&self, kind: EventKind, detail: D) -> NewEvent<D> {
        self.origin.event(kind, self.session.as_ref(), self.now, detail)
    }
}

impl Working<'_> {
    /// Decides an action, records the decision and lets the action begin if it may.
    pub(super) fn decide(
        &mut self,
        origin: &Origin,
        decide: &Decide,
        now: Timestamp,
    ) -> Result<(Decided, Made), CallError> {
        let named = reply_key(origin, decide).map(|key| (key, decide.payload_hash()));
        if let Some((key, payload_hash)) = &named
            && let Some(stored) = self.reply(key)
        {
            return replay(decide, stored, *payload_hash == stored.payload_hash);
        }
        let session = match &decide.session_id {
            Some(id) => Some(self.own_session(origin, id)?),
            None => None,
        };
        let approval = match &decide.approval_id {
            Some(id) => self.batch.approvals.get(self.sql, id.as_str())?,
            None => None,
        };
        let version = self.batch.loaded.clone().ok_or(Refusal::PolicyNotLoaded)?;
        let asked = Asked { origin, decide, session, approval, now };
        let request = self.request(&asked)?;
        let mut authorization = authorize(version.in_force(), &request, now);
        // After the decision, so that no proof can be a reason for one.
        let attached = authorization.trace.attach(self.proof_refs(version.version)?);
        let decided = self.record(&asked, &request, &version, &authorization, attached)?;
        if let Some((key, payload_hash)) = named {
            self.keep_reply(key, payload_hash, decided.to_canonical());
        }
        Ok((decided, Made::Now))
    }

    /// The facts as the transaction sees them.
    fn request(&mut self, asked: &Asked<'_>) -> Result<Request, CallError> {
        let Decide { action_kind, action_payload, approval_id, evidence_refs, warrant, probe, .. } =
            asked.decide;
        let approval = match (&asked.approval, approval_id) {
            (Some(approval), _) => ProvidedApproval::Record(self.record_of(approval)?),
            (None, Some(_)) => ProvidedApproval::Unknown,
            (None, None) => ProvidedApproval::NotProvided,
        };
        let session = asked.session.as_ref().map_or_else(SessionFacts::nobody, |session| SessionFacts {
            session_id: Some(session.session_id.clone()),
            role: Some(session.role.clone()),
            mode: session.mode,
            active: session.state == SessionState::Active,
        });
        Ok(Request {
            action_kind: action_kind.clone(),
            action_hash: action_hash(action_kind, action_payload),
            session,
            probe: match probe {
                Some(probe) => probe.clone(),
                None => nothing_found(asked.session.as_ref())?,
            },
            approval,
            evidence_refs: evidence_refs.clone(),
            warrant: *warrant,
        })
    }

    /// Everything that follows from the decision. What can be refused is refused before the first change.
    fn record(
        &mut self,
        asked: &Asked<'_>,
        request: &Request,
        version: &LoadedVersion,
        authorization: &Authorization<'_>,
        attached: Vec<EvidenceRef>,
    ) -> Result<Decided, CallError> {
        let is_begun = authorization.is_allowed() && asked.decide.proceed == Proceed::Begin;
        let begun = if is_begun { Some(begun(asked, request, authorization)?) } else { None };
        let is_set_mode = asked.decide.action_kind.as_str() == SET_MODE;
        let new_mode =
            if begun.is_some() && is_set_mode { Some(mode_of(&asked.decide.action_payload)?) } else { None };
        if let (Some(_), Some(session)) = (&begun, &asked.session)
            && session.state == SessionState::Stopped
        {
            return Err(Refusal::SessionStopped(session.session_id.clone()).into());
        }
        let pending = self.pending_approval(asked, request, authorization)?;
        let record = record_of(asked, request, version, authorization, begun.as_ref(), pending.as_ref());
        let attached_refs = (!attached.is_empty()).then_some(attached);
        let record = DecisionRecord { attached_refs, ..record };
        self.keep_probe(&request.probe);
        self.emit_decision(asked, authorization, &record)?;
        if let Some((approval, true)) = &pending {
            self.ask_for(asked, approval)?;
        }
        if let Some((consumed, execution)) = &begun {
            self.begin(asked, consumed.as_ref(), execution, new_mode)?;
        }
        Ok(Decided {
            decision_id: record.decision_id,
            reason: reason(request, authorization),
            trace: record.trace,
            permit: begun.map(|(_, execution)| PermitDocument {
                permit_id: execution.permit_id,
                action_hash: execution.action_hash,
                expires_at: execution.expires_at,
            }),
            pending_approval: pending.map(|(approval, _)| PendingApproval {
                command: approval.command(),
                approval_id: approval.approval_id,
            }),
        })
    }

    /// Appends START, then PASS or DENIED with the hash of the record, then advice; keeps the record.
    fn emit_decision(
        &mut self,
        asked: &Asked<'_>,
        authorization: &Authorization<'_>,
        record: &DecisionRecord,
    ) -> Result<(), CallError> {
        let trace = &authorization.trace;
        let body = record.to_canonical();
        let started = EvaluationStarted {
            decision_id: record.decision_id.clone(),
            policy_hash: record.policy_hash,
            decision_code: PendingCode::Pending,
            matched_rule_ids: Vec::new(),
        };
        self.emit(&asked.event(EventKind::PolicyEvalStart, started))?;
        let Evaluation { decision, decision_code, gate, required_approval, matched, .. } = &trace.evaluation;
        let kind = match decision {
            Decision::Allow => EventKind::PolicyEvalPass,
            Decision::Deny => EventKind::PolicyDenied,
        };
        let ended = EvaluationEnded {
            decision_id: record.decision_id.clone(),
            decision_hash: Sha256::of(body.as_bytes()),
            policy_version: record.policy_version,
            policy_hash: record.policy_hash,
            decision_code: (*decision_code).to_owned(),
            matched_rule_ids: matched.iter().map(|rule| rule.rule_id.clone()).collect(),
            action_kind: record.context.action_kind.clone(),
            action_hash: record.context.action_hash,
            input_context_hash: trace.input_context_hash,
            required_approval: *required_approval,
            gate: Within::clamped(i64::from(gate.number())),
        };
        let log_index = self.batch.head.frontier.size();
        self.emit(&asked.event(kind, ended))?;
        for advisory in record.trace.get("advisories").and_then(Json::as_array).unwrap_or_default() {
            self.emit(&asked.event(EventKind::Advisory, object_of(advisory)))?;
        }
        self.keep_decision(record, body, log_index)?;
        Ok(())
    }

    /// The request for an approval that this denial makes or finds, and whether it is new.
    fn pending_approval(
        &mut self,
        asked: &Asked<'_>,
        request: &Request,
        authorization: &Authorization<'_>,
    ) -> Result<Option<(Approval, bool)>, CallError> {
        let (Some(session), Some(need)) = (&asked.session, &authorization.approval_need) else {
            return Ok(None);
        };
        if authorization.trace.evaluation.gate != Gate::ApprovalRequired {
            return Ok(None);
        }
        let query =
            "SELECT body FROM approval WHERE session_id = $1 AND action_hash = $2 AND state = 'pending'
            ORDER BY approval_id";
        let cells = [session.session_id.as_str().into(), request.action_hash.to_string().into()];
        let stored: Vec<Approval> = read_rows(&self.sql.query(query, &cells)?)?;
        let ids: Vec<&str> = stored.iter().map(|approval| approval.approval_id.as_str()).collect();
        self.batch.approvals.load(self.sql, &ids)?;
        let is_it = |approval: &&Approval| {
            approval.session_id == session.session_id
                && approval.action_hash == request.action_hash
                && approval.state == countersign_policy::ApprovalState::Pending
                && asked.now <= approval.expires_at
                // One that was asked for when fewer had to agree would be granted in vain.
                && approval.quorum.covers(need)
        };
        if let Some(found) = self.batch.approvals.values().find(is_it) {
            return Ok(Some((found.clone(), false)));
        }
        let new = ApprovalRequest {
            approval_id: asked.decide.fresh.approval_id.clone(),
            session_id: session.session_id.clone(),
            action_kind: request.action_kind.clone(),
            action_hash: request.action_hash,
            requester: asked.origin.principal.clone(),
            decision_id: asked.decide.fresh.decision_id.clone(),
            quorum: need.clone(),
        };
        Ok(Some((Approval::request(new, asked.now)?, true)))
    }

    /// Keeps a new request, and the action as its reviewers will want to see it.
    fn ask_for(&mut self, asked: &Asked<'_>, approval: &Approval) -> Result<(), CallError> {
        let action = Json::object([
            ("action_kind", approval.action_kind.write()),
            ("action_payload", asked.decide.action_payload.clone()),
        ]);
        self.keep(Kept::Action, approval.action_hash.to_string(), action.to_canonical());
        self.batch.approvals.put(approval.clone());
        self.emit_approval(asked.origin, EventKind::ApprovalRequested, approval, asked.now)
    }

    /// Uses up the approval, begins the execution, and carries out what the store does itself.
    fn begin(
        &mut self,
        asked: &Asked<'_>,
        consumed: Option<&Approval>,
        execution: &Execution,
        new_mode: Option<countersign_policy::Mode>,
    ) -> Result<(), CallError> {
        let Asked { origin, now, .. } = *asked;
        if let Some(consumed) = consumed {
            self.batch.approvals.put(consumed.clone());
            self.emit_approval(origin, EventKind::ApprovalConsumed, consumed, now)?;
        }
        self.emit_execution(origin, EventKind::ExecutionStarted, execution, now)?;
        let mut execution = execution.clone();
        if let (Some(mode), Some(session)) = (new_mode, &asked.session) {
            let changed = Session { mode, ..session.clone() };
            self.batch.sessions.put(changed.clone());
            let members =
                [("from", session.mode.write()), ("to", mode.write()), ("by", origin.principal.write())];
            self.emit(&origin.event(EventKind::ModeChanged, Some(&changed), now, detail(members)))?;
            let said =
                countersign_canon::Text::new(String::new()).ok_or_else(|| StoreError::corrupt("no text"))?;
            execution = execution.finish(OutcomeStatus::Succeeded, said, now)?;
            self.emit_execution(origin, EventKind::ExecutionFinished, &execution, now)?;
        }
        self.batch.executions.put(execution);
        Ok(())
    }
}

/// Probe facts for a client that nobody has probed: nothing was found.
fn nothing_found(session: Option<&Session>) -> Result<ProbeFacts, CallError> {
    let client = match session {
        Some(session) => session.client.clone(),
        None => Text::new("unknown".to_owned()).ok_or_else(|| StoreError::corrupt("no text"))?,
    };
    Ok(ProbeFacts { schema: ProbeSchema::V1, client, facts: NameSet::default() })
}

/// Why it came out so, in one sentence: the words of the rule that decided, or what the code means.
fn reason(request: &Request, authorization: &Authorization<'_>) -> String {
    let evaluation = &authorization.trace.evaluation;
    let code = evaluation.decision_code;
    if let (Gate::ApprovalRequired, ProvidedApproval::Record(record), Some(need)) =
        (evaluation.gate, &request.approval, &authorization.approval_need)
        && let Some(quorum) = &record.quorum
    {
        let (id, given, needed) = (&record.approval_id, quorum.in_words(), need.in_words());
        return format!("{needed} must agree to this now, and approval {id} was asked of {given}");
    }
    if let Some(rule) = deciding_rule(evaluation.gate, evaluation.matched.iter()) {
        return rule.message.clone();
    }
    let meaning = policy_codes::ALL.iter().find(|entry| entry.code.as_str() == code);
    meaning.map_or_else(|| code.to_owned(), |entry| entry.meaning.to_owned())
}

/// The name under which this request's answer is kept.
pub(crate) fn reply_key(origin: &Origin, decide: &Decide) -> Option<String> {
    let id = decide.client_request_id.as_ref()?;
    let name = Json::array([origin.principal.write(), origin.endpoint.write(), id.write()]);
    // As a hash: the client may put any character in its part of the name, and not every database takes all of them.
    Some(Sha256::of_json(&name).to_string())
}

fn replay(decide: &Decide, stored: &StoredReply, is_same: bool) -> Result<(Decided, Made), CallError> {
    if !is_same {
        let id = decide.client_request_id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned());
        return Err(Refusal::IdempotencyConflict(id).into());
    }
    Ok((read_body(&stored.body)?, Made::Before(stored.checkpoint)))
}

/// Step 7 of the protocol: the approval that is used up, if one is required, and the execution that begins.
fn begun(
    asked: &Asked<'_>,
    request: &Request,
    authorization: &Authorization<'_>,
) -> Result<(Option<Approval>, Execution), CallError> {
    let needs_one = authorization.trace.evaluation.required_approval;
    let brought = asked.approval.as_ref();
    let requirement =
        if needs_one { Requirement::Approval(brought.map(Approval::step)) } else { Requirement::None };
    let (step, execution) = begin(requirement, asked.decide.executor, asked.now)?;
    let permit_id = &asked.decide.fresh.permit_id;
    let consumed = step.zip(brought).map(|(step, approval)| approval.consumed(step, permit_id, asked.now));
    let execution = Execution {
        permit_id: permit_id.clone(),
        decision_id: asked.decide.fresh.decision_id.clone(),
        session_id: request.session.session_id.clone(),
        action_hash: request.action_hash,
        approval_id: consumed.as_ref().map(|approval| approval.approval_id.clone()),
        state: ExecutionState::Begun,
        begun_at: execution.begun_at,
        expires_at: execution.expires_at,
        // What nobody says anything else about reports: so it was before anybody could say.
        executor: Some(execution.executor).filter(|executor| *executor == Executor::Silent),
        ended_at: None,
        detail: None,
    };
    Ok((consumed, execution))
}

fn record_of(
    asked: &Asked<'_>,
    request: &Request,
    version: &LoadedVersion,
    authorization: &Authorization<'_>,
    begun: Option<&(Option<Approval>, Execution)>,
    pending: Option<&(Approval, bool)>,
) -> DecisionRecord {
    let approval = match &request.approval {
        ProvidedApproval::Record(record) => Some(record.clone()),
        ProvidedApproval::Unknown | ProvidedApproval::NotProvided => None,
    };
    DecisionRecord {
        decision_id: asked.decide.fresh.decision_id.clone(),
        principal: asked.origin.principal.clone(),
        endpoint: asked.origin.endpoint.clone(),
        session_id: request.session.session_id.clone(),
        proceed: asked.decide.proceed == Proceed::Begin,
        policy_version: version.version,
        policy_hash: *authorization.trace.policy_hash(),
        trace_version: TraceVersion::V1,
        approval_provided: asked.decide.approval_id.is_some(),
        approval,
        context: authorization.context.clone(),
        trace: match authorization.trace.to_json().value {
            Value::Object(trace) => trace,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                countersign_canon::Object::default()
            }
        },
        attached_refs: None,
        permit_id: begun.map(|(_, execution)| execution.permit_id.clone()),
        pending_approval_id: pending.map(|(approval, _)| approval.approval_id.clone()),
    }
}

//! Calls of a host's tools: a host's session is one of ours, and each of its calls has at most one permit.
//!
//! Hosts say which session and which call they mean by names of their own. The ids of our session and of the permit are
//! made from those names, so that a later report finds the permit without anybody keeping a list, and a call that comes
//! twice under one name begins at most once.

use countersign_canon::{Json, Object, Sha256, Text};
use countersign_ledger::{
    Access, Approval, Decided, EventKind, Executor, OutcomeStatus, PermitId, Session, SessionKind,
    SessionState, StreamId,
};
use countersign_policy::{
    ApprovalId, Authorization, Decision as Verdict, Gate, Mode, NameSet, ProbeFacts, ProbeSchema,
    ProvidedApproval, QuorumRule, Request, Role, SessionFacts, SessionId, action_hash, authorize,
};
use countersign_store::{FreshIds, Refusal};

use crate::{
    Ask, Caller, Decision, NewSession, Node, ServiceError, api::CallReply, caller::text, clock, note::Note,
};

/// The role that an agent at a person's side acts in.
const ROLE: &str = "copilot";

/// A call of a tool, by the names that its host has for it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCall {
    /// The session that it belongs to.
    pub session: SessionId,
    /// The name of the call, if the host gives it one.
    pub call: Option<String>,
}

/// What would be decided about an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// The code.
    pub decision_code: String,
    /// Whether it would be allowed.
    pub is_allowed: bool,
    /// Whether only a person's approval is missing.
    pub needs_approval: bool,
    /// Whose approval, if one is required.
    pub approval_need: Option<QuorumRule>,
}

impl HostCall {
    /// The permit of this call, if it has a name.
    fn permit(&self) -> Result<Option<PermitId>, ServiceError> {
        let id = |call: &String| {
            let id = name_of("per_", &[self.session.as_str(), call]);
            PermitId::parse(&id).map_err(|issue| ServiceError::defect(issue.to_string()))
        };
        self.call.as_ref().map(id).transpose()
    }
}

impl Node {
    /// The session that a client knows by this name; started now if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not start it, or the store cannot say.
    pub fn host_session(
        &self,
        caller: &Caller,
        new: NewSession,
        name: &str,
    ) -> Result<Session, ServiceError> {
        let id = name_of("ses_", &[new.client.as_str(), name]);
        let id = SessionId::parse(&id).map_err(|issue| ServiceError::defect(issue.to_string()))?;
        if let Some(session) = self.store().session(&id)? {
            return Ok(session);
        }
        match self.start_session_as(caller, id.clone(), new) {
            // Another call of the same session was first.
            Err(ServiceError::Refused(Refusal::Exists { .. })) => {
                let missing = || ServiceError::defect(format!("session `{id}` is there and is not"));
                self.store().session(&id)?.ok_or_else(missing)
            }
            started => started,
        }
    }

    /// A call by the names that its host has for it, in the session that the host's is; started now if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot say.
    pub(crate) fn host_call(
        &self,
        caller: &Caller,
        (client, mode): (&Text<1, 128>, Mode),
        session: &Text<1, 1000>,
        call: Option<&Text<1, 1000>>,
    ) -> Result<HostCall, ServiceError> {
        let role = Role::parse(ROLE).map_err(|issue| ServiceError::defect(issue.to_string()))?;
        // A session that may write is started by an admin: whoever set the workspace up has said so.
        let starter = match mode {
            Mode::WritesAllowed => Caller { access: Access::Admin, ..caller.clone() },
            Mode::ReadOnly => caller.clone(),
        };
        let new = NewSession { kind: SessionKind::Session, role, mode, client: client.clone() };
        let session = self.host_session(&starter, new, session.as_str())?.session_id;
        Ok(HostCall { session, call: call.map(|call| call.as_str().to_owned()) })
    }

    /// What a new session of a host may do that wants this, asked by this caller.
    pub(crate) fn host_mode(&self, caller: &Caller, wanted: Mode) -> Mode {
        let may_write = match (caller.access, &caller.credential) {
            (Access::Admin, _) => true,
            // A process of the service's own user: as the workspace is set up.
            (Access::Agent, None) => self.mode_of_hosts == Mode::WritesAllowed,
            (Access::Agent | Access::Approver | Access::Auditor, _) => false,
        };
        if may_write { wanted } else { Mode::ReadOnly }
    }

    /// Decides a host's call, lets it begin if it may, and says by which rule.
    ///
    /// # Errors
    ///
    /// Fails if nothing could be decided; then nothing may begin.
    pub fn answer_call(&self, caller: &Caller, call: &HostCall, ask: Ask) -> Result<CallReply, ServiceError> {
        let decision = self.decide_call(caller, call, ask)?;
        let may_begin = decision.is_allowed() && decision.permit.is_some();
        let rule = if may_begin { None } else { self.deciding_rule(&decision.decided)? };
        let decision_code = decision.code().to_owned();
        let Decided { decision_id, reason, pending_approval, .. } = decision.decided;
        Ok(CallReply { decision_id, decision_code, reason, rule, may_begin, pending_approval })
    }

    /// Decides a host's call and lets it begin if it may, with the oldest approval that a person granted for it.
    ///
    /// # Errors
    ///
    /// Fails if nothing could be decided, and if a call of this name has begun already; then nothing may begin.
    pub fn decide_call(&self, caller: &Caller, call: &HostCall, ask: Ask) -> Result<Decision, ServiceError> {
        let (fresh, executor) = match call.permit()? {
            // A call without a name is one that no later report can be about.
            None => (FreshIds::make(clock::now()?)?, Executor::Silent),
            Some(permit_id) => {
                if self.store().execution(&permit_id)?.is_some() {
                    return Err(Refusal::Exists { what: "permit", id: permit_id.to_string() }.into());
                }
                (FreshIds { permit_id, ..FreshIds::make(clock::now()?)? }, Executor::Reporting)
            }
        };
        let approval_id = self.granted_approval(&call.session, &ask)?;
        let ask = Ask { approval_id, executor, ..ask.in_session(&call.session).to_begin() };
        self.decide_as(caller, ask, fresh)
    }

    /// Keeps what a probe of a client found, as an event of the log.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot keep it.
    pub fn note_capabilities(&self, caller: &Caller, found: &Json<'static>) -> Result<(), ServiceError> {
        let found = found.as_object().cloned().unwrap_or_default();
        self.note(caller, "/v1/probes", EventKind::CapabilitiesSnapshot, None, found)
    }

    /// Keeps what the runtime of a worker told about itself, as an event of its run.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot keep it.
    pub fn note_worker(
        &self,
        caller: &Caller,
        run: &Session,
        told: Object<'static>,
    ) -> Result<(), ServiceError> {
        self.note(caller, "/v1/workers", EventKind::WorkerEvent, Some(run), told)
    }

    /// Appends an event that stands for itself.
    fn note(
        &self,
        caller: &Caller,
        endpoint: &str,
        event: EventKind,
        run: Option<&Session>,
        detail: Object<'static>,
    ) -> Result<(), ServiceError> {
        let stream_id = run.map_or_else(|| StreamId::audit(None), Session::stream);
        self.append(caller, endpoint, Note { event, stream_id, run, ir_hash: None, detail }).map(drop)
    }

    /// What would be decided about an action as things are, without an approval. Nothing is recorded.
    ///
    /// # Errors
    ///
    /// Fails if no policy is in force, or the store cannot say.
    pub fn consider(&self, ask: Ask) -> Result<Considered, ServiceError> {
        let loaded = self.in_force()?;
        let session = match &ask.session_id {
            Some(id) => self.store().session(id)?,
            None => None,
        };
        let client = match &session {
            Some(session) => session.client.clone(),
            None => text("the client", "unknown")?,
        };
        let session = session.map_or_else(SessionFacts::nobody, |session| SessionFacts {
            session_id: Some(session.session_id),
            role: Some(session.role),
            mode: session.mode,
            active: session.state == SessionState::Active,
        });
        let nothing = || ProbeFacts { schema: ProbeSchema::V1, client, facts: NameSet::default() };
        let probe = ask.probe.unwrap_or_else(nothing);
        let request = Request {
            action_hash: action_hash(&ask.action_kind, &ask.action_payload),
            action_kind: ask.action_kind,
            session,
            probe,
            approval: ProvidedApproval::NotProvided,
            evidence_refs: ask.evidence_refs,
            warrant: ask.warrant,
        };
        let Authorization { trace, approval_need, context: _ } =
            authorize(loaded.in_force(), &request, clock::now()?);
        let evaluation = trace.evaluation;
        Ok(Considered {
            approval_need,
            decision_code: evaluation.decision_code.to_owned(),
            is_allowed: evaluation.decision == Verdict::Allow,
            needs_approval: evaluation.gate == Gate::ApprovalRequired,
        })
    }

    /// Notes how a host's call went; nothing if it never had a permit, or its outcome is known.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not say so, or the store cannot say.
    pub fn finish_call(
        &self,
        caller: &Caller,
        call: &HostCall,
        status: OutcomeStatus,
        detail: &str,
    ) -> Result<(), ServiceError> {
        let Some(permit) = call.permit()? else { return Ok(()) };
        let is_open = self.store().execution(&permit)?.is_some_and(|it| it.step().finish(status).is_ok());
        if is_open {
            self.finish(caller, &permit, status, Text::cut(detail))?;
        }
        Ok(())
    }

    /// The oldest granted approval for this action in this session that can still be used; rather one that is enough now
    /// than one from when fewer people had to agree.
    fn granted_approval(&self, session: &SessionId, ask: &Ask) -> Result<Option<ApprovalId>, ServiceError> {
        let now = clock::now()?;
        let action = action_hash(&ask.action_kind, &ask.action_payload);
        let mut granted = self.store().granted_approvals(session, &action)?;
        granted.retain(|approval| now <= approval.expires_at);
        let need = match granted.as_slice() {
            [] | [_] => None,
            [..] => self.consider(ask.clone().in_session(session))?.approval_need,
        };
        let is_short = |approval: &Approval| need.as_ref().is_some_and(|need| !approval.quorum.covers(need));
        let best = granted
            .iter()
            .min_by_key(|approval| (is_short(approval), approval.created_at, approval.approval_id.as_str()));
        Ok(best.map(|approval| approval.approval_id.clone()))
    }
}

/// An id made from names: the same names, the same id.
fn name_of(prefix: &str, names: &[&str]) -> String {
    let names = Json::array(names.iter().map(|name| Json::from((*name).to_owned())));
    let hash = Sha256::of_json(&names).to_string();
    format!("{prefix}{}", hash.get(..32).unwrap_or_default())
}

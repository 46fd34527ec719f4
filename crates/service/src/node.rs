//! The service in one process: a store with a policy in force, a clock, and fresh ids.

use std::path::PathBuf;

use countersign_canon::Text;
use countersign_ledger::{
    Approval, Execution, Grant, LogReport, OutcomeStatus, PermitId, Reason, Session, SignedCheckpoint,
};
use countersign_policy::{ApprovalId, NameSet, ProbeFacts, ProbeSchema, SessionId, shipped};
use countersign_store::{
    Answer, Call, Command, Decide, FreshIds, PolicyDocuments, Refusal, Reply, StartSession, Store,
    StoreOptions,
};

use crate::{Ask, Caller, Decision, NewSession, ServiceError, admin::policy_documents, caller::text, clock};

/// Where a node keeps what it knows.
#[derive(Debug, Clone)]
pub struct NodeOptions {
    /// The folder of the embedded store and of the key that signs the log.
    pub data: PathBuf,
    /// The address of a PostgreSQL database; nothing for the embedded one.
    pub database: Option<String>,
    /// The folder, outside the store, for the copy of the newest checkpoint.
    pub checkpoints: Option<PathBuf>,
}

/// The service in one process.
#[derive(Debug)]
pub struct Node {
    store: Store,
}

impl Node {
    /// Opens the store, and puts the built-in policy in force if none is.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, and if the clock or the disk cannot be used.
    pub fn open(options: &NodeOptions) -> Result<Self, ServiceError> {
        let NodeOptions { data, database, checkpoints } = options.clone();
        let options = StoreOptions { data, database, checkpoints, now: clock::now()? };
        let node = Self { store: Store::open(&options)? };
        if node.store.activations()?.is_empty() {
            node.activate_shipped(&Caller::owner("service")?)?;
        }
        Ok(node)
    }

    /// The store, for questions.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    /// Starts a session or a run.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not, or the store cannot say.
    pub fn start_session(&self, caller: &Caller, new: NewSession) -> Result<Session, ServiceError> {
        self.start_session_as(caller, FreshIds::session()?, new)
    }

    /// Starts a session or a run under this id.
    pub(crate) fn start_session_as(
        &self,
        caller: &Caller,
        session_id: SessionId,
        new: NewSession,
    ) -> Result<Session, ServiceError> {
        let NewSession { kind, role, mode, client } = new;
        let start = StartSession { session_id, kind, role, mode, client };
        session_of(self.call(caller, "/v1/sessions", Command::StartSession(start))?)
    }

    /// Ends a session.
    ///
    /// # Errors
    ///
    /// Fails if there is none, if the caller may not, or the store cannot say.
    pub fn stop_session(&self, caller: &Caller, id: &SessionId) -> Result<Session, ServiceError> {
        session_of(self.call(caller, "/v1/sessions/stop", Command::StopSession(id.clone()))?)
    }

    /// Decides an action, records the decision, and lets the action begin if it may and is to.
    ///
    /// # Errors
    ///
    /// Fails if nothing could be decided; then nothing may begin.
    pub fn decide(&self, caller: &Caller, ask: Ask) -> Result<Decision, ServiceError> {
        self.decide_as(caller, ask, FreshIds::make()?)
    }

    /// Decides an action; what the decision makes has these ids.
    pub(crate) fn decide_as(
        &self,
        caller: &Caller,
        ask: Ask,
        fresh: FreshIds,
    ) -> Result<Decision, ServiceError> {
        let probe = match ask.probe {
            Some(probe) => probe,
            None => self.nothing_found(ask.session_id.as_ref())?,
        };
        let decide = Decide {
            session_id: ask.session_id,
            action_kind: ask.action_kind,
            action_payload: ask.action_payload,
            approval_id: ask.approval_id,
            evidence_refs: ask.evidence_refs,
            warrant: ask.warrant,
            probe,
            proceed: ask.proceed,
            client_request_id: ask.client_request_id,
            fresh,
        };
        let answer = self.call(caller, "/v1/decisions", Command::Decide(Box::new(decide)))?;
        let Answer { reply, permit, checkpoint, is_replay } = answer;
        let Reply::Decided(decided) = reply else { return Err(unexpected(&reply)) };
        Ok(Decision { decided: *decided, permit, checkpoint, is_replay })
    }

    /// An approval.
    ///
    /// # Errors
    ///
    /// Fails if there is none under this id, or the store cannot say.
    pub fn approval(&self, id: &ApprovalId) -> Result<Approval, ServiceError> {
        let missing = || Refusal::NotFound { what: "approval", id: id.to_string() };
        Ok(self.store.approval(id)?.ok_or_else(missing)?)
    }

    /// Takes one person's signed yes.
    ///
    /// # Errors
    ///
    /// Fails if the request does not wait, if the caller may not answer it, and if the signature is not right.
    pub fn grant(&self, caller: &Caller, id: &ApprovalId, grant: Grant) -> Result<Approval, ServiceError> {
        let command = Command::Grant(id.clone(), Box::new(grant));
        approval_of(self.call(caller, "/v1/approvals/grant", command)?)
    }

    /// Takes one person's no.
    ///
    /// # Errors
    ///
    /// Fails if the request does not wait, or the caller may not answer it.
    pub fn deny(&self, caller: &Caller, id: &ApprovalId, reason: Reason) -> Result<Approval, ServiceError> {
        approval_of(self.call(caller, "/v1/approvals/deny", Command::Deny(id.clone(), reason))?)
    }

    /// Takes a granted approval back.
    ///
    /// # Errors
    ///
    /// Fails if it is not granted, or the caller may not take it back.
    pub fn revoke(&self, caller: &Caller, id: &ApprovalId) -> Result<Approval, ServiceError> {
        approval_of(self.call(caller, "/v1/approvals/revoke", Command::Revoke(id.clone()))?)
    }

    /// Notes how an execution went.
    ///
    /// # Errors
    ///
    /// Fails if there is no such permit, if that is known already, or the caller may not say so.
    pub fn finish(
        &self,
        caller: &Caller,
        permit: &PermitId,
        status: OutcomeStatus,
        detail: Text<0, 4000>,
    ) -> Result<Execution, ServiceError> {
        let command = Command::Finish(permit.clone(), status, detail);
        let reply = self.call(caller, "/v1/executions/outcome", command)?.reply;
        let Reply::Execution(execution) = reply else { return Err(unexpected(&reply)) };
        Ok(*execution)
    }

    /// Verifies the whole log, against these checkpoints from outside too.
    ///
    /// # Errors
    ///
    /// Fails with the first place at which the log is not what it should be.
    pub fn verify_log(&self, outside: &[SignedCheckpoint]) -> Result<LogReport, ServiceError> {
        Ok(self.store.verify_log(None, outside)?)
    }

    /// Carries out a command at this endpoint, now.
    pub(crate) fn call(
        &self,
        caller: &Caller,
        endpoint: &str,
        command: Command,
    ) -> Result<Answer, ServiceError> {
        let call = Call { origin: caller.origin(endpoint)?, now: clock::now()?, command };
        Ok(self.store.call(call)?)
    }

    /// Probe facts for a client that nobody has probed: nothing was found.
    pub(crate) fn nothing_found(&self, session: Option<&SessionId>) -> Result<ProbeFacts, ServiceError> {
        let session = match session {
            Some(id) => self.store.session(id)?,
            None => None,
        };
        let client = match session {
            Some(session) => session.client,
            None => text("the client", "unknown")?,
        };
        Ok(ProbeFacts { schema: ProbeSchema::V1, client, facts: NameSet::default() })
    }
}

/// The documents of the policy that is in force where nothing else is.
pub(crate) fn shipped_documents() -> Result<PolicyDocuments, ServiceError> {
    let shipped::Bundle { policy, lattice, allow } = shipped::STANDARD;
    policy_documents(policy, lattice, allow)
}

fn session_of(answer: Answer) -> Result<Session, ServiceError> {
    let Reply::Session(session) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(session)
}

fn approval_of(answer: Answer) -> Result<Approval, ServiceError> {
    let Reply::Approval(approval) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(*approval)
}

pub(crate) fn unexpected(reply: &Reply) -> ServiceError {
    ServiceError::defect(format!("the store answered with {reply:?}"))
}

//! The service in one process: a store with a policy in force, a clock, and fresh ids.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use countersign_canon::Text;
use countersign_ledger::{
    Activation, Approval, Execution, Grant, LoadedVersion, LogReport, OutcomeStatus, PermitId, Reason,
    Session, SignedCheckpoint, VersionNumber,
};
use countersign_policy::{ApprovalId, Mode, SessionId, shipped};
use countersign_store::{
    Answer, Call, Command, FreshIds, PolicyDocuments, Refusal, Reply, Store, StoreOptions,
};

use crate::{
    Ask, Caller, Decision, NewSession, ServiceError,
    admin::policy_documents,
    api::{Asked, Endpoint},
    clock,
    policies::Folder,
};

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

impl NodeOptions {
    fn of_store(&self) -> Result<StoreOptions, ServiceError> {
        let Self { data, database, checkpoints } = self.clone();
        Ok(StoreOptions { data, database, checkpoints, now: clock::now()? })
    }
}

/// For how long the policy that was in force last is taken for the one in force, where nothing hangs on it.
const KNOWN_FOR: Duration = Duration::from_secs(1);

/// The service in one process.
#[derive(Debug)]
pub struct Node {
    store: Store,
    policy_folder: PathBuf,
    policy_fault: Mutex<Option<String>>,
    in_force: Mutex<Option<(Arc<LoadedVersion>, Instant)>>,
    /// The policy folder as it was when it was found to be this version.
    pub(crate) checked: Mutex<Option<(Folder, VersionNumber)>>,
    pub(crate) mode_of_hosts: Mode,
}

impl Node {
    /// Opens the store, and puts a policy in force if none is: the one in `policy/` of the data folder, or the built-in one.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, and if the clock or the disk cannot be used.
    pub fn open(options: &NodeOptions) -> Result<Self, ServiceError> {
        Self::open_with_policy(options, options.data.join("policy"))
    }

    /// The same with another policy folder.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, and if the clock or the disk cannot be used.
    pub fn open_with_policy(options: &NodeOptions, policy_folder: PathBuf) -> Result<Self, ServiceError> {
        let node = Self::open_store(options, policy_folder)?;
        node.look_at_policies()?;
        Ok(node)
    }

    /// The same with a store that is there already, for whoever has questions about it.
    ///
    /// # Errors
    ///
    /// As [`Node::open`], and if there is none.
    pub fn open_existing(options: &NodeOptions) -> Result<Self, ServiceError> {
        let store = Store::open_existing(&options.of_store()?)?;
        let node = Self::on(store, options.data.join("policy"));
        node.look_at_policies()?;
        Ok(node)
    }

    /// Opens the store and looks at no policy: for whoever sees to that, as every call of an agent does.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, and if the clock cannot be used.
    pub fn open_store(options: &NodeOptions, policy_folder: PathBuf) -> Result<Self, ServiceError> {
        Ok(Self::on(Store::open(&options.of_store()?)?, policy_folder))
    }

    /// The same for a process that makes one call and ends: others may wait for its end.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, and if the clock cannot be used.
    pub fn open_store_briefly(options: &NodeOptions, policy_folder: PathBuf) -> Result<Self, ServiceError> {
        Ok(Self::on(Store::open_briefly(&options.of_store()?)?, policy_folder))
    }

    fn on(store: Store, policy_folder: PathBuf) -> Self {
        let (policy_fault, in_force, checked) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { store, policy_folder, policy_fault, in_force, checked, mode_of_hosts: Mode::ReadOnly }
    }

    /// The same, where new sessions of agents' hosts on this machine may do this.
    #[must_use]
    pub fn with_mode_of_hosts(self, mode: Mode) -> Self {
        Self { mode_of_hosts: mode, ..self }
    }

    /// The policy in force, as it was known at most a second ago: for what-if questions, never for decisions.
    ///
    /// # Errors
    ///
    /// Fails if none is in force, or the store cannot say.
    pub fn in_force(&self) -> Result<Arc<LoadedVersion>, ServiceError> {
        if let Some(known) = self.known_in_force() {
            return Ok(known);
        }
        let version = self.store.version_in_force()?.ok_or(Refusal::PolicyNotLoaded)?;
        let mut known = self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = match known.take() {
            Some((loaded, _)) if loaded.version == version.version => loaded,
            Some(_) | None => Arc::new(LoadedVersion::load(&version).map_err(ServiceError::defect)?),
        };
        *known = Some((Arc::clone(&loaded), clock::instant()));
        Ok(loaded)
    }

    /// The same, if it is known without asking the store.
    pub(crate) fn known_in_force(&self) -> Option<Arc<LoadedVersion>> {
        let known = self.in_force.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = known.as_ref().filter(|(_, since)| since.elapsed() < KNOWN_FOR);
        fresh.map(|(loaded, _)| Arc::clone(loaded))
    }

    /// Carries out a request of this caller, at the door that every request comes through.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not, if the request contradicts itself, and if the store cannot say.
    pub fn ask<E: Endpoint>(&self, caller: &Caller, request: E) -> Result<E::Reply, ServiceError> {
        E::ROUTE.admit(caller)?;
        match request.ask(caller)? {
            Asked::Change(command, finish) => finish(self.call(caller, E::ROUTE.path, command)?),
            Asked::Question(answer) => answer(self),
            Asked::Consideration(answer) => answer(&*self.in_force()?),
        }
    }

    /// The folder that policies are activated from.
    #[must_use]
    pub fn policy_folder(&self) -> &Path {
        &self.policy_folder
    }

    /// Why the policy folder could not be loaded, if it could not.
    #[must_use]
    pub fn policy_fault(&self) -> Option<String> {
        self.policy_fault.lock().map_or(None, |fault| fault.clone())
    }

    pub(crate) fn note_policy_fault(&self, fault: Option<String>) {
        *self.policy_fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    pub(crate) fn forget_in_force(&self) {
        *self.in_force.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
        self.start_session_as(caller, FreshIds::session(clock::now()?)?, new)
    }

    /// Starts a session or a run under this id.
    pub(crate) fn start_session_as(
        &self,
        caller: &Caller,
        id: SessionId,
        new: NewSession,
    ) -> Result<Session, ServiceError> {
        session_of(self.call(caller, "/v1/sessions", new.into_command(id))?)
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
        self.decide_as(caller, ask, FreshIds::make(clock::now()?)?)
    }

    /// Decides an action; what the decision makes has these ids.
    pub(crate) fn decide_as(
        &self,
        caller: &Caller,
        ask: Ask,
        fresh: FreshIds,
    ) -> Result<Decision, ServiceError> {
        Decision::from_answer(self.call(caller, "/v1/decisions", ask.into_command(fresh))?)
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
        execution_of(self.call(caller, "/v1/executions/outcome", command)?)
    }

    /// Verifies the whole log, against these checkpoints from outside too.
    ///
    /// # Errors
    ///
    /// Fails with the first place at which the log is not what it should be.
    pub fn verify_log(&self, outside: &[SignedCheckpoint]) -> Result<LogReport, ServiceError> {
        Ok(self.store.verify_log(None, outside)?)
    }

    /// The command as the store takes it: from whom, through which door, when.
    pub(crate) fn prepare(
        &self,
        caller: &Caller,
        endpoint: &str,
        command: Command,
    ) -> Result<Call, ServiceError> {
        if matches!(command, Command::Activate(_) | Command::RollBack(_)) {
            self.forget_in_force();
        }
        Ok(Call { origin: caller.origin(endpoint)?, now: clock::now()?, command })
    }

    /// Carries out a command at this endpoint, now.
    pub(crate) fn call(
        &self,
        caller: &Caller,
        endpoint: &str,
        command: Command,
    ) -> Result<Answer, ServiceError> {
        Ok(self.store.call(self.prepare(caller, endpoint, command)?)?)
    }
}

/// The documents of the policy that is in force where nothing else is.
pub(crate) fn shipped_documents() -> Result<PolicyDocuments, ServiceError> {
    let [policy, lattice, allow] = shipped::STANDARD.documents();
    policy_documents(policy, lattice, allow)
}

pub(crate) fn session_of(answer: Answer) -> Result<Session, ServiceError> {
    let Reply::Session(session) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(session)
}

pub(crate) fn approval_of(answer: Answer) -> Result<Approval, ServiceError> {
    let Reply::Approval(approval) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(*approval)
}

pub(crate) fn execution_of(answer: Answer) -> Result<Execution, ServiceError> {
    let Reply::Execution(execution) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(*execution)
}

pub(crate) fn activation_of(answer: Answer) -> Result<Activation, ServiceError> {
    let Reply::Activated(activation) = answer.reply else { return Err(unexpected(&answer.reply)) };
    Ok(activation)
}

pub(crate) fn unexpected(reply: &Reply) -> ServiceError {
    ServiceError::defect(format!("the store answered with {reply:?}"))
}

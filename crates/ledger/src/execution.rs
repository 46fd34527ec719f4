//! Executions: what was allowed to begin, and how it went.

use countersign_canon::{Text, Timestamp, record};
use countersign_policy::{ActionHash, ApprovalId, SessionId};

use crate::{DecisionId, ExecutionState, ExecutionStep, Executor, OutcomeStatus, PermitId, StepRefusal};

record! {
    /// One execution, named by the permit that let it begin.
    pub struct Execution {
        /// The permit.
        permit_id: PermitId,
        /// The decision that allowed it.
        decision_id: DecisionId,
        /// The session, if there is one.
        session_id: Option<SessionId>,
        /// The action, and no other.
        action_hash: ActionHash,
        /// The approval that it used up, if it needed one.
        approval_id: Option<ApprovalId>,
        /// Where it stands.
        state: ExecutionState,
        /// When it was allowed to begin.
        begun_at: Timestamp,
        /// Until when the permit can be acted on.
        expires_at: Timestamp,
        /// Whether whoever carries it out says how it went; without this they do.
        executor: Option<Executor>,
        /// When its outcome was reported, or found to be missing.
        ended_at: Option<Timestamp>,
        /// What its executor said about it.
        detail: Option<Text<0, 4000>>,
    }
}

impl Execution {
    /// Where it stands, for the protocol.
    #[must_use]
    pub const fn step(&self) -> ExecutionStep {
        let executor = match self.executor {
            Some(executor) => executor,
            None => Executor::Reporting,
        };
        let Self { state, begun_at, expires_at, .. } = *self;
        ExecutionStep { state, begun_at, expires_at, executor }
    }

    /// Notes how it went.
    ///
    /// # Errors
    ///
    /// Fails if that is known already.
    pub fn finish(
        &self,
        status: OutcomeStatus,
        detail: Text<0, 4000>,
        now: Timestamp,
    ) -> Result<Self, StepRefusal> {
        let state = self.step().finish(status)?.state;
        Ok(Self { state, ended_at: Some(now), detail: Some(detail), ..self.clone() })
    }

    /// Notes that nobody said how it went in time, if so.
    #[must_use]
    pub fn lapse(&self, now: Timestamp) -> Option<Self> {
        let state = self.step().lapse(now)?.state;
        Some(Self { state, ended_at: Some(now), ..self.clone() })
    }
}

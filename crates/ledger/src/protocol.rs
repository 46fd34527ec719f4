//! The approval protocol: which arrows there are, and no others.
//!
//! These functions are what the store runs inside its transaction, and what the model checker explores: small values,
//! one step at a time, nothing but arguments in and the next value out.

use countersign_canon::{Timestamp, choice};
use countersign_policy::ApprovalState;

/// LIMIT: a request that nobody answers is forgotten after a day.
pub const PENDING_TTL_S: i64 = 86_400;
/// How long a granted approval can be used if nobody says otherwise.
pub const GRANT_TTL_S_DEFAULT: i64 = 120;
/// LIMIT: how long a granted approval can be used at most.
pub const GRANT_TTL_S_MAX: i64 = 86_400;
/// LIMIT: how long after its issue a permit can be acted on.
pub const PERMIT_TTL_S: i64 = 30;
/// How long after its begin an execution without an outcome counts as in doubt.
pub const DOUBT_AFTER_S: i64 = 900;

choice! {
    /// Where an execution stands.
    pub enum ExecutionState {
        /// It was allowed to begin; nobody said yet how it went.
        Begun = "begun",
        /// It was said to have worked.
        Succeeded = "succeeded",
        /// It was said to have failed.
        Failed = "failed",
        /// It began, and how it went is not known though its executor would say. It is never begun again by itself.
        InDoubt = "in_doubt",
        /// It began under an executor that never says how it went, and its permit has run out.
        Unreported = "unreported",
    }
}

choice! {
    /// What is heard of whoever carries an execution out.
    pub enum Executor {
        /// It says how it went; its silence is doubt.
        Reporting = "reporting",
        /// It never does: it has no way to name the execution afterwards.
        Silent = "silent",
    }
}

choice! {
    /// How an execution went, as its executor says.
    pub enum OutcomeStatus {
        /// It worked.
        Succeeded = "succeeded",
        /// It did not.
        Failed = "failed",
    }
}

/// Why a step was not taken; the value stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StepRefusal {
    /// There is no such arrow from where the approval stands.
    #[error("the approval is {}", .0.as_str())]
    ApprovalState(ApprovalState),
    /// The approval's time has run out.
    #[error("the approval has expired")]
    ApprovalExpired,
    /// An approval is required and none was given.
    #[error("an approval is required")]
    ApprovalRequired,
    /// The execution has its outcome already.
    #[error("the execution is {}", .0.as_str())]
    ExecutionState(ExecutionState),
    /// The instant is beyond the year 9999.
    #[error("the time is out of range")]
    Time,
}

/// What the protocol needs to know of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalStep {
    /// Where it stands.
    pub state: ApprovalState,
    /// Until when it can be granted, while it is pending, or used, once it is granted. That second still counts.
    pub expires_at: Timestamp,
}

/// Whether a signature is the last one that an approval needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quorum {
    /// More people must say yes.
    Open,
    /// These were enough.
    Reached,
}

impl ApprovalStep {
    /// Asks for an approval.
    ///
    /// # Errors
    ///
    /// Fails if the year gets five digits.
    pub fn request(now: Timestamp) -> Result<Self, StepRefusal> {
        let expires_at = now.plus_seconds(PENDING_TTL_S).ok_or(StepRefusal::Time)?;
        Ok(Self { state: ApprovalState::Pending, expires_at })
    }

    /// Takes one valid signature; with the last one needed, the approval is granted until the time that it names.
    ///
    /// # Errors
    ///
    /// Fails unless it is pending and has not expired.
    pub fn sign(self, quorum: Quorum, usable_until: Timestamp, now: Timestamp) -> Result<Self, StepRefusal> {
        self.expect(ApprovalState::Pending, now)?;
        Ok(match quorum {
            Quorum::Open => self,
            Quorum::Reached => Self { state: ApprovalState::Granted, expires_at: usable_until },
        })
    }

    /// Says no.
    ///
    /// # Errors
    ///
    /// Fails unless it is pending and has not expired.
    pub fn deny(self, now: Timestamp) -> Result<Self, StepRefusal> {
        self.expect(ApprovalState::Pending, now)?;
        Ok(Self { state: ApprovalState::Denied, ..self })
    }

    /// Takes a granted approval back.
    ///
    /// # Errors
    ///
    /// Fails unless it is granted and has not expired.
    pub fn revoke(self, now: Timestamp) -> Result<Self, StepRefusal> {
        self.expect(ApprovalState::Granted, now)?;
        Ok(Self { state: ApprovalState::Revoked, ..self })
    }

    /// Notes that its time has run out; nothing if it has not, or if it stands where time no longer matters.
    #[must_use]
    pub fn expire(self, now: Timestamp) -> Option<Self> {
        let is_waiting = matches!(self.state, ApprovalState::Pending | ApprovalState::Granted);
        (is_waiting && now > self.expires_at).then_some(Self { state: ApprovalState::Expired, ..self })
    }

    /// Uses it up. Only [`begin`] does, so that an approval is consumed if and only if an execution begins.
    fn consume(self, now: Timestamp) -> Result<Self, StepRefusal> {
        self.expect(ApprovalState::Granted, now)?;
        Ok(Self { state: ApprovalState::Consumed, ..self })
    }

    fn expect(self, state: ApprovalState, now: Timestamp) -> Result<(), StepRefusal> {
        if self.state != state {
            return Err(StepRefusal::ApprovalState(self.state));
        }
        if now > self.expires_at { Err(StepRefusal::ApprovalExpired) } else { Ok(()) }
    }
}

/// What the protocol needs to know of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionStep {
    /// Where it stands.
    pub state: ExecutionState,
    /// When it was allowed to begin.
    pub begun_at: Timestamp,
    /// Until when its permit can be acted on.
    pub expires_at: Timestamp,
    /// Whether anybody will say how it went.
    pub executor: Executor,
}

/// Whether an action needs an approval, and which one it brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// It needs none; one that was brought stays as it is.
    None,
    /// It needs one, and this one was brought.
    Approval(Option<ApprovalStep>),
}

/// Step 7: lets an execution begin and uses up the approval it needs, both or neither.
///
/// # Errors
///
/// Fails if an approval is needed and the one brought is not granted or has expired. Nothing is used up then.
pub fn begin(
    requirement: Requirement,
    executor: Executor,
    now: Timestamp,
) -> Result<(Option<ApprovalStep>, ExecutionStep), StepRefusal> {
    let consumed = match requirement {
        Requirement::None => None,
        Requirement::Approval(None) => return Err(StepRefusal::ApprovalRequired),
        Requirement::Approval(Some(approval)) => Some(approval.consume(now)?),
    };
    let expires_at = now.plus_seconds(PERMIT_TTL_S).ok_or(StepRefusal::Time)?;
    Ok((consumed, ExecutionStep { state: ExecutionState::Begun, begun_at: now, expires_at, executor }))
}

impl ExecutionStep {
    /// Notes how it went, also for one that was in doubt.
    ///
    /// # Errors
    ///
    /// Fails if that is known already.
    pub fn finish(self, status: OutcomeStatus) -> Result<Self, StepRefusal> {
        match self.state {
            ExecutionState::Begun | ExecutionState::InDoubt => {
                let state = match status {
                    OutcomeStatus::Succeeded => ExecutionState::Succeeded,
                    OutcomeStatus::Failed => ExecutionState::Failed,
                };
                Ok(Self { state, ..self })
            }
            ExecutionState::Succeeded | ExecutionState::Failed | ExecutionState::Unreported => {
                Err(StepRefusal::ExecutionState(self.state))
            }
        }
    }

    /// Until when somebody may still say how it went before time closes it. That second still counts.
    #[must_use]
    pub fn due_at(self) -> Timestamp {
        match self.executor {
            Executor::Reporting => self.begun_at.plus_seconds(DOUBT_AFTER_S).unwrap_or(self.expires_at),
            Executor::Silent => self.expires_at,
        }
    }

    /// Notes that nobody said how it went in time: doubt if its executor would have, nothing to wait for if it never does.
    #[must_use]
    pub fn lapse(self, now: Timestamp) -> Option<Self> {
        let state = match self.executor {
            Executor::Reporting => ExecutionState::InDoubt,
            Executor::Silent => ExecutionState::Unreported,
        };
        (self.state == ExecutionState::Begun && now > self.due_at()).then_some(Self { state, ..self })
    }
}

#[cfg(test)]
mod tests;

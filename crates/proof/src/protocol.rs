//! The approval protocol, every way it can go: agents, replicas over one store, people, time and crashes.
//!
//! What changes an approval or an execution here are the functions of the ledger that the store runs inside its
//! transactions; this file only says who may call them when. A transaction reads, then commits; the store lets one
//! at a time do so, and a crash in between undoes it.

use alloc::vec::Vec;

use countersign_canon::Timestamp;
use countersign_ledger::{
    ApprovalStep, ExecutionState, ExecutionStep, Executor, GRANT_TTL_S_DEFAULT, OutcomeStatus, PENDING_TTL_S,
    Quorum, Requirement, begin,
};
use countersign_policy::ApprovalState;

/// How many agents there are.
pub(crate) const AGENTS: usize = 3;
/// How many replicas serve them.
pub(crate) const REPLICAS: usize = 2;
/// How many approvals they contend for.
pub(crate) const APPROVALS: usize = 2;
/// How often a replica may crash.
pub(crate) const CRASHES_MAX: u8 = 2;
/// The instants that time moves through: the second is past every grant, every request's day and every doubt of the first.
pub(crate) const INSTANTS_S: [i64; 2] = [0, 90_000];
/// How many people must say yes to each approval.
pub(crate) const QUORUMS: [u8; APPROVALS] = [1, 2];

/// Where an agent stands with its one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Agent {
    /// It has not asked, or was refused.
    Idle,
    /// Its request is in a transaction of this replica, which has read this approval at this instant.
    Asking { replica: u8, approval: u8, read: Option<ApprovalStep>, instant: u8 },
    /// Its permit is durable and on its way.
    Answered { replica: u8, approval: u8 },
    /// It has no answer, and asks again under the same name.
    Unsure { approval: u8 },
    /// It holds the permit.
    Holding { approval: u8 },
    /// It has said how it went.
    Done,
}

/// Everything that can differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct State {
    pub(crate) instant: u8,
    pub(crate) crashes: u8,
    pub(crate) is_up: [bool; REPLICAS],
    /// Whose transaction has the store.
    pub(crate) writer: Option<u8>,
    pub(crate) agents: [Agent; AGENTS],
    pub(crate) approvals: [Option<ApprovalStep>; APPROVALS],
    pub(crate) signatures: [u8; APPROVALS],
    /// What each agent was permitted with each approval: also the answer that its request finds again.
    pub(crate) executions: [[Option<ExecutionStep>; AGENTS]; APPROVALS],
}

/// One thing that can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Action {
    /// Somebody asks for this approval.
    Request(u8),
    /// A person signs it.
    Sign(u8),
    /// A person says no.
    Deny(u8),
    /// A person takes it back.
    Revoke(u8),
    /// The store notes what time has ended.
    Sweep(u8),
    /// Time goes on.
    Tick,
    /// This agent asks this replica to begin with this approval; the transaction reads.
    Ask { agent: u8, replica: u8, approval: u8 },
    /// Its transaction commits.
    Commit(u8),
    /// It gets its answer.
    Answer(u8),
    /// It says how the execution went.
    Finish(u8, OutcomeStatus),
    /// A replica crashes: what it has not committed is undone, what it has not said is lost.
    Crash(u8),
    /// It comes back.
    Recover(u8),
}

impl State {
    /// Where everything begins.
    pub(crate) fn start() -> Self {
        Self {
            instant: 0,
            crashes: 0,
            is_up: [true; REPLICAS],
            writer: None,
            agents: [Agent::Idle; AGENTS],
            approvals: [None; APPROVALS],
            signatures: [0; APPROVALS],
            executions: [[None; AGENTS]; APPROVALS],
        }
    }

    /// Everything that could be tried here; [`step`] says what comes of it.
    pub(crate) fn actions() -> Vec<Action> {
        let numbers = |count: usize| 0..u8::try_from(count).unwrap_or(u8::MAX);
        let mut actions = Vec::from([Action::Tick]);
        for approval in numbers(APPROVALS) {
            actions.extend([Action::Request(approval), Action::Sign(approval), Action::Deny(approval)]);
            actions.extend([Action::Revoke(approval), Action::Sweep(approval)]);
        }
        for agent in numbers(AGENTS) {
            for replica in numbers(REPLICAS) {
                let asks = numbers(APPROVALS).map(|approval| Action::Ask { agent, replica, approval });
                actions.extend(asks);
            }
            actions.extend([Action::Commit(agent), Action::Answer(agent)]);
            let finish = OutcomeStatus::ALL.iter().map(|status| Action::Finish(agent, *status));
            actions.extend(finish);
        }
        for replica in numbers(REPLICAS) {
            actions.extend([Action::Crash(replica), Action::Recover(replica)]);
        }
        actions
    }

    /// The instant with this number.
    pub(crate) fn at(instant: u8) -> Option<Timestamp> {
        Timestamp::from_unix(*INSTANTS_S.get(usize::from(instant))?)
    }

    fn now(&self) -> Option<Timestamp> {
        Self::at(self.instant)
    }

    fn approval(&self, approval: u8) -> Option<ApprovalStep> {
        self.approvals.get(usize::from(approval)).copied().flatten()
    }

    pub(crate) fn agent(&self, agent: u8) -> Option<Agent> {
        self.agents.get(usize::from(agent)).copied()
    }

    pub(crate) fn execution(&self, approval: u8, agent: u8) -> Option<ExecutionStep> {
        self.executions.get(usize::from(approval))?.get(usize::from(agent)).copied().flatten()
    }

    /// The same with this approval, if nobody's transaction has the store.
    fn with_approval(&self, approval: u8, step: ApprovalStep) -> Option<Self> {
        self.writer.is_none().then(|| self.written(approval, step))
    }

    pub(crate) fn written(&self, approval: u8, step: ApprovalStep) -> Self {
        let mut next = self.clone();
        if let Some(place) = next.approvals.get_mut(usize::from(approval)) {
            *place = Some(step);
        }
        next
    }

    pub(crate) fn with_agent(&self, agent: u8, now: Agent) -> Self {
        let mut next = self.clone();
        if let Some(place) = next.agents.get_mut(usize::from(agent)) {
            *place = now;
        }
        next
    }

    pub(crate) fn with_execution(&self, approval: u8, agent: u8, step: ExecutionStep) -> Self {
        let mut next = self.clone();
        let place = next.executions.get_mut(usize::from(approval));
        if let Some(place) = place.and_then(|agents| agents.get_mut(usize::from(agent))) {
            *place = Some(step);
        }
        next
    }
}

/// What comes of an action; nothing if it cannot happen here or changes nothing.
pub(crate) fn step(state: &State, action: Action) -> Option<State> {
    let now = state.now()?;
    match action {
        Action::Request(approval) => match state.approval(approval) {
            None => state.with_approval(approval, ApprovalStep::request(now).ok()?),
            Some(_) => None,
        },
        Action::Sign(approval) => sign(state, approval, now),
        Action::Deny(approval) => {
            let denied = state.approval(approval)?.deny(now).ok()?;
            state.with_approval(approval, denied)
        }
        Action::Revoke(approval) => {
            let revoked = state.approval(approval)?.revoke(now).ok()?;
            state.with_approval(approval, revoked)
        }
        Action::Sweep(approval) => sweep(state, approval, now),
        Action::Tick => {
            let instant = state.instant.checked_add(1)?;
            State::at(instant)?;
            Some(State { instant, ..state.clone() })
        }
        Action::Ask { agent, replica, approval } => ask(state, agent, replica, approval),
        Action::Commit(agent) => commit(state, agent),
        Action::Answer(agent) => match state.agent(agent)? {
            Agent::Answered { replica: _, approval } => {
                Some(state.with_agent(agent, Agent::Holding { approval }))
            }
            Agent::Idle
            | Agent::Asking { .. }
            | Agent::Unsure { .. }
            | Agent::Holding { .. }
            | Agent::Done => None,
        },
        Action::Finish(agent, status) => finish(state, agent, status),
        Action::Crash(replica) => crash(state, replica),
        Action::Recover(replica) => {
            let mut next = state.clone();
            let is_up = next.is_up.get_mut(usize::from(replica)).filter(|is_up| !**is_up)?;
            *is_up = true;
            Some(next)
        }
    }
}

fn sign(state: &State, approval: u8, now: Timestamp) -> Option<State> {
    let count = state.signatures.get(usize::from(approval))?.checked_add(1)?;
    let is_last = count >= *QUORUMS.get(usize::from(approval))?;
    let quorum = if is_last { Quorum::Reached } else { Quorum::Open };
    let usable_until = now.plus_seconds(GRANT_TTL_S_DEFAULT)?;
    let signed = state.approval(approval)?.sign(quorum, usable_until, now).ok()?;
    let mut next = state.with_approval(approval, signed)?;
    *next.signatures.get_mut(usize::from(approval))? = count;
    Some(next)
}

/// What time has ended: the approval, or the executions begun with it.
fn sweep(state: &State, approval: u8, now: Timestamp) -> Option<State> {
    let mut next = match state.approval(approval).and_then(|step| step.expire(now)) {
        Some(expired) => state.with_approval(approval, expired)?,
        None => state.clone(),
    };
    for step in next.executions.get_mut(usize::from(approval))?.iter_mut().flatten() {
        *step = step.lapse(now).unwrap_or(*step);
    }
    (state.writer.is_none() && next != *state).then_some(next)
}

/// A request reaches a replica: its transaction takes the store and reads. A repeated one finds its answer.
fn ask(state: &State, agent: u8, replica: u8, approval: u8) -> Option<State> {
    let is_up = state.is_up.get(usize::from(replica)).copied()?;
    let may = match state.agent(agent)? {
        Agent::Idle => true,
        Agent::Unsure { approval: asked } => asked == approval,
        Agent::Asking { .. } | Agent::Answered { .. } | Agent::Holding { .. } | Agent::Done => false,
    };
    if !is_up || !may || state.writer.is_some() {
        return None;
    }
    if state.execution(approval, agent).is_some() {
        return Some(state.with_agent(agent, Agent::Answered { replica, approval }));
    }
    let read = state.approval(approval);
    let asking = Agent::Asking { replica, approval, read, instant: state.instant };
    Some(State { writer: Some(agent), ..state.with_agent(agent, asking) })
}

/// Step 7, in one transaction: the approval is used up and the execution begins, or neither.
fn commit(state: &State, agent: u8) -> Option<State> {
    let Agent::Asking { replica, approval, read, instant } = state.agent(agent)? else { return None };
    let free = State { writer: state.writer.filter(|writer| *writer != agent), ..state.clone() };
    let Ok((consumed, execution)) =
        begin(Requirement::Approval(read), executor_of(agent), State::at(instant)?)
    else {
        return Some(free.with_agent(agent, Agent::Idle));
    };
    let next = free.written(approval, consumed?).with_execution(approval, agent, execution);
    Some(next.with_agent(agent, Agent::Answered { replica, approval }))
}

/// Whether an agent says how it went: one of them never does.
pub(crate) const fn executor_of(agent: u8) -> Executor {
    if agent == 0 { Executor::Silent } else { Executor::Reporting }
}

fn finish(state: &State, agent: u8, status: OutcomeStatus) -> Option<State> {
    let Agent::Holding { approval } = state.agent(agent)? else { return None };
    if executor_of(agent) == Executor::Silent {
        return None;
    }
    let finished = state.execution(approval, agent)?.finish(status).ok()?;
    let next = state.with_execution(approval, agent, finished).with_agent(agent, Agent::Done);
    state.writer.is_none().then_some(next)
}

fn crash(state: &State, replica: u8) -> Option<State> {
    let crashes = state.crashes.checked_add(1).filter(|crashes| *crashes <= CRASHES_MAX)?;
    let mut next = State { crashes, ..state.clone() };
    let is_up = next.is_up.get_mut(usize::from(replica)).filter(|is_up| **is_up)?;
    *is_up = false;
    for (number, agent) in (0_u8..).zip(&mut next.agents) {
        match *agent {
            Agent::Asking { replica: at, approval, read: _, instant: _ } if at == replica => {
                next.writer = next.writer.filter(|writer| *writer != number);
                *agent = Agent::Unsure { approval };
            }
            Agent::Answered { replica: at, approval } if at == replica => *agent = Agent::Unsure { approval },
            Agent::Asking { .. }
            | Agent::Answered { .. }
            | Agent::Idle
            | Agent::Unsure { .. }
            | Agent::Holding { .. }
            | Agent::Done => (),
        }
    }
    Some(next)
}

/// What must hold in every state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Invariant {
    /// At most one execution begins with an approval.
    OnePermit,
    /// An approval is consumed if and only if an execution began with it: a denial never consumes.
    ConsumedIffBegun,
    /// What began, began before the approval expired.
    InTime,
    /// Nobody holds a permit that the store does not know.
    Durable,
}

impl Invariant {
    pub(crate) const ALL: [Self; 4] = [Self::OnePermit, Self::ConsumedIffBegun, Self::InTime, Self::Durable];

    /// Its name.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::OnePermit => "at most one permit per approval",
            Self::ConsumedIffBegun => "consumed if and only if begun",
            Self::InTime => "nothing begins with an expired approval",
            Self::Durable => "whoever holds a permit has it in the store",
        }
    }

    pub(crate) fn holds(self, state: &State) -> bool {
        let mut approvals = state.approvals.iter().zip(&state.executions);
        match self {
            Self::OnePermit => approvals.all(|(_, executions)| executions.iter().flatten().count() <= 1),
            Self::ConsumedIffBegun => approvals.all(|(approval, executions)| {
                let is_consumed = approval.is_some_and(|step| step.state == ApprovalState::Consumed);
                is_consumed == executions.iter().any(Option::is_some)
            }),
            Self::InTime => approvals.all(|(approval, executions)| {
                let until = approval.map(|step| step.expires_at);
                executions.iter().flatten().all(|execution| Some(execution.begun_at) <= until)
            }),
            Self::Durable => (0_u8..).zip(&state.agents).all(|(number, agent)| match *agent {
                Agent::Answered { approval, replica: _ } | Agent::Holding { approval } => {
                    state.execution(approval, number).is_some()
                }
                Agent::Idle | Agent::Asking { .. } | Agent::Unsure { .. } | Agent::Done => true,
            }),
        }
    }
}

/// What must be reachable, or the invariants would say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// An execution is said to have worked.
    Succeeded,
    /// An execution is in doubt.
    InDoubt,
    /// An execution is over of which nobody ever said how it went.
    Unreported,
    /// A granted approval was taken back.
    Revoked,
    /// An approval ran out of time.
    Expired,
    /// Both approvals are used up.
    BothConsumed,
    /// An agent whose answer was lost has its permit in the store.
    LostAnswer,
}

impl Reached {
    pub(crate) const ALL: [Self; 7] = [
        Self::Succeeded,
        Self::InDoubt,
        Self::Unreported,
        Self::Revoked,
        Self::Expired,
        Self::BothConsumed,
        Self::LostAnswer,
    ];

    pub(crate) fn is_here(self, state: &State) -> bool {
        let mut executions = state.executions.iter().flatten().flatten();
        let mut approvals = state.approvals.iter().flatten();
        match self {
            Self::Succeeded => executions.any(|step| step.state == ExecutionState::Succeeded),
            Self::InDoubt => executions.any(|step| step.state == ExecutionState::InDoubt),
            Self::Unreported => executions.any(|step| step.state == ExecutionState::Unreported),
            Self::Revoked => approvals.any(|step| step.state == ApprovalState::Revoked),
            Self::Expired => approvals.any(|step| step.state == ApprovalState::Expired),
            Self::BothConsumed => {
                approvals.filter(|step| step.state == ApprovalState::Consumed).count() == APPROVALS
            }
            Self::LostAnswer => (0_u8..).zip(&state.agents).any(|(number, agent)| match *agent {
                Agent::Unsure { approval } => state.execution(approval, number).is_some(),
                Agent::Idle
                | Agent::Asking { .. }
                | Agent::Answered { .. }
                | Agent::Holding { .. }
                | Agent::Done => false,
            }),
        }
    }
}

/// A state in a few bytes: different ones for different states.
pub(crate) type Key = [u8; 32];

impl State {
    /// The state in a few bytes.
    pub(crate) fn key(&self) -> Key {
        let mut bytes = Vec::with_capacity(32);
        bytes.extend([self.instant, self.crashes, self.writer.map_or(0xFF, |writer| writer)]);
        bytes.push(self.is_up.iter().fold(0, |bits, is_up| (bits << 1) | u8::from(*is_up)));
        for agent in &self.agents {
            let (tag, replica, approval, read) = match *agent {
                Agent::Idle => (0, 0, 0, [0; 2]),
                Agent::Asking { replica, approval, read, instant } => {
                    let [state, until] = read.map_or([0; 2], step_key);
                    (1_u8.saturating_add(instant), replica, approval, [state, until])
                }
                Agent::Answered { replica, approval } => (8, replica, approval, [0; 2]),
                Agent::Unsure { approval } => (9, 0, approval, [0; 2]),
                Agent::Holding { approval } => (10, 0, approval, [0; 2]),
                Agent::Done => (11, 0, 0, [0; 2]),
            };
            bytes.push((tag << 4) | (replica << 2) | approval);
            bytes.extend(read);
        }
        for (approval, signatures) in self.approvals.iter().zip(&self.signatures) {
            bytes.extend(approval.map_or([0; 2], step_key));
            bytes.push(*signatures);
        }
        for execution in self.executions.iter().flatten() {
            bytes.push(execution.map_or(0, |step| {
                let state = match step.state {
                    ExecutionState::Begun => 1,
                    ExecutionState::Succeeded => 2,
                    ExecutionState::Failed => 3,
                    ExecutionState::InDoubt => 4,
                    ExecutionState::Unreported => 5,
                };
                (state << 4) | place_of(step.begun_at)
            }));
        }
        let mut key = [0; 32];
        for (place, byte) in key.iter_mut().zip(bytes) {
            *place = byte;
        }
        key
    }
}

fn step_key(step: ApprovalStep) -> [u8; 2] {
    let state = match step.state {
        ApprovalState::Pending => 1,
        ApprovalState::Granted => 2,
        ApprovalState::Denied => 3,
        ApprovalState::Expired => 4,
        ApprovalState::Consumed => 5,
        ApprovalState::Revoked => 6,
    };
    [state, place_of(step.expires_at)]
}

/// Which of the instants that can occur this is: one that time moves through, or one that a request or a grant lasts until.
fn place_of(instant: Timestamp) -> u8 {
    let lasting = [0, PENDING_TTL_S, GRANT_TTL_S_DEFAULT];
    let all = lasting.iter().flat_map(|ttl| INSTANTS_S.iter().map(move |from| from.saturating_add(*ttl)));
    (1_u8..).zip(all).find(|(_, known)| *known == instant.as_unix()).map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests;

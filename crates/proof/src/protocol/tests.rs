//! The protocol explored by somebody else's model checker, and protocols with a flaw, each of which is found out.

use alloc::{collections::BTreeSet, vec::Vec};

use countersign_ledger::{ApprovalStep, Requirement, begin};
use countersign_policy::ApprovalState;
use stateright::{Checker as _, Model, Property};

use super::{Action, Agent, Invariant, Reached, State, executor_of, step};
use crate::explore::{confirms, explore};

/// A mistake that somebody could make in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// The transaction reads without taking the store, and writes what it has read.
    CheckThenAct,
    /// The permit is given at once, and the approval is used up when the outcome is known.
    ConsumeAfterExecute,
    /// A request that is refused uses the approval up.
    ConsumeOnDeny,
    /// The permit is committed first, the approval is used up in a second transaction.
    TwoTransactions,
    /// A lost answer is not looked for: asking again begins again.
    BeginAgain,
    /// Taking back is not looked at.
    IgnoreRevocation,
    /// The time is not looked at.
    IgnoreExpiry,
    /// The permit is handed out before the transaction is durable.
    AnswerBeforeCommit,
    /// An execution in doubt gives its approval back.
    DoubtGivesBack,
}

const FLAWS: [(Flaw, Invariant); 9] = [
    (Flaw::CheckThenAct, Invariant::OnePermit),
    (Flaw::ConsumeAfterExecute, Invariant::OnePermit),
    (Flaw::ConsumeOnDeny, Invariant::ConsumedIffBegun),
    (Flaw::TwoTransactions, Invariant::ConsumedIffBegun),
    (Flaw::BeginAgain, Invariant::OnePermit),
    (Flaw::IgnoreRevocation, Invariant::ConsumedIffBegun),
    (Flaw::IgnoreExpiry, Invariant::InTime),
    (Flaw::AnswerBeforeCommit, Invariant::Durable),
    (Flaw::DoubtGivesBack, Invariant::ConsumedIffBegun),
];

/// What comes of an action in a protocol with a flaw.
fn flawed(flaw: Flaw, state: &State, action: Action) -> Option<State> {
    let asking = |agent: u8| match state.agent(agent) {
        Some(Agent::Asking { replica, approval, read, instant }) => Some((replica, approval, read, instant)),
        _ => None,
    };
    match (flaw, action) {
        (Flaw::CheckThenAct, Action::Ask { .. }) => {
            step(state, action).map(|next| State { writer: state.writer, ..next })
        }
        (Flaw::ConsumeAfterExecute | Flaw::TwoTransactions, Action::Commit(agent)) => {
            let next = step(state, action)?;
            let (_, approval, read, _) = asking(agent)?;
            match (read, next.execution(approval, agent)) {
                (Some(read), Some(_)) => Some(next.written(approval, read)),
                _ => Some(next),
            }
        }
        (Flaw::ConsumeAfterExecute, Action::Finish(agent, _)) => consumed_after(state, action, agent),
        (Flaw::TwoTransactions, Action::Answer(agent)) => consumed_after(state, action, agent),
        (Flaw::ConsumeOnDeny, Action::Ask { approval, .. }) => {
            let granted =
                state.approvals[usize::from(approval)].filter(|step| step.state == ApprovalState::Granted);
            // The policy denies the action, whatever the approval says.
            granted
                .map(|step| state.written(approval, ApprovalStep { state: ApprovalState::Consumed, ..step }))
        }
        (Flaw::BeginAgain, Action::Ask { agent, replica, approval }) => {
            let is_lost = matches!(state.agent(agent), Some(Agent::Unsure { approval: asked }) if asked == approval)
                && state.execution(approval, agent).is_some();
            let other = (0..3).find(|other| state.execution(approval, *other).is_none());
            match (is_lost, other) {
                // A second execution under a name of its own.
                (true, Some(other)) => {
                    let again = state.execution(approval, agent)?;
                    let next = state.with_execution(approval, other, again);
                    Some(next.with_agent(agent, Agent::Answered { replica, approval }))
                }
                _ => step(state, action),
            }
        }
        (Flaw::IgnoreRevocation, Action::Commit(agent)) => {
            let (replica, approval, read, instant) = asking(agent)?;
            let granted = read.filter(|step| step.state == ApprovalState::Revoked)?;
            let need = Requirement::Approval(Some(ApprovalStep { state: ApprovalState::Granted, ..granted }));
            let (_, execution) = begin(need, executor_of(agent), State::at(instant)?).ok()?;
            let next = State { writer: None, ..state.with_execution(approval, agent, execution) };
            Some(next.with_agent(agent, Agent::Answered { replica, approval }))
        }
        (Flaw::IgnoreExpiry, Action::Commit(agent)) => {
            let (replica, approval, read, instant) = asking(agent)?;
            let granted = read.filter(|step| step.state == ApprovalState::Granted)?;
            let (consumed, _) =
                begin(Requirement::Approval(Some(granted)), executor_of(agent), State::at(0)?).ok()?;
            let (_, execution) = begin(Requirement::None, executor_of(agent), State::at(instant)?).ok()?;
            let next = state.written(approval, consumed?).with_execution(approval, agent, execution);
            Some(State { writer: None, ..next.with_agent(agent, Agent::Answered { replica, approval }) })
        }
        (Flaw::AnswerBeforeCommit, Action::Answer(agent)) => match asking(agent) {
            Some((_, approval, Some(read), _)) if read.state == ApprovalState::Granted => {
                Some(State { writer: None, ..state.with_agent(agent, Agent::Holding { approval }) })
            }
            _ => step(state, action),
        },
        (Flaw::DoubtGivesBack, Action::Sweep(approval)) => {
            let next = step(state, action)?;
            let step = next.approvals[usize::from(approval)]?;
            let is_doubted = Reached::InDoubt.is_here(&next) && step.state == ApprovalState::Consumed;
            let given_back = ApprovalStep { state: ApprovalState::Granted, ..step };
            Some(if is_doubted { next.written(approval, given_back) } else { next })
        }
        (_, action) => step(state, action),
    }
}

/// The approval is used up now, as it stands by now.
fn consumed_after(state: &State, action: Action, agent: u8) -> Option<State> {
    let (Agent::Holding { approval } | Agent::Answered { approval, .. }) = state.agent(agent)? else {
        return step(state, action);
    };
    let next = step(state, action)?;
    let step = state.approvals[usize::from(approval)]?;
    Some(next.written(approval, ApprovalStep { state: ApprovalState::Consumed, ..step }))
}

/// The protocol as stateright sees it.
struct Checked(Option<Flaw>);

impl Model for Checked {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        Vec::from([State::start()])
    }

    fn actions(&self, _: &State, actions: &mut Vec<Action>) {
        actions.extend(State::actions());
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        match self.0 {
            None => step(state, action),
            Some(flaw) => flawed(flaw, state, action),
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        Vec::from([
            Property::always("OnePermit", |_, state| Invariant::OnePermit.holds(state)),
            Property::always("ConsumedIffBegun", |_, state| Invariant::ConsumedIffBegun.holds(state)),
            Property::always("InTime", |_, state| Invariant::InTime.holds(state)),
            Property::always("Durable", |_, state| Invariant::Durable.holds(state)),
            Property::sometimes("Succeeded", |_, state| Reached::Succeeded.is_here(state)),
            Property::sometimes("InDoubt", |_, state| Reached::InDoubt.is_here(state)),
            Property::sometimes("Unreported", |_, state| Reached::Unreported.is_here(state)),
            Property::sometimes("Revoked", |_, state| Reached::Revoked.is_here(state)),
            Property::sometimes("Expired", |_, state| Reached::Expired.is_here(state)),
            Property::sometimes("BothConsumed", |_, state| Reached::BothConsumed.is_here(state)),
            Property::sometimes("LostAnswer", |_, state| Reached::LostAnswer.is_here(state)),
        ])
    }
}

mod k4_1 {
    use super::{Checked, Model as _, confirms, explore};
    use stateright::Checker as _;

    /// Our explorer and stateright go through the same states, and everything that must hold does.
    #[test]
    fn an_approval_is_used_once_in_every_state_there_is() {
        let found = explore();
        assert!(found.is_proved(), "{found:?}");
        assert!(confirms(&found));
        let checked = Checked(None).checker().spawn_bfs().join();
        checked.assert_properties();
        assert!(checked.is_done());
        assert_eq!(i64::try_from(checked.unique_state_count()).unwrap(), found.states.get());
    }
}

/// The first state that breaks this, nearest first; how many steps away it is.
fn broken_by(flaw: Flaw, invariant: Invariant) -> Option<usize> {
    let actions = State::actions();
    let mut seen = BTreeSet::from([State::start().key()]);
    let mut level = Vec::from([State::start()]);
    for distance in 0..40 {
        if level.iter().any(|state| !invariant.holds(state)) {
            return Some(distance);
        }
        let next =
            level.iter().flat_map(|state| actions.iter().filter_map(|action| flawed(flaw, state, *action)));
        level = next.filter(|state| seen.insert(state.key())).collect();
    }
    None
}

#[test]
fn every_flaw_is_caught_by_the_invariant_that_it_breaks() {
    for (flaw, invariant) in FLAWS {
        let steps = broken_by(flaw, invariant);
        assert!(steps.is_some(), "{flaw:?} breaks nothing");
    }
}

#[test]
fn stateright_catches_every_flaw_too() {
    for (flaw, invariant) in FLAWS {
        let name: &'static str = match invariant {
            Invariant::OnePermit => "OnePermit",
            Invariant::ConsumedIffBegun => "ConsumedIffBegun",
            Invariant::InTime => "InTime",
            Invariant::Durable => "Durable",
        };
        let model = Checked(Some(flaw));
        let checker = model.checker().target_max_depth(8).spawn_bfs().join();
        let path = checker.discovery(name).unwrap_or_else(|| panic!("{flaw:?} breaks nothing"));
        // The path is one: each step leads to the next state.
        assert!(!path.into_actions().is_empty());
    }
}

//! Goes through every state of the approval protocol, and again in another order to see that nothing was left out.

use alloc::{
    collections::{BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Json, Object, Sha256, Value, Within, record};

use crate::protocol::{
    AGENTS, APPROVALS, CRASHES_MAX, INSTANTS_S, Invariant, Key, QUORUMS, REPLICAS, Reached, State, step,
};

/// A count, in the numbers that JSON can hold.
pub(crate) type Count = Within<0, 9_007_199_254_740_991>;

/// The version of the model: it changes whenever the set of states could.
pub const MODEL_VERSION: &str = "1.1.0";

record! {
    /// What an exhaustive exploration found.
    pub struct Exploration {
        /// How many different states there are.
        states: Count,
        /// How many steps lead from one to another.
        transitions: Count,
        /// How many steps the farthest state is away.
        depth: Count,
        /// The hash of all states, sorted: the certificate of having been everywhere.
        states_hash: Sha256,
        /// The invariant that is broken, if one is, and the state that breaks it.
        broken: Option<String>,
        /// What was not reached although it must be, or the invariants would say nothing.
        unreached: Vec<String>,
    }
}

impl Exploration {
    /// Whether every invariant holds everywhere, and says something.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.broken.is_none() && self.unreached.is_empty()
    }
}

/// What the protocol was explored with.
#[must_use]
pub fn bounds() -> Object<'static> {
    let count = |count: usize| Json::from(u32::try_from(count).unwrap_or(u32::MAX));
    let bounds = Json::object([
        ("agents", count(AGENTS)),
        ("replicas", count(REPLICAS)),
        ("approvals", count(APPROVALS)),
        ("crashes", Json::from(u32::from(CRASHES_MAX))),
        ("instants", count(INSTANTS_S.len())),
        ("quorums", Json::array(QUORUMS.iter().map(|quorum| Json::from(u32::from(*quorum))))),
        ("invariants", Json::array(Invariant::ALL.map(|invariant| Json::from(invariant.as_str())))),
        ("model_version", Json::from(MODEL_VERSION)),
    ]);
    match bounds.value {
        Value::Object(bounds) => bounds,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::default()
        }
    }
}

/// Goes through every state, nearest first.
#[must_use]
pub fn explore() -> Exploration {
    let actions = State::actions();
    let start = State::start();
    let mut seen = BTreeSet::from([start.key()]);
    let mut open = VecDeque::from([(start, 0_i64)]);
    let (mut transitions, mut depth) = (0_i64, 0_i64);
    let mut broken = None;
    let mut unreached: Vec<Reached> = Reached::ALL.into();
    while let Some((state, distance)) = open.pop_front() {
        depth = depth.max(distance);
        unreached.retain(|reached| !reached.is_here(&state));
        if let Some(invariant) = Invariant::ALL.iter().find(|invariant| !invariant.holds(&state)) {
            broken = broken.or_else(|| Some(format!("{}: {state:?}", invariant.as_str())));
        }
        for next in actions.iter().filter_map(|action| step(&state, *action)) {
            transitions = transitions.saturating_add(1);
            if seen.insert(next.key()) {
                open.push_back((next, distance.saturating_add(1)));
            }
        }
    }
    Exploration {
        states: Count::clamped(i64::try_from(seen.len()).unwrap_or(i64::MAX)),
        transitions: Count::clamped(transitions),
        depth: Count::clamped(depth),
        states_hash: hash_of(&seen),
        broken,
        unreached: unreached.iter().map(|reached| format!("{reached:?}")).collect(),
    }
}

/// Whether going through every state again, farthest first, finds the same states and breaks nothing.
#[must_use]
pub(crate) fn confirms(found: &Exploration) -> bool {
    let actions = State::actions();
    let mut seen = BTreeSet::new();
    let mut open = Vec::from([State::start()]);
    let mut reached = [false; Reached::ALL.len()];
    let mut transitions = 0_i64;
    while let Some(state) = open.pop() {
        if !seen.insert(state.key()) {
            continue;
        }
        if !Invariant::ALL.iter().all(|invariant| invariant.holds(&state)) {
            return false;
        }
        for (reached, what) in reached.iter_mut().zip(Reached::ALL) {
            *reached |= what.is_here(&state);
        }
        for action in actions.iter().rev() {
            if let Some(next) = step(&state, *action) {
                transitions = transitions.saturating_add(1);
                open.push(next);
            }
        }
    }
    let states = i64::try_from(seen.len()).unwrap_or(i64::MAX);
    found.is_proved()
        && reached.iter().all(|reached| *reached)
        && (states, transitions) == (found.states.get(), found.transitions.get())
        && hash_of(&seen) == found.states_hash
}

fn hash_of(states: &BTreeSet<Key>) -> Sha256 {
    Sha256::of_pieces(states.iter().map(<[u8; 32]>::as_slice))
}

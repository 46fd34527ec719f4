//! A small SAT solver: conflict-driven clause learning, with assumptions.
//!
//! Formulas here are small (a policy has at most 2000 nodes), so it leaves out what only large ones need: it never
//! forgets a clause and never simplifies one. It needs no compiler but Rust's, gives the same answer on every
//! machine, and its models are checked against the clauses before they are believed. Where it finds a contradiction it
//! can say why, in a proof that others check.

use alloc::{collections::BTreeSet, vec, vec::Vec};
use core::{cmp::Reverse, convert::Infallible, mem};

mod log;

use self::log::{ClauseId, Log};
use crate::{Lit, Model, Solver};

/// Conflicts between restarts, times the Luby sequence.
const RESTART_UNIT: u64 = 64;
const ACTIVITY_MAX: u64 = 1 << 60;

/// The solver.
#[derive(Debug, Default)]
pub struct Cdcl {
    // INVARIANT: at least two literals each, the first two watched.
    clauses: Vec<Vec<Lit>>,
    /// What each of them is called in the proof.
    ids: Vec<ClauseId>,
    /// What a proof will be made of, if one is wanted.
    log: Option<Log>,
    /// Clauses to look at when a literal becomes false, by literal.
    watches: Vec<Vec<usize>>,
    variables: Vec<Variable>,
    trail: Vec<Lit>,
    /// How long the trail was at each decision.
    decisions: Vec<usize>,
    /// How much of the trail is propagated.
    propagated: usize,
    /// Variables without a value, the most active first.
    open: BTreeSet<(Reverse<u64>, usize)>,
    bump: u64,
    /// The clauses contradict each other.
    is_contradiction: bool,
}

#[derive(Debug, Clone, Default)]
struct Variable {
    value: Option<bool>,
    last: bool,
    level: usize,
    reason: Option<usize>,
    /// The clause of this one literal, once the value holds whatever is decided.
    unit: Option<ClauseId>,
    activity: u64,
}

impl Solver for Cdcl {
    type Error = Infallible;

    fn add(&mut self, clause: &[Lit]) -> Result<(), Infallible> {
        self.undo_to(0);
        let mut id = self.log.as_mut().map_or(ClauseId::UNNAMED, Log::give);
        if self.is_contradiction {
            return Ok(());
        }
        let mut literals = clause.to_vec();
        literals.sort_unstable();
        literals.dedup();
        for literal in &literals {
            self.grow_to(*literal);
        }
        let is_tautology = literals.iter().any(|literal| literals.contains(&literal.negated()));
        if is_tautology || literals.iter().any(|literal| self.value(*literal) == Some(true)) {
            return Ok(());
        }
        let (open, settled): (Vec<Lit>, Vec<Lit>) =
            literals.into_iter().partition(|literal| self.value(*literal).is_none());
        if !settled.is_empty() || open.is_empty() {
            id = self.derive(&open, &settled, &[id]);
        }
        self.attach(open, id);
        Ok(())
    }

    fn solve(&mut self, assumptions: &[Lit], wires: u32) -> Result<Option<Model>, Infallible> {
        for literal in assumptions {
            self.grow_to(*literal);
        }
        self.undo_to(0);
        if !self.search(assumptions) {
            self.undo_to(0);
            return Ok(None);
        }
        let on = self.variables.iter().enumerate().filter(|(_, variable)| variable.value == Some(true));
        let on: Vec<u32> = on.filter_map(|(index, _)| u32::try_from(index).ok()).collect();
        Ok(Some(Model::new(on, wires)))
    }
}

impl Cdcl {
    /// A solver that can prove a contradiction it finds.
    #[must_use]
    pub fn proving() -> Self {
        Self { log: Some(Log::default()), ..Self::default() }
    }

    /// The proof, in the LRAT format, that the clauses contradict each other; nothing if they were not found to, or if
    /// no proof was wanted. The clauses have the numbers 1, 2, 3, … in the order in which they were added.
    #[must_use]
    pub fn refutation(&self) -> Option<alloc::string::String> {
        self.log.as_ref().and_then(Log::to_lrat)
    }

    /// Notes a clause that follows from these, once the settled literals are known to be false for good.
    fn derive(&mut self, literals: &[Lit], settled: &[Lit], from: &[ClauseId]) -> ClauseId {
        let Some(log) = &mut self.log else { return ClauseId::UNNAMED };
        let unit =
            |literal: &Lit| self.variables.get(variable_of(*literal)).and_then(|variable| variable.unit);
        let hints = settled.iter().filter_map(unit).chain(from.iter().copied());
        log.derive(literals.to_vec(), hints.collect())
    }

    /// Notes that the clause has no true literal left, whatever is decided.
    fn contradict(&mut self, clause: usize) {
        self.is_contradiction = true;
        if let (Some(literals), Some(id)) = (self.clauses.get(clause).cloned(), self.ids.get(clause).copied())
        {
            self.derive(&[], &literals, &[id]);
        }
    }

    /// Gives a literal its value for good.
    fn settle(&mut self, literal: Lit, id: ClauseId) {
        self.assign(literal, None);
        if let Some(variable) = self.variables.get_mut(variable_of(literal)) {
            variable.unit = Some(id);
        }
    }

    /// Notes that the clause gives this literal its value for good.
    fn note_unit(&mut self, literal: Lit, clause: usize) {
        if self.log.is_none() {
            return;
        }
        let (Some(literals), Some(id)) = (self.clauses.get(clause), self.ids.get(clause).copied()) else {
            return;
        };
        let others: Vec<Lit> = literals.iter().copied().filter(|other| *other != literal).collect();
        let unit = self.derive(&[literal], &others, &[id]);
        if let Some(variable) = self.variables.get_mut(variable_of(literal)) {
            variable.unit = Some(unit);
        }
    }

    fn grow_to(&mut self, literal: Lit) {
        let index = variable_of(literal);
        while self.variables.len() <= index {
            // Wires count from one: the place of number zero is never open.
            let is_wire = !self.variables.is_empty();
            if is_wire {
                self.open.insert((Reverse(0), self.variables.len()));
            }
            self.variables.push(Variable { value: (!is_wire).then_some(false), ..Variable::default() });
            self.watches.extend([Vec::new(), Vec::new()]);
        }
    }

    fn value(&self, literal: Lit) -> Option<bool> {
        value_in(&self.variables, literal)
    }

    /// Takes a clause without false literals at level zero, or a learned one whose first literal is to be set.
    fn attach(&mut self, literals: Vec<Lit>, id: ClauseId) {
        match *literals.as_slice() {
            [] => self.is_contradiction = true,
            [only] => {
                self.settle(only, id);
                if let Some(clause) = self.propagate() {
                    self.contradict(clause);
                }
            }
            [first, second, ..] => {
                self.watch(first, self.clauses.len());
                self.watch(second, self.clauses.len());
                self.clauses.push(literals);
                self.ids.push(id);
            }
        }
    }

    fn watch(&mut self, literal: Lit, clause: usize) {
        if let Some(list) = self.watches.get_mut(literal_index(literal)) {
            list.push(clause);
        }
    }

    fn assign(&mut self, literal: Lit, reason: Option<usize>) {
        let level = self.decisions.len();
        let index = variable_of(literal);
        if let Some(variable) = self.variables.get_mut(index) {
            self.open.remove(&(Reverse(variable.activity), index));
            let value = literal.number() > 0;
            *variable = Variable { value: Some(value), last: value, level, reason, ..*variable };
        }
        self.trail.push(literal);
    }

    fn undo_to(&mut self, level: usize) {
        let Some(&length) = self.decisions.get(level) else { return };
        for literal in self.trail.drain(length..) {
            let index = variable_of(literal);
            if let Some(variable) = self.variables.get_mut(index) {
                variable.value = None;
                self.open.insert((Reverse(variable.activity), index));
            }
        }
        self.decisions.truncate(level);
        self.propagated = length;
    }

    /// Follows all consequences; the clause that fails, if one does.
    fn propagate(&mut self) -> Option<usize> {
        while let Some(&literal) = self.trail.get(self.propagated) {
            self.propagated = self.propagated.saturating_add(1);
            let falsified = literal.negated();
            let list = self.watches.get_mut(literal_index(falsified)).map(mem::take).unwrap_or_default();
            let mut conflict = None;
            for &clause in &list {
                // After a conflict the rest of the list only goes back.
                let looked = if conflict.is_none() { self.visit(clause, falsified) } else { Visit::Keep };
                match looked {
                    Visit::Moved => continue,
                    Visit::Keep => (),
                    Visit::Implies(literal) => {
                        self.assign(literal, Some(clause));
                        if self.decisions.is_empty() {
                            self.note_unit(literal, clause);
                        }
                    }
                    Visit::Conflict => conflict = Some(clause),
                }
                self.watch(falsified, clause);
            }
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    fn visit(&mut self, clause: usize, falsified: Lit) -> Visit {
        let Some([first, second, rest @ ..]) = self.clauses.get_mut(clause).map(Vec::as_mut_slice) else {
            return Visit::Keep;
        };
        if *first == falsified {
            mem::swap(first, second);
        }
        let truth = value_in(&self.variables, *first);
        if truth == Some(true) {
            return Visit::Keep;
        }
        if let Some(other) = rest.iter_mut().find(|other| value_in(&self.variables, **other) != Some(false)) {
            mem::swap(second, other);
            let (literal, index) = (*second, clause);
            self.watch(literal, index);
            return Visit::Moved;
        }
        if truth == Some(false) { Visit::Conflict } else { Visit::Implies(*first) }
    }

    /// Searches for a model under assumptions; whether there is one.
    fn search(&mut self, assumptions: &[Lit]) -> bool {
        let (mut conflicts, mut restarts) = (0_u64, 1_u64);
        while !self.is_contradiction {
            if let Some(clause) = self.propagate() {
                if self.decisions.is_empty() {
                    self.contradict(clause);
                    break;
                }
                let (learned, level, id) = self.analyse(clause);
                self.undo_to(level);
                self.learn(learned, id);
                conflicts = conflicts.saturating_add(1);
                if conflicts >= luby(restarts).saturating_mul(RESTART_UNIT) {
                    (conflicts, restarts) = (0, restarts.saturating_add(1));
                    self.undo_to(0);
                }
                continue;
            }
            let next = match assumptions.get(self.decisions.len()) {
                Some(assumed) if self.value(*assumed) == Some(false) => return false,
                Some(assumed) => Some(*assumed),
                None => self.open.first().map(|(_, index)| {
                    let last = self.variables.get(*index).is_some_and(|variable| variable.last);
                    literal_of(*index, last)
                }),
            };
            let Some(next) = next else { return true };
            self.decisions.push(self.trail.len());
            // An assumption that holds already still takes its level, so that levels count assumptions.
            if self.value(next).is_none() {
                self.assign(next, None);
            }
        }
        false
    }

    fn learn(&mut self, learned: Vec<Lit>, id: ClauseId) {
        let Some(&first) = learned.first() else {
            self.is_contradiction = true;
            return;
        };
        if learned.len() == 1 {
            self.settle(first, id);
            return;
        }
        let index = self.clauses.len();
        self.attach(learned, id);
        self.assign(first, Some(index));
    }

    /// The first unique implication point: what to learn from a conflict, the level to go back to, and its name.
    fn analyse(&mut self, conflict: usize) -> (Vec<Lit>, usize, ClauseId) {
        let current = self.decisions.len();
        let mut seen = vec![false; self.variables.len()];
        let mut learned = Vec::new();
        let (mut settled, mut from) = (Vec::new(), Vec::new());
        let mut open = 0_usize;
        let mut reason = Some(conflict);
        let mut trail = self.trail.clone().into_iter().rev();
        let first = loop {
            let clause = reason.and_then(|clause| self.clauses.get(clause)).cloned().unwrap_or_default();
            from.extend(reason.and_then(|clause| self.ids.get(clause)));
            for literal in clause {
                let index = variable_of(literal);
                let level = self.variables.get(index).map_or(0, |variable| variable.level);
                let Some(seen) = seen.get_mut(index).filter(|seen| !**seen) else { continue };
                *seen = true;
                if level == 0 {
                    settled.push(literal);
                    continue;
                }
                self.bump(index);
                if level == current {
                    open = open.saturating_add(1);
                } else {
                    learned.push(literal);
                }
            }
            let is_seen = |literal: &Lit| seen.get(variable_of(*literal)).copied().unwrap_or(false);
            let Some(literal) = trail.by_ref().find(is_seen) else { break None };
            open = open.saturating_sub(1);
            if open == 0 {
                break Some(literal.negated());
            }
            reason = self.variables.get(variable_of(literal)).and_then(|variable| variable.reason);
            // The literal itself is in its own reason; it is seen, so it is not counted again.
        };
        self.bump = self.bump.saturating_add(self.bump >> 4).saturating_add(1);
        let level_of =
            |literal: &Lit| self.variables.get(variable_of(*literal)).map_or(0, |variable| variable.level);
        // The second literal must be of the level that is gone back to, for both watches to be right.
        learned.sort_by_key(|literal| (Reverse(level_of(literal)), *literal));
        let level = learned.first().map_or(0, level_of);
        let learned: Vec<Lit> = first.into_iter().chain(learned).collect();
        // A proof goes the other way: from what was decided to the clause that failed.
        from.reverse();
        let id = self.derive(&learned, &settled, &from);
        (learned, level, id)
    }

    fn bump(&mut self, index: usize) {
        let bump = self.bump.max(1);
        let Some(variable) = self.variables.get_mut(index) else { return };
        let was_open = self.open.remove(&(Reverse(variable.activity), index));
        variable.activity = variable.activity.saturating_add(bump);
        let is_large = variable.activity > ACTIVITY_MAX;
        if was_open {
            self.open.insert((Reverse(variable.activity), index));
        }
        if is_large {
            for variable in &mut self.variables {
                variable.activity >>= 30;
            }
            let open = self.variables.iter().enumerate().filter(|(_, variable)| variable.value.is_none());
            self.open = open.map(|(index, variable)| (Reverse(variable.activity), index)).collect();
            self.bump = (self.bump >> 30).max(1);
        }
    }
}

enum Visit {
    Keep,
    Moved,
    Implies(Lit),
    Conflict,
}

fn value_in(variables: &[Variable], literal: Lit) -> Option<bool> {
    let value = variables.get(variable_of(literal)).and_then(|variable| variable.value)?;
    Some(value == (literal.number() > 0))
}

fn variable_of(literal: Lit) -> usize {
    usize::try_from(literal.variable()).unwrap_or(0)
}

fn literal_of(variable: usize, is: bool) -> Lit {
    let wire = Lit::wire(u32::try_from(variable).unwrap_or(0));
    if is { wire } else { wire.negated() }
}

fn literal_index(literal: Lit) -> usize {
    (variable_of(literal) << 1) | usize::from(literal.number() < 0)
}

/// 1, 1, 2, 1, 1, 2, 4, 1, …
fn luby(index: u64) -> u64 {
    let mut index = index;
    loop {
        let size = index.saturating_add(1);
        if size.is_power_of_two() {
            return size >> 1;
        }
        // Recurse into the repeated first half.
        let half = size.next_power_of_two() >> 1;
        index = size.saturating_sub(half);
    }
}

#[cfg(test)]
mod tests;

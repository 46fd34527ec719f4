//! What a proof is made of: every clause that the solver derived, and those that it follows from.

use alloc::{string::String, vec, vec::Vec};
use core::fmt::Write as _;

use crate::Lit;

/// What a clause is called, before all are known and numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClauseId {
    /// It was given, the how manieth from zero.
    Given(usize),
    /// It was derived, the how manieth from zero.
    Derived(usize),
}

impl ClauseId {
    /// For solvers that keep no log.
    pub(super) const UNNAMED: Self = Self::Given(0);
}

/// The clauses that were derived so far.
#[derive(Debug, Default)]
pub(super) struct Log {
    given: usize,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    literals: Vec<Lit>,
    // In an order in which each one forces a literal, and the last one fails.
    hints: Vec<ClauseId>,
}

impl Log {
    /// Counts one more given clause.
    pub(super) fn give(&mut self) -> ClauseId {
        let id = ClauseId::Given(self.given);
        self.given = self.given.saturating_add(1);
        id
    }

    /// Keeps a derived clause.
    pub(super) fn derive(&mut self, literals: Vec<Lit>, hints: Vec<ClauseId>) -> ClauseId {
        self.steps.push(Step { literals, hints });
        ClauseId::Derived(self.steps.len().saturating_sub(1))
    }

    /// The steps that the contradiction needs, as text; nothing if there is no contradiction.
    pub(super) fn to_lrat(&self) -> Option<String> {
        let end = self.steps.iter().position(|step| step.literals.is_empty())?;
        let mut numbers = vec![None; end.saturating_add(1)];
        for (number, index) in (self.given.saturating_add(1)..).zip(self.needed(end)) {
            *numbers.get_mut(index)? = Some(number);
        }
        let mut text = String::new();
        for (step, number) in
            self.steps.iter().zip(&numbers).filter_map(|(step, number)| Some((step, (*number)?)))
        {
            write!(text, "{number} ").ok()?;
            for literal in &step.literals {
                write!(text, "{} ", literal.number()).ok()?;
            }
            text.push_str("0 ");
            for hint in &step.hints {
                let number = match *hint {
                    ClauseId::Given(index) => index.checked_add(1)?,
                    ClauseId::Derived(index) => numbers.get(index).copied().flatten()?,
                };
                write!(text, "{number} ").ok()?;
            }
            text.push_str("0\n");
        }
        Some(text)
    }

    /// The steps that the step at `end` stands on, itself included, in order.
    fn needed(&self, end: usize) -> Vec<usize> {
        let mut is_needed = vec![false; end.saturating_add(1)];
        let mut open = vec![end];
        while let Some(index) = open.pop() {
            let Some(mark) = is_needed.get_mut(index).filter(|mark| !**mark) else { continue };
            *mark = true;
            let hints = self.steps.get(index).map_or(&[][..], |step| &step.hints);
            open.extend(hints.iter().filter_map(|hint| match *hint {
                ClauseId::Given(_) => None,
                ClauseId::Derived(index) => Some(index),
            }));
        }
        (0..).zip(is_needed).filter_map(|(index, is_needed)| is_needed.then_some(index)).collect()
    }
}

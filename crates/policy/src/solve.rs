//! Asking a solver about a circuit, and the smallest answers.

use alloc::vec::Vec;

use crate::{Algebra as _, Circuit, Lit, Model};

/// A SAT solver. The kernel brings the formula; whoever has a machine brings the solver.
pub trait Solver {
    /// Why there is no answer.
    type Error;

    /// Adds a clause for good.
    ///
    /// # Errors
    ///
    /// Fails if the solver does.
    fn add(&mut self, clause: &[Lit]) -> Result<(), Self::Error>;

    /// A model of all clauses in which these literals hold; nothing if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the solver gives up.
    fn solve(&mut self, assumptions: &[Lit], wires: u32) -> Result<Option<Model>, Self::Error>;
}

/// A circuit and the solver that knows it.
#[derive(Debug)]
pub struct Session<'s, S> {
    /// The circuit; what it gains is told to the solver with the next question.
    pub circuit: Circuit,
    solver: &'s mut S,
    known: usize,
    counts: Vec<Lit>,
}

impl<'s, S: Solver> Session<'s, S> {
    /// Starts asking this solver, which must be fresh.
    pub fn new(circuit: Circuit, solver: &'s mut S) -> Self {
        Self { circuit, solver, known: 0, counts: Vec::new() }
    }

    /// A model in which these literals hold; nothing if there is none.
    ///
    /// # Errors
    ///
    /// Fails if the solver does.
    pub fn solve(&mut self, assumptions: &[Lit]) -> Result<Option<Model>, S::Error> {
        for clause in self.circuit.clauses().iter().skip(self.known) {
            self.solver.add(clause)?;
        }
        self.known = self.circuit.clauses().len();
        self.solver.solve(assumptions, self.circuit.wires())
    }

    /// The smallest model in which these literals hold: fewest facts, and of those the first in the order of facts.
    ///
    /// So the answer does not depend on the solver.
    ///
    /// # Errors
    ///
    /// Fails if the solver does.
    pub fn smallest(&mut self, assumptions: &[Lit]) -> Result<Option<Model>, S::Error> {
        let Some(mut model) = self.solve(assumptions)? else { return Ok(None) };
        let facts = self.circuit.facts();
        let count = |model: &Model| facts.iter().filter(|fact| model.holds(**fact)).count();
        let mut held = assumptions.to_vec();
        loop {
            let found = count(&model);
            let Some(too_many) = found.checked_sub(1) else { return Ok(Some(model)) };
            if self.counts.len() <= found {
                self.counts = self.circuit.at_least(&facts, found.saturating_mul(2).max(8));
            }
            // "Not at least `found`" is "fewer than this model has".
            let Some(fewer) = self.counts.get(too_many).map(|at_least| at_least.negated()) else { break };
            let attempt: Vec<Lit> = held.iter().copied().chain([fewer]).collect();
            match self.solve(&attempt)? {
                Some(smaller) => model = smaller,
                None => {
                    held.extend(self.counts.get(found).map(|at_least| at_least.negated()));
                    break;
                }
            }
        }
        for fact in facts {
            if model.holds(fact) {
                let attempt: Vec<Lit> = held.iter().copied().chain([fact.negated()]).collect();
                if let Some(other) = self.solve(&attempt)? {
                    model = other;
                }
            }
            held.push(if model.holds(fact) { fact } else { fact.negated() });
        }
        Ok(Some(model))
    }

    pub(crate) fn any(&mut self, bits: impl IntoIterator<Item = Lit>) -> Lit {
        let nothing = self.circuit.constant(false);
        bits.into_iter().fold(nothing, |any, bit| self.circuit.or(any, bit))
    }
}

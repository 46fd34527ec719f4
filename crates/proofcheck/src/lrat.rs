//! The checker: every step must follow from what was there before, by the clauses that the step itself names.

use alloc::{vec, vec::Vec};
use core::fmt;

/// LIMIT: how many wires a formula may have; far more than any policy needs, and a few megabytes of truth values.
const WIRES_MAX: u32 = 1 << 24;

/// What a proof that holds consisted of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    /// How many clauses were derived, the empty one included.
    pub steps: usize,
    /// How many clauses these steps named.
    pub hints: usize,
}

/// Why a proof does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofFault {
    /// A literal of the formula is zero, or beyond the limit.
    Literal,
    /// This line, counted from one, is not `id literal... 0 id... 0` in single spaces.
    Line(usize),
    /// This step's number is not above all numbers before.
    Order(usize),
    /// This step speaks of a wire that the formula does not have.
    Wire(usize),
    /// This step's clause says a thing and its opposite.
    Tautology(usize),
    /// This step names a clause that is not there.
    Missing(usize),
    /// This step names a clause that is neither a consequence nor a contradiction yet.
    NotUnit(usize),
    /// This step names clauses without coming to a contradiction.
    NoContradiction(usize),
    /// Something stands after the contradiction that ends the proof, or after the one that ends this step.
    Excess(usize),
    /// The proof ends before the empty clause is derived.
    Unfinished,
}

impl fmt::Display for ProofFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal => f.write_str("the formula has a literal that is none"),
            Self::Line(line) => write!(f, "line {line} of the proof is not a step"),
            Self::Order(line) => write!(f, "line {line} of the proof has a number that was used already"),
            Self::Wire(line) => write!(f, "line {line} of the proof has a wire that the formula has not"),
            Self::Tautology(line) => write!(f, "line {line} of the proof says a thing and its opposite"),
            Self::Missing(line) => write!(f, "line {line} of the proof names a clause that is not there"),
            Self::NotUnit(line) => {
                write!(f, "line {line} of the proof names a clause that does not follow yet")
            }
            Self::NoContradiction(line) => write!(f, "line {line} of the proof does not follow"),
            Self::Excess(line) => write!(f, "line {line} of the proof goes on after its end"),
            Self::Unfinished => f.write_str("the proof ends before the contradiction"),
        }
    }
}

impl core::error::Error for ProofFault {}

/// Checks that the proof derives the empty clause from the formula, so that the formula has no model.
///
/// The clauses of the formula have the numbers 1, 2, 3, … Each line of the proof is a step: its number, its literals, 0,
/// the numbers of the clauses that it follows from, 0. A step holds if, with all its literals false, each named clause in
/// turn forces one more literal, and the last one is false. Nothing else is taken: no deletions, no step that only keeps
/// satisfiability.
///
/// # Errors
///
/// Fails at the first step that does not hold.
pub fn check(formula: &[Vec<i32>], proof: &str) -> Result<Checked, ProofFault> {
    let mut known = Known::of(formula)?;
    let mut checked = Checked { steps: 0, hints: 0 };
    let mut is_over = false;
    for (index, line) in proof.split_terminator('\n').enumerate() {
        let number = index.saturating_add(1);
        if is_over {
            return Err(ProofFault::Excess(number));
        }
        let step = Step::parse(line).ok_or(ProofFault::Line(number))?;
        if step.id <= known.last_id() {
            return Err(ProofFault::Order(number));
        }
        checked.steps = checked.steps.saturating_add(1);
        checked.hints = checked.hints.saturating_add(step.hints.len());
        known.follows(&step, number)?;
        is_over = step.literals.is_empty();
        known.clauses.push((step.id, step.literals));
    }
    if is_over { Ok(checked) } else { Err(ProofFault::Unfinished) }
}

/// One line of a proof.
struct Step {
    id: u64,
    literals: Vec<i32>,
    hints: Vec<u64>,
}

impl Step {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let id = natural(words.next()?)?;
        let mut literals = Vec::new();
        loop {
            match words.next()? {
                "0" => break,
                word => literals.push(literal(word)?),
            }
        }
        let mut hints = Vec::new();
        loop {
            match words.next()? {
                "0" => break,
                word => hints.push(natural(word)?),
            }
        }
        words.next().is_none().then_some(Self { id, literals, hints })
    }
}

/// A number from one, in its one spelling.
fn natural(word: &str) -> Option<u64> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit()) && !word.starts_with('0');
    if is_plain { word.parse().ok() } else { None }
}

fn literal(word: &str) -> Option<i32> {
    let (digits, is_negative) = match word.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (word, false),
    };
    let wire = i32::try_from(natural(digits)?).ok()?;
    Some(if is_negative { wire.wrapping_neg() } else { wire })
}

/// The clauses that hold so far.
struct Known {
    // INVARIANT: sorted by number.
    clauses: Vec<(u64, Vec<i32>)>,
    /// Which literals are taken to be true while a step is looked at: two places for each wire.
    truth: Vec<bool>,
    /// Those literals, to be forgotten after the step.
    trail: Vec<i32>,
}

impl Known {
    fn of(formula: &[Vec<i32>]) -> Result<Self, ProofFault> {
        let is_literal = |literal: &i32| (1..=WIRES_MAX).contains(&literal.unsigned_abs());
        if !formula.iter().flatten().all(is_literal) {
            return Err(ProofFault::Literal);
        }
        let last = formula.iter().flatten().map(|literal| literal.saturating_abs()).max().unwrap_or(0);
        let places = place(last.wrapping_neg()).saturating_add(1);
        let clauses = (1..).zip(formula.iter().cloned()).collect();
        Ok(Self { clauses, truth: vec![false; places], trail: Vec::new() })
    }

    fn last_id(&self) -> u64 {
        self.clauses.last().map_or(0, |(id, _)| *id)
    }

    fn find(&self, id: u64) -> Option<usize> {
        // Most proofs number without gaps, so that a clause stands where its number says.
        let guess = usize::try_from(id).ok()?.checked_sub(1)?;
        if self.clauses.get(guess).is_some_and(|(found, _)| *found == id) {
            return Some(guess);
        }
        self.clauses.binary_search_by_key(&id, |(found, _)| *found).ok()
    }

    fn is_true(&self, literal: i32) -> bool {
        self.truth.get(place(literal)).copied().unwrap_or(false)
    }

    fn assume(&mut self, literal: i32) {
        if let Some(truth) = self.truth.get_mut(place(literal)) {
            *truth = true;
        }
        self.trail.push(literal);
    }

    fn forget(&mut self) {
        for literal in core::mem::take(&mut self.trail) {
            if let Some(truth) = self.truth.get_mut(place(literal)) {
                *truth = false;
            }
        }
    }

    /// Whether the step follows.
    fn follows(&mut self, step: &Step, line: usize) -> Result<(), ProofFault> {
        for literal in &step.literals {
            if place(*literal) >= self.truth.len() {
                return Err(ProofFault::Wire(line));
            }
            if self.is_true(*literal) {
                return Err(ProofFault::Tautology(line));
            }
            self.assume(literal.wrapping_neg());
        }
        let mut hints = step.hints.iter();
        for hint in hints.by_ref() {
            let found = self.find(*hint).ok_or(ProofFault::Missing(line))?;
            let Some((_, clause)) = self.clauses.get(found) else { return Err(ProofFault::Missing(line)) };
            let mut open = clause.iter().copied().filter(|literal| !self.is_true(literal.wrapping_neg()));
            let first = open.next();
            match (first, open.find(|other| Some(*other) != first)) {
                (None, _) => {
                    self.forget();
                    return if hints.len() == 0 { Ok(()) } else { Err(ProofFault::Excess(line)) };
                }
                (Some(forced), None) if !self.is_true(forced) => self.assume(forced),
                (Some(_), None | Some(_)) => return Err(ProofFault::NotUnit(line)),
            }
        }
        Err(ProofFault::NoContradiction(line))
    }
}

/// Where a literal's truth is kept.
fn place(literal: i32) -> usize {
    let wire = usize::try_from(literal.unsigned_abs()).unwrap_or(usize::MAX >> 1);
    (wire << 1) | usize::from(literal < 0)
}

#[cfg(test)]
mod tests;

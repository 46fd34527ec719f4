//! Conditions as disjunctions of terms, where that stays small.

use alloc::{vec, vec::Vec};

use super::facts::Place;
use crate::Expr;

/// LIMIT: a condition with more terms is walked as a tree instead; columns would only cost memory.
const TERMS_MAX: usize = 32;

/// An atom's place, and what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    pub(super) place: Place,
    pub(super) is: bool,
}

/// The terms of a condition: it holds if all literals of one of them do. Nothing if there are too many.
pub(super) fn terms(condition: &Expr<Place>) -> Option<Vec<Vec<Literal>>> {
    terms_of(condition, true)
}

/// Recursion is bounded as the condition's depth is.
fn terms_of(condition: &Expr<Place>, is: bool) -> Option<Vec<Vec<Literal>>> {
    match (condition, is) {
        (Expr::Leaf(place), _) => Some(vec![vec![Literal { place: *place, is }]]),
        (Expr::Not(inner), _) => terms_of(inner, !is),
        (Expr::And(parts), true) | (Expr::Or(parts), false) => conjunction(parts, is),
        (Expr::Or(parts), true) | (Expr::And(parts), false) => disjunction(parts, is),
    }
}

fn disjunction(parts: &[Expr<Place>], is: bool) -> Option<Vec<Vec<Literal>>> {
    let mut all = Vec::new();
    for part in parts {
        all.extend(terms_of(part, is)?);
        if all.len() > TERMS_MAX {
            return None;
        }
    }
    Some(all)
}

fn conjunction(parts: &[Expr<Place>], is: bool) -> Option<Vec<Vec<Literal>>> {
    let mut all = vec![Vec::new()];
    for part in parts {
        let part = terms_of(part, is)?;
        if all.len().saturating_mul(part.len()) > TERMS_MAX {
            return None;
        }
        all =
            all.iter().flat_map(|left| part.iter().map(|right| [left.as_slice(), right].concat())).collect();
    }
    Some(all)
}

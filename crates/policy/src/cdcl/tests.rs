//! The solver against an exhaustive search on small random formulas, and on formulas with a known answer.
#![expect(clippy::arithmetic_side_effects, reason = "tests count")]

use alloc::{vec, vec::Vec};

use proptest::{prelude::ProptestConfig, prop_assert, prop_assert_eq, proptest};

use super::{Cdcl, luby};
use crate::{Lit, Solver as _};

fn literal(number: i32) -> Lit {
    let wire = Lit::wire(number.unsigned_abs());
    if number < 0 { wire.negated() } else { wire }
}

/// Whether some assignment of wires 1 to `wires` satisfies all clauses.
fn exists(clauses: &[Vec<i32>], wires: u32) -> bool {
    (0_u32..1 << wires).any(|on| {
        clauses.iter().all(|clause| {
            clause.iter().any(|literal| (on >> (literal.unsigned_abs() - 1) & 1 == 1) == (*literal > 0))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn it_agrees_with_exhaustive_search(
        clauses in proptest::collection::vec(proptest::collection::vec((1..8_i32, proptest::bool::ANY), 1..4), 0..40),
        assumed in proptest::collection::vec((1..8_i32, proptest::bool::ANY), 0..3),
    ) {
        let signed = |(wire, is): &(i32, bool)| if *is { *wire } else { -*wire };
        let clauses: Vec<Vec<i32>> = clauses.iter().map(|clause| clause.iter().map(signed).collect()).collect();
        let mut solver = Cdcl::default();
        // Asked in between as well: the solver is incremental.
        for (index, clause) in clauses.iter().enumerate() {
            solver.add(&clause.iter().map(|number| literal(*number)).collect::<Vec<_>>()).unwrap();
            if index % 7 == 3 {
                let so_far = solver.solve(&[], 7).unwrap().is_some();
                prop_assert_eq!(so_far, exists(&clauses[..=index], 7));
            }
        }
        let assumptions: Vec<Lit> = assumed.iter().map(|one| literal(signed(one))).collect();
        let with: Vec<Vec<i32>> = clauses.iter().cloned().chain(assumed.iter().map(|one| vec![signed(one)])).collect();
        let model = solver.solve(&assumptions, 7).unwrap();
        prop_assert_eq!(model.is_some(), exists(&with, 7));
        if let Some(model) = model {
            prop_assert!(with.iter().all(|clause| clause.iter().any(|number| model.holds(literal(*number)))));
        }
    }
}

fn as_numbers(clauses: &[Vec<Lit>]) -> Vec<Vec<i32>> {
    clauses.iter().map(|clause| clause.iter().map(|literal| literal.number()).collect()).collect()
}

/// Every contradiction that is found comes with a proof that a checker of its own accepts.
#[track_caller]
fn check_proof(clauses: &[Vec<Lit>]) -> bool {
    let mut solver = Cdcl::proving();
    for clause in clauses {
        solver.add(clause).unwrap();
    }
    let has_model = solver.solve(&[], 50).unwrap().is_some();
    match solver.refutation() {
        None => assert!(has_model, "a contradiction without a proof"),
        Some(proof) => {
            assert!(!has_model, "a proof beside a model");
            countersign_proofcheck::check(&as_numbers(clauses), &proof).unwrap();
        }
    }
    has_model
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn a_contradiction_is_proved(
        clauses in proptest::collection::vec(proptest::collection::vec((1..10_i32, proptest::bool::ANY), 1..4), 20..70),
    ) {
        let signed = |(wire, is): &(i32, bool)| literal(if *is { *wire } else { -*wire });
        let clauses: Vec<Vec<Lit>> = clauses.iter().map(|clause| clause.iter().map(signed).collect()).collect();
        check_proof(&clauses);
    }
}

/// Seven pigeons, six holes: no way, and no short reason either.
#[test]
fn pigeons_do_not_fit() {
    let (pigeons, holes) = (7_i32, 6_i32);
    let at = |pigeon: i32, hole: i32| literal(pigeon * holes + hole + 1);
    let mut clauses = Vec::new();
    for pigeon in 0..pigeons {
        clauses.push((0..holes).map(|hole| at(pigeon, hole)).collect::<Vec<_>>());
    }
    for hole in 0..holes {
        for one in 0..pigeons {
            for other in 0..one {
                clauses.push(vec![at(one, hole).negated(), at(other, hole).negated()]);
            }
        }
    }
    assert!(!check_proof(&clauses));
}

#[test]
fn the_luby_sequence() {
    let first: Vec<u64> = (1..=15).map(luby).collect();
    assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
}

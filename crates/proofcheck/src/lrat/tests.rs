//! Proofs that hold, every way in which one does not, and that nothing false gets through.

use alloc::{format, string::String, vec, vec::Vec};

use proptest::{prelude::ProptestConfig, prop_assert, proptest};

use super::{Checked, ProofFault, check};

fn formula() -> Vec<Vec<i32>> {
    vec![vec![1, 2], vec![1, -2], vec![-1, 3], vec![-1, -3]]
}

#[test]
fn a_proof_that_holds_is_counted() {
    let proof = "5 1 0 1 2 0\n6 0 5 3 4 0\n";
    assert_eq!(check(&formula(), proof), Ok(Checked { steps: 2, hints: 5 }));
    let gaps = "7 1 0 1 2 0\n20 0 7 3 4 0\n";
    assert_eq!(check(&formula(), gaps), Ok(Checked { steps: 2, hints: 5 }));
}

#[test]
fn a_proof_that_does_not_hold_is_refused_for_its_reason() {
    let cases = [
        ("", ProofFault::Unfinished),
        ("5 1 0 1 2 0\n", ProofFault::Unfinished),
        ("4 1 0 1 2 0\n6 0 5 3 4 0\n", ProofFault::Order(1)),
        ("5 1 0 1 2 0\n5 0 5 3 4 0\n", ProofFault::Order(2)),
        ("5 1 0 1 9 0\n6 0 5 3 4 0\n", ProofFault::Missing(1)),
        ("5 1 0 1 5 0\n6 0 5 3 4 0\n", ProofFault::Missing(1)),
        ("5 2 0 2 0\n", ProofFault::NotUnit(1)),
        ("5 1 0 1 0\n", ProofFault::NoContradiction(1)),
        ("5 0 0\n", ProofFault::NoContradiction(1)),
        ("5 4 0 1 0\n", ProofFault::Wire(1)),
        ("5 -2147483647 0 1 0\n", ProofFault::Wire(1)),
        ("5 1 0 1 2 0\r\n", ProofFault::Line(1)),
        ("5 1 -1 0 1 0\n", ProofFault::Tautology(1)),
        ("5 1 0 1 2 3 0\n6 0 5 3 4 0\n", ProofFault::Excess(1)),
        ("5 1 0 1 2 0\n6 0 5 3 4 0\n7 0 5 3 4 0\n", ProofFault::Excess(3)),
        ("5 1 0 1 1 0\n", ProofFault::NotUnit(1)),
        ("5 1 0 1 2 0 \n", ProofFault::Line(1)),
        ("5 1 0 1 2\n", ProofFault::Line(1)),
        ("5  1 0 1 2 0\n", ProofFault::Line(1)),
        ("05 1 0 1 2 0\n", ProofFault::Line(1)),
        ("5 d 1 0\n", ProofFault::Line(1)),
        ("5 1 0 -1 2 0\n", ProofFault::Line(1)),
        ("5 99999999999 0 1 2 0\n", ProofFault::Line(1)),
        ("5 +1 0 1 2 0\n", ProofFault::Line(1)),
        ("\n5 1 0 1 2 0\n6 0 5 3 4 0\n", ProofFault::Line(1)),
    ];
    for (proof, fault) in cases {
        assert_eq!(check(&formula(), proof), Err(fault), "{proof:?}");
    }
    assert_eq!(check(&[vec![0]], "2 0 1 0\n"), Err(ProofFault::Literal));
    assert_eq!(check(&[vec![i32::MIN]], "2 0 1 0\n"), Err(ProofFault::Literal));
    assert_eq!(check(&[vec![1 << 24], vec![-(1 << 24)]], "3 0 1 2 0\n"), Ok(Checked { steps: 1, hints: 2 }));
    assert_eq!(check(&[vec![(1 << 24) + 1]], "2 0 1 0\n"), Err(ProofFault::Literal));
}

#[test]
fn a_formula_with_a_model_has_no_proof() {
    let mut formula = formula();
    formula.pop();
    assert!(check(&formula, "5 1 0 1 2 0\n6 0 5 3 0\n").is_err());
}

/// Whether some assignment of wires 1 to 4 satisfies all clauses.
fn has_model(formula: &[Vec<i32>]) -> bool {
    (0_u32..16).any(|on| {
        let holds =
            |literal: &i32| (on >> literal.unsigned_abs().saturating_sub(1) & 1 == 1) == (*literal > 0);
        formula.iter().all(|clause| clause.iter().any(holds))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20_000) })]

    /// Random formulas of four wires with random proofs: what is accepted has no model, and nothing panics.
    #[test]
    fn nothing_false_gets_through(
        formula in proptest::collection::vec(proptest::collection::vec((1..5_i32, proptest::bool::ANY), 0..3), 1..10),
        steps in proptest::collection::vec(
            (proptest::collection::vec((1..5_i32, proptest::bool::ANY), 0..2), proptest::collection::vec(1..14_u64, 1..4)),
            1..4,
        ),
    ) {
        let signed = |(wire, is): &(i32, bool)| if *is { *wire } else { wire.wrapping_neg() };
        let formula: Vec<Vec<i32>> = formula.iter().map(|clause| clause.iter().map(signed).collect()).collect();
        let mut proof = String::new();
        let mut id = formula.len();
        for (literals, hints) in &steps {
            id = id.saturating_add(1);
            let words = literals.iter().map(|one| format!("{} ", signed(one)));
            let hints = hints.iter().map(|hint| format!("{hint} "));
            proof.push_str(&format!("{id} {}0 {}0\n", words.collect::<String>(), hints.collect::<String>()));
        }
        id = id.saturating_add(1);
        let all = (1..id).map(|hint| format!("{hint} ")).collect::<String>();
        proof.push_str(&format!("{id} 0 {all}0\n"));
        if check(&formula, &proof).is_ok() {
            prop_assert!(!has_model(&formula));
        }
    }

    #[test]
    fn no_text_makes_it_panic(proof in "[0-9d \\n-]{0,60}") {
        let accepted = check(&formula(), &proof);
        prop_assert!(accepted.is_err() || proof.contains(" 0 "));
    }
}

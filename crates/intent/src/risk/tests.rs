//! The tables of the guide, at and one past every bound.

use countersign_canon::Within;

use super::{blast_score, relationship, scope_score, unknowns_score};
use crate::wire::{Area, Dimensions, Environment, Relationship};

#[test]
fn scope_is_environment_times_breadth_up_to_a_hundred() {
    let of = |breadth: usize| {
        [Environment::Local, Environment::Dev, Environment::Staging, Environment::Prod]
            .map(|environment| scope_score(environment, breadth))
    };
    assert_eq!(of(0), [5, 10, 25, 50]);
    assert_eq!(of(5), [5, 10, 25, 50]);
    assert_eq!(of(6), [10, 20, 50, 100]);
    assert_eq!(of(20), [10, 20, 50, 100]);
    assert_eq!(of(21), [15, 30, 75, 100]);
    assert_eq!(of(50), [15, 30, 75, 100]);
    assert_eq!(of(51), [20, 40, 100, 100]);
}

#[test]
fn blast_is_files_times_criticality_up_to_a_hundred() {
    let of = |areas: &[Area]| [0, 5, 6, 20, 21, 50, 51].map(|files| blast_score(files, areas));
    assert_eq!(of(&[]), [10, 10, 30, 30, 60, 60, 90]);
    assert_eq!(of(&[Area::Docs, Area::Frontend]), of(&[]));
    for area in [Area::Security, Area::Data, Area::Infra, Area::Ops] {
        assert_eq!(of(&[Area::Docs, area]), [12, 12, 36, 36, 72, 72, 100]);
    }
}

#[test]
fn the_more_evidence_the_less_is_unknown() {
    assert_eq!([0, 5, 6, 10, 11, 20, 21].map(unknowns_score), [90, 90, 60, 60, 30, 30, 10]);
}

#[test]
fn one_dominates_if_it_is_nowhere_lower_and_somewhere_higher() {
    let of = |scores: [i64; 4]| {
        let [effects_risk, scope_risk, blast_radius, unknowns] = scores.map(Within::clamped);
        Dimensions { effects_risk, scope_risk, blast_radius, unknowns }
    };
    let check = |a, b| relationship(&of(a), &of(b));
    assert_eq!(check([1, 1, 1, 2], [1, 1, 1, 1]), Relationship::ADominatesB);
    assert_eq!(check([1, 1, 1, 1], [1, 2, 1, 1]), Relationship::BDominatesA);
    assert_eq!(check([2, 1, 1, 1], [1, 2, 1, 1]), Relationship::Incomparable);
    assert_eq!(check([1, 1, 1, 1], [1, 1, 1, 1]), Relationship::Incomparable, "all equal is no dominance");
}

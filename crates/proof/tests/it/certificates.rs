//! Certificates that are damaged, or that were forged with a right hash: none is accepted.

use countersign_canon::Sha256;
use countersign_policy::shipped::STANDARD;
use countersign_proof::{Certificate, Outcome, Subject, Theorem, check, prove};
use proptest::{prelude::ProptestConfig, prop_assert, proptest};

use crate::policies::{self, and, atom, rule};

/// A small certificate, so that every byte of it can be damaged.
fn certificate() -> Certificate {
    let rules = [
        rule("allow.write", 50, &and(&[atom("mode_is:writes_allowed"), atom("action_kind_is:write")])),
        rule("require.write", 40, &atom("action_kind_is:write")),
    ];
    let documents = countersign_proof::Documents {
        policy: policies::policy(&rules),
        lattice: policies::object(
            br#"{"schema": "urm.capability.lattice.v1", "capabilities": [{"id": "write", "probe": "none"}],
            "actions": {"write": {"capability": "write", "requires_writes_allowed": true, "requires_approval": true}}}"#,
        ),
        allow: policies::object(br#"{"schema": "urm.allow.v1", "roles": {"copilot": ["write"]}}"#),
        other: None,
    };
    let proof = prove(&Theorem::NoWrite, &Subject::load(documents).unwrap()).unwrap();
    match proof.outcome {
        Outcome::Proved(certificate) => *certificate,
        Outcome::Failed(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn no_damaged_byte_is_accepted() {
    let good = certificate().to_text().into_bytes();
    check(&good).unwrap();
    for at in 0..good.len() {
        for change in [1_u8, 0x20, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= change;
            assert!(check(&bad).is_err(), "byte {at} changed by {change}");
        }
        let mut short = good.clone();
        short.remove(at);
        assert!(check(&short).is_err(), "byte {at} gone");
        assert!(check(&good[..at]).is_err(), "cut at {at}");
    }
    assert!(check(&[&good[..], b"\n"].concat()).is_err());
}

/// The text with its first line made right again.
fn sealed(rest: &str) -> String {
    format!("countersign.certificate@1 {}\n{rest}", Sha256::of(rest.as_bytes()))
}

#[test]
fn what_was_forged_with_a_right_hash_is_refused_too() {
    let good = certificate().to_text();
    let (_, rest) = good.split_once('\n').unwrap();
    assert_eq!(sealed(rest), good);
    let forgeries = [
        // Another policy under the same proof.
        rest.replace("\"mode_is\"", "\"role_is\""),
        rest.replace("\"requires_approval\":true", "\"requires_approval\":false"),
        // Another theorem.
        rest.replace("no_write_without_mode_and_approval", "policies_are_equivalent"),
        rest.replace("no_write_without_mode_and_approval", "approval_single_use_atomicity"),
        rest.replace("\"encoder_version\":\"1.2.0\"", "\"encoder_version\":\"0.9.0\""),
        // A witness that shows nothing.
        rest.replace("\"mode\":\"writes_allowed\"", "\"mode\":\"read_only\""),
        rest.replace("\"approval_unused\":true", "\"approval_unused\":false"),
    ];
    for forged in forgeries {
        assert_ne!(forged, rest);
        let refused = check(sealed(&forged).as_bytes()).unwrap_err();
        assert_eq!(refused.code.as_str(), "PROOF_CERTIFICATE_INVALID", "{refused}");
    }
}

/// A claim left out proves only the others.
#[test]
fn half_a_certificate_is_none() {
    let mut half = certificate();
    half.body.claims.pop();
    half.proofs.pop();
    assert!(check(half.to_text().as_bytes()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// A number of a proof changed, with a right hash: refused, or the step still follows and the proof is one.
    #[test]
    fn a_changed_step_is_refused_or_harmless(at: u32, with in 0..40_u32) {
        let good = certificate();
        let numbers: usize = good.proofs.iter().map(|proof| proof.split_ascii_whitespace().count()).sum();
        let at = usize::try_from(at).unwrap() % numbers;
        let mut count = 0;
        let mut forged = good.clone();
        for proof in &mut forged.proofs {
            let lines = proof.lines().map(|line| {
                let words = line.split(' ').map(|word| {
                    count += 1;
                    if count == at + 1 { with.to_string() } else { word.to_owned() }
                });
                words.collect::<Vec<_>>().join(" ")
            });
            *proof = lines.map(|line| format!("{line}\n")).collect();
        }
        let accepted = check(forged.to_text().as_bytes());
        if forged != good && accepted.is_ok() {
            // The empty clause was still derived, from the very formula of the documents.
            prop_assert!(forged.proofs.iter().all(|proof| proof.lines().last().unwrap().contains(" 0 ")));
        }
    }
}

#[test]
fn what_is_no_certificate_is_refused() {
    for text in ["", "\n", "countersign.certificate@1\n", "countersign.certificate@1 00\n{}\n", "{}"] {
        assert!(check(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(check(sealed("").as_bytes()).is_err());
    assert!(check(sealed("{}\n").as_bytes()).is_err());
    assert!(check(&[0xFF, 0xFE]).is_err());
}

#[test]
fn the_exploration_is_done_again() {
    let Outcome::Proved(good) = prove(&Theorem::SingleUse, &policies::subject(STANDARD)).unwrap().outcome
    else {
        panic!("not proved")
    };
    let report = check(good.to_text().as_bytes()).unwrap();
    assert_eq!(report.theorem, Theorem::SingleUse);
    let states = report.exploration.unwrap().states.get();
    assert!(states > 100_000, "{states}");
    let text = good.to_text();
    let (_, rest) = text.split_once('\n').unwrap();
    let forged = rest.replace(&format!("\"states\":{states}"), &format!("\"states\":{}", states - 1));
    assert!(check(sealed(&forged).as_bytes()).is_err());
}

//! The pilot obligations on what ships, and on generated policies at the cap.

use countersign_policy::shipped::{STANDARD, STRICT};
use countersign_proof::{
    Documents, Failure, Never, Obligation, ObligationSchema, Outcome, Scope, Subject, Theorem, check, prove,
};

use crate::policies;

mod k4_1 {
    use super::{Outcome, STANDARD, STRICT, Scope, Theorem, check, policies, prove};

    #[test]
    fn no_write_without_mode_and_approval_on_the_shipped_policies() {
        for bundle in [STANDARD, STRICT] {
            let proof = prove(&Theorem::NoWrite, &policies::subject(bundle)).unwrap();
            let Outcome::Proved(certificate) = &proof.outcome else { panic!("{:?}", proof.outcome) };
            let report = check(certificate.to_text().as_bytes()).unwrap();
            let scopes: Vec<Scope> = report.claims.iter().map(|claim| claim.scope).collect();
            assert_eq!(scopes, [Scope::Kernel, Scope::Authorize]);
            assert_eq!(report.artifact, proof.artifact, "the checker finds the prover's artifact");
            assert!(proof.artifact.is_itself());
        }
    }

    #[test]
    fn a_proof_is_of_exactly_its_documents() {
        let standard = prove(&Theorem::NoWrite, &policies::subject(STANDARD)).unwrap().artifact;
        let strict = prove(&Theorem::NoWrite, &policies::subject(STRICT)).unwrap().artifact;
        let inputs: Vec<&str> = standard.inputs.iter().map(|input| input.object_id.as_str()).collect();
        assert_eq!(
            inputs,
            ["policy", "lattice", "allow", "obligation", "encoder", "formula.kernel", "formula.authorize"]
        );
        assert_eq!(standard.inputs[0].formula_hash, *policies::subject(STANDARD).policy().hash().digest());
        assert_ne!(standard.proof_id, strict.proof_id);
        let again = prove(&Theorem::NoWrite, &policies::subject(STANDARD)).unwrap().artifact;
        assert_eq!(standard, again, "the same proof has the same bytes");
    }
}

#[test]
fn a_policy_of_five_hundred_rules_is_proved_and_refuted() {
    let documents = policies::five_hundred();
    let subject = Subject::load(documents.clone()).unwrap();
    let proof = prove(&Theorem::NoWrite, &subject).unwrap();
    let Outcome::Proved(certificate) = &proof.outcome else { panic!("{:?}", proof.outcome) };
    check(certificate.to_text().as_bytes()).unwrap();

    let rules = documents.policy.get("rules").unwrap().to_canonical();
    // One require of two dozen is gone.
    let require =
        policies::policy(&[policies::rule("require.r048", 30, &policies::atom("action_kind_is:kind.k48"))]);
    let gone = require.get("rules").unwrap().as_array().unwrap()[0].to_canonical();
    let without = rules.replace(&format!("{gone},"), "");
    assert_ne!(rules, without);
    let policy =
        policies::object(format!(r#"{{"schema": "odeu.instructions.v1", "rules": {without}}}"#).as_bytes());
    let subject = Subject::load(Documents { policy, ..documents }).unwrap();
    let Outcome::Failed(Failure::Refuted { scope, counterexample }) =
        prove(&Theorem::NoWrite, &subject).unwrap().outcome
    else {
        panic!("not refuted")
    };
    assert_eq!(scope, Scope::Kernel);
    assert_eq!(counterexample.context.unwrap().action_kind.as_str(), "kind.k48");
}

/// A policy that denies everything proves nothing, and says so.
#[test]
fn a_proof_about_nothing_is_vacuous() {
    let documents = Documents { policy: policies::policy(&[]), ..policies::documents(STANDARD) };
    let proof = prove(&Theorem::NoWrite, &Subject::load(documents).unwrap()).unwrap();
    assert_eq!(proof.outcome, Outcome::Failed(Failure::Vacuous { scope: Scope::Kernel }));
    assert_eq!(proof.artifact.status, countersign_ledger::ProofStatus::Failed);
    assert_eq!(proof.artifact.details.get("reason").unwrap().as_str(), Some("vacuous"));
}

/// What the rules alone no longer keep, the hard gates still do.
#[test]
fn the_gates_hold_what_the_rules_let_go() {
    let open = policies::policy(&[policies::rule("allow.all", 1, &policies::atom("session_active"))]);
    let subject = Subject::load(Documents { policy: open, ..policies::documents(STANDARD) }).unwrap();
    let outcome = prove(&Theorem::NoWrite, &subject).unwrap().outcome;
    assert!(matches!(outcome, Outcome::Failed(Failure::Refuted { scope: Scope::Kernel, .. })), "{outcome:?}");
    let when = countersign_canon::Reader::read_json(
        &countersign_canon::Json::parse(
            policies::and(&[policies::atom("mode_is:read_only"), policies::atom("action_kind_is:fs.write")])
                .as_bytes(),
        )
        .unwrap(),
        countersign_proof::proof_codes::PROOF_OBLIGATION_INVALID,
    )
    .unwrap();
    let never = Never {
        decision: Some(countersign_policy::Decision::Allow),
        decision_code: None,
        required_approval: None,
    };
    for (scope, is_proved) in [(Scope::Kernel, false), (Scope::Authorize, true)] {
        let obligation = Obligation {
            schema: ObligationSchema::V1,
            theorem_id: countersign_ledger::TheoremId::parse("read_only_never_writes").unwrap(),
            scope,
            when: Clone::clone(&when),
            never: never.clone(),
        };
        let outcome = prove(&Theorem::Custom(Box::new(obligation)), &subject).unwrap().outcome;
        assert_eq!(matches!(outcome, Outcome::Proved(_)), is_proved, "{outcome:?}");
    }
}

//! From an outcome to the artifact that is stored and referred to.

use alloc::{string::String, vec::Vec};

use countersign_canon::{Issue, Json, Object, Sha256, Text, Value, Wire as _};
use countersign_ledger::{ProofArtifact, ProofId, ProofInput, ProofStatus, TheoremId};

use crate::{
    Certificate, ENCODER_VERSION, Failure, MODEL_VERSION, Outcome, Subject, Theorem, bounds, code::codes,
};

/// What proves theorems about contexts.
pub const CERTIFICATE_BACKEND: &str = "countersign-cdcl+lrat";
/// What proves theorems about the protocol.
pub const EXPLORER_BACKEND: &str = "countersign-explore";

/// The artifact of an outcome. The same outcome about the same documents gives the same bytes.
pub(crate) fn of(theorem: &Theorem, subject: &Subject, outcome: &Outcome) -> Result<ProofArtifact, Issue> {
    let is_explored = *theorem == Theorem::SingleUse;
    let backend = if is_explored { EXPLORER_BACKEND } else { CERTIFICATE_BACKEND };
    let (status, details, certificate) = match outcome {
        Outcome::Proved(certificate) => (ProofStatus::Proved, proved(certificate), Some(&**certificate)),
        Outcome::Failed(failure) => (ProofStatus::Failed, failed(failure), None),
    };
    let proof_hash = match certificate {
        Some(certificate) => Sha256::of(certificate.to_text().as_bytes()),
        None => Sha256::of_json(&details),
    };
    let artifact = ProofArtifact {
        proof_id: ProofId::unnamed(),
        backend: text(backend)?,
        theorem_id: TheoremId::parse(theorem.id())?,
        status,
        proof_hash,
        inputs: inputs(theorem, subject, certificate)?,
        details: object(details),
    };
    Ok(artifact.named())
}

fn inputs(
    theorem: &Theorem,
    subject: &Subject,
    certificate: Option<&Certificate>,
) -> Result<Vec<ProofInput>, Issue> {
    let in_force = subject.in_force();
    let version = if *theorem == Theorem::SingleUse { MODEL_VERSION } else { ENCODER_VERSION };
    let mut inputs = Vec::from([
        ("policy", *in_force.policy.hash().digest()),
        ("lattice", *in_force.lattice.hash().digest()),
        ("allow", *in_force.allow.hash().digest()),
        ("obligation", Sha256::of_json(&theorem.document()?.write())),
        ("encoder", Sha256::of(version.as_bytes())),
    ]);
    inputs.extend(subject.other().map(|other| ("other_policy", *other.hash().digest())));
    if *theorem == Theorem::SingleUse {
        inputs.push(("protocol_model", Sha256::of_json(&Json::from(Value::Object(bounds())))));
    }
    let claims = certificate.map_or(&[][..], |certificate| &certificate.body.claims);
    inputs.extend(claims.iter().map(|claim| {
        let name = match claim.scope {
            crate::Scope::Kernel => "formula.kernel",
            crate::Scope::Authorize => "formula.authorize",
        };
        (name, claim.formula_hash)
    }));
    let input = |(object_id, formula_hash)| {
        Ok(ProofInput { object_id: text(object_id)?, json_path: text("$")?, formula_hash })
    };
    inputs.into_iter().map(input).collect()
}

fn proved(certificate: &Certificate) -> Json<'static> {
    let body = &certificate.body;
    let claims = body.claims.iter().map(|claim| {
        Json::object([
            ("scope", claim.scope.write()),
            ("wires", claim.wires.write()),
            ("clauses", claim.clauses.write()),
            ("steps", claim.steps.write()),
            ("witness_hash", Sha256::of_json(&claim.witness.write()).write()),
        ])
    });
    let own = match &body.exploration {
        Some(exploration) => {
            let bounds = ("bounds", Json::from(Value::Object(bounds())));
            Vec::from([
                bounds,
                ("exploration", exploration.write()),
                ("model_version", Json::from(MODEL_VERSION)),
            ])
        }
        None => {
            Vec::from([("claims", Json::array(claims)), ("encoder_version", Json::from(ENCODER_VERSION))])
        }
    };
    Json::object(own)
}

fn failed(failure: &Failure) -> Json<'static> {
    match failure {
        Failure::Refuted { scope, counterexample } => Json::object([
            ("reason", Json::from("refuted")),
            ("scope", scope.write()),
            ("counterexample", counterexample.write()),
        ]),
        Failure::Vacuous { scope } => {
            Json::object([("reason", Json::from("vacuous")), ("scope", scope.write())])
        }
        Failure::Explored(what) => {
            Json::object([("reason", Json::from("refuted")), ("counterexample", Json::from(what.clone()))])
        }
    }
}

fn object(json: Json<'static>) -> Object<'static> {
    match json.value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::default()
        }
    }
}

fn text<const MIN: usize, const MAX: usize>(words: &str) -> Result<Text<MIN, MAX>, Issue> {
    Text::new(String::from(words))
        .ok_or_else(|| Issue::new(codes::PROOF_DISAGREEMENT, "a name of ours is too long"))
}

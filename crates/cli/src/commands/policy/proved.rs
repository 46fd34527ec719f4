//! Theorems that other commands stand on: proved, and the certificate checked, before they are said.

use countersign_canon::{Issue, Json, Object, Value};
use countersign_policy::{Policy, shipped::STANDARD};
use countersign_proof::{Documents, Outcome, Subject, Theorem, check, prove};

use crate::failure::{Failure, codes};

/// Whether the theorem holds for this policy by its rules alone; a yes has a certificate that was checked.
pub(super) fn holds(theorem: &Theorem, policy: &Policy, other: Option<&Policy>) -> Result<bool, Failure> {
    let parse = |bytes| Json::parse(bytes).map(Json::into_owned).map_err(Failure::CouldNotTell);
    let documents = Documents {
        policy: object(policy.to_document())?,
        // No part of a theorem about rules alone.
        lattice: object(parse(STANDARD.lattice)?)?,
        allow: object(parse(STANDARD.allow)?)?,
        other: other.map(|other| object(other.to_document())).transpose()?,
    };
    let subject = Subject::load(documents).map_err(|_| disagreement())?;
    match prove(theorem, &subject).map_err(Failure::CouldNotTell)?.outcome {
        Outcome::Failed(_) => Ok(false),
        Outcome::Proved(certificate) => {
            check(certificate.to_text().as_bytes()).map_err(Failure::CouldNotTell)?;
            Ok(true)
        }
    }
}

/// A document that must be an object.
pub(super) fn object(json: Json<'static>) -> Result<Object<'static>, Failure> {
    match json.value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Failure::CouldNotTell(Issue::new(codes::CLI_USAGE, "a document must be an object")))
        }
    }
}

pub(super) fn disagreement() -> Failure {
    Failure::CouldNotTell(
        Issue::new(codes::CLI_DEFECT, "the formula and the evaluator disagree")
            .with_hint("this is a defect of ours; please report the policy"),
    )
}

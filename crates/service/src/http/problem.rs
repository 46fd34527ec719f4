//! Why a request has no answer, as HTTP says it: a status, and `{"detail": {"code", "message", "context"}}`.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use countersign_canon::{Code, Issue, Json, NonEmpty, Object, Value, Wire as _, record};
use countersign_ledger::GrantRefusal;
use countersign_store::{Refusal, StoreError};

use crate::{ServiceError, code::codes};

record! {
    /// Why there is no answer.
    pub struct ProblemDetail {
        /// The frozen machine code: docs/generated/codes.md has all of them.
        code: String,
        /// What is wrong.
        message: String,
        /// Where, what was expected and what to do, as far as there is something to say.
        context: Object<'static>,
    }
}

record! {
    /// The body of every answer that is not a good one.
    pub struct ProblemBody {
        /// Why there is no answer.
        detail: ProblemDetail,
    }
}

/// The statuses that any route may answer with instead of a good answer.
pub(crate) const STATUSES: [(StatusCode, &str); 13] = [
    (StatusCode::BAD_REQUEST, "The request breaks a rule, or is not what this route takes"),
    (StatusCode::UNAUTHORIZED, "There is no token, or it does not count"),
    (StatusCode::FORBIDDEN, "The caller may not do this"),
    (StatusCode::NOT_FOUND, "There is nothing under this id"),
    (StatusCode::METHOD_NOT_ALLOWED, "The route knows other methods"),
    (StatusCode::REQUEST_TIMEOUT, "The request did not arrive in time"),
    (StatusCode::CONFLICT, "Something stands otherwise than the request assumes"),
    (StatusCode::PAYLOAD_TOO_LARGE, "The request is too large, too deep or has too many keys"),
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, "The body is not sent as JSON"),
    (StatusCode::MISDIRECTED_REQUEST, "The request is for another host"),
    (StatusCode::TOO_MANY_REQUESTS, "The caller asks more often than it may"),
    (StatusCode::INTERNAL_SERVER_ERROR, "A defect of the service"),
    (StatusCode::SERVICE_UNAVAILABLE, "The service cannot say now; whatever was asked is denied"),
];

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) issues: NonEmpty<Issue>,
}

impl Problem {
    /// One thing is wrong.
    pub(crate) fn new(status: StatusCode, code: Code, message: impl Into<String>) -> Self {
        Self { status, issues: NonEmpty::of(Issue::new(code, message)) }
    }

    /// The request is not what the route takes.
    pub(crate) fn bad(issues: NonEmpty<Issue>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, issues }
    }

    /// The code of the first thing that is wrong.
    pub(crate) fn code(&self) -> Code {
        self.issues.first().map_or(codes::SERVICE_DEFECT, |issue| issue.code)
    }

    fn body(&self) -> ProblemBody {
        let first = self.issues.first();
        let text = |key: &str| {
            let json = first.map(Issue::to_json);
            json.and_then(|json| json.get(key).cloned()).filter(|value| value.as_str() != Some(""))
        };
        let context = ["pointer", "cause", "expected", "hint"].map(|key| (key, text(key)));
        let all = (self.issues.len() > 1).then(|| Json::array(self.issues.iter().map(Issue::to_json)));
        let context = context.into_iter().chain([("issues", all)]);
        let context = Json::object(context.filter_map(|(key, value)| Some((key, value?))));
        let context = match context.value {
            Value::Object(object) => object,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Object::default()
            }
        };
        let message = first.map_or_else(String::new, |issue| issue.message.clone());
        ProblemBody { detail: ProblemDetail { code: self.code().to_string(), message, context } }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code();
        let mut response = Response::new(Body::from(self.body().to_canonical()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        // What was sent is not read to its end, so that nothing can follow it.
        if matches!(self.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT) {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response.extensions_mut().insert(code);
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let status = status_of(&error);
        if let ServiceError::Document(issues) = error {
            return Self { status, issues };
        }
        Self { status, issues: NonEmpty::of(Issue::from(&error)) }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        ServiceError::from(error).into()
    }
}

/// Business rules 400, missing 404, conflict 409, who 401 and 403; a store that cannot say is 503, and a denial.
fn status_of(error: &ServiceError) -> StatusCode {
    match error {
        ServiceError::Clock
        | ServiceError::Store(_)
        | ServiceError::Unreachable { .. }
        | ServiceError::Untrusted { .. } => StatusCode::SERVICE_UNAVAILABLE,
        ServiceError::Refused(refusal) => match refusal {
            Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
            Refusal::Forbidden { .. } | Refusal::Grant(GrantRefusal::OwnRequest) => StatusCode::FORBIDDEN,
            Refusal::Unauthenticated => StatusCode::UNAUTHORIZED,
            Refusal::Exists { .. }
            | Refusal::SessionStopped(_)
            | Refusal::IdempotencyConflict(_)
            | Refusal::Grant(GrantRefusal::Step(_) | GrantRefusal::SignedAlready | GrantRefusal::Full)
            | Refusal::Step(_) => StatusCode::CONFLICT,
            Refusal::PolicyNotLoaded | Refusal::ClockBack { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::Invalid { .. }
            | Refusal::Grant(
                GrantRefusal::Key | GrantRefusal::Signature | GrantRefusal::Clock | GrantRefusal::Differs,
            ) => StatusCode::BAD_REQUEST,
        },
        ServiceError::TextLength { .. } | ServiceError::Remote { .. } | ServiceError::Document(_) => {
            StatusCode::BAD_REQUEST
        }
        ServiceError::PolicyChanged { .. } => StatusCode::CONFLICT,
        ServiceError::Log(_) | ServiceError::Listen { .. } | ServiceError::Defect { .. } => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

//! A no, in the words of the app-server's protocol.

use countersign_canon::{Issue, Json, Number};

use crate::{
    hosts::{between::in_words, ground::Denial},
    lines::gist::Id,
};

/// JSON-RPC: what was sent is not JSON, or not one message.
pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
/// What is refused here.
const REFUSED: i64 = -32001;

/// A no.
pub(super) struct Refusal {
    pub(super) code: String,
    pub(super) words: String,
    pub(super) decision: Option<String>,
}

impl Refusal {
    /// The no as the answer to this request.
    pub(super) fn answer(&self, id: &Id) -> String {
        let decision = self.decision.clone().map(|id| ("decision_id", Json::from(id)));
        let code = ("decision_code", Json::from(self.code.clone()));
        let data = Json::object([code].into_iter().chain(decision));
        message(Some(id), REFUSED, &self.words, Some(data))
    }
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        Self { words: denial.in_words(), code: denial.code, decision: Some(denial.decision) }
    }
}

impl From<Issue> for Refusal {
    fn from(issue: Issue) -> Self {
        Self { code: issue.code.to_string(), words: in_words("request", &issue), decision: None }
    }
}

/// An error of the protocol itself.
pub(super) fn error(id: Option<&Id>, code: i64, words: &str) -> String {
    message(id, code, words, None)
}

fn message(id: Option<&Id>, code: i64, words: &str, data: Option<Json<'static>>) -> String {
    let code = Number::from_i64(code).map(|code| ("code", Json::from(code)));
    let error = [("message", Json::from(words.to_owned()))].into_iter().chain(code);
    let error = Json::object(error.chain(data.map(|data| ("data", data))));
    // An id is said again as it came.
    format!("{{\"id\":{},\"error\":{}}}", id.map_or("null", Id::as_str), error.to_canonical())
}

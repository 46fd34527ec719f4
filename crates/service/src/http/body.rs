//! A request as one document: its body or query, and what stands in its path.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, StatusCode, header},
};
use countersign_canon::{Issue, Json, NonEmpty, Number, Pointer, Value, canon_codes};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::problem::Problem;
use crate::{api::Limits, code::codes};

/// LIMIT: how long a body may take to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// Reads a body of at most so many bytes.
pub(crate) async fn read(body: Body, headers: &HeaderMap, limits: Limits) -> Result<Bytes, Problem> {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let too_large = || {
        let message = format!("the body has more than {} bytes", limits.bytes_max);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, codes::HTTP_TOO_LARGE, message)
    };
    if length.is_some_and(|length| length > u64::try_from(limits.bytes_max).unwrap_or(u64::MAX)) {
        return Err(too_large());
    }
    let read = tokio::time::timeout(BODY_WITHIN, Limited::new(body, limits.bytes_max).collect()).await;
    let slow = || {
        let message = format!("the body did not arrive within {} s", BODY_WITHIN.as_secs());
        Problem::new(StatusCode::REQUEST_TIMEOUT, codes::HTTP_TOO_SLOW, message)
    };
    match read.map_err(|_| slow())? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(too_large()),
        Err(error) => {
            let message = format!("the body could not be read: {error}");
            Err(Problem::new(StatusCode::BAD_REQUEST, codes::HTTP_REQUEST_INVALID, message))
        }
    }
}

/// Whether a body is sent as JSON; one that is empty need not be.
pub(crate) fn check_media_type(headers: &HeaderMap, body: &[u8]) -> Result<(), Problem> {
    let named = headers.get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let is_json = |named: &str| {
        named.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    };
    if named.map_or(body.is_empty(), is_json) {
        return Ok(());
    }
    let message = "the body is not sent as `application/json`";
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, codes::HTTP_MEDIA_TYPE, message))
}

/// The body as JSON within its limits; an empty body is an empty object.
pub(crate) fn parse<'b>(body: &'b [u8], limits: Limits) -> Result<Json<'b>, Problem> {
    if body.is_empty() {
        return Ok(Json::object::<&str>([]));
    }
    let json = Json::parse(body)
        .map_err(|issue| Problem::bad(NonEmpty::of(issue.under(codes::HTTP_REQUEST_INVALID))))?;
    check_limits(&json, limits, 1)
        .map_err(|message| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, codes::HTTP_TOO_LARGE, message))?;
    Ok(json)
}

fn check_limits(json: &Json<'_>, limits: Limits, depth: usize) -> Result<(), String> {
    let deeper = depth.saturating_add(1);
    match &json.value {
        Value::Array(_) | Value::Object(_) if depth > limits.depth_max => {
            Err(format!("the body nests deeper than {}", limits.depth_max))
        }
        Value::Object(object) => {
            if object.members().len() > limits.keys_max {
                return Err(format!("an object has more than {} keys", limits.keys_max));
            }
            object.members().iter().try_for_each(|member| check_limits(&member.value, limits, deeper))
        }
        Value::Array(items) => items.iter().try_for_each(|item| check_limits(item, limits, deeper)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

/// The document with what stands in the path; the body must not say it again.
pub(crate) fn with_path(document: Json<'_>, path: Vec<(String, String)>) -> Result<Json<'_>, Problem> {
    if path.is_empty() {
        return Ok(document);
    }
    let Value::Object(object) = &document.value else { return Ok(document) };
    if let Some((key, _)) = path.iter().find(|(key, _)| object.get(key).is_some()) {
        let issue =
            Issue::new(canon_codes::WIRE_UNKNOWN_FIELD, format!("`{key}` stands in the path already"));
        let issue = issue.under(codes::HTTP_REQUEST_INVALID).with_pointer(Pointer::root().key(key));
        return Err(Problem::bad(NonEmpty::of(issue)));
    }
    let members = object.members().iter().map(|member| (member.key.clone(), member.value.clone()));
    let path = path.into_iter().map(|(key, value)| (key.into(), Json::from(value)));
    Ok(Json::object(members.chain(path)))
}

/// What type a field of a query has, so that its text is read as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryType {
    Text,
    Number,
    Truth,
}

/// The query as a document.
pub(crate) fn parse_query(
    query: &str,
    type_of: impl Fn(&str) -> QueryType,
) -> Result<Json<'static>, Problem> {
    let wrong = |message: String| Problem::new(StatusCode::BAD_REQUEST, codes::HTTP_REQUEST_INVALID, message);
    let mut members: Vec<(String, Json<'static>)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = decode(key).zip(decode(value));
        let (key, text) =
            decoded.ok_or_else(|| wrong("the query is not UTF-8 in percent encoding".to_owned()))?;
        if members.iter().any(|(known, _)| *known == key) {
            return Err(wrong(format!("the query says `{key}` twice")));
        }
        let value = match type_of(&key) {
            QueryType::Text => None,
            QueryType::Number => text.parse().ok().and_then(Number::from_i64).map(Json::from),
            QueryType::Truth => text.parse::<bool>().ok().map(Json::from),
        };
        members.push((key, value.unwrap_or_else(|| Json::from(text))));
    }
    Ok(Json::object(members))
}

/// Undoes percent encoding.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;

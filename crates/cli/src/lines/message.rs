//! A line as one message of JSON-RPC, if everybody who reads it reads the same.

use countersign_canon::{Issue, Json, Object};

use super::{
    gist::{Gist, Id, folded},
    near,
};
use crate::failure::codes;

/// What a message is read from.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// What a result is read from.
const RESULT_KEYS: [&str; 1] = ["tools"];

/// A line of a server that can be read.
pub(crate) struct Read<'t> {
    /// The message, with stand-ins for what has no exact value.
    pub(crate) json: Json<'static>,
    /// Its id, as it came.
    pub(crate) id: Option<Id>,
    /// The text that was read: as long as the line, and the same but for the stand-ins.
    pub(crate) text: std::borrow::Cow<'t, [u8]>,
}

impl Read<'_> {
    /// Whether the message is the line, without stand-ins.
    pub(crate) const fn is_exact(&self) -> bool {
        matches!(self.text, std::borrow::Cow::Borrowed(_))
    }
}

/// A line of a client, if it can be read in one way only.
///
/// # Errors
///
/// Fails if it is not JSON, has a line break of another sort in it, or a member that differs from one of a message's own in
/// case alone: readers that do not care about case take the one for the other.
pub(crate) fn read(line: &[u8]) -> Result<Json<'_>, Issue> {
    check_one_line(line)?;
    let json = Json::parse(line)?;
    json.as_object().map_or(Ok(()), |message| check_case(message, &KEYS))?;
    Ok(json)
}

/// A line of a server, if it is one message that can be read in one way only; numbers that cannot be kept exactly and halves
/// of surrogate pairs do not matter.
///
/// # Errors
///
/// Fails as [`read`] does, and if it is not an object.
pub(crate) fn read_nearly(line: &[u8]) -> Result<Read<'_>, Issue> {
    check_one_line(line)?;
    let (json, id, text) = match Json::parse(line) {
        Ok(json) => {
            let id = json.get("id").and_then(Id::of);
            (json.into_owned(), id, line.into())
        }
        Err(_) => {
            let text = near::readable(line);
            let json = Json::parse(&text)?.into_owned();
            (json, Gist::of(line).id().cloned(), text.into())
        }
    };
    check_case(json.as_object().ok_or_else(|| not_one(&json))?, &KEYS)?;
    json.get("result").and_then(Json::as_object).map_or(Ok(()), |result| check_case(result, &RESULT_KEYS))?;
    Ok(Read { json, id, text })
}

/// Whether anybody could take a line for a message: it starts as an object, or as an array of some.
pub(crate) fn is_perhaps(line: &[u8]) -> bool {
    let start = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line).trim_ascii_start();
    let start = start.strip_prefix(b"[").map_or(start, <[u8]>::trim_ascii_start);
    start.starts_with(b"{")
}

/// Refuses members that differ from one of these in case alone.
///
/// # Errors
///
/// Fails at the first one.
pub(crate) fn check_case(object: &Object<'_>, keys: &[&str]) -> Result<(), Issue> {
    let mut members = object.members().iter();
    let other = members.find_map(|member| {
        let key = keys.iter().find(|key| folded(key) == folded(&member.key) && **key != member.key)?;
        Some((member, key))
    });
    let Some((member, key)) = other else { return Ok(()) };
    let message = format!("some would read the member `{}` as `{key}`", member.key.escape_debug());
    Err(Issue::new(codes::HOOK_INPUT, message)
        .with_offset(member.key_offset())
        .with_expected(format!("`{key}`, or a name that differs in more than case"))
        .with_hint("write the names of members as the protocol does"))
}

/// The issue of a line that is not one message.
pub(crate) fn not_one(json: &Json<'_>) -> Issue {
    Issue::new(codes::HOOK_INPUT, format!("the line is {}", json.type_name()))
        .with_expected("one message, as an object")
        .with_hint("send the messages of a batch one by one")
}

/// The issue of an id that is none.
pub(crate) fn no_id(id: &Json<'_>) -> Issue {
    Issue::new(codes::HOOK_INPUT, format!("the id is {}", id.type_name()))
        .with_expected("a string or a number")
}

/// Refuses a carriage return between the parts of a message: to many readers it ends a line, and the rest would be another one.
fn check_one_line(line: &[u8]) -> Result<(), Issue> {
    let Some(place) = line.iter().position(|byte| *byte == b'\r') else { return Ok(()) };
    Err(Issue::new(codes::HOOK_INPUT, "a carriage return stands within the line")
        .with_offset(place)
        .with_expected("one message on one line")
        .with_hint("write messages without line breaks of any sort"))
}

#[cfg(test)]
mod tests;

//! A line as one message of JSON-RPC, if everybody who reads it reads the same.

use countersign_canon::{Issue, Json, Object};

use super::gist::folded;
use crate::failure::codes;

/// What a message is read from.
const KEYS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

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

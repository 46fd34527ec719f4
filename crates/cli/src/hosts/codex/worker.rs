//! What `codex exec --json` tells, line by line, in the form of events: the same line, the same event.
//!
//! It is what a worker says about itself, not what was decided: commands that a rule or the sandbox stopped are not even
//! mentioned. Texts stand in events as hashes; the lines themselves are kept as they came.

use countersign_canon::{Json, Object, Sha256, Value};

/// What is taken over from a line, and from an item.
const LINE_FIELDS: [&str; 3] = ["thread_id", "usage", "message"];
const ITEM_FIELDS: [&str; 10] =
    ["id", "type", "command", "exit_code", "status", "changes", "server", "tool", "query", "message"];
/// What stands in an event as its hash.
const ITEM_TEXTS: [&str; 5] = ["text", "aggregated_output", "arguments", "prompt", "result"];

/// How a worker's turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It said that it was done.
    Completed,
    /// It said that it failed.
    Failed,
}

/// What was heard from a worker so far.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    /// How many lines.
    pub(crate) lines: u32,
    /// The last message of the agent.
    pub(crate) message: Option<String>,
    /// How its turn ended, as far as it did. An error alone does not end it.
    pub(crate) ending: Option<Ending>,
}

impl Worker {
    /// Takes the next line: the detail of its event.
    pub(crate) fn take(&mut self, line: &[u8]) -> Object<'static> {
        self.lines = self.lines.saturating_add(1);
        let json = Json::parse(line).map(Json::into_owned).ok();
        let kind = json.as_ref().and_then(|json| json.get("type")).and_then(Json::as_str);
        let event =
            event(kind.unwrap_or("unreadable")).with("line", Json::from(self.lines)).with("raw", blob(line));
        let Some(json) = &json else { return event };
        match kind {
            Some("turn.completed") => self.ending = Some(Ending::Completed),
            Some("turn.failed") => self.ending = Some(Ending::Failed),
            Some(_) | None => (),
        }
        let item = json.get("item");
        let word = |key: &str| item.and_then(|item| item.get(key)).and_then(Json::as_str);
        if kind == Some("item.completed") && word("type") == Some("agent_message") {
            self.message = word("text").map(str::to_owned);
        }
        let event = LINE_FIELDS.iter().fold(event, |event, key| keep(event, json, key));
        let event = match json.get("error").and_then(|error| error.get("message")) {
            Some(message) => event.with("message", message.clone()),
            None => event,
        };
        match item {
            Some(item) => event.with("item", normal_item(item)),
            None => event,
        }
    }
}

/// The detail of an event of this type.
pub(crate) fn event(kind: &str) -> Object<'static> {
    Object::default().with("worker", Json::from("codex")).with("type", Json::from(kind.to_owned()))
}

/// Bytes as their hash and length.
pub(crate) fn blob(bytes: &[u8]) -> Json<'static> {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    Json::object([("sha256", Json::from(Sha256::of(bytes).to_string())), ("bytes", Json::from(length))])
}

fn normal_item(item: &Json<'static>) -> Json<'static> {
    let kept = ITEM_FIELDS.iter().fold(Object::default(), |kept, key| keep(kept, item, key));
    let kept = ITEM_TEXTS.iter().fold(kept, |kept, key| match item.get(key) {
        None => kept,
        Some(text) => match &text.value {
            Value::Null => kept,
            Value::String(text) => kept.with(*key, blob(text.as_bytes())),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                kept.with(*key, blob(text.to_canonical().as_bytes()))
            }
        },
    });
    let kept = match item.get("error").and_then(|error| error.get("message")) {
        Some(message) => kept.with("message", message.clone()),
        None => kept,
    };
    Json::from(Value::Object(kept))
}

fn keep(kept: Object<'static>, from: &Json<'static>, key: &'static str) -> Object<'static> {
    match from.get(key).filter(|value| !matches!(value.value, Value::Null)) {
        Some(value) => kept.with(key, value.clone()),
        None => kept,
    }
}

#[cfg(test)]
mod tests;

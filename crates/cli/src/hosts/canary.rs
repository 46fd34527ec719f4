//! A model that asks its host for calls which execute nothing. It remembers nothing: what it asks for stands in the prompt.

use countersign_canon::{Json, Value};

use crate::effects::loopback::Answer;

/// The start of a list of calls in a prompt.
const MARK: &str = "COUNTERSIGN-CANARIES:";

/// One call that the model asks for.
pub(crate) struct Canary {
    /// A name for the call.
    pub(crate) id: String,
    /// The tool, and the name of the group that it is in, if it is in one.
    pub(crate) tool: (Option<String>, String),
    /// Its input.
    pub(crate) input: Json<'static>,
    /// What must have been heard before it is asked for.
    pub(crate) after: Option<String>,
}

/// The prompt that makes the model ask for these calls, one after the other.
pub(crate) fn prompt(canaries: &[Canary]) -> String {
    let rows = canaries.iter().map(|Canary { id, tool: (group, tool), input, after }| {
        let optional = [("group", group), ("after", after)];
        let optional = optional.into_iter().filter_map(|(key, text)| Some((key, Json::from(text.clone()?))));
        let members = [("id", Json::from(id.clone())), ("tool", Json::from(tool.clone()))];
        Json::object(members.into_iter().chain([("input", input.clone())]).chain(optional))
    });
    format!("{MARK}{}", Json::array(rows).to_canonical())
}

/// What the model says to a request of its host.
pub(crate) fn answer(path: &str, body: &[u8]) -> Answer {
    let path = path.split('?').next().unwrap_or_default();
    let body = Json::parse(body).map(Json::into_owned).unwrap_or_else(|_| Json::from(Value::Null));
    let is_messages = path.ends_with("/v1/messages");
    if !is_messages && !path.ends_with("/responses") {
        let nothing =
            Json::object([("data", Json::array::<Json<'_>>([])), ("input_tokens", Json::from(1_u32))]);
        return Answer { media: "application/json", text: nothing.to_canonical(), after: None };
    }
    let due = due(if is_messages { messages(&body) } else { items(&body) });
    let after = due.as_ref().and_then(|due| due.get("after")?.as_str().map(str::to_owned));
    let events = if is_messages { message_events(due.as_ref()) } else { response_events(due.as_ref()) };
    let text = events.into_iter().map(|event| {
        let kind = event.get("type").and_then(Json::as_str).unwrap_or_default().to_owned();
        format!("event: {kind}\ndata: {}\n\n", event.to_canonical())
    });
    Answer { media: "text/event-stream", text: text.collect(), after }
}

/// What was said so far.
enum Turn {
    /// Somebody wrote this.
    Text(String),
    /// A call came back.
    Result,
}

/// The call that is due: as many were made as have come back since the prompt.
fn due(turns: Vec<Turn>) -> Option<Json<'static>> {
    let (mut calls, mut made) = (Vec::new(), 0_usize);
    for turn in turns {
        match turn {
            Turn::Result => made = made.saturating_add(1),
            Turn::Text(text) => {
                let list = text.split_once(MARK).and_then(|(_, rest)| first_array(rest));
                if let Some(list) = list {
                    (calls, made) = (list, 0);
                }
            }
        }
    }
    calls.into_iter().nth(made)
}

/// The array at the start of a text; a host may have written something behind it.
fn first_array(text: &str) -> Option<Vec<Json<'static>>> {
    let ends = text.match_indices(']').map(|(at, _)| at.saturating_add(1));
    let json = ends.filter_map(|end| Json::parse(text.get(..end)?.as_bytes()).ok()).next()?;
    Some(json.into_owned().as_array()?.to_vec())
}

/// What was said, as Anthropic's protocol tells it.
fn messages(body: &Json<'_>) -> Vec<Turn> {
    let messages = body.get("messages").and_then(Json::as_array).unwrap_or_default();
    let users = messages.iter().filter(|message| text_at(message, "role") == "user");
    let mut turns = Vec::new();
    for content in users.filter_map(|message| message.get("content")) {
        turns.extend(content.as_str().map(|text| Turn::Text(text.to_owned())));
        for part in content.as_array().unwrap_or_default() {
            match text_at(part, "type") {
                "text" => turns.push(Turn::Text(text_at(part, "text").to_owned())),
                "tool_result" => turns.push(Turn::Result),
                _ => (),
            }
        }
    }
    turns
}

/// What was said, as OpenAI's protocol tells it.
fn items(body: &Json<'_>) -> Vec<Turn> {
    let items = body.get("input").and_then(Json::as_array).unwrap_or_default();
    let turn = |item: &Json<'_>| {
        if text_at(item, "type").ends_with("_call_output") {
            return Some(Turn::Result);
        }
        let parts = item.get("content").and_then(Json::as_array).unwrap_or_default();
        let text: String = parts.iter().map(|part| text_at(part, "text")).collect();
        (text_at(item, "role") == "user").then_some(Turn::Text(text))
    };
    items.iter().filter_map(turn).collect()
}

fn message_events(due: Option<&Json<'static>>) -> Vec<Json<'static>> {
    let (start, delta, stop) = match due {
        None => (
            object([("type", text("text")), ("text", text(""))]),
            object([("type", text("text_delta")), ("text", text("done"))]),
            "end_turn",
        ),
        Some(call) => (
            object([
                ("type", text("tool_use")),
                ("id", text(&format!("toolu_{}", text_at(call, "id")))),
                ("name", text(text_at(call, "tool"))),
                ("input", object([])),
            ]),
            object([("type", text("input_json_delta")), ("partial_json", text(&input_of(call)))]),
            "tool_use",
        ),
    };
    let usage = || object([("input_tokens", Json::from(1_u32)), ("output_tokens", Json::from(1_u32))]);
    let message = object([
        ("id", text("msg_canary")),
        ("type", text("message")),
        ("role", text("assistant")),
        ("model", text("canary")),
        ("content", Json::array::<Json<'_>>([])),
        ("stop_reason", Json::from(Value::Null)),
        ("stop_sequence", Json::from(Value::Null)),
        ("usage", usage()),
    ]);
    let index = || ("index", Json::from(0_u32));
    vec![
        object([("type", text("message_start")), ("message", message)]),
        object([("type", text("content_block_start")), index(), ("content_block", start)]),
        object([("type", text("content_block_delta")), index(), ("delta", delta)]),
        object([("type", text("content_block_stop")), index()]),
        object([
            ("type", text("message_delta")),
            ("delta", object([("stop_reason", text(stop)), ("stop_sequence", Json::from(Value::Null))])),
            ("usage", usage()),
        ]),
        object([("type", text("message_stop"))]),
    ]
}

fn response_events(due: Option<&Json<'static>>) -> Vec<Json<'static>> {
    let item = match due {
        None => object([
            ("type", text("message")),
            ("role", text("assistant")),
            ("id", text("msg_canary")),
            ("content", Json::array([object([("type", text("output_text")), ("text", text("done"))])])),
        ]),
        Some(call) => {
            let group = call.get("group").and_then(Json::as_str).map(|group| ("namespace", text(group)));
            let members = [
                ("type", text("function_call")),
                ("call_id", text(&format!("call_{}", text_at(call, "id")))),
                ("name", text(text_at(call, "tool"))),
                ("arguments", text(&input_of(call))),
            ];
            Json::object(members.into_iter().chain(group))
        }
    };
    let count = |key: &'static str| (key, Json::from(1_u32));
    let none = |key: &'static str| object([(key, Json::from(0_u32))]);
    let usage = object([
        count("input_tokens"),
        ("input_tokens_details", none("cached_tokens")),
        count("output_tokens"),
        ("output_tokens_details", none("reasoning_tokens")),
        count("total_tokens"),
    ]);
    let id = || ("id", text("resp_canary"));
    vec![
        object([("type", text("response.created")), ("response", object([id()]))]),
        object([("type", text("response.output_item.done")), ("item", item)]),
        object([("type", text("response.completed")), ("response", object([id(), ("usage", usage)]))]),
    ]
}

fn input_of(call: &Json<'static>) -> String {
    call.get("input").map(Json::to_canonical).unwrap_or_default()
}

fn text_at<'j>(json: &'j Json<'_>, key: &str) -> &'j str {
    json.get(key).and_then(Json::as_str).unwrap_or_default()
}

fn text(text: &str) -> Json<'static> {
    Json::from(text.to_owned())
}

fn object<const N: usize>(members: [(&'static str, Json<'static>); N]) -> Json<'static> {
    Json::object(members)
}

#[cfg(test)]
mod tests;

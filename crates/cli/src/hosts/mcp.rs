//! Between an MCP client and a server: calls of tools are decided, lists of tools are filtered, everything else passes as it is.
//!
//! Lines pass byte for byte unless they are answered here; a list of tools passes without what was filtered out. Requests are
//! known by direction: the two sides number theirs independently.
//!
//! A line of the client that is not the JSON of one message, or that somebody could read as another one, is not passed on: a
//! server that reads it otherwise than we do would be told something that nobody decided. A line of the server that cannot be
//! read may be a list that should be filtered as long as one is awaited: then only what asks the client something, or is no
//! message for anybody, passes. At other times it passes: nothing in it is promised to be filtered, and it makes nothing happen.

use std::collections::BTreeMap;

use countersign_action::{Action, Host, ToolCall};
use countersign_canon::{Issue, Json, Object, Value};
use countersign_ledger::OutcomeStatus;
use countersign_policy::SessionId;
use countersign_service::HostCall;

use super::{
    between::{Between, Passed, in_words},
    gate::{Gate, Verdict, probe_facts},
};
use crate::{
    failure::codes,
    lines::{
        gist::{Gist, Id},
        message::{self, Read},
        near,
    },
};

/// JSON-RPC: what was sent is not JSON, or not one request.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the server failed.
const SERVER_FAILED: i32 = -32603;

/// LIMIT: how many requests wait for their answers. More are refused: a server that never answers would fill the memory.
const AWAITED_MAX: usize = 1 << 16;

/// What a call is read from: nobody may read another member as one of these.
const CALL_KEYS: [&str; 2] = ["name", "arguments"];

/// What a request of the client is waiting for.
enum Awaited {
    /// A list of tools, to be filtered.
    Tools,
    /// The outcome of a call that was allowed to begin.
    Outcome(HostCall),
}

/// A proxy before one server.
pub(crate) struct Proxy<'g> {
    gate: &'g Gate,
    session: SessionId,
    server: String,
    /// The client's requests by their ids.
    awaited: BTreeMap<Id, Awaited>,
    calls: u64,
}

impl<'g> Proxy<'g> {
    pub(crate) const fn new(gate: &'g Gate, session: SessionId, server: String) -> Self {
        Self { gate, session, server, awaited: BTreeMap::new(), calls: 0 }
    }
}

impl Between for Proxy<'_> {
    fn client_says(&mut self, line: &[u8]) -> Passed {
        let read = message::read(line).and_then(|json| match json.value {
            Value::Object(message) => Ok(message),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(message::not_one(&json))
            }
        });
        let message = match read {
            Ok(message) => message,
            Err(issue) => return self.client_refused(&Gist::of(line), &issue),
        };
        let Some(method) = message.get("method").and_then(Json::as_str) else { return Passed::On };
        if !matches!(method, "tools/list" | "tools/call") {
            return Passed::On;
        }
        let id = message.get("id").filter(|id| !matches!(id.value, Value::Null));
        let id = match id.map(|id| Id::of(id).ok_or_else(|| message::no_id(id))).transpose() {
            Ok(id) => id,
            Err(issue) => return self.client_refused(&Gist::of(line), &issue),
        };
        let is_awaited = id.as_ref().is_some_and(|id| self.awaited.contains_key(id));
        if is_awaited || self.awaited.len() >= AWAITED_MAX {
            let words =
                if is_awaited { "this id waits for an answer already" } else { "too many wait already" };
            return Passed::Back(id.map(|id| error(Some(&id), INVALID_REQUEST, words)));
        }
        if method == "tools/call" {
            return self.call(&message, id);
        }
        self.awaited.extend(id.map(|id| (id, Awaited::Tools)));
        Passed::On
    }

    fn server_says(&mut self, line: &[u8]) -> Passed {
        match message::read_nearly(line) {
            Ok(read) => self.answered(line, &read),
            Err(issue) => self.unreadable(line, &issue),
        }
    }

    fn client_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed {
        let words = in_words("call", issue);
        match (gist.id(), gist.method()) {
            // The server waits for this answer. The client does not: an error under this id would be for a request of its own.
            (Some(id), None) if gist.is_answer() => Passed::Instead(error(
                Some(id),
                INVALID_REQUEST,
                "the answer of the client could not be read",
            )),
            (Some(id), Some("tools/call")) => Passed::Back(Some(denied(id, &words, issue.code.as_str()))),
            (id, _) => {
                let is_json = issue.code == codes::HOOK_INPUT;
                let code = if is_json { INVALID_REQUEST } else { PARSE_ERROR };
                Passed::Back(Some(error(id, code, &words)))
            }
        }
    }

    fn server_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed {
        let words = format!("the answer of the server was not passed on: {issue}");
        match gist.id() {
            Some(id) if gist.is_question() => Passed::Back(Some(error(Some(id), INVALID_REQUEST, &words))),
            Some(id) => {
                // If it was a call, nobody can say how it went: it is in doubt.
                self.awaited.remove(id);
                Passed::Instead(error(Some(id), SERVER_FAILED, &words))
            }
            None if gist.is_question() => Passed::Back(None),
            // It may be the answer to any of them, so none may wait for it for ever.
            None => {
                let lists: Vec<Id> = self.lists().cloned().collect();
                let errors = lists.iter().map(|id| {
                    self.awaited.remove(id);
                    error(Some(id), SERVER_FAILED, &words)
                });
                let errors = errors.collect::<Vec<_>>().join("\n");
                if errors.is_empty() { Passed::Back(None) } else { Passed::Instead(errors) }
            }
        }
    }
}

impl Proxy<'_> {
    /// The lists of tools that the client waits for.
    fn lists(&self) -> impl Iterator<Item = &Id> {
        self.awaited.iter().filter_map(|(id, awaited)| matches!(awaited, Awaited::Tools).then_some(id))
    }

    /// A message of the server that can be read.
    fn answered(&mut self, line: &[u8], read: &Read<'_>) -> Passed {
        let json = &read.json;
        let result = json.get("result");
        if result.is_none() && json.get("error").is_none() {
            return Passed::On;
        }
        let awaited = read.id.as_ref().and_then(|id| self.awaited.remove(id));
        if let Some(Awaited::Outcome(call)) = &awaited {
            let is_error = result.and_then(|it| it.get("isError")).and_then(Json::as_bool) == Some(true);
            let is_done = result.is_some() && !is_error;
            let status = if is_done { OutcomeStatus::Succeeded } else { OutcomeStatus::Failed };
            // The call has happened; a store that cannot note how it went finds it in doubt later.
            let _in_doubt = self.gate.finish(call, status, "");
        }
        // Whatever it answers: a client may take an id for another one, `"1"` for `1`.
        match result.and_then(|result| result.get("tools")).map(|tools| &tools.value) {
            Some(Value::Array(tools)) => self.filtered(line, read, tools),
            None => Passed::On,
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                match (awaited, &read.id) {
                    (Some(Awaited::Tools), Some(id)) => Passed::Instead(error(
                        Some(id),
                        SERVER_FAILED,
                        "the server's list of tools is no list",
                    )),
                    (Some(Awaited::Tools | Awaited::Outcome(_)) | None, _) => Passed::On,
                }
            }
        }
    }

    /// A line of the server that cannot be read, or could be read in two ways.
    fn unreadable(&mut self, line: &[u8], issue: &Issue) -> Passed {
        let gist = Gist::of(line);
        if self.lists().next().is_none() {
            gist.id().filter(|_| gist.is_answer()).map(|id| self.awaited.remove(id));
            return Passed::On;
        }
        if gist.is_question() || !message::is_perhaps(line) {
            return Passed::On;
        }
        self.server_refused(&gist, issue)
    }

    /// Decides a call of a tool.
    fn call(&mut self, message: &Object<'_>, id: Option<Id>) -> Passed {
        let refused = |words: &str, code: &str| Passed::Back(id.as_ref().map(|id| denied(id, words, code)));
        let refused_by = |issue: &Issue| refused(&in_words("call", issue), issue.code.as_str());
        let params = message.get("params");
        let members = params.and_then(Json::as_object).map(|params| message::check_case(params, &CALL_KEYS));
        if let Some(Err(issue)) = members {
            return refused_by(&issue);
        }
        let name = params.and_then(|params| params.get("name")).and_then(Json::as_str);
        let Some(name) = name else {
            let issue = Issue::new(codes::HOOK_INPUT, "the call names no tool");
            return refused_by(&issue.with_expected("the tool as `params.name`"));
        };
        let arguments =
            params.and_then(|params| params.get("arguments")).map(|it| it.clone().into_owned().value);
        let input = match arguments {
            Some(Value::Object(input)) => input,
            None | Some(Value::Null) => Object::default(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                let issue = Issue::new(codes::HOOK_INPUT, "the arguments are not an object");
                return refused_by(&issue.with_expected("an object, or no arguments"));
            }
        };
        self.calls = self.calls.saturating_add(1);
        // A call without an id has no answer, so nobody will say how it went.
        let call =
            HostCall { session: self.session.clone(), call: id.as_ref().map(|_| self.calls.to_string()) };
        let decided = self
            .action(name, input)
            .and_then(|action| self.gate.decide(&call, &action, probe_facts("mcp", &[])?));
        match decided {
            Ok(Verdict::Allowed) => {
                self.awaited.extend(id.map(|id| (id, Awaited::Outcome(call))));
                Passed::On
            }
            Ok(Verdict::Denied(denial)) => refused(&denial.in_words(), &denial.code),
            Err(issue) => refused_by(&issue),
        }
    }

    fn action(&self, tool: &str, input: Object<'static>) -> Result<Action, Issue> {
        let mcp = Some((self.server.clone(), tool.to_owned()));
        let call = ToolCall { tool: tool.to_owned(), input, cwd: None, mcp };
        self.gate.action(Host::Codex, &call, &self.gate.workspace_place()?)
    }

    /// A list of tools without those that no call of would be allowed.
    fn filtered(&self, line: &[u8], read: &Read<'_>, tools: &[Json<'_>]) -> Passed {
        let is_closed = |tool: &Json<'_>| {
            // A name that is not quite known here is one that no call can have.
            let name = tool.get("name").and_then(Json::as_str).filter(|it| !it.contains(near::MARK));
            tool.as_object().is_some() && name.is_none_or(|name| !self.is_open(name))
        };
        if !tools.iter().any(is_closed) {
            return Passed::On;
        }
        let cut = near::without(line, &read.text, tools, &is_closed);
        // Nothing is passed that was not cut.
        cut.map_or_else(
            || {
                let words = "the list of tools could not be filtered";
                Passed::Instead(error(read.id.as_ref(), SERVER_FAILED, words))
            },
            Passed::Instead,
        )
    }

    /// Whether any call of a tool could be allowed.
    fn is_open(&self, name: &str) -> bool {
        let action = self.action(name, Object::default());
        let found = action.and_then(|action| self.gate.consider(&self.session, &action));
        found.is_ok_and(|found| found.is_allowed || found.needs_approval)
    }
}

/// A denial as the result of the call: what every client shows its model in plain words.
pub(super) fn denied(id: &Id, words: &str, code: &str) -> String {
    let content = Json::object([("type", Json::from("text")), ("text", Json::from(words.to_owned()))]);
    let meta = Json::object([("countersign/decision_code", Json::from(code.to_owned()))]);
    let result =
        Json::object([("content", Json::array([content])), ("isError", Json::from(true)), ("_meta", meta)]);
    answer("result", &result, Some(id))
}

/// An answer that is none.
pub(super) fn error(id: Option<&Id>, code: i32, message: &str) -> String {
    let code = countersign_canon::Number::from_i64(i64::from(code));
    let code = code.map_or_else(|| Json::from(Value::Null), |code| Json::from(Value::Number(code)));
    let error = Json::object([("code", code), ("message", Json::from(message.to_owned()))]);
    answer("error", &error, id)
}

/// An answer; an id is said again as it came.
fn answer(key: &str, value: &Json<'_>, id: Option<&Id>) -> String {
    let id = id.map_or("null", Id::as_str);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{key}\":{}}}", value.to_canonical())
}

//! Between an MCP client and a server: calls of tools are decided, lists of tools are filtered, everything else passes as it is.
//!
//! Lines pass byte for byte unless they are answered here or are a filtered list. Requests are known by direction: the two
//! sides number theirs independently. A line of the client that is not the JSON of one message is not passed on: a server that
//! reads it otherwise than we do would be told something that nobody decided.

use std::collections::BTreeMap;

use countersign_action::{Action, Host, ToolCall};
use countersign_canon::{Issue, Json, Object, Value};
use countersign_ledger::OutcomeStatus;
use countersign_policy::SessionId;
use countersign_service::HostCall;

use super::{
    between::{Between, Passed},
    gate::{Gate, Verdict, probe_facts},
};

/// JSON-RPC: what was sent is not JSON, or not one request.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;

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
    /// The client's requests by their ids, as JSON.
    awaited: BTreeMap<String, Awaited>,
    calls: u64,
}

impl<'g> Proxy<'g> {
    pub(crate) const fn new(gate: &'g Gate, session: SessionId, server: String) -> Self {
        Self { gate, session, server, awaited: BTreeMap::new(), calls: 0 }
    }
}

impl Between for Proxy<'_> {
    fn client_says(&mut self, line: &[u8]) -> Passed {
        let json = match Json::parse(line) {
            Ok(json) => json,
            Err(issue) => return Passed::Back(Some(error(None, PARSE_ERROR, &issue.to_string()))),
        };
        let Some(message) = json.as_object() else {
            let words = "one message a line: batches are not passed on";
            return Passed::Back(Some(error(None, INVALID_REQUEST, words)));
        };
        let id = message.get("id").filter(|id| !matches!(id.value, Value::Null));
        match message.get("method").and_then(Json::as_str) {
            Some("tools/list") => {
                self.awaited.extend(id.map(|id| (id.to_canonical(), Awaited::Tools)));
                Passed::On
            }
            Some("tools/call") => self.call(message, id),
            Some(_) | None => Passed::On,
        }
    }

    fn server_says(&mut self, line: &[u8]) -> Passed {
        let Ok(json) = Json::parse(line) else { return Passed::On };
        if json.get("method").is_some() {
            return Passed::On;
        }
        let awaited = json.get("id").and_then(|id| self.awaited.remove(&id.to_canonical()));
        match awaited {
            None => Passed::On,
            Some(Awaited::Tools) => self.filtered(&json).map_or(Passed::On, Passed::Instead),
            Some(Awaited::Outcome(call)) => {
                let result = json.get("result");
                let is_error = result.and_then(|it| it.get("isError")).and_then(Json::as_bool) == Some(true);
                let status = if result.is_some() && !is_error {
                    OutcomeStatus::Succeeded
                } else {
                    OutcomeStatus::Failed
                };
                // The call has happened; a store that cannot note how it went finds it in doubt later.
                let _in_doubt = self.gate.finish(&call, status, "");
                Passed::On
            }
        }
    }
}

impl Proxy<'_> {
    /// Decides a call of a tool.
    fn call(&mut self, message: &Object<'_>, id: Option<&Json<'_>>) -> Passed {
        let refused = |words: &str, code: &str| Passed::Back(id.map(|id| denied(id, words, code)));
        let params = message.get("params");
        let name = params.and_then(|params| params.get("name")).and_then(Json::as_str);
        let Some(name) = name else { return refused("the call names no tool", "HOOK_INPUT") };
        let arguments =
            params.and_then(|params| params.get("arguments")).map(|it| it.clone().into_owned().value);
        let input = match arguments {
            Some(Value::Object(input)) => input,
            None | Some(Value::Null) => Object::default(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return refused("the arguments are not an object", "HOOK_INPUT");
            }
        };
        self.calls = self.calls.saturating_add(1);
        // A call without an id has no answer, so nobody will say how it went.
        let call = HostCall { session: self.session.clone(), call: id.map(|_| self.calls.to_string()) };
        let decided = self
            .action(name, input)
            .and_then(|action| self.gate.decide(&call, &action, probe_facts("mcp", &[])?));
        match decided {
            Ok(Verdict::Allowed) => {
                self.awaited.extend(id.map(|id| (id.to_canonical(), Awaited::Outcome(call))));
                Passed::On
            }
            Ok(Verdict::Denied(denial)) => refused(&denial.in_words(), &denial.code),
            Err(issue) => {
                refused(&format!("{}: {issue}, and doubt is a no", issue.code), issue.code.as_str())
            }
        }
    }

    fn action(&self, tool: &str, input: Object<'static>) -> Result<Action, Issue> {
        let mcp = Some((self.server.clone(), tool.to_owned()));
        let call = ToolCall { tool: tool.to_owned(), input, cwd: None, mcp };
        self.gate.action(Host::Codex, &call, &self.gate.workspace_place()?)
    }

    /// A list of tools without those that no call of would be allowed; nothing if it is not such a list.
    fn filtered(&self, json: &Json<'_>) -> Option<String> {
        let result = json.get("result")?.as_object()?;
        let tools = result.get("tools")?.as_array()?;
        let is_open = |tool: &&Json<'_>| {
            let name = tool.get("name").and_then(Json::as_str);
            name.is_some_and(|name| {
                let action = self.action(name, Object::default());
                let found = action.and_then(|action| self.gate.consider(&self.session, &action));
                found.is_ok_and(|found| found.is_allowed || found.needs_approval)
            })
        };
        let open = Json::array(tools.iter().filter(is_open).cloned());
        let replaced = |object: &Object<'_>, key: &'static str, value: Json<'static>| {
            let others = object.members().iter().filter(|member| member.key != key);
            let others =
                others.map(|member| (member.key.clone().into_owned(), member.value.clone().into_owned()));
            Json::object(others.chain([(key.to_owned(), value)]))
        };
        let result = replaced(result, "tools", open.into_owned());
        Some(replaced(json.as_object()?, "result", result).to_canonical())
    }
}

/// A denial as the result of the call: what every client shows its model in plain words.
fn denied(id: &Json<'_>, words: &str, code: &str) -> String {
    let content = Json::object([("type", Json::from("text")), ("text", Json::from(words.to_owned()))]);
    let meta = Json::object([("countersign/decision_code", Json::from(code.to_owned()))]);
    let result =
        Json::object([("content", Json::array([content])), ("isError", Json::from(true)), ("_meta", meta)]);
    let id = id.clone().into_owned();
    Json::object([("jsonrpc", Json::from("2.0")), ("id", id), ("result", result)]).to_canonical()
}

/// An answer that is none.
pub(super) fn error(id: Option<&Json<'_>>, code: i32, message: &str) -> String {
    let code = countersign_canon::Number::from_i64(i64::from(code));
    let code = code.map_or_else(|| Json::from(Value::Null), |code| Json::from(Value::Number(code)));
    let error = Json::object([("code", code), ("message", Json::from(message.to_owned()))]);
    let id = id.map_or_else(|| Json::from(Value::Null), |id| id.clone().into_owned());
    Json::object([("jsonrpc", Json::from("2.0")), ("id", id), ("error", error)]).to_canonical()
}

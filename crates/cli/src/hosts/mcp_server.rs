//! The kernel as an MCP server: an agent asks what it may do, asks for approval, says what it intends, reads the rules.
//!
//! The few messages are read and written here rather than with a library: a server needs five of them, and the program keeps
//! one strict JSON reader. Nothing that this server offers lets an action begin; that is for the gate before the tools.

use std::path::PathBuf;

use countersign_action::{Action, Host, ToolCall};
use countersign_canon::{Issue, Json, NonEmpty, Object, Reader, Text, Value, Wire, record, schema_document};
use countersign_intent::{Intent, Registry, overlaps};
use countersign_policy::{ActionKind, SessionId, action_hash};

use super::{
    between::in_words,
    gate::Gate,
    mcp::{INVALID_REQUEST, PARSE_ERROR, denied, error},
    workspace::first,
};
use crate::{
    commands::intent::overlaps::open_intents,
    effects::{files, folder},
    failure::codes,
    intent::report::Refusal,
    lines::gist::{Gist, Id},
};

/// JSON-RPC: there is no such method.
const NO_SUCH_METHOD: i32 = -32601;

/// The versions of the protocol that this server speaks, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

record! {
    /// A call of a tool, as Claude Code names its tools.
    struct AskArguments {
        /// The tool: Bash, Read, Write, Edit, WebFetch, ...
        tool: Text<1, 200>,
        /// Its input: for Bash an object with the command.
        input: Object<'static>,
    }
}

record! {
    /// A call of a tool that a person is asked to approve.
    struct RequestArguments {
        /// The tool: Bash, Read, Write, Edit, WebFetch, ...
        tool: Text<1, 200>,
        /// Its input: for Bash an object with the command.
        input: Object<'static>,
        /// The host in whose session the call will be made: claude-code, codex or gemini.
        client: Option<Text<1, 128>>,
        /// The host's name for that session; an approval counts in one session only.
        host_session: Option<Text<1, 1000>>,
    }
}

record! {
    /// What an agent is about to do.
    struct PublishArguments {
        /// The intent document.
        intent: Object<'static>,
    }
}

record! {
    /// Nothing is to be said.
    struct NoArguments {}
}

/// A server for one client.
pub(crate) struct Server<'g> {
    gate: &'g Gate,
    session: SessionId,
    registry: Option<Registry>,
}

impl<'g> Server<'g> {
    pub(crate) const fn new(gate: &'g Gate, session: SessionId, registry: Option<Registry>) -> Self {
        Self { gate, session, registry }
    }

    /// The answer to a line of the client, if it gets one.
    pub(crate) fn answer(&self, line: &[u8]) -> Option<String> {
        let json = match Json::parse(line) {
            Ok(json) => json,
            Err(issue) => return Some(refused(&Gist::of(line), &issue)),
        };
        let Some(message) = json.as_object() else {
            return Some(error(None, INVALID_REQUEST, "one message a line: batches are not read"));
        };
        // A message without an id is a notification: there is none that this server waits for.
        let id = message.get("id").filter(|id| !matches!(id.value, Value::Null))?;
        let params = message.get("params");
        let result = match message.get("method").and_then(Json::as_str)? {
            "initialize" => initialized(params),
            "ping" => Json::object::<&str>([]),
            "tools/list" => Json::object([("tools", tools())]),
            "tools/call" => self.call(params),
            other => {
                return Some(error(
                    Id::of(id).as_ref(),
                    NO_SUCH_METHOD,
                    &format!("there is no method `{other}`"),
                ));
            }
        };
        let members = [("jsonrpc", Json::from("2.0")), ("id", id.clone().into_owned()), ("result", result)];
        Some(Json::object(members).to_canonical())
    }

    fn call(&self, params: Option<&Json<'_>>) -> Json<'static> {
        let name = params.and_then(|params| params.get("name")).and_then(Json::as_str).unwrap_or_default();
        let nothing = Json::object::<&str>([]);
        let arguments = params.and_then(|params| params.get("arguments")).unwrap_or(&nothing);
        let said = match name {
            "ask" => read(arguments).and_then(|arguments| self.ask(arguments)),
            "request_approval" => read(arguments).and_then(|arguments| self.request(arguments)),
            "publish_intent" => read(arguments).and_then(|arguments| self.publish(&arguments)),
            "check_conflicts" => read(arguments).and_then(|NoArguments {}| self.conflicts()),
            "policy_view" => read(arguments).and_then(|NoArguments {}| self.gate.policy_view()),
            other => {
                Err(Issue::new(codes::HOOK_INPUT, format!("there is no tool `{}`", other.escape_debug())))
            }
        };
        let (text, is_error) = match said {
            Ok(text) => (text, false),
            Err(issue) => (format!("{}: {issue}", issue.code), true),
        };
        let content = Json::object([("type", Json::from("text")), ("text", Json::from(text))]);
        Json::object([("content", Json::array([content])), ("isError", Json::from(is_error))])
    }

    /// What would be decided about a call, without recording anything.
    fn ask(&self, AskArguments { tool, input }: AskArguments) -> Result<String, Issue> {
        let action = self.action(&tool, input)?;
        let found = self.gate.consider(&self.session, &action)?;
        let outcome = match (found.is_allowed, found.needs_approval) {
            (true, _) => "allowed",
            (false, true) => "approval_required",
            (false, false) => "denied",
        };
        described(&action, [("outcome", outcome.into()), ("decision_code", found.decision_code.into())])
    }

    /// Asks people to approve a call, if that is all that is missing.
    fn request(&self, asked: RequestArguments) -> Result<String, Issue> {
        let action = self.action(&asked.tool, asked.input)?;
        let session = match (asked.client, asked.host_session) {
            (Some(client), Some(name)) => self.gate.session(client.as_str(), name.as_str())?,
            (None, None) => self.session.clone(),
            (Some(_), None) | (None, Some(_)) => {
                return Err(Issue::new(
                    codes::HOOK_INPUT,
                    "give both `client` and `host_session`, or neither",
                ));
            }
        };
        let decision = self.gate.request(&session, &action)?;
        let pending = decision.decided.pending_approval.as_ref();
        let command =
            pending.map(|pending| format!("{} --data {}", pending.command, self.gate.data().display()));
        let members = [
            ("outcome", Some(if decision.is_allowed() { "allowed" } else { "denied" }.to_owned())),
            ("decision_code", Some(decision.code().to_owned())),
            ("reason", Some(decision.decided.reason.clone())),
            ("approval_id", pending.map(|pending| pending.approval_id.to_string())),
            ("a_person_runs", command),
        ];
        described(&action, members.into_iter().filter_map(|(key, text)| Some((key, Json::from(text?)))))
    }

    /// Keeps an intent that is valid, for everybody who works here.
    fn publish(&self, PublishArguments { intent }: &PublishArguments) -> Result<String, Issue> {
        let json = Json::from(Value::Object(intent.clone()));
        let checked = Intent::from_json(&json, self.registry.as_ref()).map_err(|issues| all(&issues))?;
        let path = self.intents().join(format!("{}.json", checked.id()));
        folder::put(&path, &json.to_pretty())?;
        self.conflicts()
    }

    /// Every conflict among the intents that were published here.
    fn conflicts(&self) -> Result<String, Issue> {
        let folder = self.intents();
        let intents = if files::mode_of(&folder).is_none() { Vec::new() } else { self.published()? };
        let conflicts = overlaps(&intents, None, self.registry.as_ref()).map_err(|issues| all(&issues))?;
        let ids = Json::array(intents.iter().map(|intent| intent.id().write()));
        let report = [("intents", ids), ("conflicts", Json::array(conflicts.iter().map(Wire::write)))];
        Ok(Json::object(report).to_pretty())
    }

    fn published(&self) -> Result<Vec<Intent>, Issue> {
        let unread = |_| Issue::new(codes::CLI_READ_FAILED, "the published intents could not be read");
        let read = open_intents(&self.intents(), self.registry.as_ref()).map_err(unread)?;
        read.map_err(|refusals: Vec<Refusal>| {
            let names: Vec<&str> = refusals.iter().map(Refusal::name).collect();
            Issue::new(codes::CLI_READ_FAILED, format!("not intents: {}", names.join(", ")))
        })
    }

    fn intents(&self) -> PathBuf {
        self.gate.data().join("intents")
    }

    fn action(&self, tool: &Text<1, 200>, input: Object<'static>) -> Result<Action, Issue> {
        let call = ToolCall { tool: tool.as_str().to_owned(), input, cwd: None, mcp: None };
        self.gate.action(Host::ClaudeCode, &call, &self.gate.workspace_place()?)
    }
}

/// The answer to a line that is not read.
fn refused(gist: &Gist, issue: &Issue) -> String {
    let words = in_words("call", issue);
    match (gist.id(), gist.method()) {
        (Some(id), Some("tools/call")) => denied(id, &words, issue.code.as_str()),
        (id, _) => error(id, PARSE_ERROR, &words),
    }
}

/// An action with what there is to say about it.
fn described(
    action: &Action,
    more: impl IntoIterator<Item = (&'static str, Json<'static>)>,
) -> Result<String, Issue> {
    let kind = ActionKind::parse(action.kind.as_str())?;
    let own = [
        ("action_kind", Json::from(action.kind.as_str())),
        ("action_hash", Json::from(action_hash(&kind, &action.payload).to_string())),
    ];
    Ok(Json::object(own.into_iter().chain(more)).to_pretty())
}

fn read<T: Wire>(arguments: &Json<'_>) -> Result<T, Issue> {
    Reader::read_json(arguments, codes::HOOK_INPUT).map_err(|issues| first(issues.into_vec()))
}

/// Every problem of a document, as one.
fn all(issues: &NonEmpty<Issue>) -> Issue {
    let lines: Vec<String> =
        issues.iter().map(|issue| format!("{} {}: {issue}", issue.code, issue.pointer)).collect();
    Issue::new(codes::HOOK_INPUT, lines.join("; "))
}

/// The greeting: the client's version of the protocol if it is known here, else the newest.
fn initialized(params: Option<&Json<'_>>) -> Json<'static> {
    let wanted = params.and_then(|params| params.get("protocolVersion")).and_then(Json::as_str);
    let [newest, ..] = VERSIONS;
    let version = VERSIONS.into_iter().find(|version| Some(*version) == wanted).unwrap_or(newest);
    let tools = Json::object([("listChanged", Json::from(false))]);
    Json::object([
        ("protocolVersion", Json::from(version)),
        ("capabilities", Json::object([("tools", tools)])),
        (
            "serverInfo",
            Json::object([
                ("name", Json::from("countersign")),
                ("version", Json::from(env!("CARGO_PKG_VERSION"))),
            ]),
        ),
        (
            "instructions",
            Json::from(
                "Ask before you act: what is denied here is denied at the tool too. Nothing begins through this server.",
            ),
        ),
    ])
}

fn tools() -> Json<'static> {
    let tool = |name: &'static str, description: &'static str, schema: Json<'static>| {
        // Clients look for the type at the top, where the schema has a reference.
        let members = schema.as_object().map_or(&[][..], |object| object.members());
        let members = members.iter().map(|member| (member.key.clone(), member.value.clone()));
        let schema = Json::object(members.chain([("type".into(), Json::from("object"))]));
        Json::object([
            ("name", Json::from(name)),
            ("description", Json::from(description)),
            ("inputSchema", schema),
        ])
    };
    Json::array([
        tool(
            "ask",
            "What the policy in force would decide about a call of a tool. Nothing is recorded.",
            schema_document::<AskArguments>("countersign.mcp.ask", "ask"),
        ),
        tool(
            "request_approval",
            "Ask a person to approve a call of a tool, if that is all that is missing. The decision is recorded.",
            schema_document::<RequestArguments>("countersign.mcp.request_approval", "request_approval"),
        ),
        tool(
            "publish_intent",
            "Say what you are about to do, as an intent document; the answer is every conflict with what others intend.",
            schema_document::<PublishArguments>("countersign.mcp.publish_intent", "publish_intent"),
        ),
        tool(
            "check_conflicts",
            "Every conflict among the intents that were published in this workspace.",
            schema_document::<NoArguments>("countersign.mcp.check_conflicts", "check_conflicts"),
        ),
        tool(
            "policy_view",
            "The rules in force, in words.",
            schema_document::<NoArguments>("countersign.mcp.policy_view", "policy_view"),
        ),
    ])
}

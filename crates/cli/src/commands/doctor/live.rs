//! The real host, asked to make calls that execute nothing by a model that doctor plays itself.
//!
//! Were a canary let through, it would do nothing either: a command that nobody has, a file where nobody can make one, a tool that
//! only reads. Everything stays on this machine.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    time::Duration,
};

use countersign_action::{Host, ToolCall};
use countersign_canon::{Issue, Json};
use countersign_policy::{ActionHash, ActionKind, action_hash};

use crate::{
    commands::install::Client,
    effects::{
        child::{Child, Heard, Start},
        clock::Stopwatch,
        environment,
        loopback::Loopback,
    },
    hosts::{
        canary::{self, Canary},
        gate::Gate,
    },
};

/// LIMIT: how long the host may take for all canaries.
const WITHIN: Duration = Duration::from_secs(60);

/// How sure it is that calls of some sort are decided before they are made, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// A call was decided just now.
    Proved,
    /// The hooks are there; no call was made.
    Configured,
    /// A call was made and nobody was asked, or the answer did not count.
    Unprotected,
}

impl State {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Configured => "configured",
            Self::Unprotected => "unprotected",
        }
    }
}

/// What the host has shown.
pub(super) struct Shown {
    /// How sure it is for each sort of call.
    pub(super) surfaces: Vec<(&'static str, State)>,
    /// How long all of it took.
    pub(super) took: Duration,
}

/// A canary, and what is known of it beforehand.
struct Watched {
    surface: &'static str,
    /// The name of the call in the host's own protocol.
    call: String,
    /// The action that the hook must be asked about.
    action: ActionHash,
}

/// Sends canaries through the host; what that shows.
///
/// # Errors
///
/// Fails if the host cannot be started, or the log cannot be read.
pub(super) fn look(root: &Path, client: Client, bin: &OsStr, gate: &Gate) -> Result<Shown, Issue> {
    let session = gate.new_session("doctor")?;
    let name = session.as_str();
    let nonce = name.get(name.len().saturating_sub(12)..).unwrap_or(name);
    let (canaries, watched) = match client {
        Client::ClaudeCode => Cage { nonce, root, gate, host: Host::ClaudeCode }.claude_code()?,
        Client::Codex => Cage { nonce, root, gate, host: Host::Codex }.codex()?,
    };
    let since = gate.log_size()?;
    let model = Loopback::listen(canary::answer)?;
    let prompt = canary::prompt(&canaries);
    let program = environment::this_program()?;
    let (arguments, variables) = match client {
        Client::ClaudeCode => claude_code(&model.address, &server_name(nonce), &program, prompt),
        Client::Codex => codex(&model.address, &server_name(nonce), &program, root, prompt),
    };
    let stopwatch = Stopwatch::start();
    let start = Start { program: bin, arguments: &arguments, environment: &variables, folder: Some(root) };
    let mut host = Child::start(&start)?;
    host.end_input();
    while let Some(left) = WITHIN.checked_sub(stopwatch.elapsed()) {
        match host.hear(left) {
            Heard::Line(_) => (),
            Heard::Silence | Heard::End => break,
        }
    }
    let took = stopwatch.elapsed();
    drop(host);
    let state = |watched: &Watched| -> Result<State, Issue> {
        let action = watched.action.to_string();
        // The words of a denial name the action: whoever hears them was denied, and told so.
        if model.has_heard(&action) || gate.has_allowed(since, &action)? {
            return Ok(State::Proved);
        }
        Ok(if model.has_heard(&watched.call) { State::Unprotected } else { State::Configured })
    };
    let surfaces = watched.iter().map(|watched| Ok((watched.surface, state(watched)?)));
    Ok(Shown { surfaces: surfaces.collect::<Result<_, Issue>>()?, took })
}

/// The name of the MCP server whose tool is called: this program's own.
fn server_name(nonce: &str) -> String {
    format!("countersign_{nonce}")
}

/// Where canaries are made.
struct Cage<'c> {
    nonce: &'c str,
    root: &'c Path,
    gate: &'c Gate,
    host: Host,
}

impl Cage<'_> {
    fn claude_code(&self) -> Result<(Vec<Canary>, Vec<Watched>), Issue> {
        let bash = |part: &str| Json::object([("command", Json::from(self.name(part)))]);
        let path = Json::from(format!("/proc/{}", self.name("edit")));
        let write = Json::object([("file_path", path), ("content", Json::from("canary"))]);
        let inner = self.canary("inner", (None, "Bash"), bash("inner"));
        let agent = Json::object([
            ("description", Json::from("canary")),
            ("prompt", Json::from(canary::prompt(&[inner]))),
            ("subagent_type", Json::from("general-purpose")),
            ("run_in_background", Json::from(false)),
        ]);
        let tool = format!("mcp__{}__policy_view", server_name(self.nonce));
        let watched = vec![
            self.watched("commands", "command", "Bash", bash("command"))?,
            self.watched("file edits", "edit", "Write", write.clone())?,
            self.watched("sub-agents", "inner", "Bash", bash("inner"))?,
            self.watched("MCP tools", "mcp", &tool, nothing())?,
        ];
        let canaries = vec![
            self.canary("command", (None, "Bash"), bash("command")),
            self.canary("edit", (None, "Write"), write),
            self.canary("agent", (None, "Agent"), agent),
            self.canary("mcp", (None, &tool), nothing()),
        ];
        Ok((canaries, watched))
    }

    fn codex(&self) -> Result<(Vec<Canary>, Vec<Watched>), Issue> {
        // The model asks for `exec_command`; the hook is told of `Bash`.
        let line = |line: String| Json::object([("cmd", Json::from(line))]);
        let bash = |line: String| Json::object([("command", Json::from(line))]);
        let patch = format!(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: /proc/{}\n+canary\n*** End Patch\nEOF",
            self.name("edit")
        );
        let inner = self.canary("inner", (None, "exec_command"), line(self.name("inner")));
        let message = Json::object([("message", Json::from(canary::prompt(&[inner])))]);
        let server = format!("mcp__{}", server_name(self.nonce));
        let watched = vec![
            self.watched("commands", "command", "Bash", bash(self.name("command")))?,
            self.watched("file edits", "edit", "Bash", bash(patch.clone()))?,
            self.watched("sub-agents", "inner", "Bash", bash(self.name("inner")))?,
            self.watched("MCP tools", "mcp", &format!("{server}__policy_view"), nothing())?,
        ];
        // A sub-agent works beside its parent, which therefore waits for it.
        let after = watched.get(2).map(|watched| watched.action.to_string());
        let canaries = vec![
            self.canary("command", (None, "exec_command"), line(self.name("command"))),
            self.canary("edit", (None, "exec_command"), line(patch)),
            self.canary("agent", (Some("multi_agent_v1"), "spawn_agent"), message),
            Canary { after, ..self.canary("mcp", (Some(&server), "policy_view"), nothing()) },
        ];
        Ok((canaries, watched))
    }

    fn name(&self, part: &str) -> String {
        format!("countersign_canary_{}_{part}", self.nonce)
    }

    fn canary(&self, part: &str, (group, tool): (Option<&str>, &str), input: Json<'static>) -> Canary {
        let tool = (group.map(str::to_owned), tool.to_owned());
        Canary { id: self.name(part), tool, input, after: None }
    }

    /// What the hook will be asked about.
    fn watched(
        &self,
        surface: &'static str,
        part: &str,
        tool: &str,
        input: Json<'static>,
    ) -> Result<Watched, Issue> {
        let call = Json::object([("tool_name", Json::from(tool.to_owned())), ("tool_input", input)]);
        let call = ToolCall::read(&call)?;
        let action = self.gate.action(self.host, &call, &self.gate.place(self.root)?)?;
        let kind = ActionKind::parse(action.kind.as_str())?;
        let prefix = if self.host == Host::ClaudeCode { "toolu" } else { "call" };
        let call = format!("{prefix}_{}", self.name(part));
        Ok(Watched { surface, call, action: action_hash(&kind, &action.payload) })
    }
}

fn nothing() -> Json<'static> {
    Json::object::<&str>([])
}

type Started = (Vec<OsString>, Vec<(&'static str, OsString)>);

/// Claude Code with this model, its own settings and nothing kept.
fn claude_code(address: &str, server: &str, program: &str, prompt: String) -> Started {
    let variables = [
        ("ANTHROPIC_BASE_URL", address),
        ("ANTHROPIC_API_KEY", "none"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
    ];
    // Settings of the user may name another model; these come after them.
    let again = variables.map(|(key, value)| (key, Json::from(value.to_owned())));
    let settings = Json::object([("env", Json::object(again))]);
    let start = Json::object([
        ("command", Json::from(program.trim_matches('\'').to_owned())),
        ("args", Json::array(["mcp", "serve"].map(Json::from))),
    ]);
    let servers = Json::object([("mcpServers", Json::object([(server.to_owned(), start)]))]);
    let arguments = [
        "-p".to_owned(),
        "--output-format=stream-json".to_owned(),
        "--verbose".to_owned(),
        "--no-session-persistence".to_owned(),
        format!("--settings={}", settings.to_canonical()),
        format!("--mcp-config={}", servers.to_canonical()),
        "--allowedTools=Agent".to_owned(),
        prompt,
    ];
    (arguments.map(OsString::from).to_vec(), variables.map(|(key, value)| (key, value.into())).to_vec())
}

/// Codex with this model, its own settings and nothing kept.
fn codex(address: &str, server: &str, program: &str, root: &Path, prompt: String) -> Started {
    const PROVIDER: &str = "countersign_doctor";
    let text = |text: &str| Json::from(text.to_owned()).to_canonical();
    let provider = |key: &str, value: String| format!("model_providers.{PROVIDER}.{key}={value}");
    let server = |key: &str, value: String| format!("mcp_servers.{server}.{key}={value}");
    let settings = [
        "model=\"canary\"".to_owned(),
        format!("model_provider={}", text(PROVIDER)),
        provider("name", text(PROVIDER)),
        provider("base_url", text(&format!("{address}/v1"))),
        provider("wire_api", text("responses")),
        provider("env_key", text("COUNTERSIGN_DOCTOR_KEY")),
        provider("request_max_retries", "0".to_owned()),
        provider("stream_max_retries", "0".to_owned()),
        server("command", text(program.trim_matches('\''))),
        server("args", "[\"mcp\", \"serve\"]".to_owned()),
        // These would look for the network, and wait for it.
        "features.apps=false".to_owned(),
        "features.plugins=false".to_owned(),
        "features.remote_plugin=false".to_owned(),
    ];
    let mut arguments: Vec<OsString> =
        ["exec", "--json", "--ephemeral", "--skip-git-repo-check", "-s", "read-only", "-C"]
            .map(OsString::from)
            .to_vec();
    arguments.push(root.as_os_str().to_owned());
    arguments.extend(settings.into_iter().flat_map(|setting| ["-c".into(), setting.into()]));
    arguments.push(prompt.into());
    (arguments, vec![("COUNTERSIGN_DOCTOR_KEY", "none".into())])
}

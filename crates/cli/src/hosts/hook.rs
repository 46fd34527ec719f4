//! What a host tells its hook, and what the hook says back.
//!
//! The one answer that every host takes for a no is exit code 2 with the reason on standard error; the one it takes for
//! "nothing against it" is exit code 0 and silence. Whatever goes wrong here is a no.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use countersign_action::{Host, Kind, ToolCall};
use countersign_canon::{Issue, Json, Text};
use countersign_ledger::OutcomeStatus;
use countersign_policy::{ActionKind, action_hash};
use countersign_service::{
    Door,
    api::{DecideCall, ReportCall},
};

use super::{
    ground::{Denial, Ground, Verdict, probe_facts},
    workspace::Workspace,
};
use crate::{
    effects::{deadline, environment, files},
    exit::Exit,
    failure::codes,
};

/// LIMIT: how long a hook takes to answer at most; hosts wait longer, and some let the call run when they give up.
const DEADLINE: Duration = Duration::from_secs(2);

/// What a hook says.
#[derive(Debug)]
pub(crate) enum Said {
    /// Nothing against it.
    Nothing,
    /// No, and why.
    No(String),
}

/// What a host's event asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// May this call begin?
    Before,
    /// This is how a call went.
    After(OutcomeStatus),
}

/// Answers a host's hook within the deadline, whatever happens.
pub(crate) fn answer(host: Host, workspace: Option<PathBuf>) -> Said {
    let message = format!("there was no decision within {} seconds", DEADLINE.as_secs());
    let late = Issue::new(codes::HOOK_DEADLINE, message)
        .with_hint("see what holds the store with `countersign doctor`");
    let said = deadline::set(DEADLINE, in_doubt(&late), Exit::Blocked).and_then(|()| ask(host, workspace));
    said.unwrap_or_else(|issue| Said::No(in_doubt(&issue)))
}

/// Reads the host's event and answers it.
fn ask(host: Host, workspace: Option<PathBuf>) -> Result<Said, Issue> {
    let bytes = files::read_stdin()?;
    let json = Json::parse(&bytes).map_err(|issue| {
        Issue::new(codes::HOOK_INPUT, format!("standard input is not the JSON of a host: {issue}"))
    })?;
    let event = Event::read(host, &json)?;
    let start = match workspace.or_else(|| environment::host_workspace(host)) {
        Some(folder) => folder,
        None => PathBuf::from(text(&json, "cwd")?),
    };
    if !start.is_absolute() {
        let message = format!("the workspace `{}` is not an absolute path", start.display());
        return Err(Issue::new(codes::HOOK_INPUT, message));
    }
    let ground = Ground::new(Workspace::find(&start)?)?;
    let told = Told { host, json: &json, session: sized(text(&json, "session_id")?)? };
    let door = ground.door(&format!("hook:{host}"))?;
    let said = match event {
        Event::Before => told.before(&ground, &door),
        Event::After(status) => told.after(&door, status),
    };
    // The process ends without the work of closing what it opened: everything is durable already.
    std::mem::forget((ground, door));
    said
}

/// What a host told.
struct Told<'t> {
    host: Host,
    json: &'t Json<'t>,
    session: Text<1, 1000>,
}

impl Told<'_> {
    /// May this call begin?
    fn before(&self, ground: &Ground, door: &Door) -> Result<Said, Issue> {
        let host = self.host;
        let tool = ToolCall::read(self.json)?;
        let action = ground.action(host, &tool, &ground.place(Path::new(text(self.json, "cwd")?))?)?;
        let probed = ground.probed(host.as_str())?;
        let mut facts: Vec<&str> = probed.iter().map(String::as_str).collect();
        if action.kind == Kind::AgentSpawn {
            // A host that calls a tool has it: the call is the probe.
            facts.push("tool:spawn_agent");
        }
        let action_kind = ActionKind::parse(action.kind.as_str())?;
        let hash = action_hash(&action_kind, &action.payload);
        let call = DecideCall {
            client: sized(host.as_str())?,
            host_session: self.session.clone(),
            call: self.call()?,
            mode: ground.workspace.mode,
            action_kind,
            action_payload: action.payload.clone(),
            probe: probe_facts(host.as_str(), &facts)?,
        };
        let reply = door.ask(call).map_err(|error| Issue::from(&error))?;
        Ok(match ground.verdict(&action, hash, reply)? {
            Verdict::Allowed => Said::Nothing,
            Verdict::Denied(denial) => Said::No(denial.in_words()),
        })
    }

    /// This is how a call went.
    fn after(&self, door: &Door, status: OutcomeStatus) -> Result<Said, Issue> {
        let Some(call) = self.call()? else { return Ok(Said::Nothing) };
        let detail = self.json.get("error").and_then(Json::as_str).unwrap_or_default();
        let report = ReportCall {
            client: sized(self.host.as_str())?,
            host_session: self.session.clone(),
            call,
            status,
            detail: Text::cut(detail),
        };
        door.ask(report).map(|_| Said::Nothing).map_err(|error| Issue::from(&error))
    }

    /// The host's name for the call, if it has one.
    fn call(&self) -> Result<Option<Text<1, 1000>>, Issue> {
        self.json.get("tool_use_id").and_then(Json::as_str).map(sized).transpose()
    }
}

impl Event {
    /// What the host's event is; one that nobody knows here is an error.
    fn read(host: Host, json: &Json<'_>) -> Result<Self, Issue> {
        let name = text(json, "hook_event_name")?;
        match (host, name) {
            (Host::ClaudeCode | Host::Codex, "PreToolUse") | (Host::Gemini, "BeforeTool") => Ok(Self::Before),
            (Host::ClaudeCode | Host::Codex, "PostToolUse") | (Host::Gemini, "AfterTool") => {
                Ok(Self::After(OutcomeStatus::Succeeded))
            }
            (Host::ClaudeCode, "PostToolUseFailure") => Ok(Self::After(OutcomeStatus::Failed)),
            (Host::ClaudeCode | Host::Codex | Host::Gemini, _) => {
                let message = format!("the event `{}` of {host} is not one of tools", name.escape_debug());
                Err(Issue::new(codes::HOOK_INPUT, message))
            }
        }
    }
}

impl Denial {
    /// The denial for the agent that hears it, and the person behind it.
    pub(crate) fn in_words(&self) -> String {
        let by = self.rule.as_ref().map(|rule| format!(" by rule {rule}")).unwrap_or_default();
        let mut lines = vec![
            format!("countersign denied this call: {}{by}", self.code),
            format!("  why: {}", self.words),
            match &self.finding {
                Some(finding) => format!("  what: {}, for {finding}", self.kind),
                None => format!("  what: {}", self.kind),
            },
            format!("  decision: {} about action {}", self.decision, self.action),
        ];
        if let Some(approve) = &self.approve {
            lines.push(format!("  a person runs: {approve}"));
            lines.push("  then make the same call again: the approval counts once, for this call".to_owned());
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

/// Why there is no decision: a no all the same.
fn in_doubt(issue: &Issue) -> String {
    let hint = issue.hint.as_ref().map(|hint| format!("  hint: {hint}\n")).unwrap_or_default();
    format!(
        "countersign denied this call: {}\n  why: {}, and doubt is a no\n{hint}",
        issue.code, issue.message
    )
}

fn text<'j>(json: &'j Json<'_>, key: &str) -> Result<&'j str, Issue> {
    let found = json.get(key).and_then(Json::as_str);
    found.ok_or_else(|| Issue::new(codes::HOOK_INPUT, format!("the host did not say its `{key}`")))
}

/// A name of the host's that is not empty and not endless.
fn sized<const MAX: usize>(text: &str) -> Result<Text<1, MAX>, Issue> {
    Text::new(text.to_owned()).ok_or_else(|| {
        Issue::new(codes::HOOK_INPUT, format!("a name of the host has not 1 to {MAX} characters"))
    })
}

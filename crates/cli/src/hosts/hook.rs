//! What a host tells its hook, and what the hook says back.
//!
//! The one answer that every host takes for a no is exit code 2 with the reason on standard error; the one it takes for
//! "nothing against it" is exit code 0 and silence. Whatever goes wrong here is a no.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, sync_channel},
    time::Duration,
};

use countersign_action::{Host, Kind, ToolCall};
use countersign_canon::{Issue, Json};
use countersign_ledger::OutcomeStatus;
use countersign_service::HostCall;

use super::{
    gate::{Denial, Gate, Verdict, probe_facts},
    workspace::Workspace,
};
use crate::{
    effects::{environment, files},
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
    let (said, heard) = sync_channel(1);
    let work = move || drop(said.send(ask(host, workspace)));
    let issue = match std::thread::Builder::new().name("countersign-hook".to_owned()).spawn(work) {
        Err(error) => Issue::new(codes::HOOK_DEFECT, format!("no thread could be started: {error}")),
        Ok(_) => match heard.recv_timeout(DEADLINE) {
            Ok(Ok(said)) => return said,
            Ok(Err(issue)) => issue,
            Err(RecvTimeoutError::Timeout) => {
                let message = format!("there was no decision within {} seconds", DEADLINE.as_secs());
                Issue::new(codes::HOOK_DEADLINE, message)
                    .with_hint("see what holds the store with `countersign doctor`")
            }
            Err(RecvTimeoutError::Disconnected) => {
                Issue::new(codes::HOOK_DEFECT, "the hook broke off before it could decide")
            }
        },
    };
    Said::No(in_doubt(&issue))
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
    let gate = Gate::open(Workspace::find(&start)?, &format!("hook:{}", host.as_str()))?;
    let said = gate_event(&gate, host, &json, event);
    gate.leave();
    said
}

fn gate_event(gate: &Gate, host: Host, json: &Json<'_>, event: Event) -> Result<Said, Issue> {
    let session = gate.session(host.as_str(), text(json, "session_id")?)?;
    let named = json.get("tool_use_id").and_then(Json::as_str).map(str::to_owned);
    let call = HostCall { session, call: named };
    match event {
        Event::Before => before(gate, host, json, &call),
        Event::After(status) => {
            let detail = json.get("error").and_then(Json::as_str).unwrap_or_default();
            gate.finish(&call, status, detail).map(|()| Said::Nothing)
        }
    }
}

fn before(gate: &Gate, host: Host, json: &Json<'_>, call: &HostCall) -> Result<Said, Issue> {
    let tool = ToolCall::read(json)?;
    let place = gate.place(Path::new(text(json, "cwd")?))?;
    let action = gate.action(host, &tool, &place)?;
    let probed = gate.probed(host.as_str())?;
    let mut facts: Vec<&str> = probed.iter().map(String::as_str).collect();
    if action.kind == Kind::AgentSpawn {
        // A host that calls a tool has it: the call is the probe.
        facts.push("tool:spawn_agent");
    }
    let probe = probe_facts(host.as_str(), &facts)?;
    Ok(match gate.decide(call, &action, probe)? {
        Verdict::Allowed => Said::Nothing,
        Verdict::Denied(denial) => Said::No(denial.in_words()),
    })
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

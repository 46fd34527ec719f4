//! Codex: its hooks, its trust in them, and its app-server.

pub(crate) mod app_server;
pub(crate) mod bounds;
pub(crate) mod contract;
pub(crate) mod managed;
mod method;
pub(crate) mod probe;
pub(crate) mod proxy;
mod refusal;
mod threads;
pub(crate) mod trusted;
pub(crate) mod worker;

use std::path::PathBuf;

use countersign_canon::{Issue, Json};

use self::app_server::{AppServer, Reply};
use super::settings::Entry;
use crate::{effects::environment, failure::codes};

/// Seconds that Codex waits for the hook: more than the hook ever takes.
const TIMEOUT_S: u32 = 10;

/// The folder of Codex's settings, if there is one.
pub(crate) fn home() -> Result<PathBuf, Issue> {
    environment::codex_folder().ok_or_else(|| {
        Issue::new(codes::INSTALL_SETTINGS, "the folder of Codex's settings is not known")
            .with_hint("set CODEX_HOME")
    })
}

/// What only an administrator can change, and every user's Codex obeys.
pub(crate) fn requirements() -> PathBuf {
    environment::system_folder().join("codex").join("requirements.toml")
}

/// The hooks: before every tool, and after it.
pub(crate) fn entries(program: &str) -> Vec<Entry> {
    let hook = Json::object([
        ("type", Json::from("command")),
        ("command", Json::from(format!("{program} hook codex"))),
        ("timeout", Json::from(TIMEOUT_S)),
    ]);
    let matcher = Json::object([("matcher", Json::from("*")), ("hooks", Json::array([hook]))]);
    ["PreToolUse", "PostToolUse"].map(|event| Entry { event, matcher: matcher.clone() }).to_vec()
}

/// A hook as Codex lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedHook {
    /// The name that trust is kept under.
    pub(crate) key: String,
    /// The event.
    pub(crate) event: String,
    /// What it runs.
    pub(crate) command: String,
    /// The hash of its definition as it is now.
    pub(crate) hash: String,
    /// Whether Codex runs it: it must be enabled, and trusted or managed.
    pub(crate) is_live: bool,
    /// What Codex says about trusting it.
    pub(crate) trust: String,
}

/// The hooks that Codex knows in this folder.
///
/// # Errors
///
/// Fails if Codex has no such list, or none that can be read: then nobody knows whether a hook would run.
pub(crate) fn hooks(server: &mut AppServer, folder: &str) -> Result<Vec<ListedHook>, Issue> {
    let cwds = Json::array([Json::from(folder.to_owned())]);
    let result = match server.call("hooks/list", Json::object([("cwds", cwds)])) {
        Reply::Result(result) => result,
        Reply::Error(message) => return Err(unlisted(&message)),
        Reply::None => return Err(unlisted("no answer")),
    };
    let rows = result.get("data").and_then(Json::as_array).unwrap_or_default();
    let hooks = rows.iter().filter_map(|row| row.get("hooks")?.as_array()).flatten();
    Ok(hooks.map(listed).collect())
}

/// The hooks among these that run this command.
pub(crate) fn of_command(hooks: Vec<ListedHook>, command: &str) -> Vec<ListedHook> {
    hooks.into_iter().filter(|hook| hook.command == command).collect()
}

/// Whether the machine requires hooks of this Codex, so that its user cannot switch them off.
pub(crate) fn are_required(server: &mut AppServer) -> bool {
    let Reply::Result(result) = server.call("configRequirements/read", Json::object::<&str>([])) else {
        return false;
    };
    let features = result.get("requirements").and_then(|it| it.get("featureRequirements"));
    features.and_then(|features| features.get("hooks")).and_then(Json::as_bool) == Some(true)
}

/// Tells Codex to trust these hooks as they are now.
///
/// # Errors
///
/// Fails if Codex does not say that it does.
pub(crate) fn trust(server: &mut AppServer, hooks: &[ListedHook]) -> Result<(), Issue> {
    let value = hooks
        .iter()
        .map(|hook| (hook.key.clone(), Json::object([("trusted_hash", Json::from(hook.hash.clone()))])));
    let edit = Json::object([
        ("keyPath", Json::from("hooks.state")),
        ("mergeStrategy", Json::from("upsert")),
        ("value", Json::object(value)),
    ]);
    let params = Json::object([("edits", Json::array([edit])), ("reloadUserConfig", Json::from(true))]);
    match server.call("config/batchWrite", params) {
        Reply::Result(result) if result.get("status").and_then(Json::as_str) == Some("ok") => Ok(()),
        Reply::Result(result) => Err(unlisted(&result.to_canonical())),
        Reply::Error(message) => Err(unlisted(&message)),
        Reply::None => Err(unlisted("no answer")),
    }
}

fn listed(hook: &Json<'_>) -> ListedHook {
    let text = |key: &str| hook.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let trust = text("trustStatus");
    let is_enabled = hook.get("enabled").and_then(Json::as_bool) == Some(true);
    ListedHook {
        key: text("key"),
        event: text("eventName"),
        command: text("command"),
        hash: text("currentHash"),
        is_live: is_enabled && matches!(trust.as_str(), "trusted" | "managed"),
        trust,
    }
}

fn unlisted(what: &str) -> Issue {
    let what: String = what.chars().take(200).collect();
    Issue::new(codes::INSTALL_TRUST, format!("Codex does not say which hooks it trusts: {what}"))
        .with_hint("hooks need Codex 0.129 or later; see `countersign probe codex`")
}

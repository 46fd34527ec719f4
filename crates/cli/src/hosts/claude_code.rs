//! Claude Code: where its settings are, and the hooks in them.

use std::path::{Path, PathBuf};

use countersign_canon::Json;

use super::settings::Entry;
use crate::effects::environment;

/// Seconds that Claude Code waits for the hook: more than the hook ever takes.
const TIMEOUT_S: u32 = 10;

/// The settings of this workspace and this user alone, where a path on this machine belongs.
pub(crate) fn settings(root: &Path) -> PathBuf {
    root.join(".claude").join("settings.local.json")
}

/// The settings of this workspace that its people share.
pub(crate) fn shared_settings(root: &Path) -> PathBuf {
    root.join(".claude").join("settings.json")
}

/// The settings that only an administrator can change.
pub(crate) fn managed_settings() -> PathBuf {
    environment::system_folder().join("claude-code").join("managed-settings.json")
}

/// Every file whose `disableAllHooks` would switch the hooks of a workspace off.
pub(crate) fn all_settings(root: &Path) -> Vec<PathBuf> {
    let user = environment::claude_folder().map(|folder| folder.join("settings.json"));
    [Some(managed_settings()), user, Some(shared_settings(root)), Some(settings(root))]
        .into_iter()
        .flatten()
        .collect()
}

/// The hooks: before every tool, and after it. `onFailure` makes a hook that cannot run a no.
pub(crate) fn entries(program: &str) -> Vec<Entry> {
    let matcher = |on_failure: Option<&'static str>| {
        let on_failure = on_failure.map(|how| ("onFailure", Json::from(how)));
        let hook = [
            ("type", Json::from("command")),
            ("command", Json::from(format!("{program} hook claude-code"))),
            ("timeout", Json::from(TIMEOUT_S)),
        ];
        let hook = Json::object(hook.into_iter().chain(on_failure));
        Json::object([("matcher", Json::from("*")), ("hooks", Json::array([hook]))])
    };
    vec![
        Entry { event: "PreToolUse", matcher: matcher(Some("block")) },
        Entry { event: "PostToolUse", matcher: matcher(None) },
        Entry { event: "PostToolUseFailure", matcher: matcher(None) },
    ]
}

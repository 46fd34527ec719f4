//! Effect: environment. Reads the few variables that the program obeys.
#![expect(clippy::disallowed_methods, reason = "Effect: environment")]

use countersign_action::Host;
use countersign_canon::Issue;

use crate::failure::codes;

/// Whether the user asked for no colour (<https://no-color.org>: set and not empty).
pub(crate) fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The token for a service, if one is set.
pub(crate) fn token() -> Option<String> {
    std::env::var("COUNTERSIGN_TOKEN").ok().filter(|token| !token.is_empty())
}

/// The file with the certificates that may vouch for a service, if one is set.
pub(crate) fn tls_ca() -> Option<std::path::PathBuf> {
    named("COUNTERSIGN_TLS_CA")
}

/// The text of a variable, for whoever knows which ones it obeys.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The number of this process.
pub(crate) fn process_id() -> u32 {
    std::process::id()
}

/// The name of this user, if the environment has one.
pub(crate) fn user_name() -> Option<String> {
    std::env::var("USER").ok().filter(|name| !name.is_empty())
}

/// The folder in which the program was started, if it has a name.
pub(crate) fn current_folder() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok()
}

/// The folder that a host says its agent works on, if it says so in the environment.
pub(crate) fn host_workspace(host: Host) -> Option<std::path::PathBuf> {
    match host {
        Host::ClaudeCode => named("CLAUDE_PROJECT_DIR"),
        Host::Codex | Host::Gemini => None,
    }
}

/// The user's own folder, if there is one.
pub(crate) fn home_folder() -> Option<std::path::PathBuf> {
    std::env::home_dir()
}

/// The folder for what programs keep for this user, if the environment names one.
pub(crate) fn user_data_folder() -> Option<std::path::PathBuf> {
    named("XDG_DATA_HOME").or_else(|| home_folder().map(|home| home.join(".local/share")))
}

/// This program by its full path, as a shell takes it.
pub(crate) fn this_program() -> Result<String, Issue> {
    let path = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    let path = path.ok_or_else(|| Issue::new(codes::CLI_DEFECT, "this program has no path that is text"))?;
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./+".contains(sign);
    Ok(if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) })
}

/// The folder of Claude Code's settings for this user.
pub(crate) fn claude_folder() -> Option<std::path::PathBuf> {
    named("CLAUDE_CONFIG_DIR").or_else(|| home_folder().map(|home| home.join(".claude")))
}

/// The folder of Codex's settings.
pub(crate) fn codex_folder() -> Option<std::path::PathBuf> {
    named("CODEX_HOME").or_else(|| home_folder().map(|home| home.join(".codex")))
}

/// The folder of the machine's own settings, which only an administrator writes.
pub(crate) fn system_folder() -> std::path::PathBuf {
    named("COUNTERSIGN_SYSTEM_FOLDER").unwrap_or_else(|| "/etc".into())
}

/// The path that a variable names, if it names one.
fn named(name: &str) -> Option<std::path::PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(Into::into)
}

/// The folders in which programs are looked for.
pub(crate) fn program_folders() -> Vec<std::path::PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

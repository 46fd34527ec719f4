//! Effect: environment. Reads the few variables that the program obeys.
#![expect(clippy::disallowed_methods, reason = "Effect: environment")]

use countersign_action::Host;

/// Whether the user asked for no colour (<https://no-color.org>: set and not empty).
pub(crate) fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The folder in which the program was started, if it has a name.
pub(crate) fn current_folder() -> Option<std::path::PathBuf> {
    std::env::current_dir().ok()
}

/// The folder that a host says its agent works on, if it says so in the environment.
pub(crate) fn host_workspace(host: Host) -> Option<std::path::PathBuf> {
    match host {
        Host::ClaudeCode => {
            std::env::var_os("CLAUDE_PROJECT_DIR").filter(|it| !it.is_empty()).map(Into::into)
        }
        Host::Codex | Host::Gemini => None,
    }
}

/// The user's own folder, if there is one.
pub(crate) fn home_folder() -> Option<std::path::PathBuf> {
    std::env::home_dir()
}

/// The folder for what programs keep for this user, if the environment names one.
pub(crate) fn user_data_folder() -> Option<std::path::PathBuf> {
    let named =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(std::path::PathBuf::from);
    named("XDG_DATA_HOME").or_else(|| home_folder().map(|home| home.join(".local/share")))
}

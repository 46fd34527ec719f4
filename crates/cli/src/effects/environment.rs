//! Effect: environment. Reads the few variables that the program obeys.
#![expect(clippy::disallowed_methods, reason = "Effect: environment")]

/// Whether the user asked for no colour (<https://no-color.org>: set and not empty).
pub(crate) fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// The token for a service, if one is set.
pub(crate) fn token() -> Option<String> {
    std::env::var("COUNTERSIGN_TOKEN").ok().filter(|token| !token.is_empty())
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

//! What of ours is in a file of a host, and the file without it.

use std::path::Path;

use countersign_canon::{Issue, Json, Position};

use super::{
    codex::{managed, trusted},
    settings::{self, Ours},
};
use crate::{effects::files, failure::codes};

/// A file without what is ours.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Nothing of ours is in it.
    Whole,
    /// This is left: somebody else's.
    Bytes(Vec<u8>),
    /// Only ours was in it; this is left of the form.
    Nothing(Vec<u8>),
}

/// Takes out of a file what is ours and leaves every other byte.
///
/// # Errors
///
/// Fails if the file cannot be understood: then nobody knows what is whose.
pub(crate) fn without(path: &Path, found: &[u8], ours: &Ours, before: Option<&[u8]>) -> Result<Rest, Issue> {
    let text = |bytes| {
        let message = format!("`{}` is not text", path.display());
        std::str::from_utf8(bytes).map_err(|_| Issue::new(codes::INSTALL_SETTINGS, message))
    };
    let rest = if path.extension().is_some_and(|extension| extension == "json") {
        settings::without_hooks(found, ours, before).map_err(|issue| placed(path, found, &issue))?
    } else if path.file_name().is_some_and(|name| name == "config.toml") {
        let hooks = path.with_file_name("hooks.json");
        let settings = files::read_if_there(&hooks)?.unwrap_or_default();
        let keys = Json::parse(&settings)
            .map(|settings| trusted::keys(&hooks.display().to_string(), &settings, ours))
            .unwrap_or_default();
        trusted::without(text(found)?, &keys, before.map(text).transpose()?)
    } else {
        managed::without_hooks(text(found)?)
    };
    Ok(match rest {
        None => Rest::Whole,
        Some(rest) if rest.trim().is_empty() || is_empty_object(&rest) => Rest::Nothing(rest.into_bytes()),
        Some(rest) => Rest::Bytes(rest.into_bytes()),
    })
}

/// The same problem, with the file and the place in it.
fn placed(path: &Path, found: &[u8], issue: &Issue) -> Issue {
    let place = issue.offset.map(|offset| format!(":{}", Position::of(found, offset))).unwrap_or_default();
    Issue::new(codes::INSTALL_SETTINGS, format!("{issue} (`{}{place}`)", path.display()))
}

/// Whether a file that this user can read has something of ours.
pub(crate) fn is_in(path: &Path, ours: &Ours) -> bool {
    let Ok(Some(found)) = files::read_if_there(path) else { return false };
    without(path, &found, ours, None).map_or_else(|_| is_named_in(path), |rest| rest != Rest::Whole)
}

/// Whether a file that only ours was in has the very form in which `install` makes one.
pub(crate) fn is_as_made(found: &[u8]) -> bool {
    match Json::parse(found) {
        Ok(json) => json.to_pretty().as_bytes() == found,
        Err(_) => true,
    }
}

/// Whether a file that cannot be understood has our name in it; one that cannot be read may have.
pub(crate) fn is_named_in(path: &Path) -> bool {
    const NAME: &[u8] = b"countersign";
    files::read_all(path).map_or(true, |found| found.windows(NAME.len()).any(|bytes| bytes == NAME))
}

fn is_empty_object(text: &str) -> bool {
    let json = Json::parse(text.as_bytes());
    json.is_ok_and(|json| json.as_object().is_some_and(|object| object.members().is_empty()))
}

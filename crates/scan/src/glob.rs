//! Globs: which paths a rule looks at.
//!
//! `**` stands for any number of folders, none included; `*` for any part of one name, `?` for one character,
//! `[…]` for one of several and `{a,b}` for either. Case counts, hidden names are names like all others, and a
//! path is always relative with `/` between its names. What can never match is refused, so that a rule that looks
//! at nothing is an error and not a silent yes.

mod braces;
mod name;
mod set;

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Definitions, Issue, Json, Reader, Wire};

pub(crate) use self::name::NamePattern;
pub use self::set::{Folder, GlobSet};
use crate::codes;

/// How long a glob may be, in bytes.
pub const GLOB_BYTES_MAX: usize = 1024;

/// How many alternatives the braces of one glob may stand for.
pub const GLOB_ALTERNATIVES_MAX: usize = 1000;

/// A glob that some path can match.
///
/// # Examples
///
/// ```
/// use countersign_scan::Glob;
///
/// let glob = Glob::parse("**/*.{tf,tfvars}")?;
/// assert!(glob.matches(b"main.tf"));
/// assert!(glob.matches(b"live/.hidden/prod.tfvars"));
/// assert!(!glob.matches(b"main.tf.json"));
/// assert_eq!(Glob::parse("./main.tf").unwrap_err().code.as_str(), "SCAN_GLOB_NEVER_MATCHES");
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    // INVARIANT: not empty; each is a row of steps whose last is a name.
    alternatives: Vec<Vec<Step>>,
}

/// One step down a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Any number of folders; always followed by a name.
    Folders,
    /// One name.
    Name(NamePattern),
}

impl Glob {
    /// Reads a glob.
    ///
    /// # Errors
    ///
    /// Fails if it is malformed or can never match.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        if text.is_empty() {
            return Err(never("the glob is empty", "name the files, such as `**/*.tf`"));
        }
        if text.len() > GLOB_BYTES_MAX {
            return Err(Issue::new(codes::SCAN_GLOB_SYNTAX, format!("the glob has {} bytes", text.len()))
                .with_expected(format!("at most {GLOB_BYTES_MAX}")));
        }
        check_characters(text)?;
        let flat = braces::expand(text)?;
        let alternatives = flat.iter().map(|flat| parse_flat(text, flat)).collect::<Result<_, _>>()?;
        Ok(Self { text: text.into(), alternatives })
    }

    /// The glob as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches this path; for many globs or many paths, ask a [`GlobSet`].
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let set = GlobSet::new([self]);
        let mut matched = Vec::new();
        set.matches(path, &mut matched);
        !matched.is_empty()
    }

    pub(crate) fn alternatives(&self) -> &[Vec<Step>] {
        &self.alternatives
    }
}

fn never(message: impl Into<String>, hint: &str) -> Issue {
    Issue::new(codes::SCAN_GLOB_NEVER_MATCHES, message)
        .with_expected("a glob that a path relative to the target can match")
        .with_hint(hint)
}

fn syntax(message: impl Into<String>, hint: &str) -> Issue {
    Issue::new(codes::SCAN_GLOB_SYNTAX, message).with_hint(hint)
}

/// Refuses what no path has, wherever in the glob it stands.
fn check_characters(text: &str) -> Result<(), Issue> {
    if text.contains('\\') {
        return Err(never(
            format!("`{text}` has a backslash"),
            "write `/` between folders, and `[*]` for a star that is meant",
        ));
    }
    if text.contains('\0') {
        return Err(never("the glob has a NUL character", "remove it"));
    }
    if text.starts_with('!') {
        return Err(never(
            format!("`{text}` starts with `!`; there are no negative globs"),
            "list the files that are meant",
        ));
    }
    if text.trim() != text {
        return Err(never(format!("`{text}` has blanks around it"), "remove them"));
    }
    Ok(())
}

/// Reads a glob whose braces are expanded.
fn parse_flat(whole: &str, flat: &str) -> Result<Vec<Step>, Issue> {
    let shown = if whole == flat { format!("`{whole}`") } else { format!("`{whole}` (as `{flat}`)") };
    if flat.starts_with('/') {
        return Err(never(format!("{shown} is absolute"), "leave out the first `/`"));
    }
    if flat.ends_with('/') {
        return Err(never(format!("{shown} names a folder"), "write `folder/**` for every file under it"));
    }
    let mut steps: Vec<Step> = Vec::new();
    for part in split_parts(flat) {
        match part {
            "" => return Err(never(format!("{shown} has an empty name"), "write one `/` between names")),
            "." | ".." => {
                return Err(never(
                    format!("{shown} has the name `{part}`"),
                    "name the files from the target down",
                ));
            }
            ".git" if steps.is_empty() => {
                return Err(never(
                    format!("{shown} names the target's own `.git`"),
                    "it is never searched; name other files",
                ));
            }
            // Any number of folders twice is any number of folders.
            "**" if steps.last() == Some(&Step::Folders) => (),
            "**" => steps.push(Step::Folders),
            name if name.contains("**") => {
                return Err(syntax(
                    format!("{shown} has `**` inside a name"),
                    "`**` stands alone between slashes: write `**/*.tf`, or `*` for part of a name",
                ));
            }
            name => steps.push(Step::Name(NamePattern::parse(name)?)),
        }
    }
    if steps.last() == Some(&Step::Folders) {
        steps.push(Step::Name(NamePattern::any()));
    }
    Ok(steps)
}

/// The names between slashes; a slash inside `[…]` does not split, and is refused later.
fn split_parts(flat: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = flat;
    loop {
        let length = name::part_length(rest);
        let (part, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        parts.push(part);
        match after.strip_prefix('/') {
            Some(after) => rest = after,
            None => return parts,
        }
    }
}

impl Wire for Glob {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.text.clone())
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // The whole grammar is beyond a pattern; these are the commonest globs that can never match.
        countersign_canon::pattern_schema("^(?![/!\\s])(?!\\.\\.?/)[^\\\\\\u0000]*[^\\\\\\u0000/\\s]$")
    }
}

#[cfg(test)]
mod tests;

//! The one path normaliser: paths inside a repository, whole and without tricks.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::{Issue, code::codes};

/// A path relative to a repository's root, normalised: no `.` or empty segment, `/` between segments.
///
/// # Examples
///
/// ```
/// use countersign_canon::RepoPath;
///
/// assert_eq!(RepoPath::parse("./src//api/routes.rs")?.as_str(), "src/api/routes.rs");
/// assert!(RepoPath::parse("src/api/")?.is_directory());
/// assert!(RepoPath::parse("../../etc/passwd").is_err());
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath {
    // INVARIANT: segments joined by `/`; no segment is empty, `.` or `..`; no NUL, no backslash. The root is "".
    text: String,
    is_directory: bool,
}

impl RepoPath {
    /// Normalises a path; a final `/` or `/.` says that it is a directory.
    ///
    /// # Errors
    ///
    /// Fails if the path is empty or absolute, has a `..` segment, a NUL or a backslash.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = |message: String, hint: &str| {
            Err(Issue::new(codes::PATH_SHAPE, message)
                .with_expected("a path relative to the repository's root")
                .with_hint(hint))
        };
        if text.is_empty() {
            return refused("the path is empty".into(), "write `.` for the root itself");
        }
        if text.contains('\0') {
            return refused("the path has a NUL character".into(), "remove it");
        }
        if text.contains('\\') {
            return refused(format!("`{text}` has a backslash"), "write `/` between folders");
        }
        if text.starts_with('/') {
            return refused(format!("`{text}` is absolute"), "leave out the first `/`");
        }
        let segments: Vec<&str> = text.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        if segments.contains(&"..") {
            return refused(format!("`{text}` goes up with `..`"), "name the file from the root down");
        }
        let is_directory = text.ends_with('/') || matches!(text.rsplit('/').next(), Some("."));
        Ok(Self { text: segments.join("/"), is_directory })
    }

    /// The normalised path without a final `/`; empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it was written as a directory.
    #[must_use]
    pub const fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// Its segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// Whether `other` is this path or lies under it, by whole segments: `src` holds `src/a`, not `srcfoo`.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.text.is_empty()
            || other
                .text
                .strip_prefix(&self.text)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, is_directory) = (self.text.as_str(), self.is_directory);
        match (text, is_directory) {
            ("", _) => f.write_str("."),
            (text, true) => write!(f, "{text}/"),
            (text, false) => f.write_str(text),
        }
    }
}

//! Paths as text: made absolute, freed of `.` and `..`, compared with patterns. Nothing is looked up.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::Issue;

use crate::codes;

/// An absolute path without `.`, `..` or empty segments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbsolutePath(
    // INVARIANT: starts with `/`; ends with `/` only if it is the root.
    String,
);

impl AbsolutePath {
    /// Normalises an absolute path.
    ///
    /// # Errors
    ///
    /// Fails if it does not start with `/`.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        if !text.starts_with('/') {
            let issue = Issue::new(codes::ACTION_PATH_RELATIVE, format!("`{text}` is not an absolute path"));
            return Err(issue.with_expected("a path that starts with `/`"));
        }
        Ok(Self::normal(text))
    }

    fn normal(text: &str) -> Self {
        let mut segments: Vec<&str> = Vec::new();
        for segment in text.split('/') {
            match segment {
                "" | "." => (),
                ".." => drop(segments.pop()),
                _ => segments.push(segment),
            }
        }
        Self(format!("/{}", segments.join("/")))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of `text`, seen from here.
    #[must_use]
    pub fn join(&self, text: &str) -> Self {
        if text.starts_with('/') { Self::normal(text) } else { Self::normal(&format!("{}/{text}", self.0)) }
    }

    /// What `other` is called from here, if it lies here or below; empty if it is this path.
    #[must_use]
    pub fn relative<'o>(&self, other: &'o Self) -> Option<&'o str> {
        if self.0 == "/" {
            return other.0.strip_prefix('/');
        }
        let rest = other.0.strip_prefix(&self.0)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
    }
}

/// Where an act takes place: given as data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder in which the act starts.
    pub cwd: AbsolutePath,
    /// The folder that the agent works on.
    pub workspace: AbsolutePath,
    /// The user's own folder, if it is known.
    pub home: Option<AbsolutePath>,
}

impl Place {
    /// A path as payloads name it: from the workspace down, or absolute if it is outside.
    #[must_use]
    pub fn name(&self, path: &AbsolutePath) -> String {
        match self.workspace.relative(path) {
            Some("") => ".".to_string(),
            Some(relative) => relative.to_string(),
            None => path.as_str().to_string(),
        }
    }

    /// A path as a tool gives it: `~` is the user's own folder, and nothing is known if that is not.
    pub(crate) fn resolve(&self, text: &str) -> Option<AbsolutePath> {
        if text.contains('\0') || text.is_empty() {
            return None;
        }
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                self.home.as_ref().map(|home| home.join(&format!("./{rest}")))
            }
            Some(_) | None => Some(self.cwd.join(text)),
        }
    }
}

/// Whether a path fits a pattern: `**` any number of folders, `*` and `?` inside one segment.
pub(crate) fn fits(pattern: &str, path: &str) -> bool {
    fits_row(
        pattern.split('/'),
        path.split('/'),
        |segment| *segment == "**",
        |segment, name| fits_segment(segment, name),
    )
}

/// Whether a name fits a pattern of `*` and `?`.
pub(crate) fn fits_segment(pattern: &str, name: &str) -> bool {
    fits_row(
        pattern.chars(),
        name.chars(),
        |sign| *sign == '*',
        |sign, letter| *sign == '?' || sign == letter,
    )
}

/// Whether a row of things fits a row of patterns, some of which stand for any number of things. Where it does not go on,
/// the last of those takes one thing more; what stands before it fits as it is.
fn fits_row<P: Iterator + Clone, T: Iterator + Clone>(
    mut patterns: P,
    mut things: T,
    is_any: impl Fn(&P::Item) -> bool,
    fits_one: impl Fn(&P::Item, &T::Item) -> bool,
) -> bool {
    let mut from_last_any: Option<(P, T)> = None;
    loop {
        let pattern = patterns.next();
        if pattern.as_ref().is_some_and(&is_any) {
            from_last_any = Some((patterns.clone(), things.clone()));
            continue;
        }
        match (pattern, things.next()) {
            (None, None) => return true,
            (Some(_), None) => return false,
            (Some(pattern), Some(thing)) if fits_one(&pattern, &thing) => (),
            (Some(_) | None, Some(_)) => {
                let Some((after, rest)) = &mut from_last_any else { return false };
                if rest.next().is_none() {
                    return false;
                }
                (patterns, things) = (after.clone(), rest.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;

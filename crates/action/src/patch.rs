//! Patches in the format of apply_patch: which files they touch and how.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::Issue;

use crate::codes;

/// LIMIT: files in one patch.
pub const PATCH_FILES_MAX: usize = 1000;

/// A patch, file by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The files in order.
    pub files: Vec<PatchedFile>,
}

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedFile {
    /// The file.
    pub path: String,
    /// What is done to it.
    pub change: Change,
}

/// What is done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is made, with this text.
    Add(String),
    /// It is deleted.
    Delete,
    /// Texts in it are replaced, and it may get another name.
    Update {
        /// Its new name.
        to: Option<String>,
        /// The texts with what takes their place, and the heading under which each is looked for.
        hunks: Vec<Hunk>,
    },
}

/// One text that is replaced by another; every line of both has its line break.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line under which the text is looked for.
    pub heading: Option<String>,
    /// The text that is replaced.
    pub old: String,
    /// The text that takes its place.
    pub new: String,
    /// Whether it must be at the end of the file.
    pub is_at_end: bool,
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    ///
    /// Fails if the text is not in the format, with the line in the message.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let lines: Vec<&str> = text.trim().lines().collect();
        let [first, inner @ .., last] = lines.as_slice() else { return Err(refused(1, "*** Begin Patch")) };
        if first.trim() != "*** Begin Patch" {
            return Err(refused(1, "*** Begin Patch"));
        }
        if last.trim() != "*** End Patch" {
            return Err(refused(lines.len(), "*** End Patch"));
        }
        let mut files: Vec<PatchedFile> = Vec::new();
        for (index, line) in inner.iter().enumerate() {
            let number = index.saturating_add(2);
            if let Some(file) = header(line) {
                if files.len() >= PATCH_FILES_MAX {
                    return Err(refused(number, "fewer files"));
                }
                files.push(file);
            } else {
                let Some(file) = files.last_mut() else { return Err(refused(number, "*** Add File: …")) };
                take_line(&mut file.change, line).ok_or_else(|| refused(number, "a line of a hunk"))?;
            }
        }
        if files.is_empty() {
            return Err(refused(2, "at least one file"));
        }
        Ok(Self { files })
    }

    /// Every path that the patch touches, and whether it is deleted.
    pub(crate) fn touched(&self) -> impl Iterator<Item = (&str, bool)> {
        self.files.iter().flat_map(|file| {
            let (is_deleted, to) = match &file.change {
                Change::Add(_) => (false, None),
                Change::Delete => (true, None),
                Change::Update { to, .. } => (false, to.as_deref()),
            };
            core::iter::once((file.path.as_str(), is_deleted)).chain(to.map(|to| (to, false)))
        })
    }
}

fn header(line: &str) -> Option<PatchedFile> {
    let changes = [
        ("*** Add File: ", Change::Add(String::new())),
        ("*** Delete File: ", Change::Delete),
        ("*** Update File: ", Change::Update { to: None, hunks: Vec::new() }),
    ];
    changes.into_iter().find_map(|(start, change)| {
        let path = line.trim_end().strip_prefix(start).filter(|path| !path.is_empty())?;
        Some(PatchedFile { path: path.to_string(), change })
    })
}

/// Adds a line to a file's change; nothing if it has no place there.
fn take_line(change: &mut Change, line: &str) -> Option<()> {
    match change {
        Change::Delete => line.trim().is_empty().then_some(()),
        Change::Add(text) => {
            text.push_str(line.strip_prefix('+')?);
            text.push('\n');
            Some(())
        }
        Change::Update { to, hunks } => {
            if let Some(path) = line.strip_prefix("*** Move to: ") {
                let is_first = to.is_none() && hunks.is_empty();
                *to = Some(path.trim_end().to_string());
                return is_first.then_some(());
            }
            if let Some(heading) = line.strip_prefix("@@") {
                let heading = heading.trim();
                let heading = (!heading.is_empty()).then(|| heading.to_string());
                hunks.push(Hunk { heading, ..Hunk::default() });
                return Some(());
            }
            if hunks.is_empty() {
                // The first hunk may lack its heading.
                hunks.push(Hunk::default());
            }
            take_hunk_line(hunks.last_mut()?, line)
        }
    }
}

fn take_hunk_line(hunk: &mut Hunk, line: &str) -> Option<()> {
    if line.trim_end() == "*** End of File" {
        hunk.is_at_end = true;
        return Some(());
    }
    let mut signs = line.chars();
    let (sign, rest) = (signs.next(), signs.as_str());
    let (is_old, is_new) = match sign {
        Some(' ') | None => (true, true),
        Some('-') => (true, false),
        Some('+') => (false, true),
        Some(_) => return None,
    };
    for (text, _) in
        [(&mut hunk.old, is_old), (&mut hunk.new, is_new)].into_iter().filter(|(_, is_meant)| *is_meant)
    {
        text.push_str(rest);
        text.push('\n');
    }
    Some(())
}

fn refused(line: usize, expected: &str) -> Issue {
    Issue::new(codes::PATCH_SYNTAX, format!("line {line} is not part of a patch"))
        .with_expected(expected.to_string())
}

#[cfg(test)]
mod tests;

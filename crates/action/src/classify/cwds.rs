//! The folders in which a command may find itself, after each `cd` that came before it.

use alloc::collections::BTreeSet;

use super::argument::{Argument, Form};
use crate::path::{AbsolutePath, Place};

/// LIMIT: a line that goes to more folders than this is treated as being anywhere.
const FOLDERS_MAX: usize = 8;

/// A set of folders, or anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cwds {
    pub(super) folders: BTreeSet<AbsolutePath>,
    /// Whether there are others that nobody knows.
    pub(super) is_anywhere: bool,
}

impl Cwds {
    pub(super) fn at(folder: &AbsolutePath) -> Self {
        Self { folders: BTreeSet::from([folder.clone()]), is_anywhere: false }
    }

    pub(super) fn anywhere() -> Self {
        Self { folders: BTreeSet::new(), is_anywhere: true }
    }

    pub(super) fn or(mut self, other: &Self) -> Self {
        self.folders.extend(other.folders.iter().cloned());
        self.is_anywhere = self.is_anywhere || other.is_anywhere;
        if self.folders.len() > FOLDERS_MAX { Self::anywhere() } else { self }
    }

    /// The folders after going to `to`.
    pub(super) fn after_going(&self, to: Option<&Argument>, place: &Place) -> Self {
        match to {
            None => place.home.as_ref().map_or_else(Self::anywhere, Self::at),
            Some(to) => self.resolve(to, place).unwrap_or_else(Self::anywhere),
        }
    }

    /// The paths that an argument may mean; nothing if they are not known.
    pub(super) fn resolve(&self, argument: &Argument, place: &Place) -> Option<Self> {
        match argument.form {
            Form::Open | Form::Data => return None,
            Form::Glob if has_hidden_pattern(&argument.text) => return None,
            Form::Exact | Form::Glob => (),
        }
        if argument.has_tilde {
            return place.resolve(&argument.text).map(|path| Self::at(&path));
        }
        if argument.text.starts_with('/') {
            return Some(Self::at(&place.cwd.join(&argument.text)));
        }
        if self.is_anywhere {
            return None;
        }
        let folders = self.folders.iter().map(|folder| folder.join(&argument.text)).collect();
        Some(Self { folders, is_anywhere: false })
    }
}

/// Whether a segment could become `..`: some shells let a pattern with a dot in front do that.
fn has_hidden_pattern(text: &str) -> bool {
    text.split('/').any(|segment| segment.starts_with('.') && segment.contains(['*', '?', '[']))
        // A class can spell a dot or a slash.
        || text.contains('[')
}

//! Files, folders and globs of one intent: which of them hold a file, and which of them meet.

use alloc::vec::Vec;

use countersign_canon::RepoPath;

use crate::{
    path_index::PathIndex,
    pattern::{Below, PathPattern, Segment},
};

/// A list of files, folders and globs that can be asked by path; answers are positions in the list.
#[derive(Debug)]
pub struct PathSet(PathIndex<usize>);

impl PathSet {
    /// The set of these.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> Self {
        let mut index = PathIndex::new();
        for (position, path) in paths.into_iter().enumerate() {
            index.insert(&PathPattern::of(path), position);
        }
        Self(index)
    }

    /// Those that hold this one file: it is named, lies in a folder, or matches a glob.
    #[must_use]
    pub fn holding(&self, file: &RepoPath) -> Vec<usize> {
        let segments = file.segments().map(Segment::Literal).collect();
        self.0.meeting(&PathPattern { segments, below: Below::Nothing })
    }

    /// Those that have something in common with this file, folder or glob.
    #[must_use]
    pub fn meeting(&self, path: &RepoPath) -> Vec<usize> {
        self.0.meeting(&PathPattern::of(path))
    }
}

#[cfg(test)]
mod tests;

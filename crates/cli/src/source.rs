//! A document with the name people know it by, so that every problem has a place.

use std::path::Path;

use countersign_canon::{Issue, Json, Position};

use crate::{effects::files, failure::Failure};

/// The bytes of a document, and where they came from.
#[derive(Debug)]
pub struct Source {
    /// The path as the caller wrote it, or `<stdin>`.
    pub name: String,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a document from a path, or from standard input if the path is `-`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let bytes = if is_stdin { files::read_stdin() } else { files::read(path) };
        bytes.map(|bytes| Self { name, bytes }).map_err(Failure::CouldNotTell)
    }

    /// The document as JSON.
    pub(crate) fn parse(&self) -> Result<Json<'_>, Issue> {
        Json::parse(&self.bytes)
    }

    /// Where an issue of this document stands: `file:line:column`, or the file alone.
    pub(crate) fn place(&self, issue: &Issue) -> String {
        match issue.offset {
            Some(offset) => format!("{}:{}", self.name, Position::of(&self.bytes, offset)),
            None => self.name.clone(),
        }
    }
}

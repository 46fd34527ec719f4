//! A place in a command line that moves forward, sees through line continuations and counts nesting.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Code, Issue};

use super::tree::Word;
use crate::codes;

/// The longest command line: hosts hand over less.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;
/// LIMIT: one level takes a few kilobytes of stack, and a thread has two megabytes.
pub const NESTING_MAX: u32 = 48;

/// What the parser knows while it reads.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: u32,
    /// Here-documents whose bodies have not begun.
    pub(super) pending: Vec<Pending>,
    /// Whether a construct around this one waits for a here-document.
    pub(super) is_waited_for: bool,
    /// The bodies that were read; empty until then.
    pub(super) here_documents: Vec<Word>,
    /// How often the text may still be read in another way.
    second_readings: u32,
}

/// LIMIT: each second reading costs as much as the rest of the text, and two in one another would double it.
const SECOND_READINGS_MAX: u32 = 32;

/// A here-document that was announced.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) place: usize,
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) strips_tabs: bool,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            pending: Vec::new(),
            is_waited_for: false,
            here_documents: Vec::new(),
            second_readings: SECOND_READINGS_MAX,
        }
    }

    /// Reads a text that stands inside this one, at `at`, and has lost its quotes.
    pub(super) fn within<T>(
        &mut self,
        text: &str,
        at: usize,
        read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Issue>,
    ) -> Result<T, Issue> {
        self.nested(|cursor| {
            let mut inner = Cursor {
                depth: cursor.depth,
                here_documents: core::mem::take(&mut cursor.here_documents),
                second_readings: cursor.second_readings,
                ..Cursor::new(text)
            };
            let read = read(&mut inner);
            cursor.here_documents = inner.here_documents;
            cursor.second_readings = inner.second_readings;
            read.map_err(|issue| issue.with_offset(at))
        })
    }

    /// Reads in one way; if that fails, goes back so that the text can be read in another.
    pub(super) fn attempt<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Issue>,
    ) -> Result<Option<T>, Issue> {
        let (at, depth, is_waited_for) = (self.at, self.depth, self.is_waited_for);
        let (pending, documents) = (self.pending.clone(), self.here_documents.len());
        match read(self) {
            Ok(read) => Ok(Some(read)),
            // A limit is a limit, whichever way the text is read.
            Err(issue) if issue.code == codes::SHELL_TOO_DEEP => Err(issue),
            Err(issue) => {
                self.second_readings = self.second_readings.checked_sub(1).ok_or(issue)?;
                (self.at, self.depth, self.is_waited_for) = (at, depth, is_waited_for);
                self.pending = pending;
                self.here_documents.truncate(documents);
                Ok(None)
            }
        }
    }

    /// The next byte as it stands.
    pub(super) fn raw(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The byte after this many more, as it stands.
    pub(super) fn raw_after(&self, count: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.saturating_add(count)).copied()
    }

    /// The next byte once line continuations are taken out.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while self.raw() == Some(b'\\') && self.raw_after(1) == Some(b'\n') {
            self.skip(2);
        }
        self.raw()
    }

    /// Whether this text comes next, with continuations taken out; if so, moves past it.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let start = self.at;
        for byte in text.bytes() {
            if self.peek() != Some(byte) {
                self.at = start;
                return false;
            }
            self.skip(1);
        }
        true
    }

    /// Whether this text comes next, with continuations taken out.
    pub(super) fn sees(&mut self, text: &str) -> bool {
        let start = self.at;
        let found = self.take(text);
        self.at = start;
        found
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    /// Takes one character as it stands.
    pub(super) fn character(&mut self) -> Option<char> {
        let character = self.text.get(self.at..)?.chars().next()?;
        self.skip(character.len_utf8());
        Some(character)
    }

    /// Moves past spaces, tabs and, where a word could start, a comment.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.skip(1);
        }
        if self.raw() == Some(b'#') {
            while self.raw().is_some_and(|byte| byte != b'\n') {
                self.skip(1);
            }
        }
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Issue>) -> Result<T, Issue> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > NESTING_MAX {
            return Err(self.refuse(codes::SHELL_TOO_DEEP, "found more nested constructs"))
                .map_err(|issue: Issue| issue.with_expected(format!("at most {NESTING_MAX}")));
        }
        let read = read(self)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(read)
    }

    pub(super) fn refuse(&self, code: Code, message: impl Into<String>) -> Issue {
        Issue::new(code, message).with_offset(self.at.min(self.text.len()))
    }

    /// The refusal of what comes next.
    pub(super) fn unexpected(&self, expected: &str) -> Issue {
        let rest = self.text.get(self.at..).unwrap_or_default();
        match rest.chars().next() {
            None => self
                .refuse(codes::SHELL_UNEXPECTED_END, "the command line ends too early")
                .with_expected(expected),
            Some(found) => {
                let found = if found == '\n' { String::from("a line break") } else { format!("`{found}`") };
                self.refuse(codes::SHELL_SYNTAX, format!("found {found}")).with_expected(expected)
            }
        }
    }

    /// The refusal of a construct that is shell, but not judged.
    pub(super) fn unsupported(&self, what: &str) -> Issue {
        self.refuse(codes::SHELL_UNSUPPORTED, format!("{what} is not judged"))
            .with_hint("write the command in a simpler way")
    }
}

/// Whether a byte ends a word.
pub(super) const fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

/// Whether a text can name a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

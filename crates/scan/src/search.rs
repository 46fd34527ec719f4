//! One file against the patterns of the rules that meet it.
//!
//! A file may come in one piece or in many: what is found, and where, is the same. Memory depends on the patterns
//! alone, never on the file.

mod engine;
mod excerpt;
mod pass;
mod sets;
mod wide;

use alloc::{boxed::Box, vec::Vec};

pub use self::{
    excerpt::{EXCERPT_CHARS_MAX, escape_text},
    sets::{PatternSet, Plan, Sets},
};
use self::{pass::Pass, wide::Wide};
use crate::verdict::Encoding;

/// The first place where a pattern stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The pattern, as its place in the bundle's table.
    pub pattern: u32,
    /// The byte of the file at which it starts, from 0.
    pub offset: u64,
    /// The line, from 1.
    pub line: u64,
    /// The byte within the line, from 1.
    pub column: u64,
    /// The line around it, or as much of it as fits.
    pub excerpt: Box<str>,
    /// Where in the excerpt it starts, in characters.
    pub excerpt_start: u16,
    /// How much of the excerpt it takes, in characters.
    pub excerpt_length: u16,
    /// How the file was read, if not as plain bytes.
    pub encoding: Option<Encoding>,
}

/// A search through one file.
///
/// # Examples
///
/// See [`Plan`].
#[derive(Debug)]
pub struct FileSearch<'s> {
    set: &'s PatternSet,
    raw: Pass,
    wide: Option<Wide>,
    has_started: bool,
}

/// Whether more of the file follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// More follows.
    Middle,
    /// This is the end of the file.
    Last,
}

impl<'s> FileSearch<'s> {
    /// Starts at the top of a file.
    #[must_use]
    pub const fn new(set: &'s PatternSet) -> Self {
        Self { set, raw: Pass::new(None), wide: None, has_started: false }
    }

    /// Searches the next piece and says how many bytes of it are done with; the next piece starts with the others.
    ///
    /// A middle piece must be at least [`PatternSet::piece_bytes_min`] long, or nothing of it may be done with.
    pub fn piece(&mut self, window: &[u8], piece: Piece) -> usize {
        if !self.has_started && (window.len() >= 2 || piece == Piece::Last) {
            self.has_started = true;
            self.wide = Wide::detect(window);
        }
        let consumed = self.raw.window(self.set, window, piece);
        if let Some(wide) = &mut self.wide {
            let fresh = window.get(..consumed).unwrap_or_default();
            wide.push(self.set, fresh, piece);
        }
        consumed
    }

    /// What was found, by pattern.
    #[must_use]
    pub fn finish(self) -> Vec<Finding> {
        let mut findings = self.raw.into_findings();
        if let Some(wide) = self.wide {
            findings.extend(wide.into_findings());
            // Of a pattern that stands there both ways, the first place counts, and plain bytes before others.
            findings.sort_by_key(|finding| (finding.pattern, finding.offset, finding.encoding));
            findings.dedup_by_key(|finding| finding.pattern);
        } else {
            findings.sort_by_key(|finding| finding.pattern);
        }
        findings
    }
}

#[cfg(test)]
mod tests;

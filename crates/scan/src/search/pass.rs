//! One reading of a file, piece by piece: where each pattern first stands, on which line, and what is around it.

use alloc::vec::Vec;

use super::{
    Finding, PatternSet, Piece,
    excerpt::{CONTEXT_BYTES, Excerpt},
};
use crate::verdict::Encoding;

/// How far a reading has come.
#[derive(Debug)]
pub(super) struct Pass {
    /// How the bytes that it is given stand in the file.
    encoding: Option<Encoding>,
    /// Where the current piece starts in the file.
    base: u64,
    /// How many bytes of the current piece were searched with the one before.
    searched: usize,
    /// How many lines end before the current piece.
    lines: u64,
    /// Where the line starts that the current piece starts in.
    line_start: u64,
    findings: Vec<Finding>,
    /// Which patterns were found, by place in the set; empty while none was.
    seen: Vec<bool>,
}

/// Where patterns start in a piece: the first place of each that was not found before.
#[derive(Debug)]
pub(super) struct Starts {
    slots: usize,
    /// How many patterns are still looked for.
    open: usize,
    /// Which patterns are not looked for (any more); empty if all are.
    seen: Vec<bool>,
    /// What starts here or later is left for the next piece.
    limit: usize,
    found: Vec<(usize, usize)>,
}

impl Starts {
    /// Whether every pattern was found.
    pub(super) const fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Whether this pattern is still looked for.
    pub(super) fn is_open(&self, slot: usize) -> bool {
        !self.seen.get(slot).copied().unwrap_or(false)
    }

    /// Notes that the pattern starts here, if that is news.
    pub(super) fn note(&mut self, slot: usize, start: usize) {
        if start >= self.limit || !self.is_open(slot) {
            return;
        }
        if self.seen.is_empty() {
            self.seen.resize(self.slots, false);
        }
        if let Some(seen) = self.seen.get_mut(slot) {
            *seen = true;
        }
        self.open = self.open.saturating_sub(1);
        self.found.push((slot, start));
    }
}

impl Pass {
    pub(super) const fn new(encoding: Option<Encoding>) -> Self {
        Self {
            encoding,
            // Transcoded text starts after its byte order mark.
            base: if encoding.is_some() { 2 } else { 0 },
            searched: 0,
            lines: 0,
            line_start: 0,
            findings: Vec::new(),
            seen: Vec::new(),
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// Searches a piece and says how many of its bytes are done with.
    ///
    /// What starts too near the end is left for the next piece, so that a match across a border is found and its
    /// excerpt is the same wherever the border lies.
    pub(super) fn window(&mut self, set: &PatternSet, window: &[u8], piece: Piece) -> usize {
        let longest = set.pattern_bytes_max();
        let limit = match piece {
            Piece::Last => window.len(),
            Piece::Middle => window.len().saturating_sub(longest.saturating_add(CONTEXT_BYTES)),
        };
        if limit > self.searched && self.findings.len() < set.len() {
            let until = limit.saturating_add(longest).saturating_sub(1).min(window.len());
            self.search(set, window, limit, until);
        }
        if piece == Piece::Last {
            return window.len();
        }
        let consumed = limit.saturating_sub(CONTEXT_BYTES);
        if consumed > 0 {
            let done = window.get(..consumed).unwrap_or_default();
            let (lines, line_start) = self.place(done);
            (self.lines, self.line_start) = (lines, line_start);
            self.base = self.base.saturating_add(self.length(done));
        }
        self.searched = limit.max(self.searched).saturating_sub(consumed);
        consumed
    }

    fn search(&mut self, set: &PatternSet, window: &[u8], limit: usize, until: usize) {
        let haystack = window.get(self.searched..until).unwrap_or_default();
        let mut starts = Starts {
            slots: set.slots(),
            open: set.len().saturating_sub(self.findings.len()),
            seen: core::mem::take(&mut self.seen),
            // Places are counted from the first byte that was not searched before.
            limit: limit.saturating_sub(self.searched),
            found: Vec::new(),
        };
        if starts.seen.is_empty() {
            starts.seen = set.strangers().to_vec();
        }
        set.engine().search(haystack, &mut starts);
        let Starts { seen, found, .. } = starts;
        self.seen = seen;
        for (slot, start) in found {
            let start = start.saturating_add(self.searched);
            let finding = set.pattern(slot).map(|(id, bytes)| self.finding(id, bytes, window, start));
            self.findings.extend(finding);
        }
    }

    fn finding(&self, pattern: u32, bytes: &[u8], window: &[u8], start: usize) -> Finding {
        let before = window.get(..start).unwrap_or_default();
        let (lines, line_start) = self.place(before);
        let offset = self.base.saturating_add(self.length(before));
        let after = window.get(start.saturating_add(bytes.len())..).unwrap_or_default();
        let Excerpt { text, match_start, match_length } = Excerpt::around(before, bytes, after);
        Finding {
            pattern,
            offset,
            line: lines.saturating_add(1),
            column: offset.saturating_sub(line_start).saturating_add(1),
            excerpt: text.into_boxed_str(),
            excerpt_start: match_start,
            excerpt_length: match_length,
            encoding: self.encoding,
        }
    }

    /// How many lines end before the end of `part`, which starts the piece, and where the next line starts.
    fn place(&self, part: &[u8]) -> (u64, u64) {
        let Some(last) = memchr::memrchr(b'\n', part) else { return (self.lines, self.line_start) };
        let through = part.get(..=last).unwrap_or_default();
        let count = memchr::memchr_iter(b'\n', part).count();
        let lines = self.lines.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        (lines, self.base.saturating_add(self.length(through)))
    }

    /// How many bytes of the file these bytes stand for.
    fn length(&self, bytes: &[u8]) -> u64 {
        let length = match self.encoding {
            None => bytes.len(),
            // Two bytes for each character, four for those that take four in UTF-8 as well.
            Some(Encoding::Utf16Le | Encoding::Utf16Be) => bytes.iter().fold(0_usize, |sum, &byte| {
                sum.saturating_add(match byte {
                    0x80..=0xBF => 0,
                    0xF0.. => 4,
                    0..=0x7F | 0xC0..=0xEF => 2,
                })
            }),
        };
        u64::try_from(length).unwrap_or(u64::MAX)
    }
}

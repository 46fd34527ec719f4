//! Here-documents: announced by a redirection, read after the next line break.

use alloc::string::String;

use countersign_canon::Issue;

use super::{
    cursor::{Cursor, Pending},
    tree::{Part, Target, Word},
    word::{Arrays, Builder},
};
use crate::codes;

impl Cursor<'_> {
    /// Reads the delimiter after `<<` or `<<-` and announces the document.
    pub(super) fn here_document(&mut self, strips_tabs: bool) -> Result<Target, Issue> {
        let Some(word) = self.word(Arrays::Refused)? else {
            return Err(self.unexpected("the word that ends the here-document"));
        };
        let mut delimiter = String::new();
        let mut is_quoted = false;
        for part in &word.parts {
            match part {
                Part::Bare(text) => delimiter.push_str(text),
                Part::Quoted(text) => {
                    is_quoted = true;
                    delimiter.push_str(text);
                }
                Part::Variable { .. }
                | Part::Substitution(_)
                | Part::Process(_)
                | Part::Arithmetic(_)
                | Part::Array(_) => {
                    return Err(self.unsupported("an expansion in a here-document's delimiter"));
                }
            }
        }
        if delimiter.contains('\n') {
            return Err(self.unsupported("a here-document's delimiter of several lines"));
        }
        let place = self.here_documents.len();
        self.here_documents.push(Word::default());
        self.pending.push(Pending { place, delimiter, is_quoted, strips_tabs });
        Ok(Target::HereDocument(place))
    }

    /// Moves past a line break, and past the here-documents that begin there.
    pub(super) fn line_break(&mut self) -> Result<(), Issue> {
        self.skip(1);
        if self.is_waited_for {
            return Err(self.unsupported("a line break between a here-document and its body"));
        }
        for pending in core::mem::take(&mut self.pending) {
            let at = self.at;
            let text = self.document(&pending)?;
            let word = if pending.is_quoted {
                let mut builder = Builder::default();
                builder.quoted(&text);
                builder.build(at)
            } else {
                self.expanded_body(&text, at)?
            };
            if let Some(document) = self.here_documents.get_mut(pending.place) {
                *document = word;
            }
        }
        Ok(())
    }

    /// Reads lines up to the delimiter.
    fn document(&mut self, pending: &Pending) -> Result<String, Issue> {
        let mut body = String::new();
        loop {
            let line = self.logical_line(pending)?;
            if line == pending.delimiter {
                return Ok(body);
            }
            body.push_str(&line);
            body.push('\n');
        }
    }

    /// Reads one line; without quotes around the delimiter, a backslash at its end joins the next one.
    fn logical_line(&mut self, pending: &Pending) -> Result<String, Issue> {
        let mut logical = String::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            if rest.is_empty() && logical.is_empty() {
                let message = alloc::format!("the here-document is not ended by `{}`", pending.delimiter);
                return Err(self.refuse(codes::SHELL_UNEXPECTED_END, message));
            }
            let line = rest.split('\n').next().unwrap_or_default();
            self.skip(line.len().saturating_add(1));
            let line =
                if pending.strips_tabs && logical.is_empty() { line.trim_start_matches('\t') } else { line };
            let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if pending.is_quoted || backslashes.is_multiple_of(2) || self.at > self.text.len() {
                logical.push_str(line);
                return Ok(logical);
            }
            logical.push_str(line.get(..line.len().saturating_sub(1)).unwrap_or_default());
        }
    }

    /// Reads the expansions in a body whose delimiter is not quoted.
    fn expanded_body(&mut self, text: &str, at: usize) -> Result<Word, Issue> {
        self.within(text, at, |inner| {
            let mut builder = Builder::default();
            while let Some(byte) = inner.peek() {
                inner.double_quoted_part(byte, &mut builder)?;
            }
            Ok(builder.build(at))
        })
    }
}

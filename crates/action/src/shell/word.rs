//! Words: quotes, and the parts that are expanded.

use alloc::{string::String, vec::Vec};

use countersign_canon::Issue;

use super::{
    cursor::{Cursor, is_meta, is_name},
    tree::{Assignment, Part, Word},
};
use crate::codes;

/// Whether `name=(…)` may stand here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrays {
    Allowed,
    Refused,
}

/// In which quotes an expansion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Double,
}

/// Gathers the parts of a word, joining neighbours of one sort.
#[derive(Debug, Default)]
pub(super) struct Builder {
    parts: Vec<Part>,
}

impl Builder {
    pub(super) fn bare(&mut self, character: char) {
        if let Some(Part::Bare(text)) = self.parts.last_mut() {
            text.push(character);
        } else {
            self.parts.push(Part::Bare(character.into()));
        }
    }

    pub(super) fn quoted(&mut self, text: &str) {
        if let Some(Part::Quoted(before)) = self.parts.last_mut() {
            before.push_str(text);
        } else {
            self.parts.push(Part::Quoted(text.into()));
        }
    }

    pub(super) fn push(&mut self, part: Part) {
        match part {
            Part::Quoted(text) => self.quoted(&text),
            Part::Bare(_)
            | Part::Variable { .. }
            | Part::Substitution(_)
            | Part::Process(_)
            | Part::Arithmetic(_)
            | Part::Array(_) => self.parts.push(part),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn build(self, at: usize) -> Word {
        Word { parts: self.parts, at }
    }
}

impl Cursor<'_> {
    /// Reads a word, if one starts here.
    pub(super) fn word(&mut self, arrays: Arrays) -> Result<Option<Word>, Issue> {
        let mut builder = Builder::default();
        self.peek();
        let at = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.sees("<(") || self.sees(">(") => {
                    let list = self.process_substitution()?;
                    builder.push(Part::Process(list));
                }
                b'(' if arrays == Arrays::Allowed && ends_as_assignment(&builder) => {
                    let array = self.array()?;
                    builder.push(Part::Array(array));
                    break;
                }
                _ if is_meta(byte) => break,
                _ => self.word_part(byte, &mut builder)?,
            }
        }
        Ok((!builder.is_empty()).then(|| builder.build(at)))
    }

    /// Reads one part of a word outside of double quotes.
    pub(super) fn word_part(&mut self, byte: u8, builder: &mut Builder) -> Result<(), Issue> {
        match byte {
            b'\\' => {
                self.skip(1);
                match self.character() {
                    Some(character) => builder.quoted(character.encode_utf8(&mut [0; 4])),
                    None => builder.quoted("\\"),
                }
            }
            b'\'' => {
                self.skip(1);
                let text = self.single_quoted()?;
                builder.quoted(text);
            }
            b'"' => {
                self.skip(1);
                self.double_quoted(builder)?;
            }
            b'$' => self.dollar(Quotes::None, builder)?,
            b'`' => {
                let list = self.backticks(Quotes::None)?;
                builder.push(Part::Substitution(list));
            }
            _ => {
                if let Some(character) = self.character() {
                    builder.bare(character);
                }
            }
        }
        Ok(())
    }

    /// Reads up to the closing single quote and moves past it.
    fn single_quoted(&mut self) -> Result<&str, Issue> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(length) = rest.find('\'') else {
            return Err(self.refuse(codes::SHELL_UNEXPECTED_END, "a single quote is not closed"));
        };
        self.skip(length.saturating_add(1));
        Ok(rest.get(..length).unwrap_or_default())
    }

    /// Reads up to the closing double quote and moves past it.
    pub(super) fn double_quoted(&mut self, builder: &mut Builder) -> Result<(), Issue> {
        // Even an empty pair of quotes makes a word.
        builder.quoted("");
        loop {
            match self.peek() {
                None => {
                    return Err(self.refuse(codes::SHELL_UNEXPECTED_END, "a double quote is not closed"));
                }
                Some(b'"') => {
                    self.skip(1);
                    return Ok(());
                }
                Some(byte) => self.double_quoted_part(byte, builder)?,
            }
        }
    }

    /// Reads one part of a text in double quotes, or of a here-document.
    pub(super) fn double_quoted_part(&mut self, byte: u8, builder: &mut Builder) -> Result<(), Issue> {
        match byte {
            b'\\' => {
                self.skip(1);
                match self.raw() {
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        if let Some(character) = self.character() {
                            builder.quoted(character.encode_utf8(&mut [0; 4]));
                        }
                    }
                    _ => builder.quoted("\\"),
                }
            }
            b'$' => self.dollar(Quotes::Double, builder)?,
            b'`' => {
                let list = self.backticks(Quotes::Double)?;
                builder.push(Part::Substitution(list));
            }
            _ => {
                if let Some(character) = self.character() {
                    builder.quoted(character.encode_utf8(&mut [0; 4]));
                }
            }
        }
        Ok(())
    }

    /// Reads `(…)` after `name=`.
    fn array(&mut self) -> Result<Vec<Word>, Issue> {
        self.skip(1);
        self.nested(|cursor| {
            let mut words = Vec::new();
            loop {
                cursor.skip_blanks();
                match cursor.peek() {
                    Some(b')') => {
                        cursor.skip(1);
                        return Ok(words);
                    }
                    Some(b'\n') => cursor.line_break()?,
                    _ => match cursor.word(Arrays::Refused)? {
                        Some(word) if has_open_index(&word) => {
                            return Err(cursor.unsupported("an index with spaces in it"));
                        }
                        Some(word) => words.push(word),
                        None => return Err(cursor.unexpected("a word or `)`")),
                    },
                }
            }
        })
    }
}

/// Whether what was read so far is `name=` or `name+=`.
fn ends_as_assignment(builder: &Builder) -> bool {
    let [Part::Bare(text)] = builder.parts.as_slice() else { return false };
    text.strip_suffix('=')
        .map(|name| name.strip_suffix('+').unwrap_or(name))
        .is_some_and(|name| is_name(name.split('[').next().unwrap_or_default()))
}

/// Whether the word starts an index that it does not end: the shell would read on to the bracket.
pub(super) fn has_open_index(word: &Word) -> bool {
    let Some(Part::Bare(text)) = word.parts.first() else { return false };
    let starts = text.split_once('[').is_some_and(|(name, _)| name.is_empty() || is_name(name));
    let ends = word.parts.iter().any(|part| matches!(part, Part::Bare(text) if text.contains(']')));
    starts && !ends
}

/// Takes a word as an assignment, if it is written as one.
pub(super) fn assignment(word: Word) -> Result<Assignment, Word> {
    let Some(Part::Bare(text)) = word.parts.first() else { return Err(word) };
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'));
    let (name, rest) = end.and_then(|end| text.split_at_checked(end)).unwrap_or((text, ""));
    let is_plain = rest.starts_with('=') || rest.starts_with("+=");
    let is_indexed = rest.starts_with('[')
        && word.parts.iter().any(|part| {
            let Part::Bare(text) = part else { return false };
            text.contains("]=") || text.contains("]+=")
        });
    if !is_name(name) || !(is_plain || is_indexed) {
        return Err(word);
    }
    let name = String::from(name);
    Ok(Assignment { name, word })
}

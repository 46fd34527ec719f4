//! `[[ … ]]`: the conditions of bash.

use alloc::vec::Vec;

use countersign_canon::Issue;

use super::{
    cursor::Cursor,
    is_name,
    tree::{Compound, Part, Word},
    word::{Arrays, Builder},
};

/// Operators between two words.
const BINARY: [&str; 13] =
    ["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
/// Operators before one word.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

impl Cursor<'_> {
    pub(super) fn test(&mut self) -> Result<Compound, Issue> {
        self.take("[[");
        let mut words = Vec::new();
        self.alternatives(&mut words)?;
        self.take_reserved("]]")?;
        Ok(Compound::Test(words))
    }

    /// Reads terms joined by `&&` and `||`; what is joined first does not matter here.
    fn alternatives(&mut self, words: &mut Vec<Word>) -> Result<(), Issue> {
        loop {
            self.term(words)?;
            self.line_breaks()?;
            if !(self.take("&&") || self.take("||")) {
                return Ok(());
            }
        }
    }

    fn term(&mut self, words: &mut Vec<Word>) -> Result<(), Issue> {
        self.line_breaks()?;
        if self.reserved() == Some("!") {
            self.take("!");
            return self.nested(|cursor| cursor.term(words));
        }
        if self.take("(") {
            self.nested(|cursor| cursor.alternatives(words))?;
            if !self.take(")") {
                return Err(self.unexpected("`)`"));
            }
            return Ok(());
        }
        let first = self.operand()?;
        let is_unary = bare(&first)
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter));
        self.skip_blanks();
        if is_unary {
            // The index in the name of a variable is evaluated.
            let is_name = matches!(bare(&first), Some("-v" | "-R"));
            let operand = self.operand()?;
            words.push(if is_name && !is_plain_name(&operand) { operand.evaluated() } else { operand });
            return Ok(());
        }
        words.push(first);
        if self.peek().is_none_or(|byte| matches!(byte, b'&' | b'|' | b')' | b'\n'))
            || self.reserved() == Some("]]")
        {
            return Ok(());
        }
        if !(self.take("<") || self.take(">")) {
            let operator = self.operand()?;
            let operator = bare(&operator).filter(|text| BINARY.contains(text));
            match operator {
                None => return Err(self.unexpected("an operator")),
                Some("=~") => {
                    self.skip_blanks();
                    words.push(self.regular_expression()?);
                    return Ok(());
                }
                Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                    self.skip_blanks();
                    let first = words.pop().unwrap_or_default();
                    words.push(first.evaluated());
                    words.push(self.operand()?.evaluated());
                    return Ok(());
                }
                Some(_) => (),
            }
        }
        self.skip_blanks();
        words.push(self.operand()?);
        Ok(())
    }

    fn operand(&mut self) -> Result<Word, Issue> {
        self.skip_blanks();
        if self.reserved() == Some("]]") {
            return Err(self.unexpected("a word"));
        }
        match self.word(Arrays::Refused)? {
            Some(word) => Ok(word),
            None => Err(self.unexpected("a word")),
        }
    }

    /// Reads the right side of `=~`, where parentheses and bars stand for themselves.
    fn regular_expression(&mut self) -> Result<Word, Issue> {
        let at = self.at;
        let mut builder = Builder::default();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open = open.saturating_add(1),
                b')' if open == 0 => break,
                b')' => open = open.saturating_sub(1),
                b' ' | b'\t' if open > 0 => (),
                b'|' => (),
                b' ' | b'\t' | b'\n' | b'&' | b';' | b'<' | b'>' => break,
                _ => {
                    self.word_part(byte, &mut builder)?;
                    continue;
                }
            }
            self.skip(1);
            builder.quoted(char::from(byte).encode_utf8(&mut [0; 4]));
        }
        if builder.is_empty() || open > 0 {
            return Err(self.unexpected("a regular expression"));
        }
        Ok(builder.build(at))
    }
}

fn is_plain_name(word: &Word) -> bool {
    bare(word).is_some_and(is_name)
}

fn bare(word: &Word) -> Option<&str> {
    if let [Part::Bare(text)] = word.parts.as_slice() { Some(text) } else { None }
}

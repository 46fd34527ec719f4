//! What is expanded inside words: variables, substitutions, arithmetic, `$'…'`.

use alloc::{string::String, vec::Vec};

use countersign_canon::Issue;

use super::{
    cursor::Cursor,
    grammar::End,
    tree::{List, Part, Word},
    word::{Builder, Quotes},
};
use crate::codes;

impl Cursor<'_> {
    /// Reads what a dollar sign starts.
    pub(super) fn dollar(&mut self, quotes: Quotes, builder: &mut Builder) -> Result<(), Issue> {
        let start = self.at;
        self.skip(1);
        match self.peek() {
            Some(b'(') => {
                let part = self.nested(|cursor| cursor.substitution_or_arithmetic())?;
                builder.push(part);
            }
            Some(b'{') => {
                self.skip(1);
                let part = self.nested(|cursor| cursor.braces(quotes))?;
                builder.push(part);
            }
            Some(b'\'') if quotes == Quotes::None => {
                self.skip(1);
                let text = self.ansi_quoted()?;
                builder.quoted(&text);
            }
            Some(b'"') if quotes == Quotes::None => {
                self.skip(1);
                self.double_quoted(builder)?;
            }
            Some(b'[') => {
                self.at = start;
                return Err(self.unsupported("arithmetic in `$[`"));
            }
            Some(byte) if is_special(byte) => {
                self.skip(1);
                builder.push(variable(char::from(byte).into()));
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.name();
                builder.push(variable(name));
            }
            Some(_) | None => builder.quoted("$"),
        }
        Ok(())
    }

    /// Reads letters, digits and underscores.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if !(byte.is_ascii_alphanumeric() || byte == b'_') {
                break;
            }
            name.push(char::from(byte));
            self.skip(1);
        }
        name
    }

    /// Reads `(…)` or `((…))` after a dollar sign.
    fn substitution_or_arithmetic(&mut self) -> Result<Part, Issue> {
        let arithmetic =
            self.attempt(|cursor| if cursor.take("((") { cursor.arithmetic().map(Some) } else { Ok(None) })?;
        if let Some(Some(word)) = arithmetic {
            return Ok(Part::Arithmetic(word));
        }
        self.skip(1);
        self.enclosed_list().map(Part::Substitution)
    }

    /// Reads commands up to `)`, which is taken too. Here-documents stay inside.
    pub(super) fn enclosed_list(&mut self) -> Result<List, Issue> {
        let pending = core::mem::take(&mut self.pending);
        let is_waited_for = self.is_waited_for;
        self.is_waited_for = is_waited_for || !pending.is_empty();
        let list = self.list(End::Parenthesis)?;
        if !self.pending.is_empty() {
            return Err(self.unsupported("a here-document that its substitution does not hold"));
        }
        self.pending = pending;
        self.is_waited_for = is_waited_for;
        if !self.take(")") {
            return Err(self.unexpected("`)`"));
        }
        Ok(list)
    }

    /// Reads `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self) -> Result<List, Issue> {
        if !self.take("<(") {
            self.take(">(");
        }
        self.nested(Self::enclosed_list)
    }

    /// Reads an arithmetic expression up to `))`, which is taken too.
    pub(super) fn arithmetic(&mut self) -> Result<Word, Issue> {
        let at = self.at;
        let mut builder = Builder::default();
        let mut open = 0_usize;
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.unexpected("`))`"));
            };
            match byte {
                b')' if open == 0 => {
                    if self.take("))") {
                        return Ok(builder.build(at));
                    }
                    return Err(self.unexpected("`))`"));
                }
                b'(' | b')' => {
                    open = if byte == b'(' { open.saturating_add(1) } else { open.saturating_sub(1) };
                    self.skip(1);
                    builder.quoted(if byte == b'(' { "(" } else { ")" });
                }
                b'"' => {
                    self.skip(1);
                    self.double_quoted(&mut builder)?;
                }
                b'\'' | b'\\' => return Err(self.unsupported("quoting in arithmetic")),
                _ => self.double_quoted_part(byte, &mut builder)?,
            }
        }
    }

    /// Reads a variable in braces, after `${`.
    fn braces(&mut self, quotes: Quotes) -> Result<Part, Issue> {
        let prefix = match self.peek() {
            Some(byte @ (b'#' | b'!')) => {
                self.skip(1);
                // `${#}`, `${!}`, `${#-x}`: the sign is the variable itself.
                let is_prefix = self
                    .peek()
                    .is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'@' | b'*'));
                if !is_prefix {
                    return self.after_name(char::from(byte).into(), None, quotes);
                }
                Some(byte)
            }
            _ => None,
        };
        let name = match self.peek() {
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => self.name(),
            Some(byte) if is_special(byte) => {
                self.skip(1);
                char::from(byte).into()
            }
            _ => return Err(self.unexpected("the name of a variable")),
        };
        self.after_name(name, prefix, quotes)
    }

    /// Reads what follows the name in `${name…}`.
    fn after_name(&mut self, name: String, prefix: Option<u8>, quotes: Quotes) -> Result<Part, Issue> {
        let mut inner = Vec::new();
        let mut is_evaluated = prefix == Some(b'!');
        if self.peek() == Some(b'[') {
            self.skip(1);
            // `${!a[@]}` lists the keys of an array and evaluates nothing.
            let is_all = self.sees("@]") || self.sees("*]");
            is_evaluated = is_evaluated && !is_all;
            let index = self.braced_text(b']', quotes)?;
            inner.push(if is_all { index } else { index.evaluated() });
            self.skip(1);
        }
        match self.peek() {
            Some(b'}') => (),
            Some(b'@') => {
                is_evaluated = is_evaluated || self.sees("@P");
                inner.push(self.braced_text(b'}', quotes)?);
            }
            Some(b':') => {
                self.skip(1);
                // What is not a default is a place and a length: expressions.
                let is_default = matches!(self.peek(), Some(b'-' | b'=' | b'?' | b'+'));
                let text = self.braced_text(b'}', quotes)?;
                inner.push(if is_default { text } else { text.evaluated() });
            }
            Some(b'-' | b'=' | b'?' | b'+' | b'#' | b'%' | b'/' | b'^' | b',' | b'*') => {
                self.skip(1);
                inner.push(self.braced_text(b'}', quotes)?);
            }
            _ => return Err(self.unexpected("`}` or an operator")),
        }
        self.skip(1);
        // The length of a variable is a number, whatever it holds.
        let name = if prefix == Some(b'#') { "#".into() } else { name };
        Ok(Part::Variable { name, inner, is_evaluated })
    }

    /// Reads text inside braces up to, not including, the byte that ends it.
    fn braced_text(&mut self, end: u8, quotes: Quotes) -> Result<Word, Issue> {
        let at = self.at;
        let mut builder = Builder::default();
        loop {
            match (self.peek(), quotes) {
                (None, _) => return Err(self.unexpected("`}`")),
                (Some(byte), _) if byte == end => return Ok(builder.build(at)),
                // Whether a single quote quotes here depends on the operator, and shells differ.
                (Some(b'\''), Quotes::Double) => {
                    return Err(self.unsupported("a single quote in `${…}` inside double quotes"));
                }
                (Some(b'"'), _) => {
                    self.skip(1);
                    self.double_quoted(&mut builder)?;
                }
                (Some(byte), Quotes::Double) => self.double_quoted_part(byte, &mut builder)?,
                (Some(b'<' | b'>'), Quotes::None) if self.sees("<(") || self.sees(">(") => {
                    let list = self.process_substitution()?;
                    builder.push(Part::Process(list));
                }
                (Some(byte), Quotes::None) => self.word_part(byte, &mut builder)?,
            }
        }
    }

    /// Reads `` `…` ``: the text inside is freed of its backslashes and parsed by itself.
    pub(super) fn backticks(&mut self, quotes: Quotes) -> Result<List, Issue> {
        let start = self.at;
        self.skip(1);
        let mut text = String::new();
        loop {
            match self.character() {
                None => return Err(self.refuse(codes::SHELL_UNEXPECTED_END, "a backtick is not closed")),
                Some('`') => break,
                Some('\\') => match (self.raw(), quotes) {
                    (Some(b'`' | b'\\' | b'$'), _) | (Some(b'"'), Quotes::Double) => {
                        text.extend(self.character());
                    }
                    _ => text.push('\\'),
                },
                Some(character) => text.push(character),
            }
        }
        self.within(&text, start, |inner| inner.whole())
    }

    /// Reads up to the closing quote of `$'…'` and decodes it.
    fn ansi_quoted(&mut self) -> Result<String, Issue> {
        let mut text = String::new();
        loop {
            match self.character() {
                None => return Err(self.refuse(codes::SHELL_UNEXPECTED_END, "a quote is not closed")),
                Some('\'') => return Ok(text),
                Some('\\') => text.extend(self.ansi_escape()?),
                Some(character) => text.push(character),
            }
        }
    }

    fn ansi_escape(&mut self) -> Result<Vec<char>, Issue> {
        let Some(character) = self.character() else {
            return Err(self.refuse(codes::SHELL_UNEXPECTED_END, "a quote is not closed"));
        };
        let decoded = match character {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => character,
            '0'..='7' => {
                self.at = self.at.saturating_sub(1);
                self.digits(8, 3)?
            }
            'x' => self.digits(16, 2)?,
            'u' => self.digits(16, 4)?,
            'U' => self.digits(16, 8)?,
            'c' => return Err(self.unsupported("a control character in `$'…'`")),
            other => return Ok(Vec::from(['\\', other])),
        };
        Ok(Vec::from([decoded]))
    }

    /// Reads the digits of an escaped character. A NUL or half a character would mean something else to each shell.
    fn digits(&mut self, radix: u32, count_max: usize) -> Result<char, Issue> {
        let mut value = 0_u32;
        let mut count = 0_usize;
        while count < count_max
            && let Some(digit) = self.raw().and_then(|byte| char::from(byte).to_digit(radix))
        {
            value = value.saturating_mul(radix).saturating_add(digit);
            count = count.saturating_add(1);
            self.skip(1);
        }
        let is_byte = count_max < 4;
        match char::from_u32(value) {
            Some(character) if count > 0 && value > 0 && !(is_byte && value > 0x7F) => Ok(character),
            _ => Err(self.unsupported("an escape in `$'…'` that is no character")),
        }
    }
}

fn variable(name: String) -> Part {
    Part::Variable { name, inner: Vec::new(), is_evaluated: false }
}

/// Variables whose name is one sign or digit.
const fn is_special(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-' | b'0'..=b'9')
}

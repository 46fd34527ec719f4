//! The one strict parser: I-JSON in, values with positions out, or the first problem.

use alloc::{borrow::Cow, format, string::String, vec::Vec};

use crate::{Code, Issue, Json, Member, Number, Object, Value, code::codes, json::utf16_order};

/// How deep arrays and objects may be nested.
pub const DEPTH_MAX: usize = 128;

/// How large a document may be.
pub const DOCUMENT_BYTES_MAX: usize = 256 * 1024 * 1024;

impl<'a> Json<'a> {
    /// Reads one JSON document and nothing after it.
    ///
    /// # Errors
    ///
    /// Fails, with its own code and the offset of the first problem, on text that is not UTF-8 or not JSON, a byte
    /// order mark, a duplicate key, NaN or an infinity, half a surrogate pair, a number outside the profile,
    /// nesting beyond [`DEPTH_MAX`], and anything after the value.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Issue> {
        if bytes.len() > DOCUMENT_BYTES_MAX {
            return Err(Issue::new(codes::JSON_TOO_LARGE, format!("the document has {} bytes", bytes.len()))
                .with_expected(format!("at most {DOCUMENT_BYTES_MAX}")));
        }
        let text = core::str::from_utf8(bytes).map_err(|error| {
            Issue::new(codes::JSON_BAD_UTF8, "the bytes here are not UTF-8")
                .with_offset(error.valid_up_to())
                .with_hint("save the file as UTF-8")
        })?;
        if text.starts_with('\u{feff}') {
            return Err(Issue::new(codes::JSON_BOM, "the text starts with a byte order mark")
                .with_offset(0)
                .with_hint("save the file as UTF-8 without a byte order mark"));
        }
        let mut parser = Parser { rest: text, length: text.len() };
        parser.skip_space();
        let value = parser.value(0)?;
        parser.skip_space();
        if parser.rest.is_empty() {
            return Ok(value);
        }
        Err(parser
            .issue(codes::JSON_TRAILING_DATA, format!("{} follows the value", parser.found()))
            .with_expected("the end of the text"))
    }
}

/// What is left to read.
struct Parser<'a> {
    rest: &'a str,
    length: usize,
}

impl<'a> Parser<'a> {
    fn offset(&self) -> usize {
        self.length.saturating_sub(self.rest.len())
    }

    /// The offset as values keep it; `DOCUMENT_BYTES_MAX` fits.
    fn at(&self) -> u32 {
        u32::try_from(self.offset()).unwrap_or(u32::MAX)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    /// Drops `count` bytes, which the caller has seen to be whole characters.
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    fn skip_space(&mut self) {
        if matches!(self.peek(), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.rest = self.rest.trim_start_matches([' ', '\n', '\t', '\r']);
        }
    }

    /// Takes `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.skip(1);
        }
        is_next
    }

    fn issue(&self, code: Code, message: impl Into<String>) -> Issue {
        Issue::new(code, message).with_offset(self.offset())
    }

    /// What comes next, for messages.
    fn found(&self) -> String {
        match self.rest.chars().next() {
            None => "the end of the text".into(),
            Some(character) if character.is_control() => {
                format!("the character U+{:04X}", u32::from(character))
            }
            Some(character) => format!("`{character}`"),
        }
    }

    /// The issue of something else standing where `expected` should.
    fn unexpected(&self, expected: &str) -> Issue {
        let code = if self.rest.is_empty() { codes::JSON_UNEXPECTED_END } else { codes::JSON_SYNTAX };
        self.issue(code, format!("found {}", self.found())).with_expected(expected)
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, Issue> {
        let at = self.at();
        let value = match self.peek() {
            Some(b'"') => Value::String(self.string()?),
            Some(b'{') => self.object(self.deeper(depth)?)?,
            Some(b'[') => self.array(self.deeper(depth)?)?,
            Some(b'-' | b'0'..=b'9') => Value::Number(self.number()?),
            _ => self.word()?,
        };
        Ok(Json { value, at })
    }

    fn deeper(&self, depth: usize) -> Result<usize, Issue> {
        if depth < DEPTH_MAX {
            return Ok(depth.saturating_add(1));
        }
        Err(self
            .issue(codes::JSON_TOO_DEEP, format!("nested deeper than {DEPTH_MAX}"))
            .with_expected(format!("at most {DEPTH_MAX} arrays and objects inside each other")))
    }

    fn word(&mut self) -> Result<Value<'a>, Issue> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.rest.starts_with(word) {
                self.skip(word.len());
                return Ok(value);
            }
        }
        for word in ["NaN", "Infinity"] {
            if self.rest.starts_with(word) {
                return Err(self.not_a_number(word));
            }
        }
        Err(self.unexpected("a JSON value"))
    }

    fn not_a_number(&self, word: &str) -> Issue {
        self.issue(codes::JSON_NOT_A_NUMBER, format!("`{word}` is not a number"))
            .with_expected("a finite number")
            .with_hint("leave the field out, or write null where it is allowed")
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>, Issue> {
        self.skip(1);
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>, Issue> {
        self.skip(1);
        let mut members = Vec::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(Object { members }));
        }
        loop {
            self.skip_space();
            let key_at = self.at();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            self.skip_space();
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            self.skip_space();
            let value = self.value(depth)?;
            members.push(Member { key, value, key_at });
            self.skip_space();
            if self.take(b'}') {
                return in_canonical_order(members).map(Value::Object);
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn number(&mut self) -> Result<Number, Issue> {
        let literal = self.number_literal()?;
        let number = read_number(literal).map_err(|code| self.number_refused(code, literal))?;
        self.skip(literal.len());
        Ok(number)
    }

    /// The literal that comes next, by the grammar of RFC 8259.
    fn number_literal(&self) -> Result<&'a str, Issue> {
        let mut rest = Parser { rest: self.rest, length: self.length };
        rest.take(b'-');
        if rest.rest.starts_with("Infinity") {
            return Err(self.not_a_number("-Infinity"));
        }
        if !rest.take(b'0') {
            rest.digits()?;
        } else if matches!(rest.peek(), Some(b'0'..=b'9')) {
            return Err(rest.unexpected("no digit after a leading zero"));
        }
        if rest.take(b'.') {
            rest.digits()?;
        }
        if rest.take(b'e') || rest.take(b'E') {
            let _sign = rest.take(b'+') || rest.take(b'-');
            rest.digits()?;
        }
        let length = self.rest.len().saturating_sub(rest.rest.len());
        Ok(self.rest.get(..length).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), Issue> {
        let count = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return Err(self.unexpected("a digit"));
        }
        self.skip(count);
        Ok(())
    }

    fn number_refused(&self, code: Code, literal: &str) -> Issue {
        let shown: String = literal.chars().take(40).collect();
        let issue = self.issue(code, format!("the number `{shown}` cannot be kept exactly"));
        if code == codes::JSON_INTEGER_RANGE {
            return issue
                .with_expected("an integer within ±9007199254740991")
                .with_hint("write larger integers as strings");
        }
        issue.with_expected("a number below 2^53, or from 10^21 on, within the range of a double")
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Issue> {
        self.skip(1);
        let plain = self.plain_text();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.skip(1);
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(0..0x20) => {
                    return Err(self
                        .unexpected("an escape such as \\n: control characters are not allowed in strings"));
                }
                Some(_) => text.push_str(self.plain_text()),
                None => return Err(self.unexpected("the closing `\"` of a string")),
            }
        }
    }

    /// Takes everything up to the next quote, backslash or control character.
    fn plain_text(&mut self) -> &'a str {
        let (plain, rest) = self.rest.split_at(plain_length(self.rest.as_bytes()));
        self.rest = rest;
        plain
    }

    fn escape(&mut self) -> Result<char, Issue> {
        let start = Parser { rest: self.rest, length: self.length };
        self.skip(1);
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(&start),
            _ => return Err(self.unexpected("one of \" \\ / b f n r t u after a backslash")),
        };
        self.skip(1);
        Ok(character)
    }

    fn unicode_escape(&mut self, start: &Parser<'_>) -> Result<char, Issue> {
        let first = self.code_unit()?;
        let lone = || {
            start
                .issue(codes::JSON_LONE_SURROGATE, format!("\\u{first:04x} is half of a surrogate pair"))
                .with_expected("a high surrogate followed by a low one")
        };
        if let Some(character) = char::from_u32(first) {
            return Ok(character);
        }
        if !self.rest.starts_with("\\u") {
            return Err(lone());
        }
        self.skip(1);
        let second = self.code_unit()?;
        let units = [first, second].map(|unit| u16::try_from(unit).unwrap_or_default());
        char::decode_utf16(units).next().and_then(Result::ok).ok_or_else(lone)
    }

    /// Takes `uXXXX`.
    fn code_unit(&mut self) -> Result<u32, Issue> {
        self.skip(1);
        let mut unit = 0_u32;
        for _ in 0..4 {
            let digit = self.rest.chars().next().and_then(|character| character.to_digit(16));
            let Some(digit) = digit else { return Err(self.unexpected("four hexadecimal digits after \\u")) };
            unit = (unit << 4) | digit;
            self.skip(1);
        }
        Ok(unit)
    }
}

/// Sorts an object's members and refuses a repeated key, also one spelt with other escapes.
fn in_canonical_order(mut members: Vec<Member<'_>>) -> Result<Object<'_>, Issue> {
    members.sort_by(|a, b| utf16_order(&a.key, &b.key));
    let repeated = members.windows(2).filter_map(|pair| match pair {
        [first, second] if first.key == second.key => Some(second),
        _ => None,
    });
    match repeated.min_by_key(|member| member.key_at) {
        None => Ok(Object { members }),
        Some(member) => {
            Err(Issue::new(codes::JSON_DUPLICATE_KEY, format!("the key `{}` is there already", member.key))
                .with_offset(member.key_offset())
                .with_expected("every key once")
                .with_hint("remove one of the two; readers differ in which one they believe"))
        }
    }
}

/// How many bytes come before the next quote, backslash or control character.
pub(crate) fn plain_length(bytes: &[u8]) -> usize {
    let is_plain = |&&byte: &&u8| byte != b'"' && byte != b'\\' && byte >= 0x20;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let plain_chunks = chunks.iter().take_while(|chunk| is_plain_chunk(u64::from_le_bytes(**chunk))).count();
    let tail = chunks.get(plain_chunks).map_or(rest, <[u8; 8]>::as_slice);
    plain_chunks.saturating_mul(8).saturating_add(tail.iter().take_while(is_plain).count())
}

/// Whether none of eight bytes is a quote, a backslash or a control character.
fn is_plain_chunk(chunk: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The classic "has a byte less than n": exact for n ≤ 128.
    let below = |x: u64, n: u64| x.wrapping_sub(ONES.wrapping_mul(n)) & !x & HIGH;
    let equals = |byte: u8| below(chunk ^ ONES.wrapping_mul(u64::from(byte)), 1);
    below(chunk, 0x20) | equals(b'"') | equals(b'\\') == 0
}

/// The number a literal means, or the code that says why it is outside the profile.
fn read_number(literal: &str) -> Result<Number, Code> {
    let is_integer = !literal.contains(['.', 'e', 'E']);
    if is_integer {
        return literal.parse().ok().and_then(Number::from_i64).ok_or(codes::JSON_INTEGER_RANGE);
    }
    let value: f64 = literal.parse().map_err(|_unreachable| codes::JSON_SYNTAX)?;
    let mantissa = literal.split(['e', 'E']).next().unwrap_or_default();
    if value == 0.0 && mantissa.contains(|digit: char| matches!(digit, '1'..='9')) {
        return Err(codes::JSON_NUMBER_UNDERFLOW);
    }
    Number::from_f64(value)
}

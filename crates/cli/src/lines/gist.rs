//! What a line that is not passed on seems to say: enough to answer it, and nothing that a decision is made from.
//!
//! It is read byte by byte, so that a line may be longer than what is kept of it, and may break off or be wrong in places.

use countersign_canon::{Json, Value};

/// LIMIT: how much of a key or a value is kept. Longer ones are none that are looked for.
const TOKEN_BYTES_MAX: usize = 1024;

/// LIMIT: how many ids and methods of one line are kept; more than one of each are not clear already.
const SEEN_MAX: usize = 8;

/// The name of a request, as JSON: a text or a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(
    // INVARIANT: canonical JSON of a string or a number, or an integer that is too large to have one.
    String,
);

/// What is seen of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gist {
    ids: Vec<Option<Id>>,
    methods: Vec<Option<String>>,
    has_answer: bool,
    is_whole: bool,
    /// How deep the next byte stands.
    depth: usize,
    text: Text,
    /// What stands at the top since the last comma or colon.
    token: Vec<u8>,
    key: Option<String>,
}

/// Whether the next byte stands in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    /// After a backslash.
    Escaped,
}

impl Id {
    /// The id, if this is one.
    pub(crate) fn of(json: &Json<'_>) -> Option<Self> {
        match &json.value {
            Value::String(_) | Value::Number(_) => Some(Self(json.to_canonical())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The id as it stands in a line.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        let is_integer = digits.iter().all(u8::is_ascii_digit) && !digits.starts_with(b"0");
        match Json::parse(text) {
            Ok(json) => Self::of(&json),
            // It can be said again without being understood.
            Err(_) if is_integer && !digits.is_empty() => String::from_utf8(text.to_vec()).ok().map(Self),
            Err(_) => None,
        }
    }

    /// The id as JSON.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl Gist {
    /// What is seen of a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut gist = Self::default();
        gist.feed(line);
        gist
    }

    /// Looks at more of the line.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match self.text {
                Text::Outside => self.structure(*byte),
                Text::Inside | Text::Escaped => {
                    self.keep(*byte);
                    self.text = match (self.text, byte) {
                        (Text::Inside, b'"') => Text::Outside,
                        (Text::Inside, b'\\') => Text::Escaped,
                        (Text::Outside | Text::Inside | Text::Escaped, _) => Text::Inside,
                    };
                }
            }
        }
    }

    /// The one id that the line has, if it is clear.
    pub(crate) fn id(&self) -> Option<&Id> {
        if let [Some(id)] = &*self.ids { Some(id) } else { None }
    }

    /// The one method that the line has, if it is clear.
    pub(crate) fn method(&self) -> Option<&str> {
        if let [Some(method)] = &*self.methods { Some(method) } else { None }
    }

    /// Whether it has no method, and a result or an error: an answer.
    pub(crate) fn is_answer(&self) -> bool {
        self.methods.is_empty() && self.has_answer
    }

    /// Whether it is a request or a message for whoever reads it: whole, with a method, without a result or an error.
    pub(crate) fn is_question(&self) -> bool {
        self.is_whole && !self.methods.is_empty() && !self.has_answer
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.keep(byte);
                self.text = Text::Inside;
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.depth = self.depth.saturating_add(1);
                self.is_whole = false;
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.field();
                    self.is_whole = true;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => self.field(),
            b':' if self.depth == 1 && self.key.is_none() => {
                let token = std::mem::take(&mut self.token);
                let key = Json::parse(&token).ok();
                // A key that cannot be read is still one, and not one of those that are looked for.
                self.key = Some(key.as_ref().and_then(Json::as_str).unwrap_or_default().to_owned());
            }
            _ => self.keep(byte),
        }
    }

    /// Keeps a byte at the top; what is past the limit makes a token that cannot be read.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= TOKEN_BYTES_MAX {
            self.token.push(byte);
        }
    }

    /// A key has its value.
    fn field(&mut self) {
        let (token, key) = (std::mem::take(&mut self.token), self.key.take());
        let token = token.trim_ascii();
        match key.as_deref().map(folded).as_deref() {
            Some("id") if self.ids.len() < SEEN_MAX => {
                // A null is no id; a key in another case is not clear.
                if token != b"null" {
                    self.ids.push(Id::parse(token).filter(|_| key.as_deref() == Some("id")));
                }
            }
            Some("method") if self.methods.len() < SEEN_MAX => {
                let method = Json::parse(token).ok();
                self.methods.push(method.as_ref().and_then(Json::as_str).map(str::to_owned));
            }
            Some("result" | "error") => self.has_answer = true,
            Some(_) | None => (),
        }
    }
}

/// A key as those read it who do not care about case, in any alphabet: `ſ` is an s and the sign for kelvin a k.
pub(crate) fn folded(key: &str) -> String {
    key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests;

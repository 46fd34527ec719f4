//! What is wrong, where, what was expected and what to do about it.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, ops::Deref};

use crate::{Code, Json, Pointer};

/// One problem of one document: the error type of this crate, and the row that every report is made of.
///
/// Its parts are behind a box, so that a `Result` with it stays as small as its good case; read them as fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue(Box<IssueParts>);

/// The parts of an [`Issue`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueParts {
    /// The frozen machine code.
    pub code: Code,
    /// The narrower code behind it, where `code` is a family.
    pub cause: Option<Code>,
    /// The place as a JSON pointer; empty for the document itself.
    pub pointer: Pointer,
    /// The place as a byte offset into the text, where the text is known.
    pub offset: Option<usize>,
    /// What was found: lower case, no full stop, user text in back-ticks.
    pub message: String,
    /// What was expected instead.
    pub expected: Option<String>,
    /// What to do next.
    pub hint: Option<String>,
}

impl Issue {
    /// An issue about the document as a whole; add a place and advice with the `with_` functions.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(IssueParts {
            code,
            cause: None,
            pointer: Pointer::root(),
            offset: None,
            message: message.into(),
            expected: None,
            hint: None,
        }))
    }

    /// The same issue at this pointer.
    #[must_use]
    pub fn with_pointer(mut self, pointer: Pointer) -> Self {
        self.0.pointer = pointer;
        self
    }

    /// The same issue at this byte of the text.
    #[must_use]
    pub fn with_offset(mut self, offset: usize) -> Self {
        self.0.offset = Some(offset);
        self
    }

    /// The same issue, saying what was expected.
    #[must_use]
    pub fn with_expected(mut self, expected: impl Into<String>) -> Self {
        self.0.expected = Some(expected.into());
        self
    }

    /// The same issue, saying what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// The same issue in the family `code`; the code it had becomes its cause.
    #[must_use]
    pub fn under(mut self, code: Code) -> Self {
        self.0.cause = Some(self.cause.unwrap_or(self.code));
        self.0.code = code;
        self
    }

    /// The issue as a JSON object: code, cause?, pointer, message, expected?, hint?.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let IssueParts { code, cause, pointer, offset: _, message, expected, hint } = &*self.0;
        let optional = [
            ("cause", cause.map(Json::from)),
            ("expected", expected.clone().map(Json::from)),
            ("hint", hint.clone().map(Json::from)),
        ];
        let required = [
            ("code", Json::from(*code)),
            ("message", Json::from(message.clone())),
            ("pointer", Json::from(alloc::format!("{pointer}"))),
        ];
        let optional = optional.into_iter().filter_map(|(key, value)| value.map(|value| (key, value)));
        Json::object(required.into_iter().chain(optional))
    }
}

impl Deref for Issue {
    type Target = IssueParts;

    fn deref(&self) -> &IssueParts {
        &self.0
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Issue {}

/// The problems of one document, in document order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Issues(Vec<Issue>);

impl Issues {
    /// No problems.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Notes one more problem.
    pub fn push(&mut self, issue: Issue) {
        self.0.push(issue);
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them, sorted by place, then code, then message, without repetitions.
    #[must_use]
    pub fn into_sorted(self) -> Vec<Issue> {
        let mut issues = self.0;
        issues.sort_by(|a, b| {
            (a.offset, &a.pointer, a.code, a.cause, &a.message)
                .cmp(&(b.offset, &b.pointer, b.code, b.cause, &b.message))
        });
        issues.dedup();
        issues
    }
}

impl Extend<Issue> for Issues {
    fn extend<T: IntoIterator<Item = Issue>>(&mut self, issues: T) {
        self.0.extend(issues);
    }
}

/// A place in a text for people: both count from one, the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The byte within the line.
    pub column: usize,
}

impl Position {
    /// Finds the line and column of a byte offset; an offset past the end counts as the end.
    #[must_use]
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at.saturating_add(1));
        Self {
            line: before.iter().filter(|&&byte| byte == b'\n').count().saturating_add(1),
            column: before.len().saturating_sub(line_start).saturating_add(1),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

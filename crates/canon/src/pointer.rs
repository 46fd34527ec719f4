//! JSON pointers (RFC 6901): the place of a value in its document.

use alloc::{
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt;

use crate::{Issue, Json, code::codes};

/// The place of a value in its document. Sorted as a path, numbers as numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Pointer(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Step {
    Index(usize),
    Key(String),
}

impl Pointer {
    /// The document itself.
    #[must_use]
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The member `key` of the value here.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.into()))
    }

    /// The element `index` of the value here.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Step::Index(index))
    }

    fn with(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// Reads a pointer such as `/rules/0/when`.
    ///
    /// # Errors
    ///
    /// Fails if it does not start with `/`, or has a `~` that is not `~0` or `~1`.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = || {
            Issue::new(codes::POINTER_SHAPE, alloc::format!("`{text}` is not a JSON pointer"))
                .with_expected("nothing, or steps such as /rules/0, with ~0 for ~ and ~1 for /")
        };
        if text.is_empty() {
            return Ok(Self::root());
        }
        let steps = text.strip_prefix('/').ok_or_else(refused)?;
        steps.split('/').map(|step| read_step(step).ok_or_else(refused)).collect::<Result<_, _>>().map(Self)
    }

    /// The value at this place of `document`.
    #[must_use]
    pub fn find<'d, 'a>(&self, document: &'d Json<'a>) -> Option<&'d Json<'a>> {
        self.0.iter().try_fold(document, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => match value.as_array() {
                Some(items) => items.get(*index),
                None => value.get(&index.to_string()),
            },
        })
    }
}

/// The way of a reader into a document, which becomes a pointer where something is wrong and nowhere else.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// The keys on the way, one after the other.
    keys: String,
    marks: Vec<Mark>,
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    Index(usize),
    /// Where the key starts; it ends where the next one does.
    Key(usize),
}

impl Trail {
    pub(crate) fn push_key(&mut self, key: &str) {
        self.marks.push(Mark::Key(self.keys.len()));
        self.keys.push_str(key);
    }

    pub(crate) fn push_index(&mut self, index: usize) {
        self.marks.push(Mark::Index(index));
    }

    pub(crate) fn pop(&mut self) {
        if let Some(Mark::Key(start)) = self.marks.pop() {
            self.keys.truncate(start);
        }
    }

    /// The place that it leads to.
    pub(crate) fn pointer(&self) -> Pointer {
        let mut rest = self.keys.as_str();
        let step = |mark: &Mark| match *mark {
            Mark::Index(index) => Step::Index(index),
            Mark::Key(start) => {
                let (before, key) = rest.split_at_checked(start).unwrap_or((rest, ""));
                rest = before;
                Step::Key(key.into())
            }
        };
        let mut steps: Vec<Step> = self.marks.iter().rev().map(step).collect();
        steps.reverse();
        Pointer(steps)
    }
}

/// Reads one step; digits without a leading zero are an index, which [`Pointer::find`] also takes for a key.
fn read_step(step: &str) -> Option<Step> {
    let is_index = step == "0" || (!step.starts_with('0') && step.bytes().all(|byte| byte.is_ascii_digit()));
    if let (true, Ok(index)) = (is_index, step.parse()) {
        return Some(Step::Index(index));
    }
    let mut key = String::new();
    let mut characters = step.chars();
    while let Some(character) = characters.next() {
        key.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            _ => character,
        });
    }
    Some(Step::Key(key))
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| match step {
            Step::Index(index) => write!(f, "/{index}"),
            Step::Key(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
        })
    }
}

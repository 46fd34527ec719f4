//! Names with a shape: checked once, where text comes in.

use alloc::{format, string::String};
use core::fmt::Write as _;

use crate::{Issue, code::codes};

/// A set of ASCII characters, written as the inside of a regular expression's class: `a-z0-9_`.
///
/// A `-` is itself only in last place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alphabet(pub &'static str);

impl Alphabet {
    /// Whether the character is in the set.
    #[must_use]
    pub fn contains(self, character: char) -> bool {
        let (Ok(wanted), mut class) = (u8::try_from(character), self.0.as_bytes()) else { return false };
        loop {
            let (from, until, rest) = match class {
                [from, b'-', until, rest @ ..] => (from, until, rest),
                [only, rest @ ..] => (only, only, rest),
                [] => return false,
            };
            if (from..=until).contains(&&wanted) {
                return true;
            }
            class = rest;
        }
    }
}

/// What a name must look like: a prefix, perhaps a special first character, then so many of an alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What every such name starts with; may be empty.
    pub prefix: &'static str,
    /// What the first character after the prefix may be, if it is special.
    pub first: Option<Alphabet>,
    /// What the others may be.
    pub rest: Alphabet,
    /// How many others there are at least.
    pub rest_min: usize,
    /// How many others there are at most; `None` for any number.
    pub rest_max: Option<usize>,
}

impl Shape {
    /// Whether the text has this shape.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        let Some(after_prefix) = text.strip_prefix(self.prefix) else { return false };
        let mut characters = after_prefix.chars();
        if let Some(first) = self.first
            && !characters.next().is_some_and(|character| first.contains(character))
        {
            return false;
        }
        let rest = characters.as_str();
        // Alphabets are ASCII, so that bytes are characters once all of them are in it.
        rest.chars().all(|character| self.rest.contains(character))
            && rest.len() >= self.rest_min
            && self.rest_max.is_none_or(|max| rest.len() <= max)
    }

    /// The same shape as an anchored regular expression, for schemas and messages.
    #[must_use]
    pub fn pattern(&self) -> String {
        let mut pattern = format!("^{}", self.prefix);
        if let Some(Alphabet(first)) = self.first {
            let _infallible = write!(pattern, "[{first}]");
        }
        let Alphabet(rest) = self.rest;
        let _infallible = match self.rest_max {
            Some(max) if max == self.rest_min => write!(pattern, "[{rest}]{{{max}}}$"),
            Some(max) => write!(pattern, "[{rest}]{{{},{max}}}$", self.rest_min),
            None => write!(pattern, "[{rest}]{{{},}}$", self.rest_min),
        };
        pattern
    }

    /// Refuses a text that does not have this shape; `what` names the kind of name.
    ///
    /// # Errors
    ///
    /// Fails with `NAME_SHAPE` if it does not match.
    pub fn check(&self, what: &str, text: &str) -> Result<(), Issue> {
        if self.matches(text) {
            return Ok(());
        }
        let shown: String = text.chars().take(80).collect();
        Err(Issue::new(codes::NAME_SHAPE, format!("`{shown}` is not a {what}")).with_expected(self.pattern()))
    }
}

/// Declares a name type: text of one [`Shape`], checked when it is made.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Alphabet, Shape};
///
/// countersign_canon::checked_name! {
///     /// The name of a hat.
///     pub HatName, "hat name",
///     Shape { prefix: "hat_", first: None, rest: Alphabet("a-z0-9_"), rest_min: 1, rest_max: Some(64) }
/// }
/// assert_eq!(HatName::parse("hat_bowler")?.as_str(), "hat_bowler");
/// assert!(HatName::parse("cap").is_err());
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[macro_export]
macro_rules! checked_name {
    ($(#[$attribute:meta])* $visibility:vis $name:ident, $what:literal, $shape:expr) => {
        $(#[$attribute])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $visibility struct $name(
            // INVARIANT: has the shape. Shared: names are copied far more often than they are made.
            $crate::__private::Arc<str>,
        );

        impl $name {
            /// What such a name looks like.
            pub const SHAPE: $crate::Shape = $shape;

            /// Checks the text and takes it as a name.
            ///
            /// # Errors
            ///
            /// Fails if the text does not have the shape.
            pub fn parse(text: &str) -> ::core::result::Result<Self, $crate::Issue> {
                Self::SHAPE.check($what, text)?;
                Ok(Self(text.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl $crate::Name for $name {
            fn parse_name(text: &str) -> ::core::result::Result<Self, $crate::Issue> {
                Self::parse(text)
            }

            fn as_name(&self) -> &str {
                self.as_str()
            }

            fn pattern() -> $crate::__private::String {
                Self::SHAPE.pattern()
            }
        }

        impl $crate::Wire for $name {
            fn read(json: &$crate::Json<'_>, reader: &mut $crate::Reader) -> ::core::option::Option<Self> {
                reader.text(json, Self::parse)
            }

            fn write(&self) -> $crate::Json<'static> {
                $crate::Json::from($crate::__private::String::from(self.as_str()))
            }

            fn spell(&self, out: &mut $crate::__private::String) {
                $crate::spell_text(&self.0, out);
            }

            fn schema(_: &mut $crate::Definitions) -> $crate::Json<'static> {
                $crate::pattern_schema(&Self::SHAPE.pattern())
            }
        }
    };
}

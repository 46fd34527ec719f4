//! One name of a path against one name of a glob: `*`, `?` and `[…]`.

use alloc::{boxed::Box, format, vec::Vec};

use countersign_canon::Issue;

use super::{never, syntax};

/// What one name must look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern {
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// These bytes.
    Literal(Box<[u8]>),
    /// One character, or one byte that is part of none.
    One,
    /// Any number of characters.
    Many,
    /// One character in these ranges, or outside all of them.
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl NamePattern {
    /// Every name.
    pub(super) fn any() -> Self {
        Self { tokens: Vec::from([Token::Many]) }
    }

    /// Reads one name of a glob.
    pub(super) fn parse(text: &str) -> Result<Self, Issue> {
        let mut tokens = Vec::new();
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let length = match character {
                '*' => {
                    tokens.push(Token::Many);
                    1
                }
                '?' => {
                    tokens.push(Token::One);
                    1
                }
                '[' => {
                    let length = class_length(rest).ok_or_else(|| {
                        syntax(
                            format!("`{text}` has a `[` without its `]`"),
                            "write `[[]` for a bracket that is meant",
                        )
                    })?;
                    tokens
                        .push(parse_class(text, rest.get(1..length.saturating_sub(1)).unwrap_or_default())?);
                    length
                }
                _ => {
                    let length = rest.find(['*', '?', '[']).unwrap_or(rest.len());
                    tokens.push(Token::Literal(rest.as_bytes().get(..length).unwrap_or_default().into()));
                    length
                }
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(Self { tokens })
    }

    /// The only name that matches, if there is only one.
    pub(super) fn literal(&self) -> Option<&[u8]> {
        match self.tokens.as_slice() {
            [Token::Literal(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// The extension that every matching name has: what follows its last dot.
    pub(super) fn extension(&self) -> Option<&[u8]> {
        match self.tokens.last() {
            Some(Token::Literal(bytes)) => extension(bytes),
            Some(Token::One | Token::Many | Token::Class { .. }) | None => None,
        }
    }

    /// Whether the name matches.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        // The commonest forms first: a fixed name, and `*` with a fixed end.
        match self.tokens.as_slice() {
            [Token::Many] => return true,
            [Token::Literal(bytes)] => return **bytes == *name,
            [Token::Many, Token::Literal(end)] => return name.ends_with(end),
            _ => (),
        }
        let (mut tokens, mut rest) = (self.tokens.as_slice(), name);
        // Where to go on after a mismatch: behind the last star, which then takes one character more.
        let mut retry: Option<(&[Token], &[u8])> = None;
        loop {
            let stepped = match tokens.split_first() {
                Some((Token::Many, after)) => {
                    retry = Some((after, rest));
                    tokens = after;
                    continue;
                }
                Some((token, after)) => token.strip(rest).map(|rest| (after, rest)),
                None if rest.is_empty() => return true,
                None => None,
            };
            (tokens, rest) = match (stepped, retry) {
                (Some(stepped), _) => stepped,
                (None, Some((after, from))) => {
                    let Some(from) = strip_character(from) else { return false };
                    retry = Some((after, from));
                    (after, from)
                }
                (None, None) => return false,
            };
        }
    }
}

impl Token {
    /// What is left of `rest` after this token, if it matches at the front. A star is not asked.
    fn strip<'n>(&self, rest: &'n [u8]) -> Option<&'n [u8]> {
        match self {
            Self::Literal(bytes) => rest.strip_prefix(&**bytes),
            Self::One => strip_character(rest),
            Self::Many => Some(rest),
            Self::Class { negated, ranges } => {
                let after = strip_character(rest)?;
                let character = first_character(rest);
                let is_listed = character.is_some_and(|character| {
                    ranges.iter().any(|(from, until)| (*from..=*until).contains(&character))
                });
                (is_listed != *negated).then_some(after)
            }
        }
    }
}

/// What follows the last dot of a name.
pub(super) fn extension(name: &[u8]) -> Option<&[u8]> {
    memchr::memrchr(b'.', name).and_then(|dot| name.get(dot.saturating_add(1)..))
}

/// The first character, unless the name starts with a byte that is part of none.
fn first_character(name: &[u8]) -> Option<char> {
    // LIMIT: no character is longer than four bytes.
    let front = name.get(..4).unwrap_or(name);
    front.utf8_chunks().next()?.valid().chars().next()
}

/// The name without its first character, or without its first byte if that is part of none.
fn strip_character(name: &[u8]) -> Option<&[u8]> {
    let (first, after) = name.split_first()?;
    if first.is_ascii() {
        return Some(after);
    }
    name.get(first_character(name).map_or(1, char::len_utf8)..)
}

/// How long the class at the front of `text` is, brackets included; nothing if it never ends.
pub(super) fn class_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let inside = inside.strip_prefix(['!', '^']).unwrap_or(inside);
    // A `]` in first place is one of the characters.
    let inside = inside.strip_prefix(']').unwrap_or(inside);
    let after = inside.get(inside.find(']')?.saturating_add(1)..)?;
    text.len().checked_sub(after.len())
}

/// How long the part of `text` before the next slash outside brackets is.
pub(super) fn part_length(text: &str) -> usize {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '/' => break,
            '[' => class_length(rest).unwrap_or(1),
            _ => character.len_utf8(),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    text.len().saturating_sub(rest.len())
}

/// Reads what stands between the brackets.
fn parse_class(text: &str, inside: &str) -> Result<Token, Issue> {
    let stripped = inside.strip_prefix(['!', '^']);
    let negated = stripped.is_some();
    let mut characters = stripped.unwrap_or(inside).chars();
    let mut ranges = Vec::new();
    while let Some(from) = characters.next() {
        let mut ahead = characters.clone();
        let until = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(until)) => {
                characters = ahead;
                until
            }
            _ => from,
        };
        if from > until {
            return Err(syntax(
                format!("`{text}` has the range `{from}-{until}`, which is backwards"),
                "write the smaller character first, or `-` in last place",
            ));
        }
        if (from..=until).contains(&'/') && !negated {
            return Err(never(
                format!("`{text}` has a class with `/` in it"),
                "no name has a slash: write `{a/b,c}` for paths, and leave `/` out of the range",
            ));
        }
        ranges.push((from, until));
    }
    Ok(Token::Class { negated, ranges })
}

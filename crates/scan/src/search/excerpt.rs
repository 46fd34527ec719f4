//! The text around a match, made safe to show.

use alloc::{borrow::Cow, string::String, vec::Vec};

/// How many characters an excerpt has at most, counted as they are shown.
pub const EXCERPT_CHARS_MAX: usize = 200;

/// How many bytes on either side of a match are looked at: more than [`EXCERPT_CHARS_MAX`] characters can take.
pub(super) const CONTEXT_BYTES: usize = 1024;

/// A match and what stands around it on its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Where the match starts in the text, in characters.
    pub(super) match_start: u16,
    /// How much of the text it is, in characters.
    pub(super) match_length: u16,
}

impl Excerpt {
    /// Cuts the excerpt out of what stands before and after the match.
    pub(super) fn around(before: &[u8], matched: &[u8], after: &[u8]) -> Self {
        let before = before.get(before.len().saturating_sub(CONTEXT_BYTES)..).unwrap_or(before);
        let after = after.get(..CONTEXT_BYTES).unwrap_or(after);
        // The line that the match is on, without its indentation.
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at.saturating_add(1));
        let before = before.get(line_start..).unwrap_or_default().trim_ascii_start();
        let line_end = memchr::memchr(b'\n', after).unwrap_or(after.len());
        let after = after.get(..line_end).unwrap_or_default().trim_ascii_end();

        let matched = String::from_utf8_lossy(matched);
        let before = String::from_utf8_lossy(before);
        let after = String::from_utf8_lossy(after);
        let matched = fitting(matched.chars(), EXCERPT_CHARS_MAX);
        let room = EXCERPT_CHARS_MAX.saturating_sub(matched.width);
        // Half of what is left for each side; what one side does not need, the other gets.
        let after_need = fitting(after.chars(), room).width;
        let half = room.div_euclid(2);
        let before_room = if after_need < half { room.saturating_sub(after_need) } else { half };
        let before = fitting(before.chars().rev(), before_room);
        let after = fitting(after.chars(), room.saturating_sub(before.width));

        let mut text = String::with_capacity(EXCERPT_CHARS_MAX);
        let shown = before.characters.iter().rev().chain(&matched.characters).chain(&after.characters);
        shown.for_each(|character| push_shown(*character, &mut text));
        Self { text, match_start: narrow(before.width), match_length: narrow(matched.width) }
    }
}

/// Characters and how many characters they are shown with.
struct Fitting {
    characters: Vec<char>,
    width: usize,
}

/// As many characters from the front as fit into `room`.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> Fitting {
    let mut fitting = Fitting { characters: Vec::new(), width: 0 };
    for character in characters {
        let width = fitting.width.saturating_add(shown_width(character));
        if width > room {
            break;
        }
        fitting.width = width;
        fitting.characters.push(character);
    }
    fitting
}

/// The text with every character that could move a cursor, end a line or turn text around written out.
#[must_use]
pub fn escape_text(text: &str) -> Cow<'_, str> {
    if text.chars().all(|character| shown_width(character) == 1) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    text.chars().for_each(|character| push_shown(character, &mut shown));
    Cow::Owned(shown)
}

fn shown_width(character: char) -> usize {
    match character {
        '\n' | '\r' | '\t' => 2,
        _ if is_special(character) => character.escape_unicode().len(),
        _ => 1,
    }
}

fn push_shown(character: char, text: &mut String) {
    match character {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        _ if is_special(character) => text.extend(character.escape_unicode()),
        _ => text.push(character),
    }
}

/// Control characters, line and paragraph separators, and those that change the direction of text.
fn is_special(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}'
        )
}

fn narrow(chars: usize) -> u16 {
    u16::try_from(chars).unwrap_or(u16::MAX)
}

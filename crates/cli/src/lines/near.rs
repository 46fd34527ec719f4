//! A line that is JSON but for numbers that nobody keeps exactly, and halves of surrogate pairs.
//!
//! Servers write such lines: the largest integer of 64 bits stands in many a schema. What is in their place here has the same
//! length, so that places in the one text are places in the other; nothing is decided from what stands there.

use countersign_canon::{Json, canon_codes as codes};

/// The mark that stands for half of a surrogate pair.
pub(crate) const MARK: char = '\u{fffd}';

/// The text with marks for halves of pairs and zeros for such numbers; the strict reader says whether it is JSON now.
pub(crate) fn readable(line: &[u8]) -> Vec<u8> {
    let (mut text, mut rest) = (Vec::with_capacity(line.len()), line);
    while let Some(first) = rest.first() {
        let length = match first {
            b'"' => text_length(rest),
            b'-' | b'0'..=b'9' => rest.iter().take_while(|byte| is_of_number(**byte)).count(),
            _ => 1,
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        match first {
            b'"' => push_text(token, &mut text),
            b'-' | b'0'..=b'9' if is_inexact(token) => {
                text.push(b'0');
                text.extend(token.iter().skip(1).map(|_| b' '));
            }
            _ => text.extend_from_slice(token),
        }
        rest = after;
    }
    text
}

/// The line without some elements of an array in it: `text` is its readable form, `elements` the array's elements as read
/// from there. Everything else stays byte for byte.
pub(crate) fn without(
    line: &[u8],
    text: &[u8],
    elements: &[Json<'_>],
    is_out: &dyn Fn(&Json<'_>) -> bool,
) -> Option<String> {
    let place = |element: &Json<'_>| {
        let start = element.offset();
        Some((start, start.checked_add(value_length(text.get(start..)?))?))
    };
    let ((start, _), (_, end)) = (place(elements.first()?)?, place(elements.last()?)?);
    let mut kept = Vec::new();
    for element in elements.iter().filter(|element| !is_out(element)) {
        let (from, to) = place(element)?;
        kept.push(line.get(from..to)?);
    }
    let cut = [line.get(..start)?, &kept.join(&b','), line.get(end..)?].concat();
    String::from_utf8(cut).ok()
}

/// How long the value is at the start of a text that is JSON.
fn value_length(text: &[u8]) -> usize {
    let (mut length, mut depth) = (0_usize, 0_usize);
    while let Some(rest) = text.get(length..).filter(|rest| !rest.is_empty()) {
        let step = match rest.first() {
            Some(b'"') => text_length(rest),
            Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') if depth == 0 => return length,
            _ => 1,
        };
        match rest.first() {
            Some(b'{' | b'[') => depth = depth.saturating_add(1),
            Some(b'}' | b']') => depth = depth.saturating_sub(1),
            _ => (),
        }
        length = length.saturating_add(step);
    }
    length
}

/// How long the text is that starts here, with its quotes.
fn text_length(rest: &[u8]) -> usize {
    let mut is_escaped = false;
    let end = rest.iter().skip(1).position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(rest.len(), |end| end.saturating_add(2))
}

/// The text with its halves of pairs marked.
fn push_text(token: &[u8], text: &mut Vec<u8>) {
    let mut rest = token;
    while let Some(first) = rest.first() {
        let (length, is_half) = match (first, unit(rest), rest.get(6..).and_then(unit)) {
            (_, Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (12, false),
            (_, Some(0xD800..0xE000), _) => (6, true),
            (b'\\', _, _) => (2, false),
            _ => (1, false),
        };
        let (token, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        text.extend_from_slice(if is_half { b"\\ufffd" } else { token });
        rest = after;
    }
}

/// The code unit that is escaped here.
fn unit(rest: &[u8]) -> Option<u32> {
    let digits = rest.get(..6)?.strip_prefix(b"\\u")?;
    let digits = str::from_utf8(digits).ok().filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

const fn is_of_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
}

/// Whether this is a number, and none that is kept exactly.
fn is_inexact(token: &[u8]) -> bool {
    let inexact = [
        codes::JSON_INTEGER_RANGE,
        codes::JSON_NUMBER_AMBIGUOUS,
        codes::JSON_NUMBER_OVERFLOW,
        codes::JSON_NUMBER_UNDERFLOW,
    ];
    Json::parse(token).is_err_and(|issue| inexact.contains(&issue.code))
}

#[cfg(test)]
mod tests;

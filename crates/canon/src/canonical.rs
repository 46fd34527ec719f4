//! The one canonicaliser: RFC 8785, and an indented view of the same order for people.

use alloc::{string::String, vec::Vec};

use crate::{Json, Member, Object, Value, json::utf16_order};

/// How many bytes most documents need, so that their text grows in place.
pub(crate) const ROOM: usize = 1024;

impl Json<'_> {
    /// The canonical spelling: no space, sorted keys, shortest numbers.
    #[must_use]
    pub fn to_canonical(&self) -> String {
        let mut out = String::with_capacity(match &self.value {
            Value::Array(_) | Value::Object(_) => ROOM,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        });
        self.write_canonical(&mut out);
        out
    }

    /// Appends the canonical spelling.
    pub fn write_canonical(&self, out: &mut String) {
        match &self.value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(number) => number.print(out),
            Value::String(text) => spell_text(text, out),
            Value::Array(items) => write_list(items, ['[', ']'], out, Self::write_canonical),
            Value::Object(object) => object.write_canonical(out),
        }
    }

    /// The canonical spelling without the members at these places, each a path of keys from the document down: what a
    /// checksum covers that stands in the document itself.
    #[must_use]
    pub fn to_canonical_without(&self, left_out: &[&[&str]]) -> String {
        let mut out = String::new();
        self.write_canonical_without(left_out, &mut out);
        out
    }

    /// The canonical spelling without the document's own member of one name, and without any member, however deep, of
    /// some others.
    #[must_use]
    pub fn to_canonical_unnamed(&self, own: &str, anywhere: &[&str]) -> String {
        let mut out = String::new();
        self.write_canonical_unnamed(Some(own), anywhere, &mut out);
        out
    }

    fn write_canonical_unnamed(&self, own: Option<&str>, anywhere: &[&str], out: &mut String) {
        match &self.value {
            Value::Array(items) => write_list(items, ['[', ']'], out, |item, out| {
                item.write_canonical_unnamed(None, anywhere, out);
            }),
            Value::Object(Object { members }) => {
                let is_left_out = |key: &str| own == Some(key) || anywhere.contains(&key);
                let kept = members.iter().filter(|member| !is_left_out(&member.key));
                write_list(kept, ['{', '}'], out, |member, out| {
                    spell_text(&member.key, out);
                    out.push(':');
                    member.value.write_canonical_unnamed(None, anywhere, out);
                });
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.write_canonical(out),
        }
    }

    fn write_canonical_without(&self, left_out: &[&[&str]], out: &mut String) {
        let (Value::Object(Object { members }), false) = (&self.value, left_out.is_empty()) else {
            return self.write_canonical(out);
        };
        out.push('{');
        let mut is_first = true;
        for member in members {
            let below: Vec<&[&str]> = left_out
                .iter()
                .filter_map(|path| path.split_first().filter(|(key, _)| **key == member.key))
                .map(|(_, rest)| rest)
                .collect();
            if below.iter().any(|rest| rest.is_empty()) {
                continue;
            }
            if !is_first {
                out.push(',');
            }
            is_first = false;
            spell_text(&member.key, out);
            out.push(':');
            member.value.write_canonical_without(&below, out);
        }
        out.push('}');
    }

    /// The same order and spelling, indented by two spaces, with a final line break: for files people read.
    #[must_use]
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        self.write_pretty(0, &mut out);
        out.push('\n');
        out
    }

    fn write_pretty(&self, depth: usize, out: &mut String) {
        let inner = depth.saturating_add(1);
        match &self.value {
            Value::Array(items) if !items.is_empty() => {
                write_lines(items, ['[', ']'], depth, out, |item, out| {
                    item.write_pretty(inner, out);
                })
            }
            Value::Object(Object { members }) if !members.is_empty() => {
                write_lines(members, ['{', '}'], depth, out, |member, out| {
                    spell_text(&member.key, out);
                    out.push_str(": ");
                    member.value.write_pretty(inner, out);
                });
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => self.write_canonical(out),
        }
    }
}

impl Object<'_> {
    /// Appends the canonical spelling.
    pub fn write_canonical(&self, out: &mut String) {
        write_members(&self.members, out);
    }

    /// Appends the canonical spelling of one object with the members of this one and of another, which has other keys.
    pub fn write_canonical_with(&self, other: &Object<'_>, out: &mut String) {
        let (mut left, mut right) = (self.members.iter().peekable(), other.members.iter().peekable());
        let in_order = core::iter::from_fn(|| match (left.peek(), right.peek()) {
            (Some(one), Some(another)) if utf16_order(&one.key, &another.key).is_gt() => right.next(),
            (Some(_), _) => left.next(),
            (None, _) => right.next(),
        });
        write_members(in_order, out);
    }
}

fn write_members<'m>(members: impl IntoIterator<Item = &'m Member<'m>>, out: &mut String) {
    write_list(members, ['{', '}'], out, |member, out| {
        spell_text(&member.key, out);
        out.push(':');
        member.value.write_canonical(out);
    });
}

pub(crate) fn write_list<T>(
    items: impl IntoIterator<Item = T>,
    [open, close]: [char; 2],
    out: &mut String,
    write: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

fn write_lines<T>(
    items: &[T],
    [open, close]: [char; 2],
    depth: usize,
    out: &mut String,
    write: impl Fn(&T, &mut String),
) {
    let break_line = |depth: usize, out: &mut String| {
        out.push('\n');
        out.extend(core::iter::repeat_n("  ", depth));
    };
    out.push(open);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        break_line(depth.saturating_add(1), out);
        write(item, out);
    }
    break_line(depth, out);
    out.push(close);
}

/// Appends an array of strings.
pub fn spell_texts<'t>(texts: impl IntoIterator<Item = &'t str>, out: &mut String) {
    write_list(texts, ['[', ']'], out, spell_text);
}

/// Appends a string with only the escapes that RFC 8785 requires.
pub fn spell_text(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some((plain, special, after)) = split_at_special(rest) {
        out.push_str(plain);
        write_escape(special, out);
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// Splits before and after the first character that must be escaped.
fn split_at_special(text: &str) -> Option<(&str, u8, &str)> {
    let at = crate::parse::plain_length(text.as_bytes());
    let special = *text.as_bytes().get(at)?;
    Some((text.get(..at)?, special, text.get(at.saturating_add(1)..)?))
}

fn write_escape(byte: u8, out: &mut String) {
    match byte {
        b'"' => out.push_str("\\\""),
        b'\\' => out.push_str("\\\\"),
        0x8 => out.push_str("\\b"),
        b'\t' => out.push_str("\\t"),
        b'\n' => out.push_str("\\n"),
        0xC => out.push_str("\\f"),
        b'\r' => out.push_str("\\r"),
        _ => {
            let digits: Vec<char> = [byte >> 4, byte & 0xF]
                .iter()
                .filter_map(|&nibble| char::from_digit(u32::from(nibble), 16))
                .collect();
            out.push_str("\\u00");
            out.extend(digits);
        }
    }
}

//! One member of an object in canonical JSON, found without reading what the others hold.

/// The text of the member with this key of an object in canonical JSON; nothing if there is none. What comes before it is
/// stepped over, what follows it not looked at: for texts that this program wrote, of which little is needed.
///
/// # Examples
///
/// ```
/// use countersign_canon::member_text;
///
/// assert_eq!(member_text(r#"{"a":{"b":"}"},"b":[1,2],"c":3}"#, "b"), Some("[1,2]"));
/// assert_eq!(member_text(r#"{"a":{"b":1}}"#, "b"), None);
/// ```
#[must_use]
pub fn member_text<'t>(canonical: &'t str, key: &str) -> Option<&'t str> {
    let mut rest = canonical.strip_prefix('{')?;
    loop {
        let (name, after) = split_value(rest)?;
        let (value, after) = split_value(after.strip_prefix(':')?)?;
        if name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) == Some(key) {
            return Some(value);
        }
        rest = after.strip_prefix(',')?;
    }
}

/// The value that a text starts with, and what follows it.
fn split_value(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => (),
            b'{' | b'[' => depth = depth.saturating_add(1),
            // The end of what this value stands in.
            b'}' | b']' | b',' | b':' if depth == 0 => return text.split_at_checked(at),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    None
}

#[cfg(test)]
mod tests;

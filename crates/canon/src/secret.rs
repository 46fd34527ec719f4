//! Secrets in documents, taken out of what people are shown; hashes are always over the document itself.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use crate::{Json, Value, payload::plain_key};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// What names of secrets end with, with case, `-` and `_` taken out.
const NAMES: [&str; 16] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "connectionstring",
];

/// What secrets of well-known issuers, and our own tokens, begin with.
const PREFIXES: [&str; 15] = [
    "cs_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "xoxb-",
    "xoxp-",
    "npm_",
    "AKIA",
    "AIza",
    "eyJ",
];

/// LIMIT: a word that only begins like a secret has fewer characters.
const SECRET_CHARACTERS_MIN: usize = 16;

/// What words of a text stand between.
const SEPARATORS: [char; 19] =
    [' ', '\t', '\n', '\r', '"', '\'', '`', ',', ';', '(', ')', '{', '}', '[', ']', '&', '?', '|', '\\'];

/// The same document with its secrets taken out: what stands under the name of a secret, and what looks like one.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Json, redact_secrets};
///
/// let payload = Json::parse(br#"{"command": "login --token hunter2", "db_password": "x", "max_tokens": 5}"#)?;
/// assert_eq!(
///     redact_secrets(&payload).to_canonical(),
///     r#"{"command":"login --token [redacted]","db_password":"[redacted]","max_tokens":5}"#,
/// );
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[must_use]
pub fn redact_secrets(document: &Json<'_>) -> Json<'static> {
    redact(document, false)
}

/// Recursion is bounded: a parsed document is at most `DEPTH_MAX` deep.
fn redact(json: &Json<'_>, is_secret: bool) -> Json<'static> {
    match &json.value {
        Value::String(_) if is_secret => Json::from(REDACTED),
        Value::String(text) => Json::from(redact_text(text)),
        Value::Array(items) => Json::array(items.iter().map(|item| redact(item, is_secret))),
        Value::Object(object) => {
            let members = object.members().iter();
            Json::object(members.map(|member| {
                let is_secret = is_secret || is_secret_name(&member.key);
                (member.key.to_string(), redact(&member.value, is_secret))
            }))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => json.clone().into_owned(),
    }
}

fn is_secret_name(key: &str) -> bool {
    let plain = plain_key(key);
    NAMES.iter().any(|name| plain.ends_with(name))
}

/// What the words before say about the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Anything,
    /// A secret, if a colon or an equals sign comes first.
    Separator,
    Secret,
}

fn redact_text(text: &str) -> String {
    let text = without_private_keys(text);
    let mut shown = String::with_capacity(text.len());
    let mut expected = Expected::Anything;
    for piece in text.split_inclusive(SEPARATORS) {
        let word = piece.trim_end_matches(SEPARATORS);
        if !word.is_empty() {
            let (word, next) = redact_word(word, expected);
            shown.push_str(&word);
            expected = next;
        }
        shown.push_str(piece.strip_prefix(word).unwrap_or_default());
    }
    shown
}

fn redact_word(word: &str, expected: Expected) -> (String, Expected) {
    let as_it_is = |next: Expected| (word.to_owned(), next);
    let is_scheme = ["bearer", "basic", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    match expected {
        Expected::Secret if is_scheme => return as_it_is(Expected::Secret),
        Expected::Secret => return (REDACTED.to_owned(), Expected::Anything),
        Expected::Separator if matches!(word, ":" | "=" | ":=") => return as_it_is(Expected::Secret),
        Expected::Separator | Expected::Anything => (),
    }
    if looks_like_a_secret(word) {
        return (REDACTED.to_owned(), Expected::Anything);
    }
    if let Some(at) = word.find(['=', ':'])
        && let (Some(name), Some(value)) = (word.get(..at), word.get(at.saturating_add(1)..))
        && is_secret_name(name)
    {
        let sign = word.get(at..at.saturating_add(1)).unwrap_or_default();
        return match value {
            "" => as_it_is(Expected::Secret),
            _ => (format!("{name}{sign}{REDACTED}"), Expected::Anything),
        };
    }
    if is_secret_name(word) {
        let is_option = word.starts_with('-');
        return as_it_is(if is_option { Expected::Secret } else { Expected::Separator });
    }
    (without_password(word), Expected::Anything)
}

fn looks_like_a_secret(word: &str) -> bool {
    let is_long = word.chars().count() >= SECRET_CHARACTERS_MIN;
    let is_plain =
        word.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character));
    is_long && is_plain && PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// An address without the password that it may hold: `scheme://user:password@host`.
fn without_password(word: &str) -> String {
    let found = word.split_once("://").and_then(|(scheme, rest)| {
        let authority = rest.split('/').next().unwrap_or_default();
        let (user, _) = authority.rsplit_once('@')?;
        let (name, _) = user.split_once(':')?;
        let after = rest.strip_prefix(user)?;
        Some(format!("{scheme}://{name}:{REDACTED}{after}"))
    });
    found.unwrap_or_else(|| word.to_owned())
}

/// The text without the private keys in it, from the line that begins one to the line that ends it, or to the end.
fn without_private_keys(text: &str) -> String {
    const MARK: &str = "PRIVATE KEY-----";
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find("-----BEGIN ").filter(|_| rest.contains(MARK)) {
        let (before, from) = rest.split_at(begin);
        shown.push_str(before);
        shown.push_str(REDACTED);
        let ends = from.split_once("-----END ").and_then(|(_, after)| after.split_once("-----"));
        rest = ends.map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests;

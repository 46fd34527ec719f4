//! JSON as data: values that remember where they stood.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::cmp::Ordering;

use crate::{Code, Number};

/// A JSON value and the place it was read from.
///
/// Two values are equal when they mean the same, wherever they stood.
#[derive(Debug, Clone)]
pub struct Json<'a> {
    /// What it is.
    pub value: Value<'a>,
    // Byte offset into the text it was parsed from; 0 for values made by code.
    // LIMIT: u32 keeps a value at 32 bytes; DOCUMENT_BYTES_MAX is far below.
    pub(crate) at: u32,
}

/// What a JSON value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number of the profile.
    Number(Number),
    /// A string, borrowed from the text when it has no escapes.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Object<'a>),
}

/// One key with its value.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// The key.
    pub key: Cow<'a, str>,
    /// The value.
    pub value: Json<'a>,
    pub(crate) key_at: u32,
}

/// An object's members, in canonical order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object<'a> {
    // INVARIANT: sorted by UTF-16 code units of the key; keys are unique.
    pub(crate) members: Vec<Member<'a>>,
}

impl<'a> Json<'a> {
    /// An object of these members; of two with one key the last stays.
    pub fn object<K: Into<Cow<'a, str>>>(members: impl IntoIterator<Item = (K, Json<'a>)>) -> Self {
        Self::object_of(members.into_iter().map(|(key, value)| Member::new(key, 0, value)))
    }

    /// An object of members that know their places; of two with one key the last stays.
    pub fn object_of(members: impl IntoIterator<Item = Member<'a>>) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.reverse();
        members.sort_by(|a, b| utf16_order(&a.key, &b.key));
        members.dedup_by(|later, kept| later.key == kept.key);
        Value::Object(Object { members }).into()
    }

    /// An array of these values.
    pub fn array<T: Into<Json<'a>>>(items: impl IntoIterator<Item = T>) -> Self {
        Value::Array(items.into_iter().map(Into::into).collect()).into()
    }

    /// The same value, read from this byte of a text in another syntax.
    #[must_use]
    pub fn with_offset(mut self, offset: usize) -> Self {
        self.at = u32::try_from(offset).unwrap_or(u32::MAX);
        self
    }

    /// The byte offset it was read from; zero for a value made by code.
    #[must_use]
    pub fn offset(&self) -> usize {
        usize::try_from(self.at).unwrap_or(usize::MAX)
    }

    /// The name of its JSON type, with its article: `a string`, `an object`, `null`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }

    /// The text, if it is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Value::String(text) = &self.value { Some(text) } else { None }
    }

    /// The elements, if it is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json<'a>]> {
        if let Value::Array(items) = &self.value { Some(items) } else { None }
    }

    /// The members, if it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object<'a>> {
        if let Value::Object(object) = &self.value { Some(object) } else { None }
    }

    /// The number, if it is one.
    #[must_use]
    pub fn as_number(&self) -> Option<Number> {
        if let Value::Number(number) = &self.value { Some(*number) } else { None }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = &self.value { Some(*truth) } else { None }
    }

    /// The value under this key, if it is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.as_object().and_then(|object| object.get(key))
    }

    /// The same value, owning all its text.
    #[must_use]
    pub fn into_owned(self) -> Json<'static> {
        let value = match self.value {
            Value::Null => Value::Null,
            Value::Bool(truth) => Value::Bool(truth),
            Value::Number(number) => Value::Number(number),
            Value::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Value::Array(items) => Value::Array(items.into_iter().map(Json::into_owned).collect()),
            Value::Object(object) => Value::Object(Object {
                members: object
                    .members
                    .into_iter()
                    .map(|Member { key, value, key_at }| Member {
                        key: Cow::Owned(key.into_owned()),
                        value: value.into_owned(),
                        key_at,
                    })
                    .collect(),
            }),
        };
        Json { value, at: self.at }
    }
}

impl<'a> Object<'a> {
    /// The members in canonical order.
    #[must_use]
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// The value under this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json<'a>> {
        let index = self.members.binary_search_by(|member| utf16_order(&member.key, key)).ok()?;
        self.members.get(index).map(|member| &member.value)
    }

    /// The same object with `key` at this value, whatever it had there.
    #[must_use]
    pub fn with(self, key: impl Into<Cow<'a, str>>, value: Json<'a>) -> Self {
        let key = key.into();
        let mut members = self.without(&key).members;
        let index = members.partition_point(|member| utf16_order(&member.key, &key) == Ordering::Less);
        members.insert(index, Member::new(key, 0, value));
        Self { members }
    }

    /// The same object with `key` taken out, if it was there.
    #[must_use]
    pub fn without(mut self, key: &str) -> Self {
        self.members.retain(|member| member.key != key);
        self
    }
}

impl<'a> Member<'a> {
    /// A key that was read from this byte, with its value.
    pub fn new(key: impl Into<Cow<'a, str>>, key_offset: usize, value: Json<'a>) -> Self {
        Self { key: key.into(), value, key_at: u32::try_from(key_offset).unwrap_or(u32::MAX) }
    }

    /// The byte offset of the key.
    #[must_use]
    pub fn key_offset(&self) -> usize {
        usize::try_from(self.key_at).unwrap_or(usize::MAX)
    }
}

/// Compares two texts by UTF-16 code units, the key order of RFC 8785.
///
/// That is byte order of UTF-8, except that U+10000 and above (first byte F0 to F4) sort below U+E000 to U+FFFF
/// (first byte EE or EF). Where two texts first differ, both bytes start a character or neither does.
pub(crate) fn utf16_order(a: &str, b: &str) -> Ordering {
    let differing = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
    match differing {
        None => a.len().cmp(&b.len()),
        Some((a, b)) => match (a >= 0xF0, b >= 0xF0) {
            (true, false) if b >= 0xEE => Ordering::Less,
            (false, true) if a >= 0xEE => Ordering::Greater,
            (true | false, true | false) => a.cmp(&b),
        },
    }
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialEq for Member<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.value == other.value
    }
}

impl<'a> From<Value<'a>> for Json<'a> {
    fn from(value: Value<'a>) -> Self {
        Self { value, at: 0 }
    }
}

impl From<bool> for Json<'_> {
    fn from(truth: bool) -> Self {
        Value::Bool(truth).into()
    }
}

impl From<Number> for Json<'_> {
    fn from(number: Number) -> Self {
        Value::Number(number).into()
    }
}

impl From<u32> for Json<'_> {
    fn from(number: u32) -> Self {
        Value::Number(Number::from(number)).into()
    }
}

impl From<String> for Json<'_> {
    fn from(text: String) -> Self {
        Value::String(Cow::Owned(text)).into()
    }
}

impl<'a> From<&'a str> for Json<'a> {
    fn from(text: &'a str) -> Self {
        Value::String(Cow::Borrowed(text)).into()
    }
}

impl From<Code> for Json<'_> {
    fn from(code: Code) -> Self {
        Value::String(Cow::Borrowed(code.as_str())).into()
    }
}

impl<'a> From<Vec<Json<'a>>> for Json<'a> {
    fn from(items: Vec<Json<'a>>) -> Self {
        Value::Array(items).into()
    }
}

//! Documents as types: one declaration reads JSON, writes it and says its schema.
//!
//! Reading gathers every problem of a document instead of stopping at the first. A constraint is a type that
//! carries parser and schema together; there are no constraint attributes that one of the two could ignore.

use alloc::{collections::BTreeSet, format, string::String, sync::Arc, vec::Vec};
use core::ops::Deref;

use crate::{
    Code, Definitions, Issue, Issues, Json, NonEmpty, Object, Pointer, Value,
    canonical::{ROOM, spell_text, write_list},
    code::codes,
    nearest,
    pointer::Trail,
};

/// A type that stands in documents.
pub trait Wire: Sized {
    /// Whether an object may leave out a field of this type.
    const IS_OPTIONAL: bool = false;

    /// Reads the value, or notes what is wrong with it and returns nothing.
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self>;

    /// The value as JSON.
    fn write(&self) -> Json<'static>;

    /// The JSON Schema that accepts what [`Wire::read`] does.
    fn schema(definitions: &mut Definitions) -> Json<'static>;

    /// The value of a field that is not there; nothing if it must be.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether an object leaves out a member with this value.
    fn is_left_out(&self) -> bool {
        false
    }

    /// Appends the canonical spelling of what [`Wire::write`] gives; a type that is written often does so without
    /// making those values first.
    fn spell(&self, out: &mut String) {
        self.write().write_canonical(out);
    }

    /// The canonical spelling.
    fn to_canonical(&self) -> String {
        let mut out = String::with_capacity(ROOM);
        self.spell(&mut out);
        debug_assert_eq!(out, self.write().to_canonical(), "there is one spelling");
        out
    }
}

/// Text that can be an object's key: made by [`checked_name!`](crate::checked_name) and [`choice!`](crate::choice).
pub trait Name: Sized + Ord {
    /// Checks the text and takes it as a name.
    ///
    /// # Errors
    ///
    /// Fails if it is not one.
    fn parse_name(text: &str) -> Result<Self, Issue>;
    /// The name as text.
    fn as_name(&self) -> &str;
    /// The anchored regular expression of such names.
    fn pattern() -> String;
}

/// Where a document is being read, and what was wrong with it so far.
#[derive(Debug)]
pub struct Reader {
    family: Code,
    trail: Trail,
    issues: Issues,
}

impl Reader {
    /// Reads a whole document: parses the bytes, then reads the type; every issue carries the code `family`, and the
    /// narrower code as its cause.
    ///
    /// # Errors
    ///
    /// Fails with all issues, in document order.
    pub fn read_document<T: Wire>(bytes: &[u8], family: Code) -> Result<T, NonEmpty<Issue>> {
        let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(family)))?;
        Self::read_json(&json, family)
    }

    /// Reads a document that is parsed already.
    ///
    /// # Errors
    ///
    /// Fails with all issues, in document order.
    pub fn read_json<T: Wire>(json: &Json<'_>, family: Code) -> Result<T, NonEmpty<Issue>> {
        let mut reader = Self { family, trail: Trail::default(), issues: Issues::new() };
        let document = T::read(json, &mut reader);
        match (document, NonEmpty::new(reader.issues.into_sorted())) {
            (Some(document), None) => Ok(document),
            (_, Some(issues)) => Err(issues),
            // A `read` that returns nothing must say why; say so rather than let it through.
            (None, None) => Err(NonEmpty::of(Issue::new(family, "the document could not be read"))),
        }
    }

    /// Reads a document that is parsed already, and adds what rules found that look at the document as it stands.
    /// Where a rule speaks, the form keeps silent, but for a field that is missing.
    ///
    /// # Errors
    ///
    /// Fails with all issues, in document order.
    pub fn read_ruled<T: Wire>(json: &Json<'_>, family: Code, rules: Issues) -> Result<T, NonEmpty<Issue>> {
        let rules = rules.into_sorted();
        let said: BTreeSet<&Pointer> = rules.iter().map(|issue| &issue.pointer).collect();
        let (document, form) = match Self::read_json::<T>(json, family) {
            Ok(document) => (Some(document), Vec::new()),
            Err(issues) => (None, issues.into_vec()),
        };
        let is_said =
            |issue: &Issue| issue.cause != Some(codes::WIRE_MISSING_FIELD) && said.contains(&issue.pointer);
        let mut all = Issues::new();
        all.extend(form.into_iter().filter(|issue| !is_said(issue)));
        all.extend(rules.iter().cloned());
        match (document, NonEmpty::new(all.into_sorted())) {
            (Some(document), None) => Ok(document),
            (_, Some(issues)) => Err(issues),
            (None, None) => Err(NonEmpty::of(Issue::new(family, "the document could not be read"))),
        }
    }

    /// The place that is being read.
    #[must_use]
    pub fn pointer(&self) -> Pointer {
        self.trail.pointer()
    }

    /// Notes an issue of this value, at its place and in the reader's family.
    pub fn refuse(&mut self, json: &Json<'_>, issue: Issue) {
        self.refuse_at(json.offset(), issue);
    }

    pub(crate) fn refuse_at(&mut self, offset: usize, issue: Issue) {
        let issue = issue.under(self.family);
        self.issues.push(issue.with_pointer(self.pointer()).with_offset(offset));
    }

    /// Notes an issue that is complete: its own code, place and offset.
    pub fn refuse_as_is(&mut self, issue: Issue) {
        self.issues.push(issue);
    }

    /// Notes that the value has the wrong type.
    pub fn wrong_type(&mut self, json: &Json<'_>, expected: &str) {
        self.refuse(
            json,
            Issue::new(codes::WIRE_TYPE, format!("found {}", json.type_name())).with_expected(expected),
        );
    }

    /// Reads a text through a checking function.
    pub fn text<T>(&mut self, json: &Json<'_>, parse: impl FnOnce(&str) -> Result<T, Issue>) -> Option<T> {
        let Some(text) = json.as_str() else {
            self.wrong_type(json, "a string");
            return None;
        };
        parse(text).map_err(|issue| self.refuse(json, issue)).ok()
    }

    /// Takes the value as an object that has no fields but these.
    pub fn closed_object<'j, 'a>(&mut self, json: &'j Json<'a>, fields: &[&str]) -> Option<&'j Object<'a>> {
        let object = self.object(json)?;
        for member in object.members().iter().filter(|member| !fields.contains(&member.key.as_ref())) {
            let mut issue = Issue::new(codes::WIRE_UNKNOWN_FIELD, format!("unknown field `{}`", member.key))
                .with_expected(format!("one of {}", fields.join(", ")));
            if let Some(meant) = nearest(&member.key, fields.iter().copied()) {
                issue = issue.with_hint(format!("did you mean `{meant}`?"));
            }
            self.trail.push_key(&member.key);
            self.refuse_at(member.key_offset(), issue);
            self.trail.pop();
        }
        Some(object)
    }

    /// Takes the value as an object.
    pub fn object<'j, 'a>(&mut self, json: &'j Json<'a>) -> Option<&'j Object<'a>> {
        let object = json.as_object();
        if object.is_none() {
            self.wrong_type(json, "an object");
        }
        object
    }

    /// Takes the value as an array.
    pub fn array<'j, 'a>(&mut self, json: &'j Json<'a>) -> Option<&'j [Json<'a>]> {
        let array = json.as_array();
        if array.is_none() {
            self.wrong_type(json, "an array");
        }
        array
    }

    /// Reads the field `key` of the object `json`, or notes that it is missing.
    pub fn field<T: Wire>(&mut self, json: &Json<'_>, key: &str) -> Option<T> {
        match json.get(key) {
            Some(value) => self.at_key(key, |reader| T::read(value, reader)),
            None => T::absent().or_else(|| {
                let issue = Issue::new(codes::WIRE_MISSING_FIELD, format!("the field `{key}` is missing"));
                self.refuse(json, issue);
                None
            }),
        }
    }

    /// Reads something at the member `key`.
    pub fn at_key<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push_key(key);
        let value = read(self);
        self.trail.pop();
        value
    }

    /// Reads something at the element `index`.
    pub fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push_index(index);
        let value = read(self);
        self.trail.pop();
        value
    }

    /// Notes that something counts `found`, outside `min..=max`.
    fn check_bounds(
        &mut self,
        json: &Json<'_>,
        found: usize,
        unit: &str,
        min: usize,
        max: usize,
    ) -> Option<()> {
        if (min..=max).contains(&found) {
            return Some(());
        }
        let expected = match (min, max) {
            (min, usize::MAX) => format!("at least {min}"),
            (min, max) => format!("{min} to {max}"),
        };
        self.refuse(
            json,
            Issue::new(codes::WIRE_BOUNDS, format!("found {found} {unit}")).with_expected(expected),
        );
        None
    }

    /// Reads the elements of an array; nothing if one of them is wrong, but all of them are looked at.
    fn items<T: Wire>(&mut self, json: &Json<'_>, min: usize, max: usize) -> Option<Vec<T>> {
        let items = self.array(json)?;
        let bounds = self.check_bounds(json, items.len(), "elements", min, max);
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| self.at_index(index, |reader| T::read(item, reader)))
            .collect();
        bounds.and(read.into_iter().collect())
    }
}

/// A number for a schema; bounds beyond the profile are not written down.
fn bound(value: usize) -> Option<Json<'static>> {
    i64::try_from(value).ok().and_then(crate::Number::from_i64).map(Json::from)
}

/// A schema with these members and, where they say something, a lower and an upper bound.
fn bounded_schema<const N: usize>(
    base: [(&'static str, Json<'static>); N],
    (lower, min): (&'static str, usize),
    (upper, max): (&'static str, usize),
) -> Json<'static> {
    let lower = (min > 0).then(|| bound(min)).flatten().map(|value| (lower, value));
    let upper = (max < usize::MAX).then(|| bound(max)).flatten().map(|value| (upper, value));
    Json::object(base.into_iter().chain(lower).chain(upper))
}

fn spell_list<'t, T: Wire + 't>(items: impl IntoIterator<Item = &'t T>, out: &mut String) {
    write_list(items, ['[', ']'], out, T::spell);
}

fn list_schema<T: Wire>(definitions: &mut Definitions, min: usize, max: usize) -> Json<'static> {
    let base = [("type", Json::from("array")), ("items", T::schema(definitions))];
    bounded_schema(base, ("minItems", min), ("maxItems", max))
}

/// A list of `MIN` to `MAX` elements.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> List<T, MIN, MAX> {
    /// The list, if it has the right length.
    #[must_use]
    pub fn new(items: Vec<T>) -> Option<Self> {
        (MIN..=MAX).contains(&items.len()).then_some(Self(items))
    }

    /// The elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T, const MAX: usize> Default for List<T, 0, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for List<T, MIN, MAX> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Wire, const MIN: usize, const MAX: usize> Wire for List<T, MIN, MAX> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.items(json, MIN, MAX).map(Self)
    }

    fn write(&self) -> Json<'static> {
        Json::array(self.0.iter().map(Wire::write))
    }

    fn spell(&self, out: &mut String) {
        spell_list(&self.0, out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        list_schema::<T>(definitions, MIN, MAX)
    }
}

impl<T: Wire> Wire for NonEmpty<T> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.items(json, 1, usize::MAX).and_then(Self::new)
    }

    fn write(&self) -> Json<'static> {
        Json::array(self.iter().map(Wire::write))
    }

    fn spell(&self, out: &mut String) {
        spell_list(self.iter(), out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        list_schema::<T>(definitions, 1, usize::MAX)
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.items(json, 0, usize::MAX)
    }

    fn write(&self) -> Json<'static> {
        Json::array(self.iter().map(Wire::write))
    }

    fn spell(&self, out: &mut String) {
        spell_list(self, out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        list_schema::<T>(definitions, 0, usize::MAX)
    }
}

/// A text of `MIN` to `MAX` characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<const MIN: usize, const MAX: usize>(
    // Shared: texts are copied more often than they are made.
    Arc<str>,
);

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// The text, if it has the right length.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        (MIN..=MAX).contains(&text.chars().count()).then(|| Self(text.into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Text<0, MAX> {
    /// The text, or as many characters from its front as fit.
    #[must_use]
    pub fn cut(text: &str) -> Self {
        Self(text.chars().take(MAX).collect::<String>().into())
    }
}

impl<const MIN: usize, const MAX: usize> Wire for Text<MIN, MAX> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let text = String::read(json, reader)?;
        reader.check_bounds(json, text.chars().count(), "characters", MIN, MAX)?;
        Some(Self(text.into()))
    }

    fn write(&self) -> Json<'static> {
        Json::from(String::from(self.as_str()))
    }

    fn spell(&self, out: &mut String) {
        spell_text(&self.0, out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        bounded_schema([("type", Json::from("string"))], ("minLength", MIN), ("maxLength", MAX))
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Within<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Within<MIN, MAX> {
    /// The number, if it is in range.
    #[must_use]
    pub fn new(value: i64) -> Option<Self> {
        (MIN..=MAX).contains(&value).then_some(Self(value))
    }

    /// The number, or the bound that is nearest to it.
    #[must_use]
    pub fn clamped(value: i64) -> Self {
        Self(value.max(MIN).min(MAX))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl<const MIN: i64, const MAX: i64> Wire for Within<MIN, MAX> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let Some(number) = json.as_number() else {
            reader.wrong_type(json, "a whole number");
            return None;
        };
        let value = number.as_i64().and_then(Self::new);
        if value.is_none() {
            let issue = Issue::new(codes::WIRE_BOUNDS, format!("found {number}"));
            reader.refuse(json, issue.with_expected(format!("a whole number from {MIN} to {MAX}")));
        }
        value
    }

    fn write(&self) -> Json<'static> {
        crate::Number::from_i64(self.0).map_or_else(|| Json::from(Value::Null), Json::from)
    }

    fn spell(&self, out: &mut String) {
        match crate::Number::from_i64(self.0) {
            Some(number) => number.print(out),
            None => out.push_str("null"),
        }
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        let bounds = [("minimum", MIN), ("maximum", MAX)];
        let bounds =
            bounds.into_iter().filter_map(|(key, value)| Some((key, crate::Number::from_i64(value)?.into())));
        Json::object([("type", Json::from("integer"))].into_iter().chain(bounds))
    }
}

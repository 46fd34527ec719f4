//! How plain values stand in documents: texts, truths, instants, hashes, paths, options and maps.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use crate::{
    Definitions, Json, Name, Object, Reader, RepoPath, Sha256, Timestamp, Value, Wire, pattern_schema,
    spell_text,
};

impl Wire for String {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, |text| Ok(text.into()))
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.clone())
    }

    fn spell(&self, out: &mut String) {
        spell_text(self, out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object([("type", Json::from("string"))])
    }
}

impl Wire for bool {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let truth = json.as_bool();
        if truth.is_none() {
            reader.wrong_type(json, "true or false");
        }
        truth
    }

    fn write(&self) -> Json<'static> {
        Json::from(*self)
    }

    fn spell(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object([("type", Json::from("boolean"))])
    }
}

impl Wire for Timestamp {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(String::from(self.to_text(&mut [0; 20])))
    }

    fn spell(&self, out: &mut String) {
        spell_text(self.to_text(&mut [0; 20]), out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // That the date exists is beyond a pattern; the parser checks it.
        pattern_schema(
            "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$",
        )
    }
}

impl Wire for Sha256 {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(String::from(self.to_hex(&mut [0; 64])))
    }

    fn spell(&self, out: &mut String) {
        spell_text(self.to_hex(&mut [0; 64]), out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        pattern_schema("^[0-9a-f]{64}$")
    }
}

impl Wire for RepoPath {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(format!("{self}"))
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // Not absolute, no backslash, no NUL, no `..` segment.
        pattern_schema("^(?!/)(?!\\.\\.(/|$))(?!.*/\\.\\.(/|$))[^\\\\\\u0000]+$")
    }
}

/// Any JSON at all.
impl Wire for Json<'static> {
    fn read(json: &Json<'_>, _: &mut Reader) -> Option<Self> {
        Some(json.clone().into_owned())
    }

    fn write(&self) -> Json<'static> {
        self.clone()
    }

    fn spell(&self, out: &mut String) {
        self.write_canonical(out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object::<&str>([])
    }
}

/// An object whose keys nobody has fixed.
impl Wire for Object<'static> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.object(json)?;
        match json.clone().into_owned().value {
            Value::Object(object) => Some(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    fn write(&self) -> Json<'static> {
        Value::Object(self.clone()).into()
    }

    fn spell(&self, out: &mut String) {
        self.write_canonical(out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object([("type", Json::from("object"))])
    }
}

/// A field that may be left out; `null` is not the same as leaving it out.
impl<T: Wire> Wire for Option<T> {
    const IS_OPTIONAL: bool = true;

    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        T::read(json, reader).map(Some)
    }

    fn write(&self) -> Json<'static> {
        self.as_ref().map_or_else(|| Json::from(Value::Null), Wire::write)
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        T::schema(definitions)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_left_out(&self) -> bool {
        self.is_none()
    }

    fn spell(&self, out: &mut String) {
        match self {
            Some(value) => value.spell(out),
            None => out.push_str("null"),
        }
    }
}

/// An object from names to values.
impl<K: Name, V: Wire> Wire for BTreeMap<K, V> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let members = reader.object(json)?.members();
        let mut entries = Vec::with_capacity(members.len());
        for member in members {
            entries.push(reader.at_key(&member.key, |reader| {
                let key = K::parse_name(&member.key);
                let key = key.map_err(|issue| reader.refuse_at(member.key_offset(), issue)).ok();
                let value = V::read(&member.value, reader);
                key.zip(value)
            }));
        }
        entries.into_iter().collect()
    }

    fn write(&self) -> Json<'static> {
        Json::object(self.iter().map(|(key, value)| (String::from(key.as_name()), value.write())))
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Json::object([
            ("type", Json::from("object")),
            ("additionalProperties", V::schema(definitions)),
            ("propertyNames", Json::object([("pattern", Json::from(K::pattern()))])),
        ])
    }
}

//! JSON Schema (draft 2020-12), made from the same types that read the documents.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use crate::{Json, Wire};

/// The named definitions that a schema refers to.
#[derive(Debug, Default)]
pub struct Definitions(BTreeMap<&'static str, Json<'static>>);

impl Definitions {
    /// Makes the definition `name`, unless it is there, and refers to it.
    pub fn define(
        &mut self,
        name: &'static str,
        make: impl FnOnce(&mut Self) -> Json<'static>,
    ) -> Json<'static> {
        if !self.0.contains_key(name) {
            // The place is taken first, so that a type may hold itself.
            self.0.insert(name, Json::from(true));
            let made = make(self);
            self.0.insert(name, made);
        }
        Json::object([("$ref", Json::from(format!("#/$defs/{name}")))])
    }

    /// All of them, as one object from name to definition.
    #[must_use]
    pub fn into_json(self) -> Json<'static> {
        Json::object(self.0)
    }
}

/// The schema of one document type, complete in itself.
#[must_use]
pub fn schema_document<T: Wire>(id: &str, title: &str) -> Json<'static> {
    let mut definitions = Definitions::default();
    let root = T::schema(&mut definitions);
    schema_with(
        root,
        [
            ("$schema", Json::from("https://json-schema.org/draft/2020-12/schema")),
            ("$id", Json::from(format!("urn:countersign:schema:{id}"))),
            ("title", Json::from(String::from(title))),
            ("$defs", definitions.into_json()),
        ],
    )
}

/// The schema of a text with this anchored pattern.
#[must_use]
pub fn pattern_schema(pattern: &str) -> Json<'static> {
    Json::object([("type", Json::from("string")), ("pattern", Json::from(String::from(pattern)))])
}

/// The schema of an object with these fields (key, schema, may it be left out) and no others.
#[must_use]
pub fn closed_object_schema<const N: usize>(
    description: &str,
    fields: [(&'static str, Json<'static>, bool); N],
) -> Json<'static> {
    let required: Vec<Json<'static>> = fields
        .iter()
        .filter(|(_, _, is_optional)| !is_optional)
        .map(|(key, _, _)| Json::from(*key))
        .collect();
    Json::object([
        ("type", Json::from("object")),
        ("description", Json::from(String::from(description.trim()))),
        ("additionalProperties", Json::from(false)),
        ("required", Json::from(required)),
        ("properties", Json::object(fields.into_iter().map(|(key, schema, _)| (key, schema)))),
    ])
}

/// The same schema with more keywords.
#[must_use]
pub fn schema_with<const N: usize>(
    schema: Json<'static>,
    keywords: [(&'static str, Json<'static>); N],
) -> Json<'static> {
    let members = schema.as_object().map_or_else(Vec::new, |object| object.members().to_vec());
    let members = members.into_iter().map(|member| (member.key, member.value));
    Json::object(members.chain(keywords.into_iter().map(|(key, value)| (key.into(), value))))
}

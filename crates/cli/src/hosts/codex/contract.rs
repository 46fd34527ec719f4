//! The schema that a worker's last message must fit: checked here, because Codex only asks its model for it.
//!
//! Checked is what models are given: the keywords of JSON Schema below, in the meaning of draft 2020-12. A schema with any
//! other keyword is refused, never half obeyed, and what it refers to must stand in it.

use countersign_canon::{Issue, Json, Number, Object, Pointer, Sha256, Value};

use crate::failure::codes;

/// LIMIT: how many problems of a message are told.
const PROBLEMS_MAX: usize = 20;
/// LIMIT: how many schemas deep a value is checked; a schema that only refers to itself has no end.
const DEPTH_MAX: u32 = 256;

const TYPES: [&str; 7] = ["null", "boolean", "object", "array", "number", "integer", "string"];
/// Keywords that say something about the schema, not about values.
const NOTES: [&str; 9] =
    ["$schema", "$id", "$comment", "title", "description", "default", "examples", "format", "deprecated"];

/// A schema, ready to hold messages to.
#[derive(Debug)]
pub(crate) struct Contract {
    /// The hash of its file.
    pub(crate) sha256: Sha256,
    schema: Json<'static>,
}

impl Contract {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// Fails with the first place that is not JSON, or not a schema that can be checked.
    pub(crate) fn load(bytes: &[u8]) -> Result<Self, Issue> {
        let schema =
            Json::parse(bytes).map_err(|issue| issue.under(codes::WORKER_SCHEMA_INVALID))?.into_owned();
        check_schema(&schema, &schema, &Pointer::root())?;
        Ok(Self { sha256: Sha256::of(bytes), schema })
    }

    /// What is wrong with a message, each with its place.
    pub(crate) fn problems(&self, message: Option<&str>) -> Vec<String> {
        let Some(message) = message else { return vec!["there is no last message".to_owned()] };
        match Json::parse(message.as_bytes()) {
            Err(issue) => vec![format!("it is not JSON: {issue}")],
            Ok(value) => {
                let mut check = Check { root: &self.schema, problems: Vec::new(), depth: 0 };
                check.value(&self.schema, &value, &Pointer::root());
                check.problems.truncate(PROBLEMS_MAX);
                check.problems
            }
        }
    }
}

/// Refuses what is not a schema of the keywords that are checked.
fn check_schema(schema: &Json<'static>, root: &Json<'static>, at: &Pointer) -> Result<(), Issue> {
    let refused = |at: &Pointer, message: String| {
        Issue::new(codes::WORKER_SCHEMA_INVALID, message).with_pointer(at.clone())
    };
    let keywords = match &schema.value {
        Value::Bool(_) => return Ok(()),
        Value::Object(keywords) => keywords,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(refused(at, format!("{} is not a schema", schema.type_name())));
        }
    };
    for member in keywords.members() {
        let (keyword, value, at) = (&*member.key, &member.value, at.key(&member.key));
        let is_fit = match keyword {
            "properties" | "$defs" | "definitions" => {
                let schemas = value.as_object().map(Object::members).unwrap_or_default();
                schemas.iter().try_for_each(|named| check_schema(&named.value, root, &at.key(&named.key)))?;
                value.as_object().is_some()
            }
            "items" | "additionalProperties" | "not" => check_schema(value, root, &at).map(|()| true)?,
            "anyOf" | "allOf" | "oneOf" => {
                let schemas = value.as_array().unwrap_or_default();
                schemas
                    .iter()
                    .enumerate()
                    .try_for_each(|(index, one)| check_schema(one, root, &at.index(index)))?;
                !schemas.is_empty()
            }
            "$ref" => target(root, value).is_some(),
            "type" => words(value).is_some_and(|words| words.iter().all(|word| TYPES.contains(word))),
            "required" => {
                value.as_array().is_some_and(|names| names.iter().all(|name| name.as_str().is_some()))
            }
            "enum" => value.as_array().is_some(),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.as_number().is_some(),
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                count(value).is_some()
            }
            "const" => true,
            _ => NOTES.contains(&keyword),
        };
        if !is_fit {
            return Err(refused(
                &at,
                format!("`{keyword}` is not a keyword that can be checked as it stands here"),
            ));
        }
    }
    Ok(())
}

/// A value on its way through a schema.
struct Check<'c> {
    root: &'c Json<'static>,
    problems: Vec<String>,
    depth: u32,
}

impl Check<'_> {
    fn value(&mut self, schema: &Json<'static>, value: &Json<'_>, at: &Pointer) {
        let keywords = match &schema.value {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return self.note(at, "nothing is allowed here"),
            Value::Bool(true) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return,
        };
        if self.depth >= DEPTH_MAX {
            return self.note(at, "the schema refers to itself without end");
        }
        self.depth = self.depth.saturating_add(1);
        for member in keywords.members() {
            self.keyword((&member.key, &member.value), keywords, value, at);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn keyword(
        &mut self,
        (keyword, given): (&str, &Json<'static>),
        keywords: &Object<'static>,
        value: &Json<'_>,
        at: &Pointer,
    ) {
        let is_fit = match keyword {
            "type" => words(given).is_some_and(|types| types.iter().any(|name| is_of_type(value, name))),
            "enum" => given.as_array().is_some_and(|all| all.contains(value)),
            "const" => given == value,
            "required" => {
                let names = given.as_array().unwrap_or_default().iter().filter_map(Json::as_str);
                let object = value.as_object();
                object.is_none_or(|object| names.into_iter().all(|name| object.get(name).is_some()))
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                is_within(keyword, given, value)
            }
            "minLength" | "minItems" | "minProperties" => {
                size(keyword, value).is_none_or(|size| Some(size) >= count(given))
            }
            "maxLength" | "maxItems" | "maxProperties" => {
                size(keyword, value).is_none_or(|size| Some(size) <= count(given))
            }
            "anyOf" => self.fitting(given, value) > 0,
            "oneOf" => self.fitting(given, value) == 1,
            "not" => self.fitting(&Json::array([given.clone()]), value) == 0,
            _ => return self.inside(keyword, given, keywords, value, at),
        };
        if !is_fit {
            let given: String = given.to_canonical().chars().take(120).collect();
            self.note(
                at,
                &format!(
                    "`{keyword}` is {given}, which this {} does not fit",
                    value.type_name().trim_start_matches("a ").trim_start_matches("an ")
                ),
            );
        }
    }

    /// The keywords that hand a value, or its parts, on to other schemas.
    fn inside(
        &mut self,
        keyword: &str,
        given: &Json<'static>,
        keywords: &Object<'static>,
        value: &Json<'_>,
        at: &Pointer,
    ) {
        let members = value.as_object().map(Object::members).unwrap_or_default();
        let named = |name: &str| keywords.get("properties").and_then(|schemas| schemas.get(name));
        match keyword {
            "properties" => {
                for member in members {
                    if let Some(schema) = given.get(&member.key) {
                        self.value(schema, &member.value, &at.key(&member.key));
                    }
                }
            }
            "additionalProperties" => {
                for member in members.iter().filter(|member| named(&member.key).is_none()) {
                    self.value(given, &member.value, &at.key(&member.key));
                }
            }
            "items" => {
                for (index, item) in value.as_array().unwrap_or_default().iter().enumerate() {
                    self.value(given, item, &at.index(index));
                }
            }
            "allOf" => {
                given.as_array().unwrap_or_default().iter().for_each(|schema| self.value(schema, value, at))
            }
            "$ref" => {
                if let Some(schema) = target(self.root, given) {
                    self.value(schema, value, at);
                }
            }
            _ => (),
        }
    }

    /// How many of these schemas a value fits.
    fn fitting(&self, schemas: &Json<'static>, value: &Json<'_>) -> usize {
        let fits = |schema: &&Json<'static>| {
            let mut check = Check { root: self.root, problems: Vec::new(), depth: self.depth };
            check.value(schema, value, &Pointer::root());
            check.problems.is_empty()
        };
        schemas.as_array().unwrap_or_default().iter().filter(fits).count()
    }

    fn note(&mut self, at: &Pointer, what: &str) {
        self.problems.push(format!("at `{at}`: {what}"));
    }
}

/// The schema that a reference means, in the same document.
fn target<'r>(root: &'r Json<'static>, reference: &Json<'_>) -> Option<&'r Json<'static>> {
    Pointer::parse(reference.as_str()?.strip_prefix('#')?).ok()?.find(root)
}

/// One word, or several.
fn words<'j>(json: &'j Json<'_>) -> Option<Vec<&'j str>> {
    match json.as_array() {
        Some(words) => words.iter().map(Json::as_str).collect(),
        None => json.as_str().map(|word| vec![word]),
    }
}

fn count(json: &Json<'_>) -> Option<usize> {
    json.as_number().and_then(Number::as_i64).and_then(|count| usize::try_from(count).ok())
}

/// What a keyword about size counts in this value; nothing if it does not speak of such values.
fn size(keyword: &str, value: &Json<'_>) -> Option<usize> {
    match (keyword.get(3..), &value.value) {
        (Some("Length"), Value::String(text)) => Some(text.chars().count()),
        (Some("Items"), Value::Array(items)) => Some(items.len()),
        (Some("Properties"), Value::Object(object)) => Some(object.members().len()),
        (
            _,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
        ) => None,
    }
}

fn is_within(keyword: &str, given: &Json<'_>, value: &Json<'_>) -> bool {
    let (Some(bound), Some(number)) = (given.as_number(), value.as_number()) else { return true };
    let (bound, number) = (bound.as_f64(), number.as_f64());
    match keyword {
        "minimum" => number >= bound,
        "maximum" => number <= bound,
        "exclusiveMinimum" => number > bound,
        _ => number < bound,
    }
}

fn is_of_type(value: &Json<'_>, name: &str) -> bool {
    match &value.value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => name == "number" || (name == "integer" && number.as_f64().fract() == 0.0),
    }
}

#[cfg(test)]
mod tests;

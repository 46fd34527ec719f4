//! An intent's open metadata: anything, and two members that mean something.

use alloc::{format, vec::Vec};

use countersign_canon::{Definitions, INTEGER_MAX, Json, Object, Reader, Wire, Within};

use crate::IntentId;

type Priority = Within<{ -INTEGER_MAX }, INTEGER_MAX>;

/// An open object in which `priority` is a whole number and `depends_on` a list of intent ids.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// How important the intent is, if it says so; more is more important.
    pub priority: Option<i64>,
    /// The intents that must come first.
    pub depends_on: Vec<IntentId>,
    /// All members as they stand, also the two above.
    pub all: Object<'static>,
}

impl Wire for Metadata {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let all = Object::read(json, reader)?;
        let priority = reader.field::<Option<Priority>>(json, "priority");
        let depends_on = reader.field::<Option<Vec<IntentId>>>(json, "depends_on");
        Some(Self { priority: priority?.map(Within::get), depends_on: depends_on?.unwrap_or_default(), all })
    }

    fn write(&self) -> Json<'static> {
        self.all.write()
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Json::object([
            ("type", Json::from("object")),
            (
                "description",
                Json::from(format!("Anything; {} and {} have a meaning.", "`priority`", "`depends_on`")),
            ),
            (
                "properties",
                Json::object([
                    ("priority", Priority::schema(definitions)),
                    ("depends_on", Vec::<IntentId>::schema(definitions)),
                ]),
            ),
        ])
    }
}

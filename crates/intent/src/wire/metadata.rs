//! An intent's open metadata: anything, and three members that mean something.

use alloc::{collections::BTreeMap, vec::Vec};

use countersign_canon::{Definitions, INTEGER_MAX, Json, Object, Reader, Wire, Within};

use crate::IntentId;

type Priority = Within<{ -INTEGER_MAX }, INTEGER_MAX>;

/// For an intent those that it runs after.
pub type MergeOrder = BTreeMap<IntentId, Vec<IntentId>>;

/// An open object in which `priority` is a whole number, `depends_on` a list of intent ids and `merge_order` says which of
/// the intents that were merged run after which.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    /// How important the intent is, if it says so; more is more important.
    pub priority: Option<i64>,
    /// The intents that must come first.
    pub depends_on: Vec<IntentId>,
    /// The order between the intents that this one was merged from.
    pub merge_order: MergeOrder,
    /// All members as they stand, also the three above.
    pub all: Object<'static>,
}

impl Wire for Metadata {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let all = Object::read(json, reader)?;
        let priority = reader.field::<Option<Priority>>(json, "priority");
        let depends_on = reader.field::<Option<Vec<IntentId>>>(json, "depends_on");
        let merge_order = reader.field::<Option<MergeOrder>>(json, "merge_order");
        Some(Self {
            priority: priority?.map(Within::get),
            depends_on: depends_on?.unwrap_or_default(),
            merge_order: merge_order?.unwrap_or_default(),
            all,
        })
    }

    fn write(&self) -> Json<'static> {
        self.all.write()
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Json::object([
            ("type", Json::from("object")),
            (
                "description",
                Json::from("Anything; `priority`, `depends_on` and `merge_order` have a meaning."),
            ),
            (
                "properties",
                Json::object([
                    ("priority", Priority::schema(definitions)),
                    ("depends_on", Vec::<IntentId>::schema(definitions)),
                    ("merge_order", MergeOrder::schema(definitions)),
                ]),
            ),
        ])
    }
}

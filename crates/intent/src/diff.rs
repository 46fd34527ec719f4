//! What differs between two documents, field by field.

use alloc::{collections::BTreeSet, vec::Vec};

use countersign_canon::{Json, Pointer, Value};

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where.
    pub pointer: Pointer,
    /// What stands in the first document; nothing if the field is new.
    pub before: Option<Json<'static>>,
    /// What stands in the second; nothing if the field is gone.
    pub after: Option<Json<'static>>,
}

impl Difference {
    /// The difference as JSON: {pointer, change, before?, after?}.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let change = match (&self.before, &self.after) {
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "removed",
            (None, _) => "added",
        };
        let head =
            [("change", Json::from(change)), ("pointer", Json::from(alloc::format!("{}", self.pointer)))];
        let sides = [("before", self.before.clone()), ("after", self.after.clone())];
        let sides = sides.into_iter().filter_map(|(key, value)| Some((key, value?)));
        Json::object(head.into_iter().chain(sides))
    }
}

/// Every difference between two documents, in the order of the document; lists are compared place by place.
#[must_use]
pub fn differences(before: &Json<'_>, after: &Json<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(&Pointer::root(), Some(before), Some(after), &mut found);
    found
}

/// Recursion is bounded: a parsed document is at most `DEPTH_MAX` deep.
fn compare(at: &Pointer, before: Option<&Json<'_>>, after: Option<&Json<'_>>, found: &mut Vec<Difference>) {
    match (before.map(|json| &json.value), after.map(|json| &json.value)) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let keys = a.members().iter().chain(b.members()).map(|member| member.key.as_ref());
            for key in keys.collect::<BTreeSet<&str>>() {
                compare(&at.key(key), a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                compare(&at.index(index), a.get(index), b.get(index), found);
            }
        }
        (a, b) if a == b => (),
        _ => {
            let owned = |json: Option<&Json<'_>>| json.map(|json| json.clone().into_owned());
            found.push(Difference { pointer: at.clone(), before: owned(before), after: owned(after) });
        }
    }
}

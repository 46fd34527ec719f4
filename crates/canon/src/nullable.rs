//! Fields that are always there and may say that there is nothing.

use crate::{Definitions, Json, Reader, Value, Wire};

/// A value or `null`; unlike an `Option`, the field itself may not be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nullable<T>(pub Option<T>);

impl<T: Wire> Wire for Nullable<T> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        if matches!(json.value, Value::Null) {
            return Some(Self(None));
        }
        T::read(json, reader).map(|value| Self(Some(value)))
    }

    fn write(&self) -> Json<'static> {
        self.0.as_ref().map_or_else(|| Json::from(Value::Null), Wire::write)
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        let null = Json::object([("type", Json::from("null"))]);
        Json::object([("anyOf", Json::array([T::schema(definitions), null]))])
    }
}

#[cfg(test)]
mod tests;

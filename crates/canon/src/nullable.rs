//! Fields that must be there and may be `null`.

use alloc::string::String;

use crate::{Definitions, Json, Reader, Value, Wire};

/// A value or `null`; unlike an `Option`, the field itself must be there.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Code, Nullable, Reader};
///
/// const INVALID: Code = Code::new("INVALID");
/// let none: Nullable<String> = Reader::read_document(b"null", INVALID)?;
/// assert_eq!(none, Nullable(None));
/// # Ok::<(), countersign_canon::NonEmpty<countersign_canon::Issue>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nullable<T>(pub Option<T>);

impl<T> Nullable<T> {
    /// The value, unless it is `null`.
    #[must_use]
    pub const fn as_ref(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T: Wire> Wire for Nullable<T> {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        if matches!(json.value, Value::Null) {
            return Some(Self(None));
        }
        T::read(json, reader).map(|value| Self(Some(value)))
    }

    fn write(&self) -> Json<'static> {
        self.0.write()
    }

    fn spell(&self, out: &mut String) {
        self.0.spell(out);
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        let null = Json::object([("type", Json::from("null"))]);
        Json::object([("anyOf", Json::array([T::schema(definitions), null]))])
    }
}

#[cfg(test)]
mod tests;

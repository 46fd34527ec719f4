//! Machine codes: the frozen names of everything that can be refused.

use core::fmt;

/// A frozen machine code, such as `JSON_DUPLICATE_KEY`.
///
/// Codes are declared once, with [`declare_codes!`](crate::declare_codes), in the `codes` module of the crate
/// that raises them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

impl Code {
    /// Names a code. Only [`declare_codes!`](crate::declare_codes) should call this, so that every code is listed.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The code as it stands in documents and on screens.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// One row of the table of codes.
#[derive(Debug, Clone, Copy)]
pub struct CodeEntry {
    /// The code.
    pub code: Code,
    /// What it means, in one sentence.
    pub meaning: &'static str,
}

/// Declares the codes of a crate: one constant each, and `ALL` with every code and its meaning.
///
/// # Examples
///
/// ```
/// countersign_canon::declare_codes! {
///     /// The door is shut.
///     DOOR_SHUT
///     /// The door is missing.
///     DOOR_MISSING
/// }
/// assert_eq!(DOOR_SHUT.as_str(), "DOOR_SHUT");
/// assert_eq!(ALL[1].meaning, "The door is missing.");
/// ```
#[macro_export]
macro_rules! declare_codes {
    ($(#[doc = $meaning:literal] $name:ident)+) => {
        $(#[doc = $meaning] pub const $name: $crate::Code = $crate::Code::new(stringify!($name));)+
        /// Every code of this crate with its meaning, in order of declaration.
        pub const ALL: &[$crate::CodeEntry] = &[
            $($crate::CodeEntry { code: $name, meaning: $meaning.trim_ascii() },)+
        ];
    };
}

/// The codes of this crate.
pub mod codes {
    declare_codes! {
        /// The text is not JSON.
        JSON_SYNTAX
        /// The text ends before the value does.
        JSON_UNEXPECTED_END
        /// The text starts with a byte order mark.
        JSON_BOM
        /// The bytes are not UTF-8.
        JSON_BAD_UTF8
        /// An object names one key twice.
        JSON_DUPLICATE_KEY
        /// NaN or an infinity stands where a number should.
        JSON_NOT_A_NUMBER
        /// A string escapes half of a surrogate pair.
        JSON_LONE_SURROGATE
        /// An integer is beyond ±(2^53−1) and would not keep its value.
        JSON_INTEGER_RANGE
        /// A fraction or exponent lies between 2^53 and 10^21, where texts of different numbers share one value.
        JSON_NUMBER_AMBIGUOUS
        /// A number is too large for a double.
        JSON_NUMBER_OVERFLOW
        /// A number is not zero but too small for a double.
        JSON_NUMBER_UNDERFLOW
        /// Arrays and objects are nested deeper than 128.
        JSON_TOO_DEEP
        /// Something follows the value.
        JSON_TRAILING_DATA
        /// The document is larger than 256 MiB.
        JSON_TOO_LARGE
        /// A value has the wrong JSON type.
        WIRE_TYPE
        /// A closed object has a field that does not exist.
        WIRE_UNKNOWN_FIELD
        /// A required field is missing.
        WIRE_MISSING_FIELD
        /// A value is not one of those allowed.
        WIRE_VALUE
        /// A text, list or number is outside its bounds.
        WIRE_BOUNDS
        /// A list that must not repeat itself does.
        WIRE_NOT_UNIQUE
        /// A name does not have the required shape.
        NAME_SHAPE
        /// A time is not a real instant written `YYYY-MM-DDTHH:MM:SSZ`.
        TIME_SHAPE
        /// A hash is not 64 lower-case hexadecimal digits.
        HASH_SHAPE
        /// A text is not padded base64 in the standard alphabet.
        BASE64_SHAPE
        /// A JSON pointer is malformed.
        POINTER_SHAPE
        /// A path is empty, absolute, leaves the repository or holds a forbidden character.
        PATH_SHAPE
        /// A key or value looks like something to execute.
        EXECUTION_PAYLOAD
    }
}

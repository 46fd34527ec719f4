//! SHA-256, and one type for each thing that is hashed.

use alloc::format;
use core::fmt;

use sha2::Digest as _;

use crate::{Issue, Json, code::codes};

/// A SHA-256 digest; on paper, 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of a value's canonical spelling.
    #[must_use]
    pub fn of_json(value: &Json<'_>) -> Self {
        Self::of(value.to_canonical().as_bytes())
    }

    /// The digest of several pieces as if they stood in one row.
    #[must_use]
    pub fn of_pieces<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hasher = sha2::Sha256::new();
        for piece in pieces {
            hasher.update(piece);
        }
        Self(hasher.finalize().into())
    }

    /// Wraps bytes that are a digest already.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The digest's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Spells the digest into a buffer, without allocating.
    pub fn to_hex<'b>(&self, buffer: &'b mut [u8; 64]) -> &'b str {
        let (pairs, _) = buffer.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 0xF)];
        }
        core::str::from_utf8(buffer).unwrap_or_default()
    }

    /// Reads 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    ///
    /// Fails on anything else, also on upper-case digits: one digest has one spelling.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = || {
            Issue::new(codes::HASH_SHAPE, format!("`{text}` is not a SHA-256"))
                .with_expected("64 lower-case hexadecimal digits")
        };
        let mut bytes = [0_u8; 32];
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != bytes.len() || !rest.is_empty() {
            return Err(refused());
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte =
                nibble(*high).zip(nibble(*low)).map(|(high, low)| (high << 4) | low).ok_or_else(refused)?;
        }
        Ok(Self(bytes))
    }
}

/// The hexadecimal digit of a nibble.
const fn digit(nibble: u8) -> u8 {
    // `a` stands 39 places after where `9` plus one would be.
    let letter_gap = if nibble > 9 { b'a' - b'0' - 10 } else { 0 };
    nibble.wrapping_add(b'0').wrapping_add(letter_gap)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => digit.checked_sub(b'0'),
        b'a'..=b'f' => digit.checked_sub(b'a').and_then(|digit| digit.checked_add(10)),
        _ => None,
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_hex(&mut [0; 64]))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Declares one type per thing that is hashed, so that the wrong hash does not compile.
///
/// # Examples
///
/// ```
/// countersign_canon::typed_hash! {
///     /// The hash of a hat.
///     pub HatHash
/// }
/// let hash = HatHash::of_json(&countersign_canon::Json::from("bowler"));
/// assert_eq!(HatHash::parse(&hash.to_string())?, hash);
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[macro_export]
macro_rules! typed_hash {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident)+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $visibility struct $name($crate::Sha256);

        impl $name {
            /// The hash of a value's canonical spelling.
            #[must_use]
            pub fn of_json(value: &$crate::Json<'_>) -> Self {
                Self($crate::Sha256::of_json(value))
            }

            /// The hash of bytes that are canonical already.
            #[must_use]
            pub fn of_canonical(bytes: &[u8]) -> Self {
                Self($crate::Sha256::of(bytes))
            }

            /// Reads 64 lower-case hexadecimal digits.
            ///
            /// # Errors
            ///
            /// Fails on anything else.
            pub fn parse(text: &str) -> ::core::result::Result<Self, $crate::Issue> {
                $crate::Sha256::parse(text).map(Self)
            }

            /// The digest itself.
            #[must_use]
            pub const fn digest(&self) -> &$crate::Sha256 {
                &self.0
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&self.0, f)
            }
        }

        impl $crate::Wire for $name {
            fn read(json: &$crate::Json<'_>, reader: &mut $crate::Reader) -> ::core::option::Option<Self> {
                <$crate::Sha256 as $crate::Wire>::read(json, reader).map(Self)
            }

            fn write(&self) -> $crate::Json<'static> {
                $crate::Wire::write(&self.0)
            }

            fn spell(&self, out: &mut $crate::__private::String) {
                $crate::Wire::spell(&self.0, out);
            }

            fn schema(definitions: &mut $crate::Definitions) -> $crate::Json<'static> {
                <$crate::Sha256 as $crate::Wire>::schema(definitions)
            }
        }
    )+};
}

typed_hash! {
    /// The checksum that a document carries about itself.
    pub Checksum
}

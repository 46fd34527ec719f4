//! The macros that declare documents: closed objects, closed vocabularies, constants.

/// Declares a closed object: a struct that reads, writes and describes itself (see [`Wire`](crate::Wire)).
///
/// A field whose JSON name is not a Rust name says so: `kind = "type": Kind`. A field may be left out of the
/// document if its type is an `Option`. Rules between fields, which a reader checks elsewhere, stand in the schema
/// if the declaration ends with `also path`, a function that gives more schema keywords as pairs.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Code, Reader, Text};
///
/// countersign_canon::record! {
///     /// A hat.
///     pub struct Hat {
///         /// What it is called.
///         name: Text<1, 20>,
///         /// What sort of hat.
///         kind = "type": String,
///         /// Whether it has feathers.
///         feathers: Option<bool>,
///     }
/// }
/// const HAT_INVALID: Code = Code::new("HAT_INVALID");
///
/// let hat: Hat = Reader::read_document(br#"{"name": "Bob", "type": "bowler"}"#, HAT_INVALID)?;
/// assert_eq!(hat.feathers, None);
/// let issues = Reader::read_document::<Hat>(br#"{"nam": "", "type": 1}"#, HAT_INVALID).unwrap_err();
/// assert_eq!(issues.len(), 3);
/// # Ok::<(), countersign_canon::NonEmpty<countersign_canon::Issue>>(())
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis struct $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident $(= $key:literal)? : $type:ty),* $(,)?
        }
        $(also $rules:path)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        $visibility struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        impl $crate::Wire for $name {
            fn read(json: &$crate::Json<'_>, reader: &mut $crate::Reader) -> ::core::option::Option<Self> {
                reader.closed_object(json, &[$($crate::record!(@key $field $($key)?)),*])?;
                $(let $field = reader.field::<$type>(json, $crate::record!(@key $field $($key)?));)*
                Some(Self { $($field: $field?,)* })
            }

            fn write(&self) -> $crate::Json<'static> {
                let members: [(&'static str, ::core::option::Option<$crate::Json<'static>>); _] = [
                    $((
                        $crate::record!(@key $field $($key)?),
                        (!$crate::Wire::is_left_out(&self.$field)).then(|| $crate::Wire::write(&self.$field)),
                    ),)*
                ];
                $crate::Json::object(members.into_iter().filter_map(|(key, value)| Some((key, value?))))
            }

            fn spell(&self, out: &mut $crate::__private::String) {
                const KEYS: &[&str] = &[$($crate::record!(@key $field $($key)?)),*];
                const ORDER: [usize; KEYS.len()] = $crate::key_order(KEYS);
                let mut object = $crate::ObjectSpelling::begin(out);
                for place in ORDER {
                    let mut places = 0_usize..;
                    $(if places.next() == Some(place) {
                        object.member($crate::record!(@key $field $($key)?), &self.$field);
                    })*
                }
                object.end();
            }

            fn schema(definitions: &mut $crate::Definitions) -> $crate::Json<'static> {
                definitions.define(stringify!($name), |definitions| {
                    let properties = [
                        $((
                            $crate::record!(@key $field $($key)?),
                            <$type as $crate::Wire>::schema(definitions),
                            <$type as $crate::Wire>::IS_OPTIONAL,
                        ),)*
                    ];
                    let schema = $crate::closed_object_schema(concat!($($doc),*), properties);
                    $(let schema = $crate::schema_with(schema, $rules());)?
                    schema
                })
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}

/// Declares a closed vocabulary: an enum of words that reads, writes and describes itself.
///
/// # Examples
///
/// ```
/// countersign_canon::choice! {
///     /// How big.
///     pub enum Size {
///         /// Not big.
///         Small = "small",
///         /// Big.
///         Large = "large",
///     }
/// }
/// assert_eq!(Size::parse("large")?, Size::Large);
/// assert_eq!(Size::parse("larg").unwrap_err().hint.as_deref(), Some("did you mean `large`?"));
/// assert!(Size::Small < Size::Large);
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])*
        $visibility:vis enum $name:ident {
            $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal),+ $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility enum $name {
            $($(#[doc = $word_doc])* $variant,)+
        }

        impl $name {
            /// Every word, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it stands in documents.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// Finds the word.
            ///
            /// # Errors
            ///
            /// Fails on any other text, suggesting the nearest word.
            pub fn parse(text: &str) -> ::core::result::Result<Self, $crate::Issue> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err($crate::unknown_word(text, &[$($word),+])),
                }
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::Name for $name {
            fn parse_name(text: &str) -> ::core::result::Result<Self, $crate::Issue> {
                Self::parse(text)
            }

            fn as_name(&self) -> &str {
                self.as_str()
            }

            fn pattern() -> $crate::__private::String {
                let words = $crate::__private::Vec::from([$($word),+]);
                $crate::__private::format!("^({})$", words.join("|"))
            }
        }

        impl $crate::Wire for $name {
            fn read(json: &$crate::Json<'_>, reader: &mut $crate::Reader) -> ::core::option::Option<Self> {
                reader.text(json, Self::parse)
            }

            fn write(&self) -> $crate::Json<'static> {
                $crate::Json::from(self.as_str())
            }

            fn spell(&self, out: &mut $crate::__private::String) {
                $crate::spell_text(self.as_str(), out);
            }

            fn schema(_: &mut $crate::Definitions) -> $crate::Json<'static> {
                $crate::Json::object([("enum", $crate::Json::array([$($word),+]))])
            }
        }
    };
}

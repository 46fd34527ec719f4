//! Tests of declared objects' spelling.

use proptest::prelude::*;

use countersign_canon::{Json, Nullable, Sha256, Text, Timestamp, Wire, Within};

countersign_canon::choice! {
    /// A word.
    pub enum Word {
        /// One.
        One = "one",
        /// Two.
        Two = "two",
    }
}

countersign_canon::record! {
    /// What is inside.
    pub struct Inner {
        /// Sorts after the others, as a prefix does before what it begins.
        key: String,
        /// Sorts after `key`.
        key_two: Option<bool>,
        /// Sorts before all.
        capital = "Key": Nullable<Text<0, 9>>,
    }
}

countersign_canon::record! {
    /// Every sort of value, declared in no order.
    pub struct Outer {
        /// A text.
        zebra: String,
        /// A number.
        number: Within<-5, 5>,
        /// A list of objects.
        inner: Vec<Inner>,
        /// A hash.
        hash: Sha256,
        /// An instant.
        at: Timestamp,
        /// A word.
        word = "type": Word,
        /// Perhaps another.
        other: Option<Word>,
    }
}

proptest! {
    #[test]
    fn an_object_is_spelled_as_its_values_are(
        zebra in any::<String>(), number in -5_i64..=5, texts in prop::collection::vec((any::<String>(), any::<Option<bool>>()), 0..4),
        second in 0_i64..4_000_000_000, is_two in any::<bool>(), other in any::<bool>(),
    ) {
        let inner = |(text, flag): &(String, Option<bool>)| Inner {
            key: text.clone(),
            key_two: *flag,
            capital: Nullable(flag.map(|_| Text::cut(text))),
        };
        let outer = Outer {
            hash: Sha256::of(zebra.as_bytes()),
            number: Within::new(number).unwrap(),
            inner: texts.iter().map(inner).collect(),
            at: Timestamp::from_unix(second).unwrap(),
            word: if is_two { Word::Two } else { Word::One },
            other: other.then_some(Word::One),
            zebra,
        };
        let mut spelled = String::new();
        Wire::spell(&outer, &mut spelled);
        prop_assert_eq!(&spelled, &outer.write().to_canonical());
        let parsed = Json::parse(spelled.as_bytes()).unwrap();
        prop_assert_eq!(parsed.to_canonical(), spelled);
    }
}

#[test]
fn an_object_that_leaves_everything_out_is_empty() {
    countersign_canon::record! {
        /// Perhaps nothing.
        pub struct Perhaps {
            /// Perhaps a word.
            word: Option<Word>,
        }
    }
    assert_eq!(Wire::to_canonical(&Perhaps { word: None }), "{}");
}

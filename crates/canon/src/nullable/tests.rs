//! A field that may be `null` but not absent.

use alloc::string::String;

use crate::{Code, Nullable, Reader, Wire as _, record};

record! {
    /// A hat that may be empty.
    struct Hat {
        /// Who wears it.
        wearer: Nullable<String>,
    }
}

const HAT_INVALID: Code = Code::new("HAT_INVALID");

fn check(text: &str, expected: Option<Option<&str>>) {
    let read = Reader::read_document::<Hat>(text.as_bytes(), HAT_INVALID).ok();
    assert_eq!(read.as_ref().map(|hat| hat.wearer.0.as_deref()), expected, "{text}");
    if let Some(hat) = read {
        assert_eq!(hat.write().to_canonical(), text);
    }
}

#[test]
fn null_and_a_value_are_read_and_written_back() {
    check(r#"{"wearer":null}"#, Some(None));
    check(r#"{"wearer":"Bob"}"#, Some(Some("Bob")));
}

#[test]
fn leaving_the_field_out_or_another_type_is_refused() {
    check("{}", None);
    check(r#"{"wearer":1}"#, None);
}

//! The vectors of RFC 4648, and every spelling that must not pass.

use super::{from_base64, to_base64};

fn check(bytes: &[u8], text: &str) {
    assert_eq!(to_base64(bytes), text);
    assert_eq!(from_base64(text).as_deref(), Ok(bytes));
}

#[test]
fn the_vectors_of_rfc_4648() {
    check(b"", "");
    check(b"f", "Zg==");
    check(b"fo", "Zm8=");
    check(b"foo", "Zm9v");
    check(b"foob", "Zm9vYg==");
    check(b"fooba", "Zm9vYmE=");
    check(b"foobar", "Zm9vYmFy");
    check(&[0xFB, 0xFF, 0xFE], "+//+");
}

#[test]
fn every_byte_and_length_reads_back() {
    let bytes: [u8; 256] = core::array::from_fn(|index| u8::try_from(index).unwrap());
    for length in 0..=bytes.len() {
        assert_eq!(from_base64(&to_base64(&bytes[..length])).as_deref(), Ok(&bytes[..length]));
    }
}

#[test]
fn one_row_of_bytes_has_one_spelling() {
    for bad in [
        "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z", "=", "====", "Zg==Zg==", "-__-", "Zm9v\n", " Zm9v", "Zé==",
    ] {
        assert!(from_base64(bad).is_err(), "{bad}");
    }
}

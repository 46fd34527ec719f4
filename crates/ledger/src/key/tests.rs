//! Keys in the text forms of the Go reference implementation, and every mangled form refused.

use alloc::{format, string::ToString as _};

use crate::{KeyName, NoteKey, PublicKey, SecretKey, Signature};

// The example key of the documentation of golang.org/x/mod/sumdb/note.
const VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const SIGNER: &str = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";

#[test]
fn text_forms_are_those_of_the_reference() {
    let secret = SecretKey::parse(SIGNER).unwrap();
    assert_eq!(secret.to_secret_text(), SIGNER);
    assert_eq!(secret.public().to_string(), VERIFIER);
    assert_eq!(NoteKey::parse(VERIFIER), Ok(secret.public()));
    assert!(!format!("{secret:?}").contains("AYEKFALV"), "a private key is not printed");
}

#[test]
fn no_mangled_key_is_accepted() {
    for (index, character) in VERIFIER.char_indices() {
        let mut mangled = VERIFIER.to_string();
        let other = if character == 'A' { "B" } else { "A" };
        mangled.replace_range(index..=index, other);
        assert!(NoteKey::parse(&mangled).is_err(), "{mangled}");
    }
    for start in 0..VERIFIER.len() {
        for end in start..VERIFIER.len() {
            assert!(NoteKey::parse(VERIFIER.get(start..end).unwrap()).is_err());
        }
    }
    for bad in [
        "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
        "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        SIGNER,
    ] {
        assert!(NoteKey::parse(bad).is_err(), "{bad}");
    }
    assert!(SecretKey::parse(VERIFIER).is_err());
    assert!(SecretKey::parse(&SIGNER.replace("c74f20a3", "c74f20a4")).is_err());
}

#[test]
fn a_signature_is_of_one_message_by_one_key() {
    let [one, two] = [[1; 32], [2; 32]].map(|seed| SecretKey::from_seed(KeyName::parse("k").unwrap(), &seed));
    let signature = one.sign(b"message");
    assert_eq!(Signature::parse(&signature.to_string()), Ok(signature));
    assert!(one.public().key.verifies(b"message", &signature));
    assert!(!one.public().key.verifies(b"massage", &signature));
    assert!(!two.public().key.verifies(b"message", &signature));
    assert_ne!(one.public().key.id(), two.public().key.id());
}

#[test]
fn weak_keys_are_refused() {
    // The identity, and the point of order two.
    let mut identity = [0; 32];
    identity[0] = 1;
    let mut order_two = [0xFF; 32];
    (order_two[0], order_two[31]) = (0xEC, 0x7F);
    for weak in [identity, order_two, [0; 32]] {
        assert!(PublicKey::from_bytes(&weak).is_none(), "{weak:?}");
    }
}

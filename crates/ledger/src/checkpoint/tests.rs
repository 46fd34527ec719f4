//! Checkpoints are signed notes that other tools read, and no changed one opens.

use alloc::{
    borrow::ToOwned as _,
    format,
    string::{String, ToString as _},
};

use super::{open_note, split_note};
use crate::{Checkpoint, KeyName, NoteKey, RootHash, SecretKey, SignedCheckpoint, TreeHead};

/// The example of the documentation of golang.org/x/mod/sumdb/note.
const GO_NOTE: &str = "If you think cryptography is the answer to your problem,\n\
    then you don't know what your problem is.\n\
    \n\
    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const GO_KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
/// The example of c2sp.org/signed-note.
const C2SP_NOTE: &str = "This is an example message.\n\
    \n\
    — example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";
const C2SP_KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

#[test]
fn notes_of_other_peoples_tools_open() {
    for (note, key) in [(GO_NOTE, GO_KEY), (C2SP_NOTE, C2SP_KEY)] {
        let (text, signatures) = split_note(note).unwrap();
        let right = NoteKey::parse(key).unwrap();
        assert_eq!(open_note(text, signatures, [&right].into_iter()), Ok(()));
        let wrong = secret(1).public();
        assert!(open_note(text, signatures, [&wrong].into_iter()).is_err());
    }
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(KeyName::parse("host/urm-audit").unwrap(), &[seed; 32])
}

fn checkpoint() -> Checkpoint {
    Checkpoint {
        origin: KeyName::parse("host/urm-audit").unwrap(),
        head: TreeHead { size: 20, root: RootHash::of_nothing() },
        number: 7,
    }
}

#[test]
fn a_checkpoint_has_the_form_of_tlog_checkpoint() {
    let signed = checkpoint().sign(&secret(1));
    let text =
        "host/urm-audit\n20\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nnumber 7\n\n— host/urm-audit ";
    assert!(signed.as_str().starts_with(text), "{signed}");
    assert_eq!(signed.open(&[secret(1).public()]), Ok(checkpoint()));
}

#[test]
fn every_single_bit_flip_is_refused() {
    let signed = checkpoint().sign(&secret(1));
    assert!(signed.is_by(&secret(1)));
    let keys = [secret(1).public()];
    let mut bytes = signed.as_str().as_bytes().to_vec();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            if let Ok(text) = String::from_utf8(bytes.clone()) {
                let changed = SignedCheckpoint::from_text(text);
                assert!(changed.open(&keys).is_err(), "byte {at} bit {bit}");
                assert!(!changed.is_by(&secret(1)), "byte {at} bit {bit}");
            }
            bytes[at] ^= 1 << bit;
        }
    }
}

#[test]
fn stripped_forged_and_foreign_signatures_are_refused() {
    let signed = checkpoint().sign(&secret(1)).to_string();
    let forged = checkpoint().sign(&secret(2)).to_string();
    let refuses =
        |text: String, key: u8| SignedCheckpoint::from_text(text).open(&[secret(key).public()]).is_err();
    let is_own = |text: &str| SignedCheckpoint::from_text(text.to_owned()).is_by(&secret(1));
    assert!(is_own(&signed) && !is_own(&forged));
    let stripped = checkpoint().to_text();
    assert!(refuses(stripped.clone(), 1));
    assert!(refuses(format!("{stripped}\n"), 1));
    assert!(refuses(forged.clone(), 1));
    // A signature by somebody unknown does no harm; a bad one by a known key does.
    let last = forged.lines().last().unwrap();
    assert!(!refuses(format!("{signed}{last}\n"), 1));
    assert!(!is_own(&format!("{signed}{last}\n")));
    let bad = signed.lines().last().unwrap().replace('A', "B");
    assert!(refuses(format!("{signed}{bad}\n"), 1));
    assert!(refuses(signed.replace("\n20\n", "\n020\n"), 1));
    // A key of another log does not speak for this one.
    let other = SecretKey::from_seed(KeyName::parse("other/urm-audit").unwrap(), &[1; 32]);
    assert!(
        SignedCheckpoint::from_text(checkpoint().sign(&other).to_string()).open(&[other.public()]).is_err()
    );
}

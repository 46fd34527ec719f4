//! Checkpoints: the size and root of the log, signed (C2SP signed-note and tlog-checkpoint).

use alloc::{format, string::String};
use core::fmt;

use countersign_canon::{Issue, Sha256, from_base64, to_base64};

use crate::{KeyName, NoteKey, RootHash, SecretKey, Signature, TreeHead, code::codes};

/// LIMIT: a checkpoint is some 250 bytes; witnesses add a line each.
const NOTE_BYTES_MAX: usize = 65_536;

/// What a log was like at some moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The name of the log.
    pub origin: KeyName,
    /// How many entries there were, and their root.
    pub head: TreeHead,
    /// Which checkpoint of the log this is, from 1 without gaps, so that a missing one is missed.
    pub number: u64,
}

impl Checkpoint {
    /// The text that is signed: origin, size, root, and the number as the one extension line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let Self { origin, head: TreeHead { size, root }, number } = self;
        format!("{origin}\n{size}\n{}\nnumber {number}\n", to_base64(root.digest().as_bytes()))
    }

    /// Reads the text that is signed.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n')?.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let number = lines.next()?.strip_prefix("number ")?;
        if lines.next().is_some() {
            return None;
        }
        let root: [u8; 32] = from_base64(root).ok()?.as_slice().try_into().ok()?;
        Some(Self {
            origin: KeyName::parse(origin).ok()?,
            head: TreeHead { size: decimal(size)?, root: RootHash::from_digest(Sha256::from_bytes(root)) },
            number: decimal(number)?,
        })
    }

    /// The signed note.
    #[must_use]
    pub fn sign(&self, key: &SecretKey) -> SignedCheckpoint {
        let text = self.to_text();
        let signature = signature_line(&text, key);
        SignedCheckpoint(format!("{text}\n{signature}"))
    }
}

/// Reads a whole number in its one spelling.
fn decimal(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| format!("{number}") == text)
}

/// A signed checkpoint as text; made by signing, or read and not yet believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint(String);

impl SignedCheckpoint {
    /// Takes a text that may be a signed checkpoint.
    #[must_use]
    pub const fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What it says, without asking whether it is signed.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a checkpoint.
    pub fn claim(&self) -> Result<Checkpoint, Issue> {
        let (text, _) = split_note(&self.0)?;
        Checkpoint::parse(text).ok_or_else(|| {
            Issue::new(codes::CHECKPOINT_INVALID, "the note is not a checkpoint")
                .with_expected("the lines origin, size, base64 root, number N")
        })
    }

    /// Whether this key, and nobody beside it, signed exactly this text: a key signs a text in one way only, and to sign is
    /// less work than to check.
    #[must_use]
    pub fn is_by(&self, key: &SecretKey) -> bool {
        let Ok((text, line)) = split_note(&self.0) else { return false };
        let public = key.public();
        read_signature_line(line).is_some_and(|(name, hash, signature)| {
            (name, hash) == (public.name.as_str(), public.hash())
                && signature == key.sign(text.as_bytes()).as_bytes()
        })
    }

    /// What it says, if one of these keys signed it.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a checkpoint, if none of the keys signed it, and if a signature that claims to be by
    /// one of the keys is not.
    pub fn open(&self, keys: &[NoteKey]) -> Result<Checkpoint, Issue> {
        let checkpoint = self.claim()?;
        let (text, signatures) = split_note(&self.0)?;
        let keys = keys.iter().filter(|key| key.name == checkpoint.origin);
        open_note(text, signatures, keys)?;
        Ok(checkpoint)
    }
}

impl fmt::Display for SignedCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn refused(message: &str) -> Issue {
    Issue::new(codes::CHECKPOINT_INVALID, message)
        .with_expected("a signed note: text, an empty line, signature lines")
}

/// Splits a note into its signed text and its signature lines.
fn split_note(note: &str) -> Result<(&str, &str), Issue> {
    if note.len() > NOTE_BYTES_MAX {
        return Err(refused("the note is too long"));
    }
    if note.chars().any(|character| character < ' ' && character != '\n') {
        return Err(refused("the note holds a control character"));
    }
    // The last empty line: the text itself may hold one.
    let (text, signatures) = note.rsplit_once("\n\n").ok_or_else(|| refused("the note has no signatures"))?;
    let text_end = text.len().saturating_add(1);
    let text = note.get(..text_end).ok_or_else(|| refused("the note has no text"))?;
    let signatures =
        signatures.strip_suffix('\n').ok_or_else(|| refused("the note does not end with a line"))?;
    Ok((text, signatures))
}

fn signature_line(text: &str, key: &SecretKey) -> String {
    let public = key.public();
    let mut bytes = public.hash().to_vec();
    bytes.extend(key.sign(text.as_bytes()).as_bytes());
    format!("\u{2014} {} {}\n", public.name, to_base64(&bytes))
}

/// Checks every signature line that one of the keys claims; at least one must.
fn open_note<'k>(
    text: &str,
    signatures: &str,
    keys: impl Iterator<Item = &'k NoteKey> + Clone,
) -> Result<(), Issue> {
    let mut is_signed = false;
    for line in signatures.split('\n') {
        let (name, hash, signature) =
            read_signature_line(line).ok_or_else(|| refused("a signature line is malformed"))?;
        let Some(key) = keys.clone().find(|key| key.name.as_str() == name && key.hash() == hash) else {
            continue;
        };
        let signature = signature.try_into().map(Signature::from_bytes);
        if !signature.is_ok_and(|signature| key.key.verifies(text.as_bytes(), &signature)) {
            return Err(Issue::new(codes::SIGNATURE_INVALID, format!("the signature of `{name}` is forged")));
        }
        is_signed = true;
    }
    if is_signed {
        return Ok(());
    }
    Err(Issue::new(codes::SIGNATURE_INVALID, "no known key signed the note"))
}

fn read_signature_line(line: &str) -> Option<(&str, [u8; 4], alloc::vec::Vec<u8>)> {
    let (name, base64) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
    let bytes = from_base64(base64).ok().filter(|_| !name.is_empty())?;
    let (hash, signature) = bytes.split_first_chunk::<4>()?;
    Some((name, *hash, signature.to_vec()))
}

#[cfg(test)]
mod tests;

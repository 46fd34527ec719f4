//! Ed25519 keys and signatures, and the text forms that other people's tools read (C2SP signed-note).

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use countersign_canon::{
    Alphabet, Definitions, Issue, Json, Reader, Sha256, Shape, Wire, checked_name, from_base64,
    pattern_schema, to_base64,
};
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};

use crate::code::codes;

/// The byte that says Ed25519 in the text forms of keys.
const ED25519: u8 = 0x01;

checked_name! {
    /// The name of a key in a signed note: for a log's key, the log's own name, such as `countersign/urm-audit`.
    pub KeyName, "key name",
    Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z0-9")),
        rest: Alphabet("A-Za-z0-9_.:/-"),
        rest_min: 0,
        rest_max: Some(127),
    }
}

checked_name! {
    /// What a public key is called by: the first half of its SHA-256.
    pub KeyId, "key id",
    Shape { prefix: "key_", first: None, rest: Alphabet("0-9a-f"), rest_min: 32, rest_max: Some(32) }
}

/// A public key that is safe to check signatures with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(
    // INVARIANT: a point on the curve, and not one of the few that accept forged signatures.
    VerifyingKey,
);

impl PublicKey {
    /// Takes 32 bytes as a key, unless they are not a point or a weak one.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak()).map(Self)
    }

    /// The key's bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// What the key is called by.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let digest = format!("{}", Sha256::of(self.as_bytes()));
        KeyId(format!("key_{}", digest.get(..32).unwrap_or_default()).into())
    }

    /// Whether the signature is of this message and by this key. Malleable signatures are refused.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        self.0.verify_strict(message, &ed25519_dalek::Signature::from_bytes(&signature.0)).is_ok()
    }

    /// Reads the base64 of a key's 32 bytes.
    ///
    /// # Errors
    ///
    /// Fails on anything else, and on keys that would accept forgeries.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let bytes = from_base64(text)?;
        bytes.as_slice().try_into().ok().and_then(Self::from_bytes).ok_or_else(|| {
            Issue::new(codes::KEY_INVALID, "not a public key")
                .with_expected("base64 of an Ed25519 public key")
        })
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_base64(self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Wire for PublicKey {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(format!("{self}"))
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // The last letter carries four bits.
        pattern_schema("^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$")
    }
}

/// A signature: 64 bytes, on paper their base64.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Takes 64 bytes as a signature.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// The signature's bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// Reads the base64 of 64 bytes.
    ///
    /// # Errors
    ///
    /// Fails on anything else.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        from_base64(text)?.as_slice().try_into().map(Self).map_err(|_| {
            Issue::new(codes::SIGNATURE_INVALID, "not a signature").with_expected("base64 of 64 bytes")
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_base64(&self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Wire for Signature {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(format!("{self}"))
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // The last letter carries two bits.
        pattern_schema("^[A-Za-z0-9+/]{85}[AQgw]==$")
    }
}

/// A private key with its name. It is never printed by accident.
#[derive(Clone)]
pub struct SecretKey {
    name: KeyName,
    key: SigningKey,
}

impl SecretKey {
    /// Makes the key of this seed, which must be random and kept secret.
    #[must_use]
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Self {
        Self { name, key: SigningKey::from_bytes(seed) }
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> NoteKey {
        NoteKey { name: self.name.clone(), key: PublicKey(self.key.verifying_key()) }
    }

    /// Signs the message.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.key.sign(message).to_bytes())
    }

    /// The text form `PRIVATE+KEY+<name>+<hash>+<base64>`, for the key's own file and nowhere else.
    #[must_use]
    pub fn to_secret_text(&self) -> String {
        let public = self.public();
        format!("PRIVATE+KEY+{}+{}+{}", self.name, public.hash_hex(), key_base64(self.key.as_bytes()))
    }

    /// Reads the text form.
    ///
    /// # Errors
    ///
    /// Fails on anything else, also when the hash does not belong to the key. The text is not repeated.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = || {
            Issue::new(codes::KEY_INVALID, "not a private key").with_expected(
                "PRIVATE+KEY+<name>+<hash>+<base64>, as written by `countersign keys generate`",
            )
        };
        let parts = text.strip_prefix("PRIVATE+KEY+").ok_or_else(refused)?;
        let (name, hash, seed) = split_key(parts).ok_or_else(refused)?;
        let key = Self::from_seed(name, &seed);
        if key.public().hash_hex() == hash { Ok(key) } else { Err(refused()) }
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.public())
    }
}

/// A public key with its name; on paper `<name>+<hash>+<base64>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteKey {
    /// The name that stands before its signatures.
    pub name: KeyName,
    /// The key.
    pub key: PublicKey,
}

impl NoteKey {
    /// The four bytes that stand before its signatures.
    #[must_use]
    pub fn hash(&self) -> [u8; 4] {
        let pieces = [self.name.as_str().as_bytes(), b"\n", &[ED25519], self.key.as_bytes()];
        let [a, b, c, d, ..] = *Sha256::of_pieces(pieces).as_bytes();
        [a, b, c, d]
    }

    fn hash_hex(&self) -> String {
        format!("{:08x}", u32::from_be_bytes(self.hash()))
    }

    /// Reads the text form.
    ///
    /// # Errors
    ///
    /// Fails on anything else, also when the hash does not belong to the name and key.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = || {
            Issue::new(codes::KEY_INVALID, "not a verifier key")
                .with_expected("<name>+<hash>+<base64>, Ed25519")
        };
        let (name, hash, bytes) = split_key(text).ok_or_else(refused)?;
        let key = Self { name, key: PublicKey::from_bytes(&bytes).ok_or_else(refused)? };
        if key.hash_hex() == hash { Ok(key) } else { Err(refused()) }
    }
}

impl fmt::Display for NoteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}+{}", self.name, self.hash_hex(), key_base64(self.key.as_bytes()))
    }
}

impl Wire for NoteKey {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(format!("{self}"))
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        let name = KeyName::SHAPE.pattern();
        pattern_schema(&format!("{}\\+[0-9a-f]{{8}}\\+[A-Za-z0-9+/]{{44}}$", name.trim_end_matches('$')))
    }
}

fn key_base64(bytes: &[u8; 32]) -> String {
    let bytes: Vec<u8> = core::iter::once(ED25519).chain(bytes.iter().copied()).collect();
    to_base64(&bytes)
}

fn split_key(text: &str) -> Option<(KeyName, &str, [u8; 32])> {
    let (name, rest) = text.split_once('+')?;
    let (hash, base64) = rest.split_once('+')?;
    let bytes = from_base64(base64).ok()?;
    let (algorithm, key) = bytes.split_first()?;
    let key = key.try_into().ok().filter(|_| *algorithm == ED25519)?;
    Some((KeyName::parse(name).ok()?, hash, key))
}

#[cfg(test)]
mod tests;

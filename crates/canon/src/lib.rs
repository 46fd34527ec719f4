//! Gives every value one spelling and every spelling one name.
//!
//! This crate is the ground under the four engines: canonical JSON ([RFC 8785]), SHA-256, typed hashes,
//! checked names, time as data, JSON pointers, one strict parser that remembers positions, one way to turn
//! JSON into checked types and their JSON Schema, one payload scanner and one path normaliser.
//! It does no input or output and reads no clock.
//!
//! # Examples
//!
//! ```
//! use countersign_canon::{Json, Sha256};
//!
//! let value = Json::parse(br#"{"b": 1.0, "a": [true, "\u00e9"]}"#)?;
//! assert_eq!(value.to_canonical(), r#"{"a":[true,"é"],"b":1}"#);
//! assert_eq!(
//!     Sha256::of(value.to_canonical().as_bytes()).to_string(),
//!     "83a3979059aec8e3857b1c8e232a8a54a415f02a223aeaa3ba97654ebef44020",
//! );
//! assert_eq!(Json::parse(br#"{"a": 1, "a": 2}"#).unwrap_err().code.as_str(), "JSON_DUPLICATE_KEY");
//! # Ok::<(), countersign_canon::Issue>(())
//! ```
//!
//! [RFC 8785]: https://www.rfc-editor.org/rfc/rfc8785
#![no_std]
extern crate alloc;

mod base64;
mod canonical;
mod code;
mod distinct;
mod document;
mod hash;
mod issue;
mod json;
mod members;
mod non_empty;
mod nullable;
mod number;
mod parse;
mod path;
mod payload;
mod plain;
mod pointer;
mod schema;
mod secret;
mod shape;
mod spelling;
mod time;
mod wire;

pub use crate::{
    base64::{from_base64, to_base64},
    canonical::{spell_text, spell_texts},
    code::{Code, CodeEntry, codes as canon_codes},
    distinct::Distinct,
    hash::{Checksum, Sha256},
    issue::{Issue, IssueParts, Issues, Position},
    json::{Json, Member, Object, Value},
    members::{ObjectSpelling, key_order},
    non_empty::NonEmpty,
    nullable::Nullable,
    number::{INTEGER_MAX, Number, print_f64},
    parse::{DEPTH_MAX, DOCUMENT_BYTES_MAX},
    path::RepoPath,
    payload::scan_payload,
    pointer::Pointer,
    schema::{Definitions, closed_object_schema, pattern_schema, schema_document, schema_with},
    secret::{REDACTED, redact_secrets},
    shape::{Alphabet, Shape},
    spelling::{nearest, unknown_word},
    time::Timestamp,
    wire::{List, Name, Reader, Text, Wire, Within},
};

/// What the macros of this crate need at their call sites; not for people.
#[doc(hidden)]
pub mod __private {
    pub use alloc::{format, string::String, sync::Arc, vec::Vec};
}

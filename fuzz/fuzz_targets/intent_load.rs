//! Any bytes: loading answers with reasons or with an intent that reads back as itself.
#![no_main]

use countersign_canon::{Json, Wire};
use countersign_intent::{Intent, validate_document};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let judged = validate_document(bytes, None, None);
    if let Ok(intent) = Intent::load(bytes, None) {
        assert!(judged.is_ok());
        let written = intent.document().write().to_canonical();
        // Paths are written in their one spelling, so that the document may differ from what was read, once.
        let again = Json::parse(written.as_bytes()).expect("what is written parses");
        assert_eq!(again.get("id").and_then(Json::as_str), Some(intent.id().as_str()));
    }
});

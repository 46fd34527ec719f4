//! Any bytes: the parser answers with a place inside them, or with a value that reads back as itself.
#![no_main]

use countersign_canon::{Json, scan_payload};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match Json::parse(bytes) {
        Ok(value) => {
            let canonical = value.to_canonical();
            let again = Json::parse(canonical.as_bytes()).expect("canonical text parses");
            assert_eq!(again, value);
            assert_eq!(again.to_canonical(), canonical);
            assert_eq!(Json::parse(value.to_pretty().as_bytes()).expect("pretty text parses"), value);
            let _findings = scan_payload(&value);
        }
        Err(issue) => assert!(issue.offset.is_none_or(|offset| offset <= bytes.len())),
    }
});

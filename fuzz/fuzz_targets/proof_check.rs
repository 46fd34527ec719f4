//! Any bytes: a certificate is refused with its code, whole files and rests with a right first line alike.
#![no_main]

use countersign_canon::Sha256;
use countersign_proof::{Certificate, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _raw = check(bytes).is_ok();
    let sealed = [format!("countersign.certificate@1 {}\n", Sha256::of(bytes)).as_bytes(), bytes].concat();
    if let Ok(certificate) = Certificate::parse(&sealed) {
        assert_eq!(Certificate::parse(certificate.to_text().as_bytes()).as_ref(), Ok(&certificate));
    }
    if let Err(issue) = check(&sealed) {
        assert_eq!(issue.code.as_str(), "PROOF_CERTIFICATE_INVALID");
    }
    // Any text as a proof of a small formula that has a model: nothing derives the contradiction.
    if let Ok(text) = core::str::from_utf8(bytes) {
        assert!(countersign_proofcheck::check(&[vec![1, 2], vec![-1, 2], vec![-2, 3]], text).is_err());
    }
});

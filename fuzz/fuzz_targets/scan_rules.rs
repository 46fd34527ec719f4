//! Any bytes as rule files: a bundle, or reasons that each stand inside the file; what loads can be searched with.
#![no_main]

use countersign_canon::Json;
use countersign_scan::{Bundle, FileSearch, Piece, Plan, RuleFiles};
use libfuzzer_sys::fuzz_target;

// The reader that the program loads rules with.
#[path = "../../crates/cli/src/yaml.rs"]
mod yaml;

/// The document, if nothing is wrong with it; every problem has a place.
fn read(bytes: &[u8], dialect: yaml::Dialect) -> Option<Json<'static>> {
    let yaml::Parsed { document, issues } = yaml::parse(bytes, dialect);
    assert!(document.is_some() || !issues.is_empty());
    assert!(issues.iter().all(|issue| issue.offset.is_some_and(|offset| offset <= bytes.len())));
    document.filter(|_| issues.is_empty())
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(json) = read(bytes, yaml::Dialect::Json) {
        assert!(Json::parse(json.to_canonical().as_bytes()).is_ok());
    }
    let mut parts = bytes.split(|byte| *byte == 0).map(|part| read(part, yaml::Dialect::Texts));
    let mut next = || parts.next().flatten();
    let files = RuleFiles { boundaries: next(), invariants: next(), deprecated: next() };
    match Bundle::load(&files) {
        Err(issues) => assert!(!issues.is_empty()),
        Ok(bundle) => {
            assert!(Bundle::load(&files).is_ok_and(|again| again.hash() == bundle.hash()));
            let set = Plan::new(&bundle).only(0);
            let mut search = FileSearch::new(&set);
            search.piece(bytes, Piece::Last);
            drop(search.finish());
        }
    }
});

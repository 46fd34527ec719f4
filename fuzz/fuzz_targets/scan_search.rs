//! Any patterns in any bytes: what is found does not depend on the pieces, and is where a plain search finds it.
#![no_main]

use countersign_canon::Json;
use countersign_scan::{Bundle, EXCERPT_CHARS_MAX, FileSearch, Finding, PatternSet, Piece, Plan, RuleFiles};
use libfuzzer_sys::fuzz_target;

fn search(set: &PatternSet, file: &[u8], piece_bytes: usize) -> Vec<Finding> {
    let mut search = FileSearch::new(set);
    let (mut start, mut end) = (0, 0);
    loop {
        end = (end + piece_bytes).min(file.len());
        let piece = if end == file.len() { Piece::Last } else { Piece::Middle };
        start += search.piece(&file[start..end], piece);
        if piece == Piece::Last {
            return search.finish();
        }
    }
}

fuzz_target!(|input: (Vec<String>, &[u8], u16, u8)| {
    let (patterns, seed, piece_bytes, repeats) = input;
    let rule = Json::object([
        ("id", Json::from("R")),
        ("title", Json::from("T")),
        ("enforcement", Json::object([("mode", Json::from("fail"))])),
        ("match", Json::object([("files", Json::array(["**"])), ("forbidden_patterns", Json::array(patterns))])),
    ]);
    let files = RuleFiles { boundaries: Some(Json::object([("boundaries", Json::array([rule]))])), ..RuleFiles::default() };
    let Ok(bundle) = Bundle::load(&files) else { return };
    let file = seed.repeat(usize::from(repeats));
    let set = Plan::new(&bundle).only(0);
    let whole = search(&set, &file, usize::MAX / 2);
    assert_eq!(search(&set, &file, usize::from(piece_bytes).max(1)), whole);
    for (number, pattern) in (0_u32..).zip(bundle.patterns()) {
        let pattern = pattern.as_str().as_bytes();
        let expected = file.windows(pattern.len()).position(|window| window == pattern);
        let found = whole.iter().find(|finding| finding.pattern == number && finding.encoding.is_none());
        let wide = whole.iter().any(|finding| finding.pattern == number && finding.encoding.is_some());
        assert!(wide || found.map(|finding| finding.offset) == expected.map(|at| at as u64));
    }
    assert!(whole.iter().all(|finding| finding.excerpt.chars().count() <= EXCERPT_CHARS_MAX));
});

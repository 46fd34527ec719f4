//! What is found where, in one piece and in many.
#![expect(clippy::arithmetic_side_effects, reason = "tests count small things")]

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use countersign_canon::Json;
use proptest::prelude::*;

use super::*;
use crate::{Bundle, RuleFiles};

/// A bundle of boundaries: id, globs, patterns.
pub(crate) fn bundle(rules: &[(&str, &[&str], &[&str])]) -> Bundle {
    let rows = rules.iter().map(|(id, globs, patterns)| {
        Json::object([
            ("id", Json::from(*id)),
            ("title", Json::from("a title")),
            ("enforcement", Json::object([("mode", Json::from("fail"))])),
            (
                "match",
                Json::object([
                    ("files", Json::array(globs.iter().copied())),
                    ("forbidden_patterns", Json::array(patterns.iter().copied())),
                ]),
            ),
        ])
    });
    let boundaries = Json::object([("boundaries", Json::array(rows))]);
    Bundle::load(&RuleFiles { boundaries: Some(boundaries), ..RuleFiles::default() }).unwrap()
}

/// Searches `file` in pieces of about this size.
fn search(bundle: &Bundle, file: &[u8], piece_bytes: usize) -> Vec<Finding> {
    let plan = Plan::new(bundle);
    let mut sets = Sets::new(&plan);
    let set = sets.meet(&plan.globs().root(), b"x").unwrap();
    search_set(&set, file, piece_bytes)
}

fn search_set(set: &PatternSet, file: &[u8], piece_bytes: usize) -> Vec<Finding> {
    let mut search = FileSearch::new(set);
    let (mut start, mut end) = (0, 0);
    loop {
        end = (end + piece_bytes.max(1)).min(file.len());
        let piece = if end == file.len() { Piece::Last } else { Piece::Middle };
        start += search.piece(&file[start..end], piece);
        if piece == Piece::Last {
            return search.finish();
        }
    }
}

/// Pattern, offset, line, column: as plain as can be.
#[track_caller]
fn check(patterns: &[&str], file: &[u8], expected: &[(&str, u64, u64, u64)]) {
    let bundle = bundle(&[("a", &["**"], patterns)]);
    for piece_bytes in [1, 700, 4096, usize::MAX / 2] {
        let found = search(&bundle, file, piece_bytes);
        let found: Vec<_> = found
            .iter()
            .map(|finding| {
                let pattern = bundle.pattern(finding.pattern).unwrap().as_str();
                (pattern, finding.offset, finding.line, finding.column)
            })
            .collect();
        assert_eq!(found, expected, "in pieces of {piece_bytes}");
    }
}

#[test]
fn overlapping_patterns_are_all_found() {
    check(&["abc", "bcd", "b", "abcde"], b"xabcd", &[("abc", 1, 1, 2), ("bcd", 2, 1, 3), ("b", 2, 1, 3)]);
    check(
        &["\"public-read", "\"public-read-write\""],
        b"acl = \"public-read-write\"",
        &[("\"public-read", 6, 1, 7), ("\"public-read-write\"", 6, 1, 7)],
    );
}

#[test]
fn lines_and_columns_count_bytes_from_one() {
    check(&["x"], "a\né x".as_bytes(), &[("x", 5, 2, 4)]);
    check(&["x"], b"\r\n\r\nx", &[("x", 4, 3, 1)]);
    check(&["\nx"], b"a\nx", &[("\nx", 1, 1, 2)]);
    check(&["a\r\nb"], b"xa\r\nb", &[("a\r\nb", 1, 1, 2)]);
}

#[test]
fn bytes_are_searched_as_they_are() {
    check(&["0.0.0.0/0"], b"\x00\xff\xfe0.0.0.0/0\x80", &[("0.0.0.0/0", 3, 1, 4)]);
    check(&["\u{0}"], b"ab\0", &[("\u{0}", 2, 1, 3)]);
    check(&["é"], b"\xc3\xc3\xa9", &[("é", 1, 1, 2)]);
    check(&["\u{feff}a"], "\u{feff}a".as_bytes(), &[("\u{feff}a", 0, 1, 1)]);
    check(&["a"], b"", &[]);
}

#[test]
fn case_counts() {
    check(&["Secret"], b"secret SECRET", &[]);
}

/// The text in UTF-16 with its mark.
fn wide(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    core::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(unit).collect()
}

#[test]
fn utf16_hides_nothing() {
    let text = "é\n😀 cidr 0.0.0.0/0";
    let little = wide(text, u16::to_le_bytes);
    let big = wide(text, u16::to_be_bytes);
    for (file, encoding) in [(little, Encoding::Utf16Le), (big, Encoding::Utf16Be)] {
        let bundle = bundle(&[("a", &["**"], &["0.0.0.0/0", "absent"])]);
        for piece_bytes in [1, 5, 4096] {
            let found = search(&bundle, &file, piece_bytes);
            let found: Vec<_> =
                found.iter().map(|f| (f.offset, f.line, f.column, &*f.excerpt, f.encoding)).collect();
            // Mark 2, `é` 2, line break 2, smile 4, blank 2, `cidr ` 10.
            assert_eq!(found, [(22, 2, 17, "😀 cidr 0.0.0.0/0", Some(encoding))]);
        }
    }
}

#[test]
fn utf16_is_searched_as_bytes_too() {
    let mut file = wide("none", u16::to_le_bytes);
    file.extend(b"plain 0.0.0.0/0");
    let found = search(&bundle(&[("a", &["**"], &["0.0.0.0/0"])]), &file, 4096);
    assert_eq!((found[0].offset, found[0].encoding), (16, None));
}

#[test]
fn halves_of_characters_do_not_stop_a_search() {
    let mut file = vec![0xFF, 0xFE, 0x00, 0xD8];
    file.extend(wide("ab", u16::to_le_bytes).split_off(2));
    file.extend([0x00, 0xDC, 0x01, 0xD8, 0x02, 0xD8]);
    file.extend(wide("cd", u16::to_le_bytes).split_off(2));
    file.push(0x61);
    let found = search(&bundle(&[("a", &["**"], &["ab", "cd"])]), &file, 3);
    assert_eq!(found.iter().map(|finding| finding.offset).collect::<Vec<_>>(), [4, 14]);
}

#[test]
fn a_rule_set_has_only_its_own_patterns() {
    let many: Vec<String> = (0..100).map(|number| format!("pattern-{number}-")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bundle =
        bundle(&[("a", &["a/**"], &many), ("b", &["**/x"], &["pattern-7-", "y"]), ("c", &["c"], &["z"])]);
    let plan = Plan::new(&bundle);
    let mut sets = Sets::new(&plan);
    let root = plan.globs().root();
    let both = sets.meet(&plan.globs().enter(&root, b"a"), b"x").unwrap();
    assert_eq!(both.rules(), [0, 1]);
    let found = search_set(&both, b"yz pattern-7- pattern-99-", 4096);
    let found: Vec<_> = found.iter().map(|f| bundle.pattern(f.pattern).unwrap().as_str()).collect();
    assert_eq!(found, ["pattern-7-", "pattern-99-", "y"]);
    let one = sets.meet(&root, b"x").unwrap();
    assert_eq!(search_set(&one, b"pattern-8- y z", 4096).len(), 1);
    assert!(sets.meet(&root, b"other").is_none());
}

#[test]
fn ten_thousand_patterns_are_found_at_once() {
    let many: Vec<String> = (0..10_000).map(|number| format!("<{number}>")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bundle = bundle(&[("a", &["**"], &many)]);
    let file: String = (0..10_000).rev().map(|number| format!("{number}<{number}>\n")).collect();
    let found = search(&bundle, file.as_bytes(), 10_000);
    assert_eq!(found.len(), 10_000);
    assert_eq!((found[9_999].offset, found[9_999].line), (4, 1));
    assert_eq!((found[0].line, found[0].column), (10_000, 2));
}

mod excerpts {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, file: &[u8], expected: &str, expected_match: &str) {
        for piece_bytes in [500, usize::MAX / 2] {
            let found = search(&bundle(&[("a", &["**"], &[pattern])]), file, piece_bytes);
            let Finding { excerpt, excerpt_start, excerpt_length, .. } = &found[0];
            assert_eq!(&**excerpt, expected);
            assert!(excerpt.chars().count() <= EXCERPT_CHARS_MAX);
            let matched: String =
                excerpt.chars().skip((*excerpt_start).into()).take((*excerpt_length).into()).collect();
            assert_eq!(matched, expected_match);
        }
    }

    #[test]
    fn are_the_line_without_its_indentation() {
        check("b", b"x\n \ta b c \r\ny", "a b c", "b");
        check(" b", b"\n  b", " b", " b");
    }

    #[test]
    fn write_out_what_moves_a_cursor() {
        check("b", b"a\x1b[31m\tb\x07\x7f", "a\\u{1b}[31m\\tb\\u{7}\\u{7f}", "b");
        check("a\nb", b"xa\nby\n", "xa\\nby", "a\\nb");
        check("b", "\u{202e}b\u{2028}".as_bytes(), "\\u{202e}b\\u{2028}", "b");
    }

    #[test]
    fn replace_what_is_no_character() {
        check("b", b"\xffb\xc3", "\u{fffd}b\u{fffd}", "b");
    }

    #[test]
    fn are_cut_around_the_match() {
        let long = "é".repeat(10_000);
        let side = "é".repeat(99);
        check("ab", format!("{long}ab{long}").as_bytes(), &format!("{side}ab{side}"), "ab");
        check("ab", format!("ab{long}").as_bytes(), &format!("ab{}", "é".repeat(198)), "ab");
        check("ab", format!("{long}ab").as_bytes(), &format!("{}ab", "é".repeat(198)), "ab");
        let bells = "\u{7}".repeat(10_000);
        let shown = "\\u{7}";
        let expected = format!("{}ab{}", shown.repeat(19), shown.repeat(20));
        check("ab", format!("{bells}ab{bells}").as_bytes(), &expected, "ab");
        let pattern = "p".repeat(300);
        check(&pattern, format!("x{pattern}y").as_bytes(), &"p".repeat(200), &"p".repeat(200));
    }
}

/// The first place of a pattern, by the slowest way there is.
fn naive(file: &[u8], pattern: &[u8]) -> Option<(u64, u64, u64)> {
    let start = (0..file.len()).find(|&start| file[start..].starts_with(pattern))?;
    let line = 1 + file[..start].iter().filter(|&&byte| byte == b'\n').count();
    let column = 1 + file[..start].iter().rev().take_while(|&&byte| byte != b'\n').count();
    Some((u64::try_from(start).ok()?, u64::try_from(line).ok()?, u64::try_from(column).ok()?))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_found_does_not_depend_on_the_pieces(
        mut patterns in proptest::collection::vec("[ab\n]{1,6}", 1..70),
        parts in proptest::collection::vec("[abc\n]{0,30}", 0..40),
        filler in 0_usize..400,
        piece_bytes in 1_usize..5000,
    ) {
        patterns.sort();
        patterns.dedup();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let bundle = bundle(&[("r", &["**"], &patterns)]);
        let file = parts.join(&"c".repeat(filler)).into_bytes();
        let whole = search(&bundle, &file, usize::MAX / 2);
        prop_assert_eq!(&search(&bundle, &file, piece_bytes), &whole);
        for (id, pattern) in (0_u32..).zip(bundle.patterns()) {
            let found = whole.iter().find(|finding| finding.pattern == id);
            let found = found.map(|finding| (finding.offset, finding.line, finding.column));
            prop_assert_eq!(found, naive(&file, pattern.as_str().as_bytes()), "{}", pattern.as_str().to_string());
        }
    }
}

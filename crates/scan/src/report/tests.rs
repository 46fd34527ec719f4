//! The same findings in every format, in the same order whatever order they come in.

use alloc::{borrow::ToOwned as _, string::String, vec, vec::Vec};

use countersign_canon::{Json, Reader, Wire as _};

use super::*;
use crate::{FileSearch, Piece, Plan, RuleFiles, Sets, Verdict, codes};

const BOUNDARIES: &[u8] = br#"{"boundaries": [
    {"id": "TF-1", "title": "No <open> ingress", "enforcement": {"mode": "fail"}, "remediation": "Name a *range* | ask @net",
     "match": {"files": ["**/*.tf"], "forbidden_patterns": ["0.0.0.0/0", "::/0"]}},
    {"id": "TF-2", "title": "Kept", "enforcement": {"mode": "fail"},
     "match": {"files": ["**/*.tf"], "forbidden_patterns": ["never"]}}
]}"#;
const INVARIANTS: &[u8] = br#"{"invariants": [
    {"id": "ANY-1", "title": "No `ticks`", "enforcement": {"mode": "fail"}, "owner": "team, security",
     "match": {"files": ["**"], "required_absent": ["`tick`", "0.0.0.0/0"]}}
]}"#;

fn bundle() -> Bundle {
    let files = RuleFiles {
        boundaries: Some(Json::parse(BOUNDARIES).unwrap()),
        invariants: Some(Json::parse(INVARIANTS).unwrap()),
        deprecated: None,
    };
    Bundle::load(&files).unwrap()
}

fn judge(bundle: &Bundle, files: &[(&[u8], &[u8])]) -> Vec<FileFindings> {
    let plan = Plan::new(bundle);
    let mut sets = Sets::new(&plan);
    let folder = plan.globs().root();
    files
        .iter()
        .map(|(path, bytes)| {
            let set = sets.meet(&folder, path).unwrap();
            let mut search = FileSearch::new(&set);
            search.piece(bytes, Piece::Last);
            FileFindings { path: (*path).to_owned(), rules: set.rules().into(), findings: search.finish() }
        })
        .collect()
}

fn report<'b>(bundle: &'b Bundle, order: &[usize]) -> Report<'b> {
    let files: [(&[u8], &[u8]); 4] = [
        (b"b.tf", b"# `tick` | %0A ::error::\ncidr = \"::/0\" # 0.0.0.0/0"),
        (b"a,b:%.tf", b"\x1b[2J0.0.0.0/0]]>"),
        (b"\xff\\x.md", b"`tick`"),
        (b"clean.tf", b"fine"),
    ];
    let files: Vec<_> = order.iter().map(|index| files[*index]).collect();
    let scope = Scope { mode: Mode::Full, base: None, head: None };
    let counts = Counts { files_considered: 9, files_matched: 4, bytes_searched: 99, rule_files_excluded: 0 };
    let skipped = vec![SkippedPath { path: b"l\n.tf".into(), reason: SkipReason::Symlink }];
    Report::new(bundle, scope, counts, skipped, judge(bundle, &files))
}

fn shown(format: Format) -> String {
    let bundle = bundle();
    report(&bundle, &[0, 1, 2, 3]).pieces(format, Paint::Plain).collect()
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let bundle = bundle();
    for format in Format::ALL {
        let one: String = report(&bundle, &[0, 1, 2, 3]).pieces(*format, Paint::Plain).collect();
        let other: String = report(&bundle, &[3, 2, 1, 0]).pieces(*format, Paint::Plain).collect();
        assert_eq!(one, other);
    }
}

#[test]
fn violations_are_sorted_by_type_rule_path_and_pattern() {
    let bundle = bundle();
    let report = report(&bundle, &[2, 0, 3, 1]);
    let order: Vec<(&str, &[u8], &str)> = report
        .broken()
        .map(|broken| (broken.rule.id.as_str(), broken.path, broken.pattern.as_str()))
        .collect();
    let expected: [(&str, &[u8], &str); 6] = [
        ("TF-1", b"a,b:%.tf", "0.0.0.0/0"),
        ("TF-1", b"b.tf", "0.0.0.0/0"),
        ("TF-1", b"b.tf", "::/0"),
        ("ANY-1", b"a,b:%.tf", "0.0.0.0/0"),
        ("ANY-1", b"b.tf", "`tick`"),
        ("ANY-1", b"b.tf", "0.0.0.0/0"),
    ];
    assert_eq!(order[..6], expected);
    assert_eq!(order[6].1, b"\xff\\x.md");
}

#[test]
fn the_verdict_reads_back_and_is_what_its_type_writes() {
    let text = shown(Format::Json);
    let verdict: Verdict = Reader::read_document(text.as_bytes(), codes::SCAN_OUTPUT).unwrap();
    assert_eq!(verdict.write().to_pretty(), text);
    assert_eq!(verdict.violations.len(), 7);
    assert_eq!(verdict.violations[6].file, "\\xff\\\\x.md");
    let evidence = &verdict.violations[0].evidence;
    assert_eq!((evidence.offset.get(), evidence.line.get(), evidence.column.get()), (4, 1, 5));
    assert_eq!(evidence.excerpt.as_str(), "\\u{1b}[2J0.0.0.0/0]]>");
}

#[test]
fn a_verdict_without_violations_is_a_pass() {
    let bundle = bundle();
    let report = report(&bundle, &[3]);
    let text: String = report.pieces(Format::Json, Paint::Plain).collect();
    let verdict: Verdict = Reader::read_document(text.as_bytes(), codes::SCAN_OUTPUT).unwrap();
    assert_eq!((verdict.verdict, verdict.violations.len()), (Outcome::Pass, 0));
    assert_eq!(verdict.write().to_pretty(), text);
}

#[test]
fn text_shows_the_line_a_caret_and_what_to_do() {
    let text = shown(Format::Text);
    let first = "TF-1 No <open> ingress (boundary)
  remediation: Name a *range* | ask @net

  a,b:%.tf
    1 | \\u{1b}[2J0.0.0.0/0]]>
      |          ^^^^^^^^^ column 5

  b.tf
    2 | cidr = \"::/0\" # 0.0.0.0/0
      |                 ^^^^^^^^^ column 17
";
    assert!(text.starts_with(first), "{text}");
    let last = "\nnot searched: l\\n.tf (symlink)\n\nFAIL: 7 violations of 2 rules; 4 files of 9 searched, 3 rules enforced\n";
    assert!(text.ends_with(last), "{text}");
}

#[test]
fn github_annotations_cannot_be_forged_by_a_file() {
    let text = shown(Format::Github);
    let first = "::error file=a%2Cb%3A%25.tf,line=1,col=5,title=TF-1 No <open> ingress::TF-1: the file contains the \
                 forbidden pattern `0.0.0.0/0`%0A\\u{1b}[2J0.0.0.0/0]]>%0Aremediation: Name a *range* | ask @net\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.ends_with("\ncountersign scan: FAIL, 7 violations, 4 files searched\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("::")).count(), 7);
    assert!(text.contains("# `tick` | %250A ::error::"), "{text}");
}

#[test]
fn junit_has_a_failure_for_each_violation_and_a_pass_for_each_kept_rule() {
    let text = shown(Format::Junit);
    assert!(
        text.contains(
            "<testsuite name=\"countersign scan\" tests=\"8\" failures=\"7\" errors=\"0\" skipped=\"0\">"
        ),
        "{text}"
    );
    assert!(text.contains("<testcase classname=\"boundary.TF-2\" name=\"Kept\"/>"), "{text}");
    assert!(text.contains("message=\"No &lt;open&gt; ingress: the file contains"), "{text}");
    assert_eq!(text.matches("<failure ").count(), 7);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn markdown_shows_text_as_text() {
    let text = shown(Format::Markdown);
    assert!(
        text.starts_with(
            "## Countersign scan: FAIL\n\n7 violations; 4 files of 9 searched, 3 rules enforced.\n"
        ),
        "{text}"
    );
    assert!(text.contains("### `TF-1`: No &lt;open> ingress (boundary)"), "{text}");
    assert!(text.contains("Remediation: Name a \\*range\\* \\| ask &#64;net"), "{text}");
    assert!(
        text.contains("| `` # `tick` \\| %0A ::error:: `` |")
            || text.contains("| ``# `tick` \\| %0A ::error::`` |"),
        "{text}"
    );
}

#[test]
fn sarif_has_one_result_for_each_violation() {
    let text = shown(Format::Sarif);
    let sarif = Json::parse(text.as_bytes()).unwrap();
    let run = &sarif.get("runs").unwrap().as_array().unwrap()[0];
    let results = run.get("results").unwrap().as_array().unwrap();
    assert_eq!(results.len(), 7);
    assert!(text.contains("\"uri\":\"%FF%5Cx.md\""), "{text}");
    assert!(text.contains("\"uri\":\"a%2Cb%3A%25.tf\""), "{text}");
    assert!(results.iter().all(|result| result.get("level").unwrap().as_str() == Some("error")));
    let bundle = bundle();
    let empty: String = report(&bundle, &[3]).pieces(Format::Sarif, Paint::Plain).collect();
    assert!(Json::parse(empty.as_bytes()).is_ok());
}

#[test]
fn paint_adds_colour_and_nothing_else() {
    let bundle = bundle();
    let report = report(&bundle, &[0, 1, 2, 3]);
    let coloured: String = report.pieces(Format::Text, Paint::Colour).collect();
    assert!(coloured.contains("\u{1b}[1;31mTF-1\u{1b}[0m"));
    let mut plain = coloured;
    for code in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[1;31m", "\u{1b}[1;32m"] {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, shown(Format::Text));
}

#[test]
fn paths_have_one_spelling_each() {
    assert_eq!(show_path(b"a/\xc3\xa9\xff\\xff"), "a/é\\xff\\\\xff");
    assert_eq!(show_path("a\nb".as_bytes()), "a\nb");
}

//! What is shown of free text, and what is not.

use alloc::string::String;

use countersign_canon::RepoPath;

use super::{NamedPaths, reads_like_file};

fn named(paths: &[&str]) -> NamedPaths {
    let paths = paths.iter().map(|text| RepoPath::parse(text).unwrap());
    let paths: alloc::collections::BTreeSet<RepoPath> = paths.collect();
    NamedPaths { texts: paths.iter().map(|path| String::from(path.as_str())).collect(), paths }
}

#[test]
fn a_named_path_is_shown_whole_and_any_other_is_left_out() {
    let named = named(&["src/a.py"]);
    let check = |text: &str, expected: &str| assert_eq!(named.quoted(text, 200), expected);
    check("change src/a.py now", "change src/a.py now");
    check("change `./src//a.py`.", "change `src/a.py`.");
    check("change src/a.pyc and src/a", "change […] and […]");
    check("see /etc/passwd, ../x or a\\b", "see […], […] or […]");
    check("touch config.yaml\n\tsoon", "touch […] soon");
    check("version 1.2 of it, i.e. v2.", "version 1.2 of it, i.e. v2.");
}

#[test]
fn a_long_text_is_cut() {
    assert_eq!(named(&[]).quoted("one two three", 9), "one two…");
    assert_eq!(
        named(&["src/a.py"]).quoted("see src/a.py", 10),
        "see…",
        "a path is shown whole or not at all"
    );
}

#[test]
fn what_reads_like_a_file_is_told_from_what_does_not() {
    for file in ["src/a.py", "a.py", "/etc/hosts", "../x", "README.md", "a/b/c", "./run"] {
        assert!(reads_like_file(file), "{file}");
    }
    for word in ["and/or", "Node.js", "v1.2", "doc://a/b/c.md", "i.e", "read/write", "..."] {
        assert!(!reads_like_file(word), "{word}");
    }
}

#[test]
fn a_folder_is_known_by_its_mark_its_pattern_or_what_lies_under_it() {
    let named = named(&["src", "src/a.py", "docs/", "docs", "lib/*.rs", "Makefile", "srcfoo"]);
    let is_area = |text: &str| named.is_area(&RepoPath::parse(text).unwrap());
    assert!(is_area("src") && is_area("docs/") && is_area("docs") && is_area("lib/*.rs") && is_area("."));
    assert!(!is_area("src/a.py") && !is_area("Makefile") && !is_area("srcfoo"));
}

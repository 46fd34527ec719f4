//! Patches in the format of apply_patch.

use super::*;

#[test]
fn a_patch_is_read_file_by_file() {
    let text = "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n*** Update File: b.rs\n*** Move to: c.rs\n\
                @@ fn main\n context\n-old\n+new\n\n@@\n-x\n*** End of File\n*** Delete File: d\n*** End Patch";
    let patch = Patch::parse(text).unwrap();
    let hunk = |heading: Option<&str>, old: &str, new: &str, is_at_end| Hunk {
        heading: heading.map(String::from),
        old: old.into(),
        new: new.into(),
        is_at_end,
    };
    let file = |path: &str, change| PatchedFile { path: path.into(), change };
    assert_eq!(
        patch.files,
        [
            file("a.txt", Change::Add("one\n\ntwo\n".into())),
            file(
                "b.rs",
                Change::Update {
                    to: Some("c.rs".into()),
                    hunks: Vec::from([
                        hunk(Some("fn main"), "context\nold\n\n", "context\nnew\n\n", false),
                        hunk(None, "x\n", "", true),
                    ]),
                }
            ),
            file("d", Change::Delete),
        ]
    );
    let touched: Vec<(&str, bool)> = patch.touched().collect();
    assert_eq!(touched, [("a.txt", false), ("b.rs", false), ("c.rs", false), ("d", true)]);
}

#[test]
fn what_is_no_patch_is_refused_at_its_line() {
    for (text, line) in [
        ("", "line 1 "),
        ("*** Begin Patch", "line 1 "),
        ("x\n*** End Patch", "line 1 "),
        ("*** Begin Patch\n*** Add File: a\n+b", "line 3 "),
        ("*** Begin Patch\n*** End Patch", "line 2 "),
        ("*** Begin Patch\nstray\n*** End Patch", "line 2 "),
        ("*** Begin Patch\n*** Add File: a\nb\n*** End Patch", "line 3 "),
        ("*** Begin Patch\n*** Delete File: a\n+b\n*** End Patch", "line 3 "),
        ("*** Begin Patch\n*** Update File: a\n@@\n?b\n*** End Patch", "line 4 "),
        ("*** Begin Patch\n*** Update File: a\n-b\n*** Move to: c\n*** End Patch", "line 4 "),
        ("*** Begin Patch\n*** Add File: \n+b\n*** End Patch", "line 2 "),
    ] {
        let issue = Patch::parse(text).expect_err(text);
        assert_eq!(issue.code, codes::PATCH_SYNTAX);
        assert!(issue.message.starts_with(line), "{text:?}: {issue}");
    }
}

#[test]
fn the_number_of_files_has_a_limit() {
    let files = |count| format!("*** Begin Patch\n{}*** End Patch", "*** Delete File: a\n".repeat(count));
    assert!(Patch::parse(&files(PATCH_FILES_MAX)).is_ok());
    assert!(Patch::parse(&files(PATCH_FILES_MAX + 1)).is_err());
}

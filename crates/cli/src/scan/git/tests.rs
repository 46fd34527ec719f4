//! References that are refused, and git's answers as they are read.

use super::*;

#[test]
fn a_reference_is_never_an_option_or_a_range() {
    for text in ["", "-", "--output=x", "-O/tmp/x", "a..b", "a...b", "main:rules", "a b", "a\nb", "\u{7}"] {
        assert!(GitRef::parse(text).is_err(), "{text:?}");
    }
    for text in ["main", "origin/main", "HEAD~3", "v1.0^{commit}", "@{upstream}", "9fceb02", "feature/ü"] {
        assert!(GitRef::parse(text).is_ok(), "{text:?}");
    }
}

const ID: &str = "0123456789012345678901234567890123456789";

fn shown(files: &[TreeFile]) -> Vec<(String, EntryKind)> {
    files.iter().map(|file| (String::from_utf8_lossy(&file.path).into_owned(), file.kind)).collect()
}

#[test]
fn changes_are_those_in_the_target_that_still_have_contents() {
    let raw = format!(
        ":100644 100644 {ID} {ID} M\0sub/a\nb.tf\0:000000 100755 {ID} {ID} A\0sub/new\0:100644 000000 {ID} {ID} D\0sub/gone\0\
         :100644 120000 {ID} {ID} T\0sub/link\0:160000 160000 {ID} {ID} M\0sub/module\0:100644 100644 {ID} {ID} M\0other\0"
    );
    let files = parse_raw(raw.as_bytes(), b"sub/").unwrap();
    let expected = [
        ("a\nb.tf", EntryKind::File),
        ("new", EntryKind::File),
        ("link", EntryKind::Symlink),
        ("module", EntryKind::Submodule),
    ];
    assert_eq!(shown(&files), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn what_cannot_be_read_is_an_error_and_not_an_empty_list() {
    for raw in ["x\0", ":1 2 3 4 M\0path\0", ":100644 100644 0 0 X\0path\0", "no path after this\0"] {
        assert!(parse_raw(raw.as_bytes(), b"").is_err(), "{raw}");
    }
    let conflict = format!(":000000 000000 {ID} {ID} U\0path\0");
    assert!(parse_raw(conflict.as_bytes(), b"").unwrap_err().message.contains("conflict"));
    assert!(parse_index(format!("100644 {ID} 2\tpath\0").as_bytes()).is_err());
    assert!(parse_index(b"100644 path\0").is_err());
    assert_eq!(
        shown(&parse_index(format!("100644 {ID} 0\ta\tb\0").as_bytes()).unwrap()),
        [("a\tb".to_owned(), EntryKind::File)]
    );
}

#[test]
fn contents_are_known_by_the_name_that_git_gives_them() {
    let name = |text: &str| ObjectId::parse(text.as_bytes()).unwrap();
    // `git hash-object --stdin`
    assert!(name("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391").is_name_of(b""));
    assert!(name("ce013625030ba8dba906f756967f9e9ca394464a").is_name_of(b"hello\n"));
    assert!(!name("ce013625030ba8dba906f756967f9e9ca394464a").is_name_of(b"hello\r\n"));
    // A repository with longer names is left to git.
    assert!(!name(&"0".repeat(64)).is_name_of(b"hello\n"));
}

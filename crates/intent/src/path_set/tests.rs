//! What holds a file, and what meets a folder.

use alloc::vec::Vec;

use countersign_canon::RepoPath;

use crate::PathSet;

fn paths(texts: &[&str]) -> Vec<RepoPath> {
    texts.iter().map(|text| RepoPath::parse(text).unwrap()).collect()
}

#[test]
fn a_file_is_held_by_its_name_its_folder_and_its_glob_and_by_nothing_else() {
    let set = PathSet::of(&paths(&["src/api/", "src/api/a.py", "src/*.py", "src/**", "srcfoo/", "src/a"]));
    assert_eq!(set.holding(&RepoPath::parse("src/api/a.py").unwrap()), [0, 1, 3]);
    assert_eq!(set.holding(&RepoPath::parse("src/x.py").unwrap()), [2, 3]);
    assert_eq!(set.holding(&RepoPath::parse("src").unwrap()), [3]);
}

#[test]
fn a_folder_meets_what_lies_in_it() {
    let set = PathSet::of(&paths(&["src/a.py", "docs/x.md", "src/b.py"]));
    assert_eq!(set.meeting(&RepoPath::parse("src/").unwrap()), [0, 2]);
}

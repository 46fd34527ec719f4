//! Any text is a glob or refused; a glob says the same about a path alone, in a set and walked folder by folder.
#![no_main]

use countersign_scan::{Glob, GlobSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &[u8])| {
    let (first, second, path) = input;
    let globs: Vec<Glob> = [first, second].iter().filter_map(|text| Glob::parse(text).ok()).collect();
    let set = GlobSet::new(&globs);
    let mut together = Vec::new();
    set.matches(path, &mut together);
    for (number, glob) in (0_u32..).zip(&globs) {
        assert_eq!(together.contains(&number), glob.matches(path));
        assert_eq!(Glob::parse(glob.as_str()).expect("a glob reads back").as_str(), glob.as_str());
    }
    let mut folder = set.root();
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let (name, folders) = names.split_last().expect("a split has a last part");
    for name in folders {
        let below = set.enter(&folder, name);
        if set.is_same(&folder, name) {
            assert_eq!(below, folder);
        }
        folder = below;
    }
    let mut walked = Vec::new();
    set.files(&folder, name, &mut walked);
    walked.sort_unstable();
    walked.dedup();
    assert_eq!(walked, together);
    assert!(walked.is_empty() || !folder.is_dead());
});

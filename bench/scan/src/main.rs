//! Peers for the scan's benchmark: the cost of only reading, and of only matching globs.
//!
//! `bench-scan read TARGET THREADS EXTENSION...` walks with the `ignore` crate and reads every matching file into one
//! buffer per thread. `bench-scan globs PATHS RULES` matches that many path-scoped rules against every path of a file,
//! with ours (folder by folder, as a walk does) and with `globset`, and compares the answers.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use countersign_scan::{Folder, Glob, GlobSet};
use globset::{GlobBuilder, GlobSetBuilder};
use ignore::{WalkBuilder, WalkState};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["read", target, threads, extensions @ ..] => read(target, threads.parse().expect("a number"), extensions),
        ["globs", paths, rules] => globs(paths, rules.parse().expect("a number")),
        _ => panic!("bench-scan read TARGET THREADS EXTENSION... | globs PATHS RULES"),
    }
}

fn read(target: &str, threads: usize, extensions: &[&str]) {
    let (files, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    let walk = WalkBuilder::new(target).standard_filters(false).threads(threads).build_parallel();
    walk.run(|| {
        let mut buffer = vec![0; 256 * 1024];
        let (files, bytes) = (&files, &bytes);
        Box::new(move |entry| {
            let entry = entry.expect("every entry can be read");
            if entry.depth() == 1 && entry.file_name() == ".git" {
                return WalkState::Skip;
            }
            let path = entry.path();
            let is_wanted = path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted));
            if is_wanted && entry.file_type().is_some_and(|kind| kind.is_file()) {
                let mut file = File::open(path).expect("every file can be read");
                files.fetch_add(1, Ordering::Relaxed);
                loop {
                    let count = file.read(&mut buffer).expect("every file can be read");
                    bytes.fetch_add(count as u64, Ordering::Relaxed);
                    if count < buffer.len() {
                        break;
                    }
                }
            }
            WalkState::Continue
        })
    });
    println!("{} files, {} bytes", files.into_inner(), bytes.into_inner());
}

fn globs(paths: &str, rules: usize) {
    let paths = std::fs::read_to_string(paths).expect("a file of paths, one on each line");
    let paths: Vec<&str> = paths.lines().collect();
    let folders: Vec<&str> = {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for name in paths.iter().flat_map(|path| path.rsplit('/').skip(1)) {
            *names.entry(name).or_default() += 1;
        }
        names.into_keys().collect()
    };
    let name = |number: usize| folders[number * 7919 % folders.len()];
    let texts: Vec<String> = (0..rules)
        .flat_map(|n| [format!("{}/**/{}/*.go", name(n), name(n + 1)), format!("**/{}*/**/*_test.go", name(n + 2))])
        .collect();
    let globs: Vec<Glob> = texts.iter().map(|text| Glob::parse(text).expect("a glob")).collect();

    let start = Instant::now();
    let set = GlobSet::new(&globs);
    let mut known: BTreeMap<&str, Arc<Folder>> = BTreeMap::from([("", Arc::new(set.root()))]);
    let mut matched = Vec::new();
    let mut ours = Vec::new();
    for path in &paths {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folder(&set, &mut known, parent);
        matched.clear();
        set.files(&folder, name.as_bytes(), &mut matched);
        matched.sort_unstable();
        matched.dedup();
        ours.push(matched.len());
    }
    let our_time = start.elapsed();

    let start = Instant::now();
    let mut builder = GlobSetBuilder::new();
    for text in &texts {
        builder.add(GlobBuilder::new(text).literal_separator(true).build().expect("a glob"));
    }
    let set = builder.build().expect("a set of globs");
    let theirs: Vec<usize> = paths.iter().map(|path| set.matches(path).len()).collect();
    let their_time = start.elapsed();
    assert_eq!(ours, theirs, "both must say the same");
    println!("{} globs on {} paths: ours {our_time:?}, globset {their_time:?}", texts.len(), paths.len());
}

fn folder<'p>(set: &GlobSet, known: &mut BTreeMap<&'p str, Arc<Folder>>, path: &'p str) -> Arc<Folder> {
    if let Some(folder) = known.get(path) {
        return Arc::clone(folder);
    }
    let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = folder(set, known, parent);
    let below = if set.is_same(&parent, name.as_bytes()) { parent } else { Arc::new(set.enter(&parent, name.as_bytes())) };
    known.insert(path, Arc::clone(&below));
    below
}

//! Indexes by hand; those that git makes are read end to end.

use super::GitIndex;

fn entry(path: &[u8], hash_bytes: usize) -> Vec<u8> {
    let mut bytes = [vec![0; 42], vec![0; hash_bytes], path.to_vec()].concat();
    bytes.push(0);
    while !bytes.len().is_multiple_of(8) {
        bytes.push(0);
    }
    bytes
}

fn index(version: u8, count: u8, body: &[Vec<u8>], hash_bytes: usize) -> Vec<u8> {
    let head = [b"DIRC".as_slice(), &[0, 0, 0, version], &[0, 0, 0, count]].concat();
    [head, body.concat(), vec![7; hash_bytes]].concat()
}

fn paths(bytes: &[u8]) -> Option<Vec<String>> {
    let index = GitIndex::parse(bytes)?;
    Some(index.paths.into_iter().map(|path| String::from_utf8(path).unwrap()).collect())
}

#[test]
fn both_hashes_are_read() {
    for hash_bytes in [20, 32] {
        let body = [entry(b"README.md", hash_bytes), entry(b"src/a.rs", hash_bytes)];
        assert_eq!(paths(&index(2, 2, &body, hash_bytes)).unwrap(), ["README.md", "src/a.rs"]);
    }
}

#[test]
fn version_4_shares_the_starts_of_paths() {
    let compressed = |dropped: u8, rest: &[u8]| [vec![0; 62], vec![dropped], rest.to_vec(), vec![0]].concat();
    let body = [compressed(0, b"src/a.rs"), compressed(4, b"bc.rs")];
    assert_eq!(paths(&index(4, 2, &body, 20)).unwrap(), ["src/a.rs", "src/bc.rs"]);
}

#[test]
fn a_shared_index_is_named() {
    let link = [b"link".as_slice(), &[0, 0, 0, 20], &[0xAB; 20]].concat();
    let shared = GitIndex::parse(&index(2, 0, &[link], 20)).unwrap().shared.unwrap();
    assert_eq!(shared, format!("sharedindex.{}", "ab".repeat(20)));
}

#[test]
fn what_does_not_add_up_is_no_index() {
    let good = index(2, 1, &[entry(b"a", 20)], 20);
    assert_eq!(paths(&good).unwrap(), ["a"]);
    for cut in 0..good.len() {
        assert_eq!(paths(&good[..cut]), None, "{cut} bytes");
    }
    assert_eq!(paths(&index(5, 0, &[], 20)), None);
    assert_eq!(paths(&index(2, 1, &[entry(b"/etc/passwd", 20)], 20)), None);
    assert_eq!(paths(b"not an index, but long enough to be one, if one only counts"), None);
}

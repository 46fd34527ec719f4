//! Programs of sed.

use super::is_harmless;

#[test]
fn printing_and_replacing_is_harmless() {
    for program in [
        "",
        "p",
        "1,5p",
        "$p",
        "/a b/,/c\\/d/p",
        "s/a/b/",
        "s|a|b|g;s,c,d,2p",
        "1!d",
        "/x/{s/a/b/;p}",
        "y/ab/cd/",
        "2,+3d",
        "1~2p",
        "s/e/w/",
        "/r/d",
        "5q",
        ":a;N;$!ba;s/\\n/ /g",
        "1i\\ text",
        "# e\np",
    ] {
        assert!(is_harmless(program), "{program}");
    }
}

#[test]
fn running_and_opening_is_not() {
    for program in [
        "e",
        "1e rm -rf /",
        "s/a/b/e",
        "s/a/b/ge",
        "s/a/b/w out",
        "w out",
        "r /etc/passwd",
        "R x",
        "W x",
        "/a/w x",
        "p;e ls",
        "p\ne ls",
        "s/a/b",
        "s\na\nb\n",
        "1,5",
        "v",
        "a text\ne ls",
        "{e ls}",
        "$!{$!N};e",
        "s/a/b/p e",
        "\\,a,e ls",
    ] {
        assert!(!is_harmless(program), "{program}");
    }
}

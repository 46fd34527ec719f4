//! Paths and patterns as text.

use super::*;

#[track_caller]
fn fit(pattern: &str, fitting: &[&str], others: &[&str]) {
    for path in fitting {
        assert!(fits(pattern, path), "{pattern} should fit {path}");
    }
    for path in others {
        assert!(!fits(pattern, path), "{pattern} should not fit {path}");
    }
}

#[test]
fn patterns_fit_by_segments() {
    fit(
        "**/.ssh/**",
        &["/users/ann/.ssh/id", "/.ssh/a/b", "/a/.ssh"],
        &["/users/ann/.sshd/id", "/users/ann/ssh/id"],
    );
    fit(".git/**", &[".git/config", ".git/hooks/pre-commit", ".git"], &["a/.git/config", ".gitignore"]);
    fit("/dev/null", &["/dev/null"], &["/dev/nulls", "/dev/null/x"]);
    fit("*.md", &["a.md", ".md"], &["a/b.md", "a.mdx"]);
    fit("**/.env*", &["/w/.env", "/w/a/.env.local"], &["/w/env", "/w/.env/x"]);
    fit("a?c/*", &["abc/d"], &["ac/d", "abc", "abc/d/e"]);
}

#[test]
fn paths_are_normalised_and_never_leave_the_root() {
    let from = AbsolutePath::parse("/w//a/./b/..").unwrap();
    assert_eq!(from.as_str(), "/w/a");
    assert_eq!(from.join("../../../../etc/passwd").as_str(), "/etc/passwd");
    assert_eq!(from.join("/x/").as_str(), "/x");
    assert_eq!(from.relative(&from.join("c/d")), Some("c/d"));
    assert_eq!(from.relative(&from), Some(""));
    assert_eq!(from.relative(&AbsolutePath::parse("/w/ab").unwrap()), None);
    assert_eq!(AbsolutePath::parse("/").unwrap().relative(&from), Some("work/a"));
    assert_eq!(AbsolutePath::parse("a").unwrap_err().code.as_str(), "ACTION_PATH_RELATIVE");
}

//! Paths and patterns as text.
#![expect(clippy::arithmetic_side_effects, reason = "places in short texts")]

use alloc::vec;

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

/// The same question, asked row by row: which starts of the name does this start of the pattern fit?
fn fits_row_by_row(pattern: &str, name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let mut row: Vec<bool> = core::iter::once(true).chain(letters.iter().map(|_| false)).collect();
    for sign in pattern.chars() {
        let mut next = vec![sign == '*' && row[0]];
        for (index, letter) in letters.iter().enumerate() {
            next.push(match sign {
                '*' => row[index + 1] || next[index],
                '?' => row[index],
                _ => row[index] && sign == *letter,
            });
        }
        row = next;
    }
    row[letters.len()]
}

#[test]
fn short_patterns_fit_what_they_fit_row_by_row() {
    let longer = |texts: &[String], signs: &str| -> Vec<String> {
        texts.iter().flat_map(|text| signs.chars().map(move |sign| format!("{text}{sign}"))).collect()
    };
    let all = |signs: &str, most: usize| -> Vec<String> {
        let mut lengths = vec![vec![String::new()]];
        (0..most).for_each(|length| lengths.push(longer(&lengths[length], signs)));
        lengths.concat()
    };
    let names = all("ab", 5);
    for pattern in all("ab*?", 5) {
        for name in &names {
            let wanted = fits_row_by_row(&pattern, name);
            assert_eq!(fits_segment(&pattern, name), wanted, "{pattern} {name}");
            // Segments are to a path what letters are to a name.
            let split = |text: &str| text.chars().map(String::from).collect::<Vec<_>>().join("/");
            if !pattern.is_empty() && !name.is_empty() {
                let pattern = split(&pattern).replace('*', "**");
                assert_eq!(fits(&pattern, &split(name)), wanted, "{pattern} {name}");
            }
        }
    }
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
    assert_eq!(AbsolutePath::parse("/").unwrap().relative(&from), Some("w/a"));
    assert_eq!(AbsolutePath::parse("a").unwrap_err().code.as_str(), "ACTION_PATH_RELATIVE");
}

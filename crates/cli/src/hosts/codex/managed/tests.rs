//! Requirements that people have written, with hooks put in.

use super::{super::entries, commands, with_hooks, without_hooks};

#[test]
fn hooks_are_put_behind_everything_else_and_only_once() {
    let hooks = entries("/bin/countersign");
    let fresh = with_hooks("", &hooks).unwrap();
    assert_eq!(
        fresh,
        "# >>> countersign install codex --managed\n[features]\nhooks = true\n\
         \n[[hooks.PreToolUse]]\nmatcher = \"*\"\n[[hooks.PreToolUse.hooks]]\ncommand = \"/bin/countersign hook codex\"\n\
         timeout = 10\ntype = \"command\"\n\n[[hooks.PostToolUse]]\nmatcher = \"*\"\n[[hooks.PostToolUse.hooks]]\ncommand = \"/bin/countersign hook codex\"\n\
         timeout = 10\ntype = \"command\"\n# <<< countersign install codex --managed\n"
    );
    for before in
        ["", "a = 1", "a = 1\n", "[features]\nshell = true\n", "[features]\nhooks = true\n", "[rules]\n"]
    {
        let edited = with_hooks(before, &hooks).unwrap();
        assert_eq!(with_hooks(&edited, &hooks), None, "{before}");
        assert_eq!(edited.lines().filter(|line| line.starts_with("hooks = true")).count(), 1, "{edited}");
        let rest = without_hooks(&edited);
        assert_eq!(rest.as_deref().map(str::trim_end), Some(before.trim_end()), "{edited}");
        assert_eq!(edited.matches("[features]\n").count(), 1, "{edited}");
        let mut rest = edited.lines();
        assert!(before.lines().all(|line| rest.any(|found| found == line)), "{before} in {edited}");
    }
}

/// Hooks of another program, from another time, are replaced.
#[test]
fn another_programs_hooks_are_replaced() {
    let old = with_hooks("a = 1\n", &entries("/old/countersign")).unwrap();
    let new = with_hooks(&old, &entries("/new/countersign")).unwrap();
    assert_eq!(new, with_hooks("a = 1\n", &entries("/new/countersign")).unwrap());
}

#[test]
fn what_somebody_wrote_around_the_hooks_stays() {
    let edited = with_hooks("a = 1\n[features]\nb = true\n", &entries("/bin/countersign")).unwrap();
    let changed = format!("# first\n{edited}[rules]\n");
    assert_eq!(without_hooks(&changed).as_deref(), Some("# first\na = 1\n[features]\nb = true\n[rules]\n"));
    assert_eq!(without_hooks("a = 1\n"), None);
    assert_eq!(commands(&changed, "PreToolUse"), ["/bin/countersign hook codex"]);
}

#[test]
fn lines_end_as_the_others_do() {
    let edited = with_hooks("a = 1\r\n[features]\r\nb = true", &entries("/bin/countersign")).unwrap();
    assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count(), "{edited:?}");
    assert_eq!(with_hooks(&edited, &entries("/bin/countersign")), None);
    assert_eq!(without_hooks(&edited).as_deref(), Some("a = 1\r\n[features]\r\nb = true\r\n"));
}

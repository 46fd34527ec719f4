//! The program as a whole: help, usage errors, completions, where the store is.

use crate::support::{Sandbox, run_in_shell, shipped_text};

#[test]
fn help_lists_the_commands_in_groups() {
    insta::assert_snapshot!(Sandbox::new().run(&["--help"]).stdout());
}

#[test]
fn an_unknown_command_is_a_usage_error_with_a_suggestion() {
    let ran = Sandbox::new().run(&["complitions", "x.json"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("a similar subcommand exists: 'completions'"), "{}", ran.stderr());
}

#[test]
fn completions_exist_for_three_shells() {
    for (shell, mark) in [("bash", "complete -F"), ("zsh", "#compdef countersign"), ("fish", "complete -c")] {
        let ran = Sandbox::new().run(&["completions", shell]);
        assert_eq!(ran.exit, Some(0));
        assert!(ran.stdout().contains(mark), "{shell}");
    }
}

#[test]
fn there_is_no_colour_when_nobody_looks_and_colour_on_demand() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "{");
    assert!(!sandbox.run(&["canon", "bad.json"]).stderr().contains('\x1b'));
    assert!(sandbox.run(&["canon", "bad.json", "--color", "always"]).stderr().contains('\x1b'));
}

/// Everything that asks about a store or goes on in one: a command line each.
const NEED_A_STORE: &str = "
    backup copy.db
    deny apr_0123 --reason no
    events replay
    events summary
    events tail
    keys list
    log checkpoint
    log consistency 1 2
    log export --out log.jsonl
    log prove --event 0
    log verify
    pending
    policy coverage policy.json --recorded
    policy history
    policy prove --in-force
    policy rollback 1
    revoke apr_0123
    session list
    session mode ses_0123 writes_allowed
    session stop ses_0123
    token list
    token revoke ann
    trace ses_0123
";

#[test]
fn a_question_about_a_store_that_is_not_there_makes_none() {
    let sandbox = Sandbox::new();
    sandbox.write("policy.json", shipped_text("policy/odeu.instructions.v1.json"));
    for line in NEED_A_STORE.lines().filter(|line| !line.trim().is_empty()) {
        let ran = sandbox.run(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ran.exit, Some(2), "{line}: {}", ran.screen());
        assert!(ran.stderr().contains("error[STORE_MISSING]: there is no store in `.countersign`"), "{line}");
        assert!(ran.stderr().contains("`countersign init` makes one"), "{line}");
    }
    let doctor = sandbox.run(&["doctor"]);
    assert_eq!(doctor.exit, Some(1));
    assert!(doctor.stdout().contains("WRONG the store: STORE_MISSING"), "{}", doctor.stdout());
    assert_eq!(run_in_shell(sandbox.path(), "ls -A"), "policy.json\n");
}

#[test]
fn whoever_stands_below_a_store_is_told_where_it_is() {
    let sandbox = Sandbox::new();
    let [told, store] = [
        "countersign init 2>/dev/null && mkdir -p a/b && cd a/b && countersign log verify 2>&1; ls -A",
        "echo -n \"$(pwd -P)/.countersign\"",
    ]
    .map(|command| run_in_shell(sandbox.path(), command));
    assert!(told.ends_with(&format!("the nearest store is in `{store}`: name it with --data\n")), "{told}");
}

/// One name for one thing: what a hook answers to, what is installed, looked at and probed.
#[test]
fn the_host_is_called_so_everywhere() {
    for command in ["hook", "install", "uninstall", "doctor", "probe"] {
        let help = Sandbox::new().run(&[command, "--help"]).stdout().to_owned();
        assert!(help.contains(&format!("Usage: countersign {command}")), "{help}");
        assert!(help.contains("HOST") && !help.contains("CLIENT"), "{help}");
    }
    let ran = Sandbox::new().run(&["hook"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("Usage: countersign hook <HOST>"), "{}", ran.stderr());
    let help = Sandbox::new().run(&["hook", "--help"]);
    assert!(help.stdout().starts_with("Answer the hook of an agent's host"), "{}", help.stdout());
}

/// Whoever follows the advice has a key that counts.
#[test]
fn approve_without_a_key_says_how_to_get_one_that_counts() {
    let sandbox = Sandbox::new();
    let said = run_in_shell(
        sandbox.path(),
        "export USER=ann; countersign init 2> made.txt; countersign approve apr_0123456789abcdef0123456789abcdef 2> said.txt
         eval \"$(sed -n 's/.*register it with `\\(.*\\)`, or give.*/\\1/p' said.txt)\" > added.txt 2>&1; countersign keys list; cat said.txt",
    );
    assert!(said.contains(" ann counts") && said.contains("there is no key to sign with"), "{said}");
}

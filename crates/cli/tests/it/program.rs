//! The program as a whole: help, usage errors, completions.

use crate::support::Sandbox;

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

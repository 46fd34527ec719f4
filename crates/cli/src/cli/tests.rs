//! The command line is whole: every command in one group, every definition sound.

use super::command;
use crate::commands::GROUPS;

#[test]
fn every_command_is_in_exactly_one_group() {
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    grouped.sort_unstable();
    let command = command();
    let mut defined: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    defined.sort_unstable();
    assert_eq!(grouped, defined);
}

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

/// Every command that does something shows how, and how it ends; one that only holds others lists them.
#[test]
fn every_help_has_examples_and_exit_codes() {
    fn walk(command: &mut clap::Command, path: &str, lacking: &mut Vec<String>) {
        if !command.is_subcommand_required_set() {
            let help = command.render_long_help().to_string();
            for part in ["Examples:\n  countersign", "\nExit: 0 "] {
                if !help.contains(part) {
                    lacking.push(format!("{path}: {}", part.trim()));
                }
            }
        }
        // What clap adds by itself says what it says.
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            walk(inner, &path, lacking);
        }
    }
    let mut lacking = Vec::new();
    command().get_subcommands_mut().for_each(|command| {
        let path = command.get_name().to_owned();
        walk(command, &path, &mut lacking);
    });
    assert_eq!(lacking, Vec::<String>::new());
}

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

//! The command line as a whole: global options, grouped help, and the way from arguments to an exit code.

use std::{ffi::OsString, fmt::Write as _};

use clap::{CommandFactory, FromArgMatches, Parser};
use countersign_canon::Issue;

use crate::{
    commands::{self, Command, GROUPS},
    console::{Console, ErrorFormat},
    effects::{environment, terminal},
    exit::Exit,
    failure::{Failure, codes},
};

/// Decides what AI agents may do, before they do it, and proves afterwards what it decided and why
#[derive(Debug, Parser)]
#[command(name = "countersign", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// How problems are shown on standard error: text or json
    #[arg(long, global = true, default_value = "text", value_name = "FORMAT", hide_possible_values = true)]
    errors: ErrorFormat,
    /// Colour on standard error: auto, always or never; NO_COLOR is obeyed
    #[arg(long, global = true, default_value = "auto", value_name = "WHEN", hide_possible_values = true)]
    color: clap::ColorChoice,
}

/// The whole command line, for completions and generated documentation.
#[must_use]
pub fn command() -> clap::Command {
    let command = Cli::command();
    let mut listing = String::new();
    for (group, names) in GROUPS {
        let _infallible = writeln!(listing, "{group}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _infallible = writeln!(listing, "  {name:<12} {about}");
        }
        listing.push('\n');
    }
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{listing}Options:\n{{options}}\n\n\
         Run `countersign COMMAND --help` for examples and exit codes.\n"
    );
    command.help_template(template)
}

// The hook alone: hosts start it before every call, and wait. Its help is that of the command.
#[derive(Debug, Parser)]
#[command(name = "countersign hook", bin_name = "countersign hook")]
struct HookCli {
    #[command(flatten)]
    arguments: commands::hook::Arguments,
}

/// Runs the program on these arguments.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let [_, of_hook @ ..] = &arguments[..]
        && of_hook.first().is_some_and(|command| command == "hook")
    {
        return run_hook(of_hook);
    }
    let parsed =
        command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return show_usage(&error),
    };
    let colour = match cli.color {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => terminal::stderr_is_terminal() && !environment::no_colour(),
    };
    let console = Console { colour, errors: cli.errors };
    commands::run(cli.command, console).unwrap_or_else(|failure| {
        console.show(&failure);
        failure.exit()
    })
}

/// Runs the hook without building the rest of the command line first; and as it is installed, with nothing but the name of a
/// host, without building its own.
fn run_hook(arguments: &[OsString]) -> Exit {
    let console = Console { colour: false, errors: ErrorFormat::Text };
    if let [_, name] = arguments
        && let Some(arguments) = commands::hook::Arguments::of_host(name)
    {
        return commands::hook::run(arguments, console);
    }
    match HookCli::try_parse_from(arguments) {
        Ok(HookCli { arguments }) => commands::hook::run(arguments, console),
        Err(error) => show_usage(&error),
    }
}

/// Runs one more command of the program, as if it had been typed, on the same console.
pub(crate) fn play(arguments: impl IntoIterator<Item = OsString>, console: Console) -> Result<Exit, Failure> {
    let parsed =
        command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = parsed.map_err(|error| {
        Failure::CouldNotTell(Issue::new(codes::CLI_DEFECT, format!("a command is not one: {error}")))
    })?;
    commands::run(cli.command, console)
}

/// Shows help, the version or what is wrong with the arguments, as clap words it.
fn show_usage(error: &clap::Error) -> Exit {
    // If the terminal is gone there is nobody to tell.
    let _nobody_listens = error.print();
    if error.use_stderr() { Exit::CouldNotTell } else { Exit::Yes }
}

#[cfg(test)]
mod tests;

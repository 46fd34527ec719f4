//! `countersign completions`: the shell completes what the program offers.

use clap_complete::Shell;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign completions bash > ~/.local/share/bash-completion/completions/countersign
  countersign completions zsh > ~/.zfunc/_countersign
  countersign completions fish > ~/.config/fish/completions/countersign.fish

Exit: 0 printed, 2 there is no such shell")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(["bash", "zsh", "fish"]))]
    shell: String,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let shell = match arguments.shell.as_str() {
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        _ => Shell::Bash,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::cli::command(), "countersign", &mut script);
    console.bytes(&script)?;
    Ok(Exit::Yes)
}

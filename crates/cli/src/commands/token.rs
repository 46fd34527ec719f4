//! `countersign token`: what a caller of the service shows to be somebody.

use clap::Subcommand;
use countersign_canon::{Json, Wire as _};
use countersign_ledger::{Access, Principal};
use countersign_service::api::{CreateToken, ListTokens, RevokeToken, TokenView};

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// Make, list and revoke the tokens that the service knows its callers by
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(CreateArguments),
    List(ListArguments),
    Revoke(RevokeArguments),
}

/// Make a token and print it, once: only its hash is kept
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token create --role agent --name codex-1

Exit: 0 made, 2 it could not be")]
struct CreateArguments {
    /// What it may do: agent, approver, auditor or admin
    #[arg(long, value_parser = Access::parse)]
    role: Access,
    /// Whom it speaks for
    #[arg(long, value_parser = Principal::parse)]
    name: Principal,
    #[command(flatten)]
    place: Place,
}

/// List every token, by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token list
  countersign token list --format json

Exit: 0 listed, 2 the store could not be read")]
struct ListArguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// Stop counting a token
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign token revoke codex-1

Exit: 0 revoked, 2 there is no such token, or it could not be")]
struct RevokeArguments {
    /// Its name
    #[arg(value_parser = Principal::parse)]
    name: Principal,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Create(CreateArguments { role, name, place }) => {
            let made = place.door_or_make()?.ask(CreateToken { name: name.clone(), access: *role })?;
            console.data(&format!("{}\n", made.token))?;
        }
        Command::List(ListArguments { place, shown }) => {
            let tokens = place.door()?.ask(ListTokens {})?.tokens;
            let text: Vec<String> = tokens.iter().map(in_words).collect();
            shown.show(console, &Json::array(tokens.iter().map(TokenView::write)), &text.join("\n"))?;
        }
        Command::Revoke(RevokeArguments { name, place }) => {
            place.door()?.ask(RevokeToken { name: name.clone() })?;
        }
    }
    Ok(Exit::Yes)
}

fn in_words(token: &TokenView) -> String {
    let state = token.revoked_at.map_or_else(|| "counts".to_owned(), |at| format!("revoked {at}"));
    format!("{} {} {state}", token.name, token.access)
}

//! `countersign keys`: whose signatures count.

use std::path::PathBuf;

use clap::Subcommand;
use countersign_canon::{Json, Wire as _};
use countersign_ledger::{ApproverKey, KeyId, KeyName, NoteKey};
use countersign_policy::{NameSet, Role};
use countersign_service::{
    api::{AddKey, ListKeys, RevokeKey},
    generate_key,
};

use crate::{
    console::Console,
    effects::files,
    embedded::{Place, Shown, usage, user_folder},
    exit::Exit,
    failure::Failure,
};

/// Make, register, list and revoke the keys that people sign approvals with
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(GenerateArguments),
    Add(Box<AddArguments>),
    List(ListArguments),
    Revoke(RevokeArguments),
}

/// Make a key pair: the private key goes to a file of yours, the public key to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign keys generate --name ann
  countersign keys add \"$(countersign keys generate --name ann --out ann.key)\"

Exit: 0 made, 2 it could not be")]
struct GenerateArguments {
    /// Whose key it is
    #[arg(long, value_parser = KeyName::parse)]
    name: KeyName,
    /// Where the private key goes [default: in the user's data folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Register a public key: from now on its signature counts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign keys add \"$(countersign keys generate --name ann)\"
  countersign keys add \"$(cat ann.pub)\" --reviews security

Exit: 0 registered, 2 it could not be")]
struct AddArguments {
    /// The public key, as `countersign keys generate` prints it
    #[arg(value_parser = NoteKey::parse)]
    key: NoteKey,
    /// A kind of review that the person may do, such as security; may be repeated
    #[arg(long, value_name = "KIND", value_parser = Role::parse)]
    reviews: Vec<Role>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// List every registered key
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign keys list
  countersign keys list --format json

Exit: 0 listed, 2 the store could not be read")]
struct ListArguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// Stop counting a key, also for approvals that it has signed and nobody has used
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign keys revoke ann+a7a31e1d

Exit: 0 revoked, 2 there is no such key, or it could not be")]
struct RevokeArguments {
    /// The key
    #[arg(value_parser = KeyId::parse)]
    key: KeyId,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Generate(arguments) => generate(arguments, console),
        Command::Add(arguments) => {
            let AddArguments { key, reviews, place, shown } = &**arguments;
            let reviews: NameSet<Role> = reviews.iter().cloned().collect();
            let key = place.door_or_make()?.ask(AddKey { key: key.clone(), reviews: Some(reviews) })?;
            shown.show(console, &key.write(), &in_words(&key))?;
            Ok(Exit::Yes)
        }
        Command::List(arguments) => {
            let keys = arguments.place.door()?.ask(ListKeys {})?.keys;
            let text: Vec<String> = keys.iter().map(in_words).collect();
            let json = Json::array(keys.iter().map(ApproverKey::write));
            arguments.shown.show(console, &json, &text.join("\n"))?;
            Ok(Exit::Yes)
        }
        Command::Revoke(arguments) => {
            arguments.place.door()?.ask(RevokeKey { key_id: arguments.key.clone() })?;
            Ok(Exit::Yes)
        }
    }
}

fn generate(arguments: &GenerateArguments, console: Console) -> Result<Exit, Failure> {
    let name = &arguments.name;
    let default =
        || user_folder("keys").map(|folder| folder.join(format!("{}.key", name.as_str().replace('/', "_"))));
    let path = arguments.out.clone().or_else(default);
    let path = path.ok_or_else(|| usage("this user has no data folder; say where with --out"))?;
    let key = generate_key(name.clone())?;
    let text = format!("{}\n", key.to_secret_text());
    files::write_private(&path, &text).map_err(Failure::CouldNotTell)?;
    console.say(&format!("the private key is in `{}`\n", path.display()));
    console.data(&format!("{}\n", key.public()))?;
    Ok(Exit::Yes)
}

fn in_words(key: &ApproverKey) -> String {
    let reviews: Vec<&str> = key.reviews.0.iter().map(Role::as_str).collect();
    let state = key.revoked_at.map_or_else(|| "counts".to_owned(), |at| format!("revoked {at}"));
    format!("{} {} {state} {}", key.key_id, key.approver, reviews.join(",")).trim_end().to_owned()
}

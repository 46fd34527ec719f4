//! `countersign up`: the service with everything that a first run needs.

use std::path::Path;

use countersign_ledger::{Access, KeyName, Principal};
use countersign_policy::NameSet;
use countersign_service::{Caller, Node, ServiceError, generate_key};

use super::serve::ListenArguments;
use crate::{
    console::Console,
    effects::{environment, files},
    embedded::{Place, owner, usage, user_folder},
    exit::Exit,
    failure::Failure,
};

/// Serve, after setting up what a first run needs: a key and a token for you, a token for an agent
///
/// Nothing that is there is changed. Your private key and your token go to your data folder, the agent's token to a file in
/// the data folder of the store; none of them is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign up

Exit: 0 stopped by a signal, 2 it could not start")]
pub(crate) struct Arguments {
    #[command(flatten)]
    listening: ListenArguments,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { listening, place } = arguments;
    let node = listening.open(place)?;
    set_up(&node, &place.data, console)?;
    listening.serve(node, place, console, |found| {
        let socket = found.socket.as_ref().map(|path| format!("unix:{}", path.display())).unwrap_or_default();
        console.say(&format!("listening on {} and {socket}; stop with Ctrl-C\n", found.url));
    })?;
    Ok(Exit::Yes)
}

/// Makes what is missing: a key that approvals are signed with, a token for its owner, one for an agent.
fn set_up(node: &Node, data: &Path, console: Console) -> Result<(), Failure> {
    let owner = owner()?;
    let name = environment::user_name().and_then(|name| Principal::parse(&name).ok());
    let person =
        name.map_or_else(|| Principal::parse("owner").map_err(|issue| usage(issue.to_string())), Ok)?;
    let folder = user_folder("keys").ok_or_else(|| usage("this user has no data folder for a key"))?;
    if node.store().approver_keys().map_err(ServiceError::from)?.is_empty() {
        let key = generate_key(KeyName::parse(person.as_str()).map_err(Failure::CouldNotTell)?)?;
        let path = folder.join(format!("{person}.key"));
        files::write_private(&path, &format!("{}\n", key.to_secret_text())).map_err(Failure::CouldNotTell)?;
        node.add_key(&owner, &key.public(), NameSet::default())?;
        console.say(&format!("made a key for {person}: `{}` signs approvals\n", path.display()));
    }
    let tokens = user_folder("tokens").unwrap_or_else(|| data.to_path_buf());
    give_token(node, &owner, (&person, Access::Approver), &tokens.join(format!("{person}.token")), console)?;
    let agent = Principal::parse("agent").map_err(|issue| usage(issue.to_string()))?;
    give_token(node, &owner, (&agent, Access::Agent), &data.join("agent.token"), console)
}

/// Makes a token, unless there is one of this name, and puts it into a private file.
fn give_token(
    node: &Node,
    owner: &Caller,
    (name, access): (&Principal, Access),
    path: &Path,
    console: Console,
) -> Result<(), Failure> {
    let has_one = node.store().tokens().map_err(ServiceError::from)?.iter().any(|token| token.name == *name);
    if has_one {
        return Ok(());
    }
    let secret = node.create_token(owner, name, access)?;
    files::write_private(path, &format!("{secret}\n")).map_err(Failure::CouldNotTell)?;
    console.say(&format!("made a token for {name} ({access}): `{}`\n", path.display()));
    Ok(())
}

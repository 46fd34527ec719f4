//! `countersign init`: makes a workspace one that agents are governed in.

use std::path::{Path, PathBuf};

use countersign_policy::shipped;
use countersign_service::policy_documents;

use crate::{
    actions,
    console::Console,
    effects::{files, folder, tree},
    embedded::{Place, owner, usage},
    exit::Exit,
    failure::Failure,
    hosts::{
        config,
        workspace::{CONFIG, FOLDER},
    },
    policy_folder,
};

/// What of the folder belongs to nobody else: the store, its keys, and what agents said.
const IGNORED: &str = "state.db*\nlog.key\nevidence/\ninstalled/\nprobes/\n";

/// Set up a workspace: policy, settings and store, in .countersign
///
/// Writes what is not there yet and leaves the rest as it is; puts the policy of the folder in force if another one is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign init
  countersign init ~/shop

Exit: 0 set up, 2 it could not be")]
pub(crate) struct Arguments {
    /// The folder that agents will work on
    #[arg(default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let made = set_up(&arguments.folder)?;
    for path in &made {
        console.say(&format!("wrote `{}`\n", path.display()));
    }
    let data = arguments.folder.join(FOLDER);
    console.say(&format!(
        "agents in `{}` are governed by `{}`\n",
        arguments.folder.display(),
        data.display()
    ));
    Ok(Exit::Yes)
}

/// Writes what a workspace lacks and puts its policy in force; the files that were written.
pub(crate) fn set_up(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let root = tree::canonical(root)
        .map_err(|error| usage(format!("`{}` is not a folder: {error}", root.display())))?;
    let data = root.join(FOLDER);
    let place = Place::at(data.clone());
    let node = place.open_or_make()?;
    let [policy, lattice, allow] = policy_folder::NAMES.map(|name| Path::new("policy").join(name));
    let [rules, needs, grants] = shipped::STANDARD.documents();
    let parts = [
        (PathBuf::from(".gitignore"), IGNORED.as_bytes()),
        (PathBuf::from(CONFIG), config::STANDARD.as_bytes()),
        (policy, rules),
        (lattice, needs),
        (allow, grants),
        (Path::new("policy").join("actions.v1.yml"), actions::SHIPPED),
        (Path::new("rules").join(".gitkeep"), &[]),
    ];
    let mut made = Vec::new();
    for (name, bytes) in parts {
        let path = data.join(name);
        if files::mode_of(&path).is_none() {
            folder::put_bytes(&path, bytes).map_err(Failure::CouldNotTell)?;
            made.push(path);
        }
    }
    let [policy, lattice, allow] =
        policy_folder::read(&data.join("policy")).map_err(Failure::CouldNotTell)?;
    let documents = policy_documents(&policy, &lattice, &allow)?;
    if !policy_folder::is_in_force(&node, &documents)? {
        node.activate(&owner()?, documents)?;
    }
    Ok(made)
}

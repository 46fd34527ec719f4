//! `countersign uninstall`: takes the gate away again and puts back the bytes that were there.

use crate::{
    commands::install::Client,
    console::Console,
    effects::environment,
    embedded::usage,
    exit::Exit,
    failure::Failure,
    hosts::{
        installed::{self, PutBack},
        workspace::Workspace,
    },
};

/// Take Countersign out of an agent's host again
///
/// Every file that install changed gets back the bytes that it had. A file that somebody has changed since is left as it is,
/// and named.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign uninstall claude-code

Exit: 0 everything is as it was, 1 a file was changed since, 2 it could not be done")]
pub(crate) struct Arguments {
    /// The host
    #[arg(value_enum)]
    client: Client,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&root).map_err(Failure::CouldNotTell)?;
    let done = installed::put_back(&workspace, arguments.client.as_str()).map_err(Failure::CouldNotTell)?;
    if done.is_empty() {
        console.say(&format!("{} was not installed from here\n", arguments.client.as_str()));
    }
    let mut exit = Exit::Yes;
    for (path, how) in done {
        let path = path.display();
        match how {
            PutBack::Restored => console.say(&format!("`{path}` is as it was\n")),
            PutBack::Removed => console.say(&format!("`{path}` is gone, as it was\n")),
            PutBack::Changed => {
                exit = Exit::No;
                console.say(&format!(
                    "`{path}` was changed since: take the hooks of `countersign` out by hand\n"
                ));
            }
        }
    }
    Ok(exit)
}

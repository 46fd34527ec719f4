//! `countersign uninstall`: takes the gate away again and puts back the bytes that were there.

use crate::{
    commands::install::Client,
    console::Console,
    effects::{environment, files},
    embedded::usage,
    exit::Exit,
    failure::Failure,
    hosts::{
        installed::{self, PutBack},
        ours,
        workspace::Workspace,
    },
};

/// Take Countersign out of an agent's host again
///
/// Every file that install changed gets back the bytes that it had. Out of a file that somebody has changed since, our hooks are
/// taken and every other byte stays; so they are out of this workspace's and this user's settings if nothing was noted. The
/// machine's settings, if they were changed from elsewhere, stay unless --managed says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign uninstall claude-code
  countersign uninstall codex --managed

Exit: 0 nothing of ours is left in the host's settings, 1 something is, 2 it could not be found out")]
pub(crate) struct Arguments {
    /// The host
    #[arg(value_enum, value_name = "HOST")]
    client: Client,
    /// Out of the machine's settings too, wherever they were changed from
    #[arg(long)]
    managed: bool,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { client, managed } = arguments;
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&root).map_err(Failure::CouldNotTell)?;
    let ours = client.ours().map_err(Failure::CouldNotTell)?;
    let mut done = installed::put_back(&workspace, &ours).map_err(Failure::CouldNotTell)?;
    let places = client.own_files(&workspace.root).map_err(Failure::CouldNotTell)?;
    for path in places.into_iter().chain(managed.then(|| client.managed_settings())) {
        if !done.iter().any(|(noted, _)| *noted == path) {
            done.extend(installed::clear(&path, &ours).map(|how| (path, how)));
        }
    }
    let required = client.managed_settings();
    let is_required = !done.iter().any(|(path, _)| *path == required) && ours::is_in(&required, &ours);
    if done.is_empty() && !is_required {
        console.say(&format!("{} is not installed here\n", client.as_str()));
        return Ok(Exit::Yes);
    }
    let mut exit = Exit::Yes;
    for (path, how) in done {
        let path = path.display();
        console.say(&match how {
            PutBack::Restored => format!("`{path}` is as it was\n"),
            PutBack::Removed => format!("`{path}` is gone, as it was\n"),
            PutBack::Cut => {
                format!("`{path}` was changed since: the hooks of Countersign are out of it, the rest is as it was\n")
            }
            PutBack::Clean => format!("`{path}` was changed since, and has no hooks of Countersign any more\n"),
            PutBack::Left(issue) => {
                exit = Exit::No;
                format!(
                    "`{path}` stays as it is: {}: {issue}\n  mend it, then run `countersign uninstall {}` again\n",
                    issue.code,
                    client.as_str()
                )
            }
        });
    }
    if is_required {
        exit = Exit::No;
        console.say(&format!(
            "`{}` has hooks of Countersign that were not put in from here: `countersign uninstall {} --managed` takes them out\n",
            required.display(),
            client.as_str()
        ));
    }
    if workspace.data.starts_with(&workspace.root) && files::mode_of(&workspace.data).is_some() {
        console.say(&format!(
            "`{}` stays: the policy, the settings and the log; delete it if nobody needs them\n",
            workspace.data.display()
        ));
    }
    Ok(exit)
}

//! `countersign install`: puts the gate before the tools of an agent's host.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use countersign_canon::Issue;

use super::init;
use crate::{
    console::Console,
    difference::difference,
    effects::{environment, files, folder},
    embedded::usage,
    exit::Exit,
    failure::{Failure, codes},
    hosts::{
        claude_code,
        codex::{
            self,
            app_server::{AppServer, Experimental},
        },
        installed::{self, Change},
        settings::{self, Entry},
        workspace::Workspace,
    },
};

/// Put Countersign before every tool of an agent's host, and show what that changes
///
/// Sets the workspace up first if it is not. Claude Code: hooks in .claude/settings.local.json of this folder, or with
/// --managed in the machine's managed settings. Codex 0.129 or later: hooks in hooks.json of its own folder, for every
/// workspace of this user, and Codex is told to trust them. `countersign doctor HOST` shows that it works.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign install claude-code --dry-run
  countersign install codex --bin ~/bin/codex

Exit: 0 installed, or was already; 2 it could not be")]
pub(crate) struct Arguments {
    /// The host
    #[arg(value_enum)]
    client: Client,
    /// Show the change and make none
    #[arg(long)]
    dry_run: bool,
    /// For the whole machine, where only an administrator can take it away: Claude Code only
    #[arg(long)]
    managed: bool,
    /// The program `codex`, to be told to trust the hooks
    #[arg(long, value_name = "FILE", default_value = "codex")]
    bin: OsString,
}

/// The hosts that can be installed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    Codex,
}

impl Client {
    /// The name of the host.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
        }
    }

    /// The hooks that belong into its settings.
    pub(crate) fn entries(self) -> Result<Vec<Entry>, Issue> {
        let program = environment::this_program()?;
        Ok(match self {
            Self::ClaudeCode => claude_code::entries(&program),
            Self::Codex => codex::entries(&program),
        })
    }

    /// The file that the hooks belong into.
    pub(crate) fn settings(self, root: &Path) -> Result<PathBuf, Issue> {
        match self {
            Self::ClaudeCode => Ok(claude_code::settings(root)),
            Self::Codex => Ok(codex::home()?.join("hooks.json")),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { client, dry_run, managed, bin } = arguments;
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let path = match (client, managed) {
        (Client::ClaudeCode, true) => claude_code::managed_settings(),
        (Client::Codex, true) => {
            return Err(usage("Codex's managed hooks are written by hand: see docs/agents.md"));
        }
        (Client::ClaudeCode | Client::Codex, false) => {
            client.settings(&root).map_err(Failure::CouldNotTell)?
        }
    };
    let before =
        files::mode_of(&path).map(|_| files::read_all(&path)).transpose().map_err(Failure::CouldNotTell)?;
    let entries = client.entries().map_err(Failure::CouldNotTell)?;
    let edited = settings::with_hooks(before.as_deref(), &entries).map_err(Failure::CouldNotTell)?;
    if let Some(edited) = &edited {
        let found = String::from_utf8_lossy(before.as_deref().unwrap_or_default());
        console.data(&difference(&path.display().to_string(), &found, edited))?;
    }
    if *dry_run {
        console.say("nothing was changed: this was a dry run\n");
        return Ok(Exit::Yes);
    }
    for path in init::set_up(&root)? {
        console.say(&format!("wrote `{}`\n", path.display()));
    }
    let workspace = Workspace::find(&root).map_err(Failure::CouldNotTell)?;
    let mut changes = Vec::new();
    if let Some(edited) = edited {
        folder::put(&path, &edited).map_err(Failure::CouldNotTell)?;
        changes.push(Change { path, before });
    }
    if *client == Client::Codex {
        changes.extend(trust(&root, bin, console).map_err(Failure::CouldNotTell)?);
    }
    if changes.is_empty() {
        console.say(&format!("{} is installed already\n", client.as_str()));
        return Ok(Exit::Yes);
    }
    installed::note(&workspace, client.as_str(), changes).map_err(Failure::CouldNotTell)?;
    console.say(&format!(
        "installed; see that it works with `countersign doctor {0}`, undo it with `countersign uninstall {0}`\n",
        client.as_str()
    ));
    Ok(Exit::Yes)
}

/// Tells Codex to trust our hooks; what that changed, if anything.
fn trust(root: &Path, bin: &OsString, console: Console) -> Result<Option<Change>, Issue> {
    let home = codex::home()?;
    let path = home.join("config.toml");
    let before = files::mode_of(&path).map(|_| files::read_all(&path)).transpose()?;
    let mut server = AppServer::start(bin, &home, root, Experimental::Off)?;
    let cwd = root.display().to_string();
    let ours = |hooks: Vec<codex::ListedHook>| -> Result<Vec<codex::ListedHook>, Issue> {
        let command = format!("{} hook codex", environment::this_program()?);
        Ok(hooks.into_iter().filter(|hook| hook.command == command).collect())
    };
    let hooks = ours(codex::hooks(&mut server, &cwd)?)?;
    if !hooks.is_empty() && hooks.iter().all(|hook| hook.is_live) {
        return Ok(None);
    }
    codex::trust(&mut server, &hooks)?;
    let after = ours(codex::hooks(&mut server, &cwd)?)?;
    if after.is_empty() || !after.iter().all(|hook| hook.is_live) {
        return Err(Issue::new(codes::INSTALL_TRUST, "Codex does not trust the hooks after it was told to"));
    }
    console.say(&format!("Codex trusts {} hooks of Countersign\n", after.len()));
    Ok(Some(Change { path, before }))
}

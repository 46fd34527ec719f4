//! `countersign install`: puts the gate before the tools of an agent's host.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use countersign_canon::{Issue, Json};

use super::init;
use crate::{
    console::Console,
    difference::difference,
    effects::{
        environment, files,
        folder::{self, Access},
    },
    embedded::usage,
    exit::Exit,
    failure::{Failure, codes},
    hosts::{
        claude_code,
        codex::{
            self,
            app_server::{AppServer, Experimental},
        },
        installed::{self, Before, Change},
        settings::{self, Entry},
        workspace::Workspace,
    },
};

/// Put Countersign before every tool of an agent's host, and show what that changes
///
/// Sets the workspace up first if it is not. Claude Code: hooks in .claude/settings.local.json of this folder, or with
/// --managed in the machine's managed settings. Codex 0.129 or later: hooks in hooks.json of its own folder, for every
/// workspace of this user, and Codex is told to trust them; with --managed in the machine's requirements.toml, which no
/// user can switch off. `countersign doctor HOST` shows that it works.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign install claude-code --dry-run
  countersign install codex --bin ~/bin/codex

Exit: 0 installed, or was already; 1 it is, but other users' clients cannot read it; 2 it could not be")]
pub(crate) struct Arguments {
    /// The host
    #[arg(value_enum)]
    client: Client,
    /// Show the change and make none
    #[arg(long)]
    dry_run: bool,
    /// For the whole machine, where only an administrator can take it away
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

    /// The name of its program.
    pub(crate) const fn program(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
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

    /// Whether these settings have the hooks, exactly.
    pub(crate) fn has_hooks(self, found: &[u8], entries: &[Entry]) -> bool {
        let in_settings = |json: Json<'_>| entries.iter().all(|entry| settings::has_hook(&json, entry));
        let in_requirements =
            |text: &str| self == Self::Codex && codex::managed::with_hooks(text, entries).is_none();
        match Json::parse(found) {
            Ok(json) => in_settings(json),
            Err(_) => std::str::from_utf8(found).is_ok_and(in_requirements),
        }
    }

    /// The file that only an administrator can change.
    pub(crate) fn managed_settings(self) -> PathBuf {
        match self {
            Self::ClaudeCode => claude_code::managed_settings(),
            Self::Codex => codex::requirements(),
        }
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
    let path = if *managed { Ok(client.managed_settings()) } else { client.settings(&root) };
    let path = path.map_err(Failure::CouldNotTell)?;
    let before = Before::read(&path).map_err(Failure::CouldNotTell)?;
    let found = before.as_ref().map(|before| before.bytes.as_slice());
    let entries = client.entries().map_err(Failure::CouldNotTell)?;
    let edited = match (client, managed) {
        (Client::Codex, true) => {
            let found = String::from_utf8_lossy(found.unwrap_or_default());
            Ok(codex::managed::with_hooks(&found, &entries))
        }
        (Client::ClaudeCode | Client::Codex, _) => settings::with_hooks(found, &entries),
    };
    let edited = edited.map_err(Failure::CouldNotTell)?;
    if let Some(edited) = &edited {
        let found = String::from_utf8_lossy(found.unwrap_or_default());
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
        let access = if *managed { Access::Everybody } else { Access::Usual };
        folder::replace(&path, edited.as_bytes(), access).map_err(Failure::CouldNotTell)?;
        changes.push(Change { path: path.clone(), before });
    }
    match (client, managed) {
        (Client::ClaudeCode, _) => (),
        (Client::Codex, false) => {
            changes.extend(trust(&root, bin, console).map_err(Failure::CouldNotTell)?);
        }
        (Client::Codex, true) => {
            if let Err(issue) = require(&root, bin, console) {
                put_back(&changes).map_err(Failure::CouldNotTell)?;
                return Err(Failure::CouldNotTell(issue));
            }
        }
    }
    let exit = if *managed { check_readable(&path, console) } else { Exit::Yes };
    if changes.is_empty() {
        console.say(&format!("{} is installed already\n", client.as_str()));
        return Ok(exit);
    }
    installed::note(&workspace, client.as_str(), changes).map_err(Failure::CouldNotTell)?;
    console.say(&format!(
        "installed; see that it works with `countersign doctor {0}`, undo it with `countersign uninstall {0}`\n",
        client.as_str()
    ));
    Ok(exit)
}

/// Says which of the machine's settings the clients of other users cannot read.
fn check_readable(path: &Path, console: Console) -> Exit {
    let closed = closed_to_others(path);
    for (path, mode, bits) in &closed {
        console.say(&format!(
            "`{0}` has mode {mode:04o}: the clients of other users cannot read the hooks; chmod {bits} '{0}'\n",
            path.display()
        ));
    }
    if closed.is_empty() { Exit::Yes } else { Exit::No }
}

/// The file of the machine's settings and its folder, as far as others cannot read them: each with its mode and what to add.
pub(crate) fn closed_to_others(path: &Path) -> Vec<(PathBuf, u32, &'static str)> {
    let parts = [(path.parent(), 0o001, "a+x"), (Some(path), 0o004, "a+r")];
    let closed = parts.into_iter().filter_map(|(path, needed, bits)| {
        let mode = files::mode_of(path?)?;
        (mode & needed == 0).then(|| path.map(|path| (path.to_path_buf(), mode, bits)))?
    });
    closed.collect()
}

/// Sees that the machine requires our hooks of Codex.
fn require(root: &Path, bin: &OsString, console: Console) -> Result<(), Issue> {
    let mut server = AppServer::start(bin, &codex::home()?, root, Experimental::Off)?;
    let command = format!("{} hook codex", environment::this_program()?);
    let hooks = codex::of_command(codex::hooks(&mut server, &root.display().to_string())?, &command);
    let are_managed = !hooks.is_empty() && hooks.iter().all(|hook| hook.is_live && hook.trust == "managed");
    if are_managed && codex::are_required(&mut server) {
        console.say(&format!(
            "the machine requires {} hooks of Countersign of every user's Codex\n",
            hooks.len()
        ));
        return Ok(());
    }
    let message = "Codex does not take the hooks for the machine's own; the file is as it was";
    Err(Issue::new(codes::INSTALL_TRUST, message)
        .with_hint("see that Codex can read requirements.toml, and that what else is in it is right"))
}

/// Puts files back as they were before these changes.
fn put_back(changes: &[Change]) -> Result<(), Issue> {
    changes.iter().try_for_each(|Change { path, before }| match before {
        Some(before) => before.put_back(path),
        None => folder::remove(path),
    })
}

/// Tells Codex to trust our hooks; what that changed, if anything.
fn trust(root: &Path, bin: &OsString, console: Console) -> Result<Option<Change>, Issue> {
    let home = codex::home()?;
    let path = home.join("config.toml");
    let before = Before::read(&path)?;
    let mut server = AppServer::start(bin, &home, root, Experimental::Off)?;
    let cwd = root.display().to_string();
    let command = format!("{} hook codex", environment::this_program()?);
    let hooks = codex::of_command(codex::hooks(&mut server, &cwd)?, &command);
    if !hooks.is_empty() && hooks.iter().all(|hook| hook.is_live) {
        return Ok(None);
    }
    codex::trust(&mut server, &hooks)?;
    let after = codex::of_command(codex::hooks(&mut server, &cwd)?, &command);
    if after.is_empty() || !after.iter().all(|hook| hook.is_live) {
        return Err(Issue::new(codes::INSTALL_TRUST, "Codex does not trust the hooks after it was told to"));
    }
    console.say(&format!("Codex trusts {} hooks of Countersign\n", after.len()));
    Ok(Some(Change { path, before }))
}

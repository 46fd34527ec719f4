//! `countersign install`: puts the gate before the tools of an agent's host.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use countersign_canon::{Issue, Json, NonEmpty};

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
        settings::{self, Entry, Ours},
        workspace::Workspace,
    },
    source::Source,
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
    #[arg(value_enum, value_name = "HOST")]
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

    /// Whose hooks are ours in its settings.
    pub(crate) fn ours(self) -> Result<Ours, Issue> {
        let command = format!("{} hook {}", environment::this_program()?, self.as_str());
        Ok(Ours { host: self.as_str(), command })
    }

    /// The files of this workspace and this user that hooks change, in the order in which they are to be put back.
    pub(crate) fn own_files(self, root: &Path) -> Result<Vec<PathBuf>, Issue> {
        let settings = self.settings(root)?;
        Ok(match self {
            Self::ClaudeCode => vec![settings],
            Self::Codex => vec![settings.with_file_name("config.toml"), settings],
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
    folder::behind_link(&path).map_err(Failure::CouldNotTell)?;
    let before = Before::read(&path).map_err(Failure::CouldNotTell)?;
    let found = before.as_ref().map(|before| before.bytes.as_slice());
    let entries = client.entries().map_err(Failure::CouldNotTell)?;
    let ours = client.ours().map_err(Failure::CouldNotTell)?;
    let edited = match (client, managed) {
        (Client::Codex, true) => {
            let found = String::from_utf8_lossy(found.unwrap_or_default());
            Ok(codex::managed::with_hooks(&found, &entries))
        }
        (Client::ClaudeCode | Client::Codex, _) => settings::with_hooks(found, &entries, &ours),
    };
    let edited = edited.map_err(|issue| unusable(&path, found.unwrap_or_default(), issue))?;
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
    let plan = Plan { workspace: &workspace, ours: &ours, root: &root, bin, console };
    let change = edited.map(|edited| Change { path: path.clone(), before, after: edited.into_bytes() });
    let is_changed = plan.carry_out(change, *managed).map_err(Failure::CouldNotTell)?;
    let exit = if *managed { check_readable(&path, console) } else { Exit::Yes };
    if !is_changed {
        console.say(&format!("{} is installed already\n", client.as_str()));
        return Ok(exit);
    }
    console.say(&format!(
        "installed; see that it works with `countersign doctor {0}`, undo it with `countersign uninstall {0}`\n",
        client.as_str()
    ));
    Ok(exit)
}

/// The settings are not what they should be: which file, and where in it.
fn unusable(path: &Path, found: &[u8], issue: Issue) -> Failure {
    let rest = issue.offset.and_then(|offset| found.get(offset..)).unwrap_or_default();
    let hint = if rest.starts_with(b"//") || rest.starts_with(b"/*") {
        "settings with comments are not changed: take the comments out first; nothing was changed"
    } else {
        "repair the file first; nothing was changed"
    };
    let issue =
        if issue.code == codes::INSTALL_SETTINGS { issue } else { issue.under(codes::INSTALL_SETTINGS) };
    let source = Source { name: path.display().to_string(), bytes: found.to_vec() };
    Failure::Unusable(vec![(Some(source), NonEmpty::of(issue.with_hint(hint)))])
}

/// What an installation is made with.
struct Plan<'p> {
    workspace: &'p Workspace,
    ours: &'p Ours,
    root: &'p Path,
    bin: &'p OsString,
    console: Console,
}

impl Plan<'_> {
    /// Makes the change and sees that the host takes it, or leaves everything as it was; whether anything changed.
    fn carry_out(&self, change: Option<Change>, managed: bool) -> Result<bool, Issue> {
        let made = change.as_ref().map(|change| folder::missing_folders(&change.path)).unwrap_or_default();
        let noted = installed::noted(self.workspace, self.ours)?;
        let result = self.change(change.as_ref(), &made, managed);
        if result.is_err() {
            change.iter().try_for_each(Change::put_back)?;
            for folder in &made {
                let _others_use_it = folder::remove_empty(folder);
            }
            noted.put_back()?;
        }
        result
    }

    fn change(&self, change: Option<&Change>, made: &[PathBuf], managed: bool) -> Result<bool, Issue> {
        // What is noted first is found again, whatever happens next.
        if let Some(change) = change {
            installed::note(self.workspace, self.ours, std::slice::from_ref(change), made)?;
            let access = if managed { Access::Everybody } else { Access::Usual };
            folder::replace(&change.path, &change.after, access)?;
        }
        if self.ours.host != Client::Codex.as_str() {
            return Ok(change.is_some());
        }
        if managed {
            require(self.root, self.bin, self.console)?;
            return Ok(change.is_some());
        }
        let trusted = trust(self.root, self.bin, self.console)?;
        if let Some(trusted) = &trusted {
            installed::note(self.workspace, self.ours, std::slice::from_ref(trusted), &[])?;
        }
        Ok(change.is_some() || trusted.is_some())
    }
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

/// Tells Codex to trust our hooks; what that changed, if anything. If Codex does not, its settings are put back.
fn trust(root: &Path, bin: &OsString, console: Console) -> Result<Option<Change>, Issue> {
    let path = codex::home()?.join("config.toml");
    let before = Before::read(&path)?;
    let told = tell(root, bin, console);
    let after = files::read_if_there(&path)?;
    let is_changed = after.as_ref() != before.as_ref().map(|before| &before.bytes);
    let change = Change { path, before, after: after.unwrap_or_default() };
    match told {
        Ok(()) => Ok(is_changed.then_some(change)),
        Err(issue) => {
            if is_changed {
                change.put_back()?;
            }
            Err(issue)
        }
    }
}

/// Tells Codex to trust our hooks, if it does not yet.
fn tell(root: &Path, bin: &OsString, console: Console) -> Result<(), Issue> {
    let mut server = AppServer::start(bin, &codex::home()?, root, Experimental::Off)?;
    let cwd = root.display().to_string();
    let command = format!("{} hook codex", environment::this_program()?);
    let hooks = codex::of_command(codex::hooks(&mut server, &cwd)?, &command);
    if !hooks.is_empty() && hooks.iter().all(|hook| hook.is_live) {
        return Ok(());
    }
    codex::trust(&mut server, &hooks)?;
    let after = codex::of_command(codex::hooks(&mut server, &cwd)?, &command);
    if after.is_empty() || !after.iter().all(|hook| hook.is_live) {
        return Err(Issue::new(codes::INSTALL_TRUST, "Codex does not trust the hooks after it was told to"));
    }
    console.say(&format!("Codex trusts {} hooks of Countersign\n", after.len()));
    Ok(())
}

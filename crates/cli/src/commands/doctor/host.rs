//! Whether an agent's host is governed: not what was once written down, but what happens now.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::Duration,
};

use countersign_canon::Json;

use super::{
    Finding, Grade,
    live::{self, State},
    show,
};
use crate::{
    commands::install::{Client, closed_to_others},
    console::Console,
    effects::{
        child::{self, Start},
        clock::Stopwatch,
        environment, files,
    },
    embedded::{Shown, usage},
    exit::Exit,
    failure::Failure,
    hosts::{
        claude_code,
        codex::{
            self,
            app_server::{AppServer, Experimental},
        },
        gate::Gate,
        settings,
        workspace::Workspace,
    },
    policy_folder,
};

/// LIMIT: a hook that takes longer makes people switch it off.
const SLOW: Duration = Duration::from_millis(250);

/// The sorts of calls that a host makes.
const SURFACES: [&str; 4] = ["commands", "file edits", "sub-agents", "MCP tools"];

/// What was found so far.
struct Findings(Vec<Finding>);

impl Findings {
    fn note(&mut self, is_good: bool, what: impl Into<String>, to_do: impl Into<String>) {
        self.0.push(Finding { grade: Grade::of(is_good), what: what.into(), to_do: to_do.into() });
    }

    fn remark(&mut self, what: &str) {
        self.0.push(Finding { grade: Grade::Note, what: what.to_owned(), to_do: String::new() });
    }

    fn are_good(&self) -> bool {
        self.0.iter().all(|finding| finding.grade != Grade::Wrong)
    }
}

/// Looks at everything that must hold for a host to be governed in this folder.
pub(super) fn run(
    client: Client,
    bin: Option<&OsStr>,
    shown: Shown,
    console: Console,
) -> Result<Exit, Failure> {
    let bin = bin.unwrap_or_else(|| OsStr::new(client.program()));
    let folder = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let root = Workspace::find(&folder).map_or(folder, |workspace| workspace.root);
    let mut findings = Findings(Vec::new());
    workspace(&root, client, &mut findings);
    let is_configured = hooks(&root, client, &mut findings)?;
    counted(&root, client, &mut findings)?;
    match client {
        Client::ClaudeCode => switched_off(&root, &mut findings),
        Client::Codex => trusted(&root, bin, &mut findings),
    }
    if is_configured {
        canaries(&root, client, &mut findings)?;
    }
    let is_ready = findings.are_good();
    let worst = surfaces(&root, client, bin, is_ready, &mut findings);
    let is_good = findings.are_good();
    let word = match worst {
        State::Proved if is_good => "protected",
        State::Configured => "configured, not proved",
        State::Proved | State::Unprotected => "not protected",
    };
    let line = format!("{}: {word}", client.as_str());
    findings.note(is_good, line, "mend what is wrong above, then look again");
    show(("protection", word), &findings.0, shown, console)
}

/// What sorts of calls are decided before they are made, shown by calls through the host itself; the worst of them.
///
/// If something is wrong already nothing is tried: a host without hooks would let the canaries through.
fn surfaces(root: &Path, client: Client, bin: &OsStr, is_ready: bool, findings: &mut Findings) -> State {
    if !is_ready {
        for name in SURFACES {
            findings.remark(&format!("{name}: {}", State::Unprotected.as_str()));
        }
        return State::Unprotected;
    }
    let gate = Workspace::find(root).and_then(|workspace| Gate::open(workspace, client.as_str()));
    match gate.and_then(|gate| live::look(root, client, bin, &gate)) {
        Err(issue) => {
            findings.note(
                false,
                format!("calls through `{}`: {}: {issue}", bin.display(), issue.code),
                "name the host's program with --bin",
            );
            for name in SURFACES {
                findings.remark(&format!("{name}: {}", State::Configured.as_str()));
            }
            State::Configured
        }
        Ok(live::Shown { surfaces, took }) => {
            let program = bin.display();
            findings
                .remark(&format!("calls that execute nothing through `{program}`: {} ms", took.as_millis()));
            for (name, state) in &surfaces {
                findings.note(
                    *state == State::Proved,
                    format!("{name}: {}", state.as_str()),
                    "the host did not make such a call, or did not ask before it: see which hooks and settings it has",
                );
            }
            findings.remark(match client {
                Client::ClaudeCode => "`claude --bare`: unprotected, it runs no hooks",
                Client::Codex => "web search at the provider: unprotected, it does not run on this machine",
            });
            surfaces.iter().map(|(_, state)| *state).max().unwrap_or(State::Configured)
        }
    }
}

/// The workspace's settings, store and policy, and who else could write them.
fn workspace(root: &Path, client: Client, findings: &mut Findings) {
    let workspace = match Workspace::find(root) {
        Ok(workspace) => workspace,
        Err(issue) => {
            let to_do = "run `countersign init`";
            return findings.note(false, format!("the workspace: {}: {issue}", issue.code), to_do);
        }
    };
    let data = workspace.data.clone();
    findings.note(true, format!("the workspace: `{}`, {}", data.display(), workspace.mode), "");
    match Gate::open(workspace, client.as_str()) {
        Ok(_) => findings.note(true, "the policy: valid and in force", ""),
        Err(issue) => findings.note(
            false,
            format!("the policy: {}: {issue}", issue.code),
            "until it is mended everything is denied; `countersign policy activate` puts the folder's policy in force",
        ),
    }
    let policy = data.join("policy");
    let names = policy_folder::NAMES.into_iter().chain(["actions.v1.yml"]);
    let paths =
        names.map(|name| policy.join(name)).chain([policy.clone(), data.join("config.yml"), data.clone()]);
    let is_open = |path: &PathBuf| files::mode_of(path).is_some_and(|mode| mode & 0o022 != 0);
    let open: Vec<String> = paths.filter(is_open).map(|path| format!("`{}`", path.display())).collect();
    let what = if open.is_empty() { "no".to_owned() } else { open.join(", ") };
    findings.note(
        open.is_empty(),
        format!("files of the policy that others can write: {what}"),
        "chmod go-w them",
    );
}

/// The hooks in the host's settings, and the program that they run.
fn hooks(root: &Path, client: Client, findings: &mut Findings) -> Result<bool, Failure> {
    let entries = client.entries().map_err(Failure::CouldNotTell)?;
    let own = client.settings(root).map_err(Failure::CouldNotTell)?;
    let (managed, places) = (client.managed_settings(), [own, client.managed_settings()]);
    let read = |path: &PathBuf| files::read_all(path).unwrap_or_default();
    let found: Vec<&PathBuf> = places.iter().filter(|path| client.has_hooks(&read(path), &entries)).collect();
    // What this user cannot read may hold hooks as well: then it is closed to this user's client too.
    if found.contains(&&managed) || files::read_if_there(&managed).is_err() {
        for (path, mode, bits) in closed_to_others(&managed) {
            let path = path.display();
            findings.note(
                false,
                format!("`{path}` has mode {mode:04o}: the clients of other users cannot read the hooks"),
                format!("chmod {bits} '{path}'"),
            );
        }
    }
    if !found.is_empty() {
        let named: Vec<String> = found.iter().map(|path| format!("`{}`", path.display())).collect();
        findings.note(true, format!("the hooks: in {}", named.join(", ")), "");
        if !found.contains(&&managed) {
            findings.remark(&format!(
                "any program that runs as this user can edit {}; what `install --managed` writes it cannot",
                named.join(", ")
            ));
        }
        return Ok(true);
    }
    let ending = format!(" hook {}", client.as_str());
    let all = places.iter().flat_map(|path| {
        Json::parse(&read(path)).map(|json| settings::commands(&json, "PreToolUse")).unwrap_or_default()
    });
    let other = all.into_iter().find(|command| command.ends_with(&ending));
    let what = match other.as_deref().map(|command| (command, program_of(command))) {
        None => "the hooks: none".to_owned(),
        Some((_, program)) if files::mode_of(Path::new(program)).is_none() => {
            format!("the hooks: the program `{program}` is not there")
        }
        Some((command, _)) => format!("the hooks: not as installed, or of another program: `{command}`"),
    };
    findings.note(
        false,
        what,
        "run `countersign install`, after `countersign uninstall` if another one is there",
    );
    Ok(false)
}

/// Whether one hook of this program is asked before a call, and no second one: it would be asked about a call that has begun.
fn counted(root: &Path, client: Client, findings: &mut Findings) -> Result<(), Failure> {
    let places = match client {
        Client::ClaudeCode => claude_code::all_settings(root),
        Client::Codex => {
            vec![client.managed_settings(), client.settings(root).map_err(Failure::CouldNotTell)?]
        }
    };
    let hook = format!(" hook {}", client.as_str());
    let is_ours = |command: &String| {
        let mut parts = command.splitn(2, &hook);
        let (program, rest) = (parts.next().unwrap_or_default(), parts.next());
        program.contains("countersign") && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let mut found = Vec::new();
    for path in places {
        let bytes = files::read_all(&path).unwrap_or_default();
        let commands = match Json::parse(&bytes) {
            Ok(json) => settings::commands(&json, "PreToolUse"),
            Err(_) => codex::managed::commands(&String::from_utf8_lossy(&bytes), "PreToolUse"),
        };
        let ours = commands.iter().filter(|command| is_ours(command));
        found.extend(ours.map(|command| format!("`{command}` in `{}`", path.display())));
    }
    if found.len() > 1 {
        findings.note(
            false,
            format!("the hooks before a call: {}: {}", found.len(), found.join(", ")),
            "leave one of them: the host asks each, and the second denies what the first has let begin",
        );
    }
    Ok(())
}

fn program_of(command: &str) -> &str {
    command.split(" hook ").next().unwrap_or_default().trim_matches('\'')
}

/// Whether some settings of Claude Code switch all hooks off.
fn switched_off(root: &Path, findings: &mut Findings) {
    let is_off = |path: &PathBuf| {
        let bytes = files::read_all(path).unwrap_or_default();
        let json = Json::parse(&bytes).ok();
        json.is_some_and(|json| json.get("disableAllHooks").and_then(Json::as_bool) == Some(true))
    };
    let entries = Client::ClaudeCode.entries().unwrap_or_default();
    let managed = claude_code::managed_settings();
    let are_managed = Client::ClaudeCode.has_hooks(&files::read_all(&managed).unwrap_or_default(), &entries);
    let found: Vec<String> = claude_code::all_settings(root)
        .into_iter()
        .filter(|path| is_off(path) && (!are_managed || *path == managed))
        .map(|path| format!("`{}`", path.display()))
        .collect();
    let what = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
    findings.note(
        found.is_empty(),
        format!("settings with disableAllHooks: {what}"),
        "take it out, or install with --managed, where it does not count",
    );
}

/// Whether Codex runs the hooks: it passes over those that it does not trust, without a word.
fn trusted(root: &Path, bin: &OsStr, findings: &mut Findings) {
    let to_do =
        "run `countersign install codex` again: Codex passes over hooks that are untrusted or were edited";
    let listed = || {
        let mut server = AppServer::start(bin, &codex::home()?, root, Experimental::Off)?;
        let hooks = codex::hooks(&mut server, &root.display().to_string())?;
        let command = format!("{} hook codex", environment::this_program()?);
        Ok(hooks.into_iter().filter(|hook| hook.command == command).collect::<Vec<_>>())
    };
    match listed() {
        Err::<_, countersign_canon::Issue>(issue) => {
            findings.note(false, format!("Codex's trust: {}: {issue}", issue.code), to_do);
        }
        Ok(hooks) if hooks.is_empty() => findings.note(false, "Codex's trust: it knows no such hook", to_do),
        Ok(hooks) => {
            for hook in hooks {
                findings.note(
                    hook.is_live,
                    format!("Codex's trust: {} hook {}", hook.event, hook.trust),
                    to_do,
                );
            }
        }
    }
}

/// Runs the hook as the host does, on calls that execute nothing: one that it must deny and one that it must not.
fn canaries(root: &Path, client: Client, findings: &mut Findings) -> Result<(), Failure> {
    let program = environment::this_program().map_err(Failure::CouldNotTell)?;
    let command = format!("{program} hook {}", client.as_str());
    let (shell, flag) = match client {
        Client::ClaudeCode => ("/bin/sh", "-c"),
        Client::Codex => ("/bin/bash", "-lc"),
    };
    let canaries = [("denied", "countersign_canary", Some(2)), ("allowed", "ls", Some(0))];
    for (name, line, expected) in canaries {
        let call = Json::object([
            ("session_id", Json::from("countersign doctor")),
            ("cwd", Json::from(root.display().to_string())),
            ("hook_event_name", Json::from("PreToolUse")),
            ("tool_name", Json::from("Bash")),
            ("tool_input", Json::object([("command", Json::from(line))])),
        ]);
        let stopwatch = Stopwatch::start();
        let ran = child::run(
            &Start {
                program: OsStr::new(shell),
                arguments: &[flag.into(), command.clone().into()],
                environment: &[("CLAUDE_PROJECT_DIR", root.as_os_str().to_owned())],
                folder: Some(root),
            },
            call.to_canonical().as_bytes(),
        );
        let took = stopwatch.elapsed();
        let exit = ran.map_err(Failure::CouldNotTell)?.status.code();
        let what = format!("a call that must be {name}: exit {}", exit.map_or(-1, |exit| exit));
        findings.note(
            exit == expected,
            what,
            "the hook does not decide as it should: see `countersign doctor`",
        );
        findings.note(
            took < SLOW,
            format!("the hook through `{shell} {flag}`: {} ms", took.as_millis()),
            "most of it is the shell's own profile: make that faster",
        );
    }
    Ok(())
}

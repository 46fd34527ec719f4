//! `countersign codex app-server`: the gate between a client and the real app-server.

use std::ffi::OsString;

use crate::{
    console::Console,
    effects::{environment, relay::Relay},
    embedded::usage,
    exit::Exit,
    failure::Failure,
    hosts::{
        between::stand,
        codex::{
            app_server::Experimental,
            bounds::{Bounds, Sandbox},
            probe,
            proxy::{Proxy, Runtime},
        },
        gate::Gate,
        workspace::Workspace,
    },
};

/// Stand between a client and `codex app-server`: every act of the agent and every request of the client is decided first
///
/// Put it where the client would start `codex app-server`. Commands, patches and MCP tools that Codex asks leave for are
/// accepted or declined by the policy, once each; the client is not asked, and cannot answer. What the client itself asks
/// for is an action too: commands, files, settings, and a turn that is started while one is under way, which steers it.
/// Threads are started so that Codex asks (`untrusted`), within the sandbox below and what the managed settings allow, and
/// one that got something else is refused. Codex is probed first: what it does not have is denied, never emulated.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign codex app-server
  countersign codex app-server --bin ~/bin/codex --sandbox read-only
  countersign codex app-server -- -c model=gpt-5.2-codex

Exit: 0 the client or the server has ended, 1 there is no app-server and only workers can be used, 2 it could not be
started, or does not read what it asked for")]
pub(crate) struct Arguments {
    /// The program
    #[arg(long, value_name = "FILE", default_value = "codex")]
    bin: OsString,
    /// How far commands of a thread reach at most [default: the workspace, if its sessions may write]
    #[arg(long, value_name = "MOST")]
    sandbox: Option<Sandbox>,
    /// Let clients opt into methods that are experimental; without this they are denied
    #[arg(long)]
    experimental: bool,
    /// More arguments for `codex app-server`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { bin, sandbox, experimental, arguments } = arguments;
    let folder = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&folder).map_err(Failure::CouldNotTell)?;
    let most = sandbox.unwrap_or_else(|| Sandbox::of_mode(workspace.mode));
    let gate = Gate::open(workspace, "codex").map_err(Failure::CouldNotTell)?;
    let snapshot = probe::probe(bin).map_err(Failure::CouldNotTell)?;
    gate.keep_probe("codex", &snapshot.facts(), &snapshot.to_json()).map_err(Failure::CouldNotTell)?;
    if !snapshot.has_app_server {
        console.say("there is no app-server: only workers can be used, with `countersign codex exec`\n");
        return Ok(Exit::No);
    }
    let experimental = if *experimental { Experimental::On } else { Experimental::Off };
    let bounds = Bounds::new(most, &snapshot);
    let runtime = Runtime { snapshot, experimental, folder };
    let mut proxy = Proxy::new(&gate, runtime, bounds, console).map_err(Failure::CouldNotTell)?;
    let arguments: Vec<OsString> =
        std::iter::once("app-server".into()).chain(arguments.iter().cloned()).collect();
    let relay = Relay::start(bin, &arguments).map_err(Failure::CouldNotTell)?;
    stand(&relay, &mut proxy).map_err(Failure::CouldNotTell)?;
    Ok(Exit::Yes)
}

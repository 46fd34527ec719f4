//! `countersign mcp`: the gate before the tools of MCP servers.

use std::ffi::OsString;

use clap::Subcommand;

use crate::{
    console::Console,
    effects::{environment, relay::Relay},
    embedded::usage,
    exit::Exit,
    failure::Failure,
    hosts::{between::stand, gate::Gate, mcp::Proxy, workspace::Workspace},
};

/// Govern the tools of MCP servers
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Proxy(ProxyArguments),
}

/// Stand before an MCP server on standard input and output: every call of a tool is decided before the server hears of it
///
/// A denied call is answered with a result that says why; tools that no call of would be allowed are not listed; everything
/// else passes as it is. Works with every MCP client: put it where the client would start the server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign mcp proxy --name files -- npx @modelcontextprotocol/server-filesystem .

Exit: 0 the client or the server has ended, 2 the server or the store could not be opened")]
struct ProxyArguments {
    /// The server's name in actions and rules
    #[arg(long, default_value = "server")]
    name: String,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments, _console: Console) -> Result<Exit, Failure> {
    let Command::Proxy(ProxyArguments { name, server }) = &arguments.command;
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&root).map_err(Failure::CouldNotTell)?;
    let gate = Gate::open(workspace, "mcp").map_err(Failure::CouldNotTell)?;
    let session = gate.new_session("mcp").map_err(Failure::CouldNotTell)?;
    let mut proxy = Proxy::new(&gate, session, name.clone());
    let Some((program, rest)) = server.split_first() else { return Err(usage("name the server")) };
    let mut relay = Relay::start(program, rest).map_err(Failure::CouldNotTell)?;
    stand(&mut relay, &mut proxy);
    Ok(Exit::Yes)
}

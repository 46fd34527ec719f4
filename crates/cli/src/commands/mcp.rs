//! `countersign mcp`: the gate before the tools of MCP servers, and the kernel as one.

use std::ffi::OsString;

use clap::Subcommand;

use crate::{
    console::Console,
    effects::{
        environment,
        relay::{self, Relay},
    },
    embedded::usage,
    exit::Exit,
    failure::Failure,
    hosts::{between::stand, gate::Gate, mcp::Proxy, mcp_server::Server, workspace::Workspace},
    intent::registry::RegistryArguments,
};

/// Govern the tools of MCP servers, or be one
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Proxy(ProxyArguments),
    Serve(ServeArguments),
}

/// Stand before an MCP server on standard input and output: every call of a tool is decided before the server hears of it
///
/// A denied call is answered with a result that says why; tools that no call of would be allowed are not listed; everything
/// else passes as it is. Works with every MCP client: put it where the client would start the server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign mcp proxy --name files -- npx @modelcontextprotocol/server-filesystem .

Exit: 0 the client or the server has ended, 2 the server or the store could not be opened, or the server does not read
what it asked for")]
struct ProxyArguments {
    /// The server's name in actions and rules
    #[arg(long, default_value = "server")]
    name: String,
    /// The server and its arguments
    #[arg(last = true, required = true, value_name = "SERVER")]
    server: Vec<OsString>,
}

/// Be an MCP server on standard input and output: the kernel for agents
///
/// Tools: ask what is allowed, ask a person for approval, publish an intent, check conflicts, read the policy in force. Nothing
/// begins through it: what an agent then does passes the gate before its tools.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign mcp serve
  claude mcp add countersign -- countersign mcp serve

Exit: 0 the client has ended, 2 the store could not be opened")]
struct ServeArguments {
    #[command(flatten)]
    registry: RegistryArguments,
}

pub(crate) fn run(arguments: &Arguments, _console: Console) -> Result<Exit, Failure> {
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&root).map_err(Failure::CouldNotTell)?;
    let gate = Gate::open(workspace, "mcp").map_err(Failure::CouldNotTell)?;
    let session = gate.new_session("mcp").map_err(Failure::CouldNotTell)?;
    match &arguments.command {
        Command::Proxy(ProxyArguments { name, server }) => {
            let mut proxy = Proxy::new(&gate, session, name.clone());
            let Some((program, rest)) = server.split_first() else { return Err(usage("name the server")) };
            let relay = Relay::start(program, rest).map_err(Failure::CouldNotTell)?;
            stand(&relay, &mut proxy).map_err(Failure::CouldNotTell)?;
        }
        Command::Serve(ServeArguments { registry }) => {
            let server = Server::new(&gate, session, registry.load()?);
            relay::serve(&mut |line| server.answer(line));
        }
    }
    Ok(Exit::Yes)
}

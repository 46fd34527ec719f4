//! `countersign session`: who acts, in which role and mode.

use clap::Subcommand;
use countersign_canon::{Json, Text, Wire as _};
use countersign_ledger::{Session, SessionKind};
use countersign_policy::{ActionKind, ApprovalId, Mode, Role, SessionId};
use countersign_service::{
    Ask,
    api::{StartSession, StopSession},
};

use super::decide;
use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
};

/// Start, change, stop and list sessions
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(StartArguments),
    Mode(ModeArguments),
    Stop(StopArguments),
    List(ListArguments),
}

/// Start a session and print its id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign session start --role copilot
  countersign session start --role pipeline_worker --run --mode writes_allowed

Exit: 0 started, 2 it could not be")]
struct StartArguments {
    /// The role it acts in, such as copilot
    #[arg(long, value_parser = Role::parse)]
    role: Role,
    /// What it may do: read_only or writes_allowed
    #[arg(long, value_parser = Mode::parse, default_value = "read_only")]
    mode: Mode,
    /// What the client calls itself
    #[arg(long, default_value = "cli")]
    client: String,
    /// An unattended run instead of a session
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// Ask to change the mode of a session: an action like any other, so a person approves it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign session mode ses_0123 writes_allowed
  countersign session mode ses_0123 writes_allowed --approval apr_4567

Exit: 0 changed, 1 denied, 2 it could not be decided, 4 an approval is required")]
struct ModeArguments {
    /// The session
    #[arg(value_parser = SessionId::parse)]
    session: SessionId,
    /// read_only or writes_allowed
    #[arg(value_parser = Mode::parse)]
    mode: Mode,
    /// The approval that a person granted
    #[arg(long, value_name = "ID", value_parser = ApprovalId::parse)]
    approval: Option<ApprovalId>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// End a session
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign session stop ses_0123

Exit: 0 ended, 2 it could not be")]
struct StopArguments {
    /// The session
    #[arg(value_parser = SessionId::parse)]
    session: SessionId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// List every session
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign session list
  countersign session list --format json

Exit: 0 listed, 2 the store could not be read")]
struct ListArguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Start(arguments) => start(arguments, console),
        Command::Mode(arguments) => mode(arguments, console),
        Command::Stop(arguments) => stop(arguments, console),
        Command::List(arguments) => list(arguments, console),
    }
}

fn start(arguments: &StartArguments, console: Console) -> Result<Exit, Failure> {
    let StartArguments { role, mode, client, run, place, shown } = arguments;
    let kind = if *run { SessionKind::Run } else { SessionKind::Session };
    let client = Text::new(client.clone()).ok_or_else(|| usage("a client has 1 to 128 characters"))?;
    let new = StartSession { role: role.clone(), mode: Some(*mode), client, kind: Some(kind) };
    let session = place.door_or_make()?.ask(new)?;
    shown.show(console, &session.write(), session.session_id.as_str())?;
    Ok(Exit::Yes)
}

fn mode(arguments: &ModeArguments, console: Console) -> Result<Exit, Failure> {
    let ModeArguments { session, mode, approval, place, shown } = arguments;
    let kind = ActionKind::parse("session.set_mode").map_err(|issue| usage(issue.to_string()))?;
    let ask = Ask::new(kind, Json::object([("mode", mode.write())])).in_session(session).to_begin();
    decide::ask(&place.door()?, Ask { approval_id: approval.clone(), ..ask }, *shown, console)
}

fn stop(arguments: &StopArguments, console: Console) -> Result<Exit, Failure> {
    let StopArguments { session, place, shown } = arguments;
    let session = place.door()?.ask(StopSession { session_id: session.clone() })?;
    shown.show(console, &session.write(), &in_words(&session))?;
    Ok(Exit::Yes)
}

fn list(arguments: &ListArguments, console: Console) -> Result<Exit, Failure> {
    let sessions = arguments.place.door()?.sessions()?;
    let text: Vec<String> = sessions.iter().map(in_words).collect();
    let json = Json::array(sessions.iter().map(Session::write));
    arguments.shown.show(console, &json, &text.join("\n"))?;
    Ok(Exit::Yes)
}

fn in_words(session: &Session) -> String {
    let Session { session_id, role, mode, client, state, owner, .. } = session;
    format!("{session_id} {state} {role} {mode} {owner} {}", client.as_str())
}

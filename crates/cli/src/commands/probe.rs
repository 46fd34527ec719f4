//! `countersign probe`: what an agent's runtime can do, found by asking it.

use std::ffi::OsString;

use clap::ValueEnum;

use crate::{
    console::Console,
    effects::environment,
    embedded::{Shown, usage},
    exit::Exit,
    failure::Failure,
    hosts::{
        codex::probe::{self, Snapshot},
        gate::Gate,
        workspace::Workspace,
    },
};

/// Find out what an agent's runtime can do, and record it
///
/// Asks the program itself: its version, its methods by a call that nobody has, its generated schemas, harmless calls of every
/// method that is relied on, its features and options. What is not clear counts as absent, and an action whose capability is
/// absent is denied. The result is a CAPABILITIES_SNAPSHOT event in the workspace's log, and what hooks go by from then on.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign probe codex
  countersign probe codex --bin ~/bin/codex --format json

Exit: 0 probed, 1 there is no app-server and only workers can be used, 2 it could not be recorded")]
pub(crate) struct Arguments {
    /// The host
    #[arg(value_enum, value_name = "HOST")]
    client: Probed,
    /// Its program
    #[arg(long, value_name = "FILE", default_value = "codex")]
    bin: OsString,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Probed {
    Codex,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { client: Probed::Codex, bin, shown } = arguments;
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let snapshot = probe::probe(bin).map_err(Failure::CouldNotTell)?;
    let gate = Workspace::find(&root).and_then(|workspace| Gate::open(workspace, "probe"));
    let kept = gate.and_then(|gate| gate.keep_probe("codex", &snapshot.facts(), &snapshot.to_json()));
    kept.map_err(Failure::CouldNotTell)?;
    shown.show(console, &snapshot.to_json(), &in_words(&snapshot))?;
    Ok(if snapshot.has_app_server { Exit::Yes } else { Exit::No })
}

fn in_words(snapshot: &Snapshot) -> String {
    let version = snapshot.version.as_deref().unwrap_or("not there, or does not say its version");
    let mut lines = vec![format!("codex: {version}")];
    if !snapshot.has_app_server {
        lines.push("app-server: absent, only workers can be used".to_owned());
    }
    let counts = (snapshot.methods.len(), snapshot.stable.len(), snapshot.experimental.len());
    lines.push(format!(
        "methods: {} accepted, {} in the stable schema, {} with the experimental ones",
        counts.0, counts.1, counts.2
    ));
    lines.extend(
        snapshot.relied_on.iter().map(|(method, presence)| format!("{method}: {}", presence.as_str())),
    );
    lines.push(format!("facts: {}", snapshot.facts().join(" ")));
    lines.join("\n")
}

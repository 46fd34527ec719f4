//! `countersign policy eval`: what the rules say about one context.

use std::path::{Path, PathBuf};

use countersign_canon::Timestamp;
use countersign_policy::{Context, Decision, Gate};

use super::document::load_or_give_up;
use crate::{
    console::Console,
    exit::Exit,
    failure::{Failure, codes},
    source::Source,
};

/// Decide about one context and print the trace
///
/// Offline and without side effects: no capability, approval or session is looked up, the context says it all.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy eval --in policy/odeu.instructions.v1.json --context context.json
  countersign policy eval --in p.json --context c.json --evaluation-ts 2026-02-12T09:10:00Z

Exit: 0 allow, 1 deny, 4 approval required, 2 could not evaluate")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    #[command(flatten)]
    context: ContextArguments,
}

/// Where a context comes from.
#[derive(Debug, clap::Args)]
pub(super) struct ContextArguments {
    /// The context, a JSON document; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    context: PathBuf,
    /// The instant of the evaluation, if the context does not say it
    #[arg(long, value_name = "TS")]
    evaluation_ts: Option<String>,
}

impl ContextArguments {
    pub(super) fn load(&self) -> Result<Context, Failure> {
        load_context(&self.context, self.evaluation_ts.as_deref())
    }
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load_or_give_up(&arguments.input)?;
    let context = arguments.context.load()?;
    let trace = policy.trace_context(&context);
    console.data(&trace.to_json().to_pretty())?;
    Ok(exit_of(trace.evaluation.decision, trace.evaluation.gate))
}

/// How a decision ends the program.
pub(super) fn exit_of(decision: Decision, gate: Gate) -> Exit {
    match (decision, gate) {
        (Decision::Allow, _) => Exit::Yes,
        (Decision::Deny, Gate::ApprovalRequired) => Exit::ApprovalRequired,
        (
            Decision::Deny,
            Gate::Capability | Gate::Grant | Gate::Mode | Gate::Approval | Gate::Kernel | Gate::Proceed,
        ) => Exit::No,
    }
}

fn load_context(path: &Path, evaluation_ts: Option<&str>) -> Result<Context, Failure> {
    let evaluation_ts = evaluation_ts.map(Timestamp::parse).transpose();
    let evaluation_ts =
        evaluation_ts.map_err(|issue| Failure::CouldNotTell(issue.under(codes::CLI_USAGE)))?;
    let source = Source::read(path)?;
    let context = match evaluation_ts {
        Some(evaluation_ts) => Context::load_at(&source.bytes, evaluation_ts),
        None => Context::load(&source.bytes),
    };
    context.map_err(|issues| Failure::Unusable(vec![(Some(source), issues)]))
}

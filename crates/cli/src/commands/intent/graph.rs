//! `countersign intent graph`: a set as a graph.

use countersign_intent::{EvaluateOptions, Graph, Limits};

use crate::{
    console::Console,
    exit::Exit,
    failure::Failure,
    intent::{registry::RegistryArguments, report, set::SetArguments},
};

/// Draw a set: who comes before whom, and who is in whose way
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent graph batch/intent_set_api.json | dot -Tpng > set.png
  countersign intent graph batch/intent_set_api.json --format svg > set.svg

Exit: 0 drawn, 1 the set is invalid, 2 it could not be read")]
pub(crate) struct Arguments {
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// How it is drawn
    #[arg(long, default_value = "dot")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Dot,
    Svg,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let registry = arguments.registry.load()?;
    let set = match arguments.set.load(registry.as_ref())? {
        Ok(set) => set,
        Err(refusals) => return report::show(&refusals, console),
    };
    let created_at = set.document().created_at;
    let options =
        EvaluateOptions { registry: registry.as_ref(), limits: Limits::DEFAULT, created_at, answers: &[] };
    let graph = Graph::of(&set, options);
    console.data(&match arguments.format {
        Format::Dot => graph.to_dot(),
        Format::Svg => graph.to_svg(),
    })?;
    Ok(Exit::Yes)
}

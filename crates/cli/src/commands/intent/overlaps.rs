//! `countersign intent overlaps`: conflicts among thousands of open intents.

use std::{collections::BTreeMap, path::PathBuf};

use countersign_canon::{Issue, Json, Wire};
use countersign_intent::{DocumentKind, Intent, intent_codes, overlaps, wire::Environment};

use crate::{
    console::Console,
    effects::folder,
    exit::Exit,
    failure::Failure,
    intent::{
        registry::RegistryArguments,
        report::{self, Row},
    },
    source::Source,
};

/// Find every conflict among all intents of a folder, thousands of them
///
/// Looks at resources, effects, order and broken locks, through indexes and not pair by pair. What concerns a set as
/// a whole (the total of budgets, ways of asking) is `evaluate`'s question. Documents of other types are passed over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent overlaps open-intents
  countersign intent overlaps open-intents --env staging

Exit: 0 no conflict, 1 conflicts or invalid intents, 2 the folder could not be read")]
pub(crate) struct Arguments {
    /// The folder
    folder: PathBuf,
    #[command(flatten)]
    registry: RegistryArguments,
    /// The environment of intents that name none: local, dev, staging or prod
    #[arg(long, value_name = "ENV", value_parser = read_environment)]
    env: Option<Environment>,
}

fn read_environment(text: &str) -> Result<Environment, String> {
    Environment::parse(text).map_err(|issue| issue.message.clone())
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let registry = arguments.registry.load()?;
    let mut intents: BTreeMap<String, Intent> = BTreeMap::new();
    let mut rows = Vec::new();
    for path in folder::json_files(&arguments.folder).map_err(Failure::CouldNotTell)? {
        let source = Source::read(&path)?;
        let file = source.name.clone();
        let json = match source.parse() {
            Ok(json) => json,
            Err(issue) => {
                rows.push(Row { file, issue: issue.under(intent_codes::INTENT_INVALID) });
                continue;
            }
        };
        if !matches!(DocumentKind::of(&json), Ok(DocumentKind::Intent)) {
            continue;
        }
        match Intent::from_json(&json, registry.as_ref()) {
            Ok(intent) => {
                let id = intent.id().to_string();
                if intents.insert(id.clone(), intent).is_some() {
                    let issue = Issue::new(intent_codes::INTENT_DUPLICATE, format!("`{id}` is in two files"));
                    rows.push(Row { file, issue });
                }
            }
            Err(issues) => {
                rows.extend(issues.into_vec().into_iter().map(|issue| Row { file: file.clone(), issue }));
            }
        }
    }
    if !rows.is_empty() {
        return report::show(&rows, console);
    }
    let intents: Vec<Intent> = intents.into_values().collect();
    let conflicts = overlaps(&intents, arguments.env, registry.as_ref());
    let report = Json::object([
        ("intents", Json::from(u32::try_from(intents.len()).unwrap_or(u32::MAX))),
        ("conflicts", Json::array(conflicts.iter().map(Wire::write))),
    ]);
    console.data(&report.to_pretty())?;
    console.say(&format!("{} intents, {} conflicts\n", intents.len(), conflicts.len()));
    Ok(if conflicts.is_empty() { Exit::Yes } else { Exit::No })
}

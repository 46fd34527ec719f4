//! `countersign intent overlaps`: conflicts among thousands of open intents.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use countersign_canon::{Issue, Json, NonEmpty, Pointer, Wire};
use countersign_intent::{
    DocumentKind, Intent, IntentId, Registry, intent_codes, overlaps,
    wire::{Environment, Status},
};

use crate::{
    console::Console,
    effects::folder,
    exit::Exit,
    failure::Failure,
    intent::{
        registry::RegistryArguments,
        report::{self, Refusal},
    },
    source::Source,
};

/// Find every conflict among all intents of a folder, thousands of them
///
/// Looks at resources, effects, order and broken locks, through indexes and not pair by pair. What concerns a set as
/// a whole (the total of budgets, ways of asking) is `evaluate`'s question. Documents of other types are passed over,
/// and so are intents that are rejected or superseded.
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
    let intents = match open_intents(&arguments.folder, registry.as_ref())? {
        Ok(intents) => intents,
        Err(refusals) => return report::show(&refusals, console),
    };
    let conflicts = overlaps(&intents, arguments.env, registry.as_ref())
        .map_err(|issues| Failure::Unusable(vec![(None, issues)]))?;
    let report = Json::object([
        ("intents", Json::from(u32::try_from(intents.len()).unwrap_or(u32::MAX))),
        ("conflicts", Json::array(conflicts.iter().map(Wire::write))),
    ]);
    console.data(&report.to_pretty())?;
    console.say(&format!("{} intents, {} conflicts\n", intents.len(), conflicts.len()));
    Ok(if conflicts.is_empty() { Exit::Yes } else { Exit::No })
}

/// The intents of a folder that are not settled, by id; the inner error is everything that is wrong with any file.
pub(crate) fn open_intents(
    folder: &Path,
    registry: Option<&Registry>,
) -> Result<Result<Vec<Intent>, Vec<Refusal>>, Failure> {
    let mut intents: BTreeMap<IntentId, Intent> = BTreeMap::new();
    let mut refusals = Vec::new();
    for path in folder::json_files(folder).map_err(Failure::CouldNotTell)? {
        let source = Source::read(&path)?;
        match open_intent(&source, registry) {
            Ok(None) => (),
            Ok(Some(intent)) => {
                let id = intent.id().clone();
                if intents.insert(id.clone(), intent).is_some() {
                    let issue = Issue::new(intent_codes::INTENT_DUPLICATE, format!("`{id}` is in two files"));
                    let issue = issue.with_pointer(Pointer::root().key("id"));
                    refusals.push(Refusal::new(source, NonEmpty::of(issue)));
                }
            }
            Err(issues) => refusals.push(Refusal::new(source, issues)),
        }
    }
    Ok(if refusals.is_empty() { Ok(intents.into_values().collect()) } else { Err(refusals) })
}

/// The intent in a file; nothing if the file holds a document of another type, or an intent that is settled already.
fn open_intent(source: &Source, registry: Option<&Registry>) -> Result<Option<Intent>, NonEmpty<Issue>> {
    let json = source.parse().map_err(|issue| NonEmpty::of(issue.under(intent_codes::INTENT_INVALID)))?;
    if !matches!(DocumentKind::of(&json), Ok(DocumentKind::Intent)) {
        return Ok(None);
    }
    let intent = Intent::from_json(&json, registry)?;
    Ok(match intent.document().status {
        Status::Draft | Status::Proposed | Status::Approved => Some(intent),
        Status::Rejected | Status::Superseded => None,
    })
}

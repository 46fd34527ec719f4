//! A set and the files of its intents.

use std::path::{Path, PathBuf};

use countersign_intent::{IntentFile, IntentSet, Registry};

use crate::{effects::files, failure::Failure, intent::report::Row, source::Source};

/// The arguments that name a set.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SetArguments {
    /// The intent set
    pub(crate) set: PathBuf,
    /// The folder that holds each intent as ID.json; the set's own folder unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) intents: Option<PathBuf>,
}

impl SetArguments {
    /// Reads the set and its intents; the inner error is everything that is wrong with any of them.
    pub(crate) fn load(&self, registry: Option<&Registry>) -> Result<Result<IntentSet, Vec<Row>>, Failure> {
        let source = Source::read(&self.set)?;
        let document = match IntentSet::read(&source.bytes) {
            Ok(document) => document,
            Err(issues) => {
                let rows =
                    issues.into_vec().into_iter().map(|issue| Row { file: source.name.clone(), issue });
                return Ok(Err(rows.collect()));
            }
        };
        let folder = match &self.intents {
            Some(folder) => folder.as_path(),
            None => self.set.parent().unwrap_or(Path::new(".")),
        };
        // The ids are checked: they name files of this folder and nothing else.
        let members = document.intent_ids.iter().map(|id| {
            let path = folder.join(format!("{id}.json"));
            let bytes = files::read(&path).map_err(|issue| issue.message.clone());
            IntentFile { id: id.clone(), file: path.display().to_string(), bytes }
        });
        let members: Vec<IntentFile> = members.collect();
        let loaded = IntentSet::load(document, &members, registry).map_err(|problems| {
            let rows = problems.into_vec().into_iter();
            rows.map(|problem| Row { file: problem.file, issue: problem.issue }).collect()
        });
        Ok(loaded)
    }
}

//! The shipped examples and fixtures, read once for all gates.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use countersign_canon::{Issue, Json, NonEmpty};
use countersign_intent::{EvaluateOptions, IntentFile, IntentSet, Limits, Registry};

use super::Engine;
use crate::{
    effects::{files, folder},
    failure::Failure,
    intent::registry::RegistryArguments,
};

/// One example: a set, its intents, and what is shipped as its outcome.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) name: String,
    /// Every file of the folder, by name.
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

/// Everything that the gates look at.
#[derive(Debug)]
pub(super) struct Examples {
    pub(super) root: PathBuf,
    pub(super) registry: Option<Registry>,
    pub(super) examples: Vec<Example>,
    /// The schemas of intent documents, by name.
    pub(super) schemas: BTreeMap<String, Vec<u8>>,
    /// The invalid fixtures, by name without `.json`.
    pub(super) invalid: BTreeMap<String, Vec<u8>>,
}

const EVALUATIONS: &str = "examples/intents/evaluations";
const INVALID: &str = "fixtures/evaluator/invalid";

impl Examples {
    pub(super) fn load(root: &Path) -> Result<Self, Failure> {
        let mut examples = Vec::new();
        for name in folder::names(&root.join(EVALUATIONS)) {
            examples.push(Example { files: read_all(&root.join(EVALUATIONS).join(&name))?, name });
        }
        let invalid = read_all(&root.join(INVALID))?.into_iter();
        let invalid =
            invalid.filter_map(|(name, bytes)| Some((name.strip_suffix(".json")?.to_owned(), bytes)));
        let schemas = read_all(&root.join("schemas"))?.into_iter();
        let is_ours = |name: &String| name.starts_with("intent") || name.contains("_pack.");
        Ok(Self {
            root: root.to_owned(),
            registry: RegistryArguments::built_in().load()?,
            examples,
            schemas: schemas.filter(|(name, _)| is_ours(name)).collect(),
            invalid: invalid.collect(),
        })
    }

    /// The outcome of an example, as the engine gives it now.
    pub(super) fn outcome(&self, example: &Example, engine: Engine) -> Result<Vec<Json<'static>>, String> {
        self.outcome_of(&example.set(self.registry.as_ref())?, engine)
    }

    pub(super) fn outcome_of(&self, set: &IntentSet, engine: Engine) -> Result<Vec<Json<'static>>, String> {
        let created_at = set.document().created_at;
        let options = EvaluateOptions {
            registry: self.registry.as_ref(),
            limits: Limits::DEFAULT,
            created_at,
            answers: &[],
        };
        (engine.evaluate)(set, options).map_err(|issues| first(&issues))
    }
}

impl Example {
    /// The set's file name and bytes.
    pub(super) fn set_file(&self) -> Option<(&str, &[u8])> {
        let mut sets = self.files.iter().filter(|(name, _)| name.starts_with("intent_set_"));
        sets.next().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// The set with its intents.
    pub(super) fn set(&self, registry: Option<&Registry>) -> Result<IntentSet, String> {
        let (_, bytes) = self.set_file().ok_or("there is no intent set")?;
        self.set_from(bytes, registry)
    }

    /// A set with this document and the example's intents.
    pub(super) fn set_from(&self, bytes: &[u8], registry: Option<&Registry>) -> Result<IntentSet, String> {
        let document = IntentSet::read(bytes).map_err(|issues| first(&issues))?;
        let members = document.intent_ids.iter().map(|id| {
            let file = format!("{id}.json");
            let bytes = self.files.get(&file).cloned().ok_or_else(|| "there is no such file".to_owned());
            IntentFile { id: id.clone(), file, bytes }
        });
        let members: Vec<IntentFile> = members.collect();
        IntentSet::load(document, &members, registry)
            .map_err(|problems| problems.first().map(|problem| problem.issue.to_string()).unwrap_or_default())
    }
}

fn first(issues: &NonEmpty<Issue>) -> String {
    issues.first().map(|issue| format!("{}: {issue}", issue.code)).unwrap_or_default()
}

fn read_all(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut read = BTreeMap::new();
    for name in folder::names(path) {
        // Folders inside an example hold what came of answers; they are not part of it.
        if name.contains('.') {
            let bytes = files::read(&path.join(&name)).map_err(Failure::CouldNotTell)?;
            read.insert(name, bytes);
        }
    }
    Ok(read)
}

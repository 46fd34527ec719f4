//! The shipped examples, fixtures and sources, read once for all gates.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use countersign_canon::{Issue, Json, NonEmpty, Timestamp};
use countersign_dryrun::{OverBudget, PlanOptions, Source};
use countersign_intent::Registry;

use super::Engine;
use crate::{
    effects::{files, folder, tree},
    failure::Failure,
    intent::registry::RegistryArguments,
};

/// One example: what goes in, and what is shipped as its outcome.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) name: String,
    /// Every file of the folder, by name.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// The intent or merge plan, and the evaluation, that `inputs.json` names.
    pub(super) intent: (String, Vec<u8>),
    pub(super) evaluation: Option<(String, Vec<u8>)>,
    pub(super) now: String,
}

/// Everything that the gates look at.
#[derive(Debug)]
pub(super) struct Examples {
    pub(super) registry: Option<Registry>,
    pub(super) examples: Vec<Example>,
    /// The schemas of dry-run documents, by name.
    pub(super) schemas: BTreeMap<String, Vec<u8>>,
    /// The invalid fixtures, by name without `.json`.
    pub(super) invalid: BTreeMap<String, Vec<u8>>,
    /// The sources of the crates that plan and of the commands around them, the manifests and the lock file.
    pub(super) sources: BTreeMap<String, String>,
}

const EXAMPLES: &str = "examples/dry-run";
const INVALID: &str = "fixtures/dry-run/invalid";
const SCHEMAS: [&str; 5] =
    ["dry_execution_result", "execution_graph", "patch_plan", "commit_plan", "review_pack_stub"];
/// The folders of what plans, and of what hands plans over.
pub(super) const PLANNING: [&str; 3] = ["crates/canon", "crates/intent", "crates/dryrun"];
pub(super) const COMMANDS: [&str; 2] = ["crates/cli/src/commands/dry_run", "crates/cli/src/dry_run"];

impl Examples {
    pub(super) fn load(root: &Path) -> Result<Self, Failure> {
        let folder = root.join(EXAMPLES);
        let names = folder::names(&folder);
        let examples: Result<Vec<Example>, Failure> =
            names.into_iter().map(|name| Example::load(&folder.join(&name), name)).collect();
        let mut schemas = BTreeMap::new();
        for name in SCHEMAS {
            let file = format!("{name}.schema.json");
            let read =
                files::read_if_there(&root.join("schemas").join(&file)).map_err(Failure::CouldNotTell)?;
            schemas.extend(read.map(|bytes| (file, bytes)));
        }
        let invalid = read_all(&root.join(INVALID))?.into_iter();
        let invalid =
            invalid.filter_map(|(name, bytes)| Some((name.strip_suffix(".json")?.to_owned(), bytes)));
        Ok(Self {
            registry: RegistryArguments::built_in().load()?,
            examples: examples?,
            schemas,
            invalid: invalid.collect(),
            sources: sources(root)?,
        })
    }

    /// The source of an example.
    pub(super) fn source(&self, example: &Example) -> Result<Source, String> {
        let source =
            Source::load(&example.intent.1, self.registry.as_ref()).map_err(|issues| first(&issues))?;
        match &example.evaluation {
            None => Ok(source),
            Some((_, bytes)) => {
                let json = Json::parse(bytes).map_err(|issue| issue.to_string())?;
                source.with_evaluation(&json).map_err(|issues| first(&issues))
            }
        }
    }

    /// The result of an example, as the engine gives it now.
    pub(super) fn result(&self, example: &Example, engine: Engine) -> Result<Json<'static>, String> {
        let created_at = Timestamp::parse(&example.now).map_err(|issue| issue.to_string())?;
        let registry = self.registry.as_ref();
        let options = PlanOptions { registry, created_at, over_budget: OverBudget::Refused };
        (engine.plan)(&self.source(example)?, options).map_err(|issues| first(&issues))
    }
}

impl Example {
    fn load(path: &Path, name: String) -> Result<Self, Failure> {
        let files = read_all(path)?;
        let inputs = files.get("inputs.json").and_then(|bytes| Json::parse(bytes).ok());
        let text = |key: &str| Some(inputs.as_ref()?.get(key)?.as_str()?.to_owned());
        let read = |file: String| {
            let bytes = files::read(&path.join(&file)).map_err(Failure::CouldNotTell)?;
            Ok::<_, Failure>((file.rsplit('/').next().unwrap_or(&file).to_owned(), bytes))
        };
        let intent = text("intent").map(read).transpose()?.unwrap_or_default();
        let evaluation = text("evaluation").map(read).transpose()?;
        let now = text("now").unwrap_or_default();
        Ok(Self { name, intent, evaluation, now, files })
    }

    /// The result as it is shipped.
    pub(super) fn shipped(&self) -> Option<Json<'_>> {
        self.files.get("result.json").and_then(|bytes| Json::parse(bytes).ok())
    }
}

pub(super) fn first(issues: &NonEmpty<Issue>) -> String {
    issues.first().map(|issue| format!("{}: {issue}", issue.code)).unwrap_or_default()
}

fn read_all(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let mut read = BTreeMap::new();
    for name in folder::names(path) {
        let bytes = files::read(&path.join(&name)).map_err(Failure::CouldNotTell)?;
        read.insert(name, bytes);
    }
    Ok(read)
}

/// Manifests, the lock file and every Rust file that plans or hands plans over, by path from the root.
fn sources(root: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut paths: Vec<PathBuf> = vec!["Cargo.lock".into()];
    let mut pending: Vec<PathBuf> = PLANNING.iter().chain(&COMMANDS).map(PathBuf::from).collect();
    while let Some(folder) = pending.pop() {
        let Ok(listing) = tree::list(&root.join(&folder)) else { continue };
        for (name, kind) in listing.flatten() {
            let path = folder.join(&name);
            let is_source = path.extension().is_some_and(|ending| ending == "rs") || name == "Cargo.toml";
            match kind {
                tree::Kind::Folder => pending.push(path),
                tree::Kind::File if is_source => paths.push(path),
                tree::Kind::File
                | tree::Kind::Symlink
                | tree::Kind::Fifo
                | tree::Kind::Socket
                | tree::Kind::Device => (),
            }
        }
    }
    let mut sources = BTreeMap::new();
    for path in paths {
        if let Some(bytes) = files::read_if_there(&root.join(&path)).map_err(Failure::CouldNotTell)? {
            sources.insert(path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(sources)
}

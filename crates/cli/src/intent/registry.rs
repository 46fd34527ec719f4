//! Which registry ids are looked up in: the built-in one, one from a folder, or none.

use std::path::PathBuf;

use countersign_canon::{Issue, Json, NonEmpty};
use countersign_intent::{Registry, RegistryFile, RegistryFiles, intent_codes};

use crate::{
    failure::Failure,
    source::Source,
    yaml::{self, Dialect, Parsed},
};

/// The registry that comes with the program.
const BUILT_IN: [(RegistryFile, &str); 3] = [
    (RegistryFile::Workflows, include_str!("../../../../registry/workflows.yml")),
    (RegistryFile::Agents, include_str!("../../../../registry/agents.yml")),
    (RegistryFile::Commands, include_str!("../../../../registry/commands.yml")),
];

/// The option `--registry`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RegistryArguments {
    /// Look ids up in this folder's workflows.yml, agents.yml and commands.yml; `none` skips the look-up, and says so
    #[arg(long, value_name = "DIR|none")]
    registry: Option<PathBuf>,
}

impl RegistryArguments {
    /// The registry that comes with the program.
    pub(crate) const fn built_in() -> Self {
        Self { registry: None }
    }

    /// Reads the registry; nothing for `none`.
    pub(crate) fn load(&self) -> Result<Option<Registry>, Failure> {
        let sources: Vec<(RegistryFile, Source)> = match &self.registry {
            Some(path) if path.as_os_str() == "none" => return Ok(None),
            Some(folder) => {
                let read =
                    BUILT_IN.iter().map(|(file, _)| Ok((*file, Source::read(&folder.join(file.name()))?)));
                read.collect::<Result<_, Failure>>()?
            }
            None => {
                let shipped = |(file, text): &(RegistryFile, &str)| {
                    let name = format!("registry/{}", file.name());
                    (*file, Source { name, bytes: (*text).into() })
                };
                BUILT_IN.iter().map(shipped).collect()
            }
        };
        let mut parsed = Vec::new();
        for (_, source) in &sources {
            let Parsed { document, issues } = yaml::parse(&source.bytes, Dialect::Json);
            let issues = issues.into_iter().map(|issue| issue.under(intent_codes::REGISTRY_INVALID));
            if let Some(issues) = NonEmpty::new(issues.collect()) {
                let Source { name, bytes } = source;
                let source = Source { name: name.clone(), bytes: bytes.clone() };
                return Err(Failure::Refused { source, issues });
            }
            parsed.extend(document);
        }
        let nothing = Json::from("");
        let file = |index: usize| parsed.get(index).unwrap_or(&nothing);
        let files = RegistryFiles { workflows: file(0), agents: file(1), commands: file(2) };
        Registry::load(files).map(Some).map_err(|problems| refused(sources, &problems))
    }
}

/// The problems of the first file that has any.
fn refused(sources: Vec<(RegistryFile, Source)>, problems: &NonEmpty<(RegistryFile, Issue)>) -> Failure {
    let first = problems.iter().map(|(file, _)| *file).min().unwrap_or(RegistryFile::Commands);
    let issues = problems.iter().filter(|(file, _)| *file == first).map(|(_, issue)| issue.clone()).collect();
    let source = sources.into_iter().find(|(file, _)| *file == first).map(|(_, source)| source);
    let source = source.unwrap_or_else(|| Source { name: first.name().into(), bytes: Vec::new() });
    match NonEmpty::new(issues) {
        Some(issues) => Failure::Refused { source, issues },
        None => Failure::refused(source, Issue::new(crate::failure::codes::CLI_DEFECT, "a problem got lost")),
    }
}

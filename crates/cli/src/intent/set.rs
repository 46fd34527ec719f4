//! A set and the files of its intents.

use std::path::{Path, PathBuf};

use countersign_canon::{Issue, NonEmpty};
use countersign_intent::{FileIssue, IntentFile, IntentSet, Registry};

use crate::{effects::files, failure::Failure, intent::report::Refusal, source::Source};

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
    pub(crate) fn load(
        &self,
        registry: Option<&Registry>,
    ) -> Result<Result<IntentSet, Vec<Refusal>>, Failure> {
        let source = Source::read(&self.set)?;
        let document = match IntentSet::read(&source.bytes) {
            Ok(document) => document,
            Err(issues) => return Ok(Err([Refusal::new(source, issues)].into())),
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
        let loaded = IntentSet::load(document, &members, registry);
        Ok(loaded.map_err(|problems| refusals(source, members, &problems)))
    }
}

/// Everything that is wrong, file by file; what is about no single intent is about the set.
fn refusals(set: Source, members: Vec<IntentFile>, problems: &[FileIssue]) -> Vec<Refusal> {
    let of_file = |is_meant: &dyn Fn(&FileIssue) -> bool| {
        let issues: Vec<Issue> =
            problems.iter().filter(|found| is_meant(found)).map(|found| found.issue.clone()).collect();
        NonEmpty::new(issues)
    };
    let of_set = of_file(&|found| members.iter().all(|member| member.file != found.file));
    let of_set = of_set.map(|issues| Refusal::new(set, issues));
    let of_members = members.iter().filter_map(|member| {
        let source = Source { name: member.file.clone(), bytes: member.bytes.clone().unwrap_or_default() };
        of_file(&|found| found.file == member.file).map(|issues| Refusal::new(source, issues))
    });
    of_members.chain(of_set).collect()
}

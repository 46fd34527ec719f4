//! What a plan is made from, as the commands take it: an intent or merge plan, perhaps an evaluation.

use std::path::Path;

use countersign_canon::{Issue, NonEmpty, Pointer};
use countersign_dryrun::Source as PlanSource;
use countersign_intent::{Registry, intent_codes};

use crate::{failure::Failure, intent::report::Refusal, source::Source};

/// Reads the documents; the inner error is everything that is wrong with the first that cannot be used.
pub(crate) fn read(
    intent: &Path,
    evaluation: Option<&Path>,
    registry: Option<&Registry>,
) -> Result<Result<PlanSource, Refusal>, Failure> {
    let file = Source::read(intent)?;
    let source = match PlanSource::load(&file.bytes, registry) {
        Ok(source) => source,
        Err(issues) => return Ok(Err(Refusal::new(file, issues))),
    };
    // Only a file that is named like an intent promises to hold that one.
    let stem = intent.file_stem().and_then(|stem| stem.to_str()).filter(|stem| stem.starts_with("intent_"));
    if let Some(stem) = stem.filter(|stem| source.plan().is_none() && *stem != source.intent().id().as_str())
    {
        let message = format!("the file is named `{stem}` and holds `{}`", source.intent().id());
        let issue = Issue::new(intent_codes::FILE_ID_MISMATCH, message);
        return Ok(Err(Refusal::new(file, NonEmpty::of(issue.with_pointer(Pointer::root().key("id"))))));
    }
    let Some(path) = evaluation else { return Ok(Ok(source)) };
    let file = Source::read(path)?;
    let chosen = match file.parse() {
        Ok(json) => source.with_evaluation(&json),
        Err(issue) => Err(NonEmpty::of(issue.under(intent_codes::EVALUATION_INVALID))),
    };
    Ok(chosen.map_err(|issues| Refusal::new(file, issues)))
}

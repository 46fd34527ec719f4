//! A scene: intents that cannot both happen are found before either does, and a person is asked.

use countersign_canon::Issue;
use countersign_intent::{EvaluateOptions, IntentFile, IntentSet, Limits, evaluate, explain_text};

use super::{Stage, defect};
use crate::{
    failure::{Failure, codes},
    intent::registry::RegistryArguments,
};

const FOLDER: &str = "examples/intents/evaluations/scenario_c_no_priority";
const SET: &[u8] = include_bytes!(
    "../../../../../examples/intents/evaluations/scenario_c_no_priority/intent_set_scenario_c_no_priority.json"
);
const INTENTS: [&[u8]; 2] = [
    include_bytes!(
        "../../../../../examples/intents/evaluations/scenario_c_no_priority/intent_deploy_service_a.json"
    ),
    include_bytes!(
        "../../../../../examples/intents/evaluations/scenario_c_no_priority/intent_deploy_service_b.json"
    ),
];

pub(super) fn play(stage: Stage) -> Result<(), Failure> {
    stage.title("Two intents want the same environment: found before either runs, and a person is asked")?;
    let registry = RegistryArguments::built_in().load()?;
    let document = IntentSet::read(SET).map_err(|issues| refused(issues.into_vec()))?;
    let ids = document.intent_ids.iter().zip(INTENTS);
    let members: Vec<IntentFile> = ids
        .map(|(id, bytes)| IntentFile {
            id: id.clone(),
            file: format!("{FOLDER}/{id}.json"),
            bytes: Ok(bytes.into()),
        })
        .collect();
    let set = IntentSet::load(document, &members, registry.as_ref())
        .map_err(|problems| refused(problems.into_vec().into_iter().map(|problem| problem.issue)))?;
    let options = EvaluateOptions {
        registry: registry.as_ref(),
        limits: Limits::DEFAULT,
        created_at: set.document().created_at,
        answers: &[],
    };
    let outcome = evaluate(&set, options).map_err(|issues| refused(issues.into_vec()))?;
    for line in explain_text(&outcome.result).lines().filter(|line| !line.trim_start().starts_with("see ")) {
        stage.console.data(format!("  {line}").trim_end())?;
        stage.console.data("\n")?;
    }
    Ok(())
}

/// A shipped example was refused: why, in one line.
fn refused(issues: impl IntoIterator<Item = Issue>) -> Failure {
    let reasons: Vec<String> = issues.into_iter().map(|issue| issue.to_string()).collect();
    defect("the shipped intents", Issue::new(codes::CLI_DEFECT, reasons.join("; ")))
}

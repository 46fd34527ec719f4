//! Gate J: every merged intent says where it comes from, all of it, and smuggles nothing in (RL-E2).

use std::collections::BTreeSet;

use countersign_canon::{Json, scan_payload};
use countersign_intent::plan_lineage;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate = Gate { letter: "J", what: "lineage complete, without payload", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for example in &examples.examples {
        let shipped = example.files.get("merge_plan.json").and_then(|bytes| Json::parse(bytes).ok());
        let made = examples.outcome(example, engine).ok();
        let made = made.as_ref().and_then(|documents| documents.get(1));
        for (plan, when) in [(shipped.as_ref(), "shipped"), (made, "made now")] {
            match plan {
                Some(plan) => complaints
                    .extend(judge(plan).into_iter().map(|what| format!("{}, {when}: {what}", example.name))),
                None => complaints.push(format!("{}, {when}: there is no plan", example.name)),
            }
        }
    }
    complaints
}

fn ids(json: Option<&Json<'_>>) -> BTreeSet<String> {
    let items = json.and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(Json::as_str).map(str::to_owned).collect()
}

fn judge(plan: &Json<'_>) -> Vec<String> {
    let mut complaints: Vec<String> =
        plan_lineage(plan).into_sorted().iter().map(|issue| format!("{}: {issue}", issue.code)).collect();
    let lineage = plan.get("result_intent").and_then(|result| result.get("lineage"));
    if let Some(lineage) = lineage {
        let reached: BTreeSet<String> =
            ids(lineage.get("derived_from")).union(&ids(lineage.get("supersedes"))).cloned().collect();
        let sources = ids(plan.get("source_intent_ids"));
        if reached != sources {
            complaints.push(format!("the merged intent reaches {reached:?}, its sources are {sources:?}"));
        }
    }
    for lineage in [lineage, plan.get("lineage")].into_iter().flatten() {
        let found = scan_payload(lineage).into_sorted();
        complaints.extend(found.iter().map(|issue| format!("in the lineage: {issue}")));
    }
    complaints
}

//! Circles: all of them are found, none of them is merged, and none is too large to be said.

use alloc::{collections::BTreeSet, format, string::String, vec, vec::Vec};

use countersign_canon::Json;
use proptest::prelude::*;

use super::generated::{Command, Draft, draft_of, plain, registry, weigh};
use crate::{
    DocumentKind, Intent, overlaps, read_merge_plan,
    wire::{ConflictType, OperationKind, Severity},
};

fn waiting(depends_on: &[usize], priority: Option<i64>) -> Draft {
    Draft { depends_on: depends_on.to_vec(), priority, ..draft_of(&[], vec![]) }
}

/// Intents that wait for those that they name, by position.
fn intents(depends_on: &[Vec<usize>]) -> Vec<Intent> {
    let registry = registry();
    let make = |waits: &Vec<usize>| waiting(waits, None);
    let drafts: Vec<Draft> = depends_on.iter().map(make).collect();
    plain(&drafts, registry).intents().to_vec()
}

/// A circle of so many, which is more than a set may have.
fn circle(count: usize) -> Vec<Intent> {
    let template = &intents(&[vec![1], vec![0]])[0];
    let one = |at: usize| {
        let text = countersign_canon::Wire::write(template.document()).to_canonical();
        let next = at.checked_add(1).unwrap().checked_rem(count).unwrap();
        let text = text.replace("intent_a_1", &format!("intent_n_{next:05}"));
        let text = text.replace("intent_a_0", &format!("intent_n_{at:05}"));
        let json = Json::parse(text.as_bytes()).unwrap().into_owned();
        Intent::from_json(&DocumentKind::Intent.seal(&json), Some(registry())).unwrap()
    };
    (0..count).map(one).collect()
}

#[test]
fn a_circle_of_any_length_is_said() {
    for count in [20, 21, 3000] {
        let found = overlaps(&circle(count), None, Some(registry())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kind, found[0].severity), (ConflictType::Order, Severity::Critical));
        assert_eq!(found[0].intent_ids.len(), count);
        let is_cut = found[0].description.as_str().contains(" more → intent_n_00000");
        assert_eq!(is_cut, count > 20);
    }
}

#[test]
fn every_circle_of_three_that_wait_for_each_other_is_found_and_none_is_merged() {
    let registry = registry();
    let drafts = [waiting(&[1, 2], Some(1)), waiting(&[0, 2], Some(3)), waiting(&[0, 1], Some(2))];
    let outcome = weigh(&plain(&drafts, registry), registry, &[]);
    let circles: Vec<usize> =
        outcome.result.evaluation.conflicts.iter().map(|conflict| conflict.intent_ids.len()).collect();
    assert_eq!(circles, [2, 2, 2]);
    let kept = outcome.plan.result_intent.unwrap().lineage.derived_from;
    assert_eq!(kept.iter().map(|id| id.as_str()).collect::<Vec<_>>(), ["intent_a_1"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever waits for whom, what is merged has an order that keeps every "before".
    #[test]
    fn what_is_merged_has_no_circle(waits in prop::collection::vec((prop::collection::vec(0_usize..6, 0..3), prop::option::weighted(0.7, 1_i64..9)), 2..=6)) {
        let registry = registry();
        let drafts: Vec<Draft> = waits.iter().map(|(waits, priority)| waiting(waits, *priority)).collect();
        let plan = weigh(&plain(&drafts, registry), registry, &[]).plan;
        let order: BTreeSet<(String, String)> = plan.operations.iter()
            .filter(|step| step.operation == OperationKind::OrderPhases)
            .map(|step| (format!("{}", step.source_intent_id), format!("{}", step.other_intent_id.as_ref().unwrap())))
            .collect();
        let mut open: BTreeSet<String> = order.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        while let Some(free) = open.iter().find(|id| !order.iter().any(|(later, earlier)| later == *id && open.contains(earlier))).cloned() {
            open.remove(&free);
        }
        prop_assert!(open.is_empty(), "{open:?} wait for each other");
    }
}

#[test]
fn a_path_of_any_length_is_said() {
    let registry = registry();
    let long: &'static str = String::leak(format!("src/{}.py", "x".repeat(4000)));
    let write = |effect| Command { id: "cmd_change", effects: vec![effect], risk: "low", names: None };
    let drafts = [draft_of(&[long], vec![write("write")]), draft_of(&[long], vec![write("delete")])];
    let set = plain(&drafts, registry);
    let found = overlaps(set.intents(), None, Some(registry)).unwrap();
    let resources: Vec<usize> = found
        .iter()
        .filter_map(|conflict| conflict.resource_ref.as_ref())
        .map(|resource| resource.as_str().len())
        .collect();
    assert_eq!(resources, [long.len()]);
    assert_eq!(weigh(&set, registry, &[]).result.evaluation.conflicts.len(), found.len());
}

#[test]
fn a_merged_intent_that_was_changed_is_refused() {
    let registry = registry();
    let look = Command { id: "cmd_look", effects: vec!["read"], risk: "low", names: None };
    let drafts = [draft_of(&["a.py"], vec![look]), draft_of(&["b.py"], vec![])];
    let outcome = weigh(&plain(&drafts, registry), registry, &[]);
    let text = countersign_canon::Wire::write(&outcome.plan).to_canonical();
    let merged = outcome.plan.result_intent.as_ref().unwrap();
    assert_eq!(outcome.result.evaluation.merge_plan.result_intent_checksum, Some(merged.audit.checksum));
    let changed = text.replace("\"step 0\"", "\"another step\"");
    assert_ne!(text, changed);
    let json = Json::parse(changed.as_bytes()).unwrap().into_owned();
    let inner = DocumentKind::Intent.seal(json.get("result_intent").unwrap());
    let mut object = json.as_object().cloned().unwrap();
    object = object.with("result_intent", inner);
    let sealed = DocumentKind::MergePlan.seal(&countersign_canon::Value::Object(object).into());
    let codes: Vec<&str> = read_merge_plan(&sealed, Some(registry))
        .unwrap_err()
        .iter()
        .map(|issue| issue.code.as_str())
        .collect();
    assert_eq!(codes, ["MERGED_ID_MISMATCH"]);
}

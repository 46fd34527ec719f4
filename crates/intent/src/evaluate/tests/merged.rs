//! Commands of a union: where they come from, and that none of them reaches further than before.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use countersign_canon::Wire;
use proptest::prelude::*;

use super::generated::{Command, Draft, draft_of, drafts, plain, registry, set_of, weigh};
use crate::{
    EvidenceRef, Intent,
    wire::{Environment, IntentDocument, OperationKind, PlannedCommand},
};

/// The files that a command touches.
fn touched(intent: &IntentDocument, command: &PlannedCommand) -> BTreeSet<String> {
    let own = command.evidence_refs.iter().filter_map(EvidenceRef::file).map(|path| path.to_string());
    let targets = intent.scope.targets.files.iter().map(ToString::to_string);
    own.chain(targets.filter(|_| intent.reach(command).has_target_files())).collect()
}

/// The command of the merged intent that says it comes from this one.
fn found<'m>(merged: &'m IntentDocument, source: &Intent, index: usize) -> Option<&'m PlannedCommand> {
    let origin = EvidenceRef::to_command(source.id(), index);
    // Evidence about another's command may have the same words; where a command comes from stands last.
    let is_from = |command: &&PlannedCommand| {
        let own = command.evidence_refs.iter().rev().take_while(|reference| reference.command_of().is_some());
        own.clone().any(|reference| *reference == origin)
    };
    merged.planned_commands.iter().find(is_from)
}

fn check_reach(source: &Intent, merged: &IntentDocument) {
    for (index, command) in source.document().planned_commands.iter().enumerate() {
        let after = found(merged, source, index).expect("nothing is lost");
        assert_eq!(touched(merged, after), touched(source.document(), command), "{}/{index}", source.id());
        assert!(command.evidence_refs.iter().all(|reference| after.evidence_refs.contains(reference)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_command_reaches_further_after_a_merge(drafts in drafts(), more in drafts()) {
        let registry = registry();
        let set = plain(&drafts, registry);
        let outcome = weigh(&set, registry, &[]);
        let Some(merged) = outcome.plan.result_intent.filter(IntentDocument::is_merged) else { return Ok(()) };
        let kept = |merged: &IntentDocument, intent: &&Intent| merged.lineage.derived_from.contains(intent.id());
        for source in set.intents().iter().filter(|intent| kept(&merged, intent)) {
            check_reach(source, &merged);
        }
        // And once more: what was merged is merged with others.
        let others = plain(&more, registry);
        let merged = Intent::from_json(&merged.write(), Some(registry)).unwrap();
        let set = set_of(others.intents().iter().chain([&merged]), registry);
        let again = weigh(&set, registry, &[]).plan.result_intent.filter(IntentDocument::is_merged);
        let Some(again) = again.filter(|again| again.lineage.derived_from.contains(merged.id())) else { return Ok(()) };
        check_reach(&merged, &again);
    }
}

fn command(effect: &'static str, names: Option<Result<&'static str, usize>>) -> Command {
    Command { id: "cmd_change", effects: vec![effect], risk: "low", names }
}

fn merged(drafts: &[Draft]) -> IntentDocument {
    let registry = registry();
    let outcome = weigh(&plain(drafts, registry), registry, &[]);
    outcome.plan.result_intent.unwrap_or_else(|| panic!("{:?}", outcome.result.requires_questions))
}

fn references(command: &PlannedCommand) -> Vec<&str> {
    command.evidence_refs.iter().map(EvidenceRef::as_str).collect()
}

#[test]
fn a_broad_command_keeps_to_its_own_targets() {
    let delete = draft_of(&["old.py"], vec![command("delete", None)]);
    let write = draft_of(&["new.py"], vec![command("write", None)]);
    let merged = merged(&[delete, write]);
    assert_eq!(
        references(&merged.planned_commands[0]),
        ["doc://plan/0", "scan://file/old.py", "intent://intent_a_0/planned_commands/0"]
    );
    assert_eq!(touched(&merged, &merged.planned_commands[0]), BTreeSet::from(["old.py".to_string()]));
    assert_eq!(touched(&merged, &merged.planned_commands[1]), BTreeSet::from(["new.py".to_string()]));
}

#[test]
fn a_broad_command_without_targets_touches_none_after_a_merge() {
    let merged = merged(&[
        draft_of(&[], vec![command("delete", None)]),
        draft_of(&["new.py"], vec![command("write", Some(Ok("new.py")))]),
    ]);
    assert_eq!(touched(&merged, &merged.planned_commands[0]), BTreeSet::new());
}

#[test]
fn the_same_command_has_all_its_origins_and_other_targets_make_another_command() {
    let look = || Command { id: "cmd_look", ..command("read", None) };
    let same = merged(&[draft_of(&["a.py"], vec![look()]), draft_of(&["a.py"], vec![look()])]);
    assert_eq!(same.planned_commands.len(), 1);
    assert_eq!(
        references(&same.planned_commands[0]),
        [
            "doc://plan/0",
            "scan://file/a.py",
            "intent://intent_a_0/planned_commands/0",
            "intent://intent_a_1/planned_commands/0"
        ]
    );
    let other = merged(&[draft_of(&["a.py"], vec![look()]), draft_of(&["b.py"], vec![look()])]);
    assert_eq!(other.planned_commands.len(), 2);
}

#[test]
fn evidence_about_another_command_is_no_origin() {
    let after = draft_of(&["b.py"], vec![command("write", Some(Err(0)))]);
    let merged = merged(&[draft_of(&["a.py"], vec![command("write", None)]), after]);
    let origins: Vec<&str> = merged.planned_commands[1].origins().collect();
    assert_eq!(origins, ["intent_a_1"]);
}

#[test]
fn references_that_do_not_fit_are_a_question() {
    let files: Vec<&'static str> = (0..30).map(|at| &*String::leak(format!("f{at}.py"))).collect();
    let check = |count: usize, is_merged: bool| {
        let registry = registry();
        let broad = draft_of(&files[..count], vec![command("read", None)]);
        let set = plain(&[broad, draft_of(&["other.py"], vec![command("read", None)])], registry);
        let outcome = weigh(&set, registry, &[]);
        assert_eq!(outcome.plan.result_intent.is_some(), is_merged, "{count}");
        let conflicts: Vec<&str> = outcome
            .result
            .evaluation
            .conflicts
            .iter()
            .map(|conflict| conflict.description.as_str())
            .collect();
        assert_eq!(conflicts.iter().any(|text| text.contains("at most 30 are allowed")), !is_merged);
    };
    // One of its own, and one for where it comes from.
    check(28, true);
    check(29, false);
}

#[test]
fn the_order_of_the_plan_stands_in_the_merged_intent() {
    let registry = registry();
    let after = Draft { depends_on: vec![1], ..draft_of(&["a.py"], vec![command("write", None)]) };
    let set = plain(&[after, draft_of(&["b.py"], vec![command("write", None)])], registry);
    let plan = weigh(&set, registry, &[]).plan;
    let steps = plan.operations.iter().filter(|step| step.operation == OperationKind::OrderPhases);
    let steps: Vec<(String, String)> = steps
        .map(|step| (step.source_intent_id.to_string(), step.other_intent_id.as_ref().unwrap().to_string()))
        .collect();
    assert_eq!(steps, [("intent_a_0".to_string(), "intent_a_1".to_string())]);
    let merged = plan.result_intent.unwrap();
    let order = &merged.metadata.as_ref().unwrap().merge_order;
    assert_eq!(order.write().to_canonical(), r#"{"intent_a_0":["intent_a_1"]}"#);
    // Merged once more, what was said about the first sources still stands.
    let inner = Intent::from_json(&merged.write(), Some(registry)).unwrap();
    let other = super::generated::set(
        &[draft_of(&["c.py"], vec![]), draft_of(&["c.py"], vec![])],
        "intent_other_",
        &[0, 1],
        registry,
    );
    let set = set_of(other.intents().iter().take(1).chain([&inner]), registry);
    let again = weigh(&set, registry, &[]).plan.result_intent.unwrap();
    assert_eq!(again.metadata.unwrap().merge_order, *order);
}

#[test]
fn the_environment_is_the_highest_of_all_and_the_sets_where_one_says_none() {
    let draft = |file: &'static str| draft_of(&[file], vec![command("write", None)]);
    // Neither names one, and the set is for dev.
    let merged = merged(&[draft("a.py"), draft("b.py")]);
    assert_eq!(merged.scope.env, Some(Environment::Dev));
}

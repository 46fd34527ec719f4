//! Ten thousand sets for each property.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use countersign_canon::{Json, Wire};
use proptest::prelude::*;

use super::generated::{answer, drafts, plain, registry, set, weigh};
use crate::{
    Intent, IntentId, IntentSet, Outcome, Registry, differences, read_evaluation, read_merge_plan,
    read_question_pack,
    wire::{OperationKind, PlannedCommand, Strategy as Decision},
};

/// All bytes of an outcome.
fn bytes(outcome: &Outcome) -> String {
    let questions = outcome.questions.as_ref().map_or_else(String::new, |pack| pack.write().to_pretty());
    format!("{}{}{questions}", outcome.result.write().to_pretty(), outcome.plan.write().to_pretty())
}

/// The same text with everything that is derived from content, twelve or sixty-four hexadecimal digits, made equal.
fn without_hashes(text: &str) -> String {
    let (mut out, mut run) = (String::new(), String::new());
    for character in text.chars().chain(['\n']) {
        if character.is_ascii_digit() || ('a'..='f').contains(&character) {
            run.push(character);
            continue;
        }
        out.push_str(if matches!(run.len(), 12 | 64) { "#" } else { &run });
        run.clear();
        out.push(character);
    }
    out
}

fn ids<'i>(list: impl IntoIterator<Item = &'i IntentId>) -> BTreeSet<String> {
    list.into_iter().map(|id| id.as_str().into()).collect()
}

/// Commands without their evidence, to which a merge adds.
fn written(commands: &[PlannedCommand]) -> Vec<String> {
    let bare = |command: &PlannedCommand| command.write().to_canonical_without(&[&["evidence_refs"]]);
    commands.iter().map(bare).collect()
}

/// A merged intent reaches every source, is at least as strict as each, and loses nothing of those it keeps.
fn check_merged(set: &IntentSet, outcome: &Outcome) {
    let Some(merged) = &outcome.plan.result_intent else { return };
    let lineage = &merged.lineage;
    let reached = ids(lineage.derived_from.iter().chain(lineage.supersedes.iter()));
    assert_eq!(reached, ids(set.intents().iter().map(Intent::id)));
    assert_eq!(lineage.supersedes.is_empty(), outcome.plan.strategy == Decision::MergeUnion);
    let all = written(&merged.planned_commands);
    let kept = set.intents().iter().filter(|intent| lineage.derived_from.contains(intent.id()));
    for source in kept.map(Intent::document) {
        assert!(written(&source.planned_commands).iter().all(|command| all.contains(command)));
        assert!(
            source.risk.requires_review.iter().all(|review| merged.risk.requires_review.contains(review))
        );
        assert!(source.evidence_refs.iter().all(|reference| merged.evidence_refs.contains(reference)));
        let (lock, of_source) = (&merged.constraints.lock_scope, &source.constraints.lock_scope);
        assert!(of_source.paths.iter().all(|path| lock.paths.contains(path)));
        assert!(lock.mode <= of_source.mode);
        assert!(merged.interaction.mode <= source.interaction.mode);
        assert!(merged.risk.overall >= source.risk.overall);
    }
}

/// Only who is in a conflict with a kept intent is superseded, and by that one.
fn check_superseded(outcome: &Outcome) {
    let lost = outcome.plan.operations.iter().filter(|op| op.operation == OperationKind::OverrideField);
    for operation in lost {
        let by = operation.other_intent_id.as_ref().unwrap();
        let merged = outcome.plan.result_intent.as_ref().unwrap();
        assert!(merged.lineage.derived_from.contains(by), "the winner is kept");
        let between = outcome.result.evaluation.conflicts.iter().any(|conflict| {
            conflict.intent_ids.contains(&operation.source_intent_id) && conflict.intent_ids.contains(by)
        });
        assert!(between, "{} lost to {by} without a conflict", operation.source_intent_id);
    }
}

fn check_questions(outcome: &Outcome) {
    let questions = &outcome.result.requires_questions;
    assert_eq!(outcome.plan.strategy == Decision::Reject, !questions.is_empty());
    assert_eq!(outcome.questions.is_some(), !questions.is_empty());
    let conflicts = outcome.result.evaluation.conflicts.iter();
    let known: BTreeSet<_> = conflicts.map(|conflict| &conflict.conflict_id).collect();
    for question in questions {
        assert!(question.options.len() >= 2 && !question.evidence_refs.is_empty());
        assert!(question.conflict_ids.iter().all(|id| known.contains(id)));
    }
}

/// What is written reads back, checksums and red lines included.
fn check_documents(outcome: &Outcome, registry: &Registry) {
    let result = outcome.result.write().to_canonical();
    assert_eq!(read_evaluation(&Json::parse(result.as_bytes()).unwrap()).unwrap(), outcome.result);
    let plan = outcome.plan.write().to_canonical();
    assert_eq!(
        read_merge_plan(&Json::parse(plan.as_bytes()).unwrap(), Some(registry)).unwrap(),
        outcome.plan
    );
    if let Some(pack) = &outcome.questions {
        assert_eq!(&read_question_pack(&pack.write()).unwrap(), pack);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_ids_changes_no_byte((drafts, order) in drafts().prop_flat_map(|drafts| {
        let order: Vec<usize> = (0..drafts.len()).collect();
        (Just(drafts), Just(order).prop_shuffle())
    })) {
        let registry = registry();
        let first = weigh(&plain(&drafts, registry), registry, &[]);
        let second = weigh(&set(&drafts, "intent_a_", &order, registry), registry, &[]);
        prop_assert_eq!(bytes(&first), bytes(&second));
    }

    #[test]
    fn renaming_in_order_changes_only_names_and_what_is_made_from_them(drafts in drafts()) {
        let registry = registry();
        let order: Vec<usize> = (0..drafts.len()).collect();
        let first = bytes(&weigh(&plain(&drafts, registry), registry, &[]));
        let second = bytes(&weigh(&set(&drafts, "intent_zz_", &order, registry), registry, &[]));
        prop_assert_eq!(without_hashes(&first), without_hashes(&second.replace("intent_zz_", "intent_a_")));
    }

    #[test]
    fn outcomes_are_sound(drafts in drafts()) {
        let registry = registry();
        let set = plain(&drafts, registry);
        let outcome = weigh(&set, registry, &[]);
        check_documents(&outcome, registry);
        check_merged(&set, &outcome);
        check_superseded(&outcome);
        check_questions(&outcome);
    }

    /// Every option of every open question leads on: to a merge, or to a reject that names what is left and does not
    /// ask the same again, unless the answer was to decide it by hand.
    #[test]
    fn every_answer_leads_on(drafts in drafts()) {
        let registry = registry();
        let set = plain(&drafts, registry);
        let outcome = weigh(&set, registry, &[]);
        let open = outcome.result.requires_questions.iter().filter(|question| question.blocked_by_policy.is_none());
        for question in open {
            for (index, option) in question.options.iter().enumerate() {
                let answered = weigh(&set, registry, &[answer(&outcome, question, index)]);
                check_merged(&set, &answered);
                check_superseded(&answered);
                check_questions(&answered);
                prop_assert_eq!(answered.result.lineage.answer_packs.len(), 1);
                let mut again = answered.result.requires_questions.iter().map(|question| &question.question_id);
                let is_asked_again = again.any(|id| *id == question.question_id);
                prop_assert_eq!(is_asked_again, option.option_id.as_str() == "option_manual");
            }
        }
    }
}

#[test]
fn a_difference_is_found_where_it_is() {
    let before = Json::parse(br#"{"a": [1, 2], "b": {"c": true}}"#).unwrap();
    let after = Json::parse(br#"{"a": [1, 3, 4], "d": null}"#).unwrap();
    let found: Vec<String> =
        differences(&before, &after).iter().map(|d| d.to_json().to_canonical()).collect();
    assert_eq!(
        found,
        [
            r#"{"after":3,"before":2,"change":"changed","pointer":"/a/1"}"#,
            r#"{"after":4,"change":"added","pointer":"/a/2"}"#,
            r#"{"before":{"c":true},"change":"removed","pointer":"/b"}"#,
            r#"{"after":null,"change":"added","pointer":"/d"}"#,
        ]
    );
}

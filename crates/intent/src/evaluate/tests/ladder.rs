//! The ladder rung by rung, and what no rung may decide.

use alloc::{format, string::String, vec, vec::Vec};

use super::generated::{Command, Draft, plain, registry, weigh};
use crate::{IntentId, wire::OperationKind};

fn draft(effect: &'static str) -> Draft {
    let command =
        Command { id: "cmd_change", effects: vec![effect], risk: "low", names: Some(Ok("src/a.py")) };
    Draft {
        files: vec!["src/a.py"],
        modules: vec![],
        services: vec![],
        commands: vec![command],
        priority: None,
        risk: "low",
        day: 1,
        status: "draft",
        lock: ("files", vec!["src/a.py"]),
        interaction: ("semi_auto", 3, "blockers_only"),
        cost: "1",
        depends_on: vec![],
    }
}

fn write() -> Draft {
    draft("write")
}

/// What becomes of two intents that write one locked file: who wins and why, or why nobody does.
fn decided(a: Draft, b: Draft) -> String {
    let registry = registry();
    let outcome = weigh(&plain(&[a, b], registry), registry, &[]);
    let lost = outcome.plan.operations.iter().find(|op| op.operation == OperationKind::OverrideField);
    match (lost, outcome.result.requires_questions.first()) {
        (Some(lost), _) => format!("{} lost, {}", lost.source_intent_id, lost.evidence.as_str()),
        (None, Some(question)) => {
            format!("asked: {}", question.reason.as_str().split_once("Not decided: ").unwrap().1)
        }
        (None, None) => "merged".into(),
    }
}

#[test]
fn explicit_priority_comes_first() {
    let (low, high) =
        (Draft { priority: Some(1), ..write() }, Draft { priority: Some(2), risk: "high", ..write() });
    assert_eq!(decided(low, high), "intent_a_0 lost, explicit priority: 2 over 1");
}

#[test]
fn equal_priorities_are_a_declared_tie() {
    let tie = |day| Draft { priority: Some(4), day, ..write() };
    assert_eq!(decided(tie(1), tie(2)), "asked: both declare priority 4, which is a tie");
}

#[test]
fn one_priority_against_none_is_unclear() {
    let text = decided(Draft { priority: Some(9), ..write() }, Draft { day: 2, ..write() });
    assert_eq!(text, "asked: one declares a priority and the other does not");
}

#[test]
fn lower_risk_then_newer_then_further_along() {
    let text = decided(write(), Draft { risk: "medium", day: 3, ..write() });
    assert_eq!(text, "intent_a_1 lost, lower risk: low before medium");
    let text = decided(write(), Draft { day: 2, ..write() });
    assert_eq!(text, "intent_a_0 lost, newer: 2026-01-02T00:00:00Z after 2026-01-01T00:00:00Z");
    let text = decided(write(), Draft { status: "approved", ..write() });
    assert_eq!(text, "intent_a_0 lost, status: approved over draft");
    assert_eq!(decided(write(), write()), "asked: no rung of the ladder tells them apart");
}

#[test]
fn time_and_status_never_decide_between_exclusive_effects() {
    for effect in ["delete", "deploy", "rollback", "data", "security"] {
        let text = decided(write(), Draft { day: 3, status: "approved", ..draft(effect) });
        assert!(
            text.starts_with("asked: both are of low risk, and neither time nor status decides"),
            "{effect}: {text}"
        );
    }
}

#[test]
fn a_budget_of_zero_or_a_policy_of_never_blocks_the_question() {
    let registry = registry();
    for interaction in [("semi_auto", 0, "blockers_only"), ("semi_auto", 3, "never")] {
        let outcome = weigh(&plain(&[Draft { interaction, ..write() }, write()], registry), registry, &[]);
        assert_eq!(outcome.result.requires_questions[0].blocked_by_policy, Some(true), "{interaction:?}");
    }
    let outcome = weigh(&plain(&[write(), write()], registry), registry, &[]);
    assert_eq!(outcome.result.requires_questions[0].blocked_by_policy, None);
}

#[test]
fn over_budget_the_gravest_is_asked() {
    let registry = registry();
    let interaction = ("semi_auto", 1, "blockers_only");
    let ship = Command { id: "cmd_ship", effects: vec!["deploy"], risk: "low", names: None };
    let ship = Draft { interaction, commands: vec![ship], ..draft("deploy") };
    let drafts = [Draft { interaction, ..draft("delete") }, ship.clone(), ship];
    let outcome = weigh(&plain(&drafts, registry), registry, &[]);
    let questions = &outcome.result.requires_questions;
    let blocked: Vec<bool> = questions.iter().map(|question| question.blocked_by_policy.is_some()).collect();
    assert_eq!(blocked, [false, true, true]);
    assert!(questions[0].reason.as_str().contains("env://dev"), "{}", questions[0].reason.as_str());
}

#[test]
fn a_bystander_is_merged() {
    let registry = registry();
    let file = |file: &'static str, priority| {
        let mut draft =
            Draft { priority: Some(priority), lock: ("none", vec![]), files: vec![file], ..write() };
        draft.commands[0].names = Some(Ok(file));
        draft
    };
    let drafts = [file("src/a.py", 1), file("src/a.py", 5), file("src/b.py", 3)];
    let outcome = weigh(&plain(&drafts, registry), registry, &[]);
    let lineage = &outcome.plan.result_intent.as_ref().unwrap().lineage;
    let ids = |list: &[IntentId]| list.iter().map(|id| id.as_str().into()).collect::<Vec<String>>();
    assert_eq!(ids(&lineage.derived_from), ["intent_a_1", "intent_a_2"]);
    assert_eq!(ids(&lineage.supersedes), ["intent_a_0"]);
}

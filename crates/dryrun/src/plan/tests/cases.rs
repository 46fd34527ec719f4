//! Small intents and what becomes of them, one rule each.

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use countersign_canon::{Json, Wire as _};
use countersign_intent::DocumentKind;

use super::generated::{Command, Draft, options, planned, quoted, registry, source, text_of};
use crate::{
    OverBudget, plan, validate,
    wire::{DryExecutionResult, Edge, NodeType},
};

fn command(id: &'static str, effects: &[&'static str], files: &[&'static str]) -> Command {
    Command { id, effects: effects.to_vec(), risk: "low", files: files.to_vec(), text: "do it".to_string() }
}

fn draft(files: &[&'static str], commands: Vec<Command>) -> Draft {
    Draft {
        files: files.to_vec(),
        evidence: vec![],
        modules: vec![],
        services: vec![],
        workflows: vec![("flow_one", vec!["analysis", "implementation", "release"])],
        agents: vec!["agent_one", "agent_two", "agent_three"],
        commands,
        reviews: vec!["release"],
        drivers: vec!["because".to_string()],
        lock: ("none", vec![]),
        budgets: (9, 9),
        goal: "a goal".to_string(),
    }
}

/// The files of a plan as `action path risk`, then its unknowns by type.
#[track_caller]
fn check_files(draft: &Draft, expected: &[&str]) {
    let result = planned(draft);
    let files =
        result.patch_plan.files.iter().map(|file| format!("{} {} {}", file.action, file.path, file.risk));
    let unknowns = result.patch_plan.unknowns.iter().map(|unknown| unknown.kind.to_string());
    assert_eq!(files.chain(unknowns).collect::<Vec<String>>(), expected);
}

#[test]
fn effects_say_what_becomes_of_a_file_and_the_gravest_wins() {
    check_files(&draft(&["a.py"], vec![command("cmd_change", &["write"], &[])]), &["modify a.py low"]);
    check_files(&draft(&["a.py"], vec![command("cmd_change", &["create", "data"], &[])]), &["add a.py low"]);
    let all = ["write", "create", "delete", "security"].map(|effect| command("cmd_change", &[effect], &[]));
    check_files(&draft(&["a.py"], all.to_vec()), &["delete a.py low"]);
    for effect in ["read", "network", "deploy", "rollback"] {
        check_files(&draft(&["a.py"], vec![command("cmd_ship", &[effect], &[])]), &[]);
    }
}

#[test]
fn a_command_touches_what_its_evidence_names_else_all_targets() {
    let both = [command("cmd_change", &["write"], &["b.py"]), command("cmd_look", &["read"], &[])];
    check_files(&draft(&["a.py"], both.to_vec()), &["modify b.py low"]);
    let mut risky = command("cmd_change", &["write"], &["b.py"]);
    risky.risk = "high";
    let both = vec![risky, command("cmd_change", &["write"], &[])];
    check_files(&draft(&["a.py"], both), &["modify a.py low", "modify b.py high"]);
}

#[test]
fn a_folder_or_glob_is_ambiguous_unless_a_planned_file_lies_in_it() {
    let change = || command("cmd_change", &["write"], &[]);
    check_files(&draft(&["src/"], vec![change()]), &["ambiguous_target"]);
    check_files(&draft(&["src/**/*.py", "."], vec![change()]), &["ambiguous_target", "ambiguous_target"]);
    check_files(&draft(&["src/", "src/a.py"], vec![change()]), &["modify src/a.py low"]);
    check_files(&draft(&["src", "src/a.py"], vec![change()]), &["modify src/a.py low"]);
    check_files(
        &draft(&["src/", "srcfoo/a.py"], vec![change()]),
        &["modify srcfoo/a.py low", "ambiguous_target"],
    );
    check_files(&draft(&["src/"], vec![command("cmd_look", &["read"], &[])]), &[]);
}

#[test]
fn what_is_not_named_is_not_known() {
    check_files(&draft(&[], vec![command("cmd_change", &["write"], &[])]), &["insufficient_evidence"]);
    let mut mention = command("cmd_change", &["write"], &[]);
    mention.text = "change src/a.pyc".to_string();
    check_files(&draft(&["src/a.py"], vec![mention]), &["modify src/a.py low", "missing_path"]);
}

#[test]
fn a_file_outside_the_intents_own_lock_leaves_the_plan() {
    let mut locked = draft(&["src/a.py", "b.py"], vec![command("cmd_change", &["write"], &[])]);
    locked.lock = ("files", vec!["src/"]);
    check_files(&locked, &["modify src/a.py low", "insufficient_evidence"]);
    let result = planned(&locked);
    assert_eq!(result.metadata.warnings[0].code.as_str(), "LOCK_SCOPE_MISSES_PATH");
    let lock = &result.patch_plan.files[0].lock_intent;
    assert_eq!((lock.mode.as_str(), lock.scope.as_str()), ("exclusive", "directory"));
}

/// The graph as `from>to` with the kind of edge.
#[track_caller]
fn check_graph(draft: &Draft, expected: &[&str]) {
    let result = planned(draft);
    let edges = result.graph.edges.iter();
    let edges: Vec<String> =
        edges.map(|edge| format!("{}>{} {}", edge.from_node, edge.to_node, edge.edge_type)).collect();
    assert_eq!(edges, expected);
}

#[test]
fn what_shares_nothing_stands_side_by_side_behind_one_review() {
    let two = [command("cmd_change", &["write"], &["a.py"]), command("cmd_guard", &["security"], &["b.py"])];
    check_graph(
        &draft(&[], two.to_vec()),
        &[
            "phase_001>phase_002 sequential",
            "phase_002>review_002 sequential",
            "review_002>action_001 conditional",
            "review_002>action_002 conditional",
            "action_001>phase_003 sequential",
            "action_002>phase_003 sequential",
        ],
    );
}

#[test]
fn what_shares_a_file_an_artifact_or_an_environment_stands_in_the_intents_order() {
    let file = [command("cmd_change", &["write"], &["a.py"]), command("cmd_guard", &["security"], &["a.py"])];
    let artifact = [command("cmd_make", &["create"], &["a.py"]), command("cmd_use", &["read"], &["b.py"])];
    for two in [file, artifact] {
        check_graph(
            &draft(&[], two.to_vec()),
            &[
                "phase_001>phase_002 sequential",
                "phase_002>review_002 sequential",
                "review_002>action_001 conditional",
                "action_001>action_002 sequential",
                "action_002>phase_003 sequential",
            ],
        );
    }
    let environment =
        [command("cmd_ship", &["deploy"], &["a.py"]), command("cmd_unship", &["rollback"], &["b.py"])];
    check_graph(
        &draft(&[], environment.to_vec()),
        &[
            "phase_001>phase_002 sequential",
            "phase_002>phase_003 sequential",
            "phase_003>review_003 sequential",
            "review_003>action_001 conditional",
            "action_001>action_002 sequential",
        ],
    );
}

#[test]
fn what_only_reads_waits_for_no_review() {
    let two = [command("cmd_use", &["read"], &["b.py"]), command("cmd_change", &["write"], &["a.py"])];
    check_graph(
        &draft(&[], two.to_vec()),
        &[
            "phase_001>phase_002 sequential",
            "phase_002>review_002 parallel",
            "phase_002>action_001 parallel",
            "review_002>action_002 conditional",
            "action_001>phase_003 sequential",
            "action_002>phase_003 sequential",
        ],
    );
}

#[test]
fn a_phase_that_contradicts_the_listed_order_is_said() {
    let two = [command("cmd_change", &["write"], &["a.py"]), command("cmd_look", &["read"], &["a.py"])];
    let result = planned(&draft(&[], two.to_vec()));
    assert_eq!(result.metadata.warnings[0].code.as_str(), "PHASE_OVERRIDES_ORDER");
}

#[test]
fn lanes_are_those_of_the_first_selected_agent_that_the_registry_lists() {
    let mut one =
        draft(&["a.py"], vec![command("cmd_change", &["write"], &[]), command("cmd_ship", &["deploy"], &[])]);
    one.agents = vec!["agent_two", "agent_one"];
    let result = planned(&one);
    let lane =
        |at: usize| result.graph.swimlanes[at].node_ids.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(
        lane(0).contains(&"action_001".to_string()),
        "the entry lists both, and agent_two is selected first"
    );
    assert!(lane(0).contains(&"action_002".to_string()), "nobody selected may ship: the first agent's lane");
    assert_eq!(lane(1), Vec::<String>::new());
}

#[test]
fn folders_ask_for_reviews_by_whole_segments() {
    let check = |path: &'static str, expected: &str| {
        let result = planned(&draft(&[path], vec![command("cmd_change", &["write"], &[])]));
        let reviews: Vec<&str> =
            result.review_pack_stub.requires_review.iter().map(|review| review.as_str()).collect();
        assert_eq!(reviews.join(" "), expected, "{path}");
        let gate =
            result.graph.nodes.iter().find(|node| node.node_type == NodeType::ReviewCheckpoint).unwrap();
        let criteria: Vec<&str> = gate
            .review_criteria
            .iter()
            .flat_map(|criteria| criteria.iter())
            .map(|review| review.as_str())
            .collect();
        assert_eq!(criteria.join(" "), expected, "{path}");
    };
    check("src/auth/token.py", "security release");
    check("src/author/token.py", "release");
    check("src/auth.py", "release");
    check("db/migrations/1.sql", "data release");
    check("billing/x.py", "release cost");
}

#[test]
fn commits_follow_folders_and_commands_and_merge_the_mildest_neighbours() {
    let mut risky = command("cmd_guard", &["security"], &["auth/x.py"]);
    risky.risk = "high";
    let commands = vec![command("cmd_change", &["write"], &["a/x.py", "a/y.py", "b/z.py"]), risky];
    let titles = |max_commits: u16| -> Vec<String> {
        let mut draft = draft(&[], commands.clone());
        draft.budgets.1 = max_commits;
        let result = planned(&draft);
        result
            .commit_plan
            .commits
            .iter()
            .map(|commit| format!("{} {}", commit.files.len(), commit.risk))
            .collect()
    };
    assert_eq!(titles(3), ["2 low", "1 low", "1 high"]);
    assert_eq!(titles(2), ["3 low", "1 high"]);
    assert_eq!(titles(1), ["4 high"]);
}

#[test]
fn rollback_says_what_cannot_be_reverted() {
    let check = |effects: &[&'static str], expected: &str| {
        let result = planned(&draft(&["a.py"], vec![command("cmd_change", effects, &[])]));
        assert_eq!(result.commit_plan.commits[0].rollback_strategy.as_str(), expected);
    };
    check(&["write"], "revert");
    check(&["write", "security"], "forward_fix");
    check(&["security", "data"], "requires_manual");
}

/// The same draft as if it were merged: command by command where it comes from, and who runs after whom.
fn merged(draft: &Draft, origins: &[&str], order: &str) -> DryExecutionResult {
    let mut text = text_of(draft).replace("\"id\":\"intent_x\"", "\"id\":\"intent_merged_x\"");
    text = text.replace("\"derived_from\":[]", &format!("\"derived_from\":{}", quoted(origins)));
    text = text.replacen('{', &format!("{{\"metadata\":{{\"merge_order\":{order}}},"), 1);
    for (at, origin) in origins.iter().enumerate() {
        let own = format!("\"doc://plan/{at}\"");
        text = text.replace(&own, &format!("{own},\"intent://{origin}/planned_commands/0\""));
    }
    let json = Json::parse(text.as_bytes()).unwrap().into_owned();
    let sealed = DocumentKind::Intent.seal(&json).to_canonical();
    let result = plan(&source(&sealed), options(OverBudget::Allowed)).unwrap();
    let again = Json::parse(result.write().to_canonical().as_bytes()).unwrap().into_owned();
    validate(&again, &source(&sealed), Some(registry()), OverBudget::Allowed).unwrap()
}

#[test]
fn who_runs_after_another_intent_stands_behind_it_whatever_its_phase() {
    let two = [command("cmd_change", &["write"], &["a.py"]), command("cmd_look", &["write"], &["b.py"])];
    let result =
        merged(&draft(&[], two.to_vec()), &["intent_a", "intent_b"], r#"{"intent_b": ["intent_a"]}"#);
    let edges = result.graph.edges.iter();
    let edges: Vec<String> = edges.map(|edge| format!("{}>{}", edge.from_node, edge.to_node)).collect();
    assert_eq!(
        edges,
        [
            "phase_001>phase_002",
            "phase_002>review_002",
            "review_002>action_001",
            "action_001>action_002",
            "action_002>phase_003"
        ]
    );
    let warnings: Vec<&str> = result.metadata.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(warnings, ["ORDER_MOVES_PHASE"]);
    let commits: Vec<(String, usize)> = result
        .commit_plan
        .commits
        .iter()
        .map(|commit| (commit.files[0].to_string(), commit.depends_on.len()))
        .collect();
    assert_eq!(commits, [("a.py".to_string(), 0), ("b.py".to_string(), 1)]);
}

#[test]
fn the_order_holds_by_way_of_an_intent_that_has_no_command() {
    let two = [command("cmd_change", &["write"], &["a.py"]), command("cmd_guard", &["write"], &["b.py"])];
    let order = r#"{"intent_c": ["intent_b"], "intent_b": ["intent_a"]}"#;
    let result = merged(&draft(&[], two.to_vec()), &["intent_a", "intent_c"], order);
    let edges = result.graph.edges.iter();
    let is_ordered =
        |edge: &Edge| edge.from_node.as_str() == "action_001" && edge.to_node.as_str() == "action_002";
    assert_eq!(edges.filter(|edge| is_ordered(edge)).count(), 1);
    assert!(result.metadata.warnings.is_empty());
}

#[test]
fn an_order_without_origins_moves_nothing() {
    let two = [command("cmd_change", &["write"], &["a.py"]), command("cmd_look", &["write"], &["b.py"])];
    let result = merged(&draft(&[], two.to_vec()), &[], r#"{"intent_b": ["intent_a"]}"#);
    assert!(result.metadata.warnings.is_empty());
}

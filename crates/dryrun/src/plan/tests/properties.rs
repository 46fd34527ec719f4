//! What holds for every generated intent.

extern crate std;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};

use countersign_canon::{Json, RepoPath, Value, Wire};
use proptest::prelude::*;

use super::generated::{Draft, draft, options, planned, registry, source, text_of};
use crate::{
    OverBudget, freeze_checksum, plan, read_result, validate,
    wire::{DryExecutionResult, Node, NodeType},
};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}

/// Every path in a place for paths.
fn paths(result: &DryExecutionResult) -> BTreeSet<String> {
    let files = result.patch_plan.files.iter().map(|file| file.path.to_string());
    let diffs = result.patch_plan.estimated_diffs.iter().map(|diff| diff.file_path.to_string());
    let commits =
        result.commit_plan.commits.iter().flat_map(|commit| commit.files.iter().map(ToString::to_string));
    files.chain(diffs).chain(commits).collect()
}

/// Every path that a draft names, normalised.
fn named(draft: &Draft) -> BTreeSet<String> {
    let of_commands = draft.commands.iter().flat_map(|command| &command.files);
    let all = draft.files.iter().chain(&draft.evidence).chain(of_commands);
    all.map(|path| RepoPath::parse(path).unwrap().to_string()).collect()
}

const NOISE: &[&str] = &[
    "/etc/zz9",
    "zz9/x.py",
    "zz9.toml",
    "a\\zz9",
    "~/zz9/y",
    "src/a.py/zz9",
    "src/zz9.py,",
    "(../zz9)",
    "zz9/*.rs",
];

fn noisy(draft: &Draft, noise: &str) -> Draft {
    let mut noisy = draft.clone();
    noisy.goal = format!("{} {noise}", draft.goal);
    noisy.drivers = draft.drivers.iter().map(|driver| format!("{noise} {driver}")).collect();
    for command in &mut noisy.commands {
        command.text = format!("{} {noise} {}", command.text, command.text);
    }
    noisy
}

mod de3 {
    use super::*;

    proptest! {
        #![proptest_config(cases(10_000))]

        #[test]
        fn no_path_stands_in_a_result_that_the_intent_does_not_name(draft in draft()) {
            let result = planned(&draft);
            let named = named(&draft);
            prop_assert!(paths(&result).is_subset(&named), "{:?}", paths(&result));
        }
    }

    proptest! {
        #![proptest_config(cases(10_000))]

        /// What reads like a path in free text is neither planned nor shown.
        #[test]
        fn noise_in_free_text_never_adds_a_path(draft in draft(), noise in prop::sample::select(NOISE)) {
            let (quiet, loud) = (planned(&draft), planned(&noisy(&draft, noise)));
            prop_assert_eq!(paths(&quiet), paths(&loud));
            prop_assert!(!loud.write().to_canonical().contains("zz9"));
        }
    }
}

fn is_write_like(node: &Node) -> bool {
    node.effects.iter().any(|effect| effect.is_write_like())
}

/// For each node everything that comes before it, by the edges alone.
fn ancestors(result: &DryExecutionResult) -> Vec<BTreeSet<usize>> {
    let nodes = &result.graph.nodes;
    let position: BTreeMap<&str, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.node_id.as_str(), at)).collect();
    let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); nodes.len()];
    // Nodes stand in an order that keeps every edge, which is what is shown here.
    for edge in result.graph.edges.iter() {
        let (from, to) = (position[edge.from_node.as_str()], position[edge.to_node.as_str()]);
        assert!(from < to, "{} does not go forward", edge.edge_id);
        before[to].insert(from);
    }
    for at in 0..before.len() {
        let beyond: BTreeSet<usize> =
            before[at].iter().flat_map(|earlier| before[*earlier].clone()).collect();
        before[at].extend(beyond);
    }
    before
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn graphs_keep_their_promises(draft in draft()) {
        let result = planned(&draft);
        let nodes = &result.graph.nodes;
        let before = ancestors(&result);
        let mut seen = BTreeSet::new();
        for lane in result.graph.swimlanes.iter() {
            prop_assert!(lane.node_ids.iter().all(|id| seen.insert(id.clone())));
        }
        prop_assert_eq!(seen.len(), nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            prop_assert!(at == 0 || before[at].contains(&0), "{} is not reached", node.node_id);
            if node.node_type == NodeType::ActionPlan && is_write_like(node) {
                let mut gates = before[at].iter().map(|at| &nodes[*at]);
                prop_assert!(gates.any(|node| node.node_type == NodeType::ReviewCheckpoint), "{}", node.node_id);
            }
        }
        let actions: Vec<(usize, &Node)> = nodes.iter().enumerate().filter(|(_, node)| node.command_ref.is_some()).collect();
        prop_assert_eq!(actions.len(), draft.commands.len());
        for (a, first) in &actions {
            for (b, second) in actions.iter().filter(|(b, _)| b > a) {
                let is_ordered = before[*b].contains(a);
                prop_assert!(is_ordered || !shares(&draft, first, second), "{} beside {}", first.node_id, second.node_id);
            }
        }
    }
}

/// Whether two actions change and touch one file by the same name, or both need an environment to themselves.
fn shares(draft: &Draft, a: &Node, b: &Node) -> bool {
    let command = |node: &Node| {
        let number: usize = node.node_id.as_str().trim_start_matches("action_").parse().unwrap();
        &draft.commands[number.checked_sub(1).unwrap()]
    };
    let touched = |node: &Node| -> BTreeSet<&str> {
        let own = &command(node).files;
        if own.is_empty() { draft.files.iter().copied().collect() } else { own.iter().copied().collect() }
    };
    let exclusive = |node: &Node| command(node).id.ends_with("ship");
    let meet = touched(a).intersection(&touched(b)).next().is_some();
    (meet && (is_write_like(a) || is_write_like(b))) || (exclusive(a) && exclusive(b))
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn commits_hold_every_file_once_within_the_budgets_or_the_run_is_refused(draft in draft()) {
        let result = planned(&draft);
        let commits = &result.commit_plan.commits;
        let in_commits: Vec<String> = commits.iter().flat_map(|commit| commit.files.iter().map(ToString::to_string)).collect();
        let files: BTreeSet<String> = result.patch_plan.files.iter().map(|file| file.path.to_string()).collect();
        prop_assert_eq!(in_commits.len(), files.len());
        prop_assert_eq!(in_commits.into_iter().collect::<BTreeSet<_>>(), files.clone());
        let mut earlier = BTreeSet::new();
        for commit in commits.iter() {
            prop_assert!(commit.depends_on.iter().all(|needed| earlier.contains(needed)));
            earlier.insert(commit.commit_id.clone());
        }
        let (max_files, max_commits) = (usize::from(draft.budgets.0), usize::from(draft.budgets.1));
        let holds = files.len() <= max_files && (files.is_empty() || max_commits > 0);
        prop_assert_eq!(result.commit_plan.metadata.respects_max_commits_budget, holds);
        prop_assert!(max_commits == 0 || commits.len() <= max_commits);
        let strict = plan(&source(&text_of(&draft)), options(OverBudget::Refused));
        match strict {
            Ok(strict) => prop_assert!(holds && strict == result),
            Err(issues) => prop_assert!(!holds && issues.iter().all(|issue| issue.code.as_str() == "DRY_RUN_OVER_BUDGET")),
        }
    }
}

mod de6 {
    use super::*;

    proptest! {
        #![proptest_config(cases(5_000))]

        #[test]
        fn a_result_reads_back_verifies_at_every_level_and_is_given_again(draft in draft()) {
            let text = text_of(&draft);
            let result = planned(&draft);
            let bytes = result.write().to_pretty();
            prop_assert_eq!(&bytes, &planned(&draft).write().to_pretty());
            let json = Json::parse(bytes.as_bytes()).unwrap();
            for part in ["graph", "patch_plan", "commit_plan"] {
                let part = json.get(part).unwrap();
                let stored = part.get("checksum").unwrap().as_str().unwrap();
                prop_assert_eq!(stored, freeze_checksum(part).to_string());
            }
            prop_assert_eq!(&read_result(&json).unwrap(), &result);
            prop_assert_eq!(validate(&json, &source(&text), Some(registry()), OverBudget::Allowed).unwrap(), result);
        }

        /// Lists without an order may be permuted: what comes out is the same but for what is made from the checksum.
        #[test]
        fn permuting_what_has_no_order_changes_nothing(draft in draft(), seed in 0_usize..24) {
            let mut other = draft.clone();
            rotate(&mut other.files, seed);
            rotate(&mut other.evidence, seed);
            rotate(&mut other.reviews, seed);
            rotate(&mut other.drivers, seed);
            rotate(&mut other.lock.1, seed);
            for command in &mut other.commands {
                rotate(&mut command.files, seed);
                rotate(&mut command.effects, seed);
            }
            let bare = |draft: &Draft| without_hashes(&planned(draft).write()).to_canonical();
            prop_assert_eq!(bare(&draft), bare(&other));
        }
    }
}

fn rotate<T>(list: &mut [T], by: usize) {
    if let Some(by) = by.checked_rem(list.len()) {
        list.rotate_left(by);
    }
    if by.is_multiple_of(2) {
        list.reverse();
    }
}

/// A result without everything that is made from the intent's checksum.
fn without_hashes(json: &Json<'static>) -> Json<'static> {
    match &json.value {
        Value::Array(items) => Json::from(items.iter().map(without_hashes).collect::<Vec<_>>()),
        Value::Object(object) => {
            let hashes = ["checksum", "result_id", "diff_hash_placeholder"];
            let kept = object.members().iter().filter(|member| !hashes.contains(&member.key.as_ref()));
            Json::object(kept.map(|member| (member.key.clone(), without_hashes(&member.value))))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json.clone(),
    }
}

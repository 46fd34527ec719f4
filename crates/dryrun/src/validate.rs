//! Holding a result against itself, and against the intent it says it was made from.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    vec::Vec,
};

use countersign_canon::{Issue, Issues, Json, NonEmpty, Pointer, Reader, Wire};
use countersign_intent::{Registry, differences};

use crate::{
    OverBudget, PlanOptions, Source,
    code::codes,
    freeze::without_times,
    graph::check_graph,
    plan::plan,
    redline::{intent_red_lines_of, result_red_lines},
    wire::{CommitPlan, DryExecutionResult, PatchPlan, SourceType},
};

/// Reads a result: its form, DE1 to DE6 as far as it shows them alone, its graph and its commits.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn read_result(json: &Json<'_>) -> Result<DryExecutionResult, NonEmpty<Issue>> {
    let result: DryExecutionResult =
        Reader::read_ruled(json, codes::DRY_RUN_INVALID, result_red_lines(json))?;
    let mut issues = check_graph(&result.graph, !result.review_pack_stub.requires_review.is_empty());
    commits(&result.commit_plan, &result.patch_plan, &mut issues);
    match NonEmpty::new(issues.into_sorted()) {
        None => Ok(result),
        Some(issues) => Err(issues),
    }
}

/// Reads a result and makes it again from its source: every value that the source determines must be the same.
/// Only when it was made may differ.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn validate(
    json: &Json<'_>,
    source: &Source,
    registry: Option<&Registry>,
    over_budget: OverBudget,
) -> Result<DryExecutionResult, NonEmpty<Issue>> {
    let fabricated = intent_red_lines_of(json, source.intent());
    let read = read_result(json);
    let mut issues = fabricated;
    let result = match read {
        Ok(result) => Some(result),
        Err(problems) => {
            issues.extend(problems.into_vec());
            None
        }
    };
    if let Some(result) = &result {
        issues.extend(missing_sources(result, source));
        let options = PlanOptions { registry, created_at: result.created_at, over_budget };
        match plan(source, options) {
            Ok(again) => compare(json, &again, &mut issues),
            Err(problems) => issues.extend(problems.into_vec()),
        }
    }
    match (result, NonEmpty::new(issues.into_sorted())) {
        (Some(result), None) => Ok(result),
        (_, Some(issues)) => Err(issues),
        (None, None) => Err(NonEmpty::of(Issue::new(codes::DRY_RUN_INVALID, "the result could not be read"))),
    }
}

/// What the result was made from and the caller did not bring.
fn missing_sources(result: &DryExecutionResult, source: &Source) -> Vec<Issue> {
    let at = Pointer::root().key("lineage").key("derived_from");
    let needs = result.lineage.derived_from.iter().enumerate().filter_map(|(index, from)| {
        let hint = match from.kind {
            SourceType::MergePlan if source.plan().is_none() => "give the merge plan itself with --intent",
            SourceType::EvaluationResult if source.evaluation().is_none() => "give it with --evaluation",
            SourceType::Intent
            | SourceType::MergePlan
            | SourceType::EvaluationResult
            | SourceType::RegistryContent => return None,
        };
        let message = format!("the result was made from the {} `{}`", from.kind, from.id.as_str());
        Some(Issue::new(codes::DRY_RUN_SOURCE_MISSING, message).with_pointer(at.index(index)).with_hint(hint))
    });
    needs.collect()
}

/// Every place where the result is not what its source gives, times aside; where a red line speaks already, it is enough.
fn compare(json: &Json<'_>, again: &DryExecutionResult, issues: &mut Issues) {
    let said: BTreeSet<Pointer> =
        issues.clone().into_sorted().into_iter().map(|issue| issue.pointer.clone()).collect();
    let again = without_times(&again.write());
    let found = differences(&without_times(json), &again);
    let place = |pointer: &Pointer| pointer.find(json).map(Json::offset);
    issues.extend(found.into_iter().filter(|difference| !said.contains(&difference.pointer)).map(
        |difference| {
            let shown = |side: &Option<Json<'static>>| {
                let text = side.as_ref().map_or_else(|| "nothing".into(), Json::to_canonical);
                countersign_intent::svg::shortened(&text, 160)
            };
            let message = format!("found {}, which is not what the intent gives", shown(&difference.before));
            let issue = Issue::new(codes::DRY_RUN_DIFFERS, message).with_expected(shown(&difference.after));
            let issue = match place(&difference.pointer) {
                Some(offset) => issue.with_offset(offset),
                None => issue,
            };
            issue.with_pointer(difference.pointer)
        },
    ));
}

/// Every planned file is in exactly one commit, and commits depend on earlier ones only.
fn commits(commits: &CommitPlan, patch: &PatchPlan, issues: &mut Issues) {
    let at = Pointer::root().key("commit_plan").key("commits");
    let mut holder: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refuse = |message: alloc::string::String, place: Pointer| {
        issues.push(Issue::new(codes::DRY_RUN_COMMITS, message).with_pointer(place));
    };
    let mut earlier: BTreeSet<&str> = BTreeSet::new();
    for (index, commit) in commits.commits.iter().enumerate() {
        for path in commit.files.iter() {
            if holder.insert(path.as_str(), index).is_some() {
                refuse(format!("`{path}` is in two commits"), at.index(index).key("files"));
            }
        }
        for needed in commit.depends_on.iter().filter(|needed| !earlier.contains(needed.as_str())) {
            refuse(format!("`{needed}` is not an earlier commit"), at.index(index).key("depends_on"));
        }
        if !earlier.insert(commit.commit_id.as_str()) {
            refuse(
                format!("`{}` stands for two commits", commit.commit_id),
                at.index(index).key("commit_id"),
            );
        }
    }
    for file in patch.files.iter().filter(|file| !holder.contains_key(file.path.as_str())) {
        refuse(format!("`{}` is in no commit", file.path), at.clone());
    }
}

//! The runtime layer of DE1 to DE6: rules on a result as it stands, whatever else is wrong with it.
//!
//! They look at raw JSON and not at checked types, so that this layer refuses alone, without the types and the schema.

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString as _},
};

use countersign_canon::{Issue, Issues, Json, Pointer, RepoPath, scan_payload};
use countersign_intent::{EvidenceRef, Intent};

use crate::{code::codes, freeze, named::NamedPaths, plan::result_id, wire::RedLine};

/// Everything in a result that breaks DE1 to DE6, as far as the result alone shows it.
#[must_use]
pub fn result_red_lines(result: &Json<'_>) -> Issues {
    let mut issues = Issues::new();
    no_execution(result, &mut issues);
    constants(result, &mut issues);
    planned_paths(result, &mut issues);
    evidence(result, &mut issues);
    review(result, &mut issues);
    lineage(result, &mut issues);
    freeze::verify(result, &mut issues);
    issues
}

/// DE3 against the intent: every path of a result that the intent does not name, whole and normalised.
#[must_use]
pub fn intent_red_lines_of(result: &Json<'_>, intent: &Intent) -> Issues {
    let named = NamedPaths::of(intent.document());
    let mut issues = Issues::new();
    for (place, path) in paths(result) {
        let is_named = path.as_str().is_some_and(|text| {
            RepoPath::parse(text).is_ok_and(|path| named.contains(&path) && path.to_string() == text)
        });
        if !is_named {
            issues.push(
                Issue::new(
                    codes::DE3_PATH_NOT_IN_INTENT,
                    format!("the intent does not name {}", path.to_canonical()),
                )
                .with_pointer(place)
                .with_offset(path.offset())
                .with_expected("a path of scope.targets.files or of a scan://file reference, whole"),
            );
        }
    }
    issues
}

/// DE1.
fn no_execution(result: &Json<'_>, issues: &mut Issues) {
    let found = scan_payload(result).into_sorted();
    issues.extend(found.into_iter().map(|issue| issue.under(codes::DE1_EXECUTION_PAYLOAD)));
    let place = Pointer::root().key("metadata").key("execution_mode");
    let mode = place.find(result);
    if mode.and_then(Json::as_str) != Some("dry_run") {
        issues.push(
            Issue::new(codes::DE1_NOT_DRY_RUN, "the result does not say that it is a dry run")
                .with_pointer(place)
                .with_offset(mode.unwrap_or(result).offset())
                .with_expected("dry_run"),
        );
    }
    let place = Pointer::root().key("metadata").key("constraints_enforced");
    let listed = place.find(result).and_then(Json::as_array).unwrap_or_default();
    for red_line in
        RedLine::ALL.iter().filter(|line| !listed.iter().any(|found| found.as_str() == Some(line.as_str())))
    {
        let issue = Issue::new(codes::DRY_RUN_CONSTRAINT_MISSING, format!("{red_line} is not listed"));
        issues.push(issue.with_pointer(place.clone()).with_offset(result.offset()));
    }
}

/// DE1, DE2 and DE3: the three constants.
fn constants(result: &Json<'_>, issues: &mut Issues) {
    let wanted = [
        ("no_exec", codes::DE1_NOT_DRY_RUN),
        ("no_fs_write", codes::DE2_WRITE_NOT_EXCLUDED),
        ("no_fabrication", codes::DE3_FABRICATION_NOT_EXCLUDED),
    ];
    for (key, code) in wanted {
        let place = Pointer::root().key("patch_plan").key("constraints").key(key);
        let found = place.find(result);
        if found.and_then(Json::as_bool) != Some(true) {
            let issue = Issue::new(code, format!("patch_plan.constraints.{key} is not true"));
            let offset = found.unwrap_or(result).offset();
            issues.push(issue.with_pointer(place).with_offset(offset).with_expected("true"));
        }
    }
}

/// DE3, as far as the result alone shows it: diffs and commits hold planned files and nothing else.
fn planned_paths(result: &Json<'_>, issues: &mut Issues) {
    let files = paths(result).filter(|(place, _)| is_planned(place));
    let planned: BTreeSet<String> = files.filter_map(|(_, path)| path.as_str().map(String::from)).collect();
    for (place, path) in paths(result).filter(|(place, _)| !is_planned(place)) {
        if !path.as_str().is_some_and(|text| planned.contains(text)) {
            let message = format!("{} is not one of the planned files", path.to_canonical());
            let issue = Issue::new(codes::DE3_PATH_NOT_PLANNED, message);
            issues.push(issue.with_pointer(place).with_offset(path.offset()));
        }
    }
}

fn is_planned(place: &Pointer) -> bool {
    place.to_string().starts_with("/patch_plan/files/")
}

/// Every place of a result that holds a path, with what stands there.
fn paths<'j, 'a>(result: &'j Json<'a>) -> impl Iterator<Item = (Pointer, &'j Json<'a>)> {
    let of = |list: &str, of: &str, key: &'static str| {
        let at = Pointer::root().key(of).key(list);
        let items = at.find(result).and_then(Json::as_array).unwrap_or_default().iter().enumerate();
        items.filter_map(move |(index, item)| Some((at.index(index).key(key), item.get(key)?)))
    };
    let commits = of("commits", "commit_plan", "files").flat_map(|(at, files)| {
        let files = files.as_array().unwrap_or_default().iter().enumerate();
        files.map(move |(index, file)| (at.index(index), file))
    });
    of("files", "patch_plan", "path").chain(of("estimated_diffs", "patch_plan", "file_path")).chain(commits)
}

/// DE4.
fn evidence(result: &Json<'_>, issues: &mut Issues) {
    for (of, list, what) in
        [("graph", "nodes", "node"), ("patch_plan", "files", "file"), ("commit_plan", "commits", "commit")]
    {
        let at = Pointer::root().key(of).key(list);
        for (index, item) in at.find(result).and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
            let place = at.index(index).key("evidence_refs");
            let found = item.get("evidence_refs");
            let references = found.and_then(Json::as_array).unwrap_or_default();
            if references.is_empty() {
                issues.push(
                    Issue::new(codes::DE4_NO_EVIDENCE, format!("{what} {index} names no evidence"))
                        .with_pointer(place.clone())
                        .with_offset(found.unwrap_or(item).offset())
                        .with_expected("at least one reference"),
                );
            }
            for (number, reference) in references.iter().enumerate() {
                if reference.as_str().is_none_or(|text| EvidenceRef::parse(text).is_err()) {
                    let message = format!("{} is not an evidence reference", reference.to_canonical());
                    let issue = Issue::new(codes::DE4_NOT_EVIDENCE, message);
                    issues.push(issue.with_pointer(place.index(number)).with_offset(reference.offset()));
                }
            }
        }
    }
}

/// DE5.
fn review(result: &Json<'_>, issues: &mut Issues) {
    let stub = result.get("review_pack_stub");
    let risk =
        stub.and_then(|stub| stub.get("risk_summary")).and_then(|summary| summary.get("dominant_risk"));
    let risk = risk.and_then(Json::as_str).unwrap_or("critical");
    let reviews = stub.and_then(|stub| stub.get("requires_review"));
    let nobody = reviews.and_then(Json::as_array).is_none_or(<[Json<'_>]>::is_empty);
    if matches!(risk, "high" | "critical") && nobody {
        issues.push(
            Issue::new(codes::DE5_HIGH_RISK_NO_REVIEW, format!("the risk is {risk} and nobody reviews it"))
                .with_pointer(Pointer::root().key("review_pack_stub").key("requires_review"))
                .with_offset(reviews.or(stub).unwrap_or(result).offset())
                .with_expected("at least one review"),
        );
    }
}

/// DE6: what a result was made from, said once for the result and once for its graph, and agreeing with its id.
fn lineage(result: &Json<'_>, issues: &mut Issues) {
    let text = |json: Option<&Json<'_>>, key: &str| {
        json.and_then(|json| json.get(key)).and_then(Json::as_str).map(String::from).unwrap_or_default()
    };
    let about = result.get("intent_ref");
    let (intent_id, checksum) = (text(about, "intent_id"), text(about, "checksum"));
    for at in [Pointer::root(), Pointer::root().key("graph")] {
        let Some(document) = at.find(result) else { continue };
        let place = at.key("lineage").key("derived_from");
        let sources = document.get("lineage").and_then(|lineage| lineage.get("derived_from"));
        let sources = sources.and_then(Json::as_array).unwrap_or_default();
        if sources.is_empty() {
            let issue =
                Issue::new(codes::DE6_LINEAGE_MISSING, "the document does not say what it was made from");
            issues.push(issue.with_pointer(place).with_offset(document.offset()));
            continue;
        }
        let is_about = |source: &Json<'_>| {
            let source = Some(source);
            text(source, "type") == "intent"
                && text(source, "id") == intent_id
                && text(source, "checksum") == checksum
        };
        if !sources.iter().any(is_about) {
            let issue =
                Issue::new(codes::DE6_LINEAGE_MISMATCH, "the lineage does not name the intent of intent_ref");
            issues.push(issue.with_pointer(place).with_offset(document.offset()));
        }
    }
    let wanted = result_id(&intent_id, &checksum);
    let found = result.get("result_id").and_then(Json::as_str);
    if wanted.as_ref().map(crate::ResultId::as_str) != found {
        let issue = Issue::new(codes::DE6_LINEAGE_MISMATCH, "the result's id is not that of its intent");
        let issue = issue.with_pointer(Pointer::root().key("result_id")).with_offset(result.offset());
        issues.push(issue.with_expected(wanted.map(|id| id.to_string()).unwrap_or_default()));
    }
}

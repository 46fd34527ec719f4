//! Gate C: every invalid fixture is refused for its own reason, and so is a good result with one byte changed.

use countersign_canon::{Issue, Json, Timestamp};
use countersign_dryrun::{OverBudget, PlanOptions, Source, without_times};

use super::{
    Engine, Gate,
    examples::{Example, Examples},
};
use crate::{
    dry_run::out::OutFolder,
    effects::{files, folder},
};

pub(super) const GATE: Gate =
    Gate { letter: "C", what: "invalid fixtures and changed bytes refused for their own reason", check };

/// The example that the fixtures were made from.
const ORIGIN: &str = "api_feature";

/// Each fixture, the code it is made for, and the place.
pub(super) const FIXTURES: &[(&str, &str, &str)] = &[
    ("result_contains_execution_field", "DE1_EXECUTION_PAYLOAD", "/metadata/execute_commands"),
    ("result_not_dry_run", "DE1_NOT_DRY_RUN", "/metadata/execution_mode"),
    ("writes_not_excluded", "DE2_WRITE_NOT_EXCLUDED", "/patch_plan/constraints/no_fs_write"),
    ("fabrication_not_excluded", "DE3_FABRICATION_NOT_EXCLUDED", "/patch_plan/constraints/no_fabrication"),
    ("patch_plan_fabricated_paths", "DE3_PATH_NOT_IN_INTENT", "/patch_plan/files/0/path"),
    ("patch_plan_unnamed_path", "DE3_PATH_NOT_IN_INTENT", "/patch_plan/files/0/path"),
    ("missing_evidence_refs", "DE4_NO_EVIDENCE", "/graph/nodes/1/evidence_refs"),
    ("free_text_evidence", "DE4_NOT_EVIDENCE", "/graph/nodes/1/evidence_refs/0"),
    ("high_risk_no_review", "DE5_HIGH_RISK_NO_REVIEW", "/review_pack_stub/requires_review"),
    ("missing_checksum_lineage", "DE6_CHECKSUM_MISSING", "/checksum"),
    ("missing_checksum_lineage", "DE6_LINEAGE_MISSING", "/lineage/derived_from"),
];

/// An intent that `plan` refuses.
const INTENT: (&str, &str, &str) =
    ("intent_high_risk_no_review", "DE5_HIGH_RISK_NO_REVIEW", "/risk/requires_review");

/// Folders that `--out` must not be, and those that it may be.
const OUT: &str = "out_inside_source_tree";

/// LIMIT: so many bytes of each example are changed; a gate is waited for.
const MUTATIONS: usize = 120;

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = fixtures(examples, engine);
    complaints.extend(intent(examples, engine));
    complaints.extend(out_folders(examples).unwrap_or_else(|issue| vec![format!("{OUT}: {issue}")]));
    complaints.extend(examples.examples.iter().flat_map(|example| mutations(examples, example, engine)));
    let listed = FIXTURES.iter().map(|(name, _, _)| *name).chain([INTENT.0, OUT]);
    let listed: Vec<&str> = listed.collect();
    let unlisted = examples.invalid.keys().filter(|name| !listed.contains(&name.as_str()));
    complaints.extend(unlisted.map(|name| format!("{name}: nobody says why it should be refused")));
    complaints
}

fn is_found(issues: &[Issue], code: &str, pointer: &str) -> bool {
    issues.iter().any(|issue| issue.code.as_str() == code && issue.pointer.to_string() == pointer)
}

fn fixtures(examples: &Examples, engine: Engine) -> Vec<String> {
    let origin = examples.examples.iter().find(|example| example.name == ORIGIN);
    let Some(Ok(source)) = origin.map(|origin| examples.source(origin)) else {
        return vec![format!("{ORIGIN}: the fixtures were made from it, and it is missing")];
    };
    let mut complaints = Vec::new();
    for (name, code, pointer) in FIXTURES {
        let json = examples.invalid.get(*name).map(|bytes| Json::parse(bytes));
        let issues = match json {
            Some(Ok(json)) => (engine.judge)(&json, &source, examples.registry.as_ref()),
            Some(Err(issue)) => vec![issue],
            None => {
                complaints.push(format!("{name}: is missing"));
                continue;
            }
        };
        if issues.is_empty() {
            complaints.push(format!("{name}: is accepted"));
        } else if !is_found(&issues, code, pointer) {
            complaints.push(format!("{name}: is refused, but not with {code} at `{pointer}`"));
        }
    }
    complaints
}

fn intent(examples: &Examples, engine: Engine) -> Option<String> {
    let (name, code, pointer) = INTENT;
    let Some(bytes) = examples.invalid.get(name) else { return Some(format!("{name}: is missing")) };
    let registry = examples.registry.as_ref();
    let options =
        PlanOptions { registry, created_at: Timestamp::UNIX_EPOCH, over_budget: OverBudget::Refused };
    let planned = Source::load(bytes, registry).and_then(|source| (engine.plan)(&source, options));
    match planned {
        Ok(_) => Some(format!("{name}: is planned")),
        Err(issues) if is_found(&issues, code, pointer) => None,
        Err(_) => Some(format!("{name}: is refused, but not with {code} at `{pointer}`")),
    }
}

/// DE2: a work tree with an index, and folders in and around it.
fn out_folders(examples: &Examples) -> Result<Vec<String>, Issue> {
    let Some(bytes) = examples.invalid.get(OUT) else { return Ok(vec![format!("{OUT}: is missing")]) };
    let cases = Json::parse(bytes)?;
    let list = |key: &str| {
        let items = cases.get(key).and_then(Json::as_array).unwrap_or_default();
        items.iter().filter_map(Json::as_str).map(str::to_owned).collect::<Vec<_>>()
    };
    let work = files::temporary_folder()?;
    let tree = work.path().join("tree");
    files::write(&tree.join(".git/index"), &index(&list("tracked")))?;
    for path in list("tracked") {
        folder::put(&tree.join(path), "")?;
    }
    let mut complaints = Vec::new();
    for path in list("refused") {
        match OutFolder::find(&tree.join(&path)) {
            Err(issue) if issue.code.as_str() == "DE2_OUT_IN_SOURCE_TREE" => (),
            Err(issue) => complaints.push(format!("{OUT}: `{path}` is refused with {}", issue.code)),
            Ok(_) => complaints.push(format!("{OUT}: `{path}` is accepted")),
        }
    }
    for path in list("accepted") {
        if let Err(issue) = OutFolder::find(&tree.join(&path)) {
            complaints.push(format!("{OUT}: `{path}` is refused: {issue}"));
        }
    }
    if list("refused").is_empty() || list("accepted").is_empty() {
        complaints.push(format!("{OUT}: there is nothing to look at"));
    }
    Ok(complaints)
}

/// A git index of version 2 with these paths and nothing else about them.
fn index(paths: &[String]) -> Vec<u8> {
    let count = u32::try_from(paths.len()).unwrap_or(0);
    let mut bytes = [b"DIRC".as_slice(), &2_u32.to_be_bytes(), &count.to_be_bytes()].concat();
    for path in paths {
        let used = path.len().saturating_add(62);
        let padded = used.saturating_add(1).next_multiple_of(8);
        bytes.extend([0; 62]);
        bytes.extend(path.as_bytes());
        bytes.resize(bytes.len().saturating_add(padded.saturating_sub(used)), 0);
    }
    bytes.extend([0; 20]);
    bytes
}

/// Changes single bytes all over a good result; each change must be refused, a time changed to another one aside.
fn mutations(examples: &Examples, example: &Example, engine: Engine) -> Vec<String> {
    let (Some(shipped), Ok(source)) = (example.shipped(), examples.source(example)) else {
        return Vec::new();
    };
    let good = shipped.to_canonical().into_bytes();
    let step = good.len().checked_div(MUTATIONS).unwrap_or(1).max(1);
    let mut complaints = Vec::new();
    for at in (0..good.len()).step_by(step) {
        let mut bytes = good.clone();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1;
        }
        let Ok(json) = Json::parse(&bytes) else { continue };
        let is_time = without_times(&json) == without_times(&shipped);
        if !is_time && (engine.judge)(&json, &source, examples.registry.as_ref()).is_empty() {
            complaints.push(format!("{}: byte {at} can be changed and nobody notices", example.name));
        }
    }
    complaints
}

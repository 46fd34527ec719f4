//! The runtime layer of the red lines: rules on the document as it stands, whatever else is wrong with it.
//!
//! They look at raw JSON and not at checked types, so that a document with a broken title still hears that it
//! also breaks I2, and so that this layer refuses alone, without the types and without the schema.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Code, Issue, Issues, Json, Pointer, RepoPath, nearest, scan_payload};

use crate::{
    EvidenceRef, Registry,
    code::codes,
    wire::{Effect, RiskLevel},
};

/// Everything in an intent that breaks I1 to I5, the review rule or the path rule.
///
/// Without a registry the look-up of I5 is left out.
#[must_use]
pub fn intent_red_lines(document: &Json<'_>, registry: Option<&Registry>) -> Issues {
    let mut issues = Issues::new();
    payload(document, codes::I1_EXECUTION_PAYLOAD, &mut issues);
    interaction(document, &mut issues);
    risk(document, &mut issues);
    evidence(document, &mut issues);
    constants(document, &mut issues);
    if let Some(registry) = registry {
        registered(document, registry, &mut issues);
    }
    review(document, &mut issues);
    paths(document, &mut issues);
    issues
}

/// Everything in an outcome (set, result, plan or pack) that breaks RL-E1.
#[must_use]
pub fn outcome_red_lines(document: &Json<'_>) -> Issues {
    let mut issues = Issues::new();
    payload(document, codes::RL_E1_EXECUTION_PAYLOAD, &mut issues);
    issues
}

/// RL-E1, other half: a result or plan says that execution is forbidden.
#[must_use]
pub fn execution_forbidden(document: &Json<'_>) -> Option<Issue> {
    let place = Pointer::root().key("constraints").key("execution");
    let found = place.find(document);
    let is_forbidden = found.and_then(Json::as_str) == Some("forbidden");
    (!is_forbidden).then(|| {
        Issue::new(
            codes::RL_E1_EXECUTION_NOT_FORBIDDEN,
            "the document does not say that execution is forbidden",
        )
        .with_offset(found.unwrap_or(document).offset())
        .with_pointer(place)
        .with_expected("forbidden")
    })
}

/// RL-E2: what is merged names its sources, and what overrides names what it supersedes.
#[must_use]
pub fn plan_lineage(plan: &Json<'_>) -> Issues {
    let mut issues = Issues::new();
    let strategy = plan.get("strategy").and_then(Json::as_str).unwrap_or_default();
    let result = plan.get("result_intent");
    if strategy == "reject" {
        if let Some(result) = result {
            let issue = Issue::new(codes::PLAN_RESULT_UNEXPECTED, "a rejected set has no result intent");
            issues
                .push(issue.with_pointer(Pointer::root().key("result_intent")).with_offset(result.offset()));
        }
    } else {
        result_lineage(plan, strategy, result, &mut issues);
    }
    let sources = texts(plan.get("source_intent_ids"));
    let plan_lineage = plan.get("lineage");
    let derived = texts(plan_lineage.and_then(|lineage| lineage.get("derived_from")));
    let superseded = texts(plan_lineage.and_then(|lineage| lineage.get("supersedes")));
    // Seed 000's own example counts what is superseded apart from what the plan derives from.
    let both: Vec<&str> = derived.iter().chain(&superseded).copied().collect();
    let is_override = strategy == "override_by_priority";
    if !(is_same_set(&derived, &sources) || is_override && is_same_set(&both, &sources)) {
        let issue =
            Issue::new(codes::RL_E2_LINEAGE_MISMATCH, "the lineage does not name exactly the sources")
                .with_pointer(Pointer::root().key("lineage").key("derived_from"))
                .with_expected(sources.join(", "));
        issues.push(issue.with_offset(plan_lineage.unwrap_or(plan).offset()));
    }
    if is_override && superseded.is_empty() {
        issues.push(no_supersedes(Pointer::root().key("lineage"), plan_lineage.unwrap_or(plan)));
    }
    issues
}

fn result_lineage(plan: &Json<'_>, strategy: &str, result: Option<&Json<'_>>, issues: &mut Issues) {
    let at = Pointer::root().key("result_intent");
    let Some(result) = result else {
        let issue = Issue::new(codes::PLAN_RESULT_MISSING, "the plan merges and has no result intent");
        issues.push(issue.with_pointer(at).with_offset(plan.offset()));
        return;
    };
    let lineage = result.get("lineage");
    if texts(lineage.and_then(|lineage| lineage.get("derived_from"))).is_empty() {
        issues.push(
            Issue::new(codes::RL_E2_NO_DERIVED_FROM, "the merged intent does not name what it was made from")
                .with_pointer(at.key("lineage").key("derived_from"))
                .with_offset(lineage.unwrap_or(result).offset())
                .with_hint("list every source intent"),
        );
    }
    let superseded = texts(lineage.and_then(|lineage| lineage.get("supersedes")));
    if strategy == "override_by_priority" && superseded.is_empty() {
        issues.push(no_supersedes(at.key("lineage"), lineage.unwrap_or(result)));
    }
}

fn no_supersedes(at: Pointer, json: &Json<'_>) -> Issue {
    Issue::new(codes::RL_E2_NO_SUPERSEDES, "an override does not name what it supersedes")
        .with_pointer(at.key("supersedes"))
        .with_offset(json.offset())
        .with_hint("list every intent that lost")
}

fn is_same_set(a: &[&str], b: &[&str]) -> bool {
    let sorted = |list: &[&str]| {
        let mut list: Vec<String> = list.iter().map(|&text| text.into()).collect();
        list.sort();
        list
    };
    sorted(a) == sorted(b)
}

fn payload(document: &Json<'_>, code: Code, issues: &mut Issues) {
    issues.extend(scan_payload(document).into_sorted().into_iter().map(|issue| issue.under(code)));
}

/// I2.
fn interaction(document: &Json<'_>, issues: &mut Issues) {
    let Some(interaction) = document.get("interaction") else { return };
    if word(interaction, "mode") != Some("full_auto") {
        return;
    }
    let at = Pointer::root().key("interaction");
    let refused = |key: &str, value: &Json<'_>, expected: &str| {
        Issue::new(
            codes::I2_FULL_AUTO_ASKS,
            format!("full_auto stands beside {key} {}", value.to_canonical()),
        )
        .with_pointer(at.key(key))
        .with_offset(value.offset())
        .with_expected(expected)
        .with_hint("an intent that runs by itself asks nobody; choose semi_auto or interactive to ask")
    };
    if let Some(budget) = interaction.get("question_budget")
        && budget.as_number().and_then(|number| number.as_i64()) != Some(0)
    {
        issues.push(refused("question_budget", budget, "0"));
    }
    if let Some(policy) = interaction.get("question_policy")
        && policy.as_str() != Some("never")
    {
        issues.push(refused("question_policy", policy, "never"));
    }
}

/// I3.
fn risk(document: &Json<'_>, issues: &mut Issues) {
    let overall = document.get("risk").and_then(|risk| risk.get("overall"));
    let Some((level, overall)) =
        overall.and_then(|json| Some((RiskLevel::parse(json.as_str()?).ok()?, json)))
    else {
        return;
    };
    let mode = document.get("interaction").and_then(|interaction| interaction.get("mode"));
    if let Some(mode) = mode.filter(|mode| mode.as_str() == Some("full_auto") && level >= RiskLevel::High) {
        issues.push(
            Issue::new(
                codes::I3_HIGH_RISK_FULL_AUTO,
                format!("the risk is {level} and the mode is full_auto"),
            )
            .with_pointer(Pointer::root().key("interaction").key("mode"))
            .with_offset(mode.offset())
            .with_expected("interactive or semi_auto")
            .with_hint("a person must be in the loop where the risk is high"),
        );
    }
    let of_command = |(_, command): &(usize, &Json<'_>)| RiskLevel::parse(word(command, "risk_level")?).ok();
    let highest = commands(document)
        .filter_map(|entry| Some((of_command(&entry)?, entry.0)))
        .max_by(|a, b| a.0.cmp(&b.0));
    if let Some((highest, index)) = highest.filter(|(highest, _)| *highest > level) {
        let message = format!("the overall risk is {level}, but command {index} is {highest}");
        issues.push(
            Issue::new(codes::I3_RISK_UNDERSTATED, message)
                .with_pointer(Pointer::root().key("risk").key("overall"))
                .with_offset(overall.offset())
                .with_expected(format!("{highest} or above"))
                .with_hint("the whole is not safer than its parts"),
        );
    }
}

/// I4.
fn evidence(document: &Json<'_>, issues: &mut Issues) {
    for (index, command) in commands(document) {
        let at = Pointer::root().key("planned_commands").index(index).key("evidence_refs");
        let references = command.get("evidence_refs");
        if references.and_then(Json::as_array).is_none_or(<[Json<'_>]>::is_empty) {
            issues.push(
                Issue::new(codes::I4_COMMAND_WITHOUT_EVIDENCE, format!("command {index} names no evidence"))
                    .with_pointer(at.clone())
                    .with_offset(references.unwrap_or(command).offset())
                    .with_expected("1 to 30 evidence references"),
            );
        }
        references_in(references, &at, issues);
    }
    references_in(document.get("evidence_refs"), &Pointer::root().key("evidence_refs"), issues);
}

fn references_in(references: Option<&Json<'_>>, at: &Pointer, issues: &mut Issues) {
    for (index, reference) in references.and_then(Json::as_array).unwrap_or_default().iter().enumerate() {
        if let Some(Err(issue)) = reference.as_str().map(EvidenceRef::parse) {
            issues.push(issue.with_pointer(at.index(index)).with_offset(reference.offset()));
        }
    }
}

/// I5, the constants.
fn constants(document: &Json<'_>, issues: &mut Issues) {
    let constraints = document.get("constraints");
    let expected = [("execution", "\"forbidden\""), ("no_fabrication", "true"), ("registry_only", "true")];
    for (key, constant) in expected {
        let found = constraints.and_then(|constraints| constraints.get(key));
        if found.is_none_or(|found| found.to_canonical() != constant) {
            issues.push(
                Issue::new(codes::I5_CONSTRAINT_MISSING, format!("constraints.{key} is not {constant}"))
                    .with_pointer(Pointer::root().key("constraints").key(key))
                    .with_offset(found.or(constraints).unwrap_or(document).offset())
                    .with_expected(constant),
            );
        }
    }
}

/// I5, the look-up.
fn registered(document: &Json<'_>, registry: &Registry, issues: &mut Issues) {
    let kinds = [
        ("selected_workflows", "workflow_id", codes::I5_UNKNOWN_WORKFLOW),
        ("selected_agents", "agent_id", codes::I5_UNKNOWN_AGENT),
        ("planned_commands", "command_id", codes::I5_UNKNOWN_COMMAND),
    ];
    for (list, key, code) in kinds {
        let known: Vec<&str> = match code {
            codes::I5_UNKNOWN_WORKFLOW => registry.workflow_ids().collect(),
            codes::I5_UNKNOWN_AGENT => registry.agent_ids().collect(),
            _ => registry.command_ids().collect(),
        };
        for (index, entry) in
            document.get(list).and_then(Json::as_array).unwrap_or_default().iter().enumerate()
        {
            let Some(found) = entry.get(key).filter(|found| found.as_str().is_some()) else { continue };
            let id = found.as_str().unwrap_or_default();
            // The ids are sorted, as the registry gives them.
            if known.binary_search(&id).is_ok() {
                continue;
            }
            let shown: String = id.chars().take(80).collect();
            let mut issue = Issue::new(code, format!("`{shown}` is not in the registry"))
                .with_pointer(Pointer::root().key(list).index(index).key(key))
                .with_offset(found.offset());
            if let Some(meant) = nearest(&shown, known.iter().copied()) {
                issue = issue.with_hint(format!("did you mean `{meant}`?"));
            }
            issues.push(issue);
        }
    }
}

/// Whatever changes something is looked at by somebody.
fn review(document: &Json<'_>, issues: &mut Issues) {
    let risk = document.get("risk");
    let reviews = risk.and_then(|risk| risk.get("requires_review")).and_then(Json::as_array);
    if risk.is_none() || reviews.is_none_or(|reviews| !reviews.is_empty()) {
        return;
    }
    let effects = |command: &Json<'_>| {
        texts(command.get("effects"))
            .iter()
            .any(|effect| Effect::parse(effect).is_ok_and(Effect::is_write_like))
    };
    let Some((index, _)) = commands(document).find(|(_, command)| effects(command)) else { return };
    issues.push(
        Issue::new(
            codes::WRITE_WITHOUT_REVIEW,
            format!("command {index} changes something and nobody reviews it"),
        )
        .with_pointer(Pointer::root().key("risk").key("requires_review"))
        .with_offset(risk.unwrap_or(document).offset())
        .with_expected("at least one review"),
    );
}

/// Paths stay inside the repository.
fn paths(document: &Json<'_>, issues: &mut Issues) {
    for place in [["scope", "targets", "files"], ["constraints", "lock_scope", "paths"]] {
        let at = place.iter().fold(Pointer::root(), |at, key| at.key(key));
        for (index, path) in at.find(document).and_then(Json::as_array).unwrap_or_default().iter().enumerate()
        {
            if let Some(Err(issue)) = path.as_str().map(RepoPath::parse) {
                let issue = issue.under(codes::INTENT_PATH);
                issues.push(issue.with_pointer(at.index(index)).with_offset(path.offset()));
            }
        }
    }
}

fn commands<'j, 'a>(document: &'j Json<'a>) -> impl Iterator<Item = (usize, &'j Json<'a>)> {
    document.get("planned_commands").and_then(Json::as_array).unwrap_or_default().iter().enumerate()
}

fn word<'j>(json: &'j Json<'_>, key: &str) -> Option<&'j str> {
    json.get(key).and_then(Json::as_str)
}

fn texts<'j>(list: Option<&'j Json<'_>>) -> Vec<&'j str> {
    list.and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str).collect()
}

//! `countersign policy validate`: one report with everything that is wrong (K5.2).

use std::{convert::Infallible, path::PathBuf};

use countersign_canon::{Code, Issue, Json, Pointer, Position};
use countersign_policy::{Cdcl, Idle, Policy, RuleId, codes, idle_rules};
use countersign_proof::Theorem;

use super::{document::PolicyFile, proved};
use crate::{console::Console, exit::Exit, failure::Failure};

/// Check a policy and print one JSON report with everything that is wrong with it
///
/// Without --strict a condition that looks at what derive rules produce is reported as URM_POLICY_INVALID_SCHEMA.
/// With it, under the firewall's own code, and rules that can never fire or are shadowed come as warnings, which
/// change neither the verdict nor the exit code.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy validate --in policy/odeu.instructions.v1.json
  countersign policy validate --in team.yaml --strict

Exit: 0 valid, 1 invalid, 2 the file could not be read")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML; `-` reads JSON from standard input
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Report the derive firewall under its own code, and rules that cannot matter
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let file = PolicyFile::read(&arguments.input)?;
    let loaded = file.policy();
    let place = |issue: &Issue| match issue.offset {
        // A parser's refusal has no pointer, so it says where in the text it stands.
        Some(offset) if issue.pointer == Pointer::root() => {
            format!("{} at {}", issue.message, Position::of(&file.source.bytes, offset))
        }
        Some(_) | None => issue.message.clone(),
    };
    let (valid, facts, issues) = match &loaded {
        Ok(policy) => {
            let rule_count = u32::try_from(policy.rules().len()).unwrap_or(u32::MAX);
            let facts = vec![
                ("policy_hash", Json::from(policy.hash().to_string())),
                ("rule_count", Json::from(rule_count)),
            ];
            let warnings = if arguments.strict { warnings(policy, &file)? } else { Vec::new() };
            (true, facts, warnings)
        }
        Err(issues) => {
            let issues = issues.iter().map(|issue| {
                let issue = if arguments.strict { issue.clone() } else { without_firewall(issue) };
                row("error", &issue, place(&issue))
            });
            (false, Vec::new(), issues.collect())
        }
    };
    let report = [
        ("schema", Json::from("instruction-policy-validate@1")),
        ("input", Json::from(file.source.name.clone())),
        ("strict", Json::from(arguments.strict)),
        ("valid", Json::from(valid)),
        ("issues", Json::from(issues)),
    ];
    console.data(&Json::object(report.into_iter().chain(facts)).to_pretty())?;
    Ok(if valid { Exit::Yes } else { Exit::No })
}

fn without_firewall(issue: &Issue) -> Issue {
    if issue.code == codes::URM_POLICY_DERIVE_FIREWALL_VIOLATION {
        return issue.clone().under(codes::URM_POLICY_INVALID_SCHEMA);
    }
    issue.clone()
}

/// One row of the report.
fn row(severity: &'static str, issue: &Issue, message: String) -> Json<'static> {
    let members = issue.to_json().as_object().map(|object| object.members().to_vec()).unwrap_or_default();
    let members = members.into_iter().map(|member| (member.key, member.value));
    let own = [("severity".into(), Json::from(severity)), ("message".into(), Json::from(message))];
    Json::object(members.chain(own))
}

/// Rules that cannot matter, in document order: for each of them that is proved, and the certificate checked.
fn warnings(policy: &Policy, file: &PolicyFile) -> Result<Vec<Json<'static>>, Failure> {
    let idle = idle_rules(policy, &mut Cdcl::default()).unwrap_or_else(|never: Infallible| match never {});
    for (rule, idle) in &idle {
        let theorem = match idle {
            Idle::NeverFires => Theorem::NeverFires(rule.rule_id.clone()),
            Idle::Shadowed => Theorem::Shadowed(rule.rule_id.clone()),
        };
        if !proved::holds(&theorem, policy, None)? {
            return Err(proved::disagreement());
        }
    }
    let mut found: Vec<(usize, Json<'static>)> = idle
        .into_iter()
        .map(|(rule, idle)| {
            let index = index_of(file, &rule.rule_id);
            let (code, message, hint): (Code, _, _) = match idle {
                Idle::NeverFires => (
                    codes::RULE_NEVER_FIRES,
                    format!("no context makes rule `{}` match", rule.rule_id),
                    "its condition contradicts itself; correct it or remove the rule",
                ),
                Idle::Shadowed => (
                    codes::RULE_SHADOWED,
                    format!("whenever rule `{}` matches, other rules have settled it already", rule.rule_id),
                    "narrow the other rules, give this one a lower priority number, or remove it",
                ),
            };
            let issue = Issue::new(code, message.clone())
                .with_pointer(Pointer::root().key("rules").index(index))
                .with_hint(hint);
            (index, row("warning", &issue, message))
        })
        .collect();
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, row)| row).collect())
}

/// Where the rule stands in the document.
fn index_of(file: &PolicyFile, id: &RuleId) -> usize {
    let json = file.json().ok();
    let rules = json.as_ref().and_then(|json| json.get("rules")).and_then(Json::as_array).unwrap_or_default();
    rules.iter().position(|rule| rule.get("rule_id").and_then(Json::as_str) == Some(id.as_str())).unwrap_or(0)
}

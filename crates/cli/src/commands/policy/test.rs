//! `countersign policy test`: the examples of a policy and files of cases, run as tests.

use std::{collections::BTreeSet, fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use countersign_canon::{Json, Pointer};
use countersign_policy::{CaseFile, Policy, codes};

use super::document::PolicyFile;
use crate::{console::Console, exit::Exit, failure::Failure, source::Source};

/// Run a policy's examples and files of test cases
///
/// A case file is {"schema": "countersign.policy-cases@1", "cases": [{"name", "context", "expect": {"decision", ...}}]}.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy test policy/odeu.instructions.v1.json
  countersign policy test policy.json cases/*.json --format junit > junit.xml

Exit: 0 all passed, 1 some failed or a document is invalid, 2 a file could not be read")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    policy: PathBuf,
    /// Files of test cases
    cases: Vec<PathBuf>,
    /// For people, for machines, or for a build server
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Junit,
}

/// One test and how it went.
struct Ran {
    group: String,
    name: String,
    failure: Option<String>,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let (policy, mut ran) = examples(&arguments.policy)?;
    for path in &arguments.cases {
        let source = Source::read(path)?;
        let file = match CaseFile::load(&source.bytes) {
            Ok(file) => file,
            Err(issues) => return Err(Failure::Refused { source, issues }),
        };
        let Some(policy) = &policy else { continue };
        ran.extend(file.cases.iter().map(|case| Ran {
            group: source.name.clone(),
            name: case.name.clone(),
            failure: case.failure(policy),
        }));
    }
    let text = match arguments.format {
        Format::Text => text(&ran, policy.is_none() && !arguments.cases.is_empty()),
        Format::Json => json(&ran).to_pretty(),
        Format::Junit => junit(&ran),
    };
    console.data(&text)?;
    Ok(if ran.iter().all(|ran| ran.failure.is_none()) { Exit::Yes } else { Exit::No })
}

/// Runs the examples. Nothing is the policy if one of them fails, because such a policy does not load.
fn examples(path: &std::path::Path) -> Result<(Option<Policy>, Vec<Ran>), Failure> {
    let file = PolicyFile::read(path)?;
    let (policy, issues) = match file.policy() {
        Ok(policy) => (Some(policy), Vec::new()),
        Err(issues) if issues.iter().all(|issue| issue.cause == Some(codes::EXAMPLE_FAILED)) => {
            (None, issues.into_vec())
        }
        Err(issues) => return Err(Failure::Refused { source: file.source, issues }),
    };
    let json = match file.json() {
        Ok(json) => json.into_owned(),
        Err(issues) => return Err(Failure::Refused { source: file.source, issues }),
    };
    let mut ran = Vec::new();
    let rules = json.get("rules").and_then(Json::as_array).unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let id = rule.get("rule_id").and_then(Json::as_str).unwrap_or_default();
        for key in ["match", "no_match"] {
            let here = Pointer::root().key("examples").key(key);
            let count = here.find(rule).and_then(Json::as_array).map_or(0, <[_]>::len);
            for example in 0..count {
                let at = Pointer::root().key("rules").index(index).key("examples").key(key).index(example);
                let failed = issues.iter().find(|issue| issue.pointer == at);
                ran.push(Ran {
                    group: id.to_owned(),
                    name: format!("{key} {example}"),
                    failure: failed.map(|issue| {
                        format!("{}; {}", issue.message, issue.hint.as_deref().unwrap_or_default())
                    }),
                });
            }
        }
    }
    Ok((policy, ran))
}

fn text(ran: &[Ran], cases_skipped: bool) -> String {
    let mut text = String::new();
    for Ran { group, name, failure } in ran {
        if let Some(failure) = failure {
            let _infallible = writeln!(text, "FAILED {group}: {name}\n       {failure}");
        }
    }
    let failed = ran.iter().filter(|ran| ran.failure.is_some()).count();
    let passed = ran.len().saturating_sub(failed);
    let groups: BTreeSet<&str> = ran.iter().map(|ran| ran.group.as_str()).collect();
    let _infallible = writeln!(text, "{passed} passed, {failed} failed, in {} groups", groups.len());
    if cases_skipped {
        text.push_str("the case files were not run: a policy whose examples fail does not load\n");
    }
    text
}

fn json(ran: &[Ran]) -> Json<'static> {
    let tests = ran.iter().map(|ran| {
        let failure = ran.failure.clone().map(|failure| ("failure", Json::from(failure)));
        let members = [
            ("group", Json::from(ran.group.clone())),
            ("name", Json::from(ran.name.clone())),
            ("passed", Json::from(ran.failure.is_none())),
        ];
        Json::object(members.into_iter().chain(failure))
    });
    Json::object([("schema", Json::from("instruction-policy-test@1")), ("tests", Json::array(tests))])
}

/// JUnit's XML, the part that every build server reads.
fn junit(ran: &[Ran]) -> String {
    let failed = ran.iter().filter(|ran| ran.failure.is_some()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites>\n  <testsuite name=\"policy\" tests=\"{}\" failures=\"{failed}\" errors=\"0\" skipped=\"0\">\n",
        ran.len()
    );
    for Ran { group, name, failure } in ran {
        let _infallible = write!(text, "    <testcase classname=\"{}\" name=\"{}\"", xml(group), xml(name));
        let _infallible = match failure {
            None => writeln!(text, "/>"),
            Some(failure) => {
                writeln!(text, ">\n      <failure message=\"{}\"/>\n    </testcase>", xml(failure))
            }
        };
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// Text inside an attribute; characters that XML 1.0 cannot hold become U+FFFD.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

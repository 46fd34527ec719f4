//! The one payload scanner: nothing in a governance document may be something to execute (RL-E1, I1, DE1).

use alloc::{format, string::String};

use crate::{Issue, Issues, Json, Value, code::codes, pointer::Trail};

/// Keys that carry something to execute, with case, `-` and `_` taken out.
const KEYS: [&str; 15] = [
    "execute",
    "exec",
    "eval",
    "run",
    "shell",
    "bash",
    "python",
    "pythoncode",
    "powershell",
    "subprocess",
    "commandline",
    "script",
    "executecommands",
    "subprocesscalls",
    "systemcalls",
];

/// Pieces of text that start something.
const FRAGMENTS: [&str; 8] =
    ["subprocess", "os.system", "eval(", "exec(", "import subprocess", "shell=True", "Popen", ".run("];

/// Finds every key and every text, at any depth, that looks like something to execute.
///
/// # Examples
///
/// ```
/// use countersign_canon::{Json, scan_payload};
///
/// let document = Json::parse(br#"{"steps": [[{"Command-Line": "make"}], "cmd_run_lint"]}"#)?;
/// let found = scan_payload(&document).into_sorted();
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].pointer.to_string(), "/steps/0/0/Command-Line");
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[must_use]
pub fn scan_payload(document: &Json<'_>) -> Issues {
    let mut issues = Issues::new();
    scan(document, &mut Trail::default(), &mut issues);
    issues
}

/// Recursion is bounded: a parsed document is at most `DEPTH_MAX` deep.
fn scan(json: &Json<'_>, trail: &mut Trail, issues: &mut Issues) {
    match &json.value {
        Value::Null | Value::Bool(_) | Value::Number(_) => (),
        Value::String(text) => {
            let fragments: &[&str] = if may_hold_one(text) { &FRAGMENTS } else { &[] };
            let found = fragments.iter().filter(|fragment| text.contains(**fragment));
            issues.extend(found.map(|fragment| {
                refused(format!("the text holds `{fragment}`"), trail)
                    .with_offset(json.offset())
                    .with_hint("describe the effect in words, or name a registry command by its id")
            }));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                trail.push_index(index);
                scan(item, trail, issues);
                trail.pop();
            }
        }
        Value::Object(object) => {
            for member in object.members() {
                trail.push_key(&member.key);
                if is_forbidden_key(&member.key) {
                    issues.push(
                        refused(format!("the key `{}` would carry something to execute", member.key), trail)
                            .with_offset(member.key_offset())
                            .with_hint("remove it; commands are named by registry id in planned_commands"),
                    );
                }
                scan(&member.value, trail, issues);
                trail.pop();
            }
        }
    }
}

/// Whether a fragment may be in the text: all others have a bracket or an equals sign, which few texts have.
fn may_hold_one(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'(' | b'='))
        || ["subprocess", "os.system", "Popen"].iter().any(|fragment| text.contains(fragment))
}

fn refused(message: String, trail: &Trail) -> Issue {
    Issue::new(codes::EXECUTION_PAYLOAD, message)
        .with_pointer(trail.pointer())
        .with_expected("governance data only: no code, no command line, no script")
}

fn is_forbidden_key(key: &str) -> bool {
    KEYS.contains(&plain_key(key).as_str())
}

/// A key with case, `-` and `_` taken out: the one way in which keys are compared with lists.
pub(crate) fn plain_key(key: &str) -> String {
    key.chars().filter(|character| !matches!(character, '-' | '_')).flat_map(char::to_lowercase).collect()
}

//! `permissions.deny` in the settings of Claude Code, which beats everything that a hook or a person allows.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::Json;

use super::{Export, spelled_out};
use crate::{
    denial::{Denials, DeniedPath, Gap, PathUse, Stands},
    table::Host,
};

/// The member that says where the rules come from.
const SOURCE: &str = "$comment";

/// The rules.
pub(super) fn rules(denials: &Denials) -> (Vec<String>, Vec<Gap>) {
    let mut rules = Vec::new();
    for command in &denials.commands {
        rules.extend(spelled_out(&command.words).iter().map(|start| format!("Bash({start}:*)")));
    }
    for option in &denials.options {
        for start in spelled_out(&option.words) {
            rules.extend(option.spellings().iter().map(|spelling| format!("Bash({start} {spelling}:*)")));
            let anywhere = option.names.iter().filter(|_| option.stands == Stands::Anywhere);
            rules.extend(
                anywhere.flat_map(|name| {
                    [format!("Bash({start} * {name})"), format!("Bash({start} * {name} *)")]
                }),
            );
        }
    }
    rules.extend(denials.tools.get(&Host::ClaudeCode).into_iter().flatten().cloned());
    for DeniedPath { glob, used, kind: _ } in &denials.paths {
        let tool = match used {
            PathUse::Read => "Read",
            PathUse::Write => "Edit",
        };
        // Two slashes stand for the root of the file system.
        rules.push(format!("{tool}(//{})", glob.trim_start_matches('/')));
    }
    let is_sayable = |rule: &String| {
        let inner = rule.split_once('(').map_or("", |(_, inner)| inner.strip_suffix(')').unwrap_or(inner));
        !inner.contains(['(', ')', '\\', '\n'])
    };
    let (rules, others): (Vec<String>, Vec<String>) = rules.into_iter().partition(is_sayable);
    let gaps = others.into_iter().map(|rule| Gap::new(rule, "Claude Code's rules do not take these signs"));
    (rules, gaps.collect())
}

/// The rules as settings.
pub(super) fn document(rules: &[String], source: &str) -> String {
    let deny = Json::array(rules.iter().cloned());
    let permissions = Json::object([("deny", deny)]);
    Json::object([(SOURCE, Json::from(String::from(source))), ("permissions", permissions)]).to_pretty()
}

/// Settings may hold more; these rules must be among theirs, from this source.
pub(super) fn drift(wanted: &Export, found: &str) -> Option<String> {
    let (Ok(settings), Ok(exported)) = (Json::parse(found.as_bytes()), Json::parse(wanted.text.as_bytes()))
    else {
        return Some(String::from(found));
    };
    let deny = settings.get("permissions").and_then(|it| it.get("deny")).and_then(Json::as_array);
    let deny: Vec<&str> = deny.unwrap_or_default().iter().filter_map(Json::as_str).collect();
    let kept: Vec<String> =
        wanted.rules.iter().filter(|rule| deny.contains(&rule.as_str())).cloned().collect();
    let source = settings.get(SOURCE).and_then(Json::as_str);
    let is_same = kept.len() == wanted.rules.len() && source == exported.get(SOURCE).and_then(Json::as_str);
    (!is_same).then(|| document(&kept, source.unwrap_or_default()))
}

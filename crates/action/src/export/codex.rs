//! Rules of Codex about commands: a command that starts so is forbidden.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use super::{because, list, quoted};
use crate::{
    Kind,
    denial::{Denials, Gap, PathUse},
    table::Host,
};

/// A file of rules.
pub(super) fn rules(denials: &Denials) -> (Vec<String>, Vec<Gap>) {
    let pattern = |words: &[Vec<String>]| {
        let words = words.iter().map(|names| match names.as_slice() {
            [name] => quoted(name),
            names => list(names),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let rule = |(words, kind): (Vec<Vec<String>>, Kind)| {
        let example: Vec<String> = words.iter().filter_map(|names| names.first()).cloned().collect();
        let parts = [
            format!("pattern = [{}]", pattern(&words)),
            "decision = \"forbidden\"".to_string(),
            format!("justification = {}", quoted(&because(kind))),
            // Codex refuses a file whose examples its rules do not fit.
            format!("match = [{}]", list(&example)),
        ];
        format!("prefix_rule({})\n", parts.join(", "))
    };
    (starts(denials).map(rule).collect(), gaps(denials))
}

/// The same rules as a part of `requirements.toml`.
pub(super) fn requirements(denials: &Denials) -> (Vec<String>, Vec<Gap>) {
    let pattern = |words: &[Vec<String>]| {
        let words = words.iter().map(|names| match names.as_slice() {
            [name] => format!("{{ token = {} }}", quoted(name)),
            names => format!("{{ any_of = {} }}", list(names)),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    let rule = |(words, kind): (Vec<Vec<String>>, Kind)| {
        let justification = quoted(&because(kind));
        let pattern = pattern(&words);
        format!(
            "[[rules.prefix_rules]]\npattern = [{pattern}]\ndecision = \"forbidden\"\njustification = {justification}\n\n"
        )
    };
    (starts(denials).map(rule).collect(), gaps(denials))
}

/// The starts of commands that are refused.
fn starts(denials: &Denials) -> impl Iterator<Item = (Vec<Vec<String>>, Kind)> {
    let commands = denials.commands.iter().map(|command| (command.words.clone(), command.kind));
    let options = denials.options.iter().map(|option| {
        let words = option.words.iter().cloned().chain([option.spellings()]).collect();
        (words, option.kind)
    });
    commands.chain(options)
}

/// What rules about the start of a command cannot say.
fn gaps(denials: &Denials) -> Vec<Gap> {
    let options = denials.options.first().map(|_| {
        Gap::new(
            "an option that is not the first word after its command",
            "these rules see how a command starts",
        )
    });
    let tools = denials.tools.get(&Host::Codex).into_iter().flatten();
    let tools = tools.map(|tool| Gap::new(tool.clone(), "Codex's rules are about commands alone"));
    let paths = denials.paths.iter().map(|path| {
        let used = match path.used {
            PathUse::Read => "reading",
            PathUse::Write => "writing",
        };
        Gap::new(format!("{used} {}", path.glob), "Codex's rules are about commands alone")
    });
    options.into_iter().chain(tools).chain(paths).collect()
}

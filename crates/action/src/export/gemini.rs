//! A policy of Gemini CLI: tools, and starts of command lines.

use alloc::{format, string::String, vec::Vec};

use super::{list, spelled_out};
use crate::{
    denial::{Denials, Gap, PathUse},
    table::Host,
};

/// The tool of Gemini CLI that runs command lines.
const SHELL: &str = "run_shell_command";
/// LIMIT: the most that a policy of a user may claim; of several rules the one with the most counts.
const PRIORITY: &str = "999";

/// The rules.
pub(super) fn rules(denials: &Denials) -> (Vec<String>, Vec<Gap>) {
    let shell = |starts: &[String]| {
        format!(
            "[[rule]]\ntoolName = \"{SHELL}\"\ncommandPrefix = {}\ndecision = \"deny\"\npriority = {PRIORITY}\n\n",
            list(starts)
        )
    };
    let mut rules: Vec<String> =
        denials.commands.iter().map(|command| shell(&spelled_out(&command.words))).collect();
    rules.extend(denials.options.iter().map(|option| {
        let words: Vec<Vec<String>> = option.words.iter().cloned().chain([option.spellings()]).collect();
        shell(&spelled_out(&words))
    }));
    let tools = denials.tools.get(&Host::Gemini).filter(|tools| !tools.is_empty());
    rules.extend(tools.map(|tools| {
        format!("[[rule]]\ntoolName = {}\ndecision = \"deny\"\npriority = {PRIORITY}\n\n", list(tools))
    }));
    let options = denials.options.first().map(|_| {
        Gap::new(
            "an option that is not the first word after its command",
            "these rules see how a command starts",
        )
    });
    let paths = denials.paths.iter().map(|path| {
        let used = match path.used {
            PathUse::Read => "reading",
            PathUse::Write => "writing",
        };
        Gap::new(format!("{used} {}", path.glob), "these rules are about tools and commands")
    });
    (rules, options.into_iter().chain(paths).collect())
}

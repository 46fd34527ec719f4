//! What a table of actions makes of kinds that nothing allows: commands, options, tools and paths that are always refused.
//!
//! Hosts have rules of their own: a list of command starts, of tools, of paths. What is refused whatever else stands in a
//! call can be said in such rules; what depends on more is a gap, and gaps are named.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::Text;

use crate::{
    Kind,
    path::fits,
    table::{
        Act, CommandRule, Host, Label, Labels, OptionRule, OtherOptions, PathRule, Role, Spelling,
        TableDocument, TakesValue, Tool,
    },
};

/// Letters that stand beside others in practice where the table does not name harmless ones.
const UNNAMED_LETTERS: [char; 4] = ['f', 'i', 'q', 'v'];

/// Everything that is always refused, as far as it can be told from the start of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Denials {
    /// Commands.
    pub commands: Vec<DeniedCommand>,
    /// Options of commands that are not refused as such.
    pub options: Vec<DeniedOption>,
    /// Tools of each host.
    pub tools: BTreeMap<Host, Vec<String>>,
    /// Paths.
    pub paths: Vec<DeniedPath>,
    /// What is refused too, and cannot be told so simply.
    pub gaps: Vec<Gap>,
}

/// A command that is refused whatever follows it: at each place one of these words.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedCommand {
    /// The words.
    pub words: Vec<Vec<String>>,
    /// What it is at least.
    pub kind: Kind,
}

/// An option that makes a command refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedOption {
    /// The command: at each place one of these words.
    pub words: Vec<Vec<String>>,
    /// The names of the option.
    pub names: Vec<String>,
    /// A single letter of it beside another one that has no value: `-rf`.
    pub bundles: Vec<String>,
    /// Where it is one.
    pub stands: Stands,
    /// What the command is at least.
    pub kind: Kind,
}

/// Where among the arguments of a command an option is an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stands {
    /// Anywhere.
    Anywhere,
    /// Before the first operand: what follows may belong to another command.
    First,
}

/// A path that may not be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeniedPath {
    /// The pattern: `**` any number of folders, `*` and `?` inside one segment; on the whole path.
    pub glob: String,
    /// What may not be done.
    pub used: PathUse,
    /// What that is.
    pub kind: Kind,
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathUse {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// Something that is refused and that a list of starts cannot say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// What.
    pub what: String,
    /// Why not.
    pub why: &'static str,
}

impl DeniedOption {
    /// Every spelling of it as a word of its own.
    pub(crate) fn spellings(&self) -> Vec<String> {
        self.names.iter().chain(&self.bundles).cloned().collect()
    }
}

impl Gap {
    pub(crate) fn new(what: impl Into<String>, why: &'static str) -> Self {
        Self { what: what.into(), why }
    }
}

/// What is always refused by this table if these kinds are.
#[must_use]
pub fn denials(table: &TableDocument, denied: &BTreeSet<Kind>) -> Denials {
    let mut found = Finder { denied, denials: Denials::default() };
    found.commands(&table.commands, &[]);
    for (host, tools) in &table.tools {
        let names: Vec<String> = tools.iter().flat_map(|tool| found.tool(*host, tool)).collect();
        found.denials.tools.insert(*host, names);
    }
    found.paths(&table.paths);
    found.in_general();
    let mut denials = found.denials;
    denials.gaps.sort();
    denials.gaps.dedup();
    denials
}

struct Finder<'d> {
    denied: &'d BTreeSet<Kind>,
    denials: Denials,
}

impl Finder<'_> {
    fn is_denied(&self, kind: Kind) -> bool {
        self.denied.contains(&kind)
    }

    fn gap(&mut self, what: impl Into<String>, why: &'static str) {
        self.denials.gaps.push(Gap::new(what, why));
    }

    /// Goes through commands and their sub-commands; the depth is that of the document.
    fn commands(&mut self, rules: &[CommandRule], path: &[Vec<String>]) {
        for rule in rules {
            let words: Vec<Vec<String>> = path.iter().cloned().chain([texts(&rule.names)]).collect();
            let inner = rule.commands.as_deref().unwrap_or_default();
            // A sub-command counts instead of its parent, and so does what an option says instead.
            let milder = rule.options.iter().flat_map(|options| options.iter()).filter_map(|it| it.instead);
            let is_whole = inner.is_empty() && milder.clone().all(|kind| self.is_denied(kind));
            if self.is_denied(rule.kind) && is_whole {
                self.denials.commands.push(DeniedCommand { words, kind: rule.kind });
                continue;
            }
            self.partly(rule, &words);
            self.commands(inner, &words);
        }
    }

    /// What of a command is refused that is not refused as such.
    fn partly(&mut self, rule: &CommandRule, words: &[Vec<String>]) {
        let name = shown(words);
        if self.is_denied(rule.kind) {
            self.gap(name.clone(), "some of its sub-commands or options are let through");
        }
        if rule.with_operands.is_some_and(|kind| self.is_denied(kind)) {
            self.gap(name.clone(), "only with operands");
        }
        for prefix in rule.prefixes.iter().flat_map(|prefixes| prefixes.iter()) {
            if self.is_denied(prefix.kind) {
                let what = format!("{name} {}...", prefix.prefix.as_str());
                self.gap(what, "depends on how an operand starts");
            }
        }
        for option in rule.options.iter().flat_map(|options| options.iter()) {
            let by_role = option.role.filter(|role| *role == Role::Code).map(|_| Kind::ShellUnknown);
            let kind = option.kind.max(by_role).filter(|kind| self.is_denied(*kind));
            let Some(kind) = kind else { continue };
            if option.unless.is_some() {
                self.gap(format!("{name} {}", spelled(&option.names)), "depends on the value of the option");
            } else {
                let (words, names) = (words.to_vec(), texts(&option.names));
                let (bundles, stands) = (bundles(rule, option), stands(rule));
                self.denials.options.push(DeniedOption { words, names, bundles, stands, kind });
            }
        }
    }

    /// The names of a tool, if no call of it is let through.
    fn tool(&mut self, host: Host, tool: &Tool) -> Vec<String> {
        let kind = match tool.act {
            Act::Fetch => Kind::NetFetch,
            Act::Mcp => Kind::McpCall,
            Act::Spawn => Kind::AgentSpawn,
            Act::Steer => Kind::TurnSteer,
            Act::SetMode => Kind::SessionSetMode,
            Act::Settings => Kind::FsWriteOutside,
            Act::Note => Kind::FsRead,
            Act::Type => {
                if self.is_denied(Kind::ShellUnknown) {
                    self.gap(format!("{host}: {}", spelled(&tool.names)), "only if something is typed");
                }
                return Vec::new();
            }
            // What these do is in their command lines and paths.
            Act::Shell | Act::Read | Act::Write | Act::Edit | Act::Edits | Act::Patch => return Vec::new(),
        };
        if self.is_denied(kind) { texts(&tool.names) } else { Vec::new() }
    }

    /// Paths: the first pattern that fits counts, so one that has a milder one before it and in it is refused only in part.
    fn paths(&mut self, rules: &[PathRule]) {
        for used in [PathUse::Read, PathUse::Write] {
            let of = |rule: &PathRule| match used {
                PathUse::Read => rule.read,
                PathUse::Write => rule.write,
            };
            let mut milder: Vec<&Label> = Vec::new();
            for rule in rules {
                let Some(kind) = of(rule) else { continue };
                if !self.is_denied(kind) {
                    milder.extend(rule.globs.iter());
                    continue;
                }
                for glob in rule.globs.iter().map(Text::as_str) {
                    let is_everywhere = glob.starts_with('/') || glob.starts_with("**");
                    if !is_everywhere {
                        self.gap(glob, "is meant from the workspace down");
                    } else if milder.iter().any(|milder| fits(glob, milder.as_str())) {
                        self.gap(glob, "some of these paths are let through");
                    } else {
                        self.denials.paths.push(DeniedPath { glob: glob.into(), used, kind });
                    }
                }
            }
        }
    }

    /// What is refused because of what is not known, or of what commands do to paths.
    fn in_general(&mut self) {
        if self.is_denied(Kind::ShellUnknown) {
            let why = "a list of refusals cannot say \"everything else\"";
            self.gap("commands, sub-commands and tools that are not in the table", why);
            self.gap("options that are not in the table, of commands all of whose options must be", why);
            let why = "is seen by a shell grammar, not by the start of a command";
            self.gap("lines that cannot be parsed, function definitions, computed command names", why);
            self.gap("code given inline, on standard input, or from outside the workspace", why);
            self.gap("variables that change what a command does", why);
        }
        if !self.denials.commands.is_empty() || !self.denials.options.is_empty() {
            self.gap(
                "commands named by their folder, or started by another command such as env, sudo, xargs or sh -c",
                "a list of refusals sees the words of a command as they stand",
            );
        }
        if !self.denials.options.is_empty() {
            self.gap(
                "options of a command that stand behind its sub-command",
                "a list of refusals names them in front of it",
            );
            self.gap(
                "options abbreviated, with their value attached, or with more than one other letter",
                "a list of refusals has to name each spelling",
            );
        }
        if self.is_denied(Kind::ShellDestructive) {
            self.gap("deleting outside the workspace", "depends on where the workspace is");
        }
        if self.denied.iter().any(|kind| *kind <= Kind::FsWriteOutside && *kind >= Kind::FsWrite) {
            self.gap("writing in or outside the workspace", "depends on where the workspace is");
        }
    }
}

/// Where the options of a command are its own.
fn stands(rule: &CommandRule) -> Stands {
    let is_own = match rule.operands.unwrap_or(Role::Text) {
        Role::Command | Role::Extended | Role::Enclosed | Role::Script | Role::Subcommand | Role::Line => {
            false
        }
        Role::Text
        | Role::Read
        | Role::Write
        | Role::Delete
        | Role::Copy
        | Role::Code
        | Role::Folder
        | Role::Sed
        | Role::SedWrite
        | Role::Awk
        | Role::Patch
        | Role::Link
        | Role::Archive
        | Role::Suffix
        | Role::Sent
        | Role::Operand
        | Role::Nothing
        | Role::Variables => rule.order.is_none() && rule.commands.is_none(),
    };
    if is_own { Stands::Anywhere } else { Stands::First }
}

/// The single letters of an option, each beside another that has no value.
fn bundles(rule: &CommandRule, option: &OptionRule) -> Vec<String> {
    let has_value = |option: &&OptionRule| option.value.unwrap_or(TakesValue::No) != TakesValue::No;
    if rule.spelling == Some(Spelling::Words) || has_value(&option) {
        return Vec::new();
    }
    let options = || rule.options.iter().flat_map(|options| options.iter());
    let valued: Vec<char> = options().filter(has_value).flat_map(|it| letters(&it.names)).collect();
    let unnamed = if rule.others == Some(OtherOptions::Unknown) { &[][..] } else { &UNNAMED_LETTERS };
    let named = options().flat_map(|option| letters(&option.names));
    let beside: BTreeSet<char> = named.chain(unnamed.iter().copied()).collect();
    let bundled = letters(&option.names).flat_map(|letter| {
        let others = beside.iter().filter(move |other| **other != letter);
        others.map(move |other| (letter, *other))
    });
    let bundled = bundled.filter(|(_, other)| !valued.contains(other));
    let bundled =
        bundled.flat_map(|(letter, other)| [format!("-{letter}{other}"), format!("-{other}{letter}")]);
    bundled.collect::<BTreeSet<String>>().into_iter().collect()
}

/// The single letters among the names of an option.
fn letters(names: &Labels) -> impl Iterator<Item = char> {
    names.iter().filter_map(|name| {
        let mut signs = name.as_str().strip_prefix('-')?.chars();
        signs.next().filter(|sign| sign.is_ascii_alphabetic() && signs.as_str().is_empty())
    })
}

fn texts(names: &Labels) -> Vec<String> {
    names.iter().map(|name| name.as_str().to_string()).collect()
}

fn spelled(names: &Labels) -> String {
    names.iter().map(Text::as_str).collect::<Vec<_>>().join("|")
}

/// Words with their alternatives, for people.
pub(crate) fn shown(words: &[Vec<String>]) -> String {
    words.iter().map(|names| names.join("|")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
pub(crate) mod tests;

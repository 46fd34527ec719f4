//! Which variables of a line hold numbers. Arithmetic evaluates the values of variables as expressions, and an expression can
//! run commands (`a[$(…)]`), so that only what the line itself has set to a number is known to be harmless there.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString as _},
};

use super::argument::{Form, arguments};
use crate::shell::{Command, Compound, Item, List, Part, Pipeline, Simple, Target, Tree, Word};

/// Variables that the shell itself keeps as numbers, and parameters that are.
const NUMBERS: [&str; 14] = [
    "#",
    "?",
    "$",
    "!",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "UID",
    "EUID",
    "PPID",
    "EPOCHSECONDS",
    "COLUMNS",
    "LINES",
];

/// Commands that give variables values that nobody knows.
const SETTERS: [&str; 12] = [
    "read",
    "mapfile",
    "readarray",
    "printf",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "wait",
    "getopts",
    "unset",
];

/// The variables of a line, and whether all that the line gives them is a number.
#[derive(Debug)]
pub(super) struct Numbers {
    names: BTreeMap<String, bool>,
}

impl Numbers {
    pub(super) const fn none() -> Self {
        Self { names: BTreeMap::new() }
    }

    pub(super) fn of(tree: &Tree) -> Self {
        let mut numbers = Self::none();
        numbers.list(&tree.list);
        for document in &tree.here_documents {
            numbers.word(document);
        }
        numbers
    }

    /// Whether arithmetic on this evaluates nothing but numbers.
    pub(super) fn are_all_in(&self, word: &Word) -> bool {
        word.parts.iter().all(|part| match part {
            Part::Bare(text) | Part::Quoted(text) => names_in(text).all(|(name, _)| self.has(name)),
            Part::Variable { name, inner, is_evaluated } => {
                !is_evaluated && self.has(name) && (inner.is_empty() || name == "#")
            }
            Part::Substitution(list) => gives_number(list),
            Part::Arithmetic(word) => self.are_all_in(word),
            Part::Process(_) | Part::Array(_) => false,
        })
    }

    /// The variables that arithmetic sets.
    pub(super) fn set_in(word: &Word) -> impl Iterator<Item = &str> {
        word.parts.iter().flat_map(|part| match part {
            Part::Bare(text) | Part::Quoted(text) => {
                let set = names_in(text).filter(|(_, behind)| sets(behind)).map(|(name, _)| name);
                set.collect::<alloc::vec::Vec<_>>()
            }
            Part::Variable { .. }
            | Part::Substitution(_)
            | Part::Process(_)
            | Part::Arithmetic(_)
            | Part::Array(_) => alloc::vec::Vec::new(),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.names.get(name).copied().unwrap_or_else(|| NUMBERS.contains(&name))
    }

    fn set(&mut self, name: &str, is_number: bool) {
        let known = self.names.entry(name.to_string()).or_insert(true);
        *known = *known && is_number;
    }

    fn list(&mut self, list: &List) {
        for Item { first, rest, .. } in &list.items {
            for Pipeline { commands, .. } in core::iter::once(first).chain(rest.iter().map(|(_, next)| next))
            {
                for command in commands {
                    self.command(command);
                }
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections) => {
                self.compound(compound);
                for redirection in redirections {
                    if let Target::Word(word) = &redirection.target {
                        self.word(word);
                    }
                }
            }
            Command::Function { body, .. } => self.command(body),
        }
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            self.set(&assignment.name, is_number(&assignment.word));
            self.word(&assignment.word);
        }
        let is_setter =
            |word: &Word| arguments(word).iter().any(|found| SETTERS.contains(&found.text.as_str()));
        let sets_any = simple.words.iter().any(is_setter);
        for word in &simple.words {
            if sets_any {
                for argument in arguments(word) {
                    for (name, _) in names_in(&argument.text) {
                        self.set(name, false);
                    }
                }
            }
            self.word(word);
        }
        for redirection in &simple.redirections {
            if let Target::Word(word) = &redirection.target {
                self.word(word);
            }
        }
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Group(list) | Compound::Subshell(list) => self.list(list),
            Compound::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition);
                    self.list(body);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            Compound::Loop { condition, body } => {
                self.list(condition);
                self.list(body);
            }
            Compound::For { name, words, body } => {
                self.set(name, !words.is_empty() && words.iter().all(is_row_of_numbers));
                words.iter().for_each(|word| self.word(word));
                self.list(body);
            }
            Compound::ArithmeticFor { header, body } => {
                self.arithmetic(header);
                self.list(body);
            }
            Compound::Case { subject, arms } => {
                self.word(subject);
                for (patterns, list) in arms {
                    patterns.iter().for_each(|word| self.word(word));
                    self.list(list);
                }
            }
            Compound::Arithmetic(word) => self.arithmetic(word),
            Compound::Test(words) => words.iter().for_each(|word| self.word(word)),
        }
    }

    /// What arithmetic sets is a number.
    fn arithmetic(&mut self, word: &Word) {
        let set: alloc::vec::Vec<String> = Self::set_in(word).map(String::from).collect();
        set.iter().for_each(|name| self.set(name, true));
        self.word(word);
    }

    fn word(&mut self, word: &Word) {
        for part in &word.parts {
            match part {
                Part::Bare(_) | Part::Quoted(_) => (),
                Part::Variable { name, inner, .. } => {
                    // `${x:=…}` sets it.
                    let is_plain = |word: &Word| !matches!(word.parts.as_slice(), [Part::Arithmetic(_)]);
                    if inner.iter().any(is_plain) && name != "#" {
                        self.set(name, false);
                    }
                    inner.iter().for_each(|word| self.word(word));
                }
                Part::Substitution(list) | Part::Process(list) => self.list(list),
                Part::Arithmetic(word) => self.arithmetic(word),
                Part::Array(words) => words.iter().for_each(|word| self.word(word)),
            }
        }
    }
}

/// The names in a text, each with what stands behind it; not the letters of a number such as `0x1f`.
fn names_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        loop {
            let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '#' | '@');
            rest = rest.trim_start_matches(|letter| !is_word(letter));
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at_checked(end)?;
            rest = behind;
            if !word.starts_with(|letter: char| letter.is_ascii_digit()) {
                return Some((word, behind));
            }
        }
    })
}

/// Whether an expression sets the name that stands before this.
fn sets(behind: &str) -> bool {
    let behind = behind.trim_start();
    let operator = behind.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
    operator.starts_with('=') && !operator.starts_with("==")
}

/// Whether what `name=…` sets is a number.
fn is_number(assignment: &Word) -> bool {
    let Some((Part::Bare(first), rest)) = assignment.parts.split_first() else { return false };
    let Some((name, value)) = first.split_once('=') else { return false };
    !name.contains('[') && is_digits(value) && rest.iter().all(is_number_part)
}

fn is_number_part(part: &Part) -> bool {
    match part {
        Part::Bare(text) | Part::Quoted(text) => is_digits(text),
        Part::Variable { name, inner, is_evaluated } => {
            !is_evaluated && inner.is_empty() && NUMBERS.contains(&name.as_str())
        }
        Part::Substitution(list) => gives_number(list),
        Part::Arithmetic(_) => true,
        Part::Process(_) | Part::Array(_) => false,
    }
}

fn is_digits(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word of `for` stands for numbers only: `7`, `{1..9}`, `$(seq 9)`.
fn is_row_of_numbers(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Bare(text)] => {
            let range = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            range.map_or_else(|| is_digits(text), |range| range.split([',', '.']).all(is_digits))
        }
        [part] => is_number_part(part),
        _ => false,
    }
}

/// Whether a substitution is one of the commands whose output is a number, or several.
fn gives_number(list: &List) -> bool {
    let [Item { first: Pipeline { commands, .. }, rest, .. }] = list.items.as_slice() else { return false };
    let ([Command::Simple(Simple { words, assignments, .. })], true) = (commands.as_slice(), rest.is_empty())
    else {
        return false;
    };
    let given: alloc::vec::Vec<_> = words.iter().flat_map(arguments).collect();
    if !assignments.is_empty() || given.iter().any(|argument| argument.form != Form::Exact) {
        return false;
    }
    let texts: alloc::vec::Vec<&str> = given.iter().map(|argument| argument.text.as_str()).collect();
    match texts.as_slice() {
        ["nproc"] | ["wc", "-l" | "-c" | "-w"] | ["date", "+%s" | "+%s%N" | "+%s%3N"] => true,
        ["seq", numbers @ ..] => numbers.iter().all(|number| is_digits(number)),
        _ => false,
    }
}

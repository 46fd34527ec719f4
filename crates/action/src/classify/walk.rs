//! The way through a syntax tree, keeping track of folders and of the worst kind so far.

use alloc::{string::String, vec::Vec};

use super::{
    FINDINGS_MAX, Finding,
    argument::{Argument, all_arguments, arguments, single},
    cwds::Cwds,
    numbers::Numbers,
};
use crate::{
    Kind,
    path::{Place, fits_segment},
    shell::{
        Assignment, Command, Compound, Condition, Item, List, Operator, Part, Pipeline, Redirection, Simple,
        Target, Tree, Word,
    },
    table::Table,
};

/// Judges one line, and the lines inside it.
pub(super) struct Judge<'t> {
    pub(super) table: &'t Table,
    pub(super) place: &'t Place,
    /// How many lines this one stands in.
    pub(super) lines: u32,
    /// Whether a command went to another folder where that was not expected.
    pub(super) has_moved: bool,
    findings: Vec<Finding>,
    documents: Vec<Word>,
    numbers: Numbers,
}

/// What a command is, and where the shell may be after it.
struct Outcome {
    kind: Kind,
    success: Cwds,
    failure: Cwds,
}

impl Outcome {
    fn staying(kind: Kind, cwds: &Cwds) -> Self {
        Self { kind, success: cwds.clone(), failure: cwds.clone() }
    }

    fn cwds(self) -> Cwds {
        self.success.or(&self.failure)
    }
}

impl<'t> Judge<'t> {
    pub(super) const fn new(table: &'t Table, place: &'t Place) -> Self {
        Self {
            table,
            place,
            lines: 0,
            has_moved: false,
            findings: Vec::new(),
            documents: Vec::new(),
            numbers: Numbers::none(),
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        let mut findings = self.findings;
        findings.sort();
        findings.dedup();
        findings
    }

    /// Notes what a part of the line is.
    pub(super) fn find(&mut self, kind: Kind, at: usize, part: &str, reason: &str) -> Kind {
        let is_worse = self.findings.iter().all(|finding| finding.kind < kind);
        if self.findings.len() < FINDINGS_MAX || is_worse {
            let part = part.chars().take(80).collect();
            self.findings.push(Finding { at, kind, part, reason: reason.into() });
        }
        kind
    }

    /// Judges a tree whose here-documents are its own.
    pub(super) fn tree(&mut self, tree: &Tree, cwds: &Cwds) -> Kind {
        let documents = core::mem::replace(&mut self.documents, tree.here_documents.clone());
        let numbers = core::mem::replace(&mut self.numbers, Numbers::of(tree));
        let kind = self.list(&tree.list, cwds).kind;
        (self.documents, self.numbers) = (documents, numbers);
        kind
    }

    fn list(&mut self, list: &List, cwds: &Cwds) -> Outcome {
        let mut outcome = Outcome::staying(Kind::ShellRead, cwds);
        for item in &list.items {
            let before = outcome.success.clone().or(&outcome.failure);
            let next = self.item(item, &before);
            let kind = outcome.kind.max(next.kind);
            // What runs in the background leaves the shell where it is.
            outcome =
                if item.is_background { Outcome::staying(kind, &before) } else { Outcome { kind, ..next } };
        }
        outcome
    }

    fn item(&mut self, item: &Item, cwds: &Cwds) -> Outcome {
        let mut outcome = self.pipeline(&item.first, cwds);
        for (condition, pipeline) in &item.rest {
            let next = match condition {
                Condition::Success => {
                    let next = self.pipeline(pipeline, &outcome.success);
                    Outcome { failure: next.failure.or(&outcome.failure), ..next }
                }
                Condition::Failure => {
                    let next = self.pipeline(pipeline, &outcome.failure);
                    Outcome { success: next.success.or(&outcome.success), ..next }
                }
            };
            outcome = Outcome { kind: outcome.kind.max(next.kind), ..next };
        }
        outcome
    }

    fn pipeline(&mut self, pipeline: &Pipeline, cwds: &Cwds) -> Outcome {
        let outcome = match pipeline.commands.as_slice() {
            [command] => self.command(command, cwds),
            commands => {
                // Each command of a pipeline runs in a shell of its own.
                let kinds = commands.iter().map(|command| self.command(command, cwds).kind);
                Outcome::staying(kinds.max().unwrap_or(Kind::ShellRead), cwds)
            }
        };
        if pipeline.is_negated {
            return Outcome { kind: outcome.kind, success: outcome.failure, failure: outcome.success };
        }
        outcome
    }

    fn command(&mut self, command: &Command, cwds: &Cwds) -> Outcome {
        match command {
            Command::Simple(simple) => self.simple(simple, cwds),
            Command::Compound(compound, redirections) => {
                let mut outcome = self.compound(compound, cwds);
                for redirection in redirections {
                    let kind = self.redirection(redirection, cwds);
                    let inner = self.inner_of_redirection(redirection, cwds);
                    outcome.kind = outcome.kind.max(kind);
                    outcome.kind = self.with_inner(outcome.kind, inner, redirection.at, "redirection");
                }
                outcome
            }
            Command::Function { name, .. } => {
                let shown = single(name).text;
                let reason = "a function gives a name another meaning";
                Outcome::staying(self.find(Kind::ShellUnknown, name.at, &shown, reason), cwds)
            }
        }
    }

    fn compound(&mut self, compound: &Compound, cwds: &Cwds) -> Outcome {
        match compound {
            Compound::Group(list) => self.list(list, cwds),
            Compound::Subshell(list) => Outcome::staying(self.list(list, cwds).kind, cwds),
            Compound::If { branches, otherwise } => {
                let mut kind = Kind::ShellRead;
                let mut after = cwds.clone();
                let mut before = cwds.clone();
                for (condition, body) in branches {
                    let tested = self.list(condition, &before);
                    let done = self.list(body, &tested.success);
                    kind = kind.max(tested.kind).max(done.kind);
                    before = tested.failure;
                    after = after.or(&done.cwds());
                }
                if let Some(otherwise) = otherwise {
                    let done = self.list(otherwise, &before);
                    kind = kind.max(done.kind);
                    after = after.or(&done.cwds());
                }
                Outcome::staying(kind, &after.or(&before))
            }
            Compound::Loop { condition, body } => self.repeated(&[condition, body], cwds),
            Compound::For { name, words, body } => {
                let kind = self
                    .words(words, "for", cwds)
                    .max(self.variable(name, words.first().map_or(0, |word| word.at)));
                let outcome = self.repeated(&[body], cwds);
                Outcome { kind: outcome.kind.max(kind), ..outcome }
            }
            Compound::ArithmeticFor { header, body } => {
                let kind = self.words(core::slice::from_ref(header), "((", cwds).max(self.arithmetic(header));
                let outcome = self.repeated(&[body], cwds);
                Outcome { kind: outcome.kind.max(kind), ..outcome }
            }
            Compound::Case { subject, arms } => {
                let mut kind = self.words(core::slice::from_ref(subject), "case", cwds);
                let mut after = cwds.clone();
                for (patterns, list) in arms {
                    // An arm may fall through to the next one.
                    let done = self.list(list, &after);
                    kind = kind.max(self.words(patterns, "case", cwds)).max(done.kind);
                    after = after.or(&done.cwds());
                }
                Outcome::staying(kind, &after)
            }
            Compound::Arithmetic(word) => {
                let kind = self.words(core::slice::from_ref(word), "((", cwds).max(self.arithmetic(word));
                Outcome::staying(kind, cwds)
            }
            Compound::Test(words) => Outcome::staying(self.words(words, "[[", cwds), cwds),
        }
    }

    /// Judges what runs again and again: if it goes anywhere, it may start from there.
    fn repeated(&mut self, lists: &[&List], cwds: &Cwds) -> Outcome {
        let moves = lists.iter().any(|list| goes_elsewhere(list));
        let mut now = if moves { cwds.clone().or(&Cwds::anywhere()) } else { cwds.clone() };
        let mut kind = Kind::ShellRead;
        for list in lists {
            let outcome = self.list(list, &now);
            kind = kind.max(outcome.kind);
            now = outcome.cwds();
        }
        Outcome::staying(kind, &now.or(cwds))
    }

    fn simple(&mut self, simple: &Simple, cwds: &Cwds) -> Outcome {
        let given = all_arguments(&simple.words);
        let shown = shown(&given);
        self.has_moved = false;
        let mut kind = self.assignments(&simple.assignments);
        let redirected =
            simple.redirections.iter().map(|redirection| self.redirection(redirection, cwds)).max();
        kind = kind.max(redirected.unwrap_or(Kind::ShellRead));
        let destination = destination(&given);
        if destination.is_none() {
            let stdin = self.stdin(&simple.redirections);
            kind = kind.max(self.invocation(&given, stdin.as_ref(), simple.at, cwds));
        }
        let mut inner = None;
        for word in simple.assignments.iter().map(|assignment| &assignment.word).chain(&simple.words) {
            inner = inner.max(self.inner(word, cwds));
        }
        for redirection in &simple.redirections {
            inner = inner.max(self.inner_of_redirection(redirection, cwds));
        }
        kind = self.with_inner(kind, inner, simple.at, &shown);
        match destination {
            Some(to) => Outcome { kind, success: to.cwds(cwds, self.place), failure: cwds.clone() },
            None if self.has_moved => Outcome::staying(kind, &Cwds::anywhere()),
            None => Outcome::staying(kind, cwds),
        }
    }

    /// A substitution that does more than the command it stands in hides it.
    fn with_inner(&mut self, kind: Kind, inner: Option<Kind>, at: usize, shown: &str) -> Kind {
        match inner {
            Some(inner) if inner > kind => {
                let reason =
                    alloc::format!("a substitution in it is {inner}, which is worse than the command");
                self.find(Kind::ShellUnknown, at, shown, &reason)
            }
            Some(_) | None => kind,
        }
    }

    /// Judges words that are not a command's.
    fn words(&mut self, words: &[Word], shown: &str, cwds: &Cwds) -> Kind {
        let mut kind = Kind::ShellRead;
        for word in words {
            let inner = self.inner(word, cwds);
            kind = kind.max(self.with_inner(Kind::ShellRead, inner, word.at, shown));
            if hides_code(word) {
                let reason = "an index in it holds a command, which the shell would run";
                kind = kind.max(self.find(Kind::ShellUnknown, word.at, shown, reason));
            }
        }
        kind
    }

    fn assignments(&mut self, assignments: &[Assignment]) -> Kind {
        let mut kind = Kind::ShellRead;
        for assignment in assignments {
            kind = kind.max(self.variable(&assignment.name, assignment.word.at));
            let text = single(&assignment.word).text;
            if has_open_index(&text) {
                let reason = "the index is evaluated, which runs what its value holds";
                kind = kind.max(self.find(Kind::ShellUnknown, assignment.word.at, &text, reason));
            }
            if hides_code(&assignment.word) {
                let reason = "the value holds a command in an index, which arithmetic would run";
                kind = kind.max(self.find(Kind::ShellUnknown, assignment.word.at, &assignment.name, reason));
            }
        }
        kind
    }

    /// Judges an expression: the values of its variables are expressions in turn, and may run commands.
    fn arithmetic(&mut self, word: &Word) -> Kind {
        let set = Numbers::set_in(word).find(|name| self.is_governing(name)).map(String::from);
        if let Some(name) = set {
            return self.variable(&name, word.at);
        }
        if self.numbers.are_all_in(word) {
            return Kind::ShellRead;
        }
        let shown = single(word).text;
        let reason = "arithmetic evaluates the value of a variable that the line has not set to a number";
        self.find(Kind::ShellUnknown, word.at, &shown, reason)
    }

    /// Judges the setting of a variable.
    pub(super) fn variable(&mut self, name: &str, at: usize) -> Kind {
        if self.is_governing(name) {
            return self.find(Kind::ShellUnknown, at, name, "this variable changes what commands do");
        }
        Kind::ShellRead
    }

    fn is_governing(&self, name: &str) -> bool {
        self.table.variables.iter().any(|pattern| fits_segment(pattern.as_str(), name))
    }

    /// What the substitutions in a word are, if it has any.
    fn inner(&mut self, word: &Word, cwds: &Cwds) -> Option<Kind> {
        let mut worst = None;
        for part in &word.parts {
            let found = match part {
                Part::Bare(_) | Part::Quoted(_) => None,
                Part::Substitution(list) | Part::Process(list) => Some(self.list(list, cwds).kind),
                Part::Arithmetic(word) => {
                    let found = self.inner(word, cwds);
                    found.max(Some(self.arithmetic(word)).filter(|kind| *kind > Kind::ShellRead))
                }
                Part::Array(words) => self.inner_of(words, cwds),
                Part::Variable { name, inner, is_evaluated } => {
                    let found = self.inner_of(inner, cwds);
                    let sets = !inner.is_empty() && self.is_governing(name);
                    if *is_evaluated || sets || inner.iter().any(hides_code) {
                        let reason =
                            "the value of the variable is evaluated, or one that governs commands is set";
                        found.max(Some(self.find(Kind::ShellUnknown, word.at, name, reason)))
                    } else {
                        found
                    }
                }
            };
            worst = worst.max(found);
        }
        worst
    }

    fn inner_of(&mut self, words: &[Word], cwds: &Cwds) -> Option<Kind> {
        let mut worst = None;
        for word in words {
            worst = worst.max(self.inner(word, cwds));
        }
        worst
    }

    fn inner_of_redirection(&mut self, redirection: &Redirection, cwds: &Cwds) -> Option<Kind> {
        match &redirection.target {
            Target::Word(word) => self.inner(word, cwds),
            Target::HereDocument(place) => {
                let document = self.documents.get(*place).cloned()?;
                self.inner(&document, cwds)
            }
        }
    }

    /// What a command reads from its standard input, if the line says so.
    fn stdin(&self, redirections: &[Redirection]) -> Option<Argument> {
        let last = redirections.iter().rfind(|redirection| {
            matches!(redirection.operator, Operator::HereDocument | Operator::HereString | Operator::Read)
        })?;
        match (&last.target, last.operator) {
            (Target::HereDocument(place), _) => self.documents.get(*place).map(single),
            (Target::Word(word), Operator::HereString) => Some(single(word)),
            (Target::Word(_), _) => None,
        }
    }
}

/// Where `cd` goes.
struct Destination<'g> {
    to: Option<&'g Argument>,
    is_known: bool,
}

impl Destination<'_> {
    fn cwds(&self, cwds: &Cwds, place: &Place) -> Cwds {
        if self.is_known { cwds.after_going(self.to, place) } else { Cwds::anywhere() }
    }
}

/// Takes `cd`, `pushd` and `popd` as what they are; options and `-` go somewhere that is not known.
fn destination(given: &[Argument]) -> Option<Destination<'_>> {
    let (name, rest) = given.split_first()?;
    match (name.known()?, rest) {
        ("cd", []) => Some(Destination { to: None, is_known: true }),
        ("cd", [to]) if !to.may_be_option() && to.known() != Some("-") => {
            Some(Destination { to: Some(to), is_known: true })
        }
        ("cd" | "pushd" | "popd", _) => Some(Destination { to: None, is_known: false }),
        _ => None,
    }
}

/// Whether any command in a list might change the folder.
fn goes_elsewhere(list: &List) -> bool {
    let in_command = |command: &Command| match command {
        Command::Simple(simple) => simple.words.iter().any(|word| {
            arguments(word).iter().any(|found| matches!(found.text.as_str(), "cd" | "pushd" | "popd"))
        }),
        Command::Compound(compound, _) => match &**compound {
            Compound::Group(list) | Compound::Subshell(list) => goes_elsewhere(list),
            Compound::If { branches, otherwise } => {
                branches.iter().any(|(condition, body)| goes_elsewhere(condition) || goes_elsewhere(body))
                    || otherwise.as_ref().is_some_and(goes_elsewhere)
            }
            Compound::Loop { condition, body } => goes_elsewhere(condition) || goes_elsewhere(body),
            Compound::For { body, .. } | Compound::ArithmeticFor { body, .. } => goes_elsewhere(body),
            Compound::Case { arms, .. } => arms.iter().any(|(_, list)| goes_elsewhere(list)),
            Compound::Arithmetic(_) | Compound::Test(_) => false,
        },
        Command::Function { .. } => true,
    };
    let pipelines = list
        .items
        .iter()
        .flat_map(|item| core::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)));
    pipelines.flat_map(|pipeline| &pipeline.commands).any(in_command)
}

/// Whether a text in the word would run a command once it is taken for the name of a variable.
fn hides_code(word: &Word) -> bool {
    word.parts.iter().any(|part| match part {
        Part::Quoted(text) => text_hides_code(text),
        Part::Array(words) => words.iter().any(hides_code),
        Part::Bare(_)
        | Part::Variable { .. }
        | Part::Substitution(_)
        | Part::Process(_)
        | Part::Arithmetic(_) => false,
    })
}

/// Whether `name[index]=…` has an index that is not plainly a number, so that it is evaluated.
pub(super) fn has_open_index(assignment: &str) -> bool {
    let name = assignment.split('=').next().unwrap_or_default();
    name.split_once('[').is_some_and(|(_, index)| {
        !index.trim_end_matches(['+', ']']).bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a text has an index with a command in it.
pub(super) fn text_hides_code(text: &str) -> bool {
    text.split_once('[').is_some_and(|(_, index)| index.contains("$(") || index.contains('`'))
}

/// The command for people.
pub(super) fn shown(given: &[Argument]) -> String {
    let words: Vec<&str> = given.iter().take(12).map(|argument| argument.text.as_str()).collect();
    words.join(" ")
}

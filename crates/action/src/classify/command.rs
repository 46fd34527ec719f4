//! The arguments of one command, read by its rule: options, their values, operands.

mod value;

use alloc::vec::Vec;

use super::{
    argument::{Argument, Form},
    cwds::Cwds,
    effect::Use,
    invocation::Call,
    walk::{Judge, has_open_index, text_hides_code},
};
use crate::{
    Kind,
    path::fits_segment,
    shell::is_name,
    table::{
        CommandRule, Commands, Evaluates, OptionRule, Order, OtherOptions, Role, Skip, Spelling, TakesValue,
    },
};

/// What is known of a call while its arguments are read.
pub(super) struct Reading<'r> {
    rule: &'r CommandRule,
    commands: &'r Commands,
    call: Call<'r>,
    shown: &'r str,
    /// The options of the commands that this is a sub-command of.
    outer: &'r [OptionRule],
    cwds: Cwds,
    /// What the command is at least.
    kind: Kind,
    /// What it is instead of what the rule says.
    instead: Option<Kind>,
    /// What the operands are.
    role: Role,
    operands: Vec<Argument>,
    /// Whether an option has given the program, so that no operand is it.
    has_program: bool,
    /// Whether it was said which paths are written: if not, it is the folder that the command runs in.
    names_paths: bool,
}

/// How to go on after an argument.
enum Next<'g> {
    /// With these.
    Arguments(&'g [Argument]),
    /// Not at all: the rest belonged to another command, which is this.
    Done(Kind),
    /// Not at all: the rest belonged to a sub-command, which is this and counts instead of its parent.
    Narrowed(Kind),
}

impl<'r> Reading<'r> {
    pub(super) fn new(
        rule: &'r CommandRule,
        commands: &'r Commands,
        call: Call<'r>,
        (shown, outer): (&'r str, &'r [OptionRule]),
    ) -> Self {
        Self {
            rule,
            commands,
            call,
            shown,
            outer,
            cwds: call.cwds.clone(),
            kind: Kind::FsRead,
            instead: None,
            role: rule.operands.unwrap_or(Role::Text),
            operands: Vec::new(),
            has_program: false,
            names_paths: false,
        }
    }

    /// Reads all arguments and says what the command is.
    pub(super) fn read(mut self, judge: &mut Judge<'_>, given: &[Argument]) -> Kind {
        let mut rest = given;
        if self.rule.evaluates == Some(Evaluates::Names) && asks_for_open_name(given) {
            self.unknown(judge, "the name of a variable is not a literal, and its index would be evaluated");
        }
        if let (Some(Spelling::Bundled), Some((first, after))) = (self.rule.spelling, given.split_first())
            && !first.may_be_option()
        {
            rest = self.bundle(judge, first, after);
        }
        let mut options_ended = false;
        while let Some((argument, after)) = rest.split_first() {
            let is_late = self.rule.order == Some(Order::OptionsFirst) && !self.operands.is_empty();
            let is_option = !options_ended && !is_late && argument.may_be_option();
            let next = if is_option && argument.known() == Some("--") {
                options_ended = true;
                let dashes = self.matching("--").cloned();
                if let Some(rule) = dashes {
                    self.option(judge, &rule, None);
                }
                Next::Arguments(after)
            } else if is_option {
                self.option_word(judge, argument, after)
            } else {
                self.operand(judge, argument, rest, after)
            };
            match next {
                Next::Arguments(after) => rest = after,
                Next::Done(kind) => return self.total().max(kind),
                Next::Narrowed(kind) => return self.kind.max(kind),
            }
        }
        let done = self.finish(judge);
        let kind = self.total().max(done);
        kind.max(self.here(judge, kind))
    }

    /// What changes files and does not say which changes the folder that it runs in.
    fn here(&self, judge: &mut Judge<'_>, kind: Kind) -> Kind {
        let changes = matches!(kind, Kind::ShellWrite | Kind::FsDelete | Kind::PkgInstall);
        if !changes || self.names_paths {
            return Kind::FsRead;
        }
        judge.path(&Argument::exact("."), Use::Write, self.call.at, &self.cwds)
    }

    /// Reads `xzf a b`: every letter is an option, and their values are the words that follow.
    fn bundle<'g>(
        &mut self,
        judge: &mut Judge<'_>,
        letters: &Argument,
        after: &'g [Argument],
    ) -> &'g [Argument] {
        let mut rest = after;
        for letter in letters.text.chars() {
            let Some(rule) = self.matching(&alloc::format!("-{letter}")).cloned() else {
                self.unknown(judge, "an option is not in the table");
                continue;
            };
            let (value, behind) = match (rule.value, rest.split_first()) {
                (Some(TakesValue::Required), Some((value, behind))) => (Some(value), behind),
                _ => (None, rest),
            };
            rest = behind;
            self.option(judge, &rule, value);
        }
        if letters.known().is_none() {
            self.unknown(judge, "its options are not known beforehand");
        }
        rest
    }

    fn total(&self) -> Kind {
        self.kind.max(self.instead.unwrap_or(self.rule.kind))
    }

    fn unknown(&mut self, judge: &mut Judge<'_>, reason: &str) {
        self.kind = self.kind.max(judge.find(Kind::ShellUnknown, self.call.at, self.shown, reason));
    }

    fn options(&self) -> &'r [OptionRule] {
        self.rule.options.as_deref().unwrap_or_default()
    }

    fn matching(&self, name: &str) -> Option<&'r OptionRule> {
        self.options().iter().find(|rule| rule.names.iter().any(|known| known.as_str() == name))
    }

    /// Takes an operand, or hands over to the command that it names.
    fn operand<'g>(
        &mut self,
        judge: &mut Judge<'_>,
        operand: &Argument,
        rest: &'g [Argument],
        after: &'g [Argument],
    ) -> Next<'g> {
        let is_past = self.operands.len() >= self.skip();
        if is_past && !self.commands.is_empty() && self.role != Role::Script {
            return Next::Narrowed(self.subcommand(judge, operand, after));
        }
        let inner = Call { cwds: &self.cwds, stdin: None, ..self.call };
        match self.role {
            Role::Command if is_past => Next::Done(judge.wrapped(rest, inner)),
            Role::Extended if is_past => {
                let mut given: Vec<Argument> =
                    rest.iter().map(|found| found.with_placeholder(Form::Open)).collect();
                given.push(Argument::open());
                Next::Done(judge.wrapped(&given, inner))
            }
            Role::Script if is_past => {
                let kind = self.script(judge, operand);
                Next::Done(kind)
            }
            Role::Text
            | Role::Read
            | Role::Write
            | Role::Delete
            | Role::Copy
            | Role::Script
            | Role::Code
            | Role::Line
            | Role::Command
            | Role::Extended
            | Role::Enclosed
            | Role::Subcommand
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
            | Role::Variables => {
                self.operands.push(operand.clone());
                Next::Arguments(after)
            }
        }
    }

    /// Judges the sub-command that an argument names.
    fn subcommand(&self, judge: &mut Judge<'_>, name: &Argument, rest: &[Argument]) -> Kind {
        let found = name.known().and_then(|name| self.commands.find(name));
        let Some((rule, commands)) = found else {
            let reason = "the sub-command is not in the table";
            return judge.find(Kind::ShellUnknown, self.call.at, self.shown, reason);
        };
        let outer: Vec<OptionRule> = self.options().iter().chain(self.outer).cloned().collect();
        judge.rule(rule, commands, rest, Call { cwds: &self.cwds, ..self.call }, (self.shown, &outer))
    }

    /// Code in a file of the workspace is part of the project; any other code is not known.
    fn script(&self, judge: &mut Judge<'_>, file: &Argument) -> Kind {
        let paths = self.cwds.resolve(file, judge.place).filter(|_| file.form == Form::Exact);
        let is_inside = paths.is_some_and(|paths| {
            paths.folders.iter().all(|path| judge.place.workspace.relative(path).is_some())
        });
        // `-` is standard input, and what starts with `+` is an option to some.
        if is_inside && file.known() != Some("-") && !file.text.starts_with('+') {
            return Kind::ShellWrite;
        }
        judge.find(
            Kind::ShellUnknown,
            self.call.at,
            self.shown,
            "the code that it runs is not in the workspace",
        )
    }

    fn option_word<'g>(
        &mut self,
        judge: &mut Judge<'_>,
        argument: &Argument,
        after: &'g [Argument],
    ) -> Next<'g> {
        let text = argument.text.as_str();
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(Argument { text: value.into(), ..argument.clone() })),
            None => (text, None),
        };
        let is_cut = argument.form == Form::Open && attached.is_none();
        match self.rule.spelling.unwrap_or(Spelling::Letters) {
            Spelling::Letters | Spelling::Bundled if text.starts_with("--") => {
                if is_cut {
                    return self.anything(judge, argument, after);
                }
                let exact = self.matching(name);
                let abbreviated = || {
                    self.options()
                        .iter()
                        .filter(|rule| rule.names.iter().any(|known| known.as_str().starts_with(name)))
                };
                let mut found: Vec<OptionRule> = match exact {
                    Some(rule) => Vec::from([rule.clone()]),
                    None => abbreviated().cloned().collect(),
                };
                if found.is_empty() {
                    // What a command takes before its sub-command it mostly takes behind it too.
                    let fits = |rule: &&OptionRule| rule.names.iter().any(|known| known.as_str() == name);
                    found.extend(self.outer.iter().find(fits).cloned());
                }
                self.matched(judge, &found, attached, after)
            }
            Spelling::Letters | Spelling::Bundled => self.letters(judge, argument, after),
            Spelling::Words => {
                if is_cut {
                    return self.anything(judge, argument, after);
                }
                let bare = name.trim_start_matches('-');
                let fits = |rule: &&OptionRule| {
                    rule.names.iter().any(|known| known.as_str().trim_start_matches('-') == bare)
                };
                let found: Vec<OptionRule> = self.options().iter().filter(fits).cloned().collect();
                self.matched(judge, &found, attached, after)
            }
        }
    }

    /// Carries out the options that a word stands for; of an abbreviation that fits several, all of them.
    fn matched<'g>(
        &mut self,
        judge: &mut Judge<'_>,
        found: &[OptionRule],
        attached: Option<Argument>,
        after: &'g [Argument],
    ) -> Next<'g> {
        if found.is_empty() && self.rule.others == Some(OtherOptions::Unknown) {
            self.unknown(judge, "an option is not in the table");
        }
        if let (true, Some(value)) = (found.is_empty(), &attached) {
            // Nobody has said what it is for: it may be a file.
            self.value(judge, Role::Read, value);
        }
        let mut next = after;
        for rule in found {
            let is_next = rule.value == Some(TakesValue::Required) && attached.is_none();
            let value = if is_next { after.first().cloned() } else { attached.clone() };
            if is_next {
                next = after.get(1..).unwrap_or_default();
            }
            match rule.role {
                Some(Role::Enclosed) => {
                    let (command, rest) = Judge::enclosed(after);
                    let kind = judge.wrapped(&command, Call { cwds: &self.cwds, stdin: None, ..self.call });
                    self.kind = self.kind.max(kind);
                    next = rest;
                }
                Some(Role::Subcommand) => {
                    let Some(name) = value else { continue };
                    return Next::Narrowed(self.subcommand(judge, &name, next));
                }
                Some(_) | None => self.option(judge, rule, value.as_ref()),
            }
        }
        Next::Arguments(next)
    }

    /// Reads `-abc`.
    fn letters<'g>(&mut self, judge: &mut Judge<'_>, argument: &Argument, after: &'g [Argument]) -> Next<'g> {
        let mut letters = argument.text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            let found = self.matching(&alloc::format!("-{letter}")).cloned();
            let Some(rule) = found else {
                if self.rule.others == Some(OtherOptions::Unknown) {
                    self.unknown(judge, "an option is not in the table");
                }
                continue;
            };
            if matches!(rule.value, None | Some(TakesValue::No)) {
                self.option(judge, &rule, None);
                continue;
            }
            let rest = letters.as_str();
            let rest = rest.strip_prefix('=').unwrap_or(rest);
            let attached = (!rest.is_empty() || argument.form == Form::Open)
                .then(|| Argument { text: rest.into(), ..argument.clone() });
            return self.matched(judge, &[rule], attached, after);
        }
        if argument.form == Form::Open {
            return self.anything(judge, argument, after);
        }
        Next::Arguments(after)
    }

    /// An argument that might be any option counts as the worst of them, and as an operand.
    fn anything<'g>(
        &mut self,
        judge: &mut Judge<'_>,
        argument: &Argument,
        after: &'g [Argument],
    ) -> Next<'g> {
        let worst = self.options().iter().map(worst_of_option).max().unwrap_or(Kind::FsRead);
        let worst = if self.rule.others == Some(OtherOptions::Unknown) { Kind::ShellUnknown } else { worst };
        if worst > Kind::ShellRead {
            let reason = "an argument that is not known beforehand might be an option";
            self.kind = self.kind.max(judge.find(worst, self.call.at, self.shown, reason));
        }
        self.operand(judge, argument, &[], after)
    }

    /// Carries out one option.
    fn option(&mut self, judge: &mut Judge<'_>, rule: &OptionRule, value: Option<&Argument>) {
        let excuses = rule.unless.as_deref().unwrap_or_default();
        let is_excused = value
            .and_then(Argument::known)
            .is_some_and(|value| excuses.iter().any(|excuse| fits_segment(excuse.as_str(), value)));
        if let Some(kind) = rule.kind.filter(|_| !is_excused) {
            self.kind = self.kind.max(judge.find(kind, self.call.at, self.shown, "by an option"));
        }
        if let Some(instead) = rule.instead {
            self.instead = Some(self.instead.map_or(instead, |before| before.max(instead)));
        }
        if let Some(role) = rule.operands {
            self.role = role;
        }
        if let (Some(Role::Operand), Some(value)) = (rule.role, value) {
            self.operands.push(value.clone());
        } else if let (Some(role), Some(value)) = (rule.role, value) {
            self.has_program = self.has_program || matches!(role, Role::Sed | Role::Awk | Role::Script);
            self.value(judge, role, value);
        }
    }

    /// Judges the operands once all of them are there.
    fn finish(&mut self, judge: &mut Judge<'_>) -> Kind {
        let operands = core::mem::take(&mut self.operands);
        let mut kind = Kind::FsRead;
        if !operands.is_empty() {
            kind = self.rule.with_operands.unwrap_or(kind);
        }
        if operands.len() > 1 {
            kind = kind.max(self.rule.with_more.unwrap_or(kind));
        }
        for operand in &operands {
            kind = kind.max(self.prefix(judge, operand));
            if self.rule.evaluates == Some(Evaluates::Names) && text_hides_code(&operand.text) {
                let reason = "an index in it holds a command, which the shell would run";
                kind = kind.max(judge.find(Kind::ShellUnknown, self.call.at, self.shown, reason));
            }
        }
        let at = self.call.at;
        let last = operands.len().saturating_sub(1);
        match self.role {
            // Without a command there is nothing to run; without a script, code comes from standard input.
            Role::Script => {
                let reason = "it reads code from its standard input";
                return kind.max(judge.find(Kind::ShellUnknown, at, self.shown, reason));
            }
            Role::Line if operands.is_empty() => {
                let reason = "the line that it runs is not there";
                return kind.max(judge.find(Kind::ShellUnknown, at, self.shown, reason));
            }
            Role::Patch => {
                let patch = operands.first().or(self.call.stdin);
                return kind.max(Self::patch(judge, patch, at, &self.cwds));
            }
            Role::Text
            | Role::Command
            | Role::Extended
            | Role::Read
            | Role::Write
            | Role::Delete
            | Role::Copy
            | Role::Code
            | Role::Line
            | Role::Enclosed
            | Role::Subcommand
            | Role::Folder
            | Role::Sed
            | Role::SedWrite
            | Role::Awk
            | Role::Link
            | Role::Archive
            | Role::Suffix
            | Role::Sent
            | Role::Operand
            | Role::Nothing
            | Role::Variables => (),
        }
        for (index, operand) in operands.iter().enumerate() {
            let role = self.role_of(index, last);
            self.value(judge, role, operand);
        }
        kind
    }

    /// How many operands stand before those that are judged.
    fn skip(&self) -> usize {
        match self.rule.skip {
            None => 0,
            Some(Skip::One) => 1,
            Some(Skip::Two) => 2,
        }
    }

    /// What the operand with this index is.
    fn role_of(&self, index: usize, last: usize) -> Role {
        if index < self.skip() && self.role != Role::Command {
            return Role::Text;
        }
        let is_program = index == 0 && !self.has_program;
        if self.role == Role::Line && index > 0 {
            return Role::Text;
        }
        if self.role == Role::Copy {
            return if index == last { Role::Write } else { Role::Read };
        }
        if matches!(self.role, Role::Sed | Role::Awk) && !is_program {
            return Role::Read;
        }
        if self.role == Role::SedWrite && !is_program {
            return Role::Write;
        }
        self.role
    }

    fn prefix(&self, judge: &mut Judge<'_>, operand: &Argument) -> Kind {
        let rules = self.rule.prefixes.as_deref().unwrap_or_default();
        let text = operand.text.to_ascii_lowercase();
        let fitting = rules.iter().filter(|rule| {
            let prefix = rule.prefix.as_str().to_ascii_lowercase();
            if prefix.contains('*') {
                return fits_segment(&prefix, &text) || operand.form == Form::Open && text.is_empty();
            }
            let may_go_on = operand.form == Form::Open && prefix.starts_with(&text);
            text.starts_with(&prefix) || may_go_on
        });
        match fitting.map(|rule| rule.kind).max() {
            Some(kind) => judge.find(kind, self.call.at, &operand.text, "by how the operand starts"),
            None => Kind::FsRead,
        }
    }
}

/// What an option could make of a command at worst.
fn worst_of_option(rule: &OptionRule) -> Kind {
    let by_role = |role: Role| match role {
        Role::Text | Role::Read | Role::Folder => Kind::FsRead,
        Role::Write | Role::Copy | Role::Link | Role::Suffix => Kind::FsWriteOutside,
        Role::Sent => Kind::Deploy,
        Role::Delete => Kind::ShellDestructive,
        Role::Script
        | Role::Code
        | Role::Line
        | Role::Command
        | Role::Extended
        | Role::Enclosed
        | Role::Subcommand
        | Role::Sed
        | Role::SedWrite
        | Role::Awk
        | Role::Patch
        | Role::Archive
        | Role::Operand
        | Role::Nothing
        | Role::Variables => Kind::ShellUnknown,
    };
    let roles = [rule.role, rule.operands].into_iter().flatten().map(by_role);
    roles.chain(rule.kind).max().unwrap_or(Kind::FsRead)
}

/// Whether `-v` asks for a variable by a name that is not plainly there.
fn asks_for_open_name(given: &[Argument]) -> bool {
    given.windows(2).any(|pair| match pair {
        [option, name] => matches!(option.known(), Some("-v" | "-R")) && !name.known().is_some_and(is_name),
        _ => false,
    })
}

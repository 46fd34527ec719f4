//! From a name to the rule of the table, and from there to what is run in turn.

use alloc::{string::String, vec::Vec};

use super::{
    argument::{Argument, Form},
    command::Reading,
    cwds::Cwds,
    walk::{Judge, shown},
};
use crate::{
    Kind,
    path::AbsolutePath,
    shell::{is_name, parse_line},
    table::{CommandRule, Commands, OptionRule},
};

/// LIMIT: lines in lines, such as `sh -c "sh -c …"`.
const LINES_MAX: u32 = 6;

/// Everything about a call but its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) at: usize,
    pub(super) cwds: &'c Cwds,
    /// The text on standard input, if the line gives it.
    pub(super) stdin: Option<&'c Argument>,
    /// How many commands this one is the argument of.
    pub(super) depth: u32,
}

impl Judge<'_> {
    /// Judges a command with its arguments.
    pub(super) fn invocation(
        &mut self,
        given: &[Argument],
        stdin: Option<&Argument>,
        at: usize,
        cwds: &Cwds,
    ) -> Kind {
        self.call(given, Call { at, cwds, stdin, depth: 0 })
    }

    pub(super) fn call(&mut self, given: &[Argument], call: Call<'_>) -> Kind {
        let Some((name, rest)) = given.split_first() else { return Kind::ShellRead };
        if call.depth > LINES_MAX {
            return self.find(
                Kind::ShellUnknown,
                call.at,
                &shown(given),
                "commands stand in commands too deeply",
            );
        }
        let Some(known) = name.known() else {
            let reason = "the name of the command is not a literal";
            return self.find(Kind::ShellUnknown, call.at, &shown(given), reason);
        };
        if matches!(known, "cd" | "pushd" | "popd") {
            self.has_moved = true;
            return Kind::ShellRead;
        }
        let table = self.table;
        let Some(found) = self.plain_name(known, call.cwds).and_then(|name| table.command(&name)) else {
            let reason = "the command is not in the table";
            return self.find(Kind::ShellUnknown, call.at, &shown(given), reason);
        };
        let (rule, commands) = &*found;
        self.rule(rule, commands, rest, call, (&shown(given), &[]))
    }

    /// Judges by a rule, and notes the outcome.
    pub(super) fn rule(
        &mut self,
        rule: &CommandRule,
        commands: &Commands,
        rest: &[Argument],
        call: Call<'_>,
        (shown, outer): (&str, &[OptionRule]),
    ) -> Kind {
        let kind = Reading::new(rule, commands, call, (shown, outer)).read(self, rest);
        self.find(kind, call.at, shown, "by the table")
    }

    /// The name that the table knows a command by: a path counts only where programs are installed.
    fn plain_name(&self, name: &str, cwds: &Cwds) -> Option<String> {
        if !name.contains('/') {
            return Some(name.into());
        }
        let Some((_, base)) = name.rsplit_once('/').filter(|_| name.starts_with('/')) else {
            // `./gradlew` is itself, where the agent works.
            let is_inside = !cwds.is_anywhere
                && cwds.folders.iter().all(|folder| self.place.workspace.relative(folder).is_some());
            return is_inside.then(|| name.into());
        };
        let path = AbsolutePath::parse(name).ok()?;
        let folder = path.as_str().strip_suffix(base)?;
        let is_installed = self.table.folders.iter().any(|known| {
            folder.strip_suffix('/').is_some_and(|folder| folder == known.as_str().trim_end_matches('/'))
        });
        is_installed.then(|| base.into())
    }

    /// Judges the arguments of a command that runs another one.
    pub(super) fn wrapped(&mut self, given: &[Argument], call: Call<'_>) -> Kind {
        let is_assignment = |argument: &&Argument| {
            argument.text.split_once('=').is_some_and(|(name, _)| is_name(name))
                && argument.form != Form::Data
        };
        let count = given.iter().take_while(is_assignment).count();
        let (assignments, given) = given.split_at_checked(count).unwrap_or((given, &[]));
        let mut kind = Kind::ShellRead;
        for assignment in assignments {
            let name = assignment.text.split('=').next().unwrap_or_default();
            kind = kind.max(self.variable(name, call.at));
        }
        kind.max(self.call(given, Call { depth: call.depth.saturating_add(1), ..call }))
    }

    /// Judges a text that a shell will read.
    pub(super) fn line(&mut self, code: &Argument, call: Call<'_>) -> Kind {
        let Some(text) = code.known() else {
            let reason = "the code for the shell is not a literal";
            return self.find(Kind::ShellUnknown, call.at, &code.text, reason);
        };
        if self.lines >= LINES_MAX {
            return self.find(Kind::ShellUnknown, call.at, text, "lines stand in lines too deeply");
        }
        match parse_line(text) {
            Ok(tree) => {
                self.lines = self.lines.saturating_add(1);
                let kind = self.tree(&tree, call.cwds);
                self.lines = self.lines.saturating_sub(1);
                kind
            }
            Err(issue) => {
                let reason = alloc::format!("cannot be parsed: {issue} ({})", issue.code);
                self.find(Kind::ShellUnknown, call.at, text, &reason)
            }
        }
    }

    /// Splits a row of arguments at the `;` that ends a command inside it, or the `+` behind `{}`.
    pub(super) fn enclosed(given: &[Argument]) -> (Vec<Argument>, &[Argument]) {
        let mut is_behind_braces = false;
        let end = given.iter().position(|argument| {
            let is_end = match argument.known() {
                Some(";") => true,
                Some("+") => is_behind_braces,
                Some(_) | None => false,
            };
            is_behind_braces = argument.known() == Some("{}");
            is_end
        });
        let (command, rest) = given.split_at_checked(end.unwrap_or(given.len())).unwrap_or((given, &[]));
        let command = command.iter().map(|argument| argument.with_placeholder(Form::Data)).collect();
        (command, rest.get(1..).unwrap_or_default())
    }
}

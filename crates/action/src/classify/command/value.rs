//! What one value of a command is: a path, a program, a line, a patch, a variable.

use super::{Reading, has_open_index, text_hides_code};
use crate::{
    Kind,
    classify::{
        argument::{Argument, Form},
        cwds::Cwds,
        effect::Use,
        invocation::Call,
        sed,
        walk::Judge,
    },
    patch::Patch,
    shell::is_name,
    table::Role,
};

/// Pieces of an awk program that run commands or open files.
const AWK_REFUSED: [&str; 8] = ["system", "|", ">", "getline", "@", "ENVIRON", "ARGV", "ARGC"];

impl Reading<'_> {
    /// Judges one value by what it is.
    pub(super) fn value(&mut self, judge: &mut Judge<'_>, role: Role, value: &Argument) {
        let call = Call { cwds: &self.cwds, stdin: None, ..self.call };
        self.names_paths =
            self.names_paths || matches!(role, Role::Write | Role::Delete | Role::Archive | Role::Link);
        let kind = match role {
            Role::Text | Role::Copy | Role::Enclosed | Role::Subcommand | Role::Operand => Kind::FsRead,
            Role::Read => judge.path(value, Use::Read, call.at, &self.cwds),
            Role::Write => judge.path(value, Use::Write, call.at, &self.cwds),
            Role::Delete => judge.path(value, Use::Delete, call.at, &self.cwds),
            Role::Link if value.text.split('/').any(|segment| segment == "..") => {
                // It leads up from where the link is, not from here.
                judge.find(Kind::FsWriteOutside, call.at, &value.text, "a link that leads up")
            }
            Role::Link => judge.path(value, Use::Write, call.at, &self.cwds),
            Role::Archive if value.text.contains(':') => {
                judge.find(Kind::ShellUnknown, call.at, &value.text, "a file of another machine")
            }
            Role::Archive => judge.path(value, Use::Write, call.at, &self.cwds),
            Role::Suffix if value.text.contains(['/', '*']) || value.form == Form::Open => {
                judge.find(Kind::ShellUnknown, call.at, &value.text, "the end of a name that leads elsewhere")
            }
            Role::Suffix => Kind::FsRead,
            Role::Sent => {
                let is_file = value.text.split(['=', ':']).next().is_some_and(|head| head.contains('@'));
                if is_file || value.form == Form::Open && value.text.is_empty() {
                    judge.find(Kind::Deploy, call.at, &value.text, "sends a file away")
                } else {
                    Kind::FsRead
                }
            }
            Role::Nothing => {
                judge.find(Kind::ShellUnknown, call.at, &value.text, "an operand that is not expected")
            }
            Role::Script => self.script(judge, value),
            Role::Line => judge.line(value, call),
            Role::Code | Role::Command | Role::Extended => {
                judge.find(Kind::ShellUnknown, call.at, self.shown, "code is given on the command line")
            }
            Role::Sed | Role::SedWrite => Self::program(judge, value, call.at, sed::is_harmless),
            Role::Awk => Self::program(judge, value, call.at, is_harmless_awk),
            Role::Folder => {
                self.cwds = self.cwds.after_going(Some(value), judge.place);
                Kind::FsRead
            }
            Role::Patch => Self::patch(judge, Some(value), call.at, &self.cwds),
            Role::Variables => variable(judge, value, call.at),
        };
        self.kind = self.kind.max(kind);
    }

    fn program(judge: &mut Judge<'_>, program: &Argument, at: usize, is_harmless: fn(&str) -> bool) -> Kind {
        // A pattern that the shell might expand is almost always meant for the program.
        let known = program.known().or_else(|| (program.form == Form::Glob).then_some(program.text.as_str()));
        match known {
            Some(text) if is_harmless(text) => Kind::FsRead,
            Some(_) => judge.find(
                Kind::ShellUnknown,
                at,
                &program.text,
                "the program may run commands or open files",
            ),
            None => judge.find(Kind::ShellUnknown, at, &program.text, "the program is not a literal"),
        }
    }

    pub(super) fn patch(judge: &mut Judge<'_>, patch: Option<&Argument>, at: usize, cwds: &Cwds) -> Kind {
        let Some(patch) = patch.and_then(Argument::known).and_then(|text| Patch::parse(text).ok()) else {
            return judge.find(Kind::ShellUnknown, at, "apply_patch", "the patch is not known beforehand");
        };
        let mut worst = Kind::ShellRead;
        for (path, is_deleted) in patch.touched() {
            let used = if is_deleted { Use::Delete } else { Use::Write };
            worst = worst.max(judge.path(&Argument::exact(path), used, at, cwds));
        }
        worst
    }
}

/// Judges `NAME=VALUE` or `NAME`.
fn variable(judge: &mut Judge<'_>, argument: &Argument, at: usize) -> Kind {
    let name = argument.text.split(['=', '+', '[']).next().unwrap_or_default();
    if text_hides_code(&argument.text) {
        let reason = "an index in it holds a command, which the shell would run";
        return judge.find(Kind::ShellUnknown, at, &argument.text, reason);
    }
    if argument.form == Form::Open && !argument.text.contains('=') || !is_name(name) {
        return judge.find(
            Kind::ShellUnknown,
            at,
            &argument.text,
            "the name of the variable is not a literal",
        );
    }
    if has_open_index(&argument.text) {
        let reason = "the index is evaluated, which runs what its value holds";
        return judge.find(Kind::ShellUnknown, at, &argument.text, reason);
    }
    judge.variable(name, at)
}

fn is_harmless_awk(program: &str) -> bool {
    AWK_REFUSED.iter().all(|refused| !program.contains(refused))
}

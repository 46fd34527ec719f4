//! What reading, writing and deleting a path means.

use alloc::string::String;

use super::{
    argument::{Argument, single},
    cwds::Cwds,
    walk::Judge,
};
use crate::{
    Kind,
    path::{AbsolutePath, Place, fits},
    shell::{Operator, Redirection, Target},
    table::{PathRule, Table},
};

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    Delete,
}

/// The kinds of a use that no rule of the table speaks about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain {
    pub(crate) inside: Kind,
    pub(crate) outside: Kind,
}

impl Table {
    /// What a use of this path is: as the first rule says that fits, or plainly.
    pub(crate) fn use_of(&self, place: &Place, path: &AbsolutePath, used: Use, plain: Plain) -> Kind {
        let relative = place.workspace.relative(path);
        let said = |rule: &PathRule| match used {
            Use::Read => rule.read,
            Use::Write => rule.write,
            Use::Delete => rule.delete,
        };
        let fitting = self.paths.iter().filter(|rule| {
            rule.globs.iter().any(|glob| {
                let glob = glob.as_str();
                if glob.starts_with('/') || glob.starts_with("**") {
                    fits(glob, path.as_str())
                } else {
                    relative.is_some_and(|relative| fits(glob, relative))
                }
            })
        });
        let plainly = if relative.is_some() { plain.inside } else { plain.outside };
        fitting.filter_map(said).next().unwrap_or(plainly)
    }
}

impl Judge<'_> {
    /// Judges one use of a path.
    pub(super) fn path(&mut self, argument: &Argument, used: Use, at: usize, cwds: &Cwds) -> Kind {
        let plain = match used {
            Use::Read => Plain { inside: Kind::ShellRead, outside: Kind::ShellRead },
            Use::Write => Plain { inside: Kind::ShellWrite, outside: Kind::FsWriteOutside },
            Use::Delete => Plain { inside: Kind::FsDelete, outside: Kind::ShellDestructive },
        };
        let Some(paths) = cwds.resolve(argument, self.place) else {
            if plain.outside == Kind::ShellRead {
                return Kind::ShellRead;
            }
            return self.find(plain.outside, at, &argument.text, "the path is not known beforehand");
        };
        let mut worst = Kind::ShellRead;
        for path in &paths.folders {
            let mut kind = self.table.use_of(self.place, path, used, plain);
            let holds_all = path.relative(&self.place.workspace).is_some();
            if used == Use::Delete && holds_all {
                kind = kind.max(Kind::ShellDestructive);
            }
            worst = worst.max(kind);
        }
        let does = match used {
            Use::Read => "reads",
            Use::Write => "writes",
            Use::Delete => "deletes",
        };
        let reason: String = alloc::format!("{does} this path");
        self.find(worst, at, &argument.text, &reason)
    }

    /// Judges where a command reads from and writes to.
    pub(super) fn redirection(&mut self, redirection: &Redirection, cwds: &Cwds) -> Kind {
        let Target::Word(word) = &redirection.target else { return Kind::ShellRead };
        let target = single(word);
        let is_descriptor = target.known().is_some_and(|text| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            !text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        let used = match redirection.operator {
            Operator::Read => Use::Read,
            Operator::Write | Operator::Append | Operator::ReadWrite => Use::Write,
            Operator::DuplicateOutput if !is_descriptor => Use::Write,
            Operator::DuplicateInput if !is_descriptor => Use::Read,
            Operator::DuplicateInput
            | Operator::DuplicateOutput
            | Operator::HereDocument
            | Operator::HereString => return Kind::ShellRead,
        };
        self.path(&target, used, redirection.at, cwds)
    }
}

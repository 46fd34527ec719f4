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
        let whole = path.as_str().to_ascii_lowercase();
        let inside = relative.map(str::to_ascii_lowercase);
        let fitting = self.paths.iter().filter(|rule| {
            rule.globs.iter().any(|glob| {
                let glob = glob.as_str().to_ascii_lowercase();
                if glob.starts_with('/') || glob.starts_with("**") {
                    fits(&glob, &whole)
                } else {
                    inside.as_deref().is_some_and(|inside| fits(&glob, inside))
                }
            })
        });
        let holding = self.paths.iter().filter(|rule| {
            rule.globs.iter().any(|glob| leads_through(&glob.as_str().to_ascii_lowercase(), &whole))
        });
        // A folder on the way to what the rules speak about: moving it, linking to it or copying into it is as good. Looking
        // into it is meant where it belongs to the user and not to the project.
        let on_the_way = match (used, relative.is_some()) {
            (Use::Read, true) => None,
            (Use::Read, false) | (Use::Delete, _) | (Use::Write, false) => holding.filter_map(said).max(),
            (Use::Write, true) => holding.filter_map(said).max().map(|kind| kind.min(Kind::FsWriteOutside)),
        };
        let on_the_way = on_the_way.unwrap_or(Kind::FsRead);
        let plainly = if relative.is_some() { plain.inside } else { plain.outside };
        fitting.filter_map(said).next().unwrap_or(plainly).max(on_the_way)
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
        // `/dev/stderr` and the like open again, for writing, what a descriptor was opened for: also if only for reading.
        let is_plain_input = redirection.descriptor.trim_start_matches('0').is_empty();
        if redirection.operator == Operator::DuplicateOutput && target.known() == Some("0") {
            return self.find(Kind::ShellUnknown, redirection.at, ">&0", "writes to what is read");
        }
        let used = match redirection.operator {
            Operator::Read if is_plain_input => Use::Read,
            Operator::Read => Use::Write,
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

/// Whether a pattern that holds anywhere names this folder on its way down: `**/.claude/settings.json` leads through `.claude`.
fn leads_through(glob: &str, path: &str) -> bool {
    let mut rest = glob;
    while let Some((folder, _)) = rest.rsplit_once('/') {
        if matches!(folder, "" | "**") || !folder.starts_with("**") {
            return false;
        }
        if !folder.ends_with("**") && fits(folder, path) {
            return true;
        }
        rest = folder;
    }
    false
}

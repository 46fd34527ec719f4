//! Changes of files, the same whichever tool makes them.

use alloc::{string::String, vec::Vec};

use countersign_canon::Json;

use super::{Evidence, blob};
use crate::{
    Kind,
    classify::{Plain, Use},
    patch::{Change, Hunk, Patch},
    path::{AbsolutePath, Place},
    table::Table,
};

/// Changes of files, in order.
#[derive(Debug)]
pub(super) struct Changes(Vec<FileChange>);

#[derive(Debug)]
struct FileChange {
    path: Spot,
    /// The new place of a file that moves.
    to: Option<Spot>,
    does: Does,
}

/// A file: where it is, or what it was called if nobody knows.
#[derive(Debug)]
enum Spot {
    Known(AbsolutePath),
    Unknown(String),
}

#[derive(Debug)]
enum Does {
    Write(String),
    Edit(Vec<Edit>),
    Delete,
}

#[derive(Debug)]
struct Edit {
    old: String,
    new: String,
    all: bool,
    heading: Option<String>,
    is_at_end: bool,
}

impl Spot {
    fn of(path: &str, place: &Place) -> Self {
        place.resolve(path).map_or_else(|| Self::Unknown(path.into()), Self::Known)
    }

    fn name(&self, place: &Place) -> Json<'static> {
        match self {
            Self::Known(path) => Json::from(place.name(path)),
            Self::Unknown(path) => Json::from(path.clone()),
        }
    }

    fn kind(&self, used: Use, table: &Table, place: &Place) -> Kind {
        let plain = match used {
            Use::Read => Plain { inside: Kind::FsRead, outside: Kind::FsRead },
            Use::Write => Plain { inside: Kind::FsWrite, outside: Kind::FsWriteOutside },
            Use::Delete => Plain { inside: Kind::FsDelete, outside: Kind::ShellDestructive },
        };
        match self {
            Self::Known(path) => table.use_of(place, path, used, plain),
            Self::Unknown(_) => plain.outside,
        }
    }
}

impl Changes {
    pub(super) fn write(path: &str, content: String, place: &Place) -> Self {
        let does = Does::Write(content);
        Self(Vec::from([FileChange { path: Spot::of(path, place), to: None, does }]))
    }

    /// Replacements of one file; to replace nothing is to write the file.
    pub(super) fn edit(path: &str, edits: Vec<(String, String, bool)>, place: &Place) -> Self {
        let does = match edits.as_slice() {
            [(old, new, _)] if old.is_empty() => Does::Write(new.clone()),
            _ => Does::Edit(
                edits
                    .into_iter()
                    .map(|(old, new, all)| Edit { old, new, all, heading: None, is_at_end: false })
                    .collect(),
            ),
        };
        Self(Vec::from([FileChange { path: Spot::of(path, place), to: None, does }]))
    }

    pub(super) fn of_patch(patch: &Patch, place: &Place) -> Self {
        let files = patch.files.iter().map(|file| {
            let (to, does) = match &file.change {
                Change::Add(text) => (None, Does::Write(text.clone())),
                Change::Delete => (None, Does::Delete),
                Change::Update { to, hunks } => {
                    (to.as_deref(), Does::Edit(hunks.iter().map(Edit::of).collect()))
                }
            };
            FileChange { path: Spot::of(&file.path, place), to: to.map(|to| Spot::of(to, place)), does }
        });
        Self(files.collect())
    }

    /// The most severe kind of all changes.
    pub(super) fn kind(&self, table: &Table, place: &Place) -> Kind {
        let kinds = self.0.iter().flat_map(|change| {
            let used = match change.does {
                Does::Write(_) | Does::Edit(_) => Use::Write,
                Does::Delete => Use::Delete,
            };
            let to = change.to.as_ref().map(|to| to.kind(Use::Write, table, place));
            core::iter::once(change.path.kind(used, table, place)).chain(to)
        });
        kinds.max().unwrap_or(Kind::FsWrite)
    }

    pub(super) fn to_json(&self, place: &Place, evidence: &mut Vec<Evidence>) -> Json<'static> {
        let changes = self.0.iter().map(|change| {
            let (word, detail) = match &change.does {
                Does::Write(text) => ("write", Some(("content", blob(text, evidence)))),
                Does::Edit(edits) => {
                    let edits: Vec<Json<'static>> = edits.iter().map(|edit| edit.to_json(evidence)).collect();
                    ("edit", Some(("edits", Json::from(edits))))
                }
                Does::Delete => ("delete", None),
            };
            let to = change.to.as_ref().map(|to| ("to", to.name(place)));
            let members = [("change", Json::from(word)), ("path", change.path.name(place))];
            Json::object(members.into_iter().chain(detail).chain(to))
        });
        Json::array(changes.collect::<Vec<_>>())
    }
}

impl Edit {
    /// A hunk ends with a line break on both sides, which a replacement of texts does not say.
    fn of(hunk: &Hunk) -> Self {
        let Hunk { heading, old, new, is_at_end } = hunk;
        let (old, new) = match (old.strip_suffix('\n'), new.strip_suffix('\n')) {
            (Some(old), Some(new)) => (old, new),
            (Some(_) | None, Some(_) | None) => (old.as_str(), new.as_str()),
        };
        Self { old: old.into(), new: new.into(), all: false, heading: heading.clone(), is_at_end: *is_at_end }
    }

    fn to_json(&self, evidence: &mut Vec<Evidence>) -> Json<'static> {
        let Self { old, new, all, heading, is_at_end } = self;
        let members = [("old", blob(old, evidence)), ("new", blob(new, evidence))];
        let all = all.then(|| ("all", Json::from(true)));
        let heading = heading.as_ref().map(|heading| ("heading", Json::from(heading.clone())));
        let end = is_at_end.then(|| ("at_end", Json::from(true)));
        Json::object(members.into_iter().chain(all).chain(heading).chain(end))
    }
}

//! Where a plan may be written: nowhere in a source tree, however the way there is spelt (DE2).

use std::{
    io::ErrorKind,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use countersign_canon::{Issue, Json};
use countersign_dryrun::without_times;

use crate::{
    dry_run::git_index::GitIndex,
    effects::{files, folder, tree},
    failure::codes,
};

/// A folder that holds no source: links and `..` are resolved, and no git index around it tracks files where it lies.
#[derive(Debug)]
pub(crate) struct OutFolder {
    // INVARIANT: passed `OutFolder::find`.
    path: PathBuf,
}

/// What became of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is there now.
    New,
    /// It was there already, but for the time it was made.
    Before,
}

impl OutFolder {
    /// Resolves the folder, which need not be there yet, and looks into every git index around it.
    ///
    /// # Errors
    ///
    /// Fails with a `DE2_` code if it lies in a source tree, or if that cannot be told.
    pub(crate) fn find(path: &Path) -> Result<Self, Issue> {
        let path = resolved(path)?;
        for root in path.ancestors() {
            if let Some(index) = git_folder(root)? {
                judge(&path, root, &index)?;
            }
        }
        Ok(Self { path })
    }

    /// Puts a document there, whole or not at all, and never over a different one.
    ///
    /// # Errors
    ///
    /// Fails with `DRY_RUN_OUT_EXISTS` if another document has its name, else with why it could not be written.
    pub(crate) fn put(&self, name: &str, document: &Json<'_>) -> Result<(PathBuf, Written), Issue> {
        let path = self.path.join(name);
        if folder::put_new(&path, &document.to_pretty())? {
            return Ok((path, Written::New));
        }
        let there = files::read(&path)?;
        let is_same = Json::parse(&there).is_ok_and(|there| without_times(&there) == without_times(document));
        if is_same {
            return Ok((path, Written::Before));
        }
        let message = format!("`{}` is there and holds something else", path.display());
        Err(Issue::new(codes::DRY_RUN_OUT_EXISTS, message)
            .with_hint("choose another folder, or move the file away"))
    }
}

fn refused(message: String) -> Issue {
    Issue::new(codes::DE2_OUT_IN_SOURCE_TREE, message)
        .with_expected("a folder in which no file of a git index lies")
        .with_hint("choose a folder outside the repository")
}

fn unclear(message: String) -> Issue {
    Issue::new(codes::DE2_INDEX_UNREADABLE, message).with_hint("choose a folder outside the repository")
}

/// The path without links and relative parts, as far as it is there; what is not there yet is taken as it is spelt.
fn resolved(path: &Path) -> Result<PathBuf, Issue> {
    let absolute = tree::absolute(path).map_err(|error| unclear(format!("`{}`: {error}", path.display())))?;
    let mut out = PathBuf::new();
    for part in absolute.components() {
        if part == Component::ParentDir {
            out.pop();
            continue;
        }
        out.push(part);
        match tree::canonical(&out) {
            Ok(real) => out = real,
            Err(_) if tree::kind(&out).is_ok_and(|kind| kind == tree::Kind::Symlink) => {
                return Err(refused(format!("`{}` is a link that leads nowhere yet", out.display())));
            }
            Err(_) => (),
        }
    }
    Ok(out)
}

/// The folder that git keeps for a work tree with this root, if there is one.
fn git_folder(root: &Path) -> Result<Option<PathBuf>, Issue> {
    let git = root.join(".git");
    match tree::kind(&git) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(unclear(format!("`{}`: {error}", git.display()))),
        Ok(tree::Kind::File) => {
            // A linked work tree or a submodule: the file says where git keeps its things.
            let text = String::from_utf8(files::read(&git)?).unwrap_or_default();
            let place = text.strip_prefix("gitdir:").map(str::trim);
            let place =
                place.ok_or_else(|| unclear(format!("`{}` does not say where git is", git.display())))?;
            Ok(Some(root.join(place)))
        }
        Ok(_) => Ok(Some(git)),
    }
}

/// Refuses a folder that is, or lies under, one that holds files of the index.
fn judge(path: &Path, root: &Path, git: &Path) -> Result<(), Issue> {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let top = relative.components().next().map(|part| part.as_os_str().as_bytes());
    if top == Some(b".git") {
        return Err(refused(format!("`{}` is git's own", path.display())));
    }
    let mut name = Some("index".to_owned());
    while let Some(file) = name {
        let place = git.join(&file);
        let Some(bytes) = files::read_if_there(&place)? else {
            // Nothing was ever added; but what is shared must be there.
            return if file == "index" {
                Ok(())
            } else {
                Err(unclear(format!("`{}` is missing", place.display())))
            };
        };
        let index = GitIndex::parse(&bytes)
            .ok_or_else(|| unclear(format!("`{}` is not a git index that can be read", place.display())))?;
        if let Some(tracked) = index.paths.iter().find(|tracked| is_around(tracked, top)) {
            let tracked = String::from_utf8_lossy(tracked);
            let message =
                format!("`{}` lies where git tracks `{tracked}`, in `{}`", path.display(), root.display());
            return Err(refused(message));
        }
        name = index.shared;
    }
    Ok(())
}

/// Whether a tracked file lies in a folder that is above, at or beside a place whose first folder below the root is `top`.
fn is_around(tracked: &[u8], top: Option<&[u8]>) -> bool {
    let first = tracked.iter().position(|byte| *byte == b'/').and_then(|end| tracked.get(..end));
    // A file at the root is held by the root, which is above everything.
    top.is_none() || first.is_none() || first == top
}

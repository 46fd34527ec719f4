//! What a repository says: resolved commits, changed files and the contents of blobs, by plumbing commands alone.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Output,
    thread,
};

use countersign_canon::Issue;
use countersign_scan::codes;
use sha1::{Digest as _, Sha1};

use super::walk::os_path;
use crate::effects::git::Git;

/// The name of an object, in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectId(
    // INVARIANT: 40 or 64 lower-case hexadecimal digits.
    String,
);

impl ObjectId {
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (matches!(text.len(), 40 | 64) && text.bytes().all(is_digit)).then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is git's name for a file with these contents. The longer names of newer repositories are not
    /// recognised: ask git.
    pub(crate) fn is_name_of(&self, contents: &[u8]) -> bool {
        let hash = Sha1::new().chain_update(format!("blob {}\0", contents.len())).chain_update(contents);
        let digits: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        digits == self.0
    }
}

/// A reference as a person names it: never something that git could take for an option.
#[derive(Debug, Clone)]
pub(crate) struct GitRef(String);

impl GitRef {
    /// Takes the text as a reference.
    ///
    /// # Errors
    ///
    /// Fails if it is empty, looks like an option or a range, or holds what no reference holds.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refused = |why: &str| Err(format!("`{}` {why}", text.escape_debug()));
        match text {
            "" => refused("is not a git reference"),
            _ if text.starts_with('-') => refused("looks like an option, not like a git reference"),
            _ if text.contains("..") => refused("is a range; name one commit"),
            _ if text.contains(|c: char| c.is_control() || c == ' ' || c == ':') => {
                refused("has a character that no commit's name has")
            }
            _ => Ok(Self(text.into())),
        }
    }
}

/// What stands in a tree or in the index under one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Symlink,
    Submodule,
}

/// A file of a tree or of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeFile {
    /// Relative to the target.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: EntryKind,
    pub(crate) object: ObjectId,
}

/// A repository seen from the target's folder.
#[derive(Debug)]
pub(crate) struct Repository {
    git: Git,
    /// The target relative to the work tree's top; empty, or with a final `/`.
    prefix: Vec<u8>,
    is_shallow: bool,
}

impl Repository {
    /// Finds the repository that the target is in.
    pub(crate) fn open(git: Git) -> Result<Self, Issue> {
        let arguments = ["rev-parse", "--is-shallow-repository", "--show-prefix"];
        let (git, output) = match answer(&git, &arguments.map(OsStr::new)) {
            Ok(output) => (git, output),
            // The user may have told git to trust this folder, in settings that we do not read otherwise.
            Err(issue) if issue.message.contains("dubious ownership") => {
                let git = git.with_trust_of_user().map_err(|error| cannot_run(&error))?;
                let output = answer(&git, &arguments.map(OsStr::new))?;
                (git, output)
            }
            Err(issue) => return Err(issue),
        };
        let (shallow, prefix) = split_once(&output, b'\n').unwrap_or((&output, b""));
        let prefix = prefix.strip_suffix(b"\n").unwrap_or(prefix);
        Ok(Self { git, prefix: prefix.into(), is_shallow: shallow == b"true" })
    }

    /// Finds the repository, and meanwhile the commit that is checked out and the one that a reference names.
    pub(crate) fn open_at(git: Git, reference: &GitRef) -> Result<(Self, ObjectId, ObjectId), Issue> {
        let named = [&GitRef("HEAD".into()), reference];
        let (opened, resolved) = thread::scope(|scope| {
            let resolved = scope.spawn(|| commits(&git, named));
            let opened = Self::open(git.clone());
            (opened, resolved.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let repository = opened?;
        let [head, commit] = match resolved {
            Ok([Some(head), Some(commit)]) => [Some(head), Some(commit)],
            // It may be for want of trust, which opening has found by now.
            Ok(_) | Err(_) => commits(&repository.git, named)?,
        };
        let head = head.ok_or_else(|| Issue::new(codes::SCAN_GIT_REF, "there is no commit yet"))?;
        let commit = commit.ok_or_else(|| {
            let GitRef(name) = reference;
            let hint = if repository.is_shallow {
                "this clone is shallow: fetch the whole history, or at least this reference"
            } else {
                "check its spelling, and fetch it if it is on a server"
            };
            Issue::new(codes::SCAN_GIT_REF, format!("`{name}` names no commit here")).with_hint(hint)
        })?;
        Ok((repository, head, commit))
    }

    /// The git that is used.
    pub(crate) const fn git(&self) -> &Git {
        &self.git
    }

    /// The commit that is checked out; none if there is no commit yet.
    pub(crate) fn head(&self) -> Result<Option<ObjectId>, Issue> {
        commits(&self.git, [&GitRef("HEAD".into())]).map(|[head]| head)
    }

    /// The last commit that both have in their history, and what changed in the target since then.
    pub(crate) fn changed_since_common(
        &self,
        base: &ObjectId,
        head: &ObjectId,
    ) -> Result<(ObjectId, Vec<TreeFile>), Issue> {
        // Most often the base is that commit itself; so its changes are listed while git looks.
        let (common, guessed) = thread::scope(|scope| {
            let common = scope.spawn(|| self.merge_base(base, head));
            let guessed = self.changed(base, head);
            (common.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), guessed)
        });
        let common = common?;
        let files = if common == *base { guessed? } else { self.changed(&common, head)? };
        Ok((common, files))
    }

    /// The last commit that both have in their history.
    fn merge_base(&self, base: &ObjectId, head: &ObjectId) -> Result<ObjectId, Issue> {
        let arguments = ["merge-base", base.as_str(), head.as_str()];
        let output = self.git.output(&arguments.map(OsStr::new)).map_err(|error| cannot_run(&error))?;
        let id = output.stdout.split(|byte| *byte == b'\n').find_map(ObjectId::parse);
        id.filter(|_| output.status.success()).ok_or_else(|| {
            let message = format!("{} and HEAD have no commit in common here", base.as_str());
            let hint = if self.is_shallow {
                "this clone is shallow and lacks the commits between them: fetch the whole history"
            } else {
                "name a reference from the same history"
            };
            Issue::new(codes::SCAN_GIT_HISTORY, message).with_hint(hint)
        })
    }

    /// The files of the target that were added or changed between two commits, as they are in the second.
    fn changed(&self, base: &ObjectId, head: &ObjectId) -> Result<Vec<TreeFile>, Issue> {
        let options = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-relative"];
        let arguments = options.into_iter().chain([base.as_str(), head.as_str()]).map(OsStr::new);
        let output = answer(&self.git, &arguments.collect::<Vec<_>>())?;
        parse_raw(&output, &self.prefix)
    }

    /// The files of the target that are staged: in the index, and not the same in the commit.
    pub(crate) fn staged(&self, head: Option<&ObjectId>) -> Result<Vec<TreeFile>, Issue> {
        let Some(head) = head else { return self.index() };
        let options =
            ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-relative"];
        let arguments = options.into_iter().chain([head.as_str()]).map(OsStr::new);
        let output = answer(&self.git, &arguments.collect::<Vec<_>>())?;
        parse_raw(&output, &self.prefix)
    }

    /// Every file of the target that the index has.
    pub(crate) fn index(&self) -> Result<Vec<TreeFile>, Issue> {
        let output = answer(&self.git, &["ls-files", "--stage", "-z"].map(OsStr::new))?;
        parse_index(&output)
    }

    /// Those of these paths, relative to the target, that the index has.
    pub(crate) fn index_files(&self, paths: &[Vec<u8>]) -> Result<Vec<TreeFile>, Issue> {
        let paths: Vec<_> = paths.iter().map(|path| os_path(path)).collect();
        let options = ["ls-files", "--stage", "-z", "--"].map(OsStr::new);
        let arguments = options.into_iter().chain(paths.iter().map(|path| path.as_os_str()));
        parse_index(&answer(&self.git, &arguments.collect::<Vec<_>>())?)
    }

    /// Those of these paths, relative to the target, that the commit has.
    pub(crate) fn commit_files(&self, commit: &ObjectId, paths: &[Vec<u8>]) -> Result<Vec<TreeFile>, Issue> {
        let whole = |path: &Vec<u8>| os_path(&[&self.prefix, path.as_slice()].concat());
        let paths: Vec<_> = paths.iter().map(whole).collect();
        let options = ["ls-tree", "-z", "--full-tree", commit.as_str(), "--"].map(OsStr::new);
        let arguments = options.into_iter().chain(paths.iter().map(|path| path.as_os_str()));
        let output = answer(&self.git, &arguments.collect::<Vec<_>>())?;
        let files = records(&output).map(|record| {
            // `mode type object TAB path`
            let (facts, path) = split_once(record, b'\t').ok_or_else(garbled)?;
            let mut facts = facts.split(|byte| *byte == b' ');
            let (mode, _, object) = (facts.next(), facts.next(), facts.next());
            tree_file(mode, object, path.strip_prefix(&*self.prefix))
        });
        files.filter_map(Result::transpose).collect()
    }
}

/// The commits that references name. They are handed over as data, so that none can be taken for an option.
fn commits<const N: usize>(git: &Git, references: [&GitRef; N]) -> Result<[Option<ObjectId>; N], Issue> {
    let question: String = references.iter().map(|GitRef(name)| format!("{name}^{{commit}}\n")).collect();
    let output = git.ask(&["cat-file", "--batch-check"], question.as_bytes());
    let output = output.map_err(|error| cannot_run(&error))?;
    // `object commit length`, or `what was asked missing`.
    let mut answers = output.split(|byte| *byte == b'\n').map(|line| {
        let mut words = line.split(|byte| *byte == b' ');
        let object = words.next().and_then(ObjectId::parse);
        object.filter(|_| words.next() == Some(b"commit"))
    });
    Ok([(); N].map(|()| answers.next().flatten()))
}

/// Runs git and takes its answer, or says why there is none.
fn answer(git: &Git, arguments: &[&OsStr]) -> Result<Vec<u8>, Issue> {
    let Output { status, stdout, stderr } = git.output(arguments).map_err(|error| cannot_run(&error))?;
    if status.success() {
        return Ok(stdout);
    }
    let stderr = String::from_utf8_lossy(&stderr);
    let said: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    let said = countersign_scan::escape_text(&said.join("; ")).into_owned();
    let name = arguments.first().map_or_else(OsString::new, |name| (*name).into());
    Err(Issue::new(codes::SCAN_GIT, format!("git {} failed: {said}", name.display()))
        .with_hint("the target must be in a git repository that this user may read"))
}

fn cannot_run(error: &std::io::Error) -> Issue {
    Issue::new(codes::SCAN_GIT, format!("git could not be run: {error}"))
        .with_hint("install git, or scan the whole target without a git option")
}

fn garbled() -> Issue {
    Issue::new(codes::SCAN_GIT, "git's answer could not be read")
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == separator)?;
    let (before, after) = bytes.split_at_checked(at)?;
    Some((before, after.get(1..)?))
}

/// What stands between NULs.
fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

/// One file, unless its path is outside the target.
fn tree_file(
    mode: Option<&[u8]>,
    object: Option<&[u8]>,
    path: Option<&[u8]>,
) -> Result<Option<TreeFile>, Issue> {
    let Some(path) = path else { return Ok(None) };
    let kind = match mode {
        Some(b"100644" | b"100755" | b"100664") => EntryKind::File,
        Some(b"120000") => EntryKind::Symlink,
        Some(b"160000") => EntryKind::Submodule,
        // A folder where a rule file should be is no rule file.
        Some(b"040000") => return Ok(None),
        Some(_) | None => return Err(garbled()),
    };
    let object = object.and_then(ObjectId::parse).ok_or_else(garbled)?;
    Ok(Some(TreeFile { path: path.into(), kind, object }))
}

/// Reads `:mode mode object object status NUL path NUL`, the same for trees and for the index.
fn parse_raw(output: &[u8], prefix: &[u8]) -> Result<Vec<TreeFile>, Issue> {
    let mut files = Vec::new();
    let mut fields = records(output);
    while let Some(facts) = fields.next() {
        let path = fields.next().ok_or_else(garbled)?;
        let facts: Vec<&[u8]> = facts.split(|byte| *byte == b' ').collect();
        let [_, mode, _, object, status] = facts.as_slice() else { return Err(garbled()) };
        match *status {
            b"D" => (),
            b"A" | b"M" | b"T" => {
                files.extend(tree_file(Some(mode), Some(object), path.strip_prefix(prefix))?)
            }
            b"U" => return Err(unmerged(path)),
            _ => return Err(garbled()),
        }
    }
    Ok(files)
}

/// Reads `mode object stage TAB path NUL`; a path in conflict has no one content.
fn parse_index(output: &[u8]) -> Result<Vec<TreeFile>, Issue> {
    let files = records(output).map(|record| {
        let (facts, path) = split_once(record, b'\t').ok_or_else(garbled)?;
        let mut facts = facts.split(|byte| *byte == b' ');
        let (mode, object, stage) = (facts.next(), facts.next(), facts.next());
        if stage != Some(b"0") {
            return Err(unmerged(path));
        }
        tree_file(mode, object, Some(path))
    });
    files.filter_map(Result::transpose).collect()
}

fn unmerged(path: &[u8]) -> Issue {
    let path = countersign_scan::show_path(path);
    let path = countersign_scan::escape_text(&path);
    Issue::new(codes::SCAN_GIT, format!("`{path}` is in conflict in the index"))
        .with_hint("resolve the conflict and stage the file")
}

/// Git in the target's folder.
pub(crate) fn in_folder(target: &Path) -> Git {
    Git::new(target)
}

#[cfg(test)]
mod tests;

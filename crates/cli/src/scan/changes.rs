//! Files that are read from git's own store, or from the work tree by git's list.

use std::{
    collections::BTreeMap,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    path::Path,
    sync::Arc,
    thread,
};

use countersign_canon::Issue;
use countersign_scan::{
    FileFindings, Finding, Folder, PatternSet, Plan, RuleFileName, Sets, SkipReason, SkippedPath, codes,
};

use super::{
    Found, Unreadable,
    git::{EntryKind, ObjectId, Repository, TreeFile},
    progress::Progress,
    search,
    walk::{self, Place, Walk, Work, os_path},
};
use crate::{
    effects::tree::{self, Kind},
    source::Source,
    yaml::YAML_BYTES_MAX,
};

/// A file that rules meet.
struct Met {
    path: Vec<u8>,
    object: ObjectId,
    set: Arc<PatternSet>,
}

/// Sorts listed files into those to search, those to skip and those no rule meets.
struct Sorter<'p> {
    plan: &'p Plan,
    sets: Sets<'p>,
    folders: BTreeMap<Vec<u8>, Arc<Folder>>,
    found: Found,
    met: Vec<Met>,
}

impl<'p> Sorter<'p> {
    fn new(plan: &'p Plan) -> Self {
        let root = Arc::new(plan.globs().root());
        let folders = BTreeMap::from([(Vec::new(), root)]);
        Self { plan, sets: Sets::new(plan), folders, found: Found::default(), met: Vec::new() }
    }

    /// The folder with this path, which is empty or ends with `/`.
    fn folder(&mut self, path: &[u8]) -> Arc<Folder> {
        if let Some(folder) = self.folders.get(path) {
            return Arc::clone(folder);
        }
        let (parent, name) = split_name(path.strip_suffix(b"/").unwrap_or(path));
        // Recursion is as deep as the path.
        let parent = self.folder(parent);
        let folder = Arc::new(self.plan.globs().enter(&parent, name));
        self.folders.insert(path.into(), Arc::clone(&folder));
        folder
    }

    fn sort(&mut self, file: TreeFile, excluded: &[Vec<u8>]) {
        let TreeFile { path, kind, object } = file;
        if excluded.contains(&path) {
            self.found.counts.rule_files_excluded = self.found.counts.rule_files_excluded.saturating_add(1);
            return;
        }
        let (parent, name) = split_name(&path);
        let folder = self.folder(parent);
        match kind {
            EntryKind::File if folder.is_dead() => (),
            EntryKind::File => {
                self.found.counts.files_considered = self.found.counts.files_considered.saturating_add(1);
                if let Some(set) = self.sets.meet(&folder, name) {
                    self.met.push(Met { path, object, set });
                }
            }
            EntryKind::Symlink if self.sets.meet(&folder, name).is_some() => {
                self.found.skipped.push(SkippedPath { path, reason: SkipReason::Symlink });
            }
            EntryKind::Symlink => (),
            // Whatever is in it is out of sight; that matters if a rule could meet it.
            EntryKind::Submodule if !self.plan.globs().enter(&folder, name).is_dead() => {
                self.found.skipped.push(SkippedPath { path, reason: SkipReason::Submodule });
            }
            EntryKind::Submodule => (),
        }
    }
}

/// The folder's part of a path, with its `/`, and the name.
fn split_name(path: &[u8]) -> (&[u8], &[u8]) {
    let at = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at.saturating_add(1));
    path.split_at_checked(at).unwrap_or((b"", path))
}

/// Files that one more git is started for: unpacking is most of the work, and git does it on one core.
const FILES_PER_GIT_MIN: usize = 16;

/// Searches these files as git keeps them.
pub(crate) fn search_blobs(
    repository: &Repository,
    walk: Walk<'_>,
    files: Vec<TreeFile>,
) -> Result<Found, Issue> {
    let mut sorter = Sorter::new(walk.plan);
    files.into_iter().for_each(|file| sorter.sort(file, walk.excluded));
    let Sorter { found, met, .. } = sorter;
    let count = walk.threads.min(met.len().div_euclid(FILES_PER_GIT_MIN)).max(1);
    let mut parts: Vec<Vec<Met>> = (0..count).map(|_| Vec::new()).collect();
    for (part, met) in (0..count).cycle().zip(met) {
        if let Some(part) = parts.get_mut(part) {
            part.push(met);
        }
    }
    let searched = thread::scope(|scope| {
        let threads: Vec<_> =
            parts.into_iter().map(|part| scope.spawn(move || search_part(repository, walk, part))).collect();
        let joined = threads.into_iter().map(|thread| {
            // A panic is a defect and must not look like a file less: pass it on.
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect::<Result<Vec<Found>, Issue>>()
    })?;
    Ok(searched.into_iter().fold(found, Found::join))
}

/// Searches some files: those that are checked out as git keeps them where they are, the others with one git.
fn search_part(repository: &Repository, walk: Walk<'_>, part: Vec<Met>) -> Result<Found, Issue> {
    let (mut found, mut buffer, mut contents) = (Found::default(), Vec::new(), Vec::new());
    let mut rest = Vec::new();
    for met in part {
        let path = walk.target.join(os_path(&met.path));
        if is_checked_out(&path, &met.object, &mut contents) {
            let mut bytes = contents.as_slice();
            let searched = search(&mut bytes, None, &met.set, &mut buffer).map_err(cat_file_failed)?;
            found.add(walk.progress, met, searched);
        } else {
            rest.push(met);
        }
    }
    let objects: Vec<ObjectId> = rest.iter().map(|met| met.object.clone()).collect();
    let mut rest = rest.into_iter();
    read_blobs(repository, &objects, |blob| {
        let Some(met) = rest.next() else { return Ok(()) };
        match blob {
            Some((mut contents, length)) => {
                let searched = search(&mut contents, Some(length), &met.set, &mut buffer)?;
                found.add(walk.progress, met, searched);
            }
            None => {
                let error = "its contents are not in this clone, and nothing is fetched".to_owned();
                found.unreadable.push(Unreadable { path: met.path, error });
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// LIMIT: a longer file is left to git, which hands it over in pieces.
const CHECKED_OUT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads a file of the work tree, and whether it is this object: its name is the hash of its contents, so whoever put
/// the file there, it is the same. It spares git the unpacking, which takes several times as long.
fn is_checked_out(path: &Path, object: &ObjectId, contents: &mut Vec<u8>) -> bool {
    contents.clear();
    let read = tree::open(path).and_then(|(file, length)| {
        if length > CHECKED_OUT_BYTES_MAX {
            return Ok(0);
        }
        file.take(CHECKED_OUT_BYTES_MAX).read_to_end(contents)
    });
    read.is_ok() && object.is_name_of(contents)
}

impl Found {
    /// Counts a file that was searched, and keeps what was found in it.
    fn add(&mut self, progress: &Progress, met: Met, (findings, bytes): (Vec<Finding>, u64)) {
        self.counts.files_matched = self.counts.files_matched.saturating_add(1);
        self.counts.bytes_searched = self.counts.bytes_searched.saturating_add(bytes);
        if !findings.is_empty() {
            self.files.push(FileFindings { path: met.path, rules: met.set.rules().into(), findings });
        }
        progress.file();
    }
}

/// Reads rule files as git keeps them.
pub(crate) fn read_rules(
    repository: &Repository,
    files: Vec<TreeFile>,
    shown: impl Fn(RuleFileName) -> String,
) -> Result<Vec<(RuleFileName, Source)>, Issue> {
    let names = files.into_iter().filter(|file| file.kind == EntryKind::File).filter_map(|file| {
        let (_, name) = split_name(&file.path);
        let name = RuleFileName::ALL.iter().find(|rule_file| rule_file.as_str().as_bytes() == name)?;
        Some((*name, file.object))
    });
    let (names, objects): (Vec<RuleFileName>, Vec<ObjectId>) = names.collect();
    let mut names = names.into_iter();
    let mut sources = Vec::new();
    read_blobs(repository, &objects, |blob| {
        let Some(name) = names.next() else { return Ok(()) };
        let mut bytes = Vec::new();
        if let Some((contents, _)) = blob {
            // One byte more, so that a file that is too large is seen to be.
            let limit = u64::try_from(YAML_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
            contents.take(limit).read_to_end(&mut bytes)?;
        }
        sources.push((name, Source { name: shown(name), bytes }));
        Ok(())
    })?;
    sources.sort_by_key(|(name, _)| *name);
    Ok(sources)
}

/// A blob's contents and length; none if it is not here.
type Blob<'b> = Option<(&'b mut dyn Read, u64)>;

/// Reads blobs one after the other, in order, without holding one whole.
fn read_blobs(
    repository: &Repository,
    objects: &[ObjectId],
    mut visit: impl FnMut(Blob<'_>) -> io::Result<()>,
) -> Result<(), Issue> {
    if objects.is_empty() {
        return Ok(());
    }
    let (mut child, stdin, stdout) =
        repository.git().start(&["cat-file", "--batch"]).map_err(cat_file_failed)?;
    let read = thread::scope(|scope| {
        // Asking and reading at once, so that neither pipe fills up and stops both sides.
        scope.spawn(move || {
            let mut stdin = io::BufWriter::new(stdin);
            // If git is gone, the reading side says so.
            let _seen_by_the_reader = objects
                .iter()
                .try_for_each(|object| writeln!(stdin, "{}", object.as_str()))
                .and_then(|()| stdin.flush());
        });
        let mut stdout = BufReader::with_capacity(64 * 1024, stdout);
        for object in objects {
            read_blob(&mut stdout, object, &mut visit)?;
        }
        Ok(())
    });
    let ended = child.wait();
    read.and(ended.map(|_| ())).map_err(cat_file_failed)
}

fn cat_file_failed(error: io::Error) -> Issue {
    Issue::new(codes::SCAN_GIT, format!("git cat-file failed: {error}"))
}

/// Reads `object type length`, the contents and a line break; or `object missing`.
fn read_blob(
    stdout: &mut BufReader<impl Read>,
    object: &ObjectId,
    visit: &mut impl FnMut(Blob<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut header = String::new();
    stdout.read_line(&mut header)?;
    let facts: Vec<&str> = header.split_whitespace().collect();
    match facts.as_slice() {
        [name, "blob", length] if *name == object.as_str() => {
            let length: u64 = length.parse().map_err(io::Error::other)?;
            let mut contents = stdout.by_ref().take(length);
            visit(Some((&mut contents, length)))?;
            // What the visitor left, and the line break after it.
            io::copy(&mut contents, &mut io::sink())?;
            let mut line_break = [0_u8; 1];
            stdout.read_exact(&mut line_break)
        }
        [_, "missing"] => visit(None),
        _ => Err(io::Error::other("its answer could not be read")),
    }
}

/// Searches, in the work tree, the files that git tracks.
pub(crate) fn search_tracked(walk: Walk<'_>, files: Vec<TreeFile>) -> Found {
    let mut sorter = Sorter::new(walk.plan);
    files.into_iter().for_each(|file| sorter.sort(file, walk.excluded));
    let Sorter { mut found, met, .. } = sorter;
    let mut work: Vec<Work> = Vec::new();
    let mut folders: BTreeMap<Vec<u8>, (bool, Vec<_>)> = BTreeMap::new();
    for Met { path, set, .. } in met {
        let (parent, name) = split_name(&path);
        let (is_there, files) =
            folders.entry(parent.into()).or_insert_with(|| (is_plain_folder(walk, parent), Vec::new()));
        let kind = if *is_there {
            tree::kind(&walk.target.join(os_path(&path)))
        } else {
            Err(io::ErrorKind::NotFound.into())
        };
        let reason = match kind {
            Ok(Kind::File) => {
                files.push((os_path(name).into_os_string(), set));
                continue;
            }
            Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                found.unreadable.push(Unreadable { path, error: error.to_string() });
                continue;
            }
            Ok(Kind::Symlink) => SkipReason::Symlink,
            Ok(Kind::Fifo) => SkipReason::Fifo,
            Ok(Kind::Socket) => SkipReason::Socket,
            Ok(Kind::Device) => SkipReason::Device,
            Ok(Kind::Folder) | Err(_) => SkipReason::Missing,
        };
        found.counts.files_considered = found.counts.files_considered.saturating_sub(1);
        found.skipped.push(SkippedPath { path, reason });
    }
    for (parent, (_, files)) in folders {
        if !files.is_empty() {
            work.push(Work::Files(Arc::new(Place::new(walk.target, &parent)), files));
        }
    }
    found.join(walk::run(walk, work))
}

/// Whether the folder is where git thinks it is, and not behind a link.
fn is_plain_folder(walk: Walk<'_>, parent: &[u8]) -> bool {
    let path = walk.target.join(os_path(parent.strip_suffix(b"/").unwrap_or(parent)));
    tree::canonical(&path).is_ok_and(|found| found == path)
}

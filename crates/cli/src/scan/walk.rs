//! The files of a target, found and searched by several threads at once.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use countersign_scan::{FileFindings, Folder, PatternSet, Plan, Sets, SkipReason, SkippedPath};

use super::{Found, Unreadable, progress::Progress, queue::Queue, search};
use crate::effects::tree::{self, Kind, Listing};

/// How many files one thread may hand to another at once.
const BATCH_FILES: usize = 64;

/// What to walk, and with what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk<'w> {
    /// The rules, ready to search with.
    pub(crate) plan: &'w Plan,
    /// The target's folder.
    pub(crate) target: &'w Path,
    /// Files of the bundle itself, relative to the target.
    pub(crate) excluded: &'w [Vec<u8>],
    /// How many threads search.
    pub(crate) threads: usize,
    /// Where searched files are counted.
    pub(crate) progress: &'w Progress,
}

/// A folder of the target.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Relative to the target; ends with `/` unless it is the target itself.
    relative: Vec<u8>,
}

/// Something to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// List a folder and search its files.
    Folder(Arc<Place>, Arc<Folder>),
    /// Search files of one folder.
    Files(Arc<Place>, Vec<(OsString, Arc<PatternSet>)>),
}

impl Place {
    /// The folder with this path relative to the target, which ends with `/` or is empty.
    pub(crate) fn new(target: &Path, relative: &[u8]) -> Self {
        let path = if relative.is_empty() { target.into() } else { target.join(os_path(relative)) };
        Self { path, relative: relative.into() }
    }

    fn below(&self, name: &OsString) -> Self {
        let mut relative = self.relative_of(name);
        relative.push(b'/');
        Self { path: self.path.join(name), relative }
    }

    fn relative_of(&self, name: &OsString) -> Vec<u8> {
        [&self.relative, name.as_encoded_bytes()].concat()
    }
}

/// Bytes of a path as the system's own kind of path.
#[cfg(unix)]
pub(crate) fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Bytes of a path as the system's own kind of path.
#[cfg(not(unix))]
pub(crate) fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Searches every file of the target.
pub(crate) fn all_files(walk: Walk<'_>) -> Found {
    let root = Work::Folder(Arc::new(Place::new(walk.target, b"")), Arc::new(walk.plan.globs().root()));
    run(walk, vec![root])
}

/// Does this work, and all that comes of it.
pub(crate) fn run(walk: Walk<'_>, work: Vec<Work>) -> Found {
    let queue = Queue::new(work);
    thread::scope(|scope| {
        let (alive, done) = mpsc::channel::<()>();
        let start = |_| {
            let (queue, alive) = (&queue, alive.clone());
            scope.spawn(move || {
                let found = Worker::new(walk, queue).run();
                drop(alive);
                found
            })
        };
        let workers: Vec<_> = (0..walk.threads.max(1)).map(start).collect();
        drop(alive);
        walk.progress.show(&done);
        let joined = workers.into_iter().map(|worker| {
            // A panic is a defect and must not look like a file less: pass it on.
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.fold(Found::default(), Found::join)
    })
}

struct Worker<'w> {
    walk: Walk<'w>,
    queue: &'w Queue<Work>,
    sets: Sets<'w>,
    buffer: Vec<u8>,
    found: Found,
}

impl<'w> Worker<'w> {
    fn new(walk: Walk<'w>, queue: &'w Queue<Work>) -> Self {
        Self { walk, queue, sets: Sets::new(walk.plan), buffer: Vec::new(), found: Found::default() }
    }

    fn run(mut self) -> Found {
        while let Some((work, _ticket)) = self.queue.pop() {
            match work {
                Work::Folder(place, folder) => self.folder(&place, &folder),
                Work::Files(place, files) => match tree::list(&place.path) {
                    Ok(folder) => self.files(&folder, &place, &files),
                    Err(error) => {
                        files.iter().for_each(|(name, _)| self.unreadable(place.relative_of(name), &error))
                    }
                },
            }
        }
        self.found
    }

    fn folder(&mut self, place: &Arc<Place>, folder: &Arc<Folder>) {
        let mut listing = match tree::list(&place.path) {
            Ok(listing) => listing,
            Err(error) => return self.unreadable(folder_name(&place.relative), &error),
        };
        let mut batch = Vec::new();
        while let Some(entry) = listing.next() {
            let (name, kind) = match entry {
                Ok(entry) => entry,
                Err(error) => return self.unreadable(folder_name(&place.relative), &error),
            };
            // Only the target's own `.git`: one further down must not become a hiding place.
            if place.relative.is_empty() && name == ".git" {
                continue;
            }
            match kind {
                Kind::Folder => self.below(place, folder, &name),
                Kind::File => {
                    if self.is_excluded(place, &name) {
                        self.found.counts.rule_files_excluded =
                            self.found.counts.rule_files_excluded.saturating_add(1);
                        continue;
                    }
                    self.found.counts.files_considered = self.found.counts.files_considered.saturating_add(1);
                    if let Some(set) = self.sets.meet(folder, name.as_encoded_bytes()) {
                        batch.push((name, set));
                    }
                }
                Kind::Symlink => self.skip(place, folder, &name, SkipReason::Symlink),
                Kind::Fifo => self.skip(place, folder, &name, SkipReason::Fifo),
                Kind::Socket => self.skip(place, folder, &name, SkipReason::Socket),
                Kind::Device => self.skip(place, folder, &name, SkipReason::Device),
            }
            if batch.len() >= BATCH_FILES {
                let files = std::mem::take(&mut batch);
                if self.queue.is_hungry() {
                    self.queue.push(Work::Files(Arc::clone(place), files));
                } else {
                    self.files(&listing, place, &files);
                }
            }
        }
        self.files(&listing, place, &batch);
    }

    /// Leaves a folder for whoever is free, unless no rule can meet anything in it.
    fn below(&mut self, place: &Arc<Place>, folder: &Arc<Folder>, name: &OsString) {
        let globs = self.walk.plan.globs();
        let bytes = name.as_encoded_bytes();
        let below = if globs.is_same(folder, bytes) {
            Arc::clone(folder)
        } else {
            Arc::new(globs.enter(folder, bytes))
        };
        if !below.is_dead() {
            self.queue.push(Work::Folder(Arc::new(place.below(name)), below));
        }
    }

    fn files(&mut self, folder: &Listing, place: &Place, files: &[(OsString, Arc<PatternSet>)]) {
        for (name, set) in files {
            let searched = folder
                .open(name)
                .and_then(|(mut file, length)| search(&mut file, Some(length), set, &mut self.buffer));
            match searched {
                Ok((findings, bytes)) => {
                    let counts = &mut self.found.counts;
                    counts.files_matched = counts.files_matched.saturating_add(1);
                    counts.bytes_searched = counts.bytes_searched.saturating_add(bytes);
                    if !findings.is_empty() {
                        let (path, rules) = (place.relative_of(name), set.rules().into());
                        self.found.files.push(FileFindings { path, rules, findings });
                    }
                    self.walk.progress.file();
                }
                Err(error) => self.unreadable(place.relative_of(name), &error),
            }
        }
    }

    fn skip(&mut self, place: &Place, folder: &Folder, name: &OsString, reason: SkipReason) {
        if !self.is_excluded(place, name) && self.sets.meet(folder, name.as_encoded_bytes()).is_some() {
            self.found.skipped.push(SkippedPath { path: place.relative_of(name), reason });
        }
    }

    fn is_excluded(&self, place: &Place, name: &OsString) -> bool {
        let name = name.as_encoded_bytes();
        self.walk.excluded.iter().any(|path| path.strip_prefix(&*place.relative) == Some(name))
    }

    fn unreadable(&mut self, path: Vec<u8>, error: &io::Error) {
        self.found.unreadable.push(Unreadable { path, error: error.to_string() });
    }
}

/// A folder as it is named to people.
fn folder_name(relative: &[u8]) -> Vec<u8> {
    if relative.is_empty() { b".".into() } else { relative.into() }
}

/// How many files each glob meets.
#[derive(Debug, Default)]
pub(crate) struct GlobCounts(Vec<u64>);

impl GlobCounts {
    /// The count of the glob with this place.
    pub(crate) fn of(&self, glob: u32) -> u64 {
        usize::try_from(glob).ok().and_then(|glob| self.0.get(glob)).copied().unwrap_or(0)
    }

    fn add(&mut self, glob: u32) {
        let Ok(glob) = usize::try_from(glob) else { return };
        if self.0.len() <= glob {
            self.0.resize(glob.saturating_add(1), 0);
        }
        if let Some(count) = self.0.get_mut(glob) {
            *count = count.saturating_add(1);
        }
    }
}

/// Counts, for each glob, the files of the target that it meets, without reading any.
pub(crate) fn count_globs(
    plan: &Plan,
    target: &Path,
    excluded: &[Vec<u8>],
) -> Result<GlobCounts, Unreadable> {
    let mut counts = GlobCounts::default();
    let mut sets = Sets::new(plan);
    let mut folders = vec![(Place::new(target, b""), Arc::new(plan.globs().root()))];
    while let Some((place, folder)) = folders.pop() {
        let unreadable =
            |error: io::Error| Unreadable { path: folder_name(&place.relative), error: error.to_string() };
        for entry in tree::list(&place.path).map_err(unreadable)? {
            let (name, kind) = entry.map_err(unreadable)?;
            let bytes = name.as_encoded_bytes();
            match kind {
                _ if place.relative.is_empty() && name == ".git" => (),
                Kind::Folder => {
                    let below = plan.globs().enter(&folder, bytes);
                    if !below.is_dead() {
                        folders.push((place.below(&name), Arc::new(below)));
                    }
                }
                Kind::File if !excluded.contains(&place.relative_of(&name)) => {
                    sets.globs(&folder, bytes).iter().for_each(|glob| counts.add(*glob));
                }
                Kind::File | Kind::Symlink | Kind::Fifo | Kind::Socket | Kind::Device => (),
            }
        }
    }
    Ok(counts)
}

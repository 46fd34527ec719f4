//! Many globs at once, walked folder by folder.
//!
//! All globs together are one automaton over the names of a path. A walk computes the live states once for each
//! folder ([`GlobSet::enter`]) and asks only them for each file ([`GlobSet::files`]), so that the cost of a path does
//! not grow with its depth, and a folder in which no state is left need not be read at all.

use alloc::{collections::BTreeMap, vec::Vec};

use super::{Glob, NamePattern, Step, name::extension};

/// Globs to match together; each is known by its place in the list they were given in.
#[derive(Debug, Clone)]
pub struct GlobSet {
    // All alternatives of all globs, one after the other; the step after a step that is not last is the next one.
    steps: Vec<Entry>,
    starts: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Entry {
    step: Step,
    /// The glob that matches if this is its last step.
    ends: Option<u32>,
}

/// A folder of the target, as far as the globs care: what its files and folders can still match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    // INVARIANT: sorted, unique, closed: with a step of any folders comes the step after it.
    live: Vec<u32>,
    /// What stays live in every folder below.
    lasting: Vec<u32>,
    folders: ByName,
    files: ByName,
}

/// Steps that ask for a name, by what they can be told from at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ByName {
    whole: BTreeMap<Vec<u8>, Vec<u32>>,
    extension: BTreeMap<Vec<u8>, Vec<u32>>,
    other: Vec<u32>,
}

impl Folder {
    /// Whether nothing in it or below it can match.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.live.is_empty()
    }
}

impl GlobSet {
    /// Joins the globs.
    ///
    /// More than 2^32 steps are beyond every limit of a bundle; what is past them would be left out.
    #[must_use]
    pub fn new<'g>(globs: impl IntoIterator<Item = &'g Glob>) -> Self {
        let mut set = Self { steps: Vec::new(), starts: Vec::new() };
        for (glob, number) in globs.into_iter().zip(0_u32..) {
            for steps in glob.alternatives() {
                set.starts.extend(u32::try_from(set.steps.len()).ok());
                let last = steps.len().saturating_sub(1);
                set.steps.extend(steps.iter().enumerate().map(|(index, step)| Entry {
                    step: step.clone(),
                    ends: (index == last).then_some(number),
                }));
            }
        }
        set
    }

    /// The target itself.
    #[must_use]
    pub fn root(&self) -> Folder {
        self.folder(self.starts.clone())
    }

    /// The folder `name` in the folder `parent`.
    #[must_use]
    pub fn enter(&self, parent: &Folder, name: &[u8]) -> Folder {
        let mut live = parent.lasting.clone();
        parent.folders.candidates(name, |step| {
            if self.matches_name(step, name) {
                live.push(step.saturating_add(1));
            }
        });
        self.folder(live)
    }

    /// Whether the folder `name` in `parent` is, for the globs, the same as `parent`: the common case in a deep tree.
    #[must_use]
    pub fn is_same(&self, parent: &Folder, name: &[u8]) -> bool {
        let mut has_more = false;
        parent.folders.candidates(name, |step| has_more |= self.matches_name(step, name));
        !has_more && parent.lasting.len() == parent.live.len()
    }

    /// Appends every glob that the file `name` in this folder matches, in no order, perhaps repeated.
    pub fn files(&self, folder: &Folder, name: &[u8], globs: &mut Vec<u32>) {
        folder.files.candidates(name, |step| {
            if self.matches_name(step, name) {
                globs.extend(self.entry(step).and_then(|entry| entry.ends));
            }
        });
    }

    /// Appends every glob that the whole path matches, sorted, each once.
    pub fn matches(&self, path: &[u8], globs: &mut Vec<u32>) {
        let mut folder = self.root();
        let mut rest = path;
        while let Some(slash) = memchr::memchr(b'/', rest) {
            let (name, after) = rest.split_at_checked(slash).unwrap_or((rest, &[]));
            folder = self.enter(&folder, name);
            rest = after.get(1..).unwrap_or_default();
        }
        self.files(&folder, rest, globs);
        globs.sort_unstable();
        globs.dedup();
    }

    fn entry(&self, step: u32) -> Option<&Entry> {
        self.steps.get(usize::try_from(step).ok()?)
    }

    fn name_of(&self, step: u32) -> Option<&NamePattern> {
        match &self.entry(step)?.step {
            Step::Folders => None,
            Step::Name(name) => Some(name),
        }
    }

    fn matches_name(&self, step: u32, name: &[u8]) -> bool {
        self.name_of(step).is_some_and(|pattern| pattern.matches(name))
    }

    /// Completes the live states and sorts them by the question they ask.
    fn folder(&self, mut live: Vec<u32>) -> Folder {
        let after_folders: Vec<u32> = live
            .iter()
            .filter(|step| self.entry(**step).is_some_and(|entry| entry.step == Step::Folders))
            .map(|step| step.saturating_add(1))
            .collect();
        live.extend(after_folders);
        live.sort_unstable();
        live.dedup();
        let mut folder =
            Folder { live, lasting: Vec::new(), folders: ByName::default(), files: ByName::default() };
        for &step in &folder.live {
            let Some(entry) = self.entry(step) else { continue };
            match (&entry.step, entry.ends) {
                (Step::Folders, _) => {
                    // A step of any folders and the name after it are live in every folder below.
                    folder.lasting.extend([step, step.saturating_add(1)]);
                }
                (Step::Name(pattern), Some(_)) => folder.files.add(pattern, step),
                (Step::Name(pattern), None) => folder.folders.add(pattern, step),
            }
        }
        folder
    }
}

impl ByName {
    fn add(&mut self, pattern: &NamePattern, step: u32) {
        if let Some(literal) = pattern.literal() {
            self.whole.entry(literal.into()).or_default().push(step);
        } else if let Some(extension) = pattern.extension() {
            self.extension.entry(extension.into()).or_default().push(step);
        } else {
            self.other.push(step);
        }
    }

    /// Visits every step that may match the name; the others cannot.
    fn candidates(&self, name: &[u8], mut visit: impl FnMut(u32)) {
        let whole = if self.whole.is_empty() { None } else { self.whole.get(name) };
        let by_extension = extension(name).and_then(|extension| self.extension.get(extension));
        let listed = [whole, by_extension].into_iter().flatten().flatten();
        listed.chain(&self.other).for_each(|step| visit(*step));
    }
}

//! The paths that an intent names, and free text kept free of all others (DE3).

use alloc::{collections::BTreeSet, format, string::String};
use core::ops::Bound;

use countersign_canon::RepoPath;
use countersign_intent::{EvidenceRef, wire::IntentDocument};

/// What stands for a part of free text that might be a path the intent does not name.
const WITHHELD: &str = "[…]";

/// LIMIT: messages hold texts of a thousand characters at least.
const SHOWN_CHARS_MAX: usize = 800;

/// Every path that an intent names: in its targets, in its evidence and in that of its commands. Whole and normalised;
/// nothing is ever found in free text, by a part of its name or by a pattern.
#[derive(Debug, Clone)]
pub(crate) struct NamedPaths {
    paths: BTreeSet<RepoPath>,
    texts: BTreeSet<String>,
}

impl NamedPaths {
    pub(crate) fn of(intent: &IntentDocument) -> Self {
        let of_commands = intent.planned_commands.iter().flat_map(|command| command.evidence_refs.iter());
        let references = intent.evidence_refs.iter().chain(of_commands).filter_map(EvidenceRef::file);
        let paths: BTreeSet<RepoPath> =
            intent.scope.targets.files.iter().cloned().chain(references).collect();
        let texts = paths.iter().map(|path| String::from(path.as_str())).collect();
        Self { paths, texts }
    }

    pub(crate) fn contains(&self, path: &RepoPath) -> bool {
        self.paths.contains(path)
    }

    /// Whether a path stands for more than one file: a folder, a glob, or something that others lie under.
    pub(crate) fn is_area(&self, path: &RepoPath) -> bool {
        let text = path.as_str();
        if path.is_directory() || text.is_empty() || text.contains(['*', '?']) {
            return true;
        }
        let below = format!("{text}/");
        if RepoPath::parse(&below).is_ok_and(|folder| self.contains(&folder)) {
            return true;
        }
        let mut after = self.texts.range::<str, _>((Bound::Included(below.as_str()), Bound::Unbounded));
        after.next().is_some_and(|next| next.starts_with(&below))
    }

    /// Free text on one line, as many whole words as so many characters allow; whatever might be a path that is not named
    /// is left out.
    pub(crate) fn quoted(&self, text: &str, chars_max: usize) -> String {
        let mut out = String::new();
        let words = text.split(|character: char| character.is_whitespace() || character.is_control());
        for word in words.filter(|word| !word.is_empty()) {
            let (before, core, after) = trimmed(word);
            let word = match RepoPath::parse(core).ok().filter(|path| self.contains(path)) {
                Some(path) => format!("{before}{path}{after}"),
                None if may_be_path(core) => format!("{before}{WITHHELD}{after}"),
                None => String::from(word),
            };
            let length = out.chars().count().saturating_add(word.chars().count());
            // Room is left for the space before the word and the sign that something is missing.
            if length.saturating_add(2) > chars_max {
                out.push('…');
                break;
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&word);
        }
        out
    }

    /// Whether free text mentions what reads like a file that the intent does not name.
    pub(crate) fn has_unnamed_mention(&self, text: &str) -> bool {
        text.split_whitespace().any(|word| {
            let (_, core, _) = trimmed(word);
            let is_named = RepoPath::parse(core).is_ok_and(|path| self.contains(&path));
            !is_named && reads_like_file(core)
        })
    }
}

/// A path for a message of limited length: whole, or only how long it is.
pub(crate) fn shown(path: &RepoPath) -> String {
    match path.as_str().chars().count() {
        ..=SHOWN_CHARS_MAX => format!("`{path}`"),
        count => format!("a path of {count} characters"),
    }
}

/// A word without the punctuation around it.
fn trimmed(word: &str) -> (&str, &str, &str) {
    let is_mark = |character: char| "'\"`()[]{}<>,;:!?“”‘’".contains(character);
    let start = word.trim_start_matches(is_mark);
    let core = start.trim_end_matches(|character| is_mark(character) || character == '.');
    let before = word.strip_suffix(start).unwrap_or_default();
    let after = start.strip_prefix(core).unwrap_or_default();
    (before, core, after)
}

/// Whether a word could be a path at all: the careful answer, for what may be shown.
fn may_be_path(word: &str) -> bool {
    word.contains(['/', '\\', '*']) || has_extension(word)
}

/// Whether a word is most likely meant as a file: the plain answer, for what is reported as not known.
fn reads_like_file(word: &str) -> bool {
    if word.contains("://") {
        return false;
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| word.starts_with(root));
    let is_deep = word.matches('/').count() >= 2;
    let is_capitalised = word.starts_with(|first: char| first.is_uppercase())
        && word.chars().any(|character| character.is_lowercase())
        && !word.contains('/')
        // `README.md` is a file, `Node.js` is not.
        && name.split('.').next().is_some_and(|stem| stem.chars().any(char::is_lowercase));
    (is_rooted && word.len() > 2) || is_deep || (has_extension(name) && !is_capitalised)
}

/// Whether a name ends in a dot and letters or digits that begin with a letter: `a.rs`, not `v1.2`, `i.e` or `.git`.
fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let is_long_enough = stem.chars().count() >= 2 || (!stem.is_empty() && extension.len() >= 2);
        is_long_enough
            && (1..=10).contains(&extension.len())
            && extension.starts_with(|first: char| first.is_ascii_alphabetic())
            && extension.chars().all(|character| character.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests;

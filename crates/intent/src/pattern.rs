//! Paths as patterns: files, directories and globs, cut into segments.

use alloc::vec::Vec;

use countersign_canon::RepoPath;

/// One segment of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Segment<'p> {
    /// Itself.
    Literal(&'p str),
    /// A text with `*` and `?`, within one segment.
    Glob(&'p str),
    /// `**`: any number of segments.
    Any,
}

/// What below a pattern belongs to it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Below {
    /// Nothing: it names files.
    Nothing,
    /// What names it in full on the way: `a.py` is a file, unless somebody writes `a.py/b`.
    Named,
    /// Everything.
    All,
}

/// What a target names: segments, and what below them belongs to it too.
///
/// A path that ends in `/` or `**` holds everything below. So does a plain path without an extension: it may be a
/// directory, and it is the careful answer. A glob names files, as in CODEOWNERS: `src/*` is not
/// `src/api/routes.py`; `src/*/` and `src/**` are. Brackets and braces stand for themselves: they are common in
/// file names such as `pages/[id].tsx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern<'p> {
    pub(crate) segments: Vec<Segment<'p>>,
    pub(crate) below: Below,
}

impl<'p> PathPattern<'p> {
    pub(crate) fn of(path: &'p RepoPath) -> Self {
        let mut segments: Vec<Segment<'p>> = path.segments().map(segment).collect();
        let is_plain = segments.iter().all(|segment| matches!(segment, Segment::Literal(_)));
        let mut below = match (path.is_directory(), is_plain, segments.last()) {
            (true, _, _) => Below::All,
            (false, true, Some(Segment::Literal(name))) if has_extension(name) => Below::Named,
            (false, true, _) => Below::All,
            (false, false, _) => Below::Nothing,
        };
        while segments.last() == Some(&Segment::Any) {
            segments.pop();
            below = Below::All;
        }
        Self { segments, below }
    }
}

/// Whether a name has a dot that is not its first character: `.github` has no extension.
fn has_extension(name: &str) -> bool {
    name.trim_start_matches('.').contains('.')
}

fn segment(text: &str) -> Segment<'_> {
    match text {
        "**" => Segment::Any,
        _ if text.contains(['*', '?']) => Segment::Glob(text),
        _ => Segment::Literal(text),
    }
}

/// Whether a glob of one segment matches a text.
pub(crate) fn glob_matches(glob: &str, text: &str) -> bool {
    meet(glob, text, |_| false)
}

/// Whether some text matches both globs.
pub(crate) fn globs_meet(a: &str, b: &str) -> bool {
    meet(a, b, |character| matches!(character, '*' | '?'))
}

/// Whether some text matches `a` and `b`; in `b` only the characters that `is_wild` names are wildcards.
///
/// Works from the ends to the starts: `row` says for each start in `b` whether the rests from there meet.
fn meet(a: &str, b: &str, is_wild: impl Fn(char) -> bool) -> bool {
    let b: Vec<char> = b.chars().collect();
    let reach = |row: &[bool], at: usize| row.get(at).copied().unwrap_or(false);
    // Nothing left of `a`: only stars may be left of `b`.
    let mut row: Vec<bool> = (0..=b.len())
        .map(|at| b.iter().skip(at).all(|&character| character == '*' && is_wild(character)))
        .collect();
    for in_a in a.chars().rev() {
        let shorter = row.clone();
        if let Some(end) = row.last_mut() {
            *end = in_a == '*' && reach(&shorter, b.len());
        }
        for (at, &in_b) in b.iter().enumerate().rev() {
            let next = at.saturating_add(1);
            let here = match (in_a, in_b, is_wild(in_b)) {
                // The star of `a` ends here, or takes one more of `b`.
                ('*', _, _) => reach(&shorter, at) || reach(&row, next),
                (_, '*', true) => reach(&row, next) || reach(&shorter, at),
                ('?', _, _) | (_, '?', true) => reach(&shorter, next),
                (in_a, in_b, _) => in_a == in_b && reach(&shorter, next),
            };
            if let Some(place) = row.get_mut(at) {
                *place = here;
            }
        }
    }
    reach(&row, 0)
}

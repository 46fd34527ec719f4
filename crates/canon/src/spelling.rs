//! The nearest valid spelling of a word somebody mistyped.

use alloc::{format, string::String, vec::Vec};

use crate::{Issue, code::codes};

/// The candidate that needs the fewest edits to become `word`, if that is few enough to be a slip.
///
/// Of equally near ones the first is taken, so the answer does not depend on anything but the arguments.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let edits_max = word.chars().count().div_ceil(3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(edits, _)| *edits <= edits_max)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, dropped or changed; upper and lower case count as the same letter.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (a_index, a) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = a_index;
        let mut left = a_index.saturating_add(1);
        let mut next = Vec::with_capacity(row.len());
        next.push(left);
        for (&b, &above) in b.iter().zip(row.iter().skip(1)) {
            let changed = diagonal.saturating_add(usize::from(a != b));
            left = changed.min(above.saturating_add(1)).min(left.saturating_add(1));
            next.push(left);
            diagonal = above;
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

/// The issue of a word that is not in a closed vocabulary.
#[must_use]
pub fn unknown_word(found: &str, words: &[&'static str]) -> Issue {
    let shown: String = found.chars().take(80).collect();
    let issue = Issue::new(codes::WIRE_VALUE, format!("unknown value `{shown}`"))
        .with_expected(format!("one of {}", words.join(", ")));
    match nearest(found, words.iter().copied()) {
        Some(meant) => issue.with_hint(format!("did you mean `{meant}`?")),
        None => issue,
    }
}

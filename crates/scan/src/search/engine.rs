//! What looks for many patterns in one pass.

use alloc::{sync::Arc, vec::Vec};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind, automaton::OverlappingState, packed};
use memchr::memmem::Finder;

use super::pass::Starts;

/// Up to so many patterns are told from all other text by their first bytes, many at a time; beyond that an
/// automaton that reads each byte once is faster.
pub(super) const FEW_MAX: usize = 64;

/// LIMIT: an automaton with a full table may take about so much memory; larger ones are packed and slower.
const TABLE_BYTES_MAX: usize = 192 * 1024 * 1024;

/// A row of patterns, searched together.
#[derive(Debug, Clone)]
pub(super) enum Engine {
    /// Says whether any of them is there, then looks for each.
    Few { any: Any, each: Vec<Finder<'static>> },
    /// Finds all of them at once, also where they overlap.
    Many(Arc<AhoCorasick>),
    /// The patterns could not be joined: looks for each. Slow, and as right as the others.
    Each(Vec<Finder<'static>>),
}

#[derive(Debug, Clone)]
pub(super) enum Any {
    /// There is only one.
    One,
    Packed(packed::Searcher),
    Automaton(Arc<AhoCorasick>),
}

impl Engine {
    pub(super) fn new(patterns: &[&[u8]]) -> Self {
        if patterns.len() > FEW_MAX {
            return match many(patterns) {
                Some(automaton) => Self::Many(Arc::new(automaton)),
                None => Self::Each(finders(patterns)),
            };
        }
        let each = finders(patterns);
        if patterns.len() == 1 {
            return Self::Few { any: Any::One, each };
        }
        // Patterns of one byte are too common for the packed search.
        let is_packable = patterns.iter().all(|pattern| pattern.len() > 1);
        let packed = is_packable
            .then(|| packed::Config::new().builder().extend(patterns).build())
            .flatten()
            .map(Any::Packed);
        let any = packed.or_else(|| {
            let mut builder = AhoCorasick::builder();
            let automaton = builder.match_kind(MatchKind::LeftmostFirst).build(patterns);
            automaton.ok().map(|automaton| Any::Automaton(Arc::new(automaton)))
        });
        match any {
            Some(any) => Self::Few { any, each },
            None => Self::Each(each),
        }
    }

    /// Notes where patterns that are still open start in `haystack`: for each, its first place.
    pub(super) fn search(&self, haystack: &[u8], starts: &mut Starts) {
        match self {
            Self::Few { any, each } => {
                let Some(first) = any.find(haystack, each) else { return };
                let rest = haystack.get(first..).unwrap_or_default();
                search_each(each, rest, first, starts);
            }
            Self::Many(automaton) => {
                let mut state = OverlappingState::start();
                while !starts.is_done() {
                    automaton.find_overlapping(haystack, &mut state);
                    let Some(found) = state.get_match() else { return };
                    starts.note(found.pattern().as_usize(), found.start());
                }
            }
            Self::Each(each) => search_each(each, haystack, 0, starts),
        }
    }
}

impl Any {
    fn find(&self, haystack: &[u8], each: &[Finder<'static>]) -> Option<usize> {
        match self {
            Self::One => each.first()?.find(haystack),
            Self::Packed(searcher) => searcher.find(haystack).map(|found| found.start()),
            Self::Automaton(automaton) => automaton.find(haystack).map(|found| found.start()),
        }
    }
}

fn search_each(each: &[Finder<'static>], rest: &[u8], shift: usize, starts: &mut Starts) {
    for (slot, finder) in each.iter().enumerate() {
        if starts.is_open(slot)
            && let Some(start) = finder.find(rest)
        {
            starts.note(slot, start.saturating_add(shift));
        }
    }
}

fn finders(patterns: &[&[u8]]) -> Vec<Finder<'static>> {
    patterns.iter().map(|pattern| Finder::new(pattern).into_owned()).collect()
}

/// An automaton for many patterns: a full table if it is small enough, a packed one if not.
fn many(patterns: &[&[u8]]) -> Option<AhoCorasick> {
    // At most one state for each byte of each pattern, 256 places of four bytes in each state's row.
    let states = patterns.iter().fold(0_usize, |sum, pattern| sum.saturating_add(pattern.len()));
    let mut used = [false; 256];
    for &byte in patterns.iter().copied().flatten() {
        if let Some(used) = used.get_mut(usize::from(byte)) {
            *used = true;
        }
    }
    let row = used.iter().filter(|used| **used).count().saturating_add(1).next_power_of_two();
    let table = states.saturating_mul(row).saturating_mul(4);
    let kind = if table <= TABLE_BYTES_MAX { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
    let build = |kind| {
        AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(kind))
            .prefilter(false)
            .build(patterns)
    };
    build(kind).or_else(|_| build(AhoCorasickKind::ContiguousNFA)).ok()
}

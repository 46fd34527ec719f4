//! A trie over path patterns: finds what meets a pattern without looking at the rest.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use crate::pattern::{Below, PathPattern, Segment, glob_matches, globs_meet};

type NodeIndex = usize;

const ROOT: NodeIndex = 0;

/// Patterns with something to remember about each.
#[derive(Debug)]
pub(crate) struct PathIndex<T> {
    // INVARIANT: `nodes` has the root; every child index is in it.
    nodes: Vec<Node<T>>,
    /// Whether some pattern has `**`.
    has_any: bool,
}

#[derive(Debug)]
struct Node<T> {
    literals: BTreeMap<Box<str>, NodeIndex>,
    globs: Vec<(Box<str>, NodeIndex)>,
    any: Option<NodeIndex>,
    /// Whether this node was reached by `**` and so swallows further segments.
    is_any: bool,
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    below: Below,
    value: T,
}

impl<T> Node<T> {
    const fn new(is_any: bool) -> Self {
        Self { literals: BTreeMap::new(), globs: Vec::new(), any: None, is_any, entries: Vec::new() }
    }

    fn children(&self) -> impl Iterator<Item = NodeIndex> {
        let globs = self.globs.iter().map(|(_, child)| *child);
        self.literals.values().copied().chain(globs).chain(self.any)
    }
}

impl<T: Copy + Ord> PathIndex<T> {
    pub(crate) fn new() -> Self {
        Self { nodes: alloc::vec![Node::new(false)], has_any: false }
    }

    /// Remembers `value` at a pattern.
    pub(crate) fn insert(&mut self, pattern: &PathPattern<'_>, value: T) {
        let mut at = ROOT;
        for segment in &pattern.segments {
            at = self.child(at, segment);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.entries.push(Entry { below: pattern.below, value });
        }
    }

    fn child(&mut self, at: NodeIndex, segment: &Segment<'_>) -> NodeIndex {
        let fresh = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else { return at };
        let child = match segment {
            Segment::Literal(text) => match node.literals.get(*text) {
                Some(&child) => child,
                None => *node.literals.entry(Box::from(*text)).or_insert(fresh),
            },
            Segment::Glob(text) => match node.globs.iter().find(|(glob, _)| **glob == **text) {
                Some(&(_, child)) => child,
                None => {
                    node.globs.push((Box::from(*text), fresh));
                    fresh
                }
            },
            Segment::Any => *node.any.get_or_insert(fresh),
        };
        if child == fresh {
            let is_any = matches!(segment, Segment::Any);
            self.has_any |= is_any;
            self.nodes.push(Node::new(is_any));
        }
        child
    }

    /// Everything whose pattern meets this one: they name one path, or one names a directory that holds the other.
    /// Sorted, without repetitions.
    pub(crate) fn meeting(&self, pattern: &PathPattern<'_>) -> Vec<T> {
        let mut search = Search {
            index: self,
            below: pattern.below,
            found: Vec::new(),
            may_return: self.has_any || pattern.segments.contains(&Segment::Any),
            seen: BTreeSet::new(),
        };
        search.walk(ROOT, &pattern.segments, Way::Named);
        let mut found = search.found;
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// How a place was come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// Name by name: both patterns spell every segment out.
    Named,
    /// Through a wildcard.
    Matched,
}

struct Search<'x, T> {
    index: &'x PathIndex<T>,
    below: Below,
    found: Vec<T>,
    // Only patterns with `**` can come to a place twice.
    may_return: bool,
    // Places already walked.
    seen: BTreeSet<(NodeIndex, usize, Way)>,
}

impl<T: Copy + Ord> Search<'_, T> {
    /// Recursion is bounded by the segments of the longest path.
    fn walk(&mut self, at: NodeIndex, rest: &[Segment<'_>], way: Way) {
        let Some(node) = self.index.nodes.get(at) else { return };
        if self.may_return && !self.seen.insert((at, rest.len(), way)) {
            return;
        }
        let holds = |below: Below| match below {
            Below::Nothing => false,
            Below::Named => way == Way::Named,
            Below::All => true,
        };
        let ends_here = node.entries.iter().filter(|entry| rest.is_empty() || holds(entry.below));
        self.found.extend(ends_here.map(|entry| entry.value));
        let Some((first, after)) = rest.split_first() else {
            if holds(self.below) {
                self.collect_below(at);
            }
            return;
        };
        match first {
            Segment::Literal(text) => {
                if let Some(&child) = node.literals.get(*text) {
                    self.walk(child, after, way);
                }
                for (_, child) in node.globs.iter().filter(|(glob, _)| glob_matches(glob, text)) {
                    self.walk(*child, after, Way::Matched);
                }
            }
            Segment::Glob(glob) => {
                for (_, child) in node.literals.iter().filter(|(text, _)| glob_matches(glob, text)) {
                    self.walk(*child, after, Way::Matched);
                }
                for (_, child) in node.globs.iter().filter(|(other, _)| globs_meet(glob, other)) {
                    self.walk(*child, after, Way::Matched);
                }
            }
            Segment::Any => {
                self.walk(at, after, Way::Matched);
                for child in node.children() {
                    self.walk(child, rest, Way::Matched);
                }
            }
        }
        if let Some(any) = node.any {
            self.walk(any, rest, Way::Matched);
        }
        if node.is_any {
            self.walk(at, after, Way::Matched);
        }
    }

    fn collect_below(&mut self, at: NodeIndex) {
        let mut pending = alloc::vec![at];
        while let Some(at) = pending.pop() {
            let Some(node) = self.index.nodes.get(at) else { continue };
            self.found.extend(node.entries.iter().map(|entry| entry.value));
            pending.extend(node.children());
        }
    }
}

#[cfg(test)]
mod tests;

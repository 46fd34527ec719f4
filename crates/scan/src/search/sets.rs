//! The rules compiled: which rules meet a file, and one searcher for each set of rules.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};

use super::{
    engine::{Engine, FEW_MAX},
    excerpt::CONTEXT_BYTES,
};
use crate::{
    glob::{Folder, GlobSet},
    load::Bundle,
};

/// LIMIT: searchers kept by each thread; files that meet yet other sets of rules use the searcher of all patterns.
const SETS_MAX: usize = 128;

/// A bundle made ready to search with.
///
/// # Examples
///
/// ```
/// use countersign_canon::Json;
/// use countersign_scan::{Bundle, FileSearch, Piece, Plan, RuleFiles, Sets};
///
/// let boundaries = Json::parse(br#"{"boundaries": [{
///     "id": "TF-1",
///     "title": "No open ingress",
///     "enforcement": {"mode": "fail"},
///     "match": {"files": ["**/*.tf"], "forbidden_patterns": ["0.0.0.0/0"]}
/// }]}"#).unwrap();
/// let bundle = Bundle::load(&RuleFiles { boundaries: Some(boundaries), ..RuleFiles::default() }).unwrap();
/// let plan = Plan::new(&bundle);
/// let mut sets = Sets::new(&plan);
/// let root = plan.globs().root();
/// let set = sets.meet(&root, b"main.tf").unwrap();
/// let mut search = FileSearch::new(&set);
/// search.piece(b"cidr = \"0.0.0.0/0\"\n", Piece::Last);
/// assert_eq!(search.finish()[0].offset, 8);
/// assert!(sets.meet(&root, b"main.go").is_none());
/// ```
#[derive(Debug)]
pub struct Plan {
    globs: GlobSet,
    // By glob: the rules that have it.
    glob_rules: Vec<Vec<u32>>,
    // By rule: its patterns.
    rule_patterns: Vec<Vec<u32>>,
    patterns: Arc<[Box<[u8]>]>,
    whole: Arc<Engine>,
}

/// The patterns of a set of rules, ready to search for.
#[derive(Debug)]
pub struct PatternSet {
    rules: Vec<u32>,
    // The patterns that are looked for.
    count: usize,
    // By slot of the engine: the pattern. None if slots are patterns.
    ids: Option<Vec<u32>>,
    // By slot: whether it is no pattern of this set. Empty if all are.
    strangers: Vec<bool>,
    patterns: Arc<[Box<[u8]>]>,
    engine: Arc<Engine>,
    pattern_bytes_max: usize,
}

impl Plan {
    /// Compiles a bundle.
    #[must_use]
    pub fn new(bundle: &Bundle) -> Self {
        let mut glob_rules: Vec<Vec<u32>> = bundle.globs().iter().map(|_| Vec::new()).collect();
        for (rule, index) in bundle.rules().iter().zip(0_u32..) {
            for glob in &rule.globs {
                if let Some(rules) = usize::try_from(*glob).ok().and_then(|glob| glob_rules.get_mut(glob)) {
                    rules.push(index);
                }
            }
        }
        let patterns: Arc<[Box<[u8]>]> =
            bundle.patterns().iter().map(|pattern| pattern.as_str().as_bytes().into()).collect();
        let all: Vec<&[u8]> = patterns.iter().map(|pattern| &**pattern).collect();
        let whole = Arc::new(Engine::new(&all));
        Self {
            globs: GlobSet::new(bundle.globs()),
            glob_rules,
            rule_patterns: bundle.rules().iter().map(|rule| rule.patterns.clone()).collect(),
            patterns,
            whole,
        }
    }

    /// All globs of the bundle, to walk with.
    #[must_use]
    pub const fn globs(&self) -> &GlobSet {
        &self.globs
    }

    /// The patterns of one rule alone.
    #[must_use]
    pub fn only(&self, rule: u32) -> PatternSet {
        self.set(&[rule], true)
    }

    /// The set of these rules, which are sorted.
    fn set(&self, rules: &[u32], is_kept: bool) -> PatternSet {
        let mut ids: Vec<u32> = rules
            .iter()
            .filter_map(|rule| self.rule_patterns.get(usize::try_from(*rule).ok()?))
            .flatten()
            .copied()
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let bytes: Vec<&[u8]> = ids.iter().filter_map(|id| self.pattern(*id)).collect();
        let pattern_bytes_max = bytes.iter().map(|pattern| pattern.len()).max().unwrap_or(0);
        let (rules, count) = (Vec::from(rules), ids.len());
        let patterns = Arc::clone(&self.patterns);
        if count <= FEW_MAX && is_kept && count < patterns.len() {
            let engine = Arc::new(Engine::new(&bytes));
            let (ids, strangers) = (Some(ids), Vec::new());
            return PatternSet { rules, count, ids, strangers, patterns, engine, pattern_bytes_max };
        }
        let strangers = if count == patterns.len() {
            Vec::new()
        } else {
            (0_u32..).zip(&*patterns).map(|(id, _)| ids.binary_search(&id).is_err()).collect()
        };
        let engine = Arc::clone(&self.whole);
        PatternSet { rules, count, ids: None, strangers, patterns, engine, pattern_bytes_max }
    }

    fn pattern(&self, id: u32) -> Option<&[u8]> {
        self.patterns.get(usize::try_from(id).ok()?).map(|pattern| &**pattern)
    }
}

impl PatternSet {
    /// The rules that meet the file, in order.
    #[must_use]
    pub fn rules(&self) -> &[u32] {
        &self.rules
    }

    /// How long a piece of a file must be at least, if it is not the last one.
    #[must_use]
    pub fn piece_bytes_min(&self) -> usize {
        self.pattern_bytes_max.saturating_add(CONTEXT_BYTES.saturating_mul(2)).saturating_add(1)
    }

    pub(super) const fn len(&self) -> usize {
        self.count
    }

    pub(super) fn slots(&self) -> usize {
        self.ids.as_ref().map_or(self.patterns.len(), Vec::len)
    }

    pub(super) fn strangers(&self) -> &[bool] {
        &self.strangers
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(super) const fn pattern_bytes_max(&self) -> usize {
        self.pattern_bytes_max
    }

    /// The pattern in a slot of the engine.
    pub(super) fn pattern(&self, slot: usize) -> Option<(u32, &[u8])> {
        let id = match &self.ids {
            Some(ids) => *ids.get(slot)?,
            None => u32::try_from(slot).ok()?,
        };
        Some((id, self.patterns.get(usize::try_from(id).ok()?)?))
    }
}

/// The sets of rules that files of one thread met so far.
#[derive(Debug)]
pub struct Sets<'p> {
    plan: &'p Plan,
    kept: BTreeMap<Vec<u32>, Arc<PatternSet>>,
    globs: Vec<u32>,
    rules: Vec<u32>,
}

impl<'p> Sets<'p> {
    /// No sets so far.
    #[must_use]
    pub const fn new(plan: &'p Plan) -> Self {
        Self { plan, kept: BTreeMap::new(), globs: Vec::new(), rules: Vec::new() }
    }

    /// The globs that the file `name` in this folder matches, in order.
    pub fn globs(&mut self, folder: &Folder, name: &[u8]) -> &[u32] {
        self.globs.clear();
        self.plan.globs.files(folder, name, &mut self.globs);
        self.globs.sort_unstable();
        self.globs.dedup();
        &self.globs
    }

    /// The rules that meet the file `name` in this folder, with their patterns; none if no rule does.
    pub fn meet(&mut self, folder: &Folder, name: &[u8]) -> Option<Arc<PatternSet>> {
        self.globs.clear();
        self.plan.globs.files(folder, name, &mut self.globs);
        if self.globs.is_empty() {
            return None;
        }
        self.rules.clear();
        for glob in &self.globs {
            let rules = usize::try_from(*glob).ok().and_then(|glob| self.plan.glob_rules.get(glob));
            self.rules.extend(rules.into_iter().flatten());
        }
        self.rules.sort_unstable();
        self.rules.dedup();
        if let Some(set) = self.kept.get(self.rules.as_slice()) {
            return Some(Arc::clone(set));
        }
        let is_kept = self.kept.len() < SETS_MAX;
        let set = Arc::new(self.plan.set(&self.rules, is_kept));
        if is_kept {
            self.kept.insert(self.rules.clone(), Arc::clone(&set));
        }
        Some(set)
    }
}

//! The compiled form of a policy: conditions as columns of bits, fields of a context as rows.
//!
//! Every condition becomes a disjunction of terms, and every term a column. For each value that a field can have
//! there is a row with the columns that this value rules out; a context picks one row per field, and what no row
//! rules out matches. So the cost hardly depends on the number of rules.

use alloc::{boxed::Box, collections::BTreeMap, vec, vec::Vec};

use crate::{Atom, Context, Expr, Mode, Rule, Warrant, algebra::Algebra};

mod dnf;
mod facts;
mod lookup;
mod recognise;

pub(crate) use self::facts::Facts;
use self::{
    dnf::{Literal, terms},
    facts::{CAPABILITY_WORDS, Place},
    lookup::Lookup,
};

/// Columns are kept in blocks of half a cache line: small policies need no more.
/// In bytes, and not in words, they are merged sixteen at a time.
type Block = [u8; 32];
const COLUMNS_PER_BLOCK: usize = size_of::<Block>() * 8;

/// A policy made ready to decide.
#[derive(Debug)]
pub(crate) struct Compiled {
    roles: Lookup,
    kinds: Lookup,
    hashes: Lookup,
    present: Lookup,
    allowed: Lookup,
    /// Where the rows of each field start.
    layout: Layout,
    /// One plane per block of columns; in each plane, one block per row.
    planes: Vec<Box<[Block]>>,
    /// Which columns exist, by block.
    columns: Vec<Block>,
    /// The rule of each column; the columns of one rule are neighbours.
    column_rules: Vec<u16>,
    /// Conditions with too many terms for columns, by rule: their one column says "perhaps".
    wide: BTreeMap<u16, Expr<Place>>,
}

/// Where the rows of each field start. Capabilities have sixteen rows for every four of them.
#[derive(Debug, Clone, Copy, Default)]
struct Layout {
    role: usize,
    kind: usize,
    hash: usize,
    mode: usize,
    warrant: usize,
    switches: usize,
    evidence: usize,
    present: usize,
    allowed: usize,
    end: usize,
}

/// Every combination of five yes-or-no facts.
const SWITCH_ROWS: usize = 32;
/// Every combination of four capabilities.
const GROUP_ROWS: usize = 16;

impl Compiled {
    /// Compiles rules that are in the order in which they decide.
    pub(crate) fn new(rules: &[Rule]) -> Self {
        let mut compiled = Self::with_names(rules);
        let mut columns: Vec<Vec<Literal>> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let condition = rule.when.map(&mut |atom| compiled.place(atom));
            let (rule_columns, wide) = match terms(&condition) {
                Some(rule_columns) => (rule_columns, None),
                None => (vec![Vec::new()], Some(condition)),
            };
            let index = u16::try_from(index).unwrap_or(u16::MAX);
            compiled.column_rules.extend(core::iter::repeat_n(index, rule_columns.len()));
            compiled.wide.extend(wide.map(|condition| (index, condition)));
            columns.extend(rule_columns);
        }
        compiled.fill(&columns);
        compiled
    }

    /// The names that the rules ask for, and nothing else yet.
    fn with_names(rules: &[Rule]) -> Self {
        let (mut roles, mut kinds, mut hashes) = (Lookup::default(), Lookup::default(), Lookup::default());
        let (mut present, mut allowed) = (Lookup::default(), Lookup::default());
        for atom in rules.iter().flat_map(|rule| rule.when.leaves()) {
            match atom {
                Atom::RoleIs(role) => roles.add(role.as_str()),
                Atom::ActionKindIs(kind) => kinds.add(kind.as_str()),
                Atom::ActionHashMatches(hash) => hashes.add(&alloc::format!("{hash}")),
                Atom::CapabilityPresent(capability) => present.add(capability.as_str()),
                Atom::CapabilityAllowed(capability) => allowed.add(capability.as_str()),
                Atom::ModeIs(_)
                | Atom::SessionActive
                | Atom::ApprovalPresent
                | Atom::ApprovalValid
                | Atom::ApprovalUnexpired
                | Atom::ApprovalUnused
                | Atom::HasEvidenceKind(_)
                | Atom::WarrantIs(_) => (),
            }
        }
        Self {
            roles,
            kinds,
            hashes,
            present,
            allowed,
            layout: Layout::default(),
            planes: Vec::new(),
            columns: Vec::new(),
            column_rules: Vec::new(),
            wide: BTreeMap::new(),
        }
    }

    /// Where a context keeps the answer to this atom.
    fn place(&self, atom: &Atom) -> Place {
        match atom {
            Atom::RoleIs(role) => Place::Role(self.roles.find(role.as_str())),
            Atom::ActionKindIs(kind) => Place::Kind(self.kinds.find(kind.as_str())),
            Atom::ActionHashMatches(hash) => Place::Hash(self.hashes.find(&alloc::format!("{hash}"))),
            Atom::ModeIs(mode) => Place::Mode(facts::mode_row(*mode)),
            Atom::WarrantIs(warrant) => Place::Warrant(facts::warrant_row(Some(*warrant))),
            Atom::SessionActive => Place::Switch(facts::SESSION_ACTIVE),
            Atom::ApprovalPresent => Place::Switch(facts::APPROVAL_PRESENT),
            Atom::ApprovalValid => Place::Switch(facts::APPROVAL_VALID),
            Atom::ApprovalUnexpired => Place::Switch(facts::APPROVAL_UNEXPIRED),
            Atom::ApprovalUnused => Place::Switch(facts::APPROVAL_UNUSED),
            Atom::HasEvidenceKind(kind) => Place::Evidence(facts::evidence_bit(*kind)),
            Atom::CapabilityPresent(capability) => Place::Present(self.present.find(capability.as_str())),
            Atom::CapabilityAllowed(capability) => Place::Allowed(self.allowed.find(capability.as_str())),
        }
    }

    /// Makes the rows.
    fn fill(&mut self, columns: &[Vec<Literal>]) {
        let named = |lookup: &Lookup| lookup.len().saturating_add(1);
        let grouped = |lookup: &Lookup| lookup.len().div_ceil(4).saturating_mul(GROUP_ROWS);
        let mut end = 0_usize;
        let mut rows = |count: usize| {
            let start = end;
            end = end.saturating_add(count);
            start
        };
        let mut layout = Layout {
            role: rows(named(&self.roles)),
            kind: rows(named(&self.kinds)),
            hash: rows(named(&self.hashes)),
            mode: rows(Mode::ALL.len()),
            warrant: rows(Warrant::ALL.len().saturating_add(1)),
            switches: rows(SWITCH_ROWS),
            evidence: rows(SWITCH_ROWS),
            present: rows(grouped(&self.present)),
            allowed: rows(grouped(&self.allowed)),
            end: 0,
        };
        layout.end = rows(0);
        self.layout = layout;
        let planes = columns.len().div_ceil(COLUMNS_PER_BLOCK);
        self.planes = vec![vec![Block::default(); layout.end].into_boxed_slice(); planes];
        self.columns = vec![Block::default(); planes];
        for (column, literals) in columns.iter().enumerate() {
            set(self.columns.get_mut(column / COLUMNS_PER_BLOCK), column);
            for literal in literals {
                self.rule_out(column, *literal);
            }
        }
    }

    /// Enters one literal: every row of its field whose value contradicts it rules the column out.
    fn rule_out(&mut self, column: usize, literal: Literal) {
        let Layout { role, kind, hash, mode, warrant, switches, evidence, present, allowed, end: _ } =
            self.layout;
        let Literal { place, is } = literal;
        let named = |start: usize, end: usize, value: u16| {
            let at = start.saturating_add(usize::from(value));
            (start..end).map(move |row| (row, row == at))
        };
        let bits = |start: usize, rows: usize, bit: u8| {
            (0..rows).map(move |row| (start.saturating_add(row), row >> bit & 1 == 1))
        };
        let group = |start: usize, index: u16| {
            let index = usize::from(index).saturating_sub(1);
            let start = start.saturating_add((index >> 2).saturating_mul(GROUP_ROWS));
            bits(start, GROUP_ROWS, u8::try_from(index & 3).unwrap_or(0))
        };
        let Some(plane) = self.planes.get_mut(column / COLUMNS_PER_BLOCK) else { return };
        let mut enter = |rows: &mut dyn Iterator<Item = (usize, bool)>| {
            for (row, holds) in rows {
                if holds != is {
                    set(plane.get_mut(row), column);
                }
            }
        };
        match place {
            Place::Role(value) => enter(&mut named(role, kind, value)),
            Place::Kind(value) => enter(&mut named(kind, hash, value)),
            Place::Hash(value) => enter(&mut named(hash, mode, value)),
            Place::Mode(value) => enter(&mut named(mode, warrant, u16::from(value))),
            Place::Warrant(value) => enter(&mut named(warrant, switches, u16::from(value))),
            Place::Switch(bit) => enter(&mut bits(switches, SWITCH_ROWS, bit)),
            Place::Evidence(bit) => enter(&mut bits(evidence, SWITCH_ROWS, bit)),
            Place::Present(index) => enter(&mut group(present, index)),
            Place::Allowed(index) => enter(&mut group(allowed, index)),
        }
    }

    /// The answers of a context to everything this policy asks.
    pub(crate) fn facts(&self, context: &Context) -> Facts {
        let mut facts = Facts {
            role: context.role.as_ref().map_or(0, |role| self.roles.find(role.as_str())),
            kind: self.kinds.find(context.action_kind.as_str()),
            hash: if self.hashes.is_empty() {
                0
            } else {
                self.hashes.find(&alloc::format!("{}", context.action_hash))
            },
            mode: facts::mode_row(context.mode),
            warrant: facts::warrant_row(context.warrant.0),
            switches: 0,
            evidence: 0,
            present: [0; CAPABILITY_WORDS],
            allowed: [0; CAPABILITY_WORDS],
        };
        facts.switch(facts::SESSION_ACTIVE, context.session_active);
        facts.switch(facts::APPROVAL_PRESENT, context.approval_present);
        facts.switch(facts::APPROVAL_VALID, context.approval_valid);
        facts.switch(facts::APPROVAL_UNEXPIRED, context.approval_unexpired);
        facts.switch(facts::APPROVAL_UNUSED, context.approval_unused);
        for kind in context.evidence_kinds.0.iter() {
            facts.add_evidence(*kind);
        }
        for capability in context.capabilities_present.0.iter() {
            Facts::add_capability(&mut facts.present, self.present.find(capability.as_str()));
        }
        for capability in context.capabilities_allowed.0.iter() {
            Facts::add_capability(&mut facts.allowed, self.allowed.find(capability.as_str()));
        }
        facts
    }

    /// Calls `found` with the index of every matching rule, in order.
    pub(crate) fn each_match(&self, facts: &Facts, found: &mut impl FnMut(u16)) {
        let layout = &self.layout;
        let single = [
            layout.role.saturating_add(usize::from(facts.role)),
            layout.kind.saturating_add(usize::from(facts.kind)),
            layout.hash.saturating_add(usize::from(facts.hash)),
            layout.mode.saturating_add(usize::from(facts.mode)),
            layout.warrant.saturating_add(usize::from(facts.warrant)),
            layout.switches.saturating_add(usize::from(facts.switches)),
            layout.evidence.saturating_add(usize::from(facts.evidence)),
        ];
        let mut rules = self.column_rules.iter();
        let mut last = None;
        for (plane, columns) in self.planes.iter().zip(&self.columns) {
            let mut out = Block::default();
            for row in single {
                merge(&mut out, plane.get(row));
            }
            let groups = plane.get(layout.present..layout.allowed).unwrap_or_default();
            merge_groups(&mut out, groups, &facts.present);
            let groups = plane.get(layout.allowed..layout.end).unwrap_or_default();
            merge_groups(&mut out, groups, &facts.allowed);
            let block_rules = rules.as_slice();
            let (out, columns) = (words(&out), words(columns));
            for (word_index, (out, exists)) in out.zip(columns).enumerate() {
                let mut open = exists & !out;
                let word_rules = block_rules.get(word_index << 6..).unwrap_or_default();
                while open != 0 {
                    let bit = usize::try_from(open.trailing_zeros()).unwrap_or(0);
                    open &= open.wrapping_sub(1);
                    let Some(&rule) = word_rules.get(bit) else { break };
                    if last != Some(rule) && self.wide_matches(rule, facts) {
                        last = Some(rule);
                        found(rule);
                    }
                }
            }
            rules = block_rules.get(COLUMNS_PER_BLOCK..).unwrap_or_default().iter();
        }
    }

    /// Whether the whole condition holds, where the column alone does not say.
    fn wide_matches(&self, rule: u16, facts: &Facts) -> bool {
        self.wide.get(&rule).is_none_or(|condition| condition.evaluate(&mut InFacts(facts)))
    }
}

fn set(block: Option<&mut Block>, column: usize) {
    if let Some(byte) = block.and_then(|block| block.get_mut(column % COLUMNS_PER_BLOCK / 8)) {
        *byte |= 1 << (column & 7);
    }
}

/// Sixty-four columns at a time.
fn words(block: &Block) -> impl Iterator<Item = u64> {
    block.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}

fn merge(out: &mut Block, row: Option<&Block>) {
    if let Some(row) = row {
        for (out, row) in out.iter_mut().zip(row) {
            *out |= row;
        }
    }
}

/// Merges one row of sixteen for every four capabilities.
fn merge_groups(out: &mut Block, rows: &[Block], capabilities: &[u64; CAPABILITY_WORDS]) {
    let (groups, _) = rows.as_chunks::<GROUP_ROWS>();
    for (groups, word) in groups.chunks(16).zip(capabilities) {
        let mut rest = *word;
        for group in groups {
            merge(out, group.get(usize::try_from(rest & 15).unwrap_or(0)));
            rest >>= 4;
        }
    }
}

/// Conditions over places, with the facts of one context.
struct InFacts<'f>(&'f Facts);

impl Algebra<Place> for InFacts<'_> {
    type Bit = bool;

    fn constant(&mut self, truth: bool) -> bool {
        truth
    }

    fn leaf(&mut self, place: &Place) -> bool {
        self.0.holds(*place)
    }

    fn not(&mut self, bit: bool) -> bool {
        !bit
    }

    fn and(&mut self, left: bool, right: bool) -> bool {
        left && right
    }
}

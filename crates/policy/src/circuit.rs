//! Policies as formulas: the evaluator over wires instead of truth values, and models back as contexts.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec, vec::Vec};

use countersign_canon::{Json, Nullable, Timestamp};

use crate::{ActionKind, Atom, Context, Mode, NameSet, action_hash, algebra::Algebra};

/// A wire or its opposite: a literal of a clause, in the numbering of the DIMACS format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lit(
    // INVARIANT: not zero, and not i32::MIN.
    i32,
);

impl Lit {
    /// The wire with this number, which counts from one.
    #[must_use]
    pub fn wire(number: u32) -> Self {
        Self(i32::try_from(number.max(1)).unwrap_or(i32::MAX))
    }

    /// The number, negative for the opposite of a wire.
    #[must_use]
    pub const fn number(self) -> i32 {
        self.0
    }

    /// The opposite.
    #[must_use]
    pub const fn negated(self) -> Self {
        Self(self.0.wrapping_neg())
    }

    /// The number of the wire.
    #[must_use]
    pub const fn variable(self) -> u32 {
        self.0.unsigned_abs()
    }
}

/// The wire that is always on.
const ON: Lit = Lit(1);
const OFF: Lit = ON.negated();

/// A satisfying assignment: which wires are on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    // Indexed by wire; wires that are not there are off.
    on: Vec<bool>,
}

impl Model {
    /// The assignment in which exactly these wires are on.
    #[must_use]
    pub fn new(on: impl IntoIterator<Item = u32>, wires: u32) -> Self {
        let mut model = Self { on: vec![false; usize::try_from(wires).unwrap_or(0).saturating_add(1)] };
        for wire in on {
            if let Some(slot) = usize::try_from(wire).ok().and_then(|wire| model.on.get_mut(wire)) {
                *slot = true;
            }
        }
        model
    }

    /// Whether the literal holds.
    #[must_use]
    pub fn holds(&self, literal: Lit) -> bool {
        let on = usize::try_from(literal.variable()).ok().and_then(|wire| self.on.get(wire)).copied();
        on.unwrap_or(false) == (literal.0 > 0)
    }
}

/// A growing formula in conjunctive form.
///
/// Every atom is a wire, every operation a gate; equal gates are made once. The two modes are one wire and its
/// opposite; of other fields with one value at most one wire is on, once [`Circuit::close`] has said so.
#[derive(Debug, Clone)]
pub struct Circuit {
    clauses: Vec<Vec<Lit>>,
    wires: i32,
    facts: BTreeMap<Atom, Lit>,
    gates: BTreeMap<(Lit, Lit), Lit>,
}

impl Default for Circuit {
    fn default() -> Self {
        Self { clauses: vec![vec![ON]], wires: 1, facts: BTreeMap::new(), gates: BTreeMap::new() }
    }
}

impl Circuit {
    /// All clauses so far; they only ever grow.
    #[must_use]
    pub fn clauses(&self) -> &[Vec<Lit>] {
        &self.clauses
    }

    /// How many wires there are.
    #[must_use]
    pub const fn wires(&self) -> u32 {
        self.wires.unsigned_abs()
    }

    /// Demands that one of these holds.
    pub fn demand(&mut self, clause: &[Lit]) {
        self.clauses.push(clause.to_vec());
    }

    /// The facts in play: each says something that a blank context does not.
    #[must_use]
    pub fn facts(&self) -> Vec<Lit> {
        self.facts.values().copied().collect()
    }

    /// The atoms in play, sorted.
    pub fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.facts.keys()
    }

    pub(crate) fn wire(&mut self) -> Lit {
        // LIMIT: i32::MAX wires; a policy has at most 2000 nodes and a diff some thousands of gates.
        self.wires = self.wires.saturating_add(1);
        Lit(self.wires)
    }

    /// Says that a field has one value: at most one atom of each such field holds. Call it when all atoms are there.
    pub fn close(&mut self) {
        type Field = fn(&Atom) -> bool;
        let fields: [Field; 4] = [
            |atom| matches!(atom, Atom::RoleIs(_)),
            |atom| matches!(atom, Atom::ActionKindIs(_)),
            |atom| matches!(atom, Atom::ActionHashMatches(_)),
            |atom| matches!(atom, Atom::WarrantIs(_)),
        ];
        for is_of_field in fields {
            let values: Vec<Lit> =
                self.facts.iter().filter(|(atom, _)| is_of_field(atom)).map(|(_, wire)| *wire).collect();
            // "One of those before" is carried along, so that the clauses stay linear in number.
            let mut before = OFF;
            for value in values {
                let both = self.and(before, value);
                self.demand(&[both.negated()]);
                before = self.or(before, value);
            }
        }
    }

    /// Wires that say "at least 1, 2, … `most` of these are on".
    pub fn at_least(&mut self, inputs: &[Lit], most: usize) -> Vec<Lit> {
        let mut counts = vec![OFF; most];
        for input in inputs {
            let mut below = ON;
            for count in &mut counts {
                let carried = self.and(below, *input);
                below = *count;
                *count = self.or(below, carried);
            }
        }
        counts
    }

    /// The context that a model describes; facts that are not in play stay blank.
    #[must_use]
    pub fn context(&self, model: &Model) -> Context {
        let kind = self.unnamed(|name| ActionKind::parse(name).ok(), Atom::ActionKindIs);
        // A name of one word is a kind: the fallback is never needed, and would only be a worse witness.
        let action_kind = kind.unwrap_or_else(ActionKind::unnamed);
        let hash = |name: &str| Some(action_hash(&action_kind, &Json::from(String::from(name))));
        let unnamed_hash = self.unnamed(hash, Atom::ActionHashMatches);
        let action_hash = unnamed_hash.unwrap_or_else(|| action_hash(&action_kind, &Json::from("other")));
        let mut context = Context {
            role: Nullable(None),
            mode: Mode::ReadOnly,
            action_kind,
            action_hash,
            session_active: false,
            capabilities_present: NameSet::default(),
            capabilities_allowed: NameSet::default(),
            evidence_kinds: NameSet::default(),
            approval_present: false,
            approval_valid: false,
            approval_unexpired: false,
            approval_unused: false,
            warrant: Nullable(None),
            evaluation_ts: Timestamp::UNIX_EPOCH,
        };
        for (atom, wire) in &self.facts {
            if model.holds(*wire) {
                enter(&mut context, atom);
            }
        }
        context
    }

    /// A value that no atom in play names.
    fn unnamed<T: Clone>(&self, make: impl Fn(&str) -> Option<T>, atom: impl Fn(T) -> Atom) -> Option<T> {
        // One more candidate than there are facts, so one of them is free.
        (0..=self.facts.len()).find_map(|number| {
            let name = if number == 0 { String::from("other") } else { format!("other_{number}") };
            let value = make(&name)?;
            (!self.facts.contains_key(&atom(value.clone()))).then_some(value)
        })
    }
}

/// Makes one atom hold in the context.
fn enter(context: &mut Context, atom: &Atom) {
    match atom {
        Atom::RoleIs(role) => context.role = Nullable(Some(role.clone())),
        Atom::ModeIs(mode) => context.mode = *mode,
        Atom::SessionActive => context.session_active = true,
        Atom::CapabilityPresent(capability) => {
            Arc::make_mut(&mut context.capabilities_present.0).insert(capability.clone());
        }
        Atom::CapabilityAllowed(capability) => {
            Arc::make_mut(&mut context.capabilities_allowed.0).insert(capability.clone());
        }
        Atom::ActionKindIs(kind) => context.action_kind = kind.clone(),
        Atom::ActionHashMatches(hash) => context.action_hash = *hash,
        Atom::ApprovalPresent => context.approval_present = true,
        Atom::ApprovalValid => context.approval_valid = true,
        Atom::ApprovalUnexpired => context.approval_unexpired = true,
        Atom::ApprovalUnused => context.approval_unused = true,
        Atom::HasEvidenceKind(kind) => {
            Arc::make_mut(&mut context.evidence_kinds.0).insert(*kind);
        }
        Atom::WarrantIs(warrant) => context.warrant = Nullable(Some(*warrant)),
    }
}

impl Algebra<Atom> for Circuit {
    type Bit = Lit;

    fn constant(&mut self, truth: bool) -> Lit {
        if truth { ON } else { OFF }
    }

    fn leaf(&mut self, atom: &Atom) -> Lit {
        // A session that may not write is one that may only read.
        let is = *atom != Atom::ModeIs(Mode::ReadOnly);
        let atom = if is { atom } else { &Atom::ModeIs(Mode::WritesAllowed) };
        let wire = match self.facts.get(atom) {
            Some(wire) => *wire,
            None => {
                let wire = self.wire();
                self.facts.insert(atom.clone(), wire);
                wire
            }
        };
        if is { wire } else { wire.negated() }
    }

    fn not(&mut self, bit: Lit) -> Lit {
        bit.negated()
    }

    fn and(&mut self, left: Lit, right: Lit) -> Lit {
        if left == OFF || right == OFF || left == right.negated() {
            return OFF;
        }
        if left == ON || left == right {
            return right;
        }
        if right == ON {
            return left;
        }
        let inputs = (left.min(right), left.max(right));
        if let Some(gate) = self.gates.get(&inputs) {
            return *gate;
        }
        let gate = self.wire();
        self.gates.insert(inputs, gate);
        self.demand(&[gate.negated(), left]);
        self.demand(&[gate.negated(), right]);
        self.demand(&[gate, left.negated(), right.negated()]);
        gate
    }
}

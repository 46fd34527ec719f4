//! The documents beside the policy: the capability lattice, the allow policy, and what a probe found.

use alloc::{collections::BTreeMap, format, vec::Vec};

use countersign_canon::{
    Definitions, Issue, Json, Name as _, NonEmpty, Pointer, Reader, Text, Wire, Within, canon_codes, choice,
    nearest, record, typed_hash,
};

use crate::{ActionKind, Capability, NameSet, ProbeFact, Role, codes};

typed_hash! {
    /// The hash of a capability lattice.
    pub LatticeHash
    /// The hash of an allow policy.
    pub AllowHash
    /// The hash of probe facts.
    pub ProbeHash
}

choice! {
    /// The name of the lattice's language.
    pub enum LatticeSchema {
        /// The first version.
        V1 = "urm.capability.lattice.v1",
    }
}

choice! {
    /// The name of the allow policy's language.
    pub enum AllowSchema {
        /// The first version.
        V1 = "urm.allow.v1",
    }
}

choice! {
    /// The name of the language of probe facts.
    pub enum ProbeSchema {
        /// The first version.
        V1 = "urm.probe.facts.v1",
    }
}

record! {
    /// The capability lattice: which capabilities there are, and what each kind of action needs.
    pub struct LatticeDocument {
        /// The name of the language.
        schema: LatticeSchema,
        /// The capabilities.
        capabilities: Vec<CapabilityEntry>,
        /// What each kind of action needs.
        actions: BTreeMap<ActionKind, ActionEntry>,
    }
}

record! {
    /// A capability, and how it is found.
    pub struct CapabilityEntry {
        /// Its name.
        id: Capability,
        /// What a probe must find for it to be there.
        probe: Probe,
    }
}

/// What a probe must find: nothing, or all of these facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// The capability is always there.
    None,
    /// It is there if all of these were found.
    All(NonEmpty<ProbeFact>),
}

impl Wire for Probe {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        match json.as_str() {
            Some("none") => Some(Self::None),
            Some(other) => {
                let issue = Issue::new(canon_codes::WIRE_VALUE, format!("unknown value `{other}`"));
                reader.refuse(json, issue.with_expected("\"none\", or a list of probe facts"));
                None
            }
            None => NonEmpty::read(json, reader).map(Self::All),
        }
    }

    fn write(&self) -> Json<'static> {
        match self {
            Self::None => Json::from("none"),
            Self::All(facts) => facts.write(),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        let none = Json::object([("const", Json::from("none"))]);
        Json::object([("oneOf", Json::array([none, NonEmpty::<ProbeFact>::schema(definitions)]))])
    }
}

record! {
    /// What a kind of action needs.
    pub struct ActionEntry {
        /// The capability.
        capability: Capability,
        /// Whether the mode must be `writes_allowed`.
        requires_writes_allowed: bool,
        /// Whether a person must approve each one.
        requires_approval: bool,
        /// How many people must approve; one if left out.
        approvals: Option<Within<1, 16>>,
        /// What sorts of reviewers must be among them.
        reviewers: Option<NameSet<Role>>,
    }
}

/// A checked capability lattice: every capability once, and every action's capability among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    capabilities: BTreeMap<Capability, Probe>,
    actions: BTreeMap<ActionKind, ActionEntry>,
    hash: LatticeHash,
}

impl Lattice {
    /// Loads a lattice.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, under `URM_LATTICE_INVALID`.
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        let family = codes::URM_LATTICE_INVALID;
        let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(family)))?;
        let document: LatticeDocument = Reader::read_json(&json, family)?;
        let issues = check_lattice(&document, &json);
        match NonEmpty::new(issues) {
            Some(issues) => Err(issues),
            None => {
                let hash = LatticeHash::of_json(&document.write());
                Ok(Self::from_checked(document, hash))
            }
        }
    }

    /// The lattice of a document that was checked and hashed before.
    pub(crate) fn from_checked(document: LatticeDocument, hash: LatticeHash) -> Self {
        let capabilities = document.capabilities.into_iter().map(|entry| (entry.id, entry.probe)).collect();
        Self { capabilities, actions: document.actions, hash }
    }

    /// What this kind of action needs; nothing if the lattice does not know it.
    #[must_use]
    pub fn action(&self, kind: &ActionKind) -> Option<&ActionEntry> {
        self.actions.get(kind)
    }

    /// Every kind of action with what it needs, sorted by kind.
    pub fn actions(&self) -> impl Iterator<Item = (&ActionKind, &ActionEntry)> {
        self.actions.iter()
    }

    /// Every capability, sorted.
    pub fn capabilities(&self) -> impl Iterator<Item = &Capability> {
        self.capabilities.keys()
    }

    /// What a probe must find for this capability to be there; nothing if the lattice does not know it.
    #[must_use]
    pub fn probe(&self, capability: &Capability) -> Option<&Probe> {
        self.capabilities.get(capability)
    }

    /// The hash of its canonical form.
    #[must_use]
    pub const fn hash(&self) -> &LatticeHash {
        &self.hash
    }

    /// The capabilities that are there, given what a probe found: the one evaluator of this (K1.4).
    #[must_use]
    pub fn present(&self, probe: &ProbeFacts) -> NameSet<Capability> {
        let found = |(capability, needs): (&Capability, &Probe)| match needs {
            Probe::None => Some(capability.clone()),
            Probe::All(facts) => {
                facts.iter().all(|fact| probe.facts.0.contains(fact)).then(|| capability.clone())
            }
        };
        self.capabilities.iter().filter_map(found).collect()
    }
}

fn check_lattice(document: &LatticeDocument, json: &Json<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut note = |pointer: Pointer, issue: Issue| {
        let offset = pointer.find(json).map_or(0, Json::offset);
        issues.push(issue.under(codes::URM_LATTICE_INVALID).with_pointer(pointer).with_offset(offset));
    };
    let mut seen = alloc::collections::BTreeSet::new();
    for (index, entry) in document.capabilities.iter().enumerate() {
        if !seen.insert(&entry.id) {
            let message = format!("capability `{}` is there already", entry.id);
            let pointer = Pointer::root().key("capabilities").index(index).key("id");
            note(
                pointer,
                Issue::new(canon_codes::WIRE_NOT_UNIQUE, message).with_expected("every capability once"),
            );
        }
    }
    for (kind, entry) in &document.actions {
        if !seen.contains(&entry.capability) {
            let message = format!("capability `{}` is not in `capabilities`", entry.capability);
            let pointer = Pointer::root().key("actions").key(kind.as_str()).key("capability");
            let issue = Issue::new(canon_codes::WIRE_VALUE, message);
            note(pointer, spelled(issue, entry.capability.as_str(), seen.iter().map(|id| id.as_str())));
        }
    }
    issues
}

fn spelled<'n>(issue: Issue, word: &str, names: impl Iterator<Item = &'n str>) -> Issue {
    match nearest(word, names) {
        Some(meant) => issue.with_hint(format!("did you mean `{meant}`?")),
        None => issue.with_hint("add it there, or name one that is there"),
    }
}

record! {
    /// The allow policy: which role is granted which capabilities.
    pub struct AllowDocument {
        /// The name of the language.
        schema: AllowSchema,
        /// The capabilities of each role.
        roles: BTreeMap<Role, NameSet<Capability>>,
    }
}

/// A checked allow policy: it grants nothing that the lattice does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowPolicy {
    roles: BTreeMap<Role, NameSet<Capability>>,
    hash: AllowHash,
}

impl AllowPolicy {
    /// Loads an allow policy for a lattice.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, under `URM_ALLOW_INVALID`.
    pub fn load(bytes: &[u8], lattice: &Lattice) -> Result<Self, NonEmpty<Issue>> {
        let family = codes::URM_ALLOW_INVALID;
        let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(family)))?;
        let document: AllowDocument = Reader::read_json(&json, family)?;
        let mut issues = Vec::new();
        for (role, granted) in &document.roles {
            for capability in granted.0.iter().filter(|id| !lattice.capabilities.contains_key(*id)) {
                let message = format!("capability `{capability}` is not in the lattice");
                let pointer = Pointer::root().key("roles").key(role.as_name());
                let offset = pointer.find(&json).map_or(0, Json::offset);
                let issue = Issue::new(canon_codes::WIRE_VALUE, message).under(family);
                let names = lattice.capabilities.keys().map(Capability::as_str);
                issues.push(
                    spelled(issue, capability.as_str(), names).with_pointer(pointer).with_offset(offset),
                );
            }
        }
        match NonEmpty::new(issues) {
            Some(issues) => Err(issues),
            None => {
                let hash = AllowHash::of_json(&document.write());
                Ok(Self::from_checked(document, hash))
            }
        }
    }

    /// The allow policy of a document that was checked and hashed before.
    pub(crate) fn from_checked(document: AllowDocument, hash: AllowHash) -> Self {
        Self { roles: document.roles, hash }
    }

    /// What this role is granted; nothing for nobody, or for a role that is not listed.
    #[must_use]
    pub fn granted(&self, role: Option<&Role>) -> NameSet<Capability> {
        role.and_then(|role| self.roles.get(role)).cloned().unwrap_or_default()
    }

    /// Every role with what it is granted, sorted by role.
    pub fn roles(&self) -> impl Iterator<Item = (&Role, &NameSet<Capability>)> {
        self.roles.iter()
    }

    /// The hash of its canonical form.
    #[must_use]
    pub const fn hash(&self) -> &AllowHash {
        &self.hash
    }
}

record! {
    /// What a probe found about one client.
    pub struct ProbeFacts {
        /// The name of the language.
        schema: ProbeSchema,
        /// The client.
        client: Text<1, 128>,
        /// What was found; everything else counts as absent.
        facts: NameSet<ProbeFact>,
    }
}

impl ProbeFacts {
    /// Loads probe facts.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, under `URM_PROBE_INVALID`.
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        Reader::read_document(bytes, codes::URM_PROBE_INVALID)
    }

    /// The fact that the client has what an action of this kind needs, for those who opt in, and nobody has.
    ///
    /// # Errors
    ///
    /// Fails if the kind is too long for the name of a fact.
    pub fn disabled(kind: &ActionKind) -> Result<ProbeFact, Issue> {
        ProbeFact::parse(&format!("{DISABLED}{kind}"))
    }

    /// Whether what an action of this kind needs was found, switched off.
    #[must_use]
    pub fn found_disabled(&self, kind: &ActionKind) -> bool {
        self.facts.0.iter().any(|fact| fact.as_str().strip_prefix(DISABLED) == Some(kind.as_str()))
    }

    /// The hash of their canonical form.
    #[must_use]
    pub fn hash(&self) -> ProbeHash {
        ProbeHash::of_canonical(self.to_canonical().as_bytes())
    }
}

/// How the name of a fact starts that says of a kind of action that what it needs is switched off.
const DISABLED: &str = "disabled:";

//! Atoms: the closed vocabulary of conditions (K1.4).

use alloc::{format, string::String};

use countersign_canon::{
    Definitions, Issue, Json, Reader, Wire, canon_codes, choice, nearest, pattern_schema,
};

use crate::{ActionHash, ActionKind, Capability, Context, EvidenceKind, Mode, Role, Warrant, codes};

choice! {
    /// The name of an atom.
    pub enum AtomName {
        /// The session has this role.
        RoleIs = "role_is",
        /// The session has this mode.
        ModeIs = "mode_is",
        /// There is a live session.
        SessionActive = "session_active",
        /// The client has this capability.
        CapabilityPresent = "capability_present",
        /// The role is granted this capability.
        CapabilityAllowed = "capability_allowed",
        /// The action is of this kind.
        ActionKindIs = "action_kind_is",
        /// The action has exactly this hash.
        ActionHashMatches = "action_hash_matches",
        /// An approval came with the action.
        ApprovalPresent = "approval_present",
        /// It is for this action and properly signed.
        ApprovalValid = "approval_valid",
        /// It has not expired.
        ApprovalUnexpired = "approval_unexpired",
        /// It was neither used nor revoked.
        ApprovalUnused = "approval_unused",
        /// There is evidence of this kind.
        HasEvidenceKind = "has_evidence_kind",
        /// The claim is founded like this.
        WarrantIs = "warrant_is",
    }
}

/// One question about a context.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// The session has this role.
    RoleIs(Role),
    /// The session has this mode.
    ModeIs(Mode),
    /// There is a live session.
    SessionActive,
    /// The client has this capability.
    CapabilityPresent(Capability),
    /// The role is granted this capability.
    CapabilityAllowed(Capability),
    /// The action is of this kind.
    ActionKindIs(ActionKind),
    /// The action has exactly this hash.
    ActionHashMatches(ActionHash),
    /// An approval came with the action.
    ApprovalPresent,
    /// It is for this action and properly signed.
    ApprovalValid,
    /// It has not expired.
    ApprovalUnexpired,
    /// It was neither used nor revoked.
    ApprovalUnused,
    /// There is evidence of this kind.
    HasEvidenceKind(EvidenceKind),
    /// The claim is founded like this.
    WarrantIs(Warrant),
}

impl Atom {
    /// The atoms that together say "a valid approval is available" (K1.4).
    pub const APPROVAL_AVAILABLE: [Self; 4] =
        [Self::ApprovalPresent, Self::ApprovalValid, Self::ApprovalUnexpired, Self::ApprovalUnused];

    /// The atom of this name; its argument is asked for if it takes one.
    pub(crate) fn of<'t>(name: AtomName, argument: impl FnOnce() -> Option<&'t str>) -> Result<Self, Issue> {
        match name.takes() {
            Argument::One(_, parse) => parse(argument().unwrap_or_default()),
            Argument::None => {
                name.bare().ok_or_else(|| Issue::new(canon_codes::WIRE_BOUNDS, "an argument is missing"))
            }
        }
    }

    /// The atom's name.
    #[must_use]
    pub const fn name(&self) -> AtomName {
        match self {
            Self::RoleIs(_) => AtomName::RoleIs,
            Self::ModeIs(_) => AtomName::ModeIs,
            Self::SessionActive => AtomName::SessionActive,
            Self::CapabilityPresent(_) => AtomName::CapabilityPresent,
            Self::CapabilityAllowed(_) => AtomName::CapabilityAllowed,
            Self::ActionKindIs(_) => AtomName::ActionKindIs,
            Self::ActionHashMatches(_) => AtomName::ActionHashMatches,
            Self::ApprovalPresent => AtomName::ApprovalPresent,
            Self::ApprovalValid => AtomName::ApprovalValid,
            Self::ApprovalUnexpired => AtomName::ApprovalUnexpired,
            Self::ApprovalUnused => AtomName::ApprovalUnused,
            Self::HasEvidenceKind(_) => AtomName::HasEvidenceKind,
            Self::WarrantIs(_) => AtomName::WarrantIs,
        }
    }

    /// The atom's argument, if it takes one.
    #[must_use]
    pub fn argument(&self) -> Option<String> {
        match self {
            Self::RoleIs(role) => Some(role.as_str().into()),
            Self::ModeIs(mode) => Some(mode.as_str().into()),
            Self::CapabilityPresent(capability) | Self::CapabilityAllowed(capability) => {
                Some(capability.as_str().into())
            }
            Self::ActionKindIs(kind) => Some(kind.as_str().into()),
            Self::ActionHashMatches(hash) => Some(format!("{hash}")),
            Self::HasEvidenceKind(kind) => Some(kind.as_str().into()),
            Self::WarrantIs(warrant) => Some(warrant.as_str().into()),
            Self::SessionActive
            | Self::ApprovalPresent
            | Self::ApprovalValid
            | Self::ApprovalUnexpired
            | Self::ApprovalUnused => None,
        }
    }

    /// Whether the atom holds in this context.
    #[must_use]
    pub fn holds(&self, context: &Context) -> bool {
        match self {
            Self::RoleIs(role) => context.role.as_ref() == Some(role),
            Self::ModeIs(mode) => context.mode == *mode,
            Self::SessionActive => context.session_active,
            Self::CapabilityPresent(capability) => context.capabilities_present.0.contains(capability),
            Self::CapabilityAllowed(capability) => context.capabilities_allowed.0.contains(capability),
            Self::ActionKindIs(kind) => context.action_kind == *kind,
            Self::ActionHashMatches(hash) => context.action_hash == *hash,
            Self::ApprovalPresent => context.approval_present,
            Self::ApprovalValid => context.approval_valid,
            Self::ApprovalUnexpired => context.approval_unexpired,
            Self::ApprovalUnused => context.approval_unused,
            Self::HasEvidenceKind(kind) => context.evidence_kinds.0.contains(kind),
            Self::WarrantIs(warrant) => context.warrant.as_ref() == Some(warrant),
        }
    }
}

/// What an atom is given.
enum Argument {
    None,
    One(&'static str, fn(&str) -> Result<Atom, Issue>),
}

impl AtomName {
    fn takes(self) -> Argument {
        match self {
            Self::RoleIs => Argument::One("a role", |text| Role::parse(text).map(Atom::RoleIs)),
            Self::ModeIs => Argument::One("a mode", |text| Mode::parse(text).map(Atom::ModeIs)),
            Self::CapabilityPresent => {
                Argument::One("a capability", |text| Capability::parse(text).map(Atom::CapabilityPresent))
            }
            Self::CapabilityAllowed => {
                Argument::One("a capability", |text| Capability::parse(text).map(Atom::CapabilityAllowed))
            }
            Self::ActionKindIs => {
                Argument::One("a kind of action", |text| ActionKind::parse(text).map(Atom::ActionKindIs))
            }
            Self::ActionHashMatches => {
                Argument::One("an action hash", |text| ActionHash::parse(text).map(Atom::ActionHashMatches))
            }
            Self::HasEvidenceKind => Argument::One("a kind of evidence", |text| {
                EvidenceKind::parse(text).map(Atom::HasEvidenceKind)
            }),
            Self::WarrantIs => Argument::One("a warrant", |text| Warrant::parse(text).map(Atom::WarrantIs)),
            Self::SessionActive
            | Self::ApprovalPresent
            | Self::ApprovalValid
            | Self::ApprovalUnexpired
            | Self::ApprovalUnused => Argument::None,
        }
    }

    /// The atom of this name that takes no argument.
    fn bare(self) -> Option<Atom> {
        match self {
            Self::SessionActive => Some(Atom::SessionActive),
            Self::ApprovalPresent => Some(Atom::ApprovalPresent),
            Self::ApprovalValid => Some(Atom::ApprovalValid),
            Self::ApprovalUnexpired => Some(Atom::ApprovalUnexpired),
            Self::ApprovalUnused => Some(Atom::ApprovalUnused),
            Self::RoleIs
            | Self::ModeIs
            | Self::CapabilityPresent
            | Self::CapabilityAllowed
            | Self::ActionKindIs
            | Self::ActionHashMatches
            | Self::HasEvidenceKind
            | Self::WarrantIs => None,
        }
    }

    /// The schema of this atom's argument; nothing if it takes none.
    fn argument_schema(self, definitions: &mut Definitions) -> Option<Json<'static>> {
        match self {
            Self::RoleIs => Some(Role::schema(definitions)),
            Self::ModeIs => Some(Mode::schema(definitions)),
            Self::CapabilityPresent | Self::CapabilityAllowed => Some(Capability::schema(definitions)),
            Self::ActionKindIs => Some(ActionKind::schema(definitions)),
            Self::ActionHashMatches => Some(pattern_schema("^[0-9a-f]{64}$")),
            Self::HasEvidenceKind => Some(EvidenceKind::schema(definitions)),
            Self::WarrantIs => Some(Warrant::schema(definitions)),
            Self::SessionActive
            | Self::ApprovalPresent
            | Self::ApprovalValid
            | Self::ApprovalUnexpired
            | Self::ApprovalUnused => None,
        }
    }
}

impl Wire for Atom {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.closed_object(json, &["atom", "args"])?;
        if firewall(json, reader) {
            return None;
        }
        let name = reader.field::<AtomName>(json, "atom");
        let Some(args) = json.get("args") else {
            let issue = Issue::new(canon_codes::WIRE_MISSING_FIELD, "the field `args` is missing");
            reader.refuse(json, issue.with_hint("an atom without arguments has \"args\": []"));
            return None;
        };
        reader.at_key("args", |reader| read_arguments(name?, args, reader))
    }

    fn write(&self) -> Json<'static> {
        Json::object([("atom", Json::from(self.name().as_str())), ("args", Json::array(self.argument()))])
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        definitions.define("Atom", |definitions| {
            let cases = AtomName::ALL.iter().map(|name| {
                let args = match name.argument_schema(definitions) {
                    None => Json::object([("type", Json::from("array")), ("maxItems", Json::from(0_u32))]),
                    Some(schema) => Json::object([
                        ("type", Json::from("array")),
                        ("minItems", Json::from(1_u32)),
                        ("maxItems", Json::from(1_u32)),
                        ("items", schema),
                    ]),
                };
                let name = Json::object([("const", Json::from(name.as_str()))]);
                countersign_canon::closed_object_schema(
                    "One question about a context.",
                    [("atom", name, false), ("args", args, false)],
                )
            });
            Json::object([("oneOf", Json::array(cases))])
        })
    }
}

fn read_arguments(name: AtomName, args: &Json<'_>, reader: &mut Reader) -> Option<Atom> {
    let found = reader.array(args)?;
    match (name.takes(), found) {
        (Argument::None, []) => name.bare(),
        (Argument::One(_, parse), [argument]) => reader.at_index(0, |reader| reader.text(argument, parse)),
        (takes, _) => {
            let expected = match takes {
                Argument::None => String::from("no argument"),
                Argument::One(what, _) => format!("one argument: {what}"),
            };
            let message = format!("`{name}` is given {} arguments", found.len());
            reader.refuse(args, Issue::new(canon_codes::WIRE_BOUNDS, message).with_expected(expected));
            None
        }
    }
}

/// Refuses an atom that would look at what derive rules produce, with the firewall's own code (K1.2).
fn firewall(json: &Json<'_>, reader: &mut Reader) -> bool {
    let Some(name) = json.get("atom") else { return false };
    let refused = |reader: &Reader, at: &Json<'_>, message: String| {
        Issue::new(codes::URM_POLICY_DERIVE_FIREWALL_VIOLATION, message)
            .with_pointer(reader.pointer())
            .with_offset(at.offset())
            .with_expected("a fact of the context; what derive rules produce cannot be asked for in v1")
    };
    let text = name.as_str().unwrap_or_default();
    if text.starts_with("derived") {
        reader.at_key("atom", |reader| {
            let plain = text.trim_start_matches("derived").trim_start_matches(['_', '.', ':', '-']);
            let issue = refused(reader, name, format!("`{text}` is a derived fact"));
            let meant = nearest(plain, AtomName::ALL.iter().map(|name| name.as_str()));
            reader.refuse_as_is(match meant {
                Some(meant) => issue.with_hint(format!("did you mean the context's own fact `{meant}`?")),
                None => issue.with_hint("remove the atom, or ask for a fact of the context"),
            });
        });
        return true;
    }
    let argument = json.get("args").and_then(Json::as_array).and_then(<[_]>::first);
    if let ("warrant_is", Some(argument)) = (text, argument)
        && argument.as_str() == Some("invalid")
    {
        reader.at_key("args", |reader| {
            reader.at_index(0, |reader| {
                let issue =
                    refused(reader, argument, "`invalid` is what `set_warrant_invalid` produces".into());
                let words = Warrant::ALL.iter().map(|warrant| warrant.as_str());
                let words: alloc::vec::Vec<&str> = words.collect();
                reader.refuse_as_is(issue.with_hint(format!("ask for one of {}", words.join(", "))));
            });
        });
        return true;
    }
    false
}

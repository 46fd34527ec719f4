//! What each intent touches: files, modules, services, and an environment it needs to itself.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_canon::RepoPath;

use crate::{
    EffectSet, EvidenceRef, Intent, Registry,
    wire::{Effect, Environment, PlannedCommand, Verb},
};

const EFFECTS: usize = Effect::ALL.len();

/// What an intent's commands do to one thing, and which command does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Touch {
    pub(crate) effects: EffectSet,
    /// The first command with each effect, in the order of the vocabulary.
    commands: [Option<u8>; EFFECTS],
}

impl Touch {
    fn add(&mut self, index: usize, command: &PlannedCommand) {
        let Ok(index) = u8::try_from(index) else { return };
        for effect in command.effects.iter() {
            let slot = Effect::ALL.iter().position(|known| known == effect);
            if let Some(slot) = slot.and_then(|slot| self.commands.get_mut(slot)) {
                slot.get_or_insert(index);
            }
        }
        self.effects = self.effects.iter().chain(command.effects.iter().copied()).collect();
    }

    fn add_all(&mut self, other: &Self) {
        for (slot, theirs) in self.commands.iter_mut().zip(other.commands) {
            *slot = match (*slot, theirs) {
                (Some(ours), Some(theirs)) => Some(ours.min(theirs)),
                (ours, theirs) => ours.or(theirs),
            };
        }
        self.effects = self.effects.iter().chain(other.effects.iter()).collect();
    }

    /// The command that does the gravest thing here.
    pub(crate) fn gravest_command(&self) -> Option<usize> {
        let ranked = [
            Effect::Security,
            Effect::Delete,
            Effect::Data,
            Effect::Rollback,
            Effect::Deploy,
            Effect::Write,
            Effect::Create,
            Effect::Network,
            Effect::Read,
        ];
        ranked.iter().find_map(|effect| self.command_of(*effect))
    }

    fn command_of(&self, effect: Effect) -> Option<usize> {
        let slot = Effect::ALL.iter().position(|known| *known == effect)?;
        self.commands.get(slot).copied().flatten().map(usize::from)
    }
}

/// Where an intent names a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    File(usize),
    Module(usize),
    Service(usize),
    CommandEvidence(usize, usize),
}

impl Place {
    pub(crate) fn reference(self, intent: &Intent) -> EvidenceRef {
        let place = match self {
            Self::File(index) => format!("scope/targets/files/{index}"),
            Self::Module(index) => format!("scope/targets/modules/{index}"),
            Self::Service(index) => format!("scope/targets/services/{index}"),
            Self::CommandEvidence(command, index) => {
                format!("planned_commands/{command}/evidence_refs/{index}")
            }
        };
        EvidenceRef::to_intent(intent.id(), &place)
    }
}

/// What undoes what, by effect or by registry verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Deed {
    Write,
    Create,
    Delete,
    Deploy,
    Rollback,
    Enable,
    Disable,
}

impl Deed {
    const fn of_effect(effect: Effect) -> Option<Self> {
        match effect {
            Effect::Write => Some(Self::Write),
            Effect::Create => Some(Self::Create),
            Effect::Delete => Some(Self::Delete),
            Effect::Deploy => Some(Self::Deploy),
            Effect::Rollback => Some(Self::Rollback),
            Effect::Read | Effect::Network | Effect::Data | Effect::Security => None,
        }
    }

    const fn of_verb(verb: Verb) -> Option<Self> {
        match verb {
            Verb::Create => Some(Self::Create),
            Verb::Delete => Some(Self::Delete),
            Verb::Deploy => Some(Self::Deploy),
            Verb::Rollback => Some(Self::Rollback),
            Verb::Enable => Some(Self::Enable),
            Verb::Disable => Some(Self::Disable),
            Verb::Analyze
            | Verb::Build
            | Verb::Check
            | Verb::Collect
            | Verb::Generate
            | Verb::Migrate
            | Verb::Publish
            | Verb::Revert
            | Verb::Test
            | Verb::Update => None,
        }
    }

    /// Whether one undoes the other.
    pub(crate) const fn opposes(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Deploy, Self::Rollback)
                | (Self::Rollback, Self::Deploy)
                | (Self::Create | Self::Write, Self::Delete)
                | (Self::Delete, Self::Create | Self::Write)
                | (Self::Enable, Self::Disable)
                | (Self::Disable, Self::Enable)
        )
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Deploy => "deploy",
            Self::Rollback => "rollback",
            Self::Enable => "enable",
            Self::Disable => "disable",
        }
    }
}

/// Everything one intent touches.
#[derive(Debug)]
pub(crate) struct Touches {
    /// Sorted by path.
    pub(crate) files: Vec<(RepoPath, (Touch, Place))>,
    pub(crate) modules: BTreeMap<String, (Touch, Place)>,
    pub(crate) services: BTreeMap<String, (Touch, Place)>,
    /// What its exclusive commands do to its environment.
    pub(crate) exclusive: Option<Touch>,
    pub(crate) environment: Option<Environment>,
    /// What its commands do, and the first that does.
    pub(crate) deeds: BTreeMap<Deed, usize>,
}

impl Touches {
    /// A command touches what it reaches ([`crate::Reach`]). Deploying and rolling back are done to services, whatever
    /// file is named as evidence for it.
    pub(crate) fn of(intent: &Intent, environment: Option<Environment>, registry: Option<&Registry>) -> Self {
        let document = intent.document();
        let targets = &document.scope.targets;
        let mut on_files = Touch::default();
        let mut on_modules = Touch::default();
        let mut on_services = Touch::default();
        let mut exclusive: Option<Touch> = None;
        let mut files: BTreeMap<RepoPath, (Touch, Place)> = BTreeMap::new();
        let mut deeds = BTreeMap::new();
        for (index, command) in document.planned_commands.iter().enumerate() {
            let entry = registry.and_then(|registry| registry.command(&command.command_id));
            let named: Vec<(usize, RepoPath)> = command
                .evidence_refs
                .iter()
                .enumerate()
                .filter_map(|(at, reference)| Some((at, reference.file()?)))
                .collect();
            let acts_on_services =
                command.effects.iter().any(|effect| matches!(effect, Effect::Deploy | Effect::Rollback));
            let reach = document.reach(command);
            if reach.has_target_names() || acts_on_services {
                on_services.add(index, command);
            }
            if reach.has_target_names() {
                on_modules.add(index, command);
            }
            if reach.has_target_files() {
                on_files.add(index, command);
            }
            for (at, path) in named {
                let place = Place::CommandEvidence(index, at);
                files.entry(path).or_insert_with(|| (Touch::default(), place)).0.add(index, command);
            }
            if entry.is_some_and(|entry| entry.exclusive) {
                exclusive.get_or_insert_default().add(index, command);
            }
            let by_effect = command.effects.iter().copied().filter_map(Deed::of_effect);
            for deed in by_effect.chain(entry.and_then(|entry| Deed::of_verb(entry.verb))) {
                deeds.entry(deed).or_insert(index);
            }
        }
        if on_files != Touch::default() {
            for (index, path) in targets.files.iter().enumerate() {
                let touch =
                    files.entry(path.clone()).or_insert_with(|| (Touch::default(), Place::File(index)));
                touch.0.add_all(&on_files);
            }
        }
        let named = |names: &[countersign_canon::Text<1, 256>], touch: Touch, place: fn(usize) -> Place| {
            let names = names.iter().enumerate().filter(move |_| touch != Touch::default());
            names.map(|(index, name)| (String::from(name.as_str()), (touch, place(index)))).collect()
        };
        let services = targets.services.as_deref().unwrap_or_default();
        Self {
            files: files.into_iter().collect(),
            modules: named(&targets.modules, on_modules, Place::Module),
            services: named(services, on_services, Place::Service),
            exclusive,
            environment: document.scope.env.or(environment),
            deeds,
        }
    }
}

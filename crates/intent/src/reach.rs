//! How far a command reaches: the files its own evidence names, all targets of its intent, or what it reached before it
//! was merged. The rule stands here once, for weighing and for planning.

use crate::{
    EvidenceRef, IntentId,
    wire::{IntentDocument, PlannedCommand},
};

/// What the ids of merged intents begin with.
pub(crate) const MERGED_PREFIX: &str = "intent_merged_";

/// How far a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The files that its own evidence names, and nothing else.
    Named,
    /// It names no file of its own: every target of its intent.
    Targets,
    /// It was merged: the files that its own evidence names, perhaps none, and every module and service of its intent.
    ///
    /// The files of a merged intent are those of all its sources, and the command was never about the others'. Modules
    /// and services cannot be named by a command, so that all of them count.
    Pinned,
}

impl Reach {
    /// Whether it touches every file of the intent's targets.
    #[must_use]
    pub const fn has_target_files(self) -> bool {
        matches!(self, Self::Targets)
    }

    /// Whether it touches every module and service of the intent's targets.
    #[must_use]
    pub const fn has_target_names(self) -> bool {
        matches!(self, Self::Targets | Self::Pinned)
    }
}

impl IntentDocument {
    /// How far one of its commands reaches.
    #[must_use]
    pub fn reach(&self, command: &PlannedCommand) -> Reach {
        let is_source = |origin: &str| self.lineage.derived_from.iter().any(|id| id.as_str() == origin);
        if self.is_merged() && command.origins().any(is_source) {
            return Reach::Pinned;
        }
        match command.evidence_refs.iter().any(|reference| reference.file().is_some()) {
            true => Reach::Named,
            false => Reach::Targets,
        }
    }

    /// Whether its id says that it was merged from others.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        self.id.as_str().starts_with(MERGED_PREFIX)
    }
}

impl PlannedCommand {
    /// The ids of the intents that a merged command comes from, the last merge first: a merge writes where a command
    /// comes from behind all its other evidence.
    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.evidence_refs.iter().rev().map_while(EvidenceRef::command_of)
    }
}

impl EvidenceRef {
    /// The reference to a command of an intent, as a merge writes it.
    pub(crate) fn to_command(id: &IntentId, command: usize) -> Self {
        Self::to_intent(id, &alloc::format!("planned_commands/{command}"))
    }

    /// The id of the intent whose command a reference names, as a merge writes it.
    pub(crate) fn command_of(&self) -> Option<&str> {
        let (id, place) = self.as_str().strip_prefix("intent://")?.split_once('/')?;
        let number = place.strip_prefix("planned_commands/")?;
        (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
    }
}

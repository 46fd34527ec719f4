//! The registry as plain data: which workflows, agents and commands there are.

use alloc::vec::Vec;

use countersign_canon::{List, Text, record};

use crate::{
    AgentId, ArtifactName, CommandId, WorkflowId,
    wire::{Effect, Phase, Verb},
};

record! {
    /// A workflow that intents may follow.
    pub struct WorkflowEntry {
        /// Its id.
        id: WorkflowId,
        /// What it is for.
        description: Text<1, 400>,
        /// The phases it goes through.
        phases: List<Phase, 1, 12>,
    }
}

record! {
    /// An agent that intents may name.
    pub struct AgentEntry {
        /// Its id.
        id: AgentId,
        /// What it does.
        description: Text<1, 400>,
    }
}

record! {
    /// A command that intents may plan.
    pub struct CommandEntry {
        /// Its id.
        id: CommandId,
        /// What it does.
        description: Text<1, 400>,
        /// The phase it belongs to.
        phase: Phase,
        /// Who may use it.
        agents: List<AgentId, 1, 13>,
        /// What it does to the world unless an intent says otherwise.
        effects: List<Effect, 1, 9>,
        /// What it does, in one word.
        verb: Verb,
        /// Whether it needs an environment to itself.
        exclusive: bool,
        /// What it makes.
        produces: Vec<ArtifactName>,
        /// What it needs.
        consumes: Vec<ArtifactName>,
    }
}

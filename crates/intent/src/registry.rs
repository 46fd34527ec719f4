//! The registry: the only workflows, agents and commands that intents may name (I5).

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_canon::{Issue, Issues, Json, NonEmpty, Pointer, Reader, Sha256, record};

use crate::{
    AgentId, CommandId, WorkflowId,
    code::codes,
    wire::{AgentEntry, CommandEntry, WorkflowEntry},
};

record! {
    /// The file of workflows.
    pub struct WorkflowsFile {
        /// Each of them.
        workflows: Vec<WorkflowEntry>,
    }
}

record! {
    /// The file of agents.
    pub struct AgentsFile {
        /// Each of them.
        agents: Vec<AgentEntry>,
    }
}

record! {
    /// The file of commands.
    pub struct CommandsFile {
        /// Each of them.
        commands: Vec<CommandEntry>,
    }
}

/// The three files of a registry, parsed.
#[derive(Debug, Clone, Copy)]
pub struct RegistryFiles<'f> {
    /// `workflows.yml`
    pub workflows: &'f Json<'f>,
    /// `agents.yml`
    pub agents: &'f Json<'f>,
    /// `commands.yml`
    pub commands: &'f Json<'f>,
}

/// Which of a registry's files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegistryFile {
    /// `workflows.yml`
    Workflows,
    /// `agents.yml`
    Agents,
    /// `commands.yml`
    Commands,
}

impl RegistryFile {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Workflows => "workflows.yml",
            Self::Agents => "agents.yml",
            Self::Commands => "commands.yml",
        }
    }
}

/// A checked registry: ids are unique, and commands name agents that exist.
#[derive(Debug, Clone)]
pub struct Registry {
    workflows: BTreeMap<WorkflowId, WorkflowEntry>,
    agents: BTreeMap<AgentId, AgentEntry>,
    commands: BTreeMap<CommandId, CommandEntry>,
    content: Sha256,
}

impl Registry {
    /// Checks a registry.
    ///
    /// # Errors
    ///
    /// Fails with every problem and the file it is in.
    pub fn load(files: RegistryFiles<'_>) -> Result<Self, NonEmpty<(RegistryFile, Issue)>> {
        let mut problems = Vec::new();
        let workflows = read::<WorkflowsFile>(files.workflows, RegistryFile::Workflows, &mut problems);
        let agents = read::<AgentsFile>(files.agents, RegistryFile::Agents, &mut problems);
        let commands = read::<CommandsFile>(files.commands, RegistryFile::Commands, &mut problems);
        let workflows = workflows.map_or_else(Vec::new, |file| file.workflows);
        let agents = agents.map_or_else(Vec::new, |file| file.agents);
        let commands = commands.map_or_else(Vec::new, |file| file.commands);
        for (index, command) in commands.iter().enumerate() {
            let unknown = command.agents.iter().filter(|id| !agents.iter().any(|agent| agent.id == **id));
            problems.extend(unknown.map(|id| {
                let pointer = Pointer::root().key("commands").index(index).key("agents");
                let message = format!("`{}` names the agent `{id}`, which does not exist", command.id);
                (
                    RegistryFile::Commands,
                    Issue::new(codes::REGISTRY_UNKNOWN_AGENT, message).with_pointer(pointer),
                )
            }));
        }
        let content = Sha256::of_json(&Json::object([
            ("workflows", files.workflows.clone()),
            ("agents", files.agents.clone()),
            ("commands", files.commands.clone()),
        ]));
        let workflows = by_id(workflows, |entry| entry.id.clone(), RegistryFile::Workflows, &mut problems);
        let agents = by_id(agents, |entry| entry.id.clone(), RegistryFile::Agents, &mut problems);
        let commands = by_id(commands, |entry| entry.id.clone(), RegistryFile::Commands, &mut problems);
        match NonEmpty::new(problems) {
            None => Ok(Self { workflows, agents, commands, content }),
            Some(problems) => Err(problems),
        }
    }

    /// The workflow of this id.
    #[must_use]
    pub fn workflow(&self, id: &WorkflowId) -> Option<&WorkflowEntry> {
        self.workflows.get(id)
    }

    /// The agent of this id.
    #[must_use]
    pub fn agent(&self, id: &AgentId) -> Option<&AgentEntry> {
        self.agents.get(id)
    }

    /// The command of this id.
    #[must_use]
    pub fn command(&self, id: &CommandId) -> Option<&CommandEntry> {
        self.commands.get(id)
    }

    /// Every workflow id, sorted.
    pub fn workflow_ids(&self) -> impl Iterator<Item = &str> {
        self.workflows.keys().map(WorkflowId::as_str)
    }

    /// Every agent id, sorted.
    pub fn agent_ids(&self) -> impl Iterator<Item = &str> {
        self.agents.keys().map(AgentId::as_str)
    }

    /// Every command id, sorted.
    pub fn command_ids(&self) -> impl Iterator<Item = &str> {
        self.commands.keys().map(CommandId::as_str)
    }

    /// The SHA-256 of its canonical content.
    #[must_use]
    pub const fn content(&self) -> Sha256 {
        self.content
    }
}

fn read<T: countersign_canon::Wire>(
    json: &Json<'_>,
    file: RegistryFile,
    problems: &mut Vec<(RegistryFile, Issue)>,
) -> Option<T> {
    let read = Reader::read_json::<T>(json, codes::REGISTRY_INVALID);
    read.map_err(|issues| problems.extend(issues.into_vec().into_iter().map(|issue| (file, issue)))).ok()
}

fn by_id<K: Ord + core::fmt::Display, T>(
    entries: Vec<T>,
    id: impl Fn(&T) -> K,
    file: RegistryFile,
    problems: &mut Vec<(RegistryFile, Issue)>,
) -> BTreeMap<K, T> {
    let mut map = BTreeMap::new();
    let mut issues = Issues::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let key = id(&entry);
        let message: String = format!("`{key}` is named twice");
        if map.insert(key, entry).is_some() {
            let pointer = Pointer::root().index(index);
            issues.push(Issue::new(codes::REGISTRY_DUPLICATE, message).with_pointer(pointer));
        }
    }
    problems.extend(issues.into_sorted().into_iter().map(|issue| (file, issue)));
    map
}

//! The intent: what somebody wants done, as data.

use countersign_canon::{Checksum, Json, List, RepoPath, Text, Timestamp, Within, record};

use crate::{
    AgentId, CommandId, EvidenceRef, IntentId, Money, Version, WorkflowId,
    wire::{
        Area, AuditSource, Effect, Environment, ExecutionIntentType, Forbidden, InteractionMode, LockMode,
        Metadata, Phase, QuestionPolicy, Review, RiskLevel, Status, True,
    },
};

record! {
    /// What somebody wants done: scope, goal, workflows, agents, commands by registry id, risk and evidence. Nothing in it can be executed.
    pub struct IntentDocument {
        /// Its id; the file is named after it.
        id: IntentId,
        /// Always `execution_intent`.
        kind = "type": ExecutionIntentType,
        /// What it is called.
        title: Text<5, 160>,
        /// Its own version.
        version: Version,
        /// How far it has come.
        status: Status,
        /// When it was written.
        created_at: Timestamp,
        /// Where it comes from.
        lineage: Lineage,
        /// What it is about.
        scope: Scope,
        /// What it is for.
        objective: Objective,
        /// The workflows it follows.
        selected_workflows: List<SelectedWorkflow, 1, 18>,
        /// Who does the work.
        selected_agents: List<SelectedAgent, 1, 13>,
        /// The commands, in order.
        planned_commands: List<PlannedCommand, 0, 80>,
        /// How much it asks.
        interaction: Interaction,
        /// How bad it could be.
        risk: Risk,
        /// How much it may use.
        budgets: Budgets,
        /// What it is founded on.
        evidence_refs: List<EvidenceRef, 1, 200>,
        /// The three constants, and what it wants to itself.
        constraints: Constraints,
        /// Who wrote it, and its checksum.
        audit: Audit,
        /// More about it.
        description: Option<Text<0, 4000>>,
        /// Anything else.
        metadata: Option<Metadata>,
    }
    also intent_rules
}

record! {
    /// Where an intent comes from.
    pub struct Lineage {
        /// The version of the form it was introduced in.
        introduced_in: Version,
        /// The intents it was made from.
        derived_from: List<IntentId, 0, 200>,
        /// The intents it replaces.
        supersedes: List<IntentId, 0, 200>,
    }
}

record! {
    /// What an intent is about.
    pub struct Scope {
        /// The project.
        project_id: Text<1, 128>,
        /// The repository's root, as a name: it is never opened.
        repo_root: Text<1, 512>,
        /// The environment, if it is another than the set's.
        env: Option<Environment>,
        /// What it touches.
        targets: Targets,
    }
}

record! {
    /// What an intent touches.
    pub struct Targets {
        /// Files, directories and globs, relative to the repository's root.
        files: List<RepoPath, 0, 200>,
        /// Modules by name.
        modules: List<Text<1, 256>, 0, 100>,
        /// Labels.
        areas: List<Area, 0, 8>,
        /// Services by name.
        services: Option<List<Text<1, 256>, 0, 50>>,
    }
}

record! {
    /// What an intent is for.
    pub struct Objective {
        /// What shall be reached.
        goal: Text<5, 2000>,
        /// How one sees that it was.
        success_criteria: List<Text<1, 2000>, 1, 20>,
        /// What is not meant.
        non_goals: List<Text<1, 2000>, 0, 20>,
    }
}

record! {
    /// A workflow of the registry, and its phases that are gone through.
    pub struct SelectedWorkflow {
        /// Which one.
        workflow_id: WorkflowId,
        /// Its phases.
        phases: List<Phase, 1, 12>,
        /// Why.
        reason: Option<Text<1, 2000>>,
    }
}

record! {
    /// An agent of the registry, and what it does here.
    pub struct SelectedAgent {
        /// Which one.
        agent_id: AgentId,
        /// In which role.
        role: Text<1, 256>,
        /// What it answers for.
        responsibilities: List<Text<1, 1000>, 1, 12>,
    }
}

record! {
    /// A command of the registry, and what it is to achieve here.
    pub struct PlannedCommand {
        /// Which one.
        command_id: CommandId,
        /// What it is to achieve, in words.
        intent: Text<3, 800>,
        /// What it does to the world.
        effects: List<Effect, 1, 6>,
        /// How bad it could be.
        risk_level: RiskLevel,
        /// What it is founded on.
        evidence_refs: List<EvidenceRef, 1, 30>,
    }
}

record! {
    /// How much an intent asks.
    pub struct Interaction {
        /// How much it does by itself.
        mode: InteractionMode,
        /// How many questions it may cost.
        question_budget: Within<0, 50>,
        /// Which questions.
        question_policy: QuestionPolicy,
    }
    also interaction_rules
}

record! {
    /// How bad it could be, why, and who must look.
    pub struct Risk {
        /// On the whole.
        overall: RiskLevel,
        /// Why.
        drivers: List<Text<1, 1000>, 1, 20>,
        /// Who must look.
        requires_review: List<Review, 0, 7>,
    }
}

record! {
    /// How much an intent may use.
    pub struct Budgets {
        /// Files changed.
        max_files: Within<0, 500>,
        /// Commits made.
        max_commits: Within<0, 50>,
        /// Tokens spent.
        max_tokens: Within<0, 2_000_000>,
        /// Dollars spent.
        max_cost_usd: Money,
    }
}

record! {
    /// The three constants of I5, and what an intent wants to itself.
    pub struct Constraints {
        /// Nothing here is executed.
        execution: Forbidden,
        /// Nothing here is made up.
        no_fabrication: True,
        /// Nothing here is outside the registry.
        registry_only: True,
        /// What it wants to itself.
        lock_scope: LockScope,
    }
}

record! {
    /// What an intent wants to itself.
    pub struct LockScope {
        /// Files, its task, or nothing.
        mode: LockMode,
        /// Which files, directories and globs.
        paths: List<RepoPath, 0, 4000>,
    }
}

record! {
    /// Who wrote it, and its checksum.
    pub struct Audit {
        /// Who.
        created_by: Text<1, 256>,
        /// What sort of author.
        source: AuditSource,
        /// The SHA-256 of the canonical document without this member.
        checksum: Checksum,
    }
}

fn rule(text: &'static str) -> Json<'static> {
    Json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(false))
}

/// I2, as the schema says it.
fn interaction_rules() -> [(&'static str, Json<'static>); 3] {
    [
        ("if", rule(r#"{"properties": {"mode": {"const": "full_auto"}}, "required": ["mode"]}"#)),
        (
            "then",
            rule(
                r#"{"properties": {"question_budget": {"const": 0}, "question_policy": {"const": "never"}}}"#,
            ),
        ),
        ("$comment", Json::from("I2: who asks nobody needs no questions")),
    ]
}

/// I3, and reviews for whatever changes something, as the schema says them.
fn intent_rules() -> [(&'static str, Json<'static>); 1] {
    [(
        "allOf",
        rule(
            r#"[
            {"$comment": "I3: a high or critical risk never runs by itself",
             "if": {"properties": {"risk": {"properties": {"overall": {"enum": ["high", "critical"]}}, "required": ["overall"]}}, "required": ["risk"]},
             "then": {"properties": {"interaction": {"properties": {"mode": {"enum": ["interactive", "semi_auto"]}}}}}},
            {"$comment": "I3: the whole is not safer than its parts",
             "if": {"properties": {"planned_commands": {"contains": {"properties": {"risk_level": {"const": "critical"}}, "required": ["risk_level"]}}}, "required": ["planned_commands"]},
             "then": {"properties": {"risk": {"properties": {"overall": {"const": "critical"}}}}}},
            {"if": {"properties": {"planned_commands": {"contains": {"properties": {"risk_level": {"const": "high"}}, "required": ["risk_level"]}}}, "required": ["planned_commands"]},
             "then": {"properties": {"risk": {"properties": {"overall": {"enum": ["high", "critical"]}}}}}},
            {"if": {"properties": {"planned_commands": {"contains": {"properties": {"risk_level": {"const": "medium"}}, "required": ["risk_level"]}}}, "required": ["planned_commands"]},
             "then": {"properties": {"risk": {"properties": {"overall": {"enum": ["medium", "high", "critical"]}}}}}},
            {"$comment": "what changes something is looked at",
             "if": {"properties": {"planned_commands": {"contains": {"properties": {"effects": {"contains": {"enum": ["write", "create", "delete", "deploy", "rollback", "data", "security"]}}}, "required": ["effects"]}}}, "required": ["planned_commands"]},
             "then": {"properties": {"risk": {"properties": {"requires_review": {"minItems": 1}}}}}}
        ]"#,
        ),
    )]
}

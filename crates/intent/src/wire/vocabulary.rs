//! The closed vocabularies of intent documents.

use countersign_canon::{Definitions, Json, Reader, Wire, choice};

choice! {
    /// The type of an intent.
    pub enum ExecutionIntentType {
        /// The only type there is.
        ExecutionIntent = "execution_intent",
    }
}

choice! {
    /// The version of the evaluator's documents.
    pub enum SchemaVersion {
        /// The only version there is.
        V0_9_3 = "0.9.3",
    }
}

choice! {
    /// What documents say about execution: it is forbidden, and there is no other word.
    pub enum Forbidden {
        /// The only word there is.
        Forbidden = "forbidden",
    }
}

choice! {
    /// How far an intent has come.
    pub enum Status {
        /// Being written.
        Draft = "draft",
        /// Handed in.
        Proposed = "proposed",
        /// Agreed to.
        Approved = "approved",
        /// Turned down.
        Rejected = "rejected",
        /// Replaced by another.
        Superseded = "superseded",
    }
}

choice! {
    /// Where something takes place, from the least to the most delicate.
    pub enum Environment {
        /// One person's machine.
        Local = "local",
        /// Shared development.
        Dev = "dev",
        /// The rehearsal.
        Staging = "staging",
        /// The real thing.
        Prod = "prod",
    }
}

choice! {
    /// A label for a part of the product; sharing one means nothing.
    pub enum Area {
        /// What people see.
        Frontend = "frontend",
        /// What serves it.
        Backend = "backend",
        /// What both run on.
        Infra = "infra",
        /// What explains it.
        Docs = "docs",
        /// What checks it.
        Tests = "tests",
        /// What keeps it running.
        Ops = "ops",
        /// What guards it.
        Security = "security",
        /// What it remembers.
        Data = "data",
    }
}

choice! {
    /// A stage of work, in the order of work.
    pub enum Phase {
        /// Getting ready.
        Setup = "setup",
        /// Finding out.
        Analysis = "analysis",
        /// Deciding how.
        Design = "design",
        /// Making.
        Implementation = "implementation",
        /// Checking.
        Validation = "validation",
        /// Having it looked at.
        Review = "review",
        /// Handing it over.
        Release = "release",
        /// Running it.
        Operations = "operations",
        /// Learning from what went wrong.
        Postmortem = "postmortem",
    }
}

choice! {
    /// What a command does to the world.
    pub enum Effect {
        /// Looks.
        Read = "read",
        /// Changes.
        Write = "write",
        /// Makes anew.
        Create = "create",
        /// Removes.
        Delete = "delete",
        /// Talks to other machines.
        Network = "network",
        /// Puts a version into service.
        Deploy = "deploy",
        /// Takes a version out of service again.
        Rollback = "rollback",
        /// Changes stored data.
        Data = "data",
        /// Changes what protects the product.
        Security = "security",
    }
}

choice! {
    /// How bad it could be.
    pub enum RiskLevel {
        /// Not bad.
        Low = "low",
        /// Noticeable.
        Medium = "medium",
        /// Bad.
        High = "high",
        /// Very bad.
        Critical = "critical",
    }
}

choice! {
    /// How much an intent does by itself, from the strictest.
    pub enum InteractionMode {
        /// A person takes every step.
        Interactive = "interactive",
        /// A person is asked now and then.
        SemiAuto = "semi_auto",
        /// Nobody is asked.
        FullAuto = "full_auto",
    }
}

choice! {
    /// Which questions may be asked, from the strictest.
    pub enum QuestionPolicy {
        /// None.
        Never = "never",
        /// Those without whose answer nothing goes on.
        BlockersOnly = "blockers_only",
        /// Those about what is wanted.
        ConceptualOnly = "conceptual_only",
    }
}

choice! {
    /// Who must look at it.
    pub enum Review {
        /// Those who guard.
        Security = "security",
        /// Those who keep the data.
        Data = "data",
        /// Those who release.
        Release = "release",
        /// Those who design.
        Architecture = "architecture",
        /// Those who pay.
        Cost = "cost",
        /// Those who answer to the law.
        Compliance = "compliance",
        /// Those who run it.
        Operations = "operations",
    }
}

choice! {
    /// What an intent wants to itself, from the strictest.
    pub enum LockMode {
        /// Certain files.
        Files = "files",
        /// Its task.
        Task = "task",
        /// Nothing.
        None = "none",
    }
}

choice! {
    /// Where an intent comes from.
    pub enum AuditSource {
        /// A person wrote it.
        Human = "human",
        /// A program wrote it.
        Agent = "agent",
        /// It was taken over from elsewhere.
        Imported = "imported",
    }
}

choice! {
    /// The sort of a conflict.
    pub enum ConflictType {
        /// Both want one thing.
        Resource = "resource_conflict",
        /// What one does, the other undoes.
        Effect = "effect_conflict",
        /// One needs the other first, and nobody says so.
        Order = "order_conflict",
        /// Their limits do not go together.
        Constraint = "constraint_conflict",
    }
}

choice! {
    /// How grave a conflict is.
    pub enum Severity {
        /// A union takes care of it.
        Low = "low",
        /// A union can put it in order.
        Medium = "medium",
        /// Only a priority or an answer decides.
        High = "high",
        /// Only a priority or an answer decides, and it matters at once.
        Critical = "critical",
    }
}

choice! {
    /// What can be done about a conflict.
    pub enum Resolution {
        /// Do both.
        MergeUnion = "merge_union",
        /// Let the more important one win.
        OverrideByPriority = "override_by_priority",
        /// Do neither.
        Reject = "reject",
        /// Let a person change the intents.
        ManualResolution = "manual_resolution",
    }
}

choice! {
    /// What was decided about a set.
    pub enum Strategy {
        /// All of them together.
        MergeUnion = "merge_union",
        /// The more important ones.
        OverrideByPriority = "override_by_priority",
        /// None of them, until questions are answered.
        Reject = "reject",
    }
}

choice! {
    /// A step of a merge.
    pub enum OperationKind {
        /// Takes the commands of a source.
        UnionCommands = "union_commands",
        /// Takes its workflows.
        UnionWorkflows = "union_workflows",
        /// Takes its agents.
        UnionAgents = "union_agents",
        /// Takes its evidence.
        UnionEvidence = "union_evidence",
        /// Adds its budgets.
        MergeBudgets = "merge_budgets",
        /// Takes its risk into account.
        AggregateRisk = "aggregate_risk",
        /// Puts it after another.
        OrderPhases = "order_phases",
        /// Keeps a field of a winner.
        KeepField = "keep_field",
        /// Drops a field of a loser.
        OverrideField = "override_field",
    }
}

choice! {
    /// How the risks of two intents compare.
    pub enum Relationship {
        /// The first is at least as risky everywhere and more so somewhere.
        ADominatesB = "A_dominates_B",
        /// The second is.
        BDominatesA = "B_dominates_A",
        /// Neither, or they are equal.
        Incomparable = "incomparable",
    }
}

choice! {
    /// Whether ids were looked up in a registry.
    pub enum RegistryLookup {
        /// They were.
        Checked = "checked",
        /// They were not: no registry was used.
        Skipped = "skipped",
    }
}

choice! {
    /// What a registry command does, in one word.
    pub enum Verb {
        /// Looks into something.
        Analyze = "analyze",
        /// Puts a thing together.
        Build = "build",
        /// Checks something.
        Check = "check",
        /// Gathers something.
        Collect = "collect",
        /// Makes something that was not there.
        Create = "create",
        /// Removes something.
        Delete = "delete",
        /// Puts a version into service.
        Deploy = "deploy",
        /// Switches something off.
        Disable = "disable",
        /// Switches something on.
        Enable = "enable",
        /// Makes one thing out of another.
        Generate = "generate",
        /// Brings data into a new form.
        Migrate = "migrate",
        /// Makes something public.
        Publish = "publish",
        /// Undoes a change.
        Revert = "revert",
        /// Takes a version out of service again.
        Rollback = "rollback",
        /// Tries something out.
        Test = "test",
        /// Changes something that was there.
        Update = "update",
    }
}

/// The constant `true`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct True;

impl Wire for True {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let is_true = json.as_bool() == Some(true);
        if !is_true {
            reader.wrong_type(json, "true");
        }
        is_true.then_some(Self)
    }

    fn write(&self) -> Json<'static> {
        Json::from(true)
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object([("const", Json::from(true))])
    }
}

//! The result, put together and frozen: lineage, warnings, the log of what was decided, and every checksum.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Checksum, Distinct, List, Text, Wire};
use countersign_intent::{EvidenceRef, Version};

use crate::{
    Source,
    commit::Cut,
    freeze::freeze_checksum,
    graph::lay_out,
    patch::Changes,
    plan::{PlanOptions, not_yet, result_id},
    review::Reviews,
    wire::{
        AuditEntry, AuditStep, CommitPlan, DerivedFrom, DryExecutionResult, DryRunVersion, ExecutionGraph,
        ExecutionMode, GenerationContext, GenerationEnvironment, IntentRef, NodeType, PatchPlan, RedLine,
        ResultLineage, ResultMetadata, SourceType, Warning, WarningCode,
    },
    work::Work,
};

/// Everything that was decided about an intent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planned<'p> {
    pub(crate) source: &'p Source,
    pub(crate) options: PlanOptions<'p>,
    pub(crate) work: &'p Work<'p>,
    pub(crate) changes: &'p Changes,
    pub(crate) reviews: &'p Reviews,
    pub(crate) cut: &'p Cut<'p>,
}

impl Planned<'_> {
    /// The result; nothing if it would break its own form.
    pub(crate) fn to_result(self) -> Option<DryExecutionResult> {
        let Self { source, options, work, changes, reviews, cut } = self;
        let intent = source.intent();
        let lineage = self.lineage()?;
        let mut graph = lay_out(source, work, reviews, lineage.clone())?;
        graph.checksum = freeze_checksum(&graph.write());
        let mut patch_plan = changes.to_plan(work)?;
        patch_plan.checksum = freeze_checksum(&patch_plan.write());
        let mut commit_plan = cut.to_plan(work)?;
        commit_plan.checksum = freeze_checksum(&commit_plan.write());
        let mut red_lines = RedLine::ALL.to_vec();
        red_lines.sort_unstable();
        let mut result = DryExecutionResult {
            result_id: result_id(intent.id().as_str(), &intent.checksum().to_string())?,
            schema_version: DryRunVersion::V0_10_0,
            intent_ref: IntentRef {
                intent_id: intent.id().clone(),
                checksum: intent.checksum(),
                version: intent.document().version.clone(),
            },
            created_at: options.created_at,
            review_pack_stub: reviews.to_stub(work, changes, &commit_plan, &graph.nodes)?,
            audit_log: List::new(self.audit_log(&graph, &patch_plan, &commit_plan)?)?,
            metadata: ResultMetadata {
                dry_executor_version: Version::parse(DryRunVersion::V0_10_0.as_str()).ok()?,
                execution_mode: ExecutionMode::DryRun,
                constraints_enforced: Distinct::new(red_lines)?,
                warnings: List::new(self.warnings()?)?,
            },
            graph,
            patch_plan,
            commit_plan,
            lineage,
            checksum: not_yet(),
        };
        result.checksum = freeze_checksum(&result.write());
        Some(result)
    }

    fn lineage(self) -> Option<ResultLineage> {
        let (source, intent) = (self.source, self.source.intent());
        let from = |kind: SourceType, id: &str, checksum: Checksum| {
            Some(DerivedFrom { kind, id: Text::new(id.into())?, checksum })
        };
        let mut derived_from = Vec::new();
        derived_from.push(from(SourceType::Intent, intent.id().as_str(), intent.checksum())?);
        if let Some(plan) = source.plan() {
            derived_from.push(from(SourceType::MergePlan, plan.id.as_str(), plan.checksum)?);
        }
        if let Some(evaluation) = source.evaluation() {
            derived_from.push(from(
                SourceType::EvaluationResult,
                evaluation.id.as_str(),
                evaluation.checksum,
            )?);
        }
        if let Some(registry) = self.options.registry {
            let content = Checksum::parse(&registry.content().to_string()).ok()?;
            derived_from.push(from(SourceType::RegistryContent, "registry", content)?);
        }
        let generation_context = GenerationContext { environment: GenerationEnvironment::DryExecutor };
        Some(ResultLineage { derived_from: List::new(derived_from)?, generation_context })
    }

    fn warnings(self) -> Option<Vec<Warning>> {
        let mut warnings = self.changes.warnings.clone();
        let mut warn = |code: WarningCode, message: String| {
            warnings.push(Warning { code, message: Text::new(message)? });
            Some(())
        };
        if self.options.registry.is_none() {
            let message = "no registry was used: ids were not looked up, actions stand in the last phase and the first lane";
            warn(WarningCode::RegistrySkipped, message.into())?;
        }
        for (later, earlier) in self.work.ordered_pairs().into_iter().enumerate() {
            for earlier in earlier.iter().filter(|&earlier| self.work.is_before(later, earlier)) {
                let message = format!(
                    "planned_commands/{later} comes before planned_commands/{earlier}, which the intent lists first and which shares something with it, because its phase does"
                );
                warn(WarningCode::PhaseOverridesOrder, message)?;
            }
        }
        for (index, step) in self.work.steps.iter().enumerate() {
            let phase = |at: usize| self.work.phases.get(at).map(|slot| slot.phase);
            if let Some((own, now)) = step.moved_from.and_then(|own| Some((phase(own)?, phase(step.phase)?)))
            {
                let message = format!(
                    "planned_commands/{index} stands in {now} and not in {own}, its own phase, because its intent runs after another that is not done before"
                );
                warn(WarningCode::OrderMovesPhase, message)?;
            }
        }
        for breach in self.cut.breaches.clone().into_sorted() {
            warn(WarningCode::OverBudgetAllowed, breach.message.clone())?;
        }
        Some(warnings)
    }

    /// What was decided, step by step.
    fn audit_log(
        self,
        graph: &ExecutionGraph,
        patch_plan: &PatchPlan,
        commit_plan: &CommitPlan,
    ) -> Option<Vec<AuditEntry>> {
        let (work, intent) = (self.work, self.source.intent());
        let count = |kind: NodeType| graph.nodes.iter().filter(|node| node.node_type == kind).count();
        let mut log = Log { planned: self, entries: Vec::new() };
        log.note(
            AuditStep::Load,
            format!("{} is planned as it stands", intent.id()),
            "its form, its red lines, its paths and its checksum are in order".into(),
            work.place("audit/checksum"),
        )?;
        let (decision, why) = match self.options.registry {
            Some(_) => ("phases and agents are the registry's", "every id was looked up (I5)"),
            None => ("phases and agents are not looked up", "no registry was used"),
        };
        log.note(AuditStep::Registry, decision.into(), why.into(), work.place("selected_workflows"))?;
        if self.source.plan().is_some() || self.source.evaluation().is_some() {
            let decision =
                format!("{} decisions between intents are taken over", count(NodeType::DecisionPoint));
            let why = "the evaluation or merge plan names this intent and does not decide against it";
            log.note(AuditStep::Evaluation, decision, why.into(), work.place("lineage/derived_from"))?;
        }
        log.note(
            AuditStep::Graph,
            format!(
                "{} actions in {} phases, behind {} reviews",
                count(NodeType::ActionPlan),
                count(NodeType::Phase),
                count(NodeType::ReviewCheckpoint)
            ),
            "commands of one phase stand side by side unless something they share orders them".into(),
            work.place("planned_commands"),
        )?;
        log.note(
            AuditStep::Paths,
            format!(
                "{} files are planned, {} things are not known",
                patch_plan.files.len(),
                patch_plan.unknowns.len()
            ),
            "a file is planned if the intent names it whole and a command changes it".into(),
            work.place("scope/targets/files"),
        )?;
        let budget = if self.cut.breaches.is_empty() { "within" } else { "over, which was allowed," };
        log.note(
            AuditStep::Commits,
            format!("{} commits, {budget} the budgets", self.cut.commits()),
            format!("a row of {} commits depend on each other", commit_plan.metadata.commit_dag_depth.get()),
            work.place("budgets"),
        )?;
        let who: Vec<&str> = self.reviews.all.iter().map(|review| review.as_str()).collect();
        let who = if who.is_empty() { "nobody".into() } else { who.join(", ") };
        log.note(
            AuditStep::Review,
            format!("{who} must look; the risk is {}", self.reviews.dominant_risk),
            format!("{} of them because of a path", self.reviews.by_path.len()),
            work.place("risk"),
        )?;
        Some(log.entries)
    }
}

struct Log<'p> {
    planned: Planned<'p>,
    entries: Vec<AuditEntry>,
}

impl Log<'_> {
    fn note(
        &mut self,
        step: AuditStep,
        decision: String,
        rationale: String,
        evidence: EvidenceRef,
    ) -> Option<()> {
        self.entries.push(AuditEntry {
            timestamp: self.planned.options.created_at,
            step,
            decision: Text::new(decision)?,
            rationale: Text::new(rationale)?,
            evidence_refs: List::new([evidence].into())?,
        });
        Some(())
    }
}

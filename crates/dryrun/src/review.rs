//! Who must look: what the intent asks for, and what the folders of the planned files ask for.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Distinct, Issue, List, Pointer, RepoPath, Text, Within};
use countersign_intent::wire::{IntentDocument, Review, RiskLevel};

use crate::{
    code::codes,
    named::shown,
    patch::Changes,
    wire::{
        CommitPlan, EvidenceCoverage, Node, NodeType, ReviewPackStub, ReviewTime, RiskSummary,
        RollbackStrategy,
    },
    work::Work,
};

/// The segments of a path, whole, that ask for a review: `auth/` does, `author/` does not.
const SEGMENTS: &[(Review, &[&str])] = &[
    (
        Review::Security,
        &["auth", "authentication", "authorization", "crypto", "permissions", "secrets", "security"],
    ),
    (
        Review::Data,
        &["data", "database", "db", "migration", "migrations", "models", "schema", "schemas", "sql"],
    ),
    (Review::Release, &["release", "releases", "deploy", "deployment", "deployments"]),
    (Review::Architecture, &["adr", "architecture"]),
    (Review::Cost, &["billing", "payment", "payments", "pricing"]),
    (Review::Compliance, &["compliance", "legal", "privacy"]),
    (Review::Operations, &["helm", "infra", "infrastructure", "k8s", "ops", "terraform"]),
];

const FACTORS_MAX: usize = 200;
const DRIVER_CHARS: usize = 400;

/// The reviews that a path asks for, by its segments.
pub(crate) fn reviews_of(path: &RepoPath) -> impl Iterator<Item = Review> {
    let asks =
        |words: &[&str]| path.segments().any(|segment| words.contains(&segment.to_lowercase().as_str()));
    SEGMENTS.iter().filter(move |(_, words)| asks(words)).map(|(review, _)| *review)
}

/// Who must look at a plan.
#[derive(Debug)]
pub(crate) struct Reviews {
    /// Everybody, in the order of the vocabulary.
    pub(crate) all: BTreeSet<Review>,
    /// Those that only paths ask for, with the first path that does.
    pub(crate) by_path: BTreeMap<Review, RepoPath>,
    pub(crate) dominant_risk: RiskLevel,
}

impl Reviews {
    /// Gathers them.
    ///
    /// # Errors
    ///
    /// Fails if the risk is high or critical and nobody is asked (DE5).
    pub(crate) fn of(document: &IntentDocument, changes: &Changes) -> Result<Self, Issue> {
        let asked: BTreeSet<Review> = document.risk.requires_review.iter().copied().collect();
        let mut by_path: BTreeMap<Review, RepoPath> = BTreeMap::new();
        for change in &changes.files {
            for review in reviews_of(&change.path).filter(|review| !asked.contains(review)) {
                by_path.entry(review).or_insert_with(|| change.path.clone());
            }
        }
        let riskiest = document.planned_commands.iter().map(|command| command.risk_level).max();
        let dominant_risk = riskiest.map_or(document.risk.overall, |risk| risk.max(document.risk.overall));
        if dominant_risk >= RiskLevel::High && asked.is_empty() {
            let message = format!("the risk is {dominant_risk} and nobody reviews it");
            return Err(Issue::new(codes::DE5_HIGH_RISK_NO_REVIEW, message)
                .with_pointer(Pointer::root().key("risk").key("requires_review"))
                .with_expected("at least one review")
                .with_hint("say who must look, also at what only reads"));
        }
        let all = asked.into_iter().chain(by_path.keys().copied()).collect();
        Ok(Self { all, by_path, dominant_risk })
    }

    /// The document; nothing if it would break its own form.
    pub(crate) fn to_stub(
        &self,
        work: &Work<'_>,
        changes: &Changes,
        commits: &CommitPlan,
        nodes: &[Node],
    ) -> Option<ReviewPackStub> {
        let text = |text: String| Text::new(text);
        let factors: Option<Vec<_>> =
            self.factors(work, changes).into_iter().take(FACTORS_MAX).map(text).collect();
        let notes: Option<Vec<_>> =
            self.notes(commits, nodes).into_iter().take(FACTORS_MAX).map(text).collect();
        Some(ReviewPackStub {
            risk_summary: RiskSummary {
                dominant_risk: self.dominant_risk,
                risk_factors: List::new(factors?)?,
                mitigation_notes: List::new(notes?)?,
            },
            requires_review: Distinct::new(self.all.iter().copied().collect())?,
            evidence_coverage: coverage(nodes)?,
            estimated_review_time: ReviewTime { minutes: self.minutes(changes) },
        })
    }

    fn factors(&self, work: &Work<'_>, changes: &Changes) -> Vec<String> {
        let drivers =
            work.document.risk.drivers.iter().map(|driver| work.named.quoted(driver.as_str(), DRIVER_CHARS));
        let drivers: BTreeSet<String> = drivers.map(|driver| format!("driver: {driver}")).collect();
        let risky =
            work.steps.iter().enumerate().filter(|(_, step)| step.command.risk_level >= RiskLevel::High);
        let risky = risky.map(|(index, step)| {
            format!(
                "{} (planned_commands/{index}) is of {} risk",
                step.command.command_id, step.command.risk_level
            )
        });
        let by_path =
            self.by_path.iter().map(|(review, path)| format!("{} asks for a {review} review", shown(path)));
        let unknown = match changes.unknowns.len() {
            0 => None,
            1 => Some("1 thing is not known".into()),
            count => Some(format!("{count} things are not known")),
        };
        drivers.into_iter().chain(risky).chain(by_path).chain(unknown).collect()
    }

    fn notes(&self, commits: &CommitPlan, nodes: &[Node]) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let gates = nodes.iter().filter(|node| node.node_type == NodeType::ReviewCheckpoint).count();
        if gates > 0 {
            let who: Vec<&str> = self.all.iter().map(|review| review.as_str()).collect();
            let noun = if gates == 1 { "checkpoint stands" } else { "checkpoints stand" };
            notes.push(format!(
                "{gates} review {noun} before everything that changes something: {}",
                who.join(", ")
            ));
        }
        for commit in commits.commits.iter() {
            match commit.rollback_strategy {
                RollbackStrategy::Revert => (),
                RollbackStrategy::ForwardFix => {
                    notes.push(format!("{} is fixed forward, not reverted", commit.commit_id))
                }
                RollbackStrategy::RequiresManual => {
                    notes.push(format!(
                        "{} is taken back by hand; write down how before it is made",
                        commit.commit_id
                    ));
                }
            }
        }
        notes
    }

    /// A rule of thumb: 10 minutes for each reviewer, 3 for each file, more where it is risky, 5 for each unknown.
    fn minutes(&self, changes: &Changes) -> Within<0, 100_000> {
        let of_file = |risk: RiskLevel| match risk {
            RiskLevel::Low => 3,
            RiskLevel::Medium => 5,
            RiskLevel::High => 10,
            RiskLevel::Critical => 20,
        };
        let files: i64 = changes.files.iter().map(|change| of_file(change.risk)).sum();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let reviewers = count(self.all.len()).saturating_mul(10);
        let unknowns = count(changes.unknowns.len()).saturating_mul(5);
        Within::clamped(files.saturating_add(reviewers).saturating_add(unknowns))
    }
}

/// How much of the graph has evidence; a reference without a known scheme cannot stand in a node, so it is not counted.
fn coverage(nodes: &[Node]) -> Option<EvidenceCoverage> {
    let gaps: Vec<_> =
        nodes.iter().filter(|node| node.evidence_refs.is_empty()).map(|node| node.node_id.clone()).collect();
    let total = i64::try_from(nodes.len()).ok()?;
    let covered = total.checked_sub(i64::try_from(gaps.len()).ok()?)?;
    Some(EvidenceCoverage {
        total_nodes: Within::new(total)?,
        nodes_with_evidence: Within::new(covered)?,
        coverage_percentage: Within::new(covered.checked_mul(100)?.checked_div(total)?)?,
        gaps: List::new(gaps)?,
    })
}

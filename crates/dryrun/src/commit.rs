//! Cutting commits: by the command that completes a file and by folder, in the order of work, within the budgets.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Distinct, Issue, Issues, List, Pointer, RepoPath, Text, Within};
use countersign_intent::{
    EvidenceRef,
    wire::{Effect, RiskLevel},
};

use crate::{
    CommitId,
    code::codes,
    command_set::CommandSet,
    patch::{Change, Changes},
    wire::{Commit, CommitMetadata, CommitPlan, FileAction, RollbackStrategy},
    work::Work,
};

/// LIMIT: the form of a commit plan has room for no more.
const COMMITS_MAX: usize = 50;
const EVIDENCE_MAX: usize = 100;

/// What the budgets say about a plan.
#[derive(Debug)]
pub(crate) struct Cut<'c> {
    /// The commits: files that are complete in one place, in the order of work.
    commits: Vec<Group<'c>>,
    total_files: usize,
    /// Every budget that does not hold.
    pub(crate) breaches: Issues,
}

/// Files that go together.
#[derive(Debug, Clone)]
struct Group<'c> {
    files: Vec<&'c Change>,
    /// The commands that complete the files.
    completing: CommandSet,
    /// The highest of the files.
    risk: RiskLevel,
}

impl Group<'_> {
    const NONE: Self = Self { files: Vec::new(), completing: CommandSet::NONE, risk: RiskLevel::Low };

    /// Every command that has a part in it.
    fn commands(&self) -> CommandSet {
        self.files.iter().fold(CommandSet::default(), |all, change| all.with(change.commands))
    }
}

impl<'c> Cut<'c> {
    pub(crate) fn of(work: &Work<'_>, changes: &'c Changes) -> Self {
        let mut groups: BTreeMap<(usize, usize, &str), Group<'c>> = BTreeMap::new();
        for change in &changes.files {
            let place = |index: usize| work.step(index).map(|step| (step.phase, index));
            let Some((phase, last)) = change.commands.iter().filter_map(place).max() else { continue };
            let folder = change.path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
            let group = groups.entry((phase, last, folder)).or_insert(Group::NONE);
            group.files.push(change);
            group.risk = group.risk.max(change.risk);
            group.completing.insert(last);
        }
        let groups: Vec<Group<'c>> = groups.into_values().collect();
        let budgets = &work.document.budgets;
        let allowed = usize::try_from(budgets.max_commits.get()).unwrap_or(0);
        let mut breaches = Issues::new();
        if allowed == 0 && !groups.is_empty() {
            breaches.push(breach(
                "max_commits",
                changes.files.len(),
                "changed files cannot be committed in",
                0,
            ));
        }
        let files_max = budgets.max_files.get();
        if i64::try_from(changes.files.len()).unwrap_or(i64::MAX) > files_max {
            breaches.push(breach(
                "max_files",
                changes.files.len(),
                "files would change, and the budget is",
                files_max,
            ));
        }
        let room = if allowed == 0 { COMMITS_MAX } else { allowed.min(COMMITS_MAX) };
        Self { commits: merged(groups, room), total_files: changes.files.len(), breaches }
    }

    pub(crate) fn commits(&self) -> usize {
        self.commits.len()
    }

    /// The document; nothing if it would break its own form.
    pub(crate) fn to_plan(&self, work: &Work<'_>) -> Option<CommitPlan> {
        let depends = self.dependencies(work);
        let mut depths: Vec<usize> = Vec::new();
        for own in &depends {
            let deepest = own.iter().filter_map(|&earlier| depths.get(earlier)).max();
            depths.push(deepest.copied().unwrap_or(0).saturating_add(1));
        }
        let commits = self.commits.iter().zip(&depends).enumerate();
        let commits: Option<Vec<Commit>> =
            commits.map(|(index, (group, depends))| commit(work, index, group, depends)).collect();
        let number = |count: usize| i64::try_from(count).ok();
        Some(CommitPlan {
            commits: List::new(commits?)?,
            metadata: CommitMetadata {
                total_files: Within::new(number(self.total_files)?)?,
                respects_max_commits_budget: self.breaches.is_empty(),
                commit_dag_depth: Within::new(number(depths.into_iter().max().unwrap_or(0))?)?,
            },
            checksum: crate::plan::not_yet(),
        })
    }

    /// For each commit those that must come first, without those that these need themselves.
    fn dependencies(&self, work: &Work<'_>) -> Vec<BTreeSet<usize>> {
        let mut direct: Vec<BTreeSet<usize>> = Vec::new();
        let mut all: Vec<BTreeSet<usize>> = Vec::new();
        for (index, later) in self.commits.iter().enumerate() {
            let needs = |earlier: &Group<'_>| {
                let mut pairs =
                    earlier.completing.iter().flat_map(|a| later.completing.iter().map(move |b| (a, b)));
                pairs.any(|(a, b)| work.is_before(a, b))
            };
            let earlier = self.commits.iter().enumerate().take(index);
            let needed: BTreeSet<usize> =
                earlier.filter(|(_, group)| needs(group)).map(|(at, _)| at).collect();
            let beyond: BTreeSet<usize> =
                needed.iter().filter_map(|&at| all.get(at)).flatten().copied().collect();
            direct.push(needed.difference(&beyond).copied().collect());
            all.push(needed.union(&beyond).copied().collect());
        }
        direct
    }
}

fn breach(budget: &str, found: usize, what: &str, allowed: i64) -> Issue {
    Issue::new(codes::DRY_RUN_OVER_BUDGET, format!("{found} {what} {allowed}"))
        .with_pointer(Pointer::root().key("budgets").key(budget))
        .with_expected(format!("at most {allowed}"))
        .with_hint("raise the budget in the intent, plan less, or record the breach with --allow-over-budget")
}

/// Merges neighbours, those of lowest risk first, then the smallest, until there is room.
fn merged(mut groups: Vec<Group<'_>>, room: usize) -> Vec<Group<'_>> {
    while groups.len() > room {
        let cost = |pair: &[Group<'_>]| match pair {
            [a, b] => (a.risk.max(b.risk), a.files.len().saturating_add(b.files.len())),
            _ => (RiskLevel::Critical, usize::MAX),
        };
        let cheapest =
            groups.windows(2).enumerate().min_by_key(|(_, pair)| cost(pair)).map(|(index, _)| index);
        let Some(index) = cheapest else { break };
        let second = groups.remove(index.saturating_add(1));
        if let Some(first) = groups.get_mut(index) {
            first.files.extend(second.files);
            first.risk = first.risk.max(second.risk);
            first.completing = first.completing.with(second.completing);
        }
    }
    groups
}

fn commit_id(index: usize) -> Option<CommitId> {
    CommitId::parse(&format!("commit_{:03}", index.saturating_add(1))).ok()
}

fn commit(work: &Work<'_>, index: usize, group: &Group<'_>, depends: &BTreeSet<usize>) -> Option<Commit> {
    let last = group.completing.iter().filter_map(|index| work.step(index)).map(|step| step.phase).max()?;
    let scope = work.phases.get(last)?.phase;
    let mut paths: Vec<RepoPath> = group.files.iter().map(|change| change.path.clone()).collect();
    paths.sort();
    let evidence: BTreeSet<&EvidenceRef> = group.files.iter().flat_map(|change| &change.evidence).collect();
    let depends_on: Option<Vec<CommitId>> = depends.iter().map(|&earlier| commit_id(earlier)).collect();
    let actions: BTreeSet<FileAction> = group.files.iter().map(|change| change.action).collect();
    let tags = actions.iter().map(|action| action.as_str()).chain([scope.as_str(), group.risk.as_str()]);
    let tags: BTreeSet<String> = tags.map(String::from).collect();
    let tags: Option<Vec<Text<1, 64>>> = tags.into_iter().map(Text::new).collect();
    Some(Commit {
        commit_id: commit_id(index)?,
        title: Text::new(title(work, group))?,
        scope,
        files: Distinct::new(paths)?,
        rationale: Text::new(format!(
            "complete after {}; files of one folder that one command completes go together, neighbours of low risk where the budget wants it",
            names(work, group.completing, 5)
        ))?,
        depends_on: Distinct::new(depends_on?)?,
        risk: group.risk,
        evidence_refs: List::new(evidence.into_iter().take(EVIDENCE_MAX).cloned().collect())?,
        rollback_strategy: rollback(work, group.commands()),
        tags: Distinct::new(tags?)?,
    })
}

fn names(work: &Work<'_>, commands: CommandSet, most: usize) -> String {
    let ids: BTreeSet<&str> =
        commands.iter().filter_map(|index| Some(work.step(index)?.command.command_id.as_str())).collect();
    let more = match ids.len().saturating_sub(most) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let ids: Vec<&str> = ids.into_iter().take(most).collect();
    format!("{}{more}", ids.join(", "))
}

/// What a commit does: `cmd_docs_update_index: add 1, modify 2 files`.
fn title(work: &Work<'_>, group: &Group<'_>) -> String {
    let count = |action: FileAction| group.files.iter().filter(|change| change.action == action).count();
    let counts = [FileAction::Add, FileAction::Modify, FileAction::Delete].into_iter();
    let counts = counts.map(|action| (action, count(action))).filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(action, count)| format!("{action} {count}")).collect();
    let noun = if group.files.len() == 1 { "file" } else { "files" };
    format!("{}: {} {noun}", names(work, group.completing, 2), counts.join(", "))
}

/// Data cannot be reverted, and taking back what protects the product would open it again.
fn rollback(work: &Work<'_>, commands: CommandSet) -> RollbackStrategy {
    let steps = commands.iter().filter_map(|index| work.step(index));
    let strategy = steps.flat_map(|step| step.command.effects.iter()).map(|effect| match effect {
        Effect::Data => RollbackStrategy::RequiresManual,
        Effect::Security | Effect::Deploy | Effect::Rollback => RollbackStrategy::ForwardFix,
        Effect::Read | Effect::Write | Effect::Create | Effect::Delete | Effect::Network => {
            RollbackStrategy::Revert
        }
    });
    strategy.max().unwrap_or(RollbackStrategy::RequiresManual)
}

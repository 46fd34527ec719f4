//! Planning files: only those that the intent names whole, and only where a command would change them (DE3).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Json, List, RepoPath, Sha256, Text};
use countersign_intent::{
    EvidenceRef, PathSet,
    wire::{Effect, LockMode, RiskLevel, True},
};

use crate::{
    DiffPlaceholder,
    command_set::CommandSet,
    named::shown,
    wire::{
        EstimatedDiff, FileAction, Impact, LockIntent, LockIntentMode, LockIntentScope, PatchConstraints,
        PatchPlan, PlannedFile, Unknown, UnknownType, Warning, WarningCode,
    },
    work::Work,
};

/// LIMIT: as many as a command of an intent may name.
const EVIDENCE_MAX: usize = 30;
const QUOTE_CHARS: usize = 200;

/// A file that would change, and the commands that would change it.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) path: RepoPath,
    pub(crate) action: FileAction,
    pub(crate) risk: RiskLevel,
    pub(crate) commands: CommandSet,
    pub(crate) evidence: Vec<EvidenceRef>,
}

/// What can and cannot be planned.
#[derive(Debug)]
pub(crate) struct Changes {
    /// Sorted by path.
    pub(crate) files: Vec<Change>,
    pub(crate) unknowns: Vec<Unknown>,
    pub(crate) warnings: Vec<Warning>,
}

/// What an effect does to a file; nothing for those that change no file.
const fn action_of(effect: Effect) -> Option<FileAction> {
    match effect {
        Effect::Create => Some(FileAction::Add),
        Effect::Delete => Some(FileAction::Delete),
        Effect::Write | Effect::Data | Effect::Security => Some(FileAction::Modify),
        Effect::Read | Effect::Network | Effect::Deploy | Effect::Rollback => None,
    }
}

impl Changes {
    pub(crate) fn of(work: &Work<'_>) -> Option<Self> {
        let mut unknowns = Vec::new();
        let mut actions: Vec<Option<FileAction>> = Vec::new();
        for (index, step) in work.steps.iter().enumerate() {
            if work.named.has_unnamed_mention(step.command.intent.as_str()) {
                unknowns.push(mention(work, index)?);
            }
            let action = step.command.effects.iter().copied().filter_map(action_of).max();
            if action.is_some() && work.paths_of(&[step]).next().is_none() {
                unknowns.push(nothing_named(work, index)?);
            }
            actions.push(action);
        }
        let mut touched: BTreeMap<&RepoPath, (FileAction, CommandSet)> = BTreeMap::new();
        let mut areas: BTreeMap<&RepoPath, CommandSet> = BTreeMap::new();
        for (path, commands) in work.touching() {
            let does = |index: &usize| actions.get(*index).copied().flatten();
            let Some(action) = commands.iter().filter_map(|index| does(&index)).max() else { continue };
            let commands: CommandSet = commands.iter().filter(|index| does(index).is_some()).collect();
            if work.named.is_area(path) {
                areas.insert(path, commands);
            } else {
                touched.insert(path, (action, commands));
            }
        }
        let by_area = PathSet::of(areas.keys().copied());
        let named: BTreeSet<usize> = touched.keys().flat_map(|path| by_area.holding(path)).collect();
        let open = areas.iter().enumerate().filter(|(position, _)| !named.contains(position));
        for (_, (area, commands)) in open {
            unknowns.push(ambiguous(work, area, *commands)?);
        }
        let mut changes = Self { files: Vec::new(), unknowns, warnings: Vec::new() };
        changes.keep_locked(work, touched)?;
        changes.unknowns.sort_by(|a, b| (a.kind, &a.description).cmp(&(b.kind, &b.description)));
        changes.unknowns.dedup();
        Some(changes)
    }

    /// Plans the files that the intent's own lock covers; the others are not known.
    fn keep_locked(
        &mut self,
        work: &Work<'_>,
        touched: BTreeMap<&RepoPath, (FileAction, CommandSet)>,
    ) -> Option<()> {
        let lock = &work.document.constraints.lock_scope;
        let locked = PathSet::of(lock.paths.iter());
        for (path, (action, commands)) in touched {
            if lock.mode == LockMode::Files && locked.holding(path).is_empty() {
                self.unknowns.push(unlocked(work, path)?);
                let message =
                    format!("lock_scope of mode files does not cover {}, which would change", shown(path));
                let message = Text::new(message)?;
                self.warnings.push(Warning { code: WarningCode::LockScopeMissesPath, message });
                continue;
            }
            let steps = || commands.iter().filter_map(|index| work.step(index));
            let risk = steps().map(|step| step.command.risk_level).max().unwrap_or(RiskLevel::Critical);
            let evidence = evidence(work, path, commands);
            self.files.push(Change { path: path.clone(), action, risk, commands, evidence });
        }
        Some(())
    }

    /// The document; nothing if it would break its own form.
    pub(crate) fn to_plan(&self, work: &Work<'_>) -> Option<PatchPlan> {
        let quotes: Vec<String> = work
            .steps
            .iter()
            .map(|step| work.named.quoted(step.command.intent.as_str(), QUOTE_CHARS))
            .collect();
        let who: Vec<String> = self.files.iter().map(|change| who(work, change, &quotes)).collect();
        let files = self.files.iter().zip(&who).map(|(change, who)| planned(work, change, who));
        let files: Option<Vec<PlannedFile>> = files.collect();
        let diffs = self.files.iter().zip(&who).map(|(change, who)| diff(work, change, who));
        let diffs: Option<Vec<EstimatedDiff>> = diffs.collect();
        Some(PatchPlan {
            files: List::new(files?)?,
            estimated_diffs: List::new(diffs?)?,
            constraints: PatchConstraints { no_exec: True, no_fs_write: True, no_fabrication: True },
            unknowns: List::new(self.unknowns.clone())?,
            checksum: crate::plan::not_yet(),
        })
    }
}

/// What the commands that change a file are founded on; what they know about other files is left out.
fn evidence(work: &Work<'_>, path: &RepoPath, commands: CommandSet) -> Vec<EvidenceRef> {
    let mut references = BTreeSet::new();
    for index in commands.iter() {
        references.insert(work.place(&format!("planned_commands/{index}")));
        let own = work.step(index).map(|step| step.evidence.as_slice()).unwrap_or_default();
        let about = own.iter().filter(|(_, file)| file.as_ref().is_none_or(|file| file == path));
        let room = EVIDENCE_MAX.saturating_sub(references.len());
        references.extend(about.map(|(reference, _)| (*reference).clone()).take(room));
        if references.len() >= EVIDENCE_MAX {
            break;
        }
    }
    references.into_iter().take(EVIDENCE_MAX).collect()
}

fn planned(work: &Work<'_>, change: &Change, who: &str) -> Option<PlannedFile> {
    let deed = match change.action {
        FileAction::Modify => "changed",
        FileAction::Add => "made",
        FileAction::Delete => "removed",
    };
    Some(PlannedFile {
        path: change.path.clone(),
        action: change.action,
        rationale: Text::new(format!("{deed} by {who}"))?,
        risk: change.risk,
        evidence_refs: List::new(change.evidence.clone())?,
        lock_intent: lock_intent(work, &change.path),
        estimated_impact: impact(work, change),
    })
}

/// Who changes a file, and what the first command that does the gravest thing to it is to achieve.
fn who(work: &Work<'_>, change: &Change, quotes: &[String]) -> String {
    let steps = || change.commands.iter().filter_map(|index| Some((index, work.step(index)?)));
    let names: BTreeSet<&str> = steps().map(|(_, step)| step.command.command_id.as_str()).collect();
    let more = match names.len().saturating_sub(3) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let names: Vec<&str> = names.into_iter().take(3).collect();
    let does = |effect: &Effect| action_of(*effect) == Some(change.action);
    let gravest = steps().find(|(_, step)| step.command.effects.iter().any(does));
    let quote = gravest.and_then(|(index, _)| quotes.get(index)).map(String::as_str);
    format!("{}{more}: {}", names.join(", "), quote.unwrap_or_default())
}

fn lock_intent(work: &Work<'_>, path: &RepoPath) -> LockIntent {
    let lock = &work.document.constraints.lock_scope;
    match lock.mode {
        LockMode::None => LockIntent { mode: LockIntentMode::None, scope: LockIntentScope::File },
        LockMode::Task if work.document.scope.targets.modules.is_empty() => {
            LockIntent { mode: LockIntentMode::Shared, scope: LockIntentScope::File }
        }
        LockMode::Task => LockIntent { mode: LockIntentMode::Shared, scope: LockIntentScope::Module },
        LockMode::Files => {
            let is_own = lock.paths.iter().any(|locked| locked == path);
            let scope = if is_own { LockIntentScope::File } else { LockIntentScope::Directory };
            LockIntent { mode: LockIntentMode::Exclusive, scope }
        }
    }
}

fn impact(work: &Work<'_>, change: &Change) -> Impact {
    let steps = change.commands.iter().filter_map(|index| work.step(index));
    let mut effects = steps.flat_map(|step| step.command.effects.iter());
    let is_grave = effects.any(|effect| matches!(effect, Effect::Data | Effect::Security));
    match change.action {
        _ if is_grave => Impact::High,
        FileAction::Delete => Impact::High,
        FileAction::Modify => Impact::Medium,
        FileAction::Add => Impact::Low,
    }
}

fn diff(work: &Work<'_>, change: &Change, who: &str) -> Option<EstimatedDiff> {
    let content = Json::object([
        ("intent_checksum", Json::from(format!("{}", work.document.audit.checksum))),
        ("path", Json::from(change.path.as_str())),
        ("action", Json::from(change.action.as_str())),
    ]);
    Some(EstimatedDiff {
        file_path: change.path.clone(),
        diff_hash_placeholder: DiffPlaceholder::parse(&format!("placeholder_{}", Sha256::of_json(&content)))
            .ok()?,
        intent_summary: Text::new(format!("{}: {who}", change.action))?,
    })
}

fn unknown(kind: UnknownType, description: String, reason: &str, needed_evidence: String) -> Option<Unknown> {
    Some(Unknown {
        kind,
        description: Text::new(description)?,
        reason: Text::new(reason.into())?,
        needed_evidence: Text::new(needed_evidence)?,
    })
}

fn mention(work: &Work<'_>, index: usize) -> Option<Unknown> {
    let command = &work.step(index)?.command.command_id;
    unknown(
        UnknownType::MissingPath,
        format!(
            "the text of {command} (planned_commands/{index}) mentions a path that the intent does not name"
        ),
        "a path is planned only if the intent names it whole, in its targets or as scan://file evidence",
        format!("the path in scope.targets.files, or as a scan://file reference of planned_commands/{index}"),
    )
}

fn nothing_named(work: &Work<'_>, index: usize) -> Option<Unknown> {
    let command = &work.step(index)?.command.command_id;
    unknown(
        UnknownType::InsufficientEvidence,
        format!(
            "{command} (planned_commands/{index}) changes something, and the intent names no file that it could be"
        ),
        "neither the command's evidence nor the intent's targets name a file",
        format!("scan://file references on planned_commands/{index}, or files in scope.targets.files"),
    )
}

fn ambiguous(work: &Work<'_>, area: &RepoPath, commands: CommandSet) -> Option<Unknown> {
    let names: Vec<&str> =
        commands.iter().filter_map(|index| Some(work.step(index)?.command.command_id.as_str())).collect();
    let names: BTreeSet<&str> = names.into_iter().collect();
    let names: Vec<&str> = names.into_iter().take(5).collect();
    unknown(
        UnknownType::AmbiguousTarget,
        format!(
            "{} is a folder or pattern; which files {} would change in it is not said",
            shown(area),
            names.join(", ")
        ),
        "a folder or glob is not a file, and none of its files is named by a command that changes something",
        format!("scan://file references for the files of {} that are meant", shown(area)),
    )
}

fn unlocked(work: &Work<'_>, path: &RepoPath) -> Option<Unknown> {
    unknown(
        UnknownType::InsufficientEvidence,
        format!("{} would change, but lies outside what `{}` locks", shown(path), work.id()),
        "constraints.lock_scope has mode files and does not cover the path",
        format!("{} in constraints.lock_scope.paths", shown(path)),
    )
}

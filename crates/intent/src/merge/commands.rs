//! The commands of a union: each once, each with where it comes from, none with a longer reach than before.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{List, RepoPath, Wire};

use crate::{
    EvidenceRef, Intent, Reach,
    merge::{Breach, Merge},
    wire::PlannedCommand,
};

/// What makes two commands the same: every word of them, and the files that they touch without naming them.
type Sameness<'i> = (String, Option<BTreeSet<&'i RepoPath>>);

/// A command of the union before its references are put together.
#[derive(Debug)]
struct Part<'i> {
    command: &'i PlannedCommand,
    source: &'i Intent,
    reach: Reach,
    /// Where it stands in its sources.
    origins: Vec<EvidenceRef>,
}

impl Part<'_> {
    /// Its evidence, then the files that it touched as targets, then where it comes from.
    ///
    /// What it comes from stands last, so that it is known from evidence about another's command: such evidence is put
    /// first, unless an earlier merge has put it where it is.
    fn references(&self) -> Result<Vec<EvidenceRef>, String> {
        let mut references = self.command.evidence_refs.to_vec();
        if self.reach != Reach::Pinned {
            references.sort_by_key(|reference| reference.command_of().is_none());
        }
        if self.reach.has_target_files() {
            for path in self.source.document().scope.targets.files.iter() {
                references.push(EvidenceRef::to_file(path).ok_or_else(|| {
                    format!(
                        "`{}` touches a target that no evidence reference can hold; give its commands their own \
                         scan://file evidence",
                        self.source.id()
                    )
                })?);
            }
        }
        references.extend(self.origins.iter().cloned());
        Ok(references)
    }
}

impl Merge<'_> {
    pub(super) fn commands(&self, breaches: &mut Vec<Breach>) -> Option<List<PlannedCommand, 0, 80>> {
        let contributors = self.contributors(|intent| !intent.planned_commands.is_empty());
        let parts = self.parts();
        if self.keeps_its_name() {
            let own = parts.into_iter().map(|part| part.command.clone()).collect();
            return self.capped("/planned_commands", own, contributors, breaches);
        }
        let mut commands = Vec::new();
        let mut is_whole = true;
        for part in &parts {
            match pinned(part) {
                Ok(command) => commands.push(command),
                Err(message) => {
                    is_whole = false;
                    let (pointer, contributors) =
                        ("/planned_commands".into(), (0..self.kept.len()).collect());
                    breaches.push(Breach { pointer, message, contributors });
                }
            }
        }
        let commands = self.capped("/planned_commands", commands, contributors, breaches);
        commands.filter(|_| is_whole)
    }

    /// The commands of all, each once, in the order in which they first stand.
    fn parts(&self) -> Vec<Part<'_>> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        let mut known: BTreeMap<Sameness<'_>, usize> = BTreeMap::new();
        for source in self.kept {
            let document = source.document();
            for (index, command) in document.planned_commands.iter().enumerate() {
                let reach = document.reach(command);
                let targets = || document.scope.targets.files.iter().collect();
                let key = (command.to_canonical(), reach.has_target_files().then(targets));
                let origin = EvidenceRef::to_command(source.id(), index);
                let at = *known.entry(key).or_insert(parts.len());
                match parts.get_mut(at) {
                    Some(part) => part.origins.push(origin),
                    None => parts.push(Part { command, source, reach, origins: [origin].into() }),
                }
            }
        }
        parts
    }
}

/// The command with all its references, or why it cannot hold them.
fn pinned(part: &Part<'_>) -> Result<PlannedCommand, String> {
    let references = part.references()?;
    let count = references.len();
    match List::new(references) {
        Some(evidence_refs) => Ok(PlannedCommand { evidence_refs, ..part.command.clone() }),
        None => Err(format!(
            "`{}` of `{}` would need {count} evidence references to keep to its files and its origin, and at most 30 are \
             allowed; give it fewer references, or scan://file evidence for the files it touches",
            part.command.command_id,
            part.source.id()
        )),
    }
}

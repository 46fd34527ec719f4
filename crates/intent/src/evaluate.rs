//! Weighs a set: conflicts, what becomes of it, risk and questions.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Issue, NonEmpty, RepoPath, Timestamp};

use crate::{
    Intent, IntentSet, QuestionId, Registry,
    code::codes,
    detect::{
        Edge, Field, Finding, Group, Limits, budgets, cycles, edges, effects, in_order, locks, modes,
        open_locks, resources, undeclared,
    },
    merge::{Breach, Merge},
    operation::{Ordered, ordered_pairs, run_order},
    outcome::{Merged, documents},
    question::{Chosen, question_id, take_answers},
    resolve::{Resolver, Settlement, Superseded, Undecided},
    wire::{
        AnswerPack, ConflictType, EvaluationDocument, MergeOrder, MergePlanDocument, QuestionPack, Severity,
    },
};

/// How a set is weighed.
#[derive(Debug, Clone, Copy)]
pub struct EvaluateOptions<'o> {
    /// What ids were looked up in when the intents were loaded; nothing if they were not.
    pub registry: Option<&'o Registry>,
    /// How much the intents may use together.
    pub limits: Limits,
    /// When the outcome was made.
    pub created_at: Timestamp,
    /// What was answered so far, in order; each pack answers what is asked when those before it are taken into account.
    pub answers: &'o [AnswerPack],
}

/// What weighing a set comes to: three documents that agree.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The result.
    pub result: EvaluationDocument,
    /// The plan.
    pub plan: MergePlanDocument,
    /// The questions, if the set is rejected.
    pub questions: Option<QuestionPack>,
}

/// Weighs a set. The same set gives the same bytes, in whatever order it names its intents.
///
/// # Errors
///
/// Fails if an answer pack does not answer what is asked (AP1), or if the outcome breaks its own form, which is a defect.
pub fn evaluate(set: &IntentSet, options: EvaluateOptions<'_>) -> Result<Outcome, NonEmpty<Issue>> {
    let weighed = Weighed::new(set, options);
    let mut answers = BTreeMap::new();
    let mut outcome = weighed.outcome(&answers, &[])?;
    for (round, pack) in options.answers.iter().enumerate() {
        let taken = options.answers.get(..round.saturating_add(1)).unwrap_or_default();
        // Asked at the set's own time, or at the time given: the questions are the same, their pack is not.
        let chosen = match (take_answers(pack, outcome.questions.as_ref()), set.document().created_at) {
            (Ok(chosen), _) => chosen,
            (Err(issues), asked_at) if asked_at == options.created_at => return Err(issues),
            (Err(issues), asked_at) => {
                let earlier = Weighed::new(set, EvaluateOptions { created_at: asked_at, ..options });
                let before = taken.get(..round).unwrap_or_default();
                let asked = earlier.outcome(&answers, before)?.questions;
                take_answers(pack, asked.as_ref()).map_err(|_| issues)?
            }
        };
        answers.extend(chosen);
        outcome = weighed.outcome(&answers, taken)?;
    }
    Ok(outcome)
}

/// A set, and every conflict in it that does not depend on answers.
#[derive(Debug)]
pub(crate) struct Weighed<'s> {
    pub(crate) set: &'s IntentSet,
    pub(crate) options: EvaluateOptions<'s>,
    pub(crate) field: Field<'s>,
    pub(crate) edges: BTreeMap<(usize, usize), Vec<Edge>>,
    findings: Vec<Finding>,
}

impl<'s> Weighed<'s> {
    pub(crate) fn new(set: &'s IntentSet, options: EvaluateOptions<'s>) -> Self {
        let environment = set.document().context.env;
        let field = Field::new(set.intents().iter().collect(), Some(environment), options.registry);
        let edges = edges(&field);
        let circles = cycles(&field, &edges, edges.keys());
        let broken = locks(&field);
        let mut findings = resources(&field);
        findings.extend(effects(&field));
        findings.extend(undeclared(&field, &edges, &circles));
        findings.extend(circles.findings);
        findings.extend(open_locks(&field, &broken));
        findings.extend(broken);
        findings.extend(budgets(&field, options.limits));
        findings.extend(modes(&field));
        Self { set, options, field, edges, findings: in_order(findings) }
    }

    /// Every conflict that does not depend on answers.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Settles, merges, and settles again as long as a merge shows a cap that an answer takes care of.
    fn outcome(
        &self,
        answers: &BTreeMap<QuestionId, Chosen>,
        packs: &[AnswerPack],
    ) -> Result<Outcome, NonEmpty<Issue>> {
        let (findings, settlement, merged) = self.settled(answers);
        documents(self, &findings, &settlement, merged.as_ref(), packs).ok_or_else(|| {
            let message = "the outcome would not have the form of its own documents";
            NonEmpty::of(Issue::new(codes::EVALUATION_INTERNAL, message))
        })
    }

    fn settled(&self, answers: &BTreeMap<QuestionId, Chosen>) -> (Vec<Finding>, Settlement, Option<Merged>) {
        let mut findings = self.findings.clone();
        let mut left_out: BTreeMap<usize, Superseded> = BTreeMap::new();
        loop {
            let resolver =
                Resolver { field: &self.field, findings: &findings, limits: self.options.limits, answers };
            let mut settlement = resolver.settle(&left_out);
            if !settlement.undecided.is_empty() {
                return (findings, settlement, None);
            }
            // Whoever was left out broke the circles that were known; a longer one may be left among those kept.
            let circles = self.circles_among(&settlement.kept);
            if !circles.is_empty() {
                let is_known =
                    |circle: &Finding| findings.iter().any(|known| known.sort_key() == circle.sort_key());
                let (known, new): (Vec<Finding>, Vec<Finding>) = circles.into_iter().partition(is_known);
                if new.is_empty() {
                    settlement.undecided = self.undecided_circles(&findings, &known);
                    return (findings, settlement, None);
                }
                findings.extend(new);
                continue;
            }
            let breaches = match self.merge(&settlement, &findings) {
                Ok(merged) => return (findings, settlement, Some(merged)),
                Err(breaches) => breaches,
            };
            let first_new = findings.len();
            findings
                .extend(breaches.into_iter().filter_map(|breach| self.breach_finding(breach, &settlement)));
            let answered = (first_new..findings.len()).find_map(|index| {
                let contenders = &findings.get(index)?.intents;
                let chosen = answers.get(&question_id(&self.field, &findings, &[index], contenders)?)?;
                let out = findings.get(index)?.intents.iter().copied().find(|&member| {
                    self.field.intent(member).is_some_and(|intent| chosen.supersedes(intent.id()))
                })?;
                let by = settlement.kept.iter().copied().find(|kept| *kept != out)?;
                let superseded = Superseded { by, rung: chosen.rung() };
                (!left_out.contains_key(&out)).then_some((index, out, superseded))
            });
            let Some((index, out, superseded)) = answered else {
                let undecided = (first_new..findings.len()).filter_map(|index| {
                    Some(Undecided {
                        findings: [index].into(),
                        contenders: findings.get(index)?.intents.clone(),
                        reason: "the union would not be a valid intent".into(),
                        group: Group::Cap,
                    })
                });
                settlement.undecided = undecided.collect();
                return (findings, settlement, None);
            };
            // The cap that was answered stays on record; the others are found again if they are still there.
            let on_record = findings.get(index).cloned();
            findings.truncate(first_new);
            findings.extend(on_record);
            left_out.insert(out, superseded);
        }
    }

    fn circles_among(&self, kept: &[usize]) -> Vec<Finding> {
        let is_kept = |(earlier, later): &&(usize, usize)| kept.contains(earlier) && kept.contains(later);
        cycles(&self.field, &self.edges, self.edges.keys().filter(is_kept)).findings
    }

    /// Circles that settling leaves are never merged.
    fn undecided_circles(&self, findings: &[Finding], circles: &[Finding]) -> Vec<Undecided> {
        let at = |circle: &Finding| findings.iter().position(|known| known.sort_key() == circle.sort_key());
        let undecided = circles.iter().filter_map(|circle| {
            Some(Undecided {
                findings: [at(circle)?].into(),
                contenders: circle.intents.clone(),
                reason: "they wait for each other in a circle".into(),
                group: Group::Cycle,
            })
        });
        undecided.collect()
    }

    fn merge(&self, settlement: &Settlement, findings: &[Finding]) -> Result<Merged, Vec<Breach>> {
        let order = run_order(&self.field, &self.edges, &settlement.kept);
        let kept: Vec<&Intent> = order.iter().filter_map(|&index| self.field.intent(index)).collect();
        let dropped: Vec<&Intent> =
            settlement.superseded.keys().filter_map(|&index| self.field.intent(index)).collect();
        let written: BTreeSet<RepoPath> = order
            .iter()
            .filter_map(|&index| self.field.touches.get(index))
            .flat_map(|touches| &touches.files)
            .filter(|(_, (touch, _))| touch.effects.is_write_like())
            .map(|(path, _)| path.clone())
            .collect();
        let mut merge_order = MergeOrder::new();
        for Ordered { earlier, later, .. } in ordered_pairs(&self.edges, findings, &order) {
            if let (Some(earlier), Some(later)) = (self.field.intent(earlier), self.field.intent(later)) {
                merge_order.entry(later.id().clone()).or_default().push(earlier.id().clone());
            }
        }
        let merge = Merge {
            kept: &kept,
            dropped: &dropped,
            created_at: self.options.created_at,
            environment: self.set.document().context.env,
            written: written.into_iter().collect(),
            merge_order,
        };
        let in_field = |breach: Breach| Breach {
            contributors: breach
                .contributors
                .iter()
                .filter_map(|&position| order.get(position).copied())
                .collect(),
            ..breach
        };
        match merge.build(self.options.registry) {
            Ok(intent) => Ok(Merged { intent, order }),
            Err(breaches) => Err(breaches.into_iter().map(in_field).collect()),
        }
    }

    /// A cap that a union breaks is a conflict among those who bring it about.
    fn breach_finding(&self, breach: Breach, settlement: &Settlement) -> Option<Finding> {
        let Breach { pointer, message, contributors } = breach;
        let mut intents = if contributors.len() >= 2 { contributors } else { settlement.kept.clone() };
        if intents.len() < 2 {
            intents = (0..self.field.intents.len()).collect();
        }
        intents.sort_unstable();
        intents.dedup();
        let place = String::from(pointer.trim_start_matches('/'));
        let evidence = intents.iter().filter_map(|&index| self.field.reference(index, &place)).collect();
        Some(Finding {
            kind: ConflictType::Constraint,
            severity: Severity::High,
            group: Group::Cap,
            intents,
            description: format!("cannot be united at {pointer}: {message}"),
            resource: Some(pointer),
            evidence,
        })
    }
}

#[cfg(test)]
mod tests;

//! Questions to a person, and what the answers choose.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Issue, Issues, Json, List, NonEmpty, Pointer, Text};

use crate::{
    AnswerPackId, ConflictId, EvidenceRef, IntentId, OptionId, QuestionId,
    code::codes,
    detect::{Edge, Field, Finding, Group, short_hash},
    resolve::Undecided,
    wire::{AnswerPack, Choice, Question, QuestionPack, QuestionPolicy, Severity},
};

const SEQUENCE: &str = "option_sequence";
const MANUAL: &str = "option_manual";

/// What a person chose.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    option: Choice,
    pack: AnswerPackId,
    provided_by: String,
}

impl Chosen {
    pub(crate) fn is_sequence(&self) -> bool {
        self.option.option_id.as_str() == SEQUENCE
    }

    pub(crate) fn supersedes(&self, id: &IntentId) -> bool {
        self.option.supersedes.contains(id)
    }

    pub(crate) fn rung(&self) -> String {
        format!("answered by {} in `{}`: {}", self.provided_by, self.pack, self.option.label.as_str())
    }
}

/// The id of the question about these findings between these contenders: the same, the same question. Once one of many
/// is left out, the others are asked anew.
pub(crate) fn question_id(
    field: &Field<'_>,
    findings: &[Finding],
    about: &[usize],
    contenders: &[usize],
) -> Option<QuestionId> {
    let conflicts = conflict_ids(field, findings, about);
    let contenders = contenders.iter().filter_map(|&index| Some(field.intent(index)?.id().as_str()));
    let content = Json::object([
        ("conflicts", Json::array(conflicts.iter().map(ConflictId::as_str))),
        ("contenders", Json::array(contenders)),
    ]);
    QuestionId::parse(&format!("question_{}", short_hash(&content.to_canonical()))).ok()
}

fn conflict_ids(field: &Field<'_>, findings: &[Finding], about: &[usize]) -> Vec<ConflictId> {
    about.iter().filter_map(|&index| findings.get(index)?.conflict_id(field)).collect()
}

/// What is known when asking.
#[derive(Debug)]
pub(crate) struct Asker<'q> {
    pub(crate) field: &'q Field<'q>,
    pub(crate) findings: &'q [Finding],
    pub(crate) edges: &'q BTreeMap<(usize, usize), Vec<Edge>>,
}

impl Asker<'_> {
    /// One question for each thing that nobody can decide, the gravest first; those over the intents' own question
    /// budget, and all where a policy forbids asking, are marked as blocked.
    pub(crate) fn questions(&self, undecided: &[Undecided]) -> Vec<Question> {
        let mut ordered: Vec<&Undecided> = undecided.iter().collect();
        ordered.sort_by(|a, b| {
            let key = |undecided: &Undecided| {
                (core::cmp::Reverse(self.severity(undecided)), undecided.contenders.clone())
            };
            key(a).cmp(&key(b)).then_with(|| a.findings.cmp(&b.findings))
        });
        let components = self.components();
        let mut asked: BTreeMap<usize, i64> = BTreeMap::new();
        let mut questions = Vec::new();
        for undecided in ordered {
            let component = undecided.contenders.first().and_then(|&index| components.get(index).copied());
            let (budget, may_ask) = self.allowance(component, &components);
            let so_far = asked.entry(component.unwrap_or(0)).or_default();
            let is_blocked = !may_ask || *so_far >= budget;
            *so_far = so_far.saturating_add(1);
            questions.extend(self.question(undecided, is_blocked));
        }
        questions
    }

    fn severity(&self, undecided: &Undecided) -> Severity {
        let severities = undecided.findings.iter().filter_map(|&index| self.findings.get(index));
        severities.map(|finding| finding.severity).max().unwrap_or(Severity::Critical)
    }

    /// For each intent the smallest index that it is connected with through conflicts.
    fn components(&self) -> Vec<usize> {
        let mut of: Vec<usize> = (0..self.field.intents.len()).collect();
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for finding in self.findings {
                let least = finding.intents.iter().filter_map(|&index| of.get(index).copied()).min();
                for &index in &finding.intents {
                    if let (Some(slot), Some(least)) = (of.get_mut(index), least)
                        && *slot != least
                    {
                        *slot = least;
                        is_settled = false;
                    }
                }
            }
        }
        of
    }

    /// How many questions the strictest intent of the component allows, and whether all of them allow any.
    fn allowance(&self, component: Option<usize>, components: &[usize]) -> (i64, bool) {
        let members = self.field.intents.iter().zip(components).filter(|(_, of)| Some(**of) == component);
        let interactions: Vec<_> = members.map(|(intent, _)| &intent.document().interaction).collect();
        let budget =
            interactions.iter().map(|interaction| interaction.question_budget.get()).min().unwrap_or(0);
        (budget, interactions.iter().all(|interaction| interaction.question_policy != QuestionPolicy::Never))
    }

    fn question(&self, undecided: &Undecided, is_blocked: bool) -> Option<Question> {
        let findings: Vec<&Finding> =
            undecided.findings.iter().filter_map(|&index| self.findings.get(index)).collect();
        let what: Vec<&str> = findings.iter().map(|finding| finding.description.as_str()).collect();
        let reason = format!("{}. Not decided: {}", what.join("; "), undecided.reason);
        let reason: String = reason.chars().take(4000).collect();
        let evidence: BTreeSet<&EvidenceRef> =
            findings.iter().flat_map(|finding| finding.evidence.iter()).collect();
        Some(Question {
            question_id: question_id(self.field, self.findings, &undecided.findings, &undecided.contenders)?,
            conflict_ids: List::new(conflict_ids(self.field, self.findings, &undecided.findings))?,
            reason: Text::new(reason)?,
            evidence_refs: List::new(evidence.into_iter().cloned().collect())?,
            options: List::new(self.options(undecided)?)?,
            blocked_by_policy: is_blocked.then_some(true),
        })
    }

    fn options(&self, undecided: &Undecided) -> Option<Vec<Choice>> {
        let ids: Vec<&IntentId> =
            undecided.contenders.iter().filter_map(|&index| Some(self.field.intent(index)?.id())).collect();
        let mut options: Vec<Choice> = Vec::new();
        for id in &ids {
            let others = || ids.iter().filter(|other| *other != id).map(|other| (*other).clone());
            options.push(match undecided.group {
                Group::Pair => choice(
                    &format!("option_keep_{id}"),
                    format!("Keep {id}"),
                    format!("{id} goes on; {} is superseded", joined(others())),
                    others().collect(),
                )?,
                Group::Budget | Group::Cycle | Group::Modes | Group::Cap => choice(
                    &format!("option_without_{id}"),
                    format!("Leave out {id}"),
                    format!("{id} is superseded; the others are weighed again without it"),
                    [(*id).clone()].into(),
                )?,
            });
        }
        options.extend(self.sequence(undecided));
        options.push(choice(
            MANUAL,
            "Change the intents by hand".into(),
            "nothing is decided here; the set stays rejected until its intents change".into(),
            Vec::new(),
        )?);
        Some(options)
    }

    /// "Sequence them", where an order between the two exists.
    fn sequence(&self, undecided: &Undecided) -> Option<Choice> {
        let (Group::Pair, [a, b]) = (undecided.group, undecided.contenders.as_slice()) else { return None };
        let (before, after) = match (self.edges.contains_key(&(*a, *b)), self.edges.contains_key(&(*b, *a))) {
            (true, false) => (*a, *b),
            (false, true) => (*b, *a),
            (true, true) | (false, false) => return None,
        };
        let (before, after) = (self.field.intent(before)?.id(), self.field.intent(after)?.id());
        let implications = format!("both go on; {after} starts when {before} has ended");
        choice(SEQUENCE, format!("Run {before}, then {after}"), implications, Vec::new())
    }
}

fn joined(ids: impl Iterator<Item = IntentId>) -> String {
    let ids: Vec<String> = ids.map(|id| format!("{id}")).collect();
    ids.join(", ")
}

fn choice(id: &str, label: String, implications: String, supersedes: Vec<IntentId>) -> Option<Choice> {
    Some(Choice {
        option_id: OptionId::parse(id).ok()?,
        label: Text::new(label)?,
        implications: Text::new(implications)?,
        supersedes: List::new(supersedes)?,
    })
}

/// Holds an answer pack against the questions it claims to answer (AP1), and takes what it chooses.
pub(crate) fn take_answers(
    pack: &AnswerPack,
    asked: Option<&QuestionPack>,
) -> Result<BTreeMap<QuestionId, Chosen>, NonEmpty<Issue>> {
    let Some(asked) = asked else {
        let issue = Issue::new(codes::AP1_OTHER_PACK, "the set is not rejected, so nothing was asked");
        return Err(NonEmpty::of(issue.with_pointer(Pointer::root().key("question_pack_id"))));
    };
    let mut issues = Issues::new();
    if pack.question_pack_id != asked.id || pack.question_pack_checksum != asked.checksum {
        issues.push(
            Issue::new(codes::AP1_OTHER_PACK, format!("the answers are to `{}`", pack.question_pack_id))
                .with_pointer(Pointer::root().key("question_pack_checksum"))
                .with_expected(format!("`{}` with checksum {}", asked.id, asked.checksum))
                .with_hint(
                    "the set, an intent, the registry or --now has changed since it was asked; ask again",
                ),
        );
    }
    let mut chosen = BTreeMap::new();
    for (index, answer) in pack.answers.iter().enumerate() {
        let at = Pointer::root().key("answers").index(index);
        let question = asked.questions.iter().find(|question| question.question_id == answer.question_id);
        let Some(question) = question else {
            let message = format!("`{}` is not a question of this pack", answer.question_id);
            issues.push(Issue::new(codes::AP1_UNKNOWN_QUESTION, message).with_pointer(at.key("question_id")));
            continue;
        };
        if question.blocked_by_policy == Some(true) {
            let message =
                format!("`{}` may not be asked: the intents' own policy forbids it", answer.question_id);
            let issue = Issue::new(codes::AP1_BLOCKED_QUESTION, message).with_pointer(at.key("question_id"));
            issues.push(
                issue.with_hint(
                    "raise question_budget or question_policy in the intents, or change the intents",
                ),
            );
            continue;
        }
        let Some(option) = question.options.iter().find(|option| option.option_id == answer.option_id) else {
            let message = format!("`{}` is not an option of `{}`", answer.option_id, answer.question_id);
            let offered: Vec<&str> =
                question.options.iter().map(|option| option.option_id.as_str()).collect();
            let issue = Issue::new(codes::AP1_UNKNOWN_QUESTION, message).with_pointer(at.key("option_id"));
            issues.push(issue.with_expected(offered.join(", ")));
            continue;
        };
        let value = Chosen {
            option: option.clone(),
            pack: pack.id.clone(),
            provided_by: answer.provided_by.as_str().into(),
        };
        if chosen.insert(answer.question_id.clone(), value).is_some() {
            let message = format!("`{}` is answered twice", answer.question_id);
            issues.push(Issue::new(codes::AP1_UNKNOWN_QUESTION, message).with_pointer(at.key("question_id")));
        }
    }
    match NonEmpty::new(issues.into_sorted()) {
        None => Ok(chosen),
        Some(issues) => Err(issues),
    }
}

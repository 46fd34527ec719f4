//! What becomes of conflicting intents: who is kept, who is superseded and by whom, and what nobody can decide.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use crate::{
    Intent, Money, QuestionId,
    detect::{Field, Finding, Group, Limits},
    priority::{Side, Verdict, decide},
    question::{Chosen, question_id},
    wire::{ConflictType, Severity},
};

/// That an intent lost, to whom and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Superseded {
    pub(crate) by: usize,
    pub(crate) rung: String,
}

/// Something that nobody can decide: the findings it is about, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undecided {
    /// Indexes into the findings; sorted.
    pub(crate) findings: Vec<usize>,
    /// Between whom.
    pub(crate) contenders: Vec<usize>,
    pub(crate) reason: String,
    pub(crate) group: Group,
}

/// What becomes of the field.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settlement {
    /// Those kept; sorted.
    pub(crate) kept: Vec<usize>,
    pub(crate) superseded: BTreeMap<usize, Superseded>,
    pub(crate) undecided: Vec<Undecided>,
}

/// What is known when settling.
#[derive(Debug)]
pub(crate) struct Resolver<'r> {
    pub(crate) field: &'r Field<'r>,
    pub(crate) findings: &'r [Finding],
    pub(crate) limits: Limits,
    pub(crate) answers: &'r BTreeMap<QuestionId, Chosen>,
}

/// How a pair that cannot both go on stands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Standing {
    Beats { winner: usize, loser: usize, rung: String },
    InSequence,
    Undecided(String),
}

/// Two intents that cannot both go on as they are, and how they stand.
#[derive(Debug)]
struct Pair {
    a: usize,
    b: usize,
    findings: Vec<usize>,
    standing: Standing,
}

impl Resolver<'_> {
    /// Settles the field, leaving out `excluded` from the start.
    pub(crate) fn settle(&self, excluded: &BTreeMap<usize, Superseded>) -> Settlement {
        let pairs = self.pairs();
        let mut excluded = excluded.clone();
        let mut settlement = Settlement::default();
        // LIMIT: each round leaves somebody out or lets somebody back in; more rounds than that go in circles.
        for _ in 0..self.field.intents.len().saturating_mul(2).saturating_add(2) {
            settlement = self.kernel(&pairs, &excluded);
            let mut more = BTreeMap::new();
            for (index, finding) in self.findings.iter().enumerate() {
                self.settle_group(index, finding, &settlement.kept, &mut more, &mut settlement.undecided);
            }
            // Whoever is left out for the group's sake no longer beats anybody, so that all is weighed again.
            if !more.is_empty() {
                excluded.append(&mut more);
                continue;
            }
            let released = self.hold_to_kept(&mut settlement);
            if released.is_empty() {
                settlement
                    .undecided
                    .sort_by(|a, b| (&a.contenders, &a.findings).cmp(&(&b.contenders, &b.findings)));
                return settlement;
            }
            excluded.retain(|index, _| !released.contains(index));
        }
        let everything =
            self.findings.iter().enumerate().filter(|(_, finding)| finding.severity >= Severity::High);
        settlement.undecided.extend(everything.map(|(index, finding)| Undecided {
            findings: [index].into(),
            contenders: finding.intents.clone(),
            reason: "the answers go round in a circle".into(),
            group: finding.group,
        }));
        settlement
    }

    /// An intent is superseded only by a kept one that it is in conflict with: names that one where it was another, and
    /// gives back those for whom there is none.
    fn hold_to_kept(&self, settlement: &mut Settlement) -> Vec<usize> {
        let mut released = Vec::new();
        for (&loser, superseded) in &mut settlement.superseded {
            if settlement.kept.contains(&superseded.by) {
                continue;
            }
            let opposes =
                |kept: &&usize| self.findings.iter().any(|finding| finding.is_between(loser, **kept));
            match settlement.kept.iter().find(opposes) {
                Some(&by) => superseded.by = by,
                None => released.push(loser),
            }
        }
        released
    }

    fn pairs(&self) -> Vec<Pair> {
        let mut blocking: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (index, finding) in self.findings.iter().enumerate() {
            if let (Group::Pair, [a, b]) = (finding.group, finding.intents.as_slice())
                && self.is_blocking(finding, *a, *b)
            {
                blocking.entry((*a, *b)).or_default().push(index);
            }
        }
        blocking
            .into_iter()
            .filter_map(|((a, b), findings)| {
                Some(Pair { a, b, standing: self.standing(a, b, &findings)?, findings })
            })
            .collect()
    }

    /// Whether a union cannot take care of it: it is grave, or the intents themselves say which matters more.
    fn is_blocking(&self, finding: &Finding, a: usize, b: usize) -> bool {
        let priority = |index: usize| self.field.intent(index)?.document().metadata.as_ref()?.priority;
        let differs = matches!((priority(a), priority(b)), (Some(a), Some(b)) if a != b);
        match finding.kind {
            ConflictType::Resource | ConflictType::Effect => differs || finding.severity >= Severity::High,
            ConflictType::Order | ConflictType::Constraint => finding.severity >= Severity::High,
        }
    }

    fn standing(&self, a: usize, b: usize, findings: &[usize]) -> Option<Standing> {
        let (first, second) = (self.field.intent(a)?, self.field.intent(b)?);
        let verdict = decide(first, second);
        let reason = match verdict {
            Verdict::Wins(Side::First, rung) => return Some(Standing::Beats { winner: a, loser: b, rung }),
            Verdict::Wins(Side::Second, rung) => return Some(Standing::Beats { winner: b, loser: a, rung }),
            Verdict::Unclear(reason) => reason,
        };
        let chosen =
            question_id(self.field, self.findings, findings, &[a, b]).and_then(|id| self.answers.get(&id));
        Some(match chosen {
            Some(chosen) if chosen.is_sequence() => Standing::InSequence,
            Some(chosen) => match (chosen.supersedes(first.id()), chosen.supersedes(second.id())) {
                (false, true) => Standing::Beats { winner: a, loser: b, rung: chosen.rung() },
                (true, false) => Standing::Beats { winner: b, loser: a, rung: chosen.rung() },
                (true, true) | (false, false) => Standing::Undecided(reason),
            },
            None => Standing::Undecided(reason),
        })
    }

    /// Keeps whoever is beaten by nobody who is kept. "Beats" has no circles unless answers make one; whoever is in
    /// such a circle stays, undecided.
    fn kernel(&self, pairs: &[Pair], excluded: &BTreeMap<usize, Superseded>) -> Settlement {
        let everyone = 0..self.field.intents.len();
        let mut superseded = excluded.clone();
        let mut kept = BTreeSet::new();
        let mut open: BTreeSet<usize> = everyone.filter(|index| !excluded.contains_key(index)).collect();
        let beaters = |loser: usize| {
            pairs.iter().filter_map(move |pair| match &pair.standing {
                Standing::Beats { winner, loser: l, rung } if *l == loser => Some((*winner, rung)),
                Standing::Beats { .. } | Standing::InSequence | Standing::Undecided(_) => None,
            })
        };
        loop {
            let unbeaten: Vec<usize> = open
                .iter()
                .copied()
                .filter(|&index| !beaters(index).any(|(winner, _)| open.contains(&winner)))
                .collect();
            if unbeaten.is_empty() {
                break;
            }
            for index in unbeaten {
                open.remove(&index);
                match beaters(index).find(|(winner, _)| kept.contains(winner)) {
                    Some((by, rung)) => {
                        superseded.insert(index, Superseded { by, rung: rung.clone() });
                    }
                    None => {
                        kept.insert(index);
                    }
                }
            }
        }
        let in_circle = open.clone();
        kept.extend(open);
        let undecided = pairs.iter().filter(|pair| kept.contains(&pair.a) && kept.contains(&pair.b));
        let undecided = undecided.filter_map(|pair| {
            let reason = match &pair.standing {
                Standing::Undecided(reason) => reason.clone(),
                Standing::Beats { winner, .. } if in_circle.contains(winner) => {
                    "the answers go round in a circle".into()
                }
                Standing::Beats { .. } | Standing::InSequence => return None,
            };
            Some(Undecided {
                findings: pair.findings.clone(),
                contenders: [pair.a, pair.b].into(),
                reason,
                group: Group::Pair,
            })
        });
        let undecided = undecided.collect();
        Settlement { kept: kept.into_iter().collect(), superseded, undecided }
    }

    /// A conflict of many: settled once enough of them are left out.
    fn settle_group(
        &self,
        index: usize,
        finding: &Finding,
        kept: &[usize],
        left_out: &mut BTreeMap<usize, Superseded>,
        undecided: &mut Vec<Undecided>,
    ) {
        let members: Vec<usize> =
            finding.intents.iter().copied().filter(|member| kept.contains(member)).collect();
        if !self.is_unsettled(finding, &members) {
            return;
        }
        let chosen =
            question_id(self.field, self.findings, &[index], &members).and_then(|id| self.answers.get(&id));
        if let Some(chosen) = chosen {
            let out = members.iter().copied().filter(|&member| {
                self.field.intent(member).is_some_and(|intent| chosen.supersedes(intent.id()))
            });
            let out: Vec<usize> = out.collect();
            let by = members.iter().copied().find(|member| !out.contains(member));
            if let (false, Some(by)) = (out.is_empty(), by) {
                left_out
                    .extend(out.into_iter().map(|member| (member, Superseded { by, rung: chosen.rung() })));
                return;
            }
        }
        match self.ranked(&members) {
            Ok(ranked) => self.take_from_top(finding, &ranked, left_out),
            Err(reason) => undecided.push(Undecided {
                findings: [index].into(),
                contenders: members,
                reason,
                group: finding.group,
            }),
        }
    }

    fn is_unsettled(&self, finding: &Finding, members: &[usize]) -> bool {
        match finding.group {
            Group::Pair | Group::Modes | Group::Cap => false,
            Group::Cycle => members.len() == finding.intents.len(),
            Group::Budget => members.len() >= 2 && self.is_over_budget(finding, members),
        }
    }

    fn is_over_budget(&self, finding: &Finding, members: &[usize]) -> bool {
        let budgets =
            || members.iter().filter_map(|&member| Some(&self.field.intent(member)?.document().budgets));
        match finding.resource.as_deref() {
            Some("/budgets/max_cost_usd") => {
                budgets().map(|budgets| budgets.max_cost_usd).fold(Money::default(), Money::plus)
                    > self.limits.cost_usd
            }
            _ => {
                budgets().map(|budgets| budgets.max_tokens.get()).fold(0, i64::saturating_add)
                    > self.limits.tokens
            }
        }
    }

    /// The members from the top of the ladder down, if it tells every two of them apart.
    fn ranked(&self, members: &[usize]) -> Result<Vec<usize>, String> {
        let mut wins: BTreeMap<usize, usize> = members.iter().map(|&member| (member, 0)).collect();
        for (at, &a) in members.iter().enumerate() {
            for &b in members.iter().skip(at.saturating_add(1)) {
                let (Some(first), Some(second)) = (self.field.intent(a), self.field.intent(b)) else {
                    continue;
                };
                let winner = match decide(first, second) {
                    Verdict::Wins(Side::First, _) => a,
                    Verdict::Wins(Side::Second, _) => b,
                    Verdict::Unclear(reason) => {
                        return Err(format!("between `{}` and `{}`: {reason}", first.id(), second.id()));
                    }
                };
                wins.entry(winner).and_modify(|count| *count = count.saturating_add(1));
            }
        }
        let mut ranked: Vec<(usize, usize)> = wins.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(ranked.into_iter().map(|(member, _)| member).collect())
    }

    /// Keeps from the top whoever still fits.
    fn take_from_top(&self, finding: &Finding, ranked: &[usize], left_out: &mut BTreeMap<usize, Superseded>) {
        let mut taken: Vec<usize> = Vec::new();
        for &member in ranked {
            taken.push(member);
            let Some(&top) = taken.first() else { continue };
            if taken.len() < 2 || !self.is_unsettled(finding, &taken) {
                continue;
            }
            taken.pop();
            let rung = match (self.field.intent(top), self.field.intent(member)) {
                (Some(first), Some(second)) => rung_text(first, second),
                _ => String::new(),
            };
            left_out.insert(member, Superseded { by: top, rung });
        }
    }
}

fn rung_text(first: &Intent, second: &Intent) -> String {
    match decide(first, second) {
        Verdict::Wins(_, rung) | Verdict::Unclear(rung) => rung,
    }
}

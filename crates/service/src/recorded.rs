//! What was decided so far, put together by situation: for questions about what another policy would have said.

use std::collections::{BTreeMap, btree_map::Entry};

use countersign_canon::{Json, Reader, Value, Wire as _};
use countersign_ledger::{LoadedVersion, VersionNumber};
use countersign_policy::{Context, Gate, Policy, deciding_rule};

use crate::{Node, ServiceError, code::codes};

/// LIMIT: how many decisions are in memory at once.
const PAGE_ROWS: u32 = 2000;

/// Decisions that were alike: the same facts but for the time, the same answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// The facts of the first of them.
    pub context: Context,
    /// Whether the lattice that was in force asks for an approval.
    pub needs_approval: bool,
    /// Which step decided.
    pub gate: u32,
    /// What was decided.
    pub decision: String,
    /// With which code.
    pub decision_code: String,
    /// How many there were.
    pub count: u64,
    /// The first of them.
    pub decision_id: String,
}

impl Situation {
    /// Whether the rules were asked, or a hard gate had refused before.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        self.gate >= Gate::Kernel.number()
    }
}

/// Decisions that another policy would make otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Flip {
    /// The rule of the other policy that decides; nothing if no rule allows.
    pub rule_id: Option<String>,
    /// What was said: the decision and its code.
    pub before: (String, String),
    /// What would be said.
    pub after: (String, String),
    /// How many decisions.
    pub count: u64,
    /// The smallest of their contexts.
    pub context: Context,
    /// The decision with that context.
    pub decision_id: String,
}

/// What another policy would have said.
#[derive(Debug, Clone, PartialEq)]
pub struct Backtest {
    /// How many decisions were made again.
    pub decisions: u64,
    /// How many of them a hard gate had refused, so that no rule was asked.
    pub gated: u64,
    /// Which would come out otherwise, by rule.
    pub flips: Vec<Flip>,
}

impl Node {
    /// Every situation that was decided so far.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn situations(&self) -> Result<Vec<Situation>, ServiceError> {
        let mut found: BTreeMap<(String, String, u32, i64), Situation> = BTreeMap::new();
        let mut versions: BTreeMap<i64, LoadedVersion> = BTreeMap::new();
        let mut next = 0_u64;
        loop {
            let page = self.store().decision_bodies(next, PAGE_ROWS)?;
            if page.is_empty() {
                return Ok(found.into_values().collect());
            }
            for (log_index, body) in page {
                next = log_index.saturating_add(1);
                let wrong =
                    || ServiceError::defect(format!("the decision of event {log_index} cannot be read"));
                let record = Json::parse(body.as_bytes()).map_err(|_| wrong())?;
                let text = |key: &str| record.get("trace").and_then(|trace| trace.get(key)?.as_str());
                let number = |json: Option<&Json<'_>>| json.and_then(|json| json.as_number()?.as_i64());
                let gate = number(record.get("trace").and_then(|trace| trace.get("gate")));
                let gate = gate.and_then(|gate| u32::try_from(gate).ok()).ok_or_else(wrong)?;
                let version = number(record.get("policy_version")).ok_or_else(wrong)?;
                let context = record.get("context").ok_or_else(wrong)?;
                let (decision, code) = text("decision").zip(text("decision_code")).ok_or_else(wrong)?;
                let key = (without_time(context), code.to_owned(), gate, version);
                if let Some(known) = found.get_mut(&key) {
                    known.count = known.count.saturating_add(1);
                    continue;
                }
                let context: Context =
                    Reader::read_json(context, codes::SERVICE_DEFECT).map_err(|_| wrong())?;
                let situation = Situation {
                    needs_approval: self.lattice_asks(&mut versions, version, &context)?,
                    context,
                    gate,
                    decision: decision.to_owned(),
                    decision_code: code.to_owned(),
                    count: 1,
                    decision_id: record
                        .get("decision_id")
                        .and_then(Json::as_str)
                        .unwrap_or_default()
                        .to_owned(),
                };
                found.insert(key, situation);
            }
        }
    }

    /// Whether the lattice of a policy version asks for an approval of this action.
    fn lattice_asks(
        &self,
        versions: &mut BTreeMap<i64, LoadedVersion>,
        number: i64,
        context: &Context,
    ) -> Result<bool, ServiceError> {
        let loaded = match versions.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let missing = || ServiceError::defect(format!("policy version {number} is missing"));
                let version = VersionNumber::new(number).ok_or_else(missing)?;
                let version = self.store().policy_version(version)?.ok_or_else(missing)?;
                place.insert(LoadedVersion::load(&version).map_err(ServiceError::defect)?)
            }
        };
        let entry = loaded.lattice.action(&context.action_kind);
        Ok(entry.is_some_and(|entry| entry.requires_approval))
    }

    /// Decides everything that was recorded again under another policy. Hard gates stay as they were.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn backtest(&self, policy: &Policy) -> Result<Backtest, ServiceError> {
        let mut flips: BTreeMap<(Option<String>, [String; 4]), Flip> = BTreeMap::new();
        let (mut decisions, mut gated) = (0_u64, 0_u64);
        for situation in self.situations()? {
            decisions = decisions.saturating_add(situation.count);
            if !situation.was_asked() {
                gated = gated.saturating_add(situation.count);
                continue;
            }
            let evaluation = policy.evaluate(&situation.context, situation.needs_approval);
            let after = (evaluation.decision.as_str().to_owned(), evaluation.decision_code.to_owned());
            let before = (situation.decision.clone(), situation.decision_code.clone());
            if after == before {
                continue;
            }
            let rule_id = deciding_rule(evaluation.gate, evaluation.matched.iter())
                .map(|rule| rule.rule_id.to_string());
            let key = [&before.0, &before.1, &after.0, &after.1].map(Clone::clone);
            let Situation { context, count, decision_id, .. } = situation;
            let flip = Flip { rule_id: rule_id.clone(), before, after, count, context, decision_id };
            match flips.get_mut(&(rule_id.clone(), key.clone())) {
                None => drop(flips.insert((rule_id, key), flip)),
                Some(known) => {
                    let total = known.count.saturating_add(flip.count);
                    let size = |flip: &Flip| {
                        let text = flip.context.to_canonical();
                        (text.len(), text)
                    };
                    if size(&flip) < size(known) {
                        *known = flip;
                    }
                    known.count = total;
                }
            }
        }
        Ok(Backtest { decisions, gated, flips: flips.into_values().collect() })
    }
}

/// A context but for its time, as text.
fn without_time(context: &Json<'_>) -> String {
    let Value::Object(object) = &context.value else { return String::new() };
    let members = object.members().iter().filter(|member| member.key != "evaluation_ts");
    let mut text = String::with_capacity(512);
    for member in members {
        text.push_str(&member.value.to_canonical());
        text.push(',');
    }
    text
}

//! Documents of the other engines: intents to be weighed and planned, verdicts of scans to be kept.

use countersign_canon::{Issue, Json, List, NonEmpty, Object, Sha256, Value, Wire as _, record};
use countersign_dryrun::{OverBudget, PlanOptions, Source, plan};
use countersign_intent::{
    EvaluateOptions, IntentFile, IntentId, IntentSet, Limits as IntentLimits, evaluate,
};
use countersign_ledger::{Event, EventKind, StreamId, detail};
use countersign_scan::Verdict;

use super::{AGENTS, Asked, Endpoint, Limits, Route};
use crate::{Caller, Node, ServiceError, clock, note::Note};

record! {
    /// Weighs a set of intents against each other; nothing is executed. Ids are not looked up in a registry.
    pub struct EvaluateIntents {
        /// The intent set.
        set: Object<'static>,
        /// Its intents.
        intents: List<Object<'static>, 1, 100>,
    }
}

record! {
    /// What became of a set of intents.
    pub struct Evaluated {
        /// The result.
        evaluation: Object<'static>,
        /// The plan.
        merge_plan: Object<'static>,
        /// The questions, if the set is rejected.
        question_pack: Option<Object<'static>>,
    }
}

impl Endpoint for EvaluateIntents {
    type Reply = Evaluated;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        ..Route::post("/v1/intents/evaluate", AGENTS, "Weigh a set of intents against each other")
    };

    fn ask(self, caller: &Caller) -> Result<Asked<Evaluated>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let set = load(self)?;
            let created_at = set.document().created_at;
            let options =
                EvaluateOptions { registry: None, limits: IntentLimits::DEFAULT, created_at, answers: &[] };
            let outcome = evaluate(&set, options).map_err(ServiceError::Document)?;
            let result = outcome.result.write();
            let members = [
                ("set_id", set.document().id.write()),
                ("evaluation_hash", Sha256::of_json(&result).write()),
            ];
            record_event(
                node,
                &caller,
                Self::ROUTE.path,
                EventKind::IntentsEvaluated,
                (&result, detail(members)),
            )?;
            Ok(Evaluated {
                evaluation: object(result),
                merge_plan: object(outcome.plan.write()),
                question_pack: outcome.questions.map(|pack| object(pack.write())),
            })
        }))
    }
}

fn object(json: Json<'static>) -> Object<'static> {
    json.as_object().cloned().unwrap_or_default()
}

/// The set with its intents, each found by its id.
fn load(request: EvaluateIntents) -> Result<IntentSet, ServiceError> {
    let text = |object: &Object<'static>| Json::from(Value::Object(object.clone())).to_canonical();
    let document = IntentSet::read(text(&request.set).as_bytes()).map_err(ServiceError::Document)?;
    let file = |id: &IntentId| {
        let is_it = |intent: &&Object<'static>| intent.get("id").and_then(Json::as_str) == Some(id.as_str());
        let found = request.intents.iter().find(is_it);
        let bytes = found.map(|intent| text(intent).into_bytes());
        IntentFile {
            id: id.clone(),
            file: id.to_string(),
            bytes: bytes.ok_or_else(|| "it is not there".to_owned()),
        }
    };
    let files: Vec<IntentFile> = document.intent_ids.iter().map(file).collect();
    IntentSet::load(document, &files, None).map_err(|problems| {
        let issues: Vec<Issue> = problems.into_vec().into_iter().map(|problem| problem.issue).collect();
        NonEmpty::new(issues)
            .map_or_else(|| ServiceError::defect("a problem got lost"), ServiceError::Document)
    })
}

record! {
    /// Plans what an intent would do; nothing is executed. Ids are not looked up in a registry.
    pub struct PlanDryRun {
        /// The intent, or the merge plan whose result intent is planned.
        intent: Object<'static>,
        /// The evaluation that chose it.
        evaluation: Option<Object<'static>>,
        /// Whether to plan also what the intent's budgets do not hold.
        allow_over_budget: Option<bool>,
    }
}

record! {
    /// What an intent would do.
    pub struct Planned {
        /// The result, as `countersign dry-run plan` writes it.
        result: Object<'static>,
    }
}

impl Endpoint for PlanDryRun {
    type Reply = Planned;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        ..Route::post("/v1/dry-runs", AGENTS, "Plan what an intent would do, and do none of it")
    };

    fn ask(self, caller: &Caller) -> Result<Asked<Planned>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let json = |object| Json::from(Value::Object(object));
            let source = Source::from_json(&json(self.intent), None).map_err(ServiceError::Document)?;
            let source = match self.evaluation {
                None => source,
                Some(evaluation) => {
                    source.with_evaluation(&json(evaluation)).map_err(ServiceError::Document)?
                }
            };
            let is_allowed = self.allow_over_budget.unwrap_or(false);
            let over_budget = if is_allowed { OverBudget::Allowed } else { OverBudget::Refused };
            let options = PlanOptions { registry: None, created_at: clock::now()?, over_budget };
            let result = plan(&source, options).map_err(ServiceError::Document)?;
            let members = [
                ("result_id", result.result_id.write()),
                ("intent_id", source.intent().id().write()),
                ("intent_checksum", source.intent().checksum().write()),
                ("checksum", result.checksum.write()),
            ];
            let result = result.write();
            let recorded = (&result, detail(members));
            record_event(node, &caller, Self::ROUTE.path, EventKind::DryRunPlanned, recorded)?;
            Ok(Planned { result: object(result) })
        }))
    }
}

record! {
    /// Keeps the verdict of a scan as an event.
    pub struct RecordVerdict {
        /// The verdict, as `countersign scan --format json` writes it.
        verdict: Verdict,
    }
}

impl Endpoint for RecordVerdict {
    type Reply = Event;
    const ROUTE: Route = Route {
        limits: Limits::DOCUMENT,
        status: 201,
        ..Route::post("/v1/scan/verdicts", AGENTS, "Keep the verdict of a scan as an event")
    };

    fn ask(self, caller: &Caller) -> Result<Asked<Event>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let verdict = self.verdict.write();
            let members = ["verdict", "policy", "target", "stats"];
            let members = members
                .map(|key| (key, verdict.get(key).cloned().unwrap_or_else(|| Json::from(Value::Null))));
            record_event(node, &caller, Self::ROUTE.path, EventKind::ScanVerdict, (&verdict, detail(members)))
        }))
    }
}

/// Appends an event about a document, which carries its hash.
fn record_event(
    node: &Node,
    caller: &Caller,
    endpoint: &'static str,
    event: EventKind,
    (document, detail): (&Json<'static>, Object<'static>),
) -> Result<Event, ServiceError> {
    let (stream_id, ir_hash) = (StreamId::audit(None), Some(Sha256::of_json(document)));
    node.append(caller, endpoint, Note { event, stream_id, run: None, ir_hash, detail })
}

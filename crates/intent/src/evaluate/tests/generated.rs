//! Generated sets: small worlds in which intents often meet.

extern crate std;

use alloc::{
    collections::BTreeSet,
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use countersign_canon::{Json, Timestamp, Wire as _};
use proptest::prelude::*;

use crate::{
    DocumentKind, EvaluateOptions, Intent, IntentFile, IntentId, IntentSet, Limits, Outcome, Registry,
    RegistryFiles, evaluate,
    wire::{AnswerPack, IntentSetDocument, Question},
};

/// One generated command: which of the registry's, which effects, which evidence.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) id: &'static str,
    pub(super) effects: Vec<&'static str>,
    pub(super) risk: &'static str,
    /// A file, or another intent of the set by position.
    pub(super) names: Option<Result<&'static str, usize>>,
}

/// One generated intent, without its name.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) files: Vec<&'static str>,
    pub(super) modules: Vec<&'static str>,
    pub(super) services: Vec<&'static str>,
    pub(super) commands: Vec<Command>,
    pub(super) priority: Option<i64>,
    pub(super) risk: &'static str,
    pub(super) day: u8,
    pub(super) status: &'static str,
    pub(super) lock: (&'static str, Vec<&'static str>),
    pub(super) interaction: (&'static str, u8, &'static str),
    pub(super) cost: &'static str,
    pub(super) depends_on: Vec<usize>,
}

const FILES: &[&str] =
    &["src/a.py", "src/b.py", "src/", "srcfoo/a.py", "docs/*.md", "docs/x.md", "src/**/*.py"];
const RISKS: &[&str] = &["low", "medium", "high", "critical"];

fn command() -> impl Strategy<Value = Command> {
    let kinds = prop::sample::select(vec![
        ("cmd_look", vec!["read"]),
        ("cmd_look", vec!["read", "network"]),
        ("cmd_change", vec!["write"]),
        ("cmd_change", vec!["create"]),
        ("cmd_change", vec!["delete"]),
        ("cmd_change", vec!["write", "data"]),
        ("cmd_make", vec!["create"]),
        ("cmd_use", vec!["read"]),
        ("cmd_ship", vec!["deploy"]),
        ("cmd_unship", vec!["rollback"]),
    ]);
    let names = prop_oneof![
        4 => Just(None),
        4 => prop::sample::select(FILES[..2].to_vec()).prop_map(|file| Some(Ok(file))),
        1 => (0_usize..4).prop_map(|index| Some(Err(index))),
    ];
    (kinds, prop::sample::select(&RISKS[..3]), names).prop_map(|((id, effects), risk, names)| Command {
        id,
        effects,
        risk,
        names,
    })
}

fn draft() -> impl Strategy<Value = Draft> {
    let some = |from: &'static [&'static str], most: usize| prop::sample::subsequence(from, 0..=most);
    let lock = (prop::sample::select(vec!["none", "none", "task", "files"]), some(FILES, 2));
    let interaction = prop::sample::select(vec![
        ("semi_auto", 3, "blockers_only"),
        ("semi_auto", 3, "conceptual_only"),
        ("interactive", 9, "conceptual_only"),
        ("interactive", 1, "blockers_only"),
        ("semi_auto", 0, "never"),
        ("full_auto", 0, "never"),
    ]);
    let first = (
        some(FILES, 2),
        some(&["m1", "m2"], 1),
        some(&["s1", "s2"], 1),
        prop::collection::vec(command(), 0..3),
        prop_oneof![3 => Just(None), 2 => (1_i64..4).prop_map(Some)],
        prop::sample::select(&RISKS[..3]),
    );
    let second = (
        1_u8..4,
        prop::sample::select(vec!["draft", "proposed", "approved"]),
        lock,
        interaction,
        prop::sample::select(vec!["0", "0.1", "10", "45.25"]),
        prop_oneof![6 => Just(vec![]), 1 => (0_usize..4).prop_map(|index| vec![index])],
    );
    (first, second).prop_map(|((files, modules, services, commands, priority, risk), second)| {
        let (day, status, lock, interaction, cost, depends_on) = second;
        Draft {
            files,
            modules,
            services,
            commands,
            priority,
            risk,
            day,
            status,
            lock,
            interaction,
            cost,
            depends_on,
        }
    })
}

/// Two to five intents.
pub(super) fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    prop::collection::vec(draft(), 2..=5)
}

/// The registry that generated intents use; made once, not ten thousand times.
pub(super) fn registry() -> &'static Registry {
    static REGISTRY: std::sync::LazyLock<Registry> = std::sync::LazyLock::new(make_registry);
    &REGISTRY
}

fn make_registry() -> Registry {
    let entry = |id: &str, verb: &str, exclusive: bool, produces: &str, consumes: &str| {
        let list = |name: &str| if name.is_empty() { "[]".to_string() } else { format!("[\"{name}\"]") };
        format!(
            r#"{{"id": "{id}", "description": "x", "phase": "implementation", "agents": ["agent_one"],
                "effects": ["read"], "verb": "{verb}", "exclusive": {exclusive},
                "produces": {}, "consumes": {}}}"#,
            list(produces),
            list(consumes)
        )
    };
    let commands = [
        entry("cmd_look", "analyze", false, "", ""),
        entry("cmd_change", "update", false, "", ""),
        entry("cmd_make", "build", false, "package", ""),
        entry("cmd_use", "test", false, "", "package"),
        entry("cmd_ship", "deploy", true, "", ""),
        entry("cmd_unship", "rollback", true, "", ""),
    ];
    let commands = format!(r#"{{"commands": [{}]}}"#, commands.join(","));
    let workflows = r#"{"workflows": [{"id": "flow_one", "description": "x", "phases": ["analysis"]}]}"#;
    let agents = r#"{"agents": [{"id": "agent_one", "description": "x"}]}"#;
    Registry::load(RegistryFiles {
        workflows: &Json::parse(workflows.as_bytes()).unwrap(),
        agents: &Json::parse(agents.as_bytes()).unwrap(),
        commands: &Json::parse(commands.as_bytes()).unwrap(),
    })
    .unwrap()
}

fn quoted(items: &[impl AsRef<str>]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("\"{}\"", item.as_ref())).collect();
    format!("[{}]", items.join(","))
}

fn rank(risk: &str) -> usize {
    RISKS.iter().position(|known| *known == risk).unwrap()
}

/// Makes the draft keep the red lines: a generator of valid intents, not of refusals.
fn intent(draft: &Draft, prefix: &str, index: usize, count: usize) -> String {
    let id = |index: usize| format!("{prefix}{}", index.checked_rem(count).unwrap());
    let is_full_auto = draft.interaction.0 == "full_auto";
    let held = |risk: &'static str| if is_full_auto && rank(risk) > 1 { "medium" } else { risk };
    let all = draft.commands.iter().map(|command| command.risk).chain([draft.risk]);
    let overall = held(all.max_by_key(|risk| rank(risk)).unwrap());
    let commands = draft.commands.iter().enumerate().map(|(at, command)| {
        let evidence = match command.names {
            None => format!("doc://plan/{at}"),
            Some(Ok(file)) => format!("scan://file/{file}"),
            Some(Err(other)) => format!("intent://{}/planned_commands/0", id(other)),
        };
        let (name, effects, risk) = (command.id, quoted(&command.effects), held(command.risk));
        format!(
            r#"{{"command_id": "{name}", "intent": "step {at}", "effects": {effects}, "risk_level": "{risk}",
            "evidence_refs": ["{evidence}"]}}"#
        )
    });
    let commands: Vec<String> = commands.collect();
    let mut effects = draft.commands.iter().flat_map(|command| &command.effects);
    let writes = effects.any(|effect| !matches!(*effect, "read" | "network"));
    let reviews = if writes { vec![["data", "release"][usize::from(index > 1)]] } else { vec![] };
    let depends: BTreeSet<String> = draft.depends_on.iter().map(|other| id(*other)).collect();
    let depends: Vec<String> = depends.into_iter().filter(|other| *other != id(index)).collect();
    let priority = draft.priority.map_or(String::new(), |priority| format!(r#""priority": {priority},"#));
    let (mode, budget, policy) = draft.interaction;
    let text = format!(
        r#"{{"id": "{}", "type": "execution_intent", "title": "Intent number {index}", "version": "1.0.{index}",
        "status": "{}", "created_at": "2026-01-0{}T00:00:00Z",
        "lineage": {{"introduced_in": "0.9.1", "derived_from": [], "supersedes": []}},
        "scope": {{"project_id": "p", "repo_root": "r", "targets": {{"files": {}, "modules": {}, "areas": [], "services": {}}}}},
        "objective": {{"goal": "goal {index}", "success_criteria": ["criterion {index}"], "non_goals": []}},
        "selected_workflows": [{{"workflow_id": "flow_one", "phases": ["analysis"]}}],
        "selected_agents": [{{"agent_id": "agent_one", "role": "r", "responsibilities": ["duty {index}"]}}],
        "planned_commands": [{}],
        "interaction": {{"mode": "{mode}", "question_budget": {budget}, "question_policy": "{policy}"}},
        "risk": {{"overall": "{overall}", "drivers": ["driver {index}"], "requires_review": {}}},
        "budgets": {{"max_files": 1, "max_commits": 1, "max_tokens": 1000, "max_cost_usd": {}}},
        "evidence_refs": ["doc://intent/{index}"],
        "constraints": {{"execution": "forbidden", "no_fabrication": true, "registry_only": true,
            "lock_scope": {{"mode": "{}", "paths": {}}}}},
        "audit": {{"created_by": "t", "source": "human"}},
        "metadata": {{{priority} "depends_on": {}}}}}"#,
        id(index),
        draft.status,
        draft.day,
        quoted(&draft.files),
        quoted(&draft.modules),
        quoted(&draft.services),
        commands.join(","),
        quoted(&reviews),
        draft.cost,
        draft.lock.0,
        quoted(&draft.lock.1),
        quoted(&depends),
    );
    let json = Json::parse(text.as_bytes()).unwrap().into_owned();
    DocumentKind::Intent.seal(&json).to_canonical()
}

/// The set of these drafts; `order` says in which order the set names them.
pub(super) fn set(drafts: &[Draft], prefix: &str, order: &[usize], registry: &Registry) -> IntentSet {
    let ids: Vec<String> = order.iter().map(|index| format!("{prefix}{index}")).collect();
    let document = set_document(&ids);
    let files = order.iter().map(|&index| IntentFile {
        id: IntentId::parse(&format!("{prefix}{index}")).unwrap(),
        file: format!("{prefix}{index}.json"),
        bytes: Ok(intent(&drafts[index], prefix, index, drafts.len()).into_bytes()),
    });
    IntentSet::load(document, &files.collect::<Vec<_>>(), Some(registry)).unwrap()
}

fn set_document(ids: &[String]) -> IntentSetDocument {
    let text = format!(
        r#"{{"id": "intent_set_x", "type": "intent_set", "schema_version": "0.9.3", "created_at": "2026-02-01T00:00:00Z",
        "intent_ids": {}, "context": {{"project_id": "p", "env": "dev"}},
        "lineage": {{"introduced_in": "0.9.3", "derived_from": []}}}}"#,
        quoted(ids)
    );
    let json = Json::parse(text.as_bytes()).unwrap().into_owned();
    IntentSet::read(DocumentKind::IntentSet.seal(&json).to_canonical().as_bytes()).unwrap()
}

/// A set of intents that are there already.
pub(super) fn set_of<'i>(intents: impl Iterator<Item = &'i Intent>, registry: &Registry) -> IntentSet {
    let files: Vec<IntentFile> = intents
        .map(|intent| IntentFile {
            id: intent.id().clone(),
            file: format!("{}.json", intent.id()),
            bytes: Ok(intent.document().write().to_canonical().into_bytes()),
        })
        .collect();
    let ids: Vec<String> = files.iter().map(|file| file.id.to_string()).collect();
    IntentSet::load(set_document(&ids), &files, Some(registry)).unwrap()
}

/// An intent that changes nothing but what it is given, and that nobody has anything against.
pub(super) fn draft_of(files: &[&'static str], commands: Vec<Command>) -> Draft {
    Draft {
        files: files.to_vec(),
        modules: vec![],
        services: vec![],
        commands,
        priority: None,
        risk: "low",
        day: 1,
        status: "draft",
        lock: ("none", vec![]),
        interaction: ("semi_auto", 3, "blockers_only"),
        cost: "1",
        depends_on: vec![],
    }
}

/// The set in its plain order.
pub(super) fn plain(drafts: &[Draft], registry: &Registry) -> IntentSet {
    set(drafts, "intent_a_", &(0..drafts.len()).collect::<Vec<_>>(), registry)
}

pub(super) fn weigh(set: &IntentSet, registry: &Registry, answers: &[AnswerPack]) -> Outcome {
    let created_at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
    evaluate(set, EvaluateOptions { registry: Some(registry), limits: Limits::DEFAULT, created_at, answers })
        .unwrap()
}

/// A pack that picks one option of one question.
pub(super) fn answer(outcome: &Outcome, question: &Question, option: usize) -> AnswerPack {
    let asked = outcome.questions.as_ref().unwrap();
    let text = format!(
        r#"{{"id": "apack_one", "question_pack_id": "{}", "question_pack_checksum": "{}",
        "answers": [{{"question_id": "{}", "option_id": "{}", "provided_by": "somebody", "evidence_refs": ["doc://minutes"]}}], "checksum": ""}}"#,
        asked.id, asked.checksum, question.question_id, question.options[option].option_id,
    );
    let json = Json::parse(text.as_bytes()).unwrap().into_owned();
    crate::read_answer_pack(&DocumentKind::AnswerPack.seal(&json)).unwrap()
}

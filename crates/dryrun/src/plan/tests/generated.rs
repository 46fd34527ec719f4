//! Generated intents: small worlds in which commands often share something.

extern crate std;

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use countersign_canon::{Json, Timestamp};
use countersign_intent::{DocumentKind, Registry, RegistryFiles};
use proptest::prelude::*;

use crate::{OverBudget, PlanOptions, Source, plan, wire::DryExecutionResult};

/// One generated command.
#[derive(Debug, Clone)]
pub(super) struct Command {
    pub(super) id: &'static str,
    pub(super) effects: Vec<&'static str>,
    pub(super) risk: &'static str,
    pub(super) files: Vec<&'static str>,
    pub(super) text: String,
}

/// One generated intent.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) files: Vec<&'static str>,
    pub(super) evidence: Vec<&'static str>,
    pub(super) modules: Vec<&'static str>,
    pub(super) services: Vec<&'static str>,
    pub(super) workflows: Vec<(&'static str, Vec<&'static str>)>,
    pub(super) agents: Vec<&'static str>,
    pub(super) commands: Vec<Command>,
    pub(super) reviews: Vec<&'static str>,
    pub(super) drivers: Vec<String>,
    pub(super) lock: (&'static str, Vec<&'static str>),
    pub(super) budgets: (u16, u16),
    pub(super) goal: String,
}

pub(super) const FILES: &[&str] = &[
    "src/a.py",
    "src/b.py",
    "src/auth/token.py",
    "src/author.py",
    "src/",
    "docs/*.md",
    "docs/x.md",
    "db/migrations/1.sql",
    "Makefile",
    "./src//c.py",
    "**",
];
const RISKS: &[&str] = &["low", "medium", "high", "critical"];
const REVIEWS: &[&str] = &["security", "data", "release", "operations"];
const PHASES: &[&str] = &["setup", "analysis", "implementation", "validation", "release"];

fn command() -> impl Strategy<Value = Command> {
    let kinds = prop::sample::select(vec![
        ("cmd_look", vec!["read"]),
        ("cmd_look", vec!["read", "network"]),
        ("cmd_change", vec!["write"]),
        ("cmd_change", vec!["create", "read"]),
        ("cmd_change", vec!["delete"]),
        ("cmd_change", vec!["data", "write"]),
        ("cmd_guard", vec!["security"]),
        ("cmd_make", vec!["create"]),
        ("cmd_use", vec!["read"]),
        ("cmd_ship", vec!["deploy"]),
        ("cmd_unship", vec!["rollback", "network"]),
    ]);
    let files = prop_oneof![2 => Just(vec![]), 3 => prop::sample::subsequence(FILES, 1..=3)];
    let text =
        prop::sample::select(vec!["do it", "change src/a.py", "look at `./src//b.py`, then and/or read"]);
    (kinds, prop::sample::select(RISKS), files, text).prop_map(|((id, effects), risk, files, text)| Command {
        id,
        effects,
        risk,
        files,
        text: text.to_string(),
    })
}

pub(super) fn draft() -> impl Strategy<Value = Draft> {
    let some = |from: &'static [&'static str], most: usize| prop::sample::subsequence(from, 0..=most);
    let phases = prop::sample::subsequence(PHASES, 1..=4).prop_shuffle();
    let workflows =
        prop::collection::vec((prop::sample::select(vec!["flow_one", "flow_two"]), phases), 1..=3);
    let agents =
        prop::sample::subsequence(vec!["agent_one", "agent_two", "agent_three"], 1..=3).prop_shuffle();
    let lock = (prop::sample::select(vec!["none", "task", "files"]), some(FILES, 6));
    let first = (some(FILES, 5), some(FILES, 2), some(&["m1"], 1), some(&["s1"], 1), workflows, agents);
    let second = (
        prop::collection::vec(command(), 0..8),
        prop::sample::subsequence(REVIEWS, 1..=2),
        lock,
        (0_u16..8, 0_u16..4),
    );
    (first, second).prop_map(|((files, evidence, modules, services, workflows, agents), second)| {
        let (commands, reviews, lock, budgets) = second;
        let (drivers, goal) = (vec!["because".to_string(), "also".to_string()], "a goal".to_string());
        Draft {
            files,
            evidence,
            modules,
            services,
            workflows,
            agents,
            commands,
            reviews,
            drivers,
            lock,
            budgets,
            goal,
        }
    })
}

pub(super) fn quoted(items: &[impl AsRef<str>]) -> String {
    let items: Vec<String> = items.iter().map(|item| Json::from(item.as_ref()).to_canonical()).collect();
    format!("[{}]", items.join(","))
}

/// The intent of a draft, sealed.
pub(super) fn text_of(draft: &Draft) -> String {
    let commands: Vec<String> = draft.commands.iter().enumerate().map(|(at, command)| {
        let mut evidence: Vec<String> = command.files.iter().map(|file| format!("scan://file/{file}")).collect();
        evidence.push(format!("doc://plan/{at}"));
        format!(
            r#"{{"command_id": "{}", "intent": {}, "effects": {}, "risk_level": "{}", "evidence_refs": {}}}"#,
            command.id, Json::from(command.text.as_str()).to_canonical(), quoted(&command.effects), command.risk, quoted(&evidence)
        )
    }).collect();
    let rank = |risk: &str| RISKS.iter().position(|known| *known == risk).unwrap();
    let overall =
        draft.commands.iter().map(|command| command.risk).max_by_key(|risk| rank(risk)).unwrap_or("low");
    let workflows = draft
        .workflows
        .iter()
        .map(|(id, phases)| format!(r#"{{"workflow_id": "{id}", "phases": {}}}"#, quoted(phases)));
    let agents = draft
        .agents
        .iter()
        .map(|id| format!(r#"{{"agent_id": "{id}", "role": "r", "responsibilities": ["d"]}}"#));
    let evidence =
        draft.evidence.iter().map(|file| format!("scan://file/{file}")).chain(["doc://intent".to_string()]);
    let text = format!(
        r#"{{"id": "intent_x", "type": "execution_intent", "title": "An intent", "version": "1.0.0",
        "status": "draft", "created_at": "2026-01-01T00:00:00Z",
        "lineage": {{"introduced_in": "0.9.1", "derived_from": [], "supersedes": []}},
        "scope": {{"project_id": "p", "repo_root": "r", "targets": {{"files": {}, "modules": {}, "areas": [], "services": {}}}}},
        "objective": {{"goal": {}, "success_criteria": ["c"], "non_goals": []}},
        "selected_workflows": [{}], "selected_agents": [{}], "planned_commands": [{}],
        "interaction": {{"mode": "interactive", "question_budget": 1, "question_policy": "blockers_only"}},
        "risk": {{"overall": "{overall}", "drivers": {}, "requires_review": {}}},
        "budgets": {{"max_files": {}, "max_commits": {}, "max_tokens": 1000, "max_cost_usd": 0}},
        "evidence_refs": {},
        "constraints": {{"execution": "forbidden", "no_fabrication": true, "registry_only": true,
            "lock_scope": {{"mode": "{}", "paths": {}}}}},
        "audit": {{"created_by": "t", "source": "human"}}}}"#,
        quoted(&draft.files),
        quoted(&draft.modules),
        quoted(&draft.services),
        Json::from(draft.goal.as_str()).to_canonical(),
        workflows.collect::<Vec<_>>().join(","),
        agents.collect::<Vec<_>>().join(","),
        commands.join(","),
        quoted(&draft.drivers),
        quoted(&draft.reviews),
        draft.budgets.0,
        draft.budgets.1,
        quoted(&evidence.collect::<Vec<_>>()),
        draft.lock.0,
        quoted(&draft.lock.1),
    );
    let json = Json::parse(text.as_bytes()).unwrap().into_owned();
    DocumentKind::Intent.seal(&json).to_canonical()
}

/// The registry that generated intents use; made once, not ten thousand times.
pub(super) fn registry() -> &'static Registry {
    static REGISTRY: std::sync::LazyLock<Registry> = std::sync::LazyLock::new(make_registry);
    &REGISTRY
}

fn make_registry() -> Registry {
    let entry = |id: &str, phase: &str, agents: &str, exclusive: bool, produces: &str, consumes: &str| {
        let list = |name: &str| if name.is_empty() { "[]".to_string() } else { format!("[\"{name}\"]") };
        format!(
            r#"{{"id": "{id}", "description": "x", "phase": "{phase}", "agents": {agents}, "effects": ["read"],
            "verb": "update", "exclusive": {exclusive}, "produces": {}, "consumes": {}}}"#,
            list(produces),
            list(consumes)
        )
    };
    let commands = [
        entry("cmd_look", "analysis", r#"["agent_two"]"#, false, "", ""),
        entry("cmd_change", "implementation", r#"["agent_one", "agent_two"]"#, false, "", ""),
        entry("cmd_guard", "implementation", r#"["agent_three"]"#, false, "", ""),
        entry("cmd_make", "implementation", r#"["agent_one"]"#, false, "package", ""),
        entry("cmd_use", "implementation", r#"["agent_two"]"#, false, "", "package"),
        entry("cmd_ship", "release", r#"["agent_three"]"#, true, "", ""),
        entry("cmd_unship", "release", r#"["agent_three"]"#, true, "", ""),
    ];
    let commands = format!(r#"{{"commands": [{}]}}"#, commands.join(","));
    let flow = |id: &str| format!(r#"{{"id": "{id}", "description": "x", "phases": ["analysis"]}}"#);
    let workflows = format!(r#"{{"workflows": [{}, {}]}}"#, flow("flow_one"), flow("flow_two"));
    let agent = |id: &str| format!(r#"{{"id": "{id}", "description": "x"}}"#);
    let agents = format!(
        r#"{{"agents": [{}, {}, {}]}}"#,
        agent("agent_one"),
        agent("agent_two"),
        agent("agent_three")
    );
    Registry::load(RegistryFiles {
        workflows: &Json::parse(workflows.as_bytes()).unwrap(),
        agents: &Json::parse(agents.as_bytes()).unwrap(),
        commands: &Json::parse(commands.as_bytes()).unwrap(),
    })
    .unwrap()
}

pub(super) fn source(text: &str) -> Source {
    Source::load(text.as_bytes(), Some(registry())).unwrap()
}

pub(super) fn options(over_budget: OverBudget) -> PlanOptions<'static> {
    let created_at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
    PlanOptions { registry: Some(registry()), created_at, over_budget }
}

/// The plan of a draft, whatever its budgets say.
pub(super) fn planned(draft: &Draft) -> DryExecutionResult {
    plan(&source(&text_of(draft)), options(OverBudget::Allowed)).unwrap()
}

//! How long planning the largest legal intent takes, end to end: parse, check, plan, freeze, write.

use std::time::{Duration, Instant};

use countersign_canon::{Json, Timestamp, Wire};
use countersign_dryrun::{OverBudget, PlanOptions, Source, explain_svg, plan, validate};
use countersign_intent::{DocumentKind, Registry, RegistryFiles};

const PHASES: [&str; 9] = [
    "setup",
    "analysis",
    "design",
    "implementation",
    "validation",
    "review",
    "release",
    "operations",
    "postmortem",
];

fn main() {
    let registry = registry();
    println!("one intent of 200 files, 80 commands, 18 workflows of 9 phases and 13 agents, 50 times");
    for (name, evidence) in [
        ("every command changes all 200 files", Evidence::None),
        ("every command names 30 of the 200 files", Evidence::OfTargets),
        ("every command names 30 files of its own, 2 400 in all (over budget, allowed)", Evidence::Own),
    ] {
        let text = intent(evidence);
        let mut times: Vec<[Duration; 4]> = (0..50).map(|_| times(&text, &registry)).collect();
        let mut column = |at: usize| {
            times.sort_by_key(|row| row[at]);
            (ms(times[25][at]), ms(times[49][at]))
        };
        let [(all, all_worst), (planning, worst), (checking, _), (drawing, _)] =
            [0, 1, 2, 3].map(&mut column);
        println!("  {name}, {} KB:", text.len() / 1000);
        println!("    plan alone: median {planning:.1} ms, worst {worst:.1} ms");
        println!("    parse, check, plan, freeze, write: median {all:.1} ms, worst {all_worst:.1} ms");
        println!("    validate against the intent: median {checking:.1} ms; draw: median {drawing:.1} ms");
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// End to end, planning alone, validating, drawing.
fn times(text: &str, registry: &Registry) -> [Duration; 4] {
    let created_at = Timestamp::parse("2026-02-01T00:00:00Z").unwrap();
    let options = PlanOptions { registry: Some(registry), created_at, over_budget: OverBudget::Allowed };
    let start = Instant::now();
    let source = Source::load(text.as_bytes(), Some(registry)).unwrap();
    let loaded = start.elapsed();
    let result = plan(&source, options).unwrap();
    let planned = start.elapsed();
    let written = result.write().to_pretty();
    let all = start.elapsed();
    let json = Json::parse(written.as_bytes()).unwrap();
    let start = Instant::now();
    validate(&json, &source, Some(registry), OverBudget::Allowed).unwrap();
    let checked = start.elapsed();
    let start = Instant::now();
    assert!(explain_svg(&result).len() > 1000);
    [all, planned - loaded, checked, start.elapsed()]
}

#[derive(Clone, Copy)]
enum Evidence {
    None,
    OfTargets,
    Own,
}

fn file(number: usize) -> String {
    format!("src/area{}/module{}/file{number}.py", number % 7, number % 13)
}

fn intent(evidence: Evidence) -> String {
    let quoted =
        |items: Vec<String>| items.iter().map(|item| format!("\"{item}\"")).collect::<Vec<_>>().join(",");
    let effects = ["write", "create", "delete", "data", "security", "read"];
    let commands: Vec<String> = (0..80).map(|at| {
        let references = match evidence {
            Evidence::None => (0..30).map(|number| format!("doc://plan/{at}/{number}")).collect(),
            Evidence::OfTargets => (0..30).map(|number| format!("scan://file/{}", file((at * 7 + number * 3) % 200))).collect(),
            Evidence::Own => (0..30).map(|number| format!("scan://file/own/{at}/{}", file(number))).collect(),
        };
        format!(
            r#"{{"command_id": "cmd_{}", "intent": "step {at}, described in a sentence as people do, for example src/area1/x.py", "effects": ["{}"], "risk_level": "{}", "evidence_refs": [{}]}}"#,
            PHASES[at % 9], effects[at % 6], ["low", "medium", "high"][at % 3], quoted(references)
        )
    }).collect();
    let phases = quoted(PHASES.map(str::to_owned).to_vec());
    let workflows: Vec<String> =
        (0..18).map(|at| format!(r#"{{"workflow_id": "flow_{at}", "phases": [{phases}]}}"#)).collect();
    let agents: Vec<String> = (0..13)
        .map(|at| format!(r#"{{"agent_id": "agent_{at}", "role": "r", "responsibilities": ["d"]}}"#))
        .collect();
    let text = format!(
        r#"{{"id": "intent_large", "type": "execution_intent", "title": "The largest intent", "version": "1.0.0", "status": "approved", "created_at": "2026-01-01T00:00:00Z",
        "lineage": {{"introduced_in": "0.9.1", "derived_from": [], "supersedes": []}},
        "scope": {{"project_id": "p", "repo_root": "r", "targets": {{"files": [{}], "modules": [], "areas": ["backend"]}}}},
        "objective": {{"goal": "Do all of it.", "success_criteria": ["done"], "non_goals": []}},
        "selected_workflows": [{}], "selected_agents": [{}], "planned_commands": [{}],
        "interaction": {{"mode": "semi_auto", "question_budget": 3, "question_policy": "blockers_only"}},
        "risk": {{"overall": "high", "drivers": ["size"], "requires_review": ["architecture", "security"]}},
        "budgets": {{"max_files": 500, "max_commits": 50, "max_tokens": 1000, "max_cost_usd": 1}},
        "evidence_refs": ["doc://intent"],
        "constraints": {{"execution": "forbidden", "no_fabrication": true, "registry_only": true, "lock_scope": {{"mode": "none", "paths": []}}}},
        "audit": {{"created_by": "bench", "source": "human"}}}}"#,
        quoted((0..200).map(file).collect()),
        workflows.join(","),
        agents.join(","),
        commands.join(",")
    );
    DocumentKind::Intent.seal(&Json::parse(text.as_bytes()).unwrap().into_owned()).to_canonical()
}

fn registry() -> Registry {
    let commands = PHASES.map(|phase| format!(
        r#"{{"id": "cmd_{phase}", "description": "x", "phase": "{phase}", "agents": ["agent_1", "agent_5", "agent_9"], "effects": ["read"], "verb": "update", "exclusive": false, "produces": ["a_{phase}"], "consumes": ["a_design"]}}"#
    ));
    let flows: Vec<String> = (0..18)
        .map(|at| format!(r#"{{"id": "flow_{at}", "description": "x", "phases": ["analysis"]}}"#))
        .collect();
    let agents: Vec<String> =
        (0..13).map(|at| format!(r#"{{"id": "agent_{at}", "description": "x"}}"#)).collect();
    Registry::load(RegistryFiles {
        workflows: &Json::parse(format!(r#"{{"workflows": [{}]}}"#, flows.join(",")).as_bytes()).unwrap(),
        agents: &Json::parse(format!(r#"{{"agents": [{}]}}"#, agents.join(",")).as_bytes()).unwrap(),
        commands: &Json::parse(format!(r#"{{"commands": [{}]}}"#, commands.join(",")).as_bytes()).unwrap(),
    })
    .unwrap()
}

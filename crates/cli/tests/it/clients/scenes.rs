//! What must hold for every agent whose host has hooks, as scenes: the same for all, told by files on the disk.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    agent::Agent,
    desk::{Desk, PROGRAM},
    model::Model,
};

/// An agent at a desk, with a model that does what the test says.
struct Scene {
    agent: Agent,
    program: PathBuf,
    desk: Desk,
    model: Model,
}

impl Scene {
    /// An agent that is governed. Between two steps a test can have a person approve everything (`grant`), a file be taken
    /// away, which must be there (`take NAME`), or wait until one is (`await NAME`).
    fn governed(agent: Agent, test: &str) -> Option<Self> {
        let scene = Self::ungoverned(agent, test)?;
        agent.govern(&scene.desk, &scene.program);
        scene.desk.enrol();
        Some(scene)
    }

    fn ungoverned(agent: Agent, test: &str) -> Option<Self> {
        let (program, server) = agent.installed(test)?;
        let desk = Desk::new();
        let here = desk.clone();
        let model = Model::start(move |what| match what.split_once(' ') {
            None => here.approve_all(),
            Some(("take", name)) => here.remove(name),
            Some((_, name)) => here.wait_for(name),
        });
        agent.configure(&desk, &server, &model);
        Some(Self { agent, program, desk, model })
    }

    fn run(&self, steps: &Value) {
        self.agent.run(&self.desk, &self.program, &self.model, steps);
    }

    fn shell(&self, line: &str) -> Value {
        self.agent.shell(line)
    }

    /// Takes the same step three times: before a person has said yes, after it, and once more.
    fn approved_once(&self, step: &Value, made: &str) -> Vec<Value> {
        let (granted, again) = (first("grant", step), first(&format!("take {made}"), step));
        vec![step.clone(), granted, again]
    }

    /// What must not be there, with what the model heard.
    fn lacks(&self, name: &str) {
        assert!(!self.desk.has(name), "{:?} has {name}: {}", self.agent, self.model.heard());
    }

    fn has(&self, name: &str) {
        assert!(self.desk.has(name), "{:?} lacks {name}: {}", self.agent, self.model.heard());
    }
}

/// A step that is taken only after something else was done.
fn first(what: &str, step: &Value) -> Value {
    let mut step = step.clone();
    step["first"] = json!(what);
    step
}

/// Without the hooks everything runs: so what does not run below was stopped by them.
pub(super) fn without_the_hooks_everything_runs(agent: Agent) {
    let Some(scene) = Scene::ungoverned(agent, "without_the_hooks_everything_runs") else { return };
    scene.run(&json!([scene.shell("touch allowed"), scene.shell("eval \"touch denied\"")]));
    scene.has("work/allowed");
    scene.has("work/denied");
}

pub(super) fn denied_does_not_run_allowed_does_and_approved_runs_once(agent: Agent) {
    let Some(scene) = Scene::governed(agent, "denied_does_not_run_allowed_does_and_approved_runs_once")
    else {
        return;
    };
    let outside = scene.shell(&format!("echo run >> {}", scene.desk.path("outside/runs").display()));
    let (allowed, denied) = (scene.shell("touch allowed"), scene.shell("eval \"touch denied\""));
    scene.run(&json!([allowed, denied, outside, first("grant", &outside), outside]));
    scene.has("work/allowed");
    scene.lacks("work/denied");
    assert_eq!(scene.desk.read("outside/runs").as_deref(), Some("run\n"));
    let heard = scene.model.heard();
    assert!(heard.contains("UNKNOWN_SHELL_DENIED") && heard.contains("URM_APPROVAL_REQUIRED"), "{heard}");
    // Both that ran were reported by the host.
    let events = scene.desk.countersign(&["events", "tail"]);
    assert_eq!(events.stdout().matches("\"EXECUTION_FINISHED\"").count(), 2, "{}", events.stdout());
}

pub(super) fn sub_agents_are_governed_too(agent: Agent) {
    let Some(scene) = Scene::governed(agent, "sub_agents_are_governed_too") else { return };
    let outside = scene.shell(&format!("echo run >> {}", scene.desk.path("outside/runs").display()));
    let (allowed, denied) = (scene.shell("touch allowed"), scene.shell("eval \"touch denied\""));
    let last = scene.shell("touch last");
    let inner = json!([allowed, denied, outside, first("grant", &outside), outside, last]);
    scene.run(&json!([agent.spawn(&inner), {"say": "done", "first": "await work/last"}]));
    scene.has("work/allowed");
    scene.lacks("work/denied");
    assert_eq!(scene.desk.read("outside/runs").as_deref(), Some("run\n"), "{}", scene.model.heard());
}

pub(super) fn file_edits_are_governed(agent: Agent) {
    let Some(scene) = Scene::governed(agent, "file_edits_are_governed") else { return };
    let path = |name: &str| scene.desk.path(name);
    let own = [".countersign/policy/urm.allow.v1.json", ".claude/settings.local.json"];
    let own = own.map(|name| format!("work/{name}")).into_iter().filter(|name| scene.desk.has(name));
    let own: Vec<(String, Option<String>)> = own.map(|name| (name.clone(), scene.desk.read(&name))).collect();
    let mut steps = vec![agent.write(&path("work/allowed")), agent.write(&path("outside/denied"))];
    steps.extend(own.iter().map(|(name, _)| agent.write(&path(name))));
    // `take` fails unless the file is there: it was made once, and is not made again.
    steps.extend(scene.approved_once(&agent.write(&path("outside/once")), "outside/once"));
    scene.run(&json!(steps));
    assert_eq!(scene.desk.read("work/allowed").as_deref().map(str::trim), Some("text"));
    scene.lacks("outside/denied");
    scene.lacks("outside/once");
    for (name, before) in own {
        assert_eq!(scene.desk.read(&name), before, "{name}");
    }
}

pub(super) fn mcp_tools_are_governed(agent: Agent) {
    let Some(scene) = Scene::governed(agent, "mcp_tools_are_governed") else { return };
    let desk = &scene.desk;
    scene.run(&json!([agent.mcp_write(&desk.path("work/allowed"))]));
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"), "{}", scene.model.heard());
    // Calls of MCP tools need a person now.
    let place = "work/.countersign/policy/urm.capability.lattice.v1.json";
    let mut lattice: Value = serde_json::from_str(&desk.read(place).unwrap()).unwrap();
    lattice["actions"]["mcp.call"]["requires_approval"] = json!(true);
    desk.write(place, &lattice.to_string());
    desk.countersign(&["policy", "activate"]);
    scene.run(&json!(scene.approved_once(&agent.mcp_write(&desk.path("work/once")), "work/once")));
    scene.lacks("work/once");
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    scene.run(&json!([agent.mcp_write(&desk.path("work/denied"))]));
    scene.lacks("work/denied");
    assert!(scene.model.heard().contains("URM_MODE_DENIED"), "{}", scene.model.heard());
}

/// Takes every sort of step with a hook that something is wrong with; nothing may run, and the model hears why.
fn broken(agent: Agent, test: &str, code: &str, spoil: impl Fn(&Desk)) {
    let Some(scene) = Scene::governed(agent, test) else { return };
    spoil(&scene.desk);
    let marker = |name: &str| scene.desk.path(&format!("work/{name}"));
    let steps = [
        scene.shell("touch marker"),
        agent.write(&marker("written")),
        agent.mcp_write(&marker("called")),
        agent.spawn(&json!([scene.shell("touch spawned")])),
    ];
    scene.run(&json!(steps));
    for name in ["marker", "written", "called", "spawned"] {
        scene.lacks(&format!("work/{name}"));
    }
    assert!(scene.model.heard().contains(code), "{}", scene.model.heard());
}

pub(super) fn a_hook_that_panics_is_a_no(agent: Agent) {
    let panicking = Path::new(PROGRAM).parent().unwrap().join("examples/panicking_hook");
    let panicking = panicking.to_str().unwrap().to_owned();
    broken(agent, "a_hook_that_panics_is_a_no", "planted defect", |desk| {
        agent.hook_instead(desk, &panicking)
    });
}

pub(super) fn a_hook_without_a_decision_in_time_is_a_no(agent: Agent) {
    let late = format!("sleep 3 | {PROGRAM} hook {}", name(agent));
    broken(agent, "a_hook_without_a_decision_in_time_is_a_no", "HOOK_DEADLINE", |desk| {
        agent.hook_instead(desk, &late);
    });
}

pub(super) fn a_broken_policy_is_a_no(agent: Agent) {
    broken(agent, "a_broken_policy_is_a_no", "URM_POLICY_INVALID_SCHEMA", |desk| {
        desk.write("work/.countersign/policy/odeu.instructions.v1.json", "{\"rules\": 7}");
    });
}

pub(super) fn a_missing_store_is_a_no(agent: Agent) {
    broken(agent, "a_missing_store_is_a_no", "HOOK_STORE_MISSING", |desk| {
        desk.remove("work/.countersign/state.db");
    });
}

pub(super) fn garbage_from_the_host_is_a_no(agent: Agent) {
    let garbage = format!("echo garbage | {PROGRAM} hook {}", name(agent));
    broken(agent, "garbage_from_the_host_is_a_no", "HOOK_INPUT", |desk| agent.hook_instead(desk, &garbage));
}

/// Claude Code alone can be told what a hook means that cannot be run.
pub(super) fn a_missing_program_is_a_no(agent: Agent) {
    broken(agent, "a_missing_program_is_a_no", "", |desk| agent.hook_instead(desk, "/no/such/program"));
}

const fn name(agent: Agent) -> &'static str {
    match agent {
        Agent::ClaudeCode => "claude-code",
        Agent::Codex => "codex",
    }
}

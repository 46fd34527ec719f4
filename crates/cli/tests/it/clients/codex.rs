//! The real Codex, with the hooks that `countersign install` gives it and tells it to trust.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    desk::{CODEX, Desk, FILESYSTEM_SERVER, PROGRAM, client},
    model::Model,
};

fn exec(command: &str) -> Value {
    json!({"tool": "exec_command", "input": {"cmd": command}})
}

fn governed(codex: &Path, model: &Model, more: &str) -> Desk {
    let desk = Desk::new();
    govern(&desk, codex, model, more);
    desk
}

fn govern(desk: &Desk, codex: &Path, model: &Model, more: &str) {
    desk.configure_codex(model, more);
    desk.countersign(&["install", "codex", "--bin", codex.to_str().unwrap()]);
}

#[test]
fn without_the_hooks_everything_runs() {
    let Some(codex) = client("without_the_hooks_everything_runs", CODEX) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    desk.configure_codex(&model, "");
    desk.codex(&codex, &model, &json!([exec("touch allowed"), exec("eval \"touch denied\"")]), &[]);
    assert!(desk.has("work/allowed") && desk.has("work/denied"));
}

#[test]
fn denied_does_not_run_allowed_does_and_approved_runs_once() {
    let Some(codex) = client("denied_does_not_run_allowed_does_and_approved_runs_once", CODEX) else {
        return;
    };
    let desk = Desk::new();
    let person = desk.clone();
    let model = Model::start(move |_| person.approve_all());
    govern(&desk, &codex, &model, "");
    desk.enrol();
    let outside = exec(&format!("echo run >> {}", desk.path("outside/runs").display()));
    let mut granted = outside.clone();
    granted["first"] = json!("grant");
    let steps = json!([exec("touch allowed"), exec("eval \"touch denied\""), outside, granted, outside]);
    desk.codex(&codex, &model, &steps, &[]);
    assert!(desk.has("work/allowed"));
    assert!(!desk.has("work/denied"));
    assert_eq!(desk.read("outside/runs").as_deref(), Some("run\n"));
    let heard = model.heard();
    assert!(heard.contains("UNKNOWN_SHELL_DENIED") && heard.contains("URM_APPROVAL_REQUIRED"), "{heard}");
}

#[test]
fn sub_agents_are_governed_too() {
    let Some(codex) = client("sub_agents_are_governed_too", CODEX) else { return };
    let model = Model::start(|_| ());
    let desk = governed(&codex, &model, "");
    let inner = json!([exec("touch allowed"), exec("eval \"touch denied\"")]);
    let spawn = json!({"tool": "spawn_agent", "namespace": "multi_agent_v1", "input": {"message": format!("STEPS:{inner}")}});
    desk.codex(&codex, &model, &json!([spawn, exec("sleep 4")]), &[]);
    assert!(desk.has("work/allowed"));
    assert!(!desk.has("work/denied"));
}

#[test]
fn patches_are_governed() {
    let Some(codex) = client("patches_are_governed", CODEX) else { return };
    let model = Model::start(|_| ());
    let desk = governed(&codex, &model, "");
    let patch = |path: &Path| {
        exec(&format!(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: {}\n+text\n*** End Patch\nEOF",
            path.display()
        ))
    };
    let steps = json!([patch(Path::new("allowed")), patch(&desk.path("outside/denied"))]);
    desk.codex(&codex, &model, &steps, &[]);
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text\n"));
    assert!(!desk.has("outside/denied"));
}

#[test]
fn mcp_tools_are_governed() {
    let Some(codex) = client("mcp_tools_are_governed", CODEX) else { return };
    let Some(server) = client("mcp_tools_are_governed", FILESYSTEM_SERVER) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    govern(&desk, &codex, &model, &desk.file_server(&server));
    let write = |name: &str| json!({"tool": "write_file", "namespace": "mcp__fs", "input": {"path": desk.path(name), "content": "text"}});
    desk.codex(&codex, &model, &json!([write("work/allowed")]), &[]);
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"), "{}", model.heard());
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    desk.codex(&codex, &model, &json!([write("work/denied")]), &[]);
    assert!(!desk.has("work/denied"));
    assert!(model.heard().contains("URM_MODE_DENIED"), "{}", model.heard());
}

/// Runs `touch marker` with a hook that something is wrong with, trusted all the same; it must not run.
fn broken(test: &str, code: &str, spoil: &dyn Fn(&Desk)) {
    let Some(codex) = client(test, CODEX) else { return };
    let model = Model::start(|_| ());
    let desk = governed(&codex, &model, "");
    spoil(&desk);
    desk.codex(&codex, &model, &json!([exec("touch marker")]), &["--dangerously-bypass-hook-trust"]);
    assert!(!desk.has("work/marker"), "{test}");
    assert!(model.heard().contains(code), "{}", model.heard());
}

/// Puts another command in the place of the hook.
fn instead(desk: &Desk, command: &str) {
    let hooks = desk.read("home/codex/hooks.json").unwrap();
    let ours = format!("{PROGRAM} hook codex");
    assert!(hooks.contains(&ours), "{hooks}");
    desk.write("home/codex/hooks.json", &hooks.replace(&ours, command));
}

#[test]
fn a_hook_that_panics_is_a_no() {
    let panicking = Path::new(PROGRAM).parent().unwrap().join("examples/panicking_hook");
    broken("a_hook_that_panics_is_a_no", "planted defect", &|desk| {
        instead(desk, panicking.to_str().unwrap())
    });
}

#[test]
fn a_hook_without_a_decision_in_time_is_a_no() {
    broken("a_hook_without_a_decision_in_time_is_a_no", "HOOK_DEADLINE", &|desk| {
        instead(desk, &format!("sleep 3 | {PROGRAM} hook codex"));
    });
}

#[test]
fn a_broken_policy_is_a_no() {
    broken("a_broken_policy_is_a_no", "URM_POLICY_INVALID_SCHEMA", &|desk| {
        desk.write("work/.countersign/policy/odeu.instructions.v1.json", "{\"rules\": 7}");
    });
}

#[test]
fn a_missing_store_is_a_no() {
    broken("a_missing_store_is_a_no", "HOOK_STORE_MISSING", &|desk| {
        desk.remove("work/.countersign/state.db")
    });
}

#[test]
fn garbage_from_the_host_is_a_no() {
    broken("garbage_from_the_host_is_a_no", "HOOK_INPUT", &|desk| {
        instead(desk, &format!("echo garbage | {PROGRAM} hook codex"));
    });
}

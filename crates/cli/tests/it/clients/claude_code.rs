//! The real Claude Code, with the hooks that `countersign install` gives it.

use serde_json::{Value, json};

use super::{
    desk::{CLAUDE, Desk, FILESYSTEM_SERVER, PROGRAM, client},
    model::Model,
};

fn bash(command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}})
}

fn governed() -> Desk {
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    desk
}

/// Without the hooks everything runs: so what does not run below was stopped by them.
#[test]
fn without_the_hooks_everything_runs() {
    let Some(claude) = client("without_the_hooks_everything_runs", CLAUDE) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    desk.claude(&claude, &model, &json!([bash("touch allowed"), bash("eval \"touch denied\"")]), &[]);
    assert!(desk.has("work/allowed") && desk.has("work/denied"));
}

#[test]
fn denied_does_not_run_allowed_does_and_approved_runs_once() {
    let Some(claude) = client("denied_does_not_run_allowed_does_and_approved_runs_once", CLAUDE) else {
        return;
    };
    let desk = governed();
    desk.enrol();
    let person = desk.clone();
    let model = Model::start(move |_| person.approve_all());
    let outside = bash(&format!("echo run >> {}", desk.path("outside/runs").display()));
    let mut granted = outside.clone();
    granted["first"] = json!("grant");
    let steps = json!([bash("touch allowed"), bash("eval \"touch denied\""), outside, granted, outside]);
    desk.claude(&claude, &model, &steps, &[]);
    assert!(desk.has("work/allowed"));
    assert!(!desk.has("work/denied"));
    assert_eq!(desk.read("outside/runs").as_deref(), Some("run\n"));
    let heard = model.heard();
    assert!(heard.contains("UNKNOWN_SHELL_DENIED") && heard.contains("URM_APPROVAL_REQUIRED"), "{heard}");
    let events = desk.countersign(&["events", "tail"]);
    assert_eq!(events.stdout().matches("\"EXECUTION_FINISHED\"").count(), 2, "{}", events.stdout());
}

#[test]
fn sub_agents_are_governed_too() {
    let Some(claude) = client("sub_agents_are_governed_too", CLAUDE) else { return };
    let (desk, model) = (governed(), Model::start(|_| ()));
    let inner = json!([bash("touch allowed"), bash("eval \"touch denied\"")]);
    let spawn = json!({"tool": "Agent", "input": {"description": "part", "prompt": format!("STEPS:{inner}"),
        "subagent_type": "general-purpose", "run_in_background": false}});
    desk.claude(&claude, &model, &json!([spawn, bash("sleep 2")]), &[]);
    assert!(desk.has("work/allowed"));
    assert!(!desk.has("work/denied"));
}

#[test]
fn file_edits_are_governed() {
    let Some(claude) = client("file_edits_are_governed", CLAUDE) else { return };
    let (desk, model) = (governed(), Model::start(|_| ()));
    let write =
        |name: &str| json!({"tool": "Write", "input": {"file_path": desk.path(name), "content": "text"}});
    let settings = desk.read("work/.claude/settings.local.json").unwrap();
    let spoil = json!({"tool": "Write", "input": {"file_path": desk.path("work/.claude/settings.local.json"), "content": "{}"}});
    desk.claude(&claude, &model, &json!([write("work/allowed"), write("outside/denied"), spoil]), &[]);
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"));
    assert!(!desk.has("outside/denied"));
    assert_eq!(desk.read("work/.claude/settings.local.json").unwrap(), settings);
}

#[test]
fn mcp_tools_are_governed() {
    let Some(claude) = client("mcp_tools_are_governed", CLAUDE) else { return };
    let Some(server) = client("mcp_tools_are_governed", FILESYSTEM_SERVER) else { return };
    let desk = governed();
    let config = json!({"mcpServers": {"fs": {"command": "node", "args": [server, desk.path("work")]}}});
    desk.write("home/mcp.json", &config.to_string());
    let mcp = desk.path("home/mcp.json");
    let write = |name: &str| json!({"tool": "mcp__fs__write_file", "input": {"path": desk.path(name), "content": "text"}});
    let more = ["--mcp-config", mcp.to_str().unwrap(), "--strict-mcp-config"];
    let model = Model::start(|_| ());
    desk.claude(&claude, &model, &json!([write("work/allowed")]), &more);
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"));
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    let model = Model::start(|_| ());
    desk.claude(&claude, &model, &json!([write("work/denied")]), &more);
    assert!(!desk.has("work/denied"));
    assert!(model.heard().contains("URM_MODE_DENIED"), "{}", model.heard());
}

/// Runs `touch marker` with a hook that something is wrong with; it must not run, and the model hears why.
fn broken(test: &str, code: &str, spoil: &dyn Fn(&Desk)) {
    let Some(claude) = client(test, CLAUDE) else { return };
    let (desk, model) = (governed(), Model::start(|_| ()));
    spoil(&desk);
    desk.claude(&claude, &model, &json!([bash("touch marker")]), &[]);
    assert!(!desk.has("work/marker"), "{test}");
    assert!(model.heard().contains(code), "{}", model.heard());
}

/// Puts another command in the place of the hook.
fn instead(desk: &Desk, command: &str) {
    let settings = desk.read("work/.claude/settings.local.json").unwrap();
    let ours = format!("{PROGRAM} hook claude-code");
    assert!(settings.contains(&ours), "{settings}");
    desk.write("work/.claude/settings.local.json", &settings.replace(&ours, command));
}

#[test]
fn a_hook_that_panics_is_a_no() {
    let panicking = std::path::Path::new(PROGRAM).parent().unwrap().join("examples/panicking_hook");
    broken("a_hook_that_panics_is_a_no", "planted defect", &|desk| {
        instead(desk, panicking.to_str().unwrap());
    });
}

#[test]
fn a_hook_without_a_decision_in_time_is_a_no() {
    broken("a_hook_without_a_decision_in_time_is_a_no", "HOOK_DEADLINE", &|desk| {
        instead(desk, &format!("sleep 3 | {PROGRAM} hook claude-code"));
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
        instead(desk, &format!("echo garbage | {PROGRAM} hook claude-code"));
    });
}

#[test]
fn a_missing_program_is_a_no() {
    broken("a_missing_program_is_a_no", "", &|desk| instead(desk, "/no/such/program"));
}

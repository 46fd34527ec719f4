//! `countersign probe codex`, on the frozen version and a current one, and with each method hidden from it in turn.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value, json};

use super::desk::{CODEX, CODEX_0_99, Desk, PROGRAM, client};

fn probe(desk: &Desk, bin: &Path) -> Value {
    let ran = desk.run(
        Path::new(PROGRAM),
        &["probe", "codex", "--format", "json", "--bin", bin.to_str().unwrap()],
        &[],
    );
    serde_json::from_str(ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.screen()))
}

fn governed() -> Desk {
    let desk = Desk::new();
    desk.countersign(&["init"]);
    desk
}

/// What the hook of Codex says to a call that steers an agent.
fn steer(desk: &Desk, name: &str) -> String {
    let call = json!({"session_id": "s", "cwd": desk.path("work"), "hook_event_name": "PreToolUse", "tool_name": "send_input",
        "tool_input": {"message": "go on"}, "tool_use_id": name});
    desk.write("home/call.json", &call.to_string());
    let command = format!("{PROGRAM} hook codex < {}", desk.path("home/call.json").display());
    let ran = desk.run(Path::new("/bin/sh"), &["-c", &command], &[]);
    format!("{} {}", ran.exit.unwrap(), ran.stderr().lines().next().unwrap_or_default())
}

#[test]
fn the_frozen_version_is_what_its_own_schemas_say() {
    let Some(codex) = client("the_frozen_version_is_what_its_own_schemas_say", CODEX_0_99) else { return };
    let desk = governed();
    assert!(steer(&desk, "before").contains("URM_CAPABILITY_MISSING"), "{}", steer(&desk, "before"));
    let found = probe(&desk, &codex);
    assert_eq!(found["version"], "codex-cli 0.99.0");
    assert_eq!(found["methods"].as_array().unwrap().len(), 63, "{found}");
    assert_eq!(
        found["experimental_methods"],
        json!(["collaborationMode/list", "mock/experimentalMethod", "thread/backgroundTerminals/clean"])
    );
    let told: BTreeSet<&str> =
        found["notifications"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(told.len() == 32 && told.contains("app/list/updated"), "{told:?}");
    assert_eq!(found["server_requests"].as_array().unwrap().len(), 7);
    assert_eq!((&found["undocumented_methods"], &found["documented_but_refused"]), (&json!([]), &json!([])));
    assert_eq!(
        found["relied_on"],
        json!({"turn/steer": "present", "app/list": "present", "configRequirements/read": "present", "model/list": "present",
            "hooks/list": "absent", "collaborationMode/list": "gated", "mock/experimentalMethod": "gated"})
    );
    assert_eq!(steer(&desk, "after"), "0 ");
    let events = desk.countersign(&["events", "tail"]);
    let snapshots: Vec<&str> =
        events.stdout().lines().filter(|line| line.contains("CAPABILITIES_SNAPSHOT")).collect();
    assert!(snapshots.len() == 1 && snapshots[0].contains("0.99.0"), "{}", events.stdout());
}

#[test]
fn a_current_version_has_everything_that_is_relied_on() {
    let Some(codex) = client("a_current_version_has_everything_that_is_relied_on", CODEX) else { return };
    let desk = governed();
    let found = probe(&desk, &codex);
    for method in ["turn/steer", "app/list", "configRequirements/read", "model/list", "hooks/list"] {
        assert_eq!(found["relied_on"][method], "present", "{found}");
    }
    assert_eq!(found["documented_but_refused"], json!([]));
    let facts: BTreeSet<&str> =
        found["facts"].as_array().unwrap().iter().map(|fact| fact.as_str().unwrap()).collect();
    for fact in [
        "method:app/list",
        "notification:app/list/updated",
        "method:turn/steer",
        "tool:spawn_agent",
        "exec:json",
        "exec:output-schema",
        "exec:sandbox",
    ] {
        assert!(facts.contains(fact), "{fact}: {facts:?}");
    }
}

/// A program before Codex that renames one method on the way in and out: to the prober it is one that nobody has.
#[test]
fn a_hidden_method_is_absent_and_its_action_is_denied() {
    let Some(codex) = client("a_hidden_method_is_absent_and_its_action_is_denied", CODEX_0_99) else {
        return;
    };
    for method in ["turn/steer", "app/list", "configRequirements/read", "model/list"] {
        let desk = governed();
        let codex = codex.display();
        let shim = format!(
            "#!/bin/bash\nif [ \"$1\" = app-server ] && [ $# = 1 ]; then\n  sed -u 's#\"{method}\"#\"hidden/method\"#' | {codex} app-server \
             | sed -u 's#{method}#other/method#g; s#hidden/method#{method}#g'\nelse\n  exec {codex} \"$@\"\nfi\n"
        );
        desk.write_program("home/codex-shim", &shim);
        let found = probe(&desk, &desk.path("home/codex-shim"));
        assert_eq!(found["relied_on"][method], "absent", "{found}");
        let absent = found["relied_on"]
            .as_object()
            .unwrap()
            .values()
            .filter(|presence| **presence == "absent")
            .count();
        assert_eq!(absent, 2, "only {method}, and hooks/list, which it never had: {found}");
        if method == "turn/steer" {
            assert!(steer(&desk, "hidden").contains("URM_CAPABILITY_MISSING"), "{}", steer(&desk, "hidden"));
        }
    }
}

#[test]
fn without_the_program_there_are_workers_only_and_nothing_counts() {
    let desk = governed();
    let found = probe(&desk, Path::new("/no/such/codex"));
    assert_eq!((&found["mode"], &found["facts"]), (&json!("worker_only"), &json!([])));
    assert!(steer(&desk, "none").contains("URM_CAPABILITY_MISSING"), "{}", steer(&desk, "none"));
}

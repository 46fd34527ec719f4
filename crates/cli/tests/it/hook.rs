//! `countersign init` and `countersign hook`: what hosts tell, and the only two answers they get.

use crate::{
    server::Service,
    support::{Ran, Sandbox, is_soak, shipped_text},
};

/// A call of Bash, as each of the three hosts tells it.
fn call(host: &str, sandbox: &Sandbox, id: &str, command: &str) -> String {
    let event = if host == "gemini" { "BeforeTool" } else { "PreToolUse" };
    let tool = if host == "gemini" { "run_shell_command" } else { "Bash" };
    event_of(sandbox, event, tool, id, &serde_json::json!({ "command": command }))
}

fn event_of(sandbox: &Sandbox, event: &str, tool: &str, id: &str, input: &serde_json::Value) -> String {
    let cwd = sandbox.path();
    serde_json::json!({
        "session_id": "one", "cwd": cwd, "hook_event_name": event, "tool_name": tool, "tool_input": input,
        "tool_use_id": id,
    })
    .to_string()
}

fn hook(sandbox: &Sandbox, host: &str, input: &str) -> Ran {
    let ran = sandbox.run_with_input(&["hook", host], input.as_bytes());
    assert!(ran.stdout().is_empty(), "hosts read standard output: {}", ran.screen());
    assert_eq!(ran.exit == Some(0), ran.stderr().is_empty(), "{}", ran.screen());
    ran
}

fn governed() -> Sandbox {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(&["init"]).exit, Some(0));
    sandbox
}

/// The first word of the reason: the code.
fn code(ran: &Ran) -> String {
    assert_eq!(ran.exit, Some(2), "{}", ran.screen());
    let line = ran.stderr().lines().next().unwrap();
    let said = line.strip_prefix("countersign denied this call: ").unwrap();
    said.split(' ').next().unwrap().to_owned()
}

/// Registers an approver's key.
fn enrol(sandbox: &Sandbox) {
    let key = sandbox.run(&["keys", "generate", "--name", "ann", "--out", "ann.key"]);
    assert_eq!(sandbox.run(&["keys", "add", key.stdout().trim()]).exit, Some(0));
}

/// The command after `a person runs: countersign`, run with this person's key.
fn approve(sandbox: &Sandbox, denied: &Ran) {
    let line =
        denied.stderr().lines().find_map(|line| line.trim().strip_prefix("a person runs: countersign "));
    let mut arguments: Vec<&str> = line.unwrap().split(' ').collect();
    arguments.extend(["--key", "ann.key"]);
    assert_eq!(sandbox.run(&arguments).exit, Some(0));
}

#[test]
fn an_allowed_call_is_silence_and_a_denied_one_says_why() {
    let sandbox = governed();
    for host in ["claude-code", "codex", "gemini"] {
        assert_eq!(hook(&sandbox, host, &call(host, &sandbox, "a", "touch made")).exit, Some(0), "{host}");
        let denied = hook(&sandbox, host, &call(host, &sandbox, "b", "eval \"touch made\""));
        assert_eq!(code(&denied), "UNKNOWN_SHELL_DENIED", "{host}");
        assert!(denied.stderr().contains("by rule deny.unknown_shell"), "{}", denied.screen());
    }
}

#[test]
fn the_same_act_has_the_same_action_hash_from_every_host() {
    let sandbox = governed();
    let hashes = ["claude-code", "codex", "gemini"].map(|host| {
        let denied = hook(&sandbox, host, &call(host, &sandbox, "a", "git push origin main"));
        let line = denied.stderr().lines().find(|line| line.contains("about action")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().to_owned()
    });
    assert!(hashes.iter().all(|hash| hash.len() == 64 && *hash == hashes[0]), "{hashes:?}");
}

/// A host that gives its calls no name cannot say later how they went: they are over with their permit, not in doubt.
#[test]
fn a_call_without_a_name_is_not_waited_for() {
    let sandbox = governed();
    let nameless = |host: &str| {
        let mut event: serde_json::Value = serde_json::from_str(&call(host, &sandbox, "a", "ls")).unwrap();
        event.as_object_mut().unwrap().remove("tool_use_id");
        event.to_string()
    };
    for input in [call("claude-code", &sandbox, "a", "ls"), nameless("claude-code")] {
        assert_eq!(hook(&sandbox, "claude-code", &input).exit, Some(0));
    }
    assert_eq!(hook(&sandbox, "gemini", &nameless("gemini")).exit, Some(0));
    assert_eq!(sandbox.waits_s(".countersign/state.db"), [900, 30, 30]);
}

#[test]
fn what_needs_approval_passes_once_after_a_person_has_granted_it() {
    let sandbox = governed();
    enrol(&sandbox);
    let push = |id: &str| hook(&sandbox, "codex", &call("codex", &sandbox, id, "git push origin main"));
    let denied = push("a");
    assert_eq!(code(&denied), "URM_APPROVAL_REQUIRED");
    assert_eq!(code(&push("b")), "URM_APPROVAL_REQUIRED");
    approve(&sandbox, &denied);
    let other = hook(&sandbox, "codex", &call("codex", &sandbox, "c", "git push origin next"));
    assert_eq!(code(&other), "URM_APPROVAL_REQUIRED");
    assert_eq!(push("d").exit, Some(0));
    assert_eq!(code(&push("e")), "URM_APPROVAL_REQUIRED");
}

#[test]
fn a_call_that_comes_twice_under_one_name_begins_once() {
    let sandbox = governed();
    let again = call("codex", &sandbox, "a", "touch made");
    assert_eq!(hook(&sandbox, "codex", &again).exit, Some(0));
    assert_eq!(code(&hook(&sandbox, "codex", &again)), "URM_EXISTS");
}

#[test]
fn the_outcome_is_reported_by_the_call_s_own_name() {
    let sandbox = governed();
    let input = serde_json::json!({ "command": "touch made" });
    for (id, event, state) in [("a", "PostToolUse", "succeeded"), ("b", "PostToolUseFailure", "failed")] {
        for event in ["PreToolUse", event, event] {
            let told = event_of(&sandbox, event, "Bash", id, &input);
            assert_eq!(hook(&sandbox, "claude-code", &told).exit, Some(0));
        }
        let events = sandbox.run(&["events", "tail"]);
        let finished = events.stdout().lines().rfind(|line| line.contains("EXECUTION_FINISHED")).unwrap();
        assert!(finished.contains(&format!("\"state\":\"{state}\"")), "{finished}");
    }
    assert_eq!(sandbox.run(&["events", "replay"]).exit, Some(0));
}

#[test]
fn texts_behind_the_hashes_of_a_payload_are_kept_for_the_reviewer() {
    let sandbox = governed();
    let input = serde_json::json!({ "file_path": "/srv/elsewhere.txt", "content": "what is written" });
    let told = event_of(&sandbox, "PreToolUse", "Write", "a", &input);
    assert_eq!(code(&hook(&sandbox, "claude-code", &told)), "URM_APPROVAL_REQUIRED");
    let pending = sandbox.run(&["pending", "--format", "json"]);
    let pending: serde_json::Value = serde_json::from_str(pending.stdout()).unwrap();
    let hash = &pending[0]["action"]["action_payload"]["changes"][0]["content"]["sha256"];
    let kept = sandbox.read(&format!(".countersign/evidence/{}", hash.as_str().unwrap()));
    assert_eq!(kept.as_deref(), Some("what is written"));
}

/// Everything that can be wrong around a hook is a no, with its code, and never exit 1.
/// Each hook leaves its part of the write-ahead log behind. Now and then one puts it away, and the next ones write over it.
#[test]
fn the_write_ahead_log_of_many_calls_stays_short() {
    let sandbox = governed();
    let mut lengths = Vec::new();
    for id in 0..40 {
        let input = call("claude-code", &sandbox, &format!("call_{id}"), "ls");
        assert_eq!(hook(&sandbox, "claude-code", &input).exit, Some(0));
        lengths.push(sandbox.bytes_of(".countersign/state.db-wal"));
    }
    assert!(lengths.is_sorted(), "it is written over, not cut off: {lengths:?}");
    assert!(lengths[39] < 60 * 8216 && lengths[20] == lengths[39], "{lengths:?}");
    assert_eq!(sandbox.run(&["log", "verify"]).exit, Some(0));
    assert_eq!(sandbox.waits_s(".countersign/state.db").len(), 40);
}

/// Whoever writes a repository must not govern the agents of those who clone it.
#[test]
fn a_folder_that_came_with_a_repository_governs_nobody() {
    let sandbox = Sandbox::new();
    let table = shipped_text("policy/actions.v1.yml").replace("act: shell,", "act: note,");
    sandbox.write(".countersign/policy/actions.v1.yml", table);
    for (id, line) in [("call_1", "rm -rf ~"), ("call_2", "ls")] {
        let ran = hook(&sandbox, "claude-code", &call("claude-code", &sandbox, id, line));
        assert_eq!(code(&ran), "HOOK_STORE_MISSING", "{}", ran.screen());
    }
}

#[test]
fn a_killed_hook_takes_nothing_back_that_was_allowed() {
    let sandbox = governed();
    let input = |round: u32| call("claude-code", &sandbox, &format!("call_{round}"), "ls");
    let whole = sandbox.time(&["hook", "claude-code"], input(u32::MAX).as_bytes());
    // From before it has begun until well after it is over.
    let is_allowed = |round: &u32| {
        let after = whole * (round * 37 % 200) / 100;
        sandbox.run_and_kill(&["hook", "claude-code"], input(*round).as_bytes(), after) == Some(0)
    };
    let rounds = if is_soak() { 2000 } else { 100 };
    let allowed: Vec<u32> = (0..rounds).filter(is_allowed).collect();
    let is_any = |is_wanted: bool| (0..rounds).any(|round| allowed.contains(&round) == is_wanted);
    assert!(is_any(true) && is_any(false), "all or none were killed in time: {allowed:?}");
    assert_eq!(sandbox.run(&["log", "verify"]).exit, Some(0));
    for round in allowed {
        assert_eq!(code(&hook(&sandbox, "claude-code", &input(round))), "URM_EXISTS", "call {round} is lost");
    }
}

/// What stands at the end of the write-ahead log is gone once its head is destroyed, and SQLite opens what is left without
/// a word. The copy of the checkpoint knows better, and nothing is written over it.
#[test]
fn decisions_that_were_taken_back_are_missed() {
    let sandbox = governed();
    let input = |id: &str| call("claude-code", &sandbox, id, "ls");
    for id in ["a", "b"] {
        assert_eq!(hook(&sandbox, "claude-code", &input(id)).exit, Some(0));
    }
    assert_eq!(sandbox.run(&["log", "verify"]).exit, Some(0));
    assert_eq!(hook(&sandbox, "claude-code", &input("c")).exit, Some(0));
    sandbox.write(".countersign/state.db-wal", "junk");
    for id in ["d", "e"] {
        assert_eq!(code(&hook(&sandbox, "claude-code", &input(id))), "STORE_ROLLED_BACK");
    }
    assert_eq!(sandbox.run(&["log", "verify"]).exit, Some(1), "it still knows");
    let doctor = sandbox.run(&["doctor"]);
    assert!(doctor.stdout().contains("WRONG the log: LOG_ROLLED_BACK"), "{}", doctor.screen());
}

#[test]
fn doubt_is_a_no() {
    let ordinary = |sandbox: &Sandbox| call("codex", sandbox, "a", "ls");
    let check = |expected: &str, spoil: &dyn Fn(&Sandbox) -> String| {
        let sandbox = governed();
        let input = spoil(&sandbox);
        assert_eq!(code(&hook(&sandbox, "codex", &input)), expected);
    };
    check("HOOK_INPUT", &|_| String::new());
    check("HOOK_INPUT", &|_| "garbage".to_owned());
    check("HOOK_INPUT", &|_| "{\"tool_name\": \"Bash\"".to_owned());
    check("HOOK_INPUT", &|sandbox| ordinary(sandbox).replace("PreToolUse", "SomethingElse"));
    check("HOOK_INPUT", &|sandbox| ordinary(sandbox).replace("session_id", "id"));
    check("HOOK_INPUT", &|_| {
        r#"{"session_id": "s", "cwd": "relative", "hook_event_name": "PreToolUse"}"#.to_owned()
    });
    check("ACTION_CALL_INVALID", &|sandbox| ordinary(sandbox).replace("\"command\"", "\"comand\""));
    check("CLI_CONFIG_INVALID", &|sandbox| {
        sandbox.write(".countersign/config.yml", "mode: everything\n");
        ordinary(sandbox)
    });
    check("URM_POLICY_INVALID_SCHEMA", &|sandbox| {
        sandbox.write(".countersign/policy/odeu.instructions.v1.json", "{\"rules\": [");
        ordinary(sandbox)
    });
    check("HOOK_POLICY_CHANGED", &|sandbox| {
        let policy = include_str!("../../../../policy/strict/odeu.instructions.v1.json");
        sandbox.write(".countersign/policy/odeu.instructions.v1.json", policy);
        ordinary(sandbox)
    });
    check("ACTION_TABLE_INVALID", &|sandbox| {
        sandbox.write(".countersign/policy/actions.v1.yml", "schema: other\n");
        ordinary(sandbox)
    });
    check("HOOK_STORE_MISSING", &|sandbox| {
        sandbox.remove(".countersign/state.db");
        ordinary(sandbox)
    });
    check("STORE_CORRUPT", &|sandbox| {
        sandbox.write(".countersign/state.db", "this is not a database, it is a text of some length");
        ordinary(sandbox)
    });
    check("STORE_OPEN_TO_OTHERS", &|sandbox| {
        sandbox.allow_others(".countersign/state.db");
        ordinary(sandbox)
    });
}

#[test]
fn a_wrong_command_line_of_the_hook_is_a_no() {
    let sandbox = governed();
    for arguments in [&["hook"][..], &["hook", "unknown"], &["hook", "codex", "--no-such-option"]] {
        assert_eq!(sandbox.run(arguments).exit, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_store_that_somebody_holds_is_a_no_within_the_deadline() {
    let sandbox = governed();
    let _held = sandbox.hold_store(".countersign/state.db");
    let denied = hook(&sandbox, "codex", &call("codex", &sandbox, "a", "ls"));
    assert_eq!(code(&denied), "HOOK_DEADLINE");
}

#[test]
fn without_a_workspace_the_built_in_policy_applies_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    assert_eq!(hook(&sandbox, "codex", &call("codex", &sandbox, "a", "ls")).exit, Some(0));
    let denied = hook(&sandbox, "codex", &call("codex", &sandbox, "b", "touch made"));
    assert_eq!(code(&denied), "URM_MODE_DENIED");
    assert!(sandbox.read(".user/countersign/state/log.key").is_some());
}

#[test]
fn init_writes_what_is_missing_and_leaves_the_rest() {
    let sandbox = governed();
    sandbox.write(".countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    sandbox.remove(".countersign/policy/actions.v1.yml");
    let again = sandbox.run(&["init"]);
    assert_eq!((again.exit, again.stderr().matches("wrote").count()), (Some(0), 1), "{}", again.screen());
    let config = sandbox.read(".countersign/config.yml").unwrap();
    assert!(config.contains("read_only"), "{config}");
    let denied = hook(&sandbox, "codex", &call("codex", &sandbox, "a", "touch made"));
    assert_eq!(code(&denied), "URM_MODE_DENIED");
}

#[test]
fn a_policy_that_a_person_has_put_in_force_counts() {
    let sandbox = governed();
    for name in ["odeu.instructions.v1.json", "urm.capability.lattice.v1.json", "urm.allow.v1.json"] {
        let text = crate::support::shipped_text(&format!("policy/strict/{name}"));
        sandbox.write(&format!(".countersign/policy/{name}"), text);
    }
    assert_eq!(sandbox.run(&["policy", "activate"]).exit, Some(0));
    assert_eq!(hook(&sandbox, "codex", &call("codex", &sandbox, "a", "ls")).exit, Some(0));
}

#[test]
fn with_a_service_on_its_folder_the_hook_asks_the_service() {
    let sandbox = governed();
    enrol(&sandbox);
    let service = Service::start_in(sandbox, &[]);
    let sandbox = &service.sandbox;
    let run = |id: &str, line: &str| hook(sandbox, "codex", &call("codex", sandbox, id, line));
    assert_eq!(run("a", "touch made").exit, Some(0));
    assert_eq!(code(&run("a", "touch made")), "URM_EXISTS");
    let denied = run("b", "eval \"touch made\"");
    assert_eq!(code(&denied), "UNKNOWN_SHELL_DENIED");
    assert!(denied.stderr().contains("by rule deny.unknown_shell"), "{}", denied.screen());
    let denied = run("c", "git push origin main");
    assert_eq!(code(&denied), "URM_APPROVAL_REQUIRED");
    approve(sandbox, &denied);
    assert_eq!(run("d", "git push origin main").exit, Some(0));
    assert_eq!(code(&run("e", "git push origin main")), "URM_APPROVAL_REQUIRED");
    let after =
        event_of(sandbox, "PostToolUse", "Bash", "a", &serde_json::json!({ "command": "touch made" }));
    assert_eq!(hook(sandbox, "codex", &after).exit, Some(0));
    let events = sandbox.run(&["events", "tail"]);
    let decisions: Vec<&str> =
        events.stdout().lines().filter(|line| line.contains("\"POLICY_EVAL_PASS\"")).collect();
    assert_eq!(decisions.len(), 2);
    assert!(decisions.iter().all(|line| line.contains("\"component\":\"socket\"")), "{decisions:?}");
    assert!(events.stdout().contains("EXECUTION_FINISHED"), "{}", events.stdout());
    // What a person has not put in force counts for a service no more than for the store.
    let policy = crate::support::shipped_text("policy/strict/odeu.instructions.v1.json");
    sandbox.write(".countersign/policy/odeu.instructions.v1.json", policy);
    assert_eq!(code(&run("f", "ls")), "HOOK_POLICY_CHANGED");
    sandbox.write(".countersign/policy/odeu.instructions.v1.json", "{}");
    assert_eq!(code(&run("g", "ls")), "URM_POLICY_INVALID_SCHEMA");
}

#[test]
fn a_service_starts_no_session_that_may_do_more_than_its_workspace_allows() {
    let sandbox = governed();
    sandbox.write(".countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    let service = Service::start_in(sandbox, &[]);
    let sandbox = &service.sandbox;
    sandbox.write(".countersign/config.yml", "schema: countersign.config.v1\nmode: writes_allowed\n");
    let denied = hook(sandbox, "codex", &call("codex", sandbox, "a", "touch made"));
    assert_eq!(code(&denied), "URM_MODE_DENIED");
}

#[test]
fn a_service_that_does_not_answer_is_a_no_and_one_that_is_gone_is_none() {
    let sandbox = governed();
    let mute = sandbox.mute_service(".countersign/service.sock");
    let ordinary = |id: &str| hook(&sandbox, "codex", &call("codex", &sandbox, id, "ls"));
    assert_eq!(code(&ordinary("a")), "HOOK_DEADLINE");
    drop(mute);
    assert_eq!(ordinary("b").exit, Some(0));
}

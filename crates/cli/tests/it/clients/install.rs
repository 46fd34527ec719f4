//! `countersign install`, `doctor` and `uninstall`, with the real Codex where Codex is asked.

use std::path::Path;

use serde_json::json;

use super::{
    desk::{CLAUDE, CODEX, Desk, PROGRAM, client},
    model::Model,
};

const SETTINGS: &str = "work/.claude/settings.local.json";

fn doctor(desk: &Desk, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = desk.run(Path::new(PROGRAM), &[&["doctor"], arguments].concat(), &[]);
    (ran.exit, ran.stdout().to_owned())
}

/// Every sort of call is proved to be decided first, through the real host, and the canaries did nothing.
fn proved(desk: &Desk, arguments: &[&str]) -> String {
    let (exit, said) = doctor(desk, arguments);
    assert_eq!(exit, Some(0), "{said}");
    for surface in ["commands", "file edits", "sub-agents", "MCP tools"] {
        assert!(said.contains(&format!("ok    {surface}: proved")), "{surface}: {said}");
    }
    assert!(said.contains(": protected"), "{said}");
    said
}

fn check_unprotected(desk: &Desk, arguments: &[&str], reason: &str) {
    let (exit, said) = doctor(desk, arguments);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains(": not protected") && said.contains(reason), "{reason}: {said}");
}

#[test]
fn claude_code_is_installed_once_and_uninstalled_to_the_byte() {
    let desk = Desk::new();
    let before = "{\n    \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []} }\n\n";
    desk.write(SETTINGS, before);
    let dry = desk.countersign(&["install", "claude-code", "--dry-run"]);
    assert!(dry.stdout().contains("+") && dry.stdout().contains("onFailure"), "{}", dry.screen());
    assert_eq!(desk.read(SETTINGS).as_deref(), Some(before));
    let first = desk.countersign(&["install", "claude-code"]);
    assert_eq!(first.stdout(), dry.stdout());
    let after = desk.read(SETTINGS);
    let again = desk.countersign(&["install", "claude-code"]);
    assert!(again.stdout().is_empty() && again.stderr().contains("already"), "{}", again.screen());
    assert_eq!(desk.read(SETTINGS), after);
    // Without the host's program nothing can be proved, and nothing is said to be.
    let (exit, said) = doctor(&desk, &["claude-code", "--bin", "/no/such/claude"]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("claude-code: configured, not proved"), "{said}");
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.read(SETTINGS).as_deref(), Some(before));
}

#[test]
fn doctor_proves_claude_code_through_claude_code_itself() {
    let Some(claude) = client("doctor_proves_claude_code_through_claude_code_itself", CLAUDE) else { return };
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    let said = proved(&desk, &["claude-code", "--bin", claude.to_str().unwrap()]);
    assert!(said.contains("note  any program that runs as this user can edit `"), "{said}");
    // A host that runs no hooks makes the calls, and that is seen: nothing that is written down says so.
    let bare = format!("#!/bin/sh\nexec {} --bare \"$@\"\n", claude.display());
    desk.write_program("home/bare", &bare);
    let bin = desk.path("home/bare");
    let (exit, said) = doctor(&desk, &["claude-code", "--bin", bin.to_str().unwrap()]);
    assert_eq!(exit, Some(1), "{said}");
    assert!(said.contains("WRONG commands: unprotected") && said.contains(": not protected"), "{said}");
}

#[test]
fn doctor_says_what_leaves_claude_code_unprotected() {
    let check = |reason: &str, spoil: &dyn Fn(&Desk)| {
        let desk = Desk::new();
        desk.countersign(&["install", "claude-code"]);
        spoil(&desk);
        check_unprotected(&desk, &["claude-code"], reason);
    };
    check("the hooks: none", &|desk| desk.remove(SETTINGS));
    for place in ["work/.claude/settings.json", "home/claude/settings.json"] {
        check("settings with disableAllHooks: `", &|desk| desk.write(place, "{\"disableAllHooks\": true}"));
    }
    check("is not there", &|desk| {
        let settings = desk.read(SETTINGS).unwrap().replace(PROGRAM, "/no/such/countersign");
        desk.write(SETTINGS, &settings);
    });
    check("not as installed", &|desk| {
        let settings = desk.read(SETTINGS).unwrap().replace("\"block\"", "\"ignore\"");
        desk.write(SETTINGS, &settings);
    });
    check("URM_POLICY_INVALID_SCHEMA", &|desk| {
        desk.write("work/.countersign/policy/odeu.instructions.v1.json", "{}");
    });
    check("others can write: `", &|desk| desk.allow_others("work/.countersign/policy/urm.allow.v1.json"));
    check("HOOK_STORE_MISSING", &|desk| desk.remove("work/.countersign/state.db"));
}

#[test]
fn codex_is_installed_trusted_watched_and_uninstalled_to_the_byte() {
    let Some(codex) = client("codex_is_installed_trusted_watched_and_uninstalled_to_the_byte", CODEX) else {
        return;
    };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    desk.configure_codex(&model, "");
    let bin = codex.to_str().unwrap();
    let before = desk.read("home/codex/config.toml");
    desk.countersign(&["install", "codex", "--bin", bin]);
    let again = desk.countersign(&["install", "codex", "--bin", bin]);
    assert!(again.stderr().contains("already"), "{}", again.screen());
    proved(&desk, &["codex", "--bin", bin]);
    // An edited hook is one that Codex passes over.
    let hooks = desk.read("home/codex/hooks.json").unwrap();
    desk.write("home/codex/hooks.json", &hooks.replace("\"timeout\": 10", "\"timeout\": 11"));
    check_unprotected(&desk, &["codex", "--bin", bin], "modified");
    // So is one that it was never told to trust.
    desk.write("home/codex/hooks.json", &hooks);
    let trusted = desk.read("home/codex/config.toml").unwrap();
    desk.write("home/codex/config.toml", before.as_deref().unwrap());
    check_unprotected(&desk, &["codex", "--bin", bin], "untrusted");
    check_unprotected(&desk, &["codex", "--bin", "/no/such/codex"], "CLI_START_FAILED");
    // What Codex has written since stays; ours goes.
    let project = "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n";
    desk.write("home/codex/config.toml", &format!("{trusted}{project}"));
    desk.countersign(&["uninstall", "codex"]);
    let rest = format!("{}{project}", before.as_deref().unwrap());
    assert_eq!(desk.read("home/codex/config.toml").as_deref(), Some(rest.as_str()));
    assert!(!desk.has("home/codex/hooks.json"));
    desk.write("home/codex/config.toml", before.as_deref().unwrap());
    desk.countersign(&["install", "codex", "--bin", bin]);
    desk.countersign(&["uninstall", "codex"]);
    assert_eq!(desk.read("home/codex/config.toml"), before);
    assert!(!desk.has("home/codex/hooks.json"));
}

/// For the whole machine: no user's settings switch the hooks off, and the file gets back the bytes that it had.
#[test]
fn codex_is_installed_for_the_whole_machine() {
    const TEST: &str = "codex_is_installed_for_the_whole_machine";
    const PLACE: &str = "etc/codex/requirements.toml";
    let Some(codex) = client(TEST, CODEX) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    desk.configure_codex(&model, "hooks = false\n");
    let before =
        "# ours\nallowed_approval_policies = [\"never\", \"on-request\"]\n\n[features]\nunified_exec = true";
    desk.write(PLACE, before);
    let Some(codex) = desk.managed(TEST, &codex) else { return };
    let bin = codex.to_str().unwrap();
    let dry = desk.countersign(&["install", "codex", "--managed", "--dry-run"]);
    assert!(dry.stdout().contains("+[[hooks.PreToolUse]]"), "{}", dry.screen());
    assert_eq!(desk.read(PLACE).as_deref(), Some(before));
    let first = desk.countersign(&["install", "codex", "--managed", "--bin", bin]);
    assert_eq!(first.stdout(), dry.stdout());
    let again = desk.countersign(&["install", "codex", "--managed", "--bin", bin]);
    assert!(again.stdout().is_empty() && again.stderr().contains("already"), "{}", again.screen());
    let exec = |command: &str| json!({"tool": "exec_command", "input": {"cmd": command}});
    desk.codex(&codex, &model, &json!([exec("touch allowed"), exec("eval \"touch denied\"")]), &[]);
    assert!(desk.has("work/allowed") && !desk.has("work/denied"), "{}", model.heard());
    proved(&desk, &["codex", "--bin", bin]);
    desk.countersign(&["uninstall", "codex"]);
    assert_eq!(desk.read(PLACE).as_deref(), Some(before));
    // What Codex does not understand is not left there.
    let unreadable = "allowed_approval_policies = [\n";
    desk.write(PLACE, unreadable);
    let ran = desk.run(Path::new(PROGRAM), &["install", "codex", "--managed", "--bin", bin], &[]);
    assert_eq!((ran.exit, desk.read(PLACE).as_deref()), (Some(2), Some(unreadable)), "{}", ran.screen());
}

#[test]
fn claude_code_is_installed_for_the_whole_machine() {
    const TEST: &str = "claude_code_is_installed_for_the_whole_machine";
    const PLACE: &str = "etc/claude-code/managed-settings.json";
    let Some(claude) = client(TEST, CLAUDE) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    let before = "{ \"cleanupPeriodDays\": 20 }\n";
    desk.write(PLACE, before);
    desk.write("work/.claude/settings.local.json", "{\"disableAllHooks\": true}");
    desk.write("home/claude/settings.json", "{\"disableAllHooks\": true}");
    let Some(claude) = desk.managed(TEST, &claude) else { return };
    let dry = desk.countersign(&["install", "claude-code", "--managed", "--dry-run"]);
    assert!(dry.stdout().contains("onFailure"), "{}", dry.screen());
    assert_eq!(desk.read(PLACE).as_deref(), Some(before));
    desk.countersign(&["install", "claude-code", "--managed"]);
    let again = desk.countersign(&["install", "claude-code", "--managed"]);
    assert!(again.stdout().is_empty() && again.stderr().contains("already"), "{}", again.screen());
    let bash = |command: &str| json!({"tool": "Bash", "input": {"command": command}});
    desk.claude(&claude, &model, &json!([bash("touch allowed"), bash("eval \"touch denied\"")]), &[]);
    assert!(desk.has("work/allowed") && !desk.has("work/denied"), "{}", model.heard());
    let said = proved(&desk, &["claude-code", "--bin", claude.to_str().unwrap()]);
    assert!(!said.contains("any program that runs as this user can edit"), "{said}");
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.read(PLACE).as_deref(), Some(before));
}

//! What `countersign install` does to the files of a host, and what `uninstall` leaves of it.

use std::path::Path;

use serde_json::{Value, json};

use super::desk::{Desk, PROGRAM};
use crate::support::Ran;

const OWN: &str = "work/.claude/settings.local.json";
const MANAGED: &str = "etc/claude-code/managed-settings.json";

const NOTE: &str = "work/.countersign/installed/claude-code.json";

/// Runs the program; its exit code and what it said.
fn run(desk: &Desk, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = desk.run(Path::new(PROGRAM), arguments, &[]);
    (ran.exit, ran.screen())
}

/// Runs the program with this umask.
fn run_with_umask(desk: &Desk, umask: &str, arguments: &str) -> Ran {
    let line = format!("umask {umask}; exec {PROGRAM} {arguments}");
    let ran = desk.run(Path::new("/bin/sh"), &["-c", &line], &[]);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    ran
}

#[test]
fn settings_for_the_machine_can_be_read_by_everybody() {
    for umask in ["022", "077"] {
        let desk = Desk::new();
        run_with_umask(&desk, "022", "init");
        desk.write("etc/hosts", "");
        run_with_umask(&desk, umask, "install claude-code --managed");
        assert_eq!((desk.mode(MANAGED), desk.mode("etc/claude-code")), (0o644, 0o755), "{umask}");
    }
}

#[test]
fn settings_of_a_user_are_as_open_as_other_new_files() {
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let desk = Desk::new();
        run_with_umask(&desk, umask, "install claude-code");
        assert_eq!(desk.mode(OWN), mode, "{umask}");
    }
}

#[test]
fn settings_that_are_there_keep_their_mode_to_the_end() {
    for (place, managed) in [(OWN, ""), (MANAGED, " --managed")] {
        for mode in [0o644, 0o664, 0o604] {
            let desk = Desk::new();
            desk.write(place, "{}\n");
            desk.set_mode(place, mode);
            run_with_umask(&desk, "077", &format!("install claude-code{managed}"));
            assert_eq!(desk.mode(place), mode, "{place}");
            run_with_umask(&desk, "077", "uninstall claude-code");
            assert_eq!((desk.mode(place), desk.read(place).as_deref()), (mode, Some("{}\n")), "{place}");
        }
    }
}

/// A host may write its settings anew and close them; what was noted is the mode before.
#[test]
fn uninstall_gives_back_the_mode_that_a_host_has_changed() {
    let desk = Desk::new();
    desk.write(OWN, "{}\n");
    desk.set_mode(OWN, 0o644);
    desk.countersign(&["install", "claude-code"]);
    desk.set_mode(OWN, 0o600);
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.mode(OWN), 0o644);
}

#[test]
fn settings_for_the_machine_that_others_cannot_read_are_found() {
    let desk = Desk::new();
    desk.write(MANAGED, "{}\n");
    desk.set_mode(MANAGED, 0o600);
    let ran = desk.run(Path::new(PROGRAM), &["install", "claude-code", "--managed"], &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    let said = "has mode 0600: the clients of other users cannot read the hooks";
    assert!(ran.stderr().contains(said) && ran.stderr().contains("chmod a+r"), "{}", ran.screen());
    let doctor = |part: &str| {
        let ran = desk.run(Path::new(PROGRAM), &["doctor", "claude-code"], &[]);
        ran.stdout().contains(&format!("{part}` has mode 0"))
    };
    assert!(doctor(MANAGED));
    desk.set_mode(MANAGED, 0o644);
    desk.set_mode("etc/claude-code", 0o700);
    assert!(!doctor(MANAGED) && doctor("etc/claude-code"));
    desk.set_mode("etc/claude-code", 0o755);
    assert!(!doctor("etc/claude-code"));
}

#[test]
fn settings_that_were_made_are_taken_away_with_their_folder_and_what_stays_is_said() {
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    let ran = desk.countersign(&["uninstall", "claude-code"]);
    assert!(!desk.has("work/.claude") && !desk.has(NOTE), "{}", ran.screen());
    assert!(ran.stderr().contains("work/.countersign` stays"), "{}", ran.screen());
    // A folder that somebody uses stays.
    desk.countersign(&["install", "claude-code"]);
    desk.write("work/.claude/agents/mine.md", "");
    desk.countersign(&["uninstall", "claude-code"]);
    assert!(!desk.has(OWN) && desk.has("work/.claude/agents/mine.md"));
}

/// A host writes settings anew, in its own order and form, as soon as its user allows something.
#[test]
fn settings_that_a_host_has_written_since_lose_our_hooks_and_nothing_else() {
    for before in [None, Some("{\"model\": \"opus\", \"hooks\": {\"PreToolUse\": [], \"Stop\": []}}\n")] {
        let desk = Desk::new();
        if let Some(before) = before {
            desk.write(OWN, before);
        }
        desk.countersign(&["install", "claude-code"]);
        let mut settings: Value = serde_json::from_str(&desk.read(OWN).unwrap()).unwrap();
        settings["permissions"] = json!({"allow": ["Bash(ls:*)"]});
        desk.write(OWN, &serde_json::to_string_pretty(&settings).unwrap());
        let (exit, said) = run(&desk, &["uninstall", "claude-code"]);
        assert_eq!(exit, Some(0), "{said}");
        let mut expected: Value = serde_json::from_str(before.unwrap_or("{}")).unwrap();
        expected["permissions"] = json!({"allow": ["Bash(ls:*)"]});
        let rest = desk.read(OWN).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&rest).unwrap(), expected, "{rest}");
        assert!(!desk.has(NOTE), "{said}");
        let (exit, said) = run(&desk, &["uninstall", "claude-code"]);
        assert!(exit == Some(0) && said.contains("is not installed here"), "{said}");
        assert_eq!(desk.read(OWN).unwrap(), rest);
    }
}

#[test]
fn settings_that_cannot_be_understood_are_left_and_the_note_with_them() {
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    let installed = desk.read(OWN).unwrap();
    let broken = format!("// mine\n{installed}");
    desk.write(OWN, &broken);
    for _ in 0..2 {
        let (exit, said) = run(&desk, &["uninstall", "claude-code"]);
        assert!(exit == Some(1) && said.contains("stays as it is: "), "{said}");
        assert!(said.contains("settings.local.json:1:1"), "{said}");
        assert_eq!(desk.read(OWN).as_deref(), Some(broken.as_str()));
    }
    desk.write(OWN, &installed.replace("\"hooks\": {", "\"a\": 1, \"hooks\": {"));
    assert_eq!(run(&desk, &["uninstall", "claude-code"]).0, Some(0));
    assert_eq!(desk.read(OWN).as_deref().map(str::trim), Some("{\n  \"a\": 1\n}"));
    // Somebody was faster.
    desk.countersign(&["install", "claude-code"]);
    desk.write(OWN, "{}");
    let (exit, said) = run(&desk, &["uninstall", "claude-code"]);
    assert!(exit == Some(0) && said.contains("has no hooks of Countersign any more"), "{said}");
    assert_eq!(desk.read(OWN).as_deref(), Some("{}"));
}

/// What was changed between two installations is not lost by undoing the second.
#[test]
fn settings_changed_between_two_installations_are_kept() {
    let desk = Desk::new();
    desk.write(OWN, "{\"a\": 1}");
    desk.countersign(&["install", "claude-code"]);
    desk.write(OWN, "{\"a\": 2}");
    desk.countersign(&["install", "claude-code"]);
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.read(OWN).as_deref(), Some("{\"a\": 2}"));
}

#[test]
fn settings_of_an_installation_that_failed_are_as_they_were() {
    const HOOKS: &str = "home/codex/hooks.json";
    let desk = Desk::new();
    let install: &[&str] = &["install", "codex", "--bin", "/no/such/codex"];
    let (exit, said) = run(&desk, install);
    assert!(exit == Some(2) && said.contains("CLI_START_FAILED"), "{said}");
    assert!(!desk.has(HOOKS) && !desk.has("work/.countersign/installed/codex.json"));
    desk.write(HOOKS, "{ }");
    desk.set_mode(HOOKS, 0o640);
    assert_eq!(run(&desk, install).0, Some(2));
    assert_eq!((desk.read(HOOKS).as_deref(), desk.mode(HOOKS)), (Some("{ }"), 0o640));
    let (exit, said) = run(&desk, &["uninstall", "codex"]);
    assert!(exit == Some(0) && said.contains("is not installed here"), "{said}");
}

/// Hooks of ours that nobody has noted are recognised by what they run.
#[test]
fn settings_with_our_hooks_and_no_note_are_cleared() {
    let hook = |host: &str| json!([{"hooks": [{"type": "command", "command": format!("/old/countersign hook {host}")}]}]);
    for (place, host) in [(OWN, "claude-code"), ("home/codex/hooks.json", "codex")] {
        let desk = Desk::new();
        desk.write(
            place,
            &json!({"a": 1, "hooks": {"PreToolUse": hook(host), "Stop": hook("gemini")}}).to_string(),
        );
        assert_eq!(run(&desk, &["uninstall", host]).0, Some(0));
        let expected = json!({"a": 1, "hooks": {"Stop": hook("gemini")}}).to_string();
        assert_eq!(desk.read(place), Some(expected));
        assert!(run(&desk, &["uninstall", host]).1.contains("is not installed here"));
    }
    // A file that only ours is in, as it was made, goes too.
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    desk.remove(NOTE);
    assert_eq!(run(&desk, &["uninstall", "claude-code"]).0, Some(0));
    assert!(!desk.has(OWN));
    // An installation over such hooks is undone to what is not ours.
    desk.write(OWN, &json!({"a": 1, "hooks": {"PreToolUse": hook("claude-code")}}).to_string());
    desk.countersign(&["install", "claude-code"]);
    assert!(!desk.read(OWN).unwrap().contains("/old/countersign"));
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.read(OWN).as_deref(), Some("{\"a\":1}"));
}

/// From another workspace the machine's settings are named, and taken out only if that is asked for.
#[test]
fn settings_for_the_machine_are_uninstalled_from_elsewhere_only_on_demand() {
    let desk = Desk::new();
    desk.write(MANAGED, "{\"a\": 1}\n");
    desk.countersign(&["install", "claude-code", "--managed"]);
    desk.remove(NOTE);
    let (exit, said) = run(&desk, &["uninstall", "claude-code"]);
    assert!(exit == Some(1) && said.contains("claude-code --managed` takes them out"), "{said}");
    desk.countersign(&["uninstall", "claude-code", "--managed"]);
    assert_eq!(desk.read(MANAGED).as_deref(), Some("{\"a\": 1}\n"));
}

#[test]
fn settings_with_two_hooks_of_ours_are_found_and_one_is_left_by_install() {
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    let installed = desk.read(OWN).unwrap();
    let doctor = |desk: &Desk, host: &str| {
        let (_, said) = run(desk, &["doctor", host, "--bin", "/no/such/program"]);
        said.lines().find(|line| line.contains("the hooks before a call: ")).map(str::to_owned)
    };
    assert_eq!(doctor(&desk, "claude-code"), None);
    // The same program from another path takes the place of the first.
    desk.write(OWN, &installed.replace(PROGRAM, "/old/bin/countersign"));
    desk.countersign(&["install", "claude-code"]);
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(json(&desk.read(OWN).unwrap()), json(&installed));
    // In other settings it is found.
    for place in ["work/.claude/settings.json", "home/claude/settings.json", MANAGED] {
        desk.write(place, &installed.replace(PROGRAM, "/old/bin/countersign"));
        let found = doctor(&desk, "claude-code").unwrap_or_default();
        assert!(found.contains("WRONG") && found.contains(": 2: ") && found.contains(place), "{found}");
        desk.remove(place);
    }
    let hook = json!([{"hooks": [{"type": "command", "command": "/a/countersign hook codex"}]}]);
    desk.write("home/codex/hooks.json", &json!({"hooks": {"PreToolUse": hook}}).to_string());
    assert_eq!(doctor(&desk, "codex"), None);
    desk.write(
        "etc/codex/requirements.toml",
        "[[hooks.PreToolUse.hooks]]\ncommand = \"/b/countersign hook codex\"\n",
    );
    let found = doctor(&desk, "codex").unwrap_or_default();
    assert!(found.contains(": 2: ") && found.contains("requirements.toml"), "{found}");
}

#[test]
fn settings_behind_a_link_are_changed_where_they_are() {
    const TARGET: &str = "home/dotfiles/claude.json";
    let desk = Desk::new();
    desk.write(TARGET, "{\"a\": 1}\r\n");
    desk.link(OWN, TARGET);
    desk.countersign(&["install", "claude-code"]);
    assert!(desk.is_link(OWN) && desk.read(TARGET).unwrap().contains("onFailure"));
    desk.countersign(&["uninstall", "claude-code"]);
    assert!(desk.is_link(OWN));
    assert_eq!(desk.read(TARGET).as_deref(), Some("{\"a\": 1}\r\n"));
    // Of a link that leads nowhere nobody knows what it is for.
    desk.remove(TARGET);
    let (exit, said) = run(&desk, &["install", "claude-code"]);
    assert!(exit == Some(2) && said.contains("error[INSTALL_SETTINGS]: `"), "{said}");
    assert!(said.contains("leads to no file") && said.contains("hint: make the file"), "{said}");
    assert!(desk.is_link(OWN) && !desk.has(TARGET));
    // A file that was made here and has moved behind a link is somebody's own.
    desk.remove(OWN);
    desk.countersign(&["install", "claude-code"]);
    desk.write(TARGET, &desk.read(OWN).unwrap());
    desk.remove(OWN);
    desk.link(OWN, TARGET);
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!((desk.is_link(OWN), desk.read(TARGET).as_deref().map(str::trim)), (true, Some("{}")));
}

#[test]
fn settings_that_are_broken_are_refused_with_file_and_place() {
    for (text, place, hint) in [
        ("{\n  // mine\n}", ":2:3", "settings with comments are not changed"),
        ("{\n  \"a\": 1,\n}", ":3:1", "repair the file first"),
        ("[]", "", "repair the file first"),
    ] {
        let desk = Desk::new();
        desk.write(OWN, text);
        let (exit, said) = run(&desk, &["install", "claude-code"]);
        assert!(exit == Some(2) && said.contains("error[INSTALL_SETTINGS]"), "{said}");
        assert!(said.contains(&format!("{}{place}\n", desk.path(OWN).display())), "{said}");
        assert!(said.contains("expected: ") && said.contains(hint), "{said}");
        assert_eq!(desk.read(OWN).as_deref(), Some(text));
    }
}

#[test]
fn settings_are_looked_for_at_the_root_of_the_workspace() {
    let desk = Desk::new();
    desk.countersign(&["install", "claude-code"]);
    desk.write("work/a/b/file", "");
    let line = format!("cd a/b && exec {PROGRAM} doctor claude-code --bin /no/such/claude");
    let ran = desk.run(Path::new("/bin/sh"), &["-c", &line], &[]);
    let own = format!("ok    the hooks: in `{}`", desk.path(OWN).display());
    assert!(ran.stdout().contains(&own), "{}", ran.screen());
    let line = format!("cd a/b && exec {PROGRAM} uninstall claude-code");
    assert_eq!(desk.run(Path::new("/bin/sh"), &["-c", &line], &[]).exit, Some(0));
    assert!(!desk.has(OWN));
}

//! `countersign export`: the real hosts, without any hook, refuse by their own rules what the policy always denies.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    desk::{CLAUDE, CODEX, Desk, PROGRAM, client, codex_versions},
    model::Model,
};

/// Puts the rules of a host where it looks for them; what was exported.
fn exported(desk: &Desk, target: &str, place: &str) -> String {
    let rules = desk.countersign(&["export", target]).stdout().to_owned();
    desk.write(place, &rules);
    rules
}

/// Things that the commands below would destroy.
fn treasures(desk: &Desk) {
    for name in ["first", "second", "third", "plain"] {
        desk.write(&format!("work/{name}/kept"), "");
    }
}

fn bash(command: &str) -> Value {
    json!({"tool": "Bash", "input": {"command": command}})
}

#[test]
fn claude_code_refuses_by_its_own_rules() {
    let Some(claude) = client("claude_code_refuses_by_its_own_rules", CLAUDE) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    treasures(&desk);
    exported(&desk, "claude-code", "work/.claude/settings.json");
    let key = json!({"tool": "Write", "input": {"file_path": desk.path("home/.ssh/authorized_keys"), "content": "x"}});
    let steps = json!([
        bash("rm -rf first"),
        bash("rm second -r"),
        bash("touch before && rm -fr third"),
        bash("rm plain/kept"),
        bash("dd if=/dev/zero of=made bs=1 count=1"),
        key,
        bash("touch allowed"),
    ]);
    desk.claude(&claude, &model, &steps, &[]);
    for kept in ["first", "second", "third"] {
        assert!(desk.has(&format!("work/{kept}/kept")), "{kept}: {}", model.heard());
    }
    assert!(!desk.has("work/made") && !desk.has("home/.ssh/authorized_keys"), "{}", model.heard());
    assert!(desk.has("work/allowed") && !desk.has("work/plain/kept"), "{}", model.heard());
}

fn exec(command: &str) -> Value {
    json!({"tool": "exec_command", "input": {"cmd": command}})
}

#[test]
fn codex_refuses_by_its_own_rules() {
    for codex in codex_versions("codex_refuses_by_its_own_rules") {
        let (desk, model) = (Desk::new(), Model::start(|_| ()));
        desk.configure_codex(&model, "");
        treasures(&desk);
        exported(&desk, "codex-rules", "home/codex/rules/countersign.rules");
        let steps = json!([
            exec("rm -rf first"),
            exec("touch before && rm -fr second"),
            exec("rm plain/kept"),
            exec("dd if=/dev/zero of=made bs=1 count=1"),
            exec("touch allowed"),
        ]);
        desk.codex(&codex, &model, &steps, &[]);
        assert!(desk.has("work/first/kept") && desk.has("work/second/kept"), "{}", model.heard());
        assert!(!desk.has("work/made"), "{}", model.heard());
        assert!(desk.has("work/allowed") && !desk.has("work/plain/kept"), "{}", model.heard());
        assert!(
            model.heard().contains("countersign: shell.destructive is always denied"),
            "{}",
            model.heard()
        );
    }
}

/// Codex itself reads every rule, and judges commands by them as the kernel does where they can say so.
#[test]
fn codex_reads_the_rules_as_they_are_meant() {
    for codex in codex_versions("codex_reads_the_rules_as_they_are_meant") {
        let desk = Desk::new();
        exported(&desk, "codex-rules", "work/countersign.rules");
        let decision = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            let arguments =
                [&["execpolicy", "check", "--rules", "countersign.rules", "--"], words.as_slice()];
            let ran = desk.run(&codex, &arguments.concat(), &[]);
            assert_eq!(ran.exit, Some(0), "{}", ran.screen());
            let said: Value = serde_json::from_str(ran.stdout()).unwrap();
            said["decision"].as_str().map(str::to_owned)
        };
        let forbidden = [
            "rm -rf x",
            "rm --recursive x",
            "dd if=a of=b",
            "git push --force origin main",
            "git push -f",
            "git reset --hard HEAD",
            "git stash drop",
            "docker volume prune -f",
            "eval ls",
            "python3 -c x",
            "node -e x",
            "doas -s",
        ];
        for line in forbidden {
            assert_eq!(decision(line).as_deref(), Some("forbidden"), "{line}");
        }
        for line in ["rm x", "ls", "git push origin main", "git status", "python3 a.py", "cargo test"] {
            assert_eq!(decision(line), None, "an export allows nothing: {line}");
        }
    }
}

/// The same rules as the machine's requirements: no user of the machine can take them away.
#[test]
fn codex_obeys_the_rules_as_requirements() {
    let Some(codex) = client("codex_obeys_the_rules_as_requirements", CODEX) else { return };
    let (desk, model) = (Desk::new(), Model::start(|_| ()));
    desk.configure_codex(&model, "");
    treasures(&desk);
    exported(&desk, "codex-requirements", "etc/codex/requirements.toml");
    let steps = json!([exec("rm -rf first"), exec("rm plain/kept"), exec("touch allowed")]);
    let Some(codex) = desk.managed("codex_obeys_the_rules_as_requirements", &codex) else { return };
    desk.codex(&codex, &model, &steps, &[]);
    assert!(desk.has("work/first/kept"), "{}", model.heard());
    assert!(desk.has("work/allowed") && !desk.has("work/plain/kept"), "{}", model.heard());
}

#[test]
fn drift_is_found() {
    let desk = Desk::new();
    let places = [
        ("claude-code", "work/.claude/settings.json"),
        ("codex-rules", "home/codex/rules/countersign.rules"),
        ("codex-requirements", "etc/codex/requirements.toml"),
        ("gemini", "home/.gemini/policies/countersign.toml"),
    ];
    for (target, place) in places {
        let check = |more: &[&str]| {
            let arguments = [&["export", target, "--check"], more].concat();
            desk.run(Path::new(PROGRAM), &arguments, &[]).exit
        };
        assert_eq!(check(&[]), Some(1), "{target}: nothing is there");
        let rules = exported(&desk, target, place);
        assert_eq!(check(&[]), Some(0), "{target}");
        assert_eq!(check(&[desk.path(place).to_str().unwrap()]), Some(0), "{target}");
        desk.write(place, &rules.replacen("git push", "git pull", 1));
        assert_eq!(check(&[]), Some(1), "{target}: a rule was changed");
    }
}

/// The rules follow the policy of the workspace, and what they cannot say is told.
#[test]
fn an_export_follows_the_policy_and_tells_what_it_leaves_out() {
    let desk = Desk::new();
    desk.countersign(&["init"]);
    let rules = "work/.countersign/policy/odeu.instructions.v1.json";
    let told = |desk: &Desk| -> Value {
        serde_json::from_str(desk.countersign(&["export", "gemini", "--format", "json"]).stdout()).unwrap()
    };
    let before = told(&desk);
    assert_eq!(before["denied_kinds"], json!(["git.push_force", "shell.destructive", "shell.unknown"]));
    assert!(before["not_expressed"].as_array().unwrap().len() > 10, "{before}");
    let mut policy: Value = serde_json::from_str(&desk.read(rules).unwrap()).unwrap();
    policy["rules"].as_array_mut().unwrap().retain(|rule| rule["then"]["effect"] != "allow_action");
    desk.write(rules, &policy.to_string());
    let after = told(&desk);
    // Without a rule that allows anything everything is denied, and tools are refused by name.
    assert_eq!(after["denied_kinds"].as_array().unwrap().len(), 18, "{after}");
    assert!(after["text"].as_str().unwrap().contains("\"google_web_search\""), "{after}");
    assert!(!before["text"].as_str().unwrap().contains("google_web_search"), "{before}");
    assert_ne!(after["source"], before["source"]);
    desk.write(rules, "{}");
    let broken = desk.run(Path::new(PROGRAM), &["export", "gemini"], &[]);
    assert_eq!((broken.exit, broken.stdout()), (Some(2), ""), "{}", broken.screen());
}

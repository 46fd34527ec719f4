//! The whole protocol from the command line: ask, be told what is needed, sign, proceed, be refused, verify elsewhere.

use crate::support::{Ran, Sandbox};

/// A sandbox with a store, a session that may write, and ann's registered key.
struct Desk {
    sandbox: Sandbox,
    session: String,
}

impl Desk {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("deploy.json", r#"{"environment": "prod", "image": "shop:1.4.2"}"#);
        let mode = ["session", "start", "--role", "copilot", "--mode", "writes_allowed"];
        let session = line(&sandbox.run(&mode));
        let key = line(&sandbox.run(&["keys", "generate", "--name", "ann"]));
        assert_eq!(sandbox.run(&["keys", "add", &key]).exit, Some(0));
        Self { sandbox, session }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.sandbox.run(arguments)
    }

    /// Asks to begin an action: the exit code and the code of the decision.
    fn decide(&self, kind: &str, more: &[&str]) -> (Option<i32>, String, Ran) {
        let asked =
            ["decide", "--session", &self.session, "--kind", kind, "--payload", "deploy.json", "--proceed"];
        let ran = self.run(&[&asked[..], more].concat());
        let code = ran.stdout().split([' ', ':']).nth(1).unwrap_or_default().to_owned();
        (ran.exit, code, ran)
    }

    /// Asks to deploy and is told which approval is missing.
    fn request(&self) -> String {
        let (exit, code, ran) = self.decide("deploy", &[]);
        assert_eq!((exit, code.as_str()), (Some(4), "URM_APPROVAL_REQUIRED"), "{}", ran.screen());
        id_in(&ran, "apr_")
    }
}

fn line(ran: &Ran) -> String {
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    ran.stdout().trim_end().to_owned()
}

/// The first id with this prefix on standard output.
fn id_in(ran: &Ran, prefix: &str) -> String {
    let found = ran.stdout().split([' ', '\n', '"', ',']).find(|word| word.starts_with(prefix));
    found.unwrap_or_else(|| panic!("no {prefix} in\n{}", ran.screen())).to_owned()
}

#[test]
fn the_whole_protocol_from_question_to_verified_bundle() {
    let desk = Desk::new();
    assert_eq!(desk.decide("fs.read", &[]).1, "READ_ALLOWED");
    let (exit, code, _) = desk.decide("shell.destructive", &[]);
    assert_eq!((exit, code.as_str()), (Some(1), "DESTRUCTIVE_SHELL_DENIED"));

    let approval = desk.request();
    let pending = desk.run(&["pending"]);
    assert!(pending.stdout().contains(r#"deploy {"environment":"prod","image":"shop:1.4.2"}"#));
    let approved = desk.run(&["approve", &approval, "--reason", "release"]);
    assert!(line(&approved).contains(" granted until "), "{}", approved.screen());
    assert_eq!(line(&desk.run(&["pending"])), "");

    let (exit, code, allowed) = desk.decide("deploy", &["--approval", &approval]);
    assert_eq!((exit, code.as_str()), (Some(0), "APPROVED_WRITE_ALLOWED"));
    let permit = id_in(&allowed, "per_");
    assert_eq!(line(&desk.run(&["outcome", &permit, "succeeded"])), format!("{permit} succeeded"));
    let (exit, code, _) = desk.decide("deploy", &["--approval", &approval]);
    assert_eq!((exit, code.as_str()), (Some(1), "URM_APPROVAL_CONSUMED"));

    let verified = line(&desk.run(&["log", "verify"]));
    assert!(verified.starts_with("L3: 21 events, "), "{verified}");
    let decision = id_in(&allowed, "dec_");
    let replayed = line(&desk.run(&["replay", &decision]));
    assert_eq!(replayed, format!("{decision} APPROVED_WRITE_ALLOWED: the same bytes"));
    assert_eq!(line(&desk.run(&["events", "replay"])), "the events tell what the store says");
    let story = line(&desk.run(&["trace", &permit]));
    for step in
        ["APPROVAL_REQUESTED", "APPROVAL_GRANTED", "APPROVAL_CONSUMED", "EXECUTION_FINISHED succeeded"]
    {
        assert!(story.contains(step), "{step} is not in\n{story}");
    }

    // Another machine: another folder, no store, nothing but the bundle and a checkpoint that somebody kept.
    assert_eq!(desk.run(&["log", "export", "--out", "audit.bundle"]).exit, Some(0));
    let elsewhere = Sandbox::new();
    elsewhere.write("audit.bundle", desk.sandbox.read("audit.bundle").unwrap());
    elsewhere.write("kept.checkpoint", desk.run(&["log", "checkpoint"]).stdout());
    let verified = line(&elsewhere.run(&["verify", "audit.bundle", "--outside", "kept.checkpoint"]));
    assert_eq!(
        verified,
        "L3: 21 events, 10 checkpoints, 5 decisions made again, 1 approvals, 1 policy versions, 0 proofs"
    );
    assert!(elsewhere.read(".countersign/state.db").is_none(), "no store was made");
}

#[test]
fn a_bundle_that_was_touched_is_refused_wherever_it_was_touched() {
    let desk = Desk::new();
    let approval = desk.request();
    assert_eq!(desk.run(&["approve", &approval]).exit, Some(0));
    assert_eq!(desk.decide("deploy", &["--approval", &approval]).0, Some(0));
    assert_eq!(desk.run(&["log", "export", "--out", "audit.bundle"]).exit, Some(0));
    let bundle = desk.sandbox.read("audit.bundle").unwrap();
    let lines: Vec<&str> = bundle.lines().collect();
    assert_eq!(desk.run(&["verify", "audit.bundle"]).exit, Some(0));
    let mut refused = 0;
    for index in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(index);
        let mut twice = lines.clone();
        twice.insert(index, lines[index]);
        let changes = [
            ("prod", "dev"),
            ("T", "U"),
            ("bundle@1", "bundle@2"),
            ("\"cli\"", "\"clx\""),
            ("\"tree_size\":", "\"tree_size\":1"),
        ];
        let change = |text: String, (from, to): (&str, &str)| text.replacen(from, to, 1);
        let changed = changes.into_iter().fold(lines[index].to_owned(), change);
        let mut other = lines.clone();
        other[index] = &changed;
        let may_repeat = ["policy_version", "probe", "approver_key"];
        let may_repeat = may_repeat.iter().any(|it| lines[index].starts_with(&format!("{{\"{it}\"")));
        for (kind, lines) in [("without", without), ("twice", twice), ("changed", other)] {
            if kind == "twice" && may_repeat {
                continue;
            }
            desk.sandbox.write("touched.bundle", format!("{}\n", lines.join("\n")));
            let ran = desk.run(&["verify", "touched.bundle"]);
            assert_eq!(ran.exit, Some(1), "{kind} line {index}\n{}", ran.screen());
            refused += 1;
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn an_approval_that_is_not_right_does_not_help() {
    let desk = Desk::new();
    let refused = |more: &[&str]| desk.decide("deploy", more).1;
    assert_eq!(refused(&["--approval", "apr_unknown"]), "URM_APPROVAL_INVALID");
    let approval = desk.request();
    assert_eq!(refused(&["--approval", &approval]), "URM_APPROVAL_INVALID", "nobody said yes");
    assert_eq!(desk.run(&["deny", &approval, "--reason", "no"]).exit, Some(0));
    assert_eq!(refused(&["--approval", &approval]), "URM_APPROVAL_INVALID", "somebody said no");
    let approval = desk.request();
    assert_eq!(desk.run(&["approve", &approval]).exit, Some(0));
    assert_eq!(
        desk.decide("fs.write_outside", &["--approval", &approval]).1,
        "URM_APPROVAL_INVALID",
        "another action"
    );
    assert_eq!(desk.run(&["revoke", &approval]).exit, Some(0));
    assert_eq!(refused(&["--approval", &approval]), "URM_APPROVAL_INVALID", "taken back");
    assert_eq!(desk.run(&["approve", &approval, "--ttl", "86401"]).exit, Some(2), "never clamped");

    // A key that is not registered, or no longer counts.
    let approval = desk.request();
    let eve = ["keys", "generate", "--name", "eve", "--out", "eve.key"];
    assert_eq!(desk.run(&eve).exit, Some(0));
    let forged = desk.run(&["approve", &approval, "--key", "eve.key"]);
    assert_eq!(forged.exit, Some(2));
    assert!(forged.stderr().contains("URM_APPROVAL_SIGNATURE_INVALID"), "{}", forged.screen());
    assert_eq!(desk.run(&["approve", &approval]).exit, Some(0));
    let key = id_in(&desk.run(&["keys", "list"]), "key_");
    assert_eq!(desk.run(&["keys", "revoke", &key]).exit, Some(0));
    assert_eq!(refused(&["--approval", &approval]), "URM_APPROVAL_INVALID", "the key no longer counts");
}

#[test]
fn an_approval_is_bound_to_the_one_action_hash_and_every_policy_event_to_a_policy_hash() {
    let desk = Desk::new();
    let approval = desk.request();
    let hash = line(&desk.run(&["action", "hash", "--kind", "deploy", "--payload", "deploy.json"]));
    let pending = desk.run(&["pending", "--format", "json"]);
    assert!(pending.stdout().contains(&approval) && pending.stdout().contains(&hash), "{}", pending.screen());
    let tail = desk.run(&["events", "tail"]);
    let events = tail.stdout();
    let of_policies: Vec<&str> = events.lines().filter(|line| line.contains("\"event\":\"POLICY_")).collect();
    assert!(of_policies.len() >= 3, "{events}");
    for event in of_policies {
        assert!(event.contains("\"policy_hash\":\""), "{event}");
    }
}

#[test]
fn a_session_may_write_after_a_person_approved_it() {
    let desk = Desk::new();
    let session = line(&desk.run(&["session", "start", "--role", "copilot"]));
    let write = ["decide", "--session", &session, "--kind", "fs.write", "--payload", "deploy.json"];
    assert!(desk.run(&write).stdout().starts_with("denied URM_MODE_DENIED"));
    let asked = desk.run(&["session", "mode", &session, "writes_allowed"]);
    assert_eq!(asked.exit, Some(4), "{}", asked.screen());
    let approval = id_in(&asked, "apr_");
    assert_eq!(desk.run(&["approve", &approval]).exit, Some(0));
    assert_eq!(
        desk.run(&["session", "mode", &session, "writes_allowed", "--approval", &approval]).exit,
        Some(0)
    );
    assert!(desk.run(&write).stdout().starts_with("allowed WRITE_ALLOWED"));
    assert_eq!(desk.run(&["session", "stop", &session]).exit, Some(0));
    assert!(desk.run(&write).stdout().starts_with("denied SESSION_INACTIVE"));
    assert!(desk.run(&["session", "list"]).stdout().contains(&format!("{session} stopped copilot")));
}

#[test]
fn a_lost_answer_is_found_again_by_its_name() {
    let desk = Desk::new();
    let named = ["--client-request-id", "one", "--format", "json"];
    let first = desk.decide("fs.read", &named).2;
    let again = desk.decide("fs.read", &named).2;
    assert_eq!(id_in(&first, "per_"), id_in(&again, "per_"));
    assert!(again.stdout().contains(r#""idempotent_replay": true"#));
    let (exit, _, other) = desk.decide("fs.write", &named);
    assert_eq!(exit, Some(2));
    assert!(other.stderr().contains("URM_IDEMPOTENCY_KEY_CONFLICT"), "{}", other.screen());
}

#[test]
fn events_are_shown_counted_and_checked() {
    let desk = Desk::new();
    desk.decide("fs.read", &[]);
    let events = desk.run(&["events", "tail"]);
    assert_eq!(events.stdout().lines().count(), 6);
    let stream = format!("copilot:{}", desk.session);
    let some = desk.run(&["events", "tail", "--stream", &stream, "--after-seq", "1"]);
    assert_eq!(some.stdout().lines().count(), 3);
    let check = |text: &str| desk.sandbox.run_with_input(&["events", "validate", "-"], text.as_bytes());
    assert_eq!(line(&check(events.stdout())), "6 events, 0 problems");
    let mut gap: Vec<&str> = some.stdout().lines().collect();
    gap.remove(1);
    let refused = check(&gap.join("\n"));
    assert_eq!(refused.exit, Some(1));
    assert!(refused.stdout().contains("LOG_SEQ"), "{}", refused.screen());
    assert_eq!(check(&events.stdout().replace("urm-events@1", "urm-events@2")).exit, Some(1));
    // To be strict is to take whole streams only, in order.
    let strict = |text: &str| {
        desk.sandbox.run_with_input(&["events", "validate", "--strict", "-"], text.as_bytes()).exit
    };
    let whole = desk.run(&["events", "tail", "--stream", &stream]);
    let last = whole.stdout().lines().last().unwrap();
    let (_, ts) = last.split_once(r#""ts":""#).unwrap();
    let back =
        whole.stdout().replace(last, &last.replace(ts.split('"').next().unwrap(), "2001-01-01T00:00:00Z"));
    let headless = whole.stdout().replace("SESSION_START", "ADVISORY");
    for (text, expected) in
        [(events.stdout(), 0), (whole.stdout(), 0), (some.stdout(), 1), (&back, 1), (&headless, 1)]
    {
        assert_eq!((check(text).exit, strict(text)), (Some(0), Some(expected)), "{text}");
    }
    let summary = line(&desk.run(&["events", "summary"]));
    assert!(
        summary.contains("      1 POLICY_EVAL_PASS\n") && summary.contains("      1 READ_ALLOWED"),
        "{summary}"
    );
}

#[test]
fn proofs_are_given_for_every_place_and_size() {
    let desk = Desk::new();
    desk.decide("fs.read", &[]);
    for index in ["0", "4"] {
        let proof = desk.run(&["log", "prove", "--event", index]);
        assert!(line(&proof).contains(r#""tree_size": 6"#), "{}", proof.screen());
    }
    assert_eq!(desk.run(&["log", "prove", "--event", "6"]).exit, Some(2));
    assert!(line(&desk.run(&["log", "consistency", "2", "5"])).contains(r#""old_size": 2"#));
    assert_eq!(desk.run(&["log", "consistency", "6", "7"]).exit, Some(2));
}

#[test]
fn a_token_is_shown_once_and_kept_as_a_hash() {
    let desk = Desk::new();
    let token = line(&desk.run(&["token", "create", "--role", "agent", "--name", "codex-1"]));
    assert!(token.starts_with("cs_") && token.len() == 46, "{token}");
    assert_eq!(line(&desk.run(&["token", "list"])), "codex-1 agent counts");
    assert!(!desk.run(&["token", "list", "--format", "json"]).stdout().contains(&token));
    assert_eq!(desk.run(&["token", "create", "--role", "agent", "--name", "codex-1"]).exit, Some(2));
    assert_eq!(desk.run(&["token", "revoke", "codex-1"]).exit, Some(0));
    assert!(line(&desk.run(&["token", "list"])).starts_with("codex-1 agent revoked "));
}

#[test]
fn a_backup_is_a_whole_store() {
    let desk = Desk::new();
    assert_eq!(desk.run(&["backup", "copy.db"]).exit, Some(0));
    assert_eq!(desk.run(&["backup", "copy.db"]).exit, Some(2), "nothing is overwritten");
}

#[test]
fn doctor_says_what_is_wrong_and_what_to_do() {
    let desk = Desk::new();
    let ran = desk.run(&["doctor"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout().contains("WRONG isolation: token"), "{}", ran.screen());
    assert!(ran.stdout().contains("ok    the log: "), "{}", ran.screen());
    assert!(
        ran.stdout().contains("ok    the policy in force: version 1, the same as what ships"),
        "{}",
        ran.screen()
    );
    desk.sandbox.allow_others(".countersign/state.db");
    let ran = desk.run(&["doctor"]);
    assert!(ran.stdout().contains("STORE_OPEN_TO_OTHERS"), "{}", ran.screen());
}

#[test]
fn a_policy_comes_into_force_by_folder_by_hash_and_back_by_number() {
    let desk = Desk::new();
    let strict = crate::support::repository().join("policy/strict");
    let strict = strict.to_str().unwrap();
    assert!(line(&desk.run(&["policy", "activate", "--policy-dir", strict])).starts_with("2 version 2 "));
    assert_eq!(
        desk.decide("fs.write", &[]).1,
        "URM_APPROVAL_REQUIRED",
        "the strict policy asks for every change"
    );
    assert!(line(&desk.run(&["policy", "rollback", "1"])).starts_with("3 version 1 "));
    assert_eq!(desk.decide("fs.write", &[]).1, "WRITE_ALLOWED");
    let history = line(&desk.run(&["policy", "history"]));
    let hash = history.lines().nth(1).unwrap().rsplit(' ').next().unwrap();
    assert!(line(&desk.run(&["policy", "activate", hash])).starts_with("4 version 2 "));
    assert!(
        desk.run(&["doctor"])
            .stdout()
            .contains("WRONG the policy in force: version 2, not the same as what ships")
    );
    let unknown = desk.run(&["policy", "activate", &"0".repeat(64), "--policy-dir", strict]);
    assert_eq!(unknown.exit, Some(2));
    assert_eq!(desk.run(&["policy", "rollback", "9"]).exit, Some(2));
    let verified = line(&desk.run(&["log", "verify"]));
    assert!(verified.starts_with("L3: "), "{verified}");
    assert_eq!(desk.run(&["log", "export", "--out", "audit.bundle"]).exit, Some(0));
    assert!(line(&desk.run(&["verify", "audit.bundle"])).contains("2 decisions made again"));
}

#[test]
fn another_policy_is_tried_on_what_was_decided() {
    let desk = Desk::new();
    for _ in 0..3 {
        desk.decide("fs.write", &[]);
    }
    desk.decide("fs.read", &[]);
    desk.request();
    desk.decide("shell.destructive", &[]);
    let no_gate = desk.run(&["decide", "--kind", "fs.read", "--payload", "deploy.json"]);
    assert_eq!(no_gate.exit, Some(1), "nobody acts without a session");
    let root = crate::support::repository();
    let shipped = root.join("policy/odeu.instructions.v1.json");
    let strict = root.join("policy/strict/odeu.instructions.v1.json");
    let same = desk.run(&["policy", "backtest", "--policy", shipped.to_str().unwrap()]);
    assert_eq!(
        line(&same),
        "7 decisions made again, 0 come out otherwise; 1 were refused before any rule was asked"
    );
    let other = desk.run(&["policy", "backtest", "--policy", strict.to_str().unwrap()]);
    assert_eq!(other.exit, Some(1), "{}", other.screen());
    assert!(other.stdout().contains("      3  "), "{}", other.screen());
    assert!(
        other.stdout().contains("deny URM_APPROVAL_REQUIRED instead of allow WRITE_ALLOWED"),
        "{}",
        other.screen()
    );
    assert!(other.stdout().contains("\"action_kind\":\"fs.write\""), "{}", other.screen());
    let json = ["policy", "backtest", "--format", "json", "--policy", strict.to_str().unwrap()];
    assert!(desk.run(&json).stdout().contains("\"schema\": \"instruction-policy-backtest@1\""));
    let covered = desk.run(&["policy", "coverage", shipped.to_str().unwrap(), "--recorded"]);
    assert!(covered.stdout().contains("rules hit by 6 contexts"), "{}", covered.screen());
    assert_eq!(covered.exit, Some(1), "some rule is never hit by so few decisions");
}

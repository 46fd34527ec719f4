//! Sets that are refused, and files that are never touched.

use std::path::Path;

use super::EVALUATIONS;
use crate::support::{Sandbox, run_in_shell, shipped_text, shipped_under};

/// The files of the batch example, in a sandbox.
fn batch() -> Sandbox {
    let sandbox = Sandbox::new();
    for path in shipped_under(&format!("{EVALUATIONS}/api_refactor_batch")) {
        let name = path.rsplit('/').next().unwrap();
        if name.starts_with("intent_") {
            sandbox.write(name, shipped_text(&path));
        }
    }
    sandbox
}

const SET: &str = "intent_set_api_refactor_batch.json";

fn resealed(sandbox: &Sandbox, file: &str, text: &str) {
    sandbox.write(file, text);
    assert_eq!(sandbox.run(&["intent", "seal", file, "--in-place"]).exit, Some(0));
}

#[track_caller]
fn refused(sandbox: &Sandbox, codes: &[&str]) {
    let ran = sandbox.run(&["intent", "evaluate", SET]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stdout().contains("\"valid\": false"));
    for code in codes {
        assert!(ran.stdout().contains(&format!("\"code\": \"{code}\"")), "{code}: {}", ran.screen());
    }
}

#[test]
fn every_problem_of_every_file_is_reported_at_once() {
    let sandbox = batch();
    let logging = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/intent_add_api_logging.json"));
    resealed(&sandbox, "intent_add_api_logging.json", &logging.replace("\"semi_auto\"", "\"full_auto\""));
    let tests = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/intent_update_api_tests.json"));
    sandbox.write("intent_update_api_tests.json", tests.replace("cmd_run_unit_tests", "cmd_run_unit_test"));
    refused(&sandbox, &["I2_FULL_AUTO_ASKS", "I5_UNKNOWN_COMMAND", "CHECKSUM_MISMATCH"]);
}

#[test]
fn a_missing_rejected_or_foreign_intent_rejects_the_set() {
    let change = |from: &str, to: &str| {
        let sandbox = batch();
        let file = "intent_add_api_logging.json";
        let text = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/{file}"));
        resealed(&sandbox, file, &text.replace(from, to));
        sandbox
    };
    refused(&change("\"status\": \"proposed\"", "\"status\": \"rejected\""), &["INTENT_NOT_OPEN"]);
    refused(&change("\"status\": \"proposed\"", "\"status\": \"superseded\""), &["INTENT_NOT_OPEN"]);
    refused(&change("\"project_id\": \"shop\"", "\"project_id\": \"other\""), &["PROJECT_MISMATCH"]);
    refused(&change("\"repo_root\": \"shop\"", "\"repo_root\": \"fork\""), &["REPO_ROOT_MISMATCH"]);
    refused(&change("\"id\": \"intent_add_api_logging\"", "\"id\": \"intent_other\""), &["FILE_ID_MISMATCH"]);
    let sandbox = batch();
    sandbox.remove("intent_add_api_logging.json");
    refused(&sandbox, &["FILE_UNREADABLE"]);
}

/// I1 to I5: one bad intent, and nothing of the set is weighed.
#[test]
fn an_intent_that_breaks_a_red_line_rejects_its_set() {
    let breaks = [
        ("\"status\":", "\"execute\": \"make\", \"status\":", "I1_EXECUTION_PAYLOAD"),
        ("\"mode\": \"semi_auto\"", "\"mode\": \"full_auto\"", "I2_FULL_AUTO_ASKS"),
        ("\"risk_level\": \"low\"", "\"risk_level\": \"high\"", "I3_RISK_UNDERSTATED"),
        ("scan://file/src/api/logging.py", "see the wiki", "I4_NOT_EVIDENCE"),
        ("\"no_fabrication\": true", "\"no_fabrication\": false", "I5_CONSTRAINT_MISSING"),
        ("cmd_git_commit_with_intent", "cmd_made_up", "I5_UNKNOWN_COMMAND"),
    ];
    for (from, to, code) in breaks {
        let sandbox = batch();
        let file = "intent_add_api_logging.json";
        let text = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/{file}"));
        assert!(text.contains(from), "{from}");
        resealed(&sandbox, file, &text.replace(from, to));
        refused(&sandbox, &[code]);
        let place = format!("\"place\": \"./{file}:");
        let shown = sandbox.run(&["intent", "evaluate", &format!("./{SET}")]);
        assert!(shown.stdout().contains(&place), "{}", shown.screen());
    }
}

/// An id or path that leaves the folder is refused by its form, before anything is opened.
#[test]
fn a_set_that_names_passwd_never_touches_it() {
    if run_in_shell(Path::new("."), "command -v strace").is_empty() {
        crate::support::skip("a_set_that_names_passwd_never_touches_it", "strace is not installed");
        return;
    }
    let sandbox = batch();
    let set = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/{SET}"));
    resealed(&sandbox, SET, &set.replace("intent_add_api_logging", "../../../../../../etc/passwd"));
    let traced = |what: &str| {
        let command =
            format!("strace -f -e trace=open,openat,stat,newfstatat,access countersign intent {what} 2>&1");
        run_in_shell(sandbox.path(), &command)
    };
    let shown = traced(&format!("evaluate {SET}"));
    assert!(shown.contains("NAME_SHAPE"), "{shown}");
    let path = shipped_text(&format!("{EVALUATIONS}/api_refactor_batch/intent_add_api_logging.json"));
    resealed(&sandbox, "intent_x.json", &path.replace("src/api/logging.py", "../../etc/passwd"));
    let other = traced("validate intent_x.json");
    assert!(other.contains("INTENT_PATH"), "{other}");
    for line in shown.lines().chain(other.lines()) {
        let is_call = line.contains("open") || line.contains("stat") || line.contains("access");
        assert!(!(is_call && line.contains("= ") && line.contains("passwd\"")), "{line}");
    }
}

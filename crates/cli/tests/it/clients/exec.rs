//! `countersign codex exec`: real workers, frozen and current.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    desk::{CODEX_0_99, Desk, PROGRAM, client, codex_versions},
    model::Model,
};
use crate::support::Ran;

/// Runs a worker with these steps.
fn work(desk: &Desk, codex: &Path, steps: &Value, more: &[&str]) -> Ran {
    let prompt = format!("STEPS:{steps}");
    let bin = codex.to_str().unwrap();
    let arguments =
        [&["codex", "exec", "--bin", bin], more, &[&prompt, "--", "--skip-git-repo-check"]].concat();
    desk.run(Path::new(PROGRAM), &arguments, &[("MOCK_KEY", "x")])
}

/// The events on standard output, which a strict check must accept and the log must have.
fn events(desk: &Desk, ran: &Ran) -> Vec<Value> {
    desk.write("home/events.ndjson", ran.stdout());
    let file = desk.path("home/events.ndjson").display().to_string();
    desk.countersign(&["events", "validate", "--strict", &file]);
    let events: Vec<Value> = ran.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stream = events[0]["stream_id"].as_str().unwrap_or_else(|| panic!("{}", ran.screen()));
    assert!(stream.starts_with("worker:"), "{stream}");
    assert_eq!(desk.countersign(&["events", "tail", "--stream", stream]).stdout(), ran.stdout());
    assert_eq!(
        (&events[0]["event"], &events[events.len() - 1]["event"]),
        (&json!("SESSION_START"), &json!("SESSION_STOP"))
    );
    events
}

fn exec(command: &str) -> Value {
    json!({"tool": "exec_command", "input": {"cmd": command}})
}

#[test]
fn what_a_worker_tells_becomes_events_and_its_lines_are_kept() {
    for codex in codex_versions("what_a_worker_tells_becomes_events_and_its_lines_are_kept") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let steps = json!([exec("touch made"), {"say": "finished"}]);
        let ran = work(&desk, &codex, &steps, &["--sandbox", "workspace-write"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        assert!(desk.has("work/made"));
        let events = events(&desk, &ran);
        let told: Vec<&Value> = events.iter().filter(|event| event["event"] == "WORKER_EVENT").collect();
        let types: Vec<&str> = told.iter().map(|event| event["detail"]["type"].as_str().unwrap()).collect();
        assert!(types.contains(&"thread.started") && types.contains(&"turn.completed"), "{types:?}");
        let end = told.last().unwrap();
        assert_eq!(
            (&end["detail"]["type"], &end["detail"]["status"]),
            (&json!("end"), &json!("completed")),
            "{end}"
        );
        let command = told.iter().find(|event| event["detail"]["item"]["exit_code"] == 0).unwrap();
        assert!(command["detail"]["item"]["command"].as_str().unwrap().contains("touch made"), "{command}");
        // Every event names its line by its hash, and the lines are there.
        let run = events[0]["context"]["run_id"].as_str().unwrap();
        let raw = desk.read(&format!("work/.countersign/evidence/{run}.ndjson")).unwrap();
        let lines = u64::try_from(raw.lines().count()).unwrap();
        assert_eq!(
            (&end["detail"]["lines"], end["detail"]["raw"]["bytes"].as_u64()),
            (&json!(lines), u64::try_from(raw.len()).ok())
        );
        assert_eq!(told.len() - 1, raw.lines().count());
        for (event, line) in told.iter().zip(raw.lines()) {
            let hash = countersign_canon::Sha256::of(line.as_bytes()).to_string();
            assert_eq!(event["detail"]["raw"]["sha256"], json!(hash));
        }
    }
}

#[test]
fn a_worker_only_reads_unless_somebody_says_otherwise() {
    for codex in codex_versions("a_worker_only_reads_unless_somebody_says_otherwise") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        work(&desk, &codex, &json!([exec("touch denied")]), &[]);
        assert!(!desk.has("work/denied"));
        desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
        let ran = work(&desk, &codex, &json!([exec("touch denied")]), &["--sandbox", "workspace-write"]);
        assert_eq!(ran.exit, Some(1), "{}", ran.screen());
        assert!(ran.stderr().contains("URM_MODE_DENIED") && !desk.has("work/denied"), "{}", ran.screen());
    }
}

#[test]
fn the_last_message_is_held_to_its_schema() {
    for codex in codex_versions("the_last_message_is_held_to_its_schema") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let schema = json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}, "additionalProperties": false});
        desk.write("home/schema.json", &schema.to_string());
        let schema = desk.path("home/schema.json").display().to_string();
        for (message, problem) in [
            (r#"{"ok":true}"#, None),
            (r#"{"ok":"yes"}"#, Some("at `/ok`")),
            ("not json at all", Some("it is not JSON")),
        ] {
            let ran = work(&desk, &codex, &json!([{"say": message}]), &["--output-schema", &schema]);
            assert_eq!(ran.exit, Some(i32::from(problem.is_some())), "{}", ran.screen());
            let events = events(&desk, &ran);
            let end = &events[events.len() - 2]["detail"];
            assert_eq!(end["status"], "completed", "what Codex says: {end}");
            assert_eq!(end["problems"].as_array().unwrap().len(), usize::from(problem.is_some()), "{end}");
            if let Some(problem) = problem {
                assert!(
                    ran.stderr().contains("WORKER_OUTPUT_INVALID") && ran.stderr().contains(problem),
                    "{}",
                    ran.screen()
                );
            }
        }
        desk.write("home/schema.json", r#"{"type":"text"}"#);
        let ran = work(&desk, &codex, &json!([]), &["--output-schema", &schema]);
        assert_eq!(ran.exit, Some(2), "{}", ran.screen());
    }
}

/// The provider is not there: a current Codex would wait for ever.
#[test]
fn a_worker_without_a_provider_has_an_end() {
    for codex in codex_versions("a_worker_without_a_provider_has_an_end") {
        let mut model = Model::start(|_| ());
        model.address = "http://127.0.0.1:9".to_owned();
        let desk = Desk::governed(&model, "");
        let ran = work(&desk, &codex, &json!([]), &["--timeout", "6"]);
        let events = events(&desk, &ran);
        let status = events[events.len() - 2]["detail"]["status"].as_str().unwrap();
        match ran.exit {
            Some(1) => assert_eq!(status, "failed", "{}", ran.screen()),
            Some(2) => {
                assert!(status == "timed_out" && ran.stderr().contains("WORKER_TIMEOUT"), "{}", ran.screen())
            }
            _ => panic!("{}", ran.screen()),
        }
    }
}

#[test]
fn a_worker_that_takes_too_long_is_ended_with_what_it_runs() {
    for codex in codex_versions("a_worker_that_takes_too_long_is_ended_with_what_it_runs") {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        // Long enough for nobody to wait for, and a number that nobody else sleeps for.
        let nap = format!("sleep 3600.{}", std::process::id());
        let steps = json!([exec(&format!("touch began; {nap}"))]);
        let ran = work(&desk, &codex, &steps, &["--sandbox", "workspace-write", "--timeout", "10"]);
        assert_eq!(ran.exit, Some(2), "{}", ran.screen());
        assert!(desk.has("work/began"), "{}", ran.screen());
        events(&desk, &ran);
        let left = desk.run(Path::new("/usr/bin/pgrep"), &["-af", &format!("^{nap}$")], &[]);
        assert_eq!(left.exit, Some(1), "what it had started goes on: {}", left.screen());
    }
}

#[test]
fn a_program_that_cannot_be_a_worker_is_not_made_one() {
    let Some(codex) = client("a_program_that_cannot_be_a_worker_is_not_made_one", CODEX_0_99) else { return };
    for option in ["--json", "--output-schema", "--sandbox"] {
        let model = Model::start(|_| ());
        let desk = Desk::governed(&model, "");
        let codex = codex.display();
        let shim = format!(
            "#!/bin/bash\nif [ \"$1 $2\" = \"exec --help\" ]; then {codex} exec --help | sed 's#{option}#--other#g'; else exec {codex} \"$@\"; fi\n"
        );
        desk.write_program("home/codex-shim", &shim);
        desk.write("home/schema.json", "{}");
        let schema = desk.path("home/schema.json").display().to_string();
        let steps = json!([exec("touch denied")]);
        let ran = work(&desk, &desk.path("home/codex-shim"), &steps, &["--output-schema", &schema]);
        assert_eq!(ran.exit, Some(1), "{option}: {}", ran.screen());
        assert!(ran.stderr().contains("URM_CAPABILITY_MISSING"), "{}", ran.screen());
        let codes: Vec<String> =
            events(&desk, &ran).iter().map(|event| event["detail"]["decision_code"].to_string()).collect();
        assert!(codes.contains(&"\"URM_CAPABILITY_MISSING\"".to_owned()), "{codes:?}");
        assert!(!model.heard().contains("STEPS"));
    }
}

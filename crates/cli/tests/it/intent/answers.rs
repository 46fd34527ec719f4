//! Question, answer, and what an answer may not do (AP1 to AP3).

use super::EVALUATIONS;
use crate::support::{Ran, Sandbox, repository, shipped_text, shipped_under};

const NAME: &str = "scenario_c_no_priority";

fn answer(pack: &str, more: &[&str]) -> Ran {
    let sandbox = Sandbox::new();
    sandbox.write("answers.json", pack);
    let sealed = sandbox.run(&["intent", "seal", "answers.json"]);
    sandbox.write("answers.json", sealed.stdout());
    let set = repository().join(format!("{EVALUATIONS}/{NAME}/intent_set_{NAME}.json"));
    sandbox.run(&[&["intent", "evaluate", set.to_str().unwrap(), "--answers", "answers.json"], more].concat())
}

fn good() -> String {
    shipped_text(&format!("{EVALUATIONS}/{NAME}/answered/answer_pack.json"))
}

#[track_caller]
fn refused(pack: &str, code: &str) {
    let ran = answer(pack, &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stdout().contains(&format!("\"code\": \"{code}\"")), "{}", ran.screen());
}

#[test]
fn a_good_answer_is_taken() {
    assert_eq!(answer(&good(), &[]).exit, Some(0));
}

#[test]
fn an_answer_is_taken_at_another_time_too() {
    let ran = answer(&good(), &["--now", "2026-02-01T00:00:00Z"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    assert!(ran.stdout().contains("\"created_at\": \"2026-02-01T00:00:00Z\""));
}

/// Each fixture is the good pack with one thing wrong; its name says which red line it breaks.
#[test]
fn every_fixture_is_refused_for_its_own_reason() {
    let fixtures = shipped_under("fixtures/intent/answers");
    assert!(fixtures.len() >= 6, "{fixtures:?}");
    for path in fixtures {
        let code = path.rsplit('/').next().unwrap().split("__").next().unwrap().to_owned();
        refused(&shipped_text(&path), &code);
    }
}

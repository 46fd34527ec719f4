//! Every gate passes with the engine as it is, and the right one turns red when the engine is broken on purpose.

use std::path::Path;

use countersign_canon::{Issue, Json, NonEmpty};
use countersign_dryrun::{PlanOptions, Source, read_result, seal_result};
use countersign_intent::Registry;

use super::{ENGINE, Engine, GATES, checked, examples::Examples, explain, judge, result};

type Made = Result<Json<'static>, NonEmpty<Issue>>;

fn examples() -> Examples {
    Examples::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The letters of the gates that are red. Gate E starts the built program and is shown end to end.
fn red_on(examples: &Examples, engine: Engine) -> String {
    let gates = GATES.iter().filter(|gate| gate.letter != "E").map(|gate| checked(gate, examples, engine));
    gates.filter(|gate| !gate.complaints.is_empty()).map(|gate| gate.letter).collect()
}

fn red(engine: Engine) -> String {
    red_on(&examples(), engine)
}

/// The same object with the member at this path changed.
fn changed(
    json: &Json<'static>,
    path: &[&'static str],
    change: &dyn Fn(&Json<'static>) -> Json<'static>,
) -> Json<'static> {
    let Some((first, rest)) = path.split_first() else { return change(json) };
    let members = json.as_object().unwrap().members().iter().map(|member| {
        let is_meant = member.key == *first;
        (
            member.key.clone(),
            if is_meant { changed(&member.value, rest, change) } else { member.value.clone() },
        )
    });
    Json::object(members)
}

fn without_first(list: &Json<'static>) -> Json<'static> {
    Json::from(list.as_array().unwrap().iter().skip(1).cloned().collect::<Vec<_>>())
}

#[test]
fn the_engine_as_it_is_passes() {
    assert_eq!(red(ENGINE), "");
}

fn forgets_a_file(source: &Source, options: PlanOptions<'_>) -> Made {
    let made = result(source, options)?;
    Ok(seal_result(&changed(&made, &["patch_plan", "files"], &without_first)))
}

#[test]
fn forgetting_a_file_turns_b_red() {
    let red = red(Engine { plan: forgets_a_file, ..ENGINE });
    assert!(red.contains('B') && !red.contains('A') && !red.contains('D'), "{red}");
}

fn carries_payload(source: &Source, options: PlanOptions<'_>) -> Made {
    let made = result(source, options)?;
    let with_script = |metadata: &Json<'static>| {
        let members = metadata.as_object().unwrap().members().iter();
        let members = members.map(|member| (member.key.clone(), member.value.clone()));
        Json::object(members.chain([("script".into(), Json::from("make"))]))
    };
    Ok(seal_result(&changed(&made, &["metadata"], &with_script)))
}

#[test]
fn a_payload_turns_d_red() {
    let red = red(Engine { plan: carries_payload, ..ENGINE });
    assert!(red.contains('B') && red.contains('D'), "{red}");
}

fn asks_nobody(source: &Source, mut options: PlanOptions<'_>) -> Made {
    // An intent of high risk that nobody reviews is planned all the same.
    options.created_at = countersign_canon::Timestamp::UNIX_EPOCH;
    result(source, options).or_else(|_| Ok(Json::from("planned")))
}

#[test]
fn planning_high_risk_without_review_turns_c_red() {
    assert!(red(Engine { plan: asks_nobody, ..ENGINE }).contains('C'));
}

fn accepts_all(_: &Json<'_>, _: &Source, _: Option<&Registry>) -> Vec<Issue> {
    Vec::new()
}

#[test]
fn a_validator_that_accepts_everything_turns_c_red() {
    assert_eq!(red(Engine { judge: accepts_all, ..ENGINE }), "C");
}

fn looks_at_the_result_alone(json: &Json<'_>, _: &Source, _: Option<&Registry>) -> Vec<Issue> {
    read_result(json).map_or_else(NonEmpty::into_vec, |_| Vec::new())
}

#[test]
fn a_validator_that_forgets_the_intent_turns_c_red() {
    assert_eq!(red(Engine { judge: looks_at_the_result_alone, ..ENGINE }), "C");
}

fn refuses_all(json: &Json<'_>, source: &Source, registry: Option<&Registry>) -> Vec<Issue> {
    let mut issues = judge(json, source, registry);
    issues.push(Issue::new(crate::failure::codes::CLI_DEFECT, "no"));
    issues
}

#[test]
fn a_validator_that_refuses_everything_turns_b_red() {
    assert_eq!(red(Engine { judge: refuses_all, ..ENGINE }), "B");
}

fn mumbles(json: &Json<'_>) -> String {
    explain(json).replace("risk", "fun")
}

#[test]
fn another_explanation_turns_f_red() {
    assert_eq!(red(Engine { explain: mumbles, ..ENGINE }), "F");
}

#[test]
fn a_missing_example_turns_a_and_c_red() {
    let mut examples = examples();
    examples.examples.retain(|example| example.name != "api_feature");
    assert_eq!(red_on(&examples, ENGINE), "AC");
}

#[test]
fn an_unlisted_fixture_turns_c_red() {
    let mut examples = examples();
    examples.invalid.insert("surprise".into(), b"{}".to_vec());
    assert_eq!(red_on(&examples, ENGINE), "C");
}

#[test]
fn a_planner_that_could_reach_the_world_turns_d_red() {
    let cases: [(&str, &str, &str); 6] = [
        ("crates/dryrun/Cargo.toml", "[dependencies]\n", "[dependencies]\ntempfile.workspace = true\n"),
        (
            "crates/intent/Cargo.toml",
            "[dependencies]\n",
            "[target.'cfg(unix)'.dependencies]\nrustix = \"1\"\n",
        ),
        ("Cargo.lock", "name = \"typenum\"\n", "name = \"typenum\"\ndependencies = [\n \"mio\",\n]\n"),
        ("crates/dryrun/src/lib.rs", "#![no_std]\n", ""),
        ("crates/dryrun/src/plan.rs", "use alloc::", "use std::fs; use alloc::"),
        (
            "crates/cli/src/dry_run/inputs.rs",
            "use std::path::Path;",
            "use crate::effects::git; use std::path::Path;",
        ),
    ];
    for (file, from, to) in cases {
        let mut examples = examples();
        let text = examples.sources.get_mut(file).unwrap();
        assert!(text.contains(from), "{file}");
        *text = text.replacen(from, to, 1);
        let gate = GATES.iter().find(|gate| gate.letter == "D").unwrap();
        assert!(!checked(gate, &examples, ENGINE).complaints.is_empty(), "{file}");
    }
}

//! Every gate passes with the engine as it is, and the right one turns red when the engine is broken on purpose.

use std::path::Path;

use countersign_canon::Json;
use countersign_intent::{DocumentKind, EvaluateOptions, IntentSet};

use super::{Documents, ENGINE, Ended, Engine, GATES, checked, examples::Examples, outcome};
use crate::effects::folder;

fn examples() -> Examples {
    Examples::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The letters of the gates that are red. Gate E runs the built program: it has tests of its own below.
fn red(engine: Engine) -> String {
    let examples = examples();
    let gates = GATES.iter().filter(|gate| gate.letter != "E").map(|gate| checked(gate, &examples, engine));
    gates.filter(|gate| !gate.complaints.is_empty()).map(|gate| gate.letter).collect()
}

/// The same object with the member at this path changed, and with the right checksum if it has one.
fn changed(
    json: &Json<'static>,
    path: &[&'static str],
    change: &dyn Fn(Json<'static>) -> Json<'static>,
) -> Json<'static> {
    let Some((first, rest)) = path.split_first() else { return change(json.clone()) };
    let members = json.as_object().unwrap().members().iter().map(|member| {
        let value =
            if member.key == *first { changed(&member.value, rest, change) } else { member.value.clone() };
        (member.key.clone(), value)
    });
    Json::object(members)
}

fn without_last(list: Json<'static>) -> Json<'static> {
    let items = list.as_array().unwrap();
    Json::from(items[..items.len().saturating_sub(1)].to_vec())
}

fn resealed(mut documents: Vec<Json<'static>>) -> Vec<Json<'static>> {
    for document in &mut documents {
        if document.get("result_intent").is_some() {
            *document = changed(document, &["result_intent"], &|intent| DocumentKind::Intent.seal(&intent));
        }
        *document = DocumentKind::of(document).unwrap().seal(document);
    }
    documents
}

#[test]
fn the_engine_as_it_is_passes() {
    assert_eq!(red(ENGINE), "");
}

fn blind_to_order(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    documents[0] = changed(&documents[0], &["evaluation", "conflicts"], &|conflicts| {
        let kept = conflicts.as_array().unwrap().iter();
        let kept = kept.filter(|conflict| conflict.get("type").unwrap().as_str() != Some("order_conflict"));
        Json::from(kept.cloned().collect::<Vec<_>>())
    });
    Ok(resealed(documents))
}

#[test]
fn skipping_a_conflict_type_turns_g_red() {
    let red = red(Engine { evaluate: blind_to_order, ..ENGINE });
    assert_eq!(red, "FGH", "explanation and bytes change as well");
}

fn forgets_a_source(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    if documents[1].get("result_intent").is_some() {
        documents[1] = changed(&documents[1], &["result_intent", "lineage", "derived_from"], &without_last);
    }
    Ok(resealed(documents))
}

#[test]
fn dropping_a_lineage_entry_turns_j_red() {
    let red = red(Engine { evaluate: forgets_a_source, ..ENGINE });
    assert!(red.contains('J') && !red.contains('G') && !red.contains('I'), "{red}");
}

fn smuggles(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    if documents[1].get("result_intent").is_some() {
        documents[1] = changed(&documents[1], &["result_intent", "lineage"], &with_script);
    }
    Ok(resealed(documents))
}

fn smuggles_in_the_plan(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    documents[1] = changed(&documents[1], &["lineage"], &with_script);
    Ok(resealed(documents))
}

fn with_script(lineage: Json<'static>) -> Json<'static> {
    let members = lineage.as_object().unwrap().members().iter();
    let members = members.map(|member| (member.key.clone(), member.value.clone()));
    Json::object(members.chain([("script".into(), Json::from("make"))]))
}

#[test]
fn a_payload_in_a_lineage_turns_j_red() {
    let complaints = |evaluate| {
        let gate = GATES.iter().find(|gate| gate.letter == "J").unwrap();
        checked(gate, &examples(), Engine { evaluate, ..ENGINE }).complaints
    };
    for found in [complaints(smuggles), complaints(smuggles_in_the_plan)] {
        assert!(!found.is_empty());
        assert!(
            found.iter().all(|complaint| complaint.contains("in the lineage: the key `script`")),
            "{found:?}"
        );
    }
}

fn adds_a_field(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    documents[0] = changed(&documents[0], &["evaluation"], &|evaluation| {
        let members = evaluation.as_object().unwrap().members().iter();
        let members = members.map(|member| (member.key.clone(), member.value.clone()));
        Json::object(members.chain([("note".into(), Json::from("more"))]))
    });
    Ok(resealed(documents))
}

#[test]
fn adding_a_field_turns_b_red() {
    let red = red(Engine { evaluate: adds_a_field, ..ENGINE });
    assert!(red.contains('B') && !red.contains('D') && !red.contains('G'), "{red}");
}

fn carries_payload(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    documents[0] = changed(&documents[0], &["evaluation", "merge_plan"], &|plan| {
        let members = plan.as_object().unwrap().members().iter();
        let members = members.map(|member| (member.key.clone(), member.value.clone()));
        Json::object(members.chain([("execute".into(), Json::from("make"))]))
    });
    Ok(resealed(documents))
}

#[test]
fn a_payload_turns_d_red() {
    let red = red(Engine { evaluate: carries_payload, ..ENGINE });
    assert!(red.contains('D'), "{red}");
}

fn rounds_risk(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    documents[0] = changed(&documents[0], &["evaluation", "risk_comparison", "matrix"], &|matrix| {
        let rows = matrix.as_array().unwrap().iter();
        let zero = |_: Json<'static>| Json::from(0);
        Json::from(rows.map(|row| changed(row, &["dimensions", "unknowns"], &zero)).collect::<Vec<_>>())
    });
    Ok(resealed(documents))
}

#[test]
fn a_wrong_score_turns_i_red() {
    let red = red(Engine { evaluate: rounds_risk, ..ENGINE });
    assert!(red.contains('I') && !red.contains('J') && !red.contains('G'), "{red}");
}

fn depends_on_order(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let mut documents = outcome(set, options)?;
    let ids = &set.document().intent_ids;
    let is_sorted = ids.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_sorted {
        documents[0] = changed(&documents[0], &["evaluation", "conflicts"], &|_| Json::from(Vec::new()));
    }
    Ok(resealed(documents))
}

#[test]
fn depending_on_the_order_of_ids_turns_h_red() {
    assert!(red(Engine { evaluate: depends_on_order, ..ENGINE }).contains('H'));
}

fn mumbles(result: &Json<'_>) -> String {
    format!("{} ", super::explain(result))
}

#[test]
fn another_explanation_turns_f_red_and_nothing_else() {
    assert_eq!(red(Engine { explain: mumbles, ..ENGINE }), "F");
}

#[test]
fn a_missing_or_accepted_fixture_turns_c_red_and_a_missing_example_a() {
    let mut examples = examples();
    let valid = examples.examples[0].files["evaluation_result.json"].clone();
    examples.invalid.insert("eval_no_lineage".into(), valid);
    examples.invalid.remove("eval_missing_checksum");
    examples.examples.retain(|example| example.name != "merge_union");
    let red = |letter: &str| {
        let gate = GATES.iter().find(|gate| gate.letter == letter).unwrap();
        checked(gate, &examples, ENGINE).complaints
    };
    assert_eq!(red("C"), ["eval_missing_checksum: is missing", "eval_no_lineage: is accepted"]);
    assert_eq!(red("A"), ["merge_union: is missing"]);
}

#[test]
fn a_schema_with_an_execution_symbol_turns_d_red() {
    let mut examples = examples();
    examples.schemas.insert("intent_x.schema.json".into(), br#"{"properties": {"shell": {}}}"#.to_vec());
    let gate = GATES.iter().find(|gate| gate.letter == "D").unwrap();
    assert_eq!(checked(gate, &examples, ENGINE).complaints.len(), 1);
}

/// A program that does what it should: its output and nothing else.
fn tidy_program(work: &Path, _: &Path, _: &[&str]) -> Ended {
    folder::put(&work.join("out/evaluation_result.json"), "{}")?;
    Ok(Some(0))
}

fn litters_home(work: &Path, home: &Path, arguments: &[&str]) -> Ended {
    folder::put(&home.join(".cache"), "")?;
    tidy_program(work, home, arguments)
}

fn litters_work(work: &Path, home: &Path, arguments: &[&str]) -> Ended {
    folder::put(&work.join("notes.txt"), "")?;
    tidy_program(work, home, arguments)
}

fn changes_its_input(work: &Path, home: &Path, arguments: &[&str]) -> Ended {
    folder::put(&work.join(arguments[2]), "{}")?;
    tidy_program(work, home, arguments)
}

fn fails(work: &Path, home: &Path, arguments: &[&str]) -> Ended {
    tidy_program(work, home, arguments).map(|_| Some(2))
}

fn writes_nothing(_: &Path, _: &Path, _: &[&str]) -> Ended {
    Ok(Some(0))
}

#[test]
fn a_program_that_touches_more_than_its_output_turns_e_red() {
    let mut examples = examples();
    examples.examples.truncate(1);
    let name = examples.examples[0].name.clone();
    let set = examples.examples[0].set_file().unwrap().0.to_owned();
    let complaints = |run| {
        let gate = GATES.iter().find(|gate| gate.letter == "E").unwrap();
        checked(gate, &examples, Engine { run, ..ENGINE }).complaints
    };
    assert_eq!(complaints(tidy_program), [""; 0]);
    assert_eq!(complaints(litters_home), [format!("{name}: left [\".cache\"] in the home folder")]);
    assert_eq!(complaints(changes_its_input), [format!("{name}: {set} is not what it was")]);
    assert_eq!(complaints(fails), [format!("{name}: ends with Some(2)")]);
    assert_eq!(complaints(writes_nothing), [format!("{name}: wrote []")]);
    let littered = complaints(litters_work);
    assert!(littered.len() == 1 && littered[0].contains("notes.txt"), "{littered:?}");
}

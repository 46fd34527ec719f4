//! Every place of three results, changed, removed and added to: nothing goes unnoticed, not even with new checksums.

extern crate std;

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Json, Timestamp, Value, Wire};

use crate::{OverBudget, PlanOptions, Source, plan, read_result, seal_result, validate, without_times};

/// A step into a document.
#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// Every place of a document but its root.
fn places(json: &Json<'static>, at: &[Step], all: &mut Vec<Vec<Step>>) {
    let mut visit = |step: Step, value: &Json<'static>| {
        let here: Vec<Step> = at.iter().cloned().chain([step]).collect();
        all.push(here.clone());
        places(value, &here, all);
    };
    match &json.value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(Step::Index(index), item));
        }
        Value::Object(object) => {
            object
                .members()
                .iter()
                .for_each(|member| visit(Step::Key(member.key.to_string()), &member.value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

/// What becomes of a value; nothing if it is taken out.
type Change = dyn Fn(&Json<'static>) -> Option<Json<'static>>;

/// The document with the value at a place replaced by what the function gives; by nothing, taken out.
fn with(json: &Json<'static>, at: &[Step], change: &Change) -> Option<Json<'static>> {
    let Some((first, rest)) = at.split_first() else { return change(json) };
    Some(match (&json.value, first) {
        (Value::Array(items), Step::Index(wanted)) => {
            let items = items.iter().enumerate();
            let items = items.filter_map(|(index, item)| {
                if index == *wanted { with(item, rest, change) } else { Some(item.clone()) }
            });
            Json::from(items.collect::<Vec<_>>())
        }
        (Value::Object(object), Step::Key(wanted)) => {
            let members = object.members().iter().filter_map(|member| {
                let value = if member.key == *wanted {
                    with(&member.value, rest, change)
                } else {
                    Some(member.value.clone())
                };
                Some((member.key.clone(), value?))
            });
            Json::object(members)
        }
        _ => json.clone(),
    })
}

/// Another value of the same sort: one that its type would often accept.
fn another(json: &Json<'static>) -> Json<'static> {
    match &json.value {
        Value::Null => Json::from(true),
        Value::Bool(truth) => Json::from(!truth),
        Value::Number(number) => Json::from(if number.as_i64() == Some(1) { 2 } else { 1 }),
        Value::String(text) => Json::from(match text.as_ref() {
            "low" => "medium".to_string(),
            "medium" => "high".to_string(),
            "read" => "network".to_string(),
            "sequential" => "parallel".to_string(),
            "modify" => "add".to_string(),
            text if text.len() == 64 => text.chars().rev().collect(),
            text if text.starts_with("2026-") => "2027-02-02T00:00:00Z".to_string(),
            text if text.ends_with(|last: char| last.is_ascii_digit()) => format!("{text}1"),
            text => format!("{text}x"),
        }),
        Value::Array(items) => Json::from(items.iter().skip(1).cloned().collect::<Vec<_>>()),
        Value::Object(_) => Json::object([("x", Json::from(true))]),
    }
}

/// One element or member more.
fn added(json: &Json<'static>) -> Option<Json<'static>> {
    match &json.value {
        Value::Array(items) => {
            let more = items.first().cloned().unwrap_or_else(|| Json::from("more"));
            Some(Json::from(items.iter().cloned().chain([more]).collect::<Vec<_>>()))
        }
        Value::Object(object) => {
            let members = object.members().iter().map(|member| (member.key.clone(), member.value.clone()));
            Some(Json::object(members.chain([("more".into(), Json::from("more"))])))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn check(intent: &str) -> usize {
    let source = Source::load(intent.as_bytes(), None).unwrap();
    let created_at = Timestamp::parse("2026-02-12T09:10:00Z").unwrap();
    let options = PlanOptions { registry: None, created_at, over_budget: OverBudget::Refused };
    let good = plan(&source, options).unwrap().write();
    let refuses = |json: &Json<'static>| validate(json, &source, None, OverBudget::Refused).is_err();
    assert!(!refuses(&good));
    let mut all = Vec::new();
    places(&good, &[], &mut all);
    let mut tried = 0_usize;
    for place in &all {
        let changes: [&Change; 3] = [&|json| Some(another(json)), &|_| None, &|json| added(json)];
        for change in changes {
            let Some(bad) = with(&good, place, change) else { continue };
            // Another time is another run, and a change that changes nothing is none.
            if without_times(&bad) == without_times(&good) {
                continue;
            }
            tried = tried.saturating_add(1);
            assert!(read_result(&bad).is_err(), "{place:?} goes unnoticed");
            let sealed = seal_result(&bad);
            assert!(sealed == good || refuses(&sealed), "{place:?} goes unnoticed once it is sealed again");
        }
    }
    tried
}

#[test]
fn every_changed_value_of_a_plan_for_documents_is_refused() {
    assert!(
        check(include_str!("../../../../../examples/dry-run/docs_change/intent_explain_refunds.json")) > 500
    );
}

#[test]
fn every_changed_value_of_a_plan_for_a_migration_is_refused() {
    assert!(
        check(include_str!(
            "../../../../../examples/dry-run/database_migration/intent_split_customer_name.json"
        )) > 1000
    );
}

#[test]
fn every_changed_value_of_a_plan_full_of_unknowns_is_refused() {
    assert!(
        check(include_str!("../../../../../examples/dry-run/ambiguous_targets/intent_tidy_logging.json"))
            > 500
    );
}

#[test]
fn a_time_that_is_none_is_refused() {
    let source = Source::load(
        include_bytes!("../../../../../examples/dry-run/docs_change/intent_explain_refunds.json"),
        None,
    )
    .unwrap();
    let created_at = Timestamp::parse("2026-02-12T09:10:00Z").unwrap();
    let options = PlanOptions { registry: None, created_at, over_budget: OverBudget::Refused };
    let good = plan(&source, options).unwrap().write().to_canonical();
    let judge = |time: &str| {
        let text = good.replacen("2026-02-12T09:10:00Z", time, 1);
        let json = Json::parse(text.as_bytes()).unwrap();
        validate(&json, &source, None, OverBudget::Refused).is_ok()
    };
    assert!(judge("2027-02-12T09:10:00Z"), "another time is another run");
    assert!(!judge("2026-02-30T09:10:00Z") && !judge("yesterday"));
}

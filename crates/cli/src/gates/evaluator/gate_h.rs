//! Gate H: the same input gives the same bytes, in whatever order the ids stand, and they are the shipped bytes.

use countersign_canon::Json;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate =
    Gate { letter: "H", what: "same input, same bytes; permuted ids, same bytes", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    let bytes = |documents: &[Json<'_>]| documents.iter().map(Json::to_pretty).collect::<Vec<_>>();
    for example in &examples.examples {
        let (first, second) = (examples.outcome(example, engine), examples.outcome(example, engine));
        let (Ok(first), Ok(second)) = (first, second) else {
            complaints.push(format!("{}: could not be weighed", example.name));
            continue;
        };
        if bytes(&first) != bytes(&second) {
            complaints.push(format!("{}: twice weighed, twice different", example.name));
        }
        let permuted = example.set_file().and_then(|(_, bytes)| reversed(bytes));
        let permuted =
            permuted.and_then(|set| example.set_from(set.as_bytes(), examples.registry.as_ref()).ok());
        let permuted = permuted.and_then(|set| examples.outcome_of(&set, engine).ok());
        if permuted.as_deref().map(bytes) != Some(bytes(&first)) {
            complaints.push(format!("{}: another order of ids gives another outcome", example.name));
        }
        let shipped = ["evaluation_result.json", "merge_plan.json", "question_pack.json"];
        let shipped: Vec<&[u8]> =
            shipped.iter().filter_map(|file| example.files.get(*file).map(Vec::as_slice)).collect();
        let made = bytes(&first);
        if shipped != made.iter().map(String::as_bytes).collect::<Vec<_>>() {
            complaints.push(format!("{}: the outcome is not the shipped one", example.name));
        }
    }
    complaints
}

/// The same set with its ids the other way round; its checksum does not depend on their order.
fn reversed(set: &[u8]) -> Option<String> {
    let json = Json::parse(set).ok()?;
    let mut ids = json.get("intent_ids")?.as_array()?.to_vec();
    ids.reverse();
    let members = json.as_object()?.members().iter().map(|member| (member.key.clone(), member.value.clone()));
    Some(Json::object(members.chain([("intent_ids".into(), Json::from(ids))])).to_canonical())
}

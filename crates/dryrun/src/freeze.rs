//! Freezing: what a checksum covers, and whether every one of them is right (DE6).

use alloc::{format, vec::Vec};

use countersign_canon::{Checksum, Issue, Issues, Json, Member, Pointer, Sha256, Value};

use crate::code::codes;

/// The members that say when something was made: two runs differ in them and in nothing else.
const TIMES: [&str; 2] = ["created_at", "timestamp"];

/// The documents of a result that carry a checksum: the inner ones first, the result last.
const FROZEN: [Option<&str>; 4] = [Some("graph"), Some("patch_plan"), Some("commit_plan"), None];

/// The checksum of a document: everything but its own `checksum` and every time, at whatever depth.
#[must_use]
pub fn freeze_checksum(document: &Json<'_>) -> Checksum {
    Checksum::of_canonical(document.to_canonical_unnamed("checksum", &TIMES).as_bytes())
}

/// The same document without any member that says when.
#[must_use]
pub fn without_times<'a>(json: &Json<'a>) -> Json<'a> {
    match &json.value {
        Value::Array(items) => Json::from(items.iter().map(without_times).collect::<Vec<_>>()),
        Value::Object(object) => {
            let kept = object.members().iter().filter(|member| !TIMES.contains(&member.key.as_ref()));
            Json::object_of(kept.map(|member| {
                Member::new(member.key.clone(), member.key_offset(), without_times(&member.value))
            }))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => json.clone(),
    }
}

/// The same result with every checksum recomputed, whatever else is wrong with it.
#[must_use]
pub fn seal_result(result: &Json<'static>) -> Json<'static> {
    let mut sealed = result.clone();
    for part in FROZEN {
        sealed = match part.map(|key| (key, sealed.get(key).cloned())) {
            Some((key, Some(inner))) if inner.as_object().is_some() => {
                with_member(&sealed, key, sealed_one(&inner))
            }
            Some(_) => sealed,
            None => sealed_one(&sealed),
        };
    }
    sealed
}

fn sealed_one(document: &Json<'static>) -> Json<'static> {
    with_member(document, "checksum", Json::from(format!("{}", freeze_checksum(document))))
}

fn with_member(json: &Json<'static>, key: &'static str, value: Json<'static>) -> Json<'static> {
    let members = json.as_object().map(|object| object.members()).unwrap_or_default();
    let members = members.iter().map(|member| (member.key.clone(), member.value.clone()));
    Json::object(members.chain([(key.into(), value)]))
}

/// DE6: every checksum is there and right.
pub(crate) fn verify(result: &Json<'_>, issues: &mut Issues) {
    for part in FROZEN {
        let at = part.map_or_else(Pointer::root, |key| Pointer::root().key(key));
        let Some(document) = at.find(result) else { continue };
        let place = at.key("checksum");
        let Some(found) = document.get("checksum") else {
            let issue = Issue::new(codes::DE6_CHECKSUM_MISSING, "the document carries no checksum");
            issues.push(issue.with_pointer(place).with_offset(document.offset()));
            continue;
        };
        let expected = freeze_checksum(document);
        let stored = found.as_str().and_then(|text| Sha256::parse(text).ok());
        if stored != Some(*expected.digest()) {
            issues.push(
                Issue::new(codes::DE6_CHECKSUM_MISMATCH, "the checksum is not that of the content")
                    .with_pointer(place)
                    .with_offset(found.offset())
                    .with_expected(format!("{expected}"))
                    .with_hint("a result is never edited; plan again"),
            );
        }
    }
}

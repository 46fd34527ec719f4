//! A context in one line.

use countersign_canon::Json;

/// The facts of a context that say anything, as `name=value`.
pub(super) fn facts(context: &Json<'_>) -> String {
    let members = context.as_object().map(|object| object.members().to_vec()).unwrap_or_default();
    let says_something = |key: &str, value: &Json<'_>| {
        let is_blank = value.as_bool() == Some(false)
            || value.as_array().is_some_and(<[_]>::is_empty)
            || matches!(value.value, countersign_canon::Value::Null);
        !is_blank && !matches!(key, "evaluation_ts" | "action_hash")
    };
    let facts = members.iter().filter(|member| says_something(&member.key, &member.value));
    let facts =
        facts.map(|member| format!("{}={}", member.key, member.value.to_canonical().replace('"', "")));
    facts.collect::<Vec<_>>().join(" ")
}

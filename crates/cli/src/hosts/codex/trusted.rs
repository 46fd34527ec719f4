//! Codex's trust in our hooks, taken out of its settings again.

use countersign_canon::Json;

use super::super::settings::Ours;

/// The names under which Codex keeps its trust in our hooks: the file, the event, the place in its list, the place in its matcher.
pub(crate) fn keys(hooks_file: &str, settings: &Json<'_>, ours: &Ours) -> Vec<String> {
    let mut keys = Vec::new();
    for (event, name) in [("PreToolUse", "pre_tool_use"), ("PostToolUse", "post_tool_use")] {
        let list = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Json::as_array);
        for (place, matcher) in list.unwrap_or_default().iter().enumerate() {
            let hooks = matcher.get("hooks").and_then(Json::as_array).unwrap_or_default();
            let of_ours = hooks.iter().enumerate().filter(|(_, hook)| ours.has(hook));
            keys.extend(of_ours.map(|(within, _)| format!("{hooks_file}:{name}:{place}:{within}")));
        }
    }
    keys
}

/// The settings without Codex's trust in these hooks, and with every other line; nothing if it has none. The table that they
/// stood in goes too if it is empty then, unless it was there before us.
pub(crate) fn without(found: &str, keys: &[String], before: Option<&str>) -> Option<String> {
    let headers: Vec<String> =
        keys.iter().map(|key| format!("[hooks.state.{}", Json::from(key.clone()).to_canonical())).collect();
    let is_ours = |table: &str| {
        let header = table.lines().next().unwrap_or_default();
        headers.iter().any(|ours| header.strip_prefix(ours.as_str()).is_some_and(|rest| rest.trim() == "]"))
    };
    let tables = tables(found);
    if !tables.iter().any(|table| is_ours(table)) {
        return None;
    }
    let kept: Vec<&str> = tables.into_iter().filter(|table| !is_ours(table)).collect();
    let had_table =
        before.is_some_and(|before| before.lines().any(|line| line.trim_end() == "[hooks.state]"));
    let rest = kept.iter().filter(|table| had_table || table.trim_end() != "[hooks.state]");
    let rest: String = rest.copied().collect();
    // A table begins with the empty line before it for a person, and ends with it here.
    let is_at_end = found.trim_end().len() > rest.trim_end().len() && found.starts_with(rest.trim_end());
    let end = found.get(found.trim_end_matches(['\r', '\n']).len()..).unwrap_or_default();
    let end = if end.starts_with('\r') { "\r\n" } else { "\n" };
    Some(if is_at_end && !rest.trim_end().is_empty() { format!("{}{end}", rest.trim_end()) } else { rest })
}

/// A text in pieces, each from the header of a table to the next one.
fn tables(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0_usize;
    for line in text.split_inclusive('\n') {
        if at > 0 && line.starts_with('[') {
            starts.push(at);
        }
        at = at.saturating_add(line.len());
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).filter_map(|(start, end)| text.get(*start..end)).collect()
}

#[cfg(test)]
mod tests;

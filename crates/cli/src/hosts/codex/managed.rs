//! Hooks in what the machine requires of every user's Codex: `requirements.toml`.
//!
//! Codex itself is the judge of that file: what was put in is asked for again, and taken out if Codex has not understood it.

use countersign_canon::Json;

use super::super::settings::{Entry, end_of_line};

/// The line before what is put in, and the line after it.
const MARKS: [&str; 2] =
    ["# >>> countersign install codex --managed\n", "# <<< countersign install codex --managed\n"];

/// The line under which a user's Codex finds whether it has hooks at all: without it a user could switch them off.
const FEATURES: &str = "[features]";
const HOOKS_ON: &str = "hooks = true\n";
/// The same in a table that was there before us, so that it is found again.
const HOOKS_ON_MARKED: &str = "hooks = true # countersign install codex --managed\n";

/// The requirements with these hooks behind what is there; nothing if they are there already.
pub(crate) fn with_hooks(found: &str, entries: &[Entry]) -> Option<String> {
    let end = end_of_line(found);
    let marked = HOOKS_ON_MARKED.replace('\n', end);
    let mut rest = without_hooks(found).unwrap_or_else(|| found.to_owned());
    if !rest.is_empty() && !rest.ends_with('\n') {
        rest.push_str(end);
    }
    let mut lines: Vec<&str> = rest.split_inclusive('\n').collect();
    let features = match lines.iter().position(|line| line.trim() == FEATURES) {
        None => format!("{FEATURES}\n{HOOKS_ON}"),
        Some(header) => {
            let table = lines.iter().skip(header.saturating_add(1)).take_while(|line| !line.starts_with('['));
            if !table.into_iter().any(|line| line.trim_end() == HOOKS_ON.trim_end()) {
                lines.insert(header.saturating_add(1), &marked);
            }
            String::new()
        }
    };
    let [opening, closing] = MARKS;
    let hooks: String = entries.iter().map(table).collect();
    let ours = format!("{opening}{features}{hooks}{closing}").replace('\n', end);
    let edited = format!("{}{ours}", lines.concat());
    (edited != found).then_some(edited)
}

/// The requirements without what was put in, and with every other line; nothing if there is nothing of ours.
pub(crate) fn without_hooks(found: &str) -> Option<String> {
    let [opening, closing] = MARKS.map(str::trim_end);
    let lines: Vec<&str> = found.split_inclusive('\n').collect();
    let place = |mark: &str| lines.iter().position(|line| line.trim_end() == mark);
    let between = place(opening).zip(place(closing)).filter(|(start, end)| start < end);
    let is_ours = |number: usize, line: &str| {
        let is_between = between.is_some_and(|(start, end)| (start..=end).contains(&number));
        is_between || line.trim_end() == HOOKS_ON_MARKED.trim_end()
    };
    let kept =
        lines.iter().enumerate().filter(|(number, line)| !is_ours(*number, line)).map(|(_, line)| *line);
    let rest: String = kept.collect();
    (rest.len() < found.len()).then_some(rest)
}

/// Every command that the requirements run at an event, as far as they are written as we write them.
pub(crate) fn commands(found: &str, event: &str) -> Vec<String> {
    let (mut table, header) = ("", format!("[[hooks.{event}.hooks]]"));
    let mut commands = Vec::new();
    for line in found.lines().map(str::trim) {
        if line.starts_with('[') {
            table = line;
        }
        let value = line.strip_prefix("command").and_then(|rest| rest.trim_start().strip_prefix('='));
        let value = value.filter(|_| table == header).and_then(|value| Json::parse(value.as_bytes()).ok());
        commands.extend(value.as_ref().and_then(Json::as_str).map(str::to_owned));
    }
    commands
}

/// A hook as TOML; texts and numbers are written as JSON writes them.
fn table(entry: &Entry) -> String {
    let members = |json: &Json<'_>| {
        let object = json.as_object().map(|object| object.members().to_vec()).unwrap_or_default();
        let plain = object.into_iter().filter(|member| member.value.as_array().is_none());
        plain.map(|member| format!("{} = {}\n", member.key, member.value.to_canonical())).collect::<String>()
    };
    let event = entry.event;
    let hooks = entry.matcher.get("hooks").and_then(Json::as_array).unwrap_or_default();
    let hooks = hooks.iter().map(|hook| format!("[[hooks.{event}.hooks]]\n{}", members(hook)));
    format!("\n[[hooks.{event}]]\n{}{}", members(&entry.matcher), hooks.collect::<String>())
}

#[cfg(test)]
mod tests;

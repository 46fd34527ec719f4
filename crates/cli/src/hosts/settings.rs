//! Hooks in a host's settings: put in with as few changed bytes as can be, and found again.
//!
//! Claude Code and Codex write hooks alike: `hooks`, an event, a list of matchers, each with a list of commands.

mod cut;

use countersign_canon::{Issue, Json};

use crate::failure::codes;

/// A hook to be put in: the event, and the matcher with its commands.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) matcher: Json<'static>,
}

/// Whose hooks are ours: this program's for one host, wherever the program was when they were put in.
#[derive(Debug, Clone)]
pub(crate) struct Ours {
    /// The host.
    pub(crate) host: &'static str,
    /// The command that is put in now.
    pub(crate) command: String,
}

impl Ours {
    /// Whether this command is ours: one word that names a program `countersign…`, then `hook` and the host.
    pub(crate) fn is(&self, command: &str) -> bool {
        let program = command.strip_suffix(self.host).and_then(|rest| rest.strip_suffix(" hook "));
        let is_program = program.is_some_and(|program| {
            let is_quoted = program.len() > 1 && program.starts_with('\'') && program.ends_with('\'');
            let name = program.rsplit('/').next().unwrap_or_default().trim_start_matches('\'');
            (is_quoted || !program.contains(char::is_whitespace)) && name.starts_with("countersign")
        });
        is_program || command == self.command
    }

    /// Whether this hook of some settings is ours.
    pub(crate) fn has(&self, hook: &Json<'_>) -> bool {
        hook.get("command").and_then(Json::as_str).is_some_and(|command| self.is(command))
    }

    /// How many hooks of these settings are ours, at all events.
    fn count(&self, settings: &Json<'_>) -> usize {
        let events = settings.get("hooks").and_then(Json::as_object).map(|events| events.members());
        let commands = events.unwrap_or_default().iter().flat_map(|event| commands(settings, &event.key));
        commands.filter(|command| self.is(command)).count()
    }
}

/// The settings without our hooks, and with every other byte; nothing if none of ours are there. An event that is empty then
/// stays only if the settings before us had it.
///
/// # Errors
///
/// Fails if the settings are not what a host would take for settings.
pub(crate) fn without_hooks(
    found: &[u8],
    ours: &Ours,
    before: Option<&[u8]>,
) -> Result<Option<String>, Issue> {
    let json = Json::parse(found)?;
    let text = std::str::from_utf8(found).map_err(|_| wrong("not text"))?;
    let before = before.and_then(|bytes| Json::parse(bytes).ok());
    let Some(rest) = cut::without(text, &json, ours, before.as_ref()) else { return Ok(None) };
    // What is left must be what was meant: all but ours.
    let again = Json::parse(rest.as_bytes())?;
    if ours.count(&again) == 0 && all_commands(&json, ours) == all_commands(&again, ours) {
        Ok(Some(rest))
    } else {
        Err(wrong("not editable"))
    }
}

/// Every command at every event that is not ours.
fn all_commands(settings: &Json<'_>, ours: &Ours) -> Vec<(String, Vec<String>)> {
    let events = settings.get("hooks").and_then(Json::as_object).map(|events| events.members());
    let commands = events.unwrap_or_default().iter().map(|event| {
        let others = commands(settings, &event.key).into_iter().filter(|command| !ours.is(command));
        (event.key.to_string(), others.collect::<Vec<_>>())
    });
    commands.filter(|(_, commands)| !commands.is_empty()).collect()
}

/// The settings with these hooks in front of what is there, in the place of any others of ours; nothing if just these are there.
///
/// # Errors
///
/// Fails if the settings are not what a host would take for settings.
pub(crate) fn with_hooks(
    found: Option<&[u8]>,
    entries: &[Entry],
    ours: &Ours,
) -> Result<Option<String>, Issue> {
    let Some(bytes) = found.filter(|bytes| !bytes.trim_ascii().is_empty()) else {
        let events = entries.iter().map(|entry| (entry.event, Json::array([entry.matcher.clone()])));
        return Ok(Some(Json::object([("hooks", Json::object(events))]).to_pretty()));
    };
    let json = Json::parse(bytes)?;
    if ours.count(&json) == entries.len() && entries.iter().all(|entry| has_hook(&json, entry)) {
        return Ok(None);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| wrong("not text"))?;
    // Two hooks of ours would decide each call twice, and the second would deny it.
    let rest = without_hooks(bytes, ours, None)?.unwrap_or_else(|| text.to_owned());
    let edited = put_in(&rest, entries)?;
    // What was put together must be what was meant.
    let again = Json::parse(edited.as_bytes())?;
    if ours.count(&again) == entries.len() && entries.iter().all(|entry| has_hook(&again, entry)) {
        Ok(Some(edited))
    } else {
        Err(wrong("not editable"))
    }
}

/// The settings with these hooks in front of what is there.
fn put_in(text: &str, entries: &[Entry]) -> Result<String, Issue> {
    let json = Json::parse(text.as_bytes())?;
    let root = json.as_object().ok_or_else(|| wrong("not an object"))?;
    let mut pieces: Vec<(usize, String)> = Vec::new();
    match root.get("hooks") {
        None => {
            let members: Vec<String> = entries.iter().map(|entry| member(entry, 2)).collect();
            let hooks = format!("\n  \"hooks\": {{{}\n  }}", members.join(","));
            pieces.push((after(&json), separated(hooks, root.members().is_empty(), "\n")));
        }
        Some(hooks) => {
            let events = hooks.as_object().ok_or_else(|| wrong("`hooks` is not an object"))?;
            let mut fresh: Vec<String> = Vec::new();
            for entry in entries {
                match events.get(entry.event) {
                    None => fresh.push(member(entry, 2)),
                    Some(list) => {
                        let items =
                            list.as_array().ok_or_else(|| wrong("an event of `hooks` is not a list"))?;
                        let piece = format!("\n{}", indented(&entry.matcher, 3));
                        pieces.push((after(list), separated(piece, items.is_empty(), "\n    ")));
                    }
                }
            }
            if !fresh.is_empty() {
                let piece = separated(fresh.join(","), events.members().is_empty(), "\n  ");
                pieces.push((after(hooks), piece));
            }
        }
    }
    pieces.sort_by_key(|(at, _)| *at);
    let end_of_line = end_of_line(text);
    let mut edited = String::with_capacity(text.len().saturating_mul(2));
    let mut done = 0;
    for (at, piece) in pieces {
        edited.push_str(text.get(done..at).unwrap_or_default());
        edited.push_str(&piece.replace('\n', end_of_line));
        done = at;
    }
    edited.push_str(text.get(done..).unwrap_or_default());
    Ok(edited)
}

/// Whether the settings have this hook, exactly.
pub(crate) fn has_hook(settings: &Json<'_>, entry: &Entry) -> bool {
    let list = settings.get("hooks").and_then(|hooks| hooks.get(entry.event)).and_then(Json::as_array);
    list.unwrap_or_default().contains(&entry.matcher)
}

/// Every command that the settings run at an event.
pub(crate) fn commands(settings: &Json<'_>, event: &str) -> Vec<String> {
    let list = settings.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Json::as_array);
    let hooks = list.unwrap_or_default().iter().filter_map(|matcher| matcher.get("hooks")?.as_array());
    let commands = hooks.flatten().filter_map(|hook| hook.get("command")?.as_str());
    commands.map(str::to_owned).collect()
}

/// How the lines of a text end.
pub(crate) fn end_of_line(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The place right after the bracket that opens a value.
fn after(json: &Json<'_>) -> usize {
    json.offset().saturating_add(1)
}

/// A piece in front of what follows: with a comma if something does, with the closing bracket's own line if not.
fn separated(piece: String, is_last: bool, end: &str) -> String {
    if is_last { format!("{piece}{end}") } else { format!("{piece},") }
}

fn member(entry: &Entry, depth: usize) -> String {
    let pad = "  ".repeat(depth);
    format!("\n{pad}\"{}\": [\n{}\n{pad}]", entry.event, indented(&entry.matcher, depth.saturating_add(1)))
}

fn indented(json: &Json<'_>, depth: usize) -> String {
    let pad = "  ".repeat(depth);
    let lines: Vec<String> = json.to_pretty().trim_end().lines().map(|line| format!("{pad}{line}")).collect();
    lines.join("\n")
}

fn wrong(what: &str) -> Issue {
    Issue::new(codes::INSTALL_SETTINGS, format!("the host's settings: {what}"))
        .with_expected("an object; in it `hooks`, an object of events; in each a list of matchers")
}

#[cfg(test)]
mod tests;

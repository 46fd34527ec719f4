//! From a host's tool call to one action, the same from every host.

mod call;
mod files;

use alloc::{string::String, vec::Vec};

use countersign_canon::{Issue, Json, Object, Sha256, Value};

pub use self::call::ToolCall;
use self::files::Changes;
use crate::{
    Classification, Kind,
    classify::{Plain, Use},
    classify_line, codes,
    patch::Patch,
    path::Place,
    shell::{Command, Operator, Part, Simple, Target, Tree, Word, parse_line},
    table::{Act, Field, Host, Table, Tool},
};

/// What an agent is about to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Its kind.
    pub kind: Kind,
    /// Everything that belongs to it, without what only its host knows.
    pub payload: Json<'static>,
    /// The texts that stand in the payload as hashes.
    pub evidence: Vec<Evidence>,
    /// How its command line was judged, if it has one.
    pub classification: Option<Classification>,
}

/// A text that stands in a payload as its hash and length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The hash.
    pub sha256: Sha256,
    /// The text.
    pub text: String,
}

/// Turns a tool call into an action.
///
/// A tool that is not in the table is `shell.unknown`.
///
/// # Errors
///
/// Fails if the call lacks what its tool needs, or has it in the wrong type: then nobody knows what would be done.
pub fn normalise(table: &Table, host: Host, call: &ToolCall, place: &Place) -> Result<Action, Issue> {
    let place = &Place { cwd: call.cwd.clone().unwrap_or_else(|| place.cwd.clone()), ..place.clone() };
    if let Some((server, tool)) = call.mcp_names() {
        return Ok(mcp(&server, &tool, &call.input));
    }
    match table.tool(host, &call.tool) {
        Some(tool) => Normaliser { table, place, call, tool: &tool, evidence: Vec::new() }.act(),
        None => {
            let payload = [("tool", Json::from(call.tool.clone())), ("input", object(&call.input))];
            Ok(plain(Kind::ShellUnknown, payload))
        }
    }
}

/// The action of a command line: a change of files if it is only a patch, else what its commands are.
#[must_use]
pub fn shell_action(table: &Table, place: &Place, line: &str) -> Action {
    if let Some(patch) = whole_patch(line) {
        let changes = Changes::of_patch(&patch, place);
        let mut evidence = Vec::new();
        let payload = Json::object([("changes", changes.to_json(place, &mut evidence))]);
        return Action { kind: changes.kind(table, place), payload, evidence, classification: None };
    }
    let classification = classify_line(table, place, line);
    let cwd = String::from(place.cwd.as_str());
    let action =
        plain(classification.kind, [("command", Json::from(String::from(line))), ("cwd", Json::from(cwd))]);
    Action { classification: Some(classification), ..action }
}

struct Normaliser<'n> {
    table: &'n Table,
    place: &'n Place,
    call: &'n ToolCall,
    tool: &'n Tool,
    evidence: Vec<Evidence>,
}

impl Normaliser<'_> {
    fn act(mut self) -> Result<Action, Issue> {
        self.refuse_two_names()?;
        match self.tool.act {
            Act::Shell => self.shell(),
            Act::Read => self.read(),
            Act::Write | Act::Edit | Act::Edits | Act::Patch => {
                let changes = self.changes()?;
                Ok(self.changed(&changes))
            }
            Act::Fetch => {
                let members =
                    [("url", self.optional_text(Field::Url)?), ("query", self.optional_text(Field::Query)?)];
                if members.iter().all(|(_, text)| text.is_none()) {
                    return Err(self.missing(Field::Url));
                }
                let members = members.into_iter().filter_map(|(key, text)| Some((key, Json::from(text?))));
                Ok(self.action(Kind::NetFetch, members.collect()))
            }
            Act::Mcp => {
                let server = self.optional_text(Field::Server)?.unwrap_or_default();
                Ok(mcp(&server, &self.call.tool, &self.call.input))
            }
            Act::Spawn => self.told(Kind::AgentSpawn),
            Act::Steer => self.told(Kind::TurnSteer),
            Act::SetMode => {
                let tool = Json::from(self.call.tool.clone());
                Ok(self.action(Kind::SessionSetMode, Vec::from([("tool", tool)])))
            }
            Act::Settings => {
                let tool = Json::from(self.call.tool.clone());
                Ok(self.action(Kind::FsWriteOutside, Vec::from([("tool", tool)])))
            }
            Act::Type => {
                let keys = self.text(Field::Keys)?;
                let kind = if keys.is_empty() { Kind::ShellRead } else { Kind::ShellUnknown };
                let keys = self.blob(&keys);
                Ok(self.action(kind, Vec::from([("keys", keys)])))
            }
            Act::Note => Ok(plain(Kind::FsRead, [("tool", Json::from(self.call.tool.clone()))])),
        }
    }

    fn shell(self) -> Result<Action, Issue> {
        let line = self
            .call
            .command_line(self.field(Field::Command).ok_or_else(|| self.missing(Field::Command))?)?;
        let cwd = match self.optional_text(Field::Cwd)? {
            Some(folder) => self.place.resolve(&folder).ok_or_else(|| self.missing(Field::Cwd))?,
            None => self.place.cwd.clone(),
        };
        let place = Place { cwd, ..self.place.clone() };
        let action = shell_action(self.table, &place, &line);
        let more = self.more().map(|more| ("more", more));
        let members = action.payload.as_object().map_or_else(Vec::new, |object| object.members().to_vec());
        let members = members.into_iter().map(|member| (member.key, member.value));
        let payload = Json::object(members.chain(more.map(|(key, more)| (key.into(), more))));
        Ok(Action { payload, ..action })
    }

    fn read(self) -> Result<Action, Issue> {
        let path = match self.optional_text(Field::Path)? {
            Some(path) => self.place.resolve(&path).ok_or(path),
            None if self.has(Field::Query) => Ok(self.place.cwd.clone()),
            None => return Err(self.missing(Field::Path)),
        };
        let (kind, path) = match path {
            Ok(path) => {
                let plain = Plain { inside: Kind::FsRead, outside: Kind::FsRead };
                let meant = self.optional_text(Field::Filter)?.map(|filter| path.join(&filter));
                let kinds = [Some(&path), meant.as_ref()].into_iter().flatten();
                let kinds = kinds.map(|path| self.table.use_of(self.place, path, Use::Read, plain));
                (kinds.max().unwrap_or(Kind::ShellUnknown), self.place.name(&path))
            }
            // Nobody knows which file that is.
            Err(path) => (Kind::ShellUnknown, path),
        };
        let query = self.optional_text(Field::Query)?.map(|query| ("query", Json::from(query)));
        Ok(self.action(kind, [("path", Json::from(path))].into_iter().chain(query).collect()))
    }

    fn told(mut self, kind: Kind) -> Result<Action, Issue> {
        let prompt = self.text(Field::Prompt)?;
        let agent = self.optional_text(Field::Agent)?.map(|agent| ("agent", Json::from(agent)));
        let prompt = self.blob(&prompt);
        Ok(self.action(kind, [("prompt", prompt)].into_iter().chain(agent).collect()))
    }

    /// The changes that a tool for files makes.
    fn changes(&self) -> Result<Changes, Issue> {
        if self.tool.act == Act::Patch {
            let patch = Patch::parse(&self.text(Field::Patch)?)?;
            return Ok(Changes::of_patch(&patch, self.place));
        }
        let path = self.text(Field::Path)?;
        if self.tool.act == Act::Write {
            return Ok(Changes::write(&path, self.text(Field::Content)?, self.place));
        }
        let input = object(&self.call.input);
        let edits = match (self.tool.act, self.field(Field::Edits)) {
            (Act::Edits, Some(edits)) => edits.as_array().ok_or_else(|| self.missing(Field::Edits))?,
            (Act::Edits, None) => return Err(self.missing(Field::Edits)),
            _ => core::slice::from_ref(&input),
        };
        let edits: Result<Vec<_>, Issue> = edits.iter().map(|edit| self.edit(edit)).collect();
        Ok(Changes::edit(&path, edits?, self.place))
    }

    /// One replacement: what, by what, and whether everywhere.
    fn edit(&self, edit: &Json<'_>) -> Result<(String, String, bool), Issue> {
        let text = |field: Field| {
            let found = self.names(field).find_map(|name| edit.get(name));
            found.and_then(Json::as_str).map(String::from).ok_or_else(|| self.missing(field))
        };
        let all = self.names(Field::All).find_map(|name| edit.get(name));
        let all = match all.map(|all| &all.value) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(all)) => *all,
            Some(Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                return Err(self.missing(Field::All));
            }
        };
        Ok((text(Field::Old)?, text(Field::New)?, all))
    }

    fn changed(mut self, changes: &Changes) -> Action {
        let kind = changes.kind(self.table, self.place);
        let changes = changes.to_json(self.place, &mut self.evidence);
        self.action(kind, Vec::from([("changes", changes)]))
    }

    /// The action of these parts, and of everything in the input that the table does not know.
    fn action(self, kind: Kind, members: Vec<(&'static str, Json<'static>)>) -> Action {
        let more = self.more().map(|more| ("more", more));
        let payload = Json::object(members.into_iter().chain(more));
        Action { kind, payload, evidence: self.evidence, classification: None }
    }

    /// What of the input the table neither uses nor ignores: it may change the act, so it belongs to it.
    fn more(&self) -> Option<Json<'static>> {
        let fields =
            self.tool.fields.iter().flat_map(|fields| fields.values()).flat_map(|names| names.iter());
        let ignored = self.tool.ignore.iter().flat_map(|names| names.iter());
        let known: Vec<&str> = fields.chain(ignored).map(countersign_canon::Text::as_str).collect();
        let others = self.call.input.members().iter().filter(|member| !known.contains(&&*member.key));
        let others: Vec<_> = others.map(|member| (member.key.clone(), member.value.clone())).collect();
        (!others.is_empty()).then(|| Json::object(others))
    }

    /// A part that stands there under two names could be the one for us and the other for the tool.
    fn refuse_two_names(&self) -> Result<(), Issue> {
        for (field, names) in self.tool.fields.iter().flatten() {
            let given: Vec<&str> = names
                .iter()
                .map(countersign_canon::Text::as_str)
                .filter(|name| self.call.input.get(name).is_some_and(|it| !matches!(it.value, Value::Null)))
                .collect();
            if given.len() > 1 {
                let message = alloc::format!(
                    "the call of `{}` names its {field} twice: {}",
                    self.call.tool,
                    given.join(" and ")
                );
                let issue = Issue::new(codes::ACTION_CALL_INVALID, message);
                return Err(issue.with_expected("one of them"));
            }
        }
        Ok(())
    }

    fn names(&self, field: Field) -> impl Iterator<Item = &str> {
        let names = self.tool.fields.iter().filter_map(move |fields| fields.get(&field));
        names.flat_map(|names| names.iter()).map(countersign_canon::Text::as_str)
    }

    fn has(&self, field: Field) -> bool {
        self.names(field).next().is_some()
    }

    /// The first of a field's names that the input has; `null` is nothing.
    fn field(&self, field: Field) -> Option<&Json<'static>> {
        self.names(field)
            .find_map(|name| self.call.input.get(name))
            .filter(|found| !matches!(found.value, Value::Null))
    }

    fn optional_text(&self, field: Field) -> Result<Option<String>, Issue> {
        match self.field(field) {
            None => Ok(None),
            Some(found) => found.as_str().map(|text| Some(text.into())).ok_or_else(|| self.missing(field)),
        }
    }

    fn text(&self, field: Field) -> Result<String, Issue> {
        self.optional_text(field)?.ok_or_else(|| self.missing(field))
    }

    fn missing(&self, field: Field) -> Issue {
        let names: Vec<&str> = self.names(field).collect();
        let message = alloc::format!("the call of `{}` has no usable {field}", self.call.tool);
        Issue::new(codes::ACTION_CALL_INVALID, message)
            .with_expected(alloc::format!("the field {}", names.join(" or ")))
    }

    fn blob(&mut self, text: &str) -> Json<'static> {
        blob(text, &mut self.evidence)
    }
}

/// A text as its hash and length; the text itself becomes evidence.
fn blob(text: &str, evidence: &mut Vec<Evidence>) -> Json<'static> {
    let sha256 = Sha256::of(text.as_bytes());
    evidence.push(Evidence { sha256, text: text.into() });
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    Json::object([("sha256", Json::from(alloc::format!("{sha256}"))), ("bytes", Json::from(bytes))])
}

fn plain<const N: usize>(kind: Kind, payload: [(&'static str, Json<'static>); N]) -> Action {
    Action { kind, payload: Json::object(payload), evidence: Vec::new(), classification: None }
}

fn mcp(server: &str, tool: &str, input: &Object<'static>) -> Action {
    let payload = [
        ("server", Json::from(String::from(server))),
        ("tool", Json::from(String::from(tool))),
        ("arguments", object(input)),
    ];
    plain(Kind::McpCall, payload)
}

fn object(object: &Object<'static>) -> Json<'static> {
    Value::Object(object.clone()).into()
}

/// The line that a shell is started for, if this is `bash -lc LINE` as one text and nothing else: how some hosts show theirs.
#[must_use]
pub fn started_line(text: &str) -> Option<String> {
    let tree = parse_line(text).ok()?;
    let Simple { words, redirections, .. } = only_command(&tree)?;
    let is_plain =
        |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric() || "-_./:=@%+,".contains(sign));
    let literal = |word: &Word| -> Option<String> {
        let part = |part: &Part| match part {
            Part::Quoted(text) => Some(text.clone()),
            Part::Bare(text) => is_plain(text).then(|| text.clone()),
            Part::Variable { .. }
            | Part::Substitution(_)
            | Part::Process(_)
            | Part::Arithmetic(_)
            | Part::Array(_) => None,
        };
        word.parts.iter().map(part).collect()
    };
    let words: Option<Vec<String>> = words.iter().map(literal).collect();
    match words?.as_slice() {
        [shell, option, line] if redirections.is_empty() && call::is_shell(shell) => {
            matches!(option.as_str(), "-lc" | "-c").then(|| line.clone())
        }
        _ => None,
    }
}

/// The command, if a line is one simple command without assignments.
fn only_command(tree: &Tree) -> Option<&Simple> {
    let [item] = tree.list.items.as_slice() else { return None };
    let [Command::Simple(simple)] = item.first.commands.as_slice() else { return None };
    let is_more = !item.rest.is_empty() || item.is_background || item.first.is_negated;
    (!is_more && simple.assignments.is_empty()).then_some(simple)
}

/// The patch, if a line does nothing but hand one to apply_patch.
fn whole_patch(line: &str) -> Option<Patch> {
    let tree = parse_line(line).ok()?;
    let Simple { words, redirections, .. } = only_command(&tree)?;
    let literal = |parts: &[Part]| match parts {
        [Part::Quoted(text) | Part::Bare(text)] => Some(text.clone()),
        _ => None,
    };
    let (name, operands) = words.split_first()?;
    if !matches!(literal(&name.parts)?.as_str(), "apply_patch" | "applypatch") {
        return None;
    }
    let text = match (operands, redirections.as_slice()) {
        ([operand], []) => literal(&operand.parts)?,
        ([], [given]) => match (&given.target, given.operator) {
            (Target::HereDocument(place), _) => literal(&tree.here_documents.get(*place)?.parts)?,
            (Target::Word(word), Operator::HereString) => literal(&word.parts)?,
            (Target::Word(_), _) => return None,
        },
        _ => return None,
    };
    Patch::parse(&text).ok()
}

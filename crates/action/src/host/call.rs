//! Tool calls as hosts send them: to their hooks, or as the model asked for them.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Issue, Json, Object, Value};

use crate::{codes, path::AbsolutePath};

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// What it is given.
    pub input: Object<'static>,
    /// The folder in which the host works, if it says so.
    pub cwd: Option<AbsolutePath>,
    /// The server and the tool's name there, if the host says them apart.
    pub mcp: Option<(String, String)>,
}

impl ToolCall {
    /// Reads the JSON that a host hands to its hook, or a function call of a model.
    ///
    /// # Errors
    ///
    /// Fails if there is no tool or no input, or a part has the wrong type.
    pub fn read(json: &Json<'_>) -> Result<Self, Issue> {
        let name = text(json, "tool_name")?.or(text(json, "name")?);
        let Some(name) = name else { return Err(invalid("the call names no tool", "the field tool_name")) };
        let tool = match text(json, "namespace")? {
            Some(namespace) => format!("{namespace}__{name}"),
            None => name,
        };
        let input = ["tool_input", "arguments", "input"].iter().find_map(|key| json.get(key));
        let input = match input.map(|input| (&input.value, input)) {
            Some((Value::Object(_), input)) => owned_object(input),
            Some((Value::String(text), _)) => Some(parsed_input(text)),
            Some(_) | None => None,
        };
        let Some(input) = input else { return Err(invalid("the call has no input", "an object tool_input")) };
        let cwd = text(json, "cwd")?.map(|cwd| AbsolutePath::parse(&cwd)).transpose()?;
        let mcp = json.get("mcp_context").map(|context| {
            let part = |key: &str| context.get(key).and_then(Json::as_str).map(String::from);
            part("server_name").zip(part("tool_name"))
        });
        Ok(Self { tool, input, cwd, mcp: mcp.flatten() })
    }

    /// The server and the tool, if this is a call of an MCP tool.
    pub(super) fn mcp_names(&self) -> Option<(String, String)> {
        let split = || {
            let (server, tool) = self.tool.strip_prefix("mcp__")?.split_once("__")?;
            Some((server.to_string(), tool.to_string()))
        };
        self.mcp.clone().or_else(split)
    }

    /// A command line from a text, or from the words of one.
    pub(super) fn command_line(&self, json: &Json<'_>) -> Result<String, Issue> {
        if let Some(line) = json.as_str() {
            return Ok(line.into());
        }
        let words: Option<Vec<&str>> =
            json.as_array().and_then(|words| words.iter().map(Json::as_str).collect());
        match words.as_deref() {
            None | Some([]) => {
                let message = format!("the command of `{}` is neither a text nor a list of texts", self.tool);
                Err(invalid(&message, "a command line"))
            }
            // How hosts start a line: the line is the act.
            Some([shell, "-lc" | "-c", line]) if is_shell(shell) => Ok((*line).into()),
            Some(words) => Ok(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        }
    }
}

pub(super) fn is_shell(program: &str) -> bool {
    let folders = ["", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
    folders.iter().any(|folder| matches!(program.strip_prefix(folder), Some("bash" | "sh" | "zsh")))
}

/// The word so that a shell reads it as it stands.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./:=@%+,".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn owned_object(json: &Json<'_>) -> Option<Object<'static>> {
    match json.clone().into_owned().value {
        Value::Object(object) => Some(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// A model gives its arguments as JSON in a text; a tool without arguments is given the text itself.
fn parsed_input(text: &str) -> Object<'static> {
    let parsed = Json::parse(text.as_bytes()).ok().and_then(|json| owned_object(&json));
    parsed.unwrap_or_else(|| {
        let wrapped = Json::object([("input", Json::from(String::from(text)))]);
        owned_object(&wrapped).unwrap_or_default()
    })
}

fn text(json: &Json<'_>, key: &str) -> Result<Option<String>, Issue> {
    match json.get(key) {
        None => Ok(None),
        Some(found) if matches!(found.value, Value::Null) => Ok(None),
        Some(found) => match found.as_str() {
            Some(text) => Ok(Some(text.into())),
            None => Err(invalid(&format!("the field `{key}` is {}", found.type_name()), "a string")
                .with_offset(found.offset())),
        },
    }
}

fn invalid(message: &str, expected: &str) -> Issue {
    Issue::new(codes::ACTION_CALL_INVALID, message).with_expected(expected)
}

//! What the requests on both sides of an app-server are, as calls of tools: the table of actions knows those.

use countersign_action::{ToolCall, started_line};
use countersign_canon::{Issue, Json, Object, Value, from_base64};

use crate::failure::codes;

/// The tool that runs command lines.
const SHELL: &str = "shell";
/// The tool that changes files.
const PATCH: &str = "apply_patch";
/// The method that writes settings.
const SETTINGS: &str = "config/batchWrite";
/// The method that speaks to an agent at work.
const STEER: &str = "turn/steer";

/// What a request of a client is.
///
/// # Errors
///
/// Fails if it lacks what its method needs: then nobody knows what would be done.
pub(crate) fn of_client(method: &str, params: &Object<'static>) -> Result<ToolCall, Issue> {
    match method {
        "command/exec" => run(command(params)?, params.get("cwd").cloned()),
        "thread/shellCommand" => run(Json::from(text(params, "command")?), None),
        "fs/createDirectory" => run(words(["mkdir", "-p", &text(params, "path")?]), None),
        "fs/remove" => run(words(["rm", "-rf", &text(params, "path")?]), None),
        "fs/copy" => {
            run(words(["cp", "-r", &text(params, "sourcePath")?, &text(params, "destinationPath")?]), None)
        }
        "fs/writeFile" => {
            let data = text(params, "dataBase64")?;
            // What is not text stands for itself as it came.
            let content =
                from_base64(&data).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(data);
            Ok(call(method, params.clone().without("dataBase64").with("content", Json::from(content))))
        }
        "mcpServer/tool/call" => {
            let mcp = Some((text(params, "server")?, text(params, "tool")?));
            Ok(ToolCall { mcp, ..call(method, arguments(params.get("arguments"))?) })
        }
        // Settings that a thread is given are as good as written.
        "thread/start" | "thread/resume" | "thread/fork" if is_set(params.get("config")) => {
            let config = params.get("config").cloned().into_iter().map(|config| ("config", config));
            Ok(call(SETTINGS, arguments(Some(&Json::object(config)))?))
        }
        STEER => Ok(steer(params)),
        _ => Ok(call(method, params.clone())),
    }
}

/// What it is to tell a thread something while it is at work.
pub(crate) fn steer(params: &Object<'static>) -> ToolCall {
    let said = params.get("input").and_then(Json::as_array).unwrap_or_default();
    let text = |item: &Json<'static>| match item.get("type").and_then(Json::as_str) {
        Some("text") => item.get("text").and_then(Json::as_str).map(str::to_owned),
        Some(_) | None => None,
    };
    let texts: Vec<String> = said.iter().filter_map(text).collect();
    let is_text_alone = texts.len() == said.len();
    let input = params.clone().with("message", Json::from(texts.join("\n")));
    call(STEER, if is_text_alone { input.without("input") } else { input })
}

/// What a server asks its client to approve; `item` is the item that it asks about, as it was told when it began.
///
/// # Errors
///
/// Fails if it cannot be told what would be done.
pub(crate) fn of_server(
    method: &str,
    params: &Object<'static>,
    item: Option<&Json<'static>>,
) -> Result<ToolCall, Issue> {
    let is_more = ["networkApprovalContext", "additionalPermissions", "grantRoot"]
        .iter()
        .any(|key| is_set(params.get(key)));
    let kind = params.get("kind").and_then(Json::as_str).unwrap_or("command");
    match method {
        "item/commandExecution/requestApproval" if !is_more && kind == "command" => {
            let line = text(params, "command")?;
            run(Json::from(started_line(&line).unwrap_or(line)), params.get("cwd").cloned())
        }
        "item/fileChange/requestApproval" if !is_more => {
            let changes = item.and_then(|item| item.get("changes")).and_then(Json::as_array);
            let changes = changes.ok_or_else(|| unclear("the changes were not told"))?;
            let input = [("patch", Json::from(patch(changes)?))];
            Ok(call(PATCH, arguments(Some(&Json::object(input)))?))
        }
        "mcpServer/elicitation/request" => {
            let item = item.ok_or_else(|| unclear("the call was not told"))?;
            let word = |key: &str| item.get(key).and_then(Json::as_str).map(str::to_owned);
            let mcp = word("server").zip(word("tool"));
            Ok(ToolCall { mcp, ..call(method, arguments(item.get("arguments"))?) })
        }
        _ => Ok(call(method, params.clone())),
    }
}

/// The patch that makes these changes, in the format of apply_patch.
fn patch(changes: &[Json<'static>]) -> Result<String, Issue> {
    let mut lines = vec!["*** Begin Patch".to_owned()];
    for change in changes {
        let word = |key: &str| change.get(key).and_then(Json::as_str);
        let path =
            word("path").filter(|path| is_one_line(path)).ok_or_else(|| unclear("a path is not clear"))?;
        let diff = word("diff").unwrap_or_default();
        let kind = change.get("kind");
        match kind.and_then(|kind| kind.get("type")).and_then(Json::as_str) {
            Some("add") => {
                lines.push(format!("*** Add File: {path}"));
                lines.extend(diff.lines().map(|line| format!("+{line}")));
            }
            Some("delete") => lines.push(format!("*** Delete File: {path}")),
            Some("update") => {
                lines.push(format!("*** Update File: {path}"));
                if let Some(to) = kind.and_then(|kind| kind.get("move_path")).and_then(Json::as_str) {
                    let to = Some(to).filter(|to| is_one_line(to));
                    lines.push(format!("*** Move to: {}", to.ok_or_else(|| unclear("a path is not clear"))?));
                }
                let kept = diff.lines().filter(|line| !line.starts_with("\\ "));
                lines.extend(kept.map(|line| if line.starts_with("@@") { "@@" } else { line }.to_owned()));
            }
            Some(_) | None => return Err(unclear("a change is of no known kind")),
        }
    }
    lines.push("*** End Patch".to_owned());
    Ok(lines.join("\n"))
}

/// The words of a command, with its own variables in front: `env NAME=VALUE … COMMAND …`.
fn command(params: &Object<'static>) -> Result<Json<'static>, Issue> {
    let words = params.get("command").and_then(Json::as_array).ok_or_else(|| missing("command"))?;
    let Some(variables) = params.get("env").and_then(Json::as_object) else {
        return Ok(Json::array(words.to_vec()));
    };
    let variables = variables.members().iter().map(|member| match member.value.as_str() {
        Some(value) => vec![Json::from(format!("{}={value}", member.key))],
        None => vec![Json::from("-u"), Json::from(member.key.clone().into_owned())],
    });
    let variables: Vec<Json<'static>> = variables.flatten().collect();
    let env = (!variables.is_empty()).then(|| Json::from("env"));
    Ok(Json::array(env.into_iter().chain(variables).chain(words.to_vec())))
}

fn run(command: Json<'static>, folder: Option<Json<'static>>) -> Result<ToolCall, Issue> {
    let folder = folder.map(|folder| ("workdir", folder));
    let input = Json::object([("command", command)].into_iter().chain(folder));
    Ok(call(SHELL, arguments(Some(&input))?))
}

fn words<const N: usize>(words: [&str; N]) -> Json<'static> {
    Json::array(words.map(str::to_owned))
}

fn call(tool: &str, input: Object<'static>) -> ToolCall {
    ToolCall { tool: tool.to_owned(), input, cwd: None, mcp: None }
}

/// The arguments of a call: an object, or none.
fn arguments(arguments: Option<&Json<'static>>) -> Result<Object<'static>, Issue> {
    match arguments.map(|arguments| &arguments.value) {
        Some(Value::Object(object)) => Ok(object.clone()),
        None | Some(Value::Null) => Ok(Object::default()),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Err(unclear("the arguments are not an object"))
        }
    }
}

fn text(params: &Object<'static>, key: &str) -> Result<String, Issue> {
    params.get(key).and_then(Json::as_str).map(str::to_owned).ok_or_else(|| missing(key))
}

/// Whether a field says anything: `null`, `false`, `[]` and `{}` do not.
fn is_set(field: Option<&Json<'_>>) -> bool {
    field.is_some_and(|field| match &field.value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) | Value::String(_) => true,
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.members().is_empty(),
    })
}

/// Whether a path can stand in a line of a patch as it is.
fn is_one_line(path: &str) -> bool {
    !path.is_empty() && path.trim_end() == path && !path.contains(['\n', '\r'])
}

fn missing(key: &str) -> Issue {
    Issue::new(codes::HOOK_INPUT, format!("the request does not say its `{key}`"))
}

fn unclear(what: &str) -> Issue {
    Issue::new(codes::HOOK_INPUT, format!("{what}, so nobody knows what would be done"))
}

#[cfg(test)]
mod tests;

//! `countersign action classify`: what a tool call or a command line would do.

use std::{fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use countersign_action::{
    AbsolutePath, Action, Host, Place, Table, TableHash, ToolCall, normalise, shell_action,
};
use countersign_canon::{Issue, Json};
use countersign_policy::{ActionKind, action_hash};

use crate::{
    actions,
    console::Console,
    effects::environment,
    exit::Exit,
    failure::{Failure, codes},
    source::Source,
};

/// Show which kind of action a tool call or a command line is, and why
///
/// Command lines are parsed with a shell grammar; every command in them is looked up in the table of actions, and the
/// most severe kind counts. What cannot be parsed or is not in the table is shell.unknown. Nothing is run or opened.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign action classify --shell 'cd build && rm -rf *'
  countersign action classify --shell 'git push -f' --format json
  countersign action classify --host claude-code call.json
  echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | countersign action classify --host codex -

Exit: 0 classified, 1 the call or the table was refused, 2 wrong usage or an unreadable file")]
pub(crate) struct Arguments {
    /// A tool call, as the host hands it to its hook; `-` reads standard input
    #[arg(required_unless_present = "shell", requires = "host")]
    file: Option<PathBuf>,
    /// Whose tool call it is
    #[arg(long, value_enum, conflicts_with = "shell")]
    host: Option<HostName>,
    /// A command line instead of a tool call
    #[arg(long, value_name = "LINE", conflicts_with = "file", allow_hyphen_values = true)]
    shell: Option<String>,
    /// The folder in which it would happen, unless the call says so; by default this one
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// The folder that the agent works on; by default the same
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// A table of actions instead of the one that ships
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// A summary, or an object with the whole action
    #[arg(long, value_enum, default_value_t = super::Format::Text)]
    format: super::Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum HostName {
    ClaudeCode,
    Codex,
    Gemini,
}

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        match name {
            HostName::ClaudeCode => Self::ClaudeCode,
            HostName::Codex => Self::Codex,
            HostName::Gemini => Self::Gemini,
        }
    }
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let place = place(arguments)?;
    let (table, table_hash) = table(arguments)?;
    let action = match (&arguments.shell, &arguments.file, arguments.host) {
        (Some(line), _, _) => shell_action(&table, &place, line),
        (None, Some(file), Some(host)) => {
            let source = Source::read(file)?;
            let action = source
                .parse()
                .and_then(|json| ToolCall::read(&json))
                .and_then(|call| normalise(&table, host.into(), &call, &place));
            match action {
                Ok(action) => action,
                Err(issue) => return Err(Failure::refused(source, issue)),
            }
        }
        (None, _, _) => {
            let issue = Issue::new(codes::CLI_USAGE, "neither a tool call nor a command line is given");
            return Err(Failure::CouldNotTell(issue.with_hint("give a file with --host, or --shell LINE")));
        }
    };
    let kind = ActionKind::parse(action.kind.as_str()).map_err(Failure::CouldNotTell)?;
    let hash = action_hash(&kind, &action.payload).to_string();
    let text = match arguments.format {
        super::Format::Text => as_text(&action, &hash),
        super::Format::Json => as_json(action, hash, &table_hash).to_pretty(),
    };
    console.data(&text)?;
    Ok(Exit::Yes)
}

fn table(arguments: &Arguments) -> Result<(Table, TableHash), Failure> {
    let Some(path) = &arguments.table else {
        let shipped = actions::shipped_actions().and_then(|table| Ok((table, actions::shipped_hash()?)));
        return shipped.map_err(|issues| {
            let first = issues.first().map(ToString::to_string).unwrap_or_default();
            Failure::CouldNotTell(Issue::new(codes::CLI_DEFECT, format!("the shipped table: {first}")))
        });
    };
    let source = Source::read(path)?;
    match actions::load(&source.bytes).and_then(|table| Ok((table, actions::hash(&source.bytes)?))) {
        Ok(both) => Ok(both),
        Err(issues) => Err(Failure::Refused { source, issues }),
    }
}

fn place(arguments: &Arguments) -> Result<Place, Failure> {
    let here = environment::current_folder();
    let absolute = |folder: &PathBuf| {
        let folder = here.as_ref().map_or_else(|| folder.clone(), |here| here.join(folder));
        AbsolutePath::parse(&folder.to_string_lossy())
            .map_err(|issue| Failure::CouldNotTell(issue.under(codes::CLI_USAGE)))
    };
    let unnamed = || {
        let issue = Issue::new(codes::CLI_USAGE, "the current folder has no name");
        Failure::CouldNotTell(issue.with_hint("give --cwd"))
    };
    let cwd = match &arguments.cwd {
        Some(folder) => absolute(folder)?,
        None => absolute(here.as_ref().ok_or_else(unnamed)?)?,
    };
    let workspace = match &arguments.workspace {
        Some(folder) => absolute(folder)?,
        None => cwd.clone(),
    };
    let home = environment::home_folder().and_then(|home| AbsolutePath::parse(&home.to_string_lossy()).ok());
    Ok(Place { cwd, workspace, home })
}

fn as_text(action: &Action, hash: &str) -> String {
    let mut text = format!("{}\n", action.kind);
    // Writing to a String cannot fail.
    let _infallible = writeln!(text, "  action_hash  {hash}");
    let findings = action.classification.as_ref().map_or(&[][..], |found| &found.findings);
    for finding in findings.iter().filter(|finding| !finding.part.is_empty()) {
        let part = finding.part.escape_debug();
        let _infallible = writeln!(text, "  {:<17}  {part}  ({})", finding.kind.as_str(), finding.reason);
    }
    text
}

fn as_json(action: Action, hash: String, table: &TableHash) -> Json<'static> {
    let findings = action.classification.map(|found| {
        let findings: Vec<Json<'static>> =
            found.findings.iter().map(countersign_action::Finding::to_json).collect();
        ("findings", Json::from(findings))
    });
    let members = [
        ("action_hash", Json::from(hash)),
        ("action_kind", Json::from(action.kind.as_str())),
        ("action_payload", action.payload),
        ("table_hash", Json::from(table.to_string())),
    ];
    Json::object(members.into_iter().chain(findings))
}

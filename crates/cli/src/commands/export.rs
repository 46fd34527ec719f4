//! `countersign export`: what is always refused, as rules of a host's own.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use countersign_action::{Export, ExportTarget, Gap, drift, export};
use countersign_canon::Json;

use crate::{
    console::Console,
    difference::difference,
    effects::{environment, files},
    embedded::usage,
    exit::Exit,
    failure::Failure,
    format::Format,
    hosts::{
        exported::{Refused, default_place},
        workspace::Workspace,
    },
};

/// Write what the policy always denies as rules of an agent's host, or check that a host has them
///
/// A second line of defence for when the hooks are switched off. Kinds of action that no context allows are found by proof;
/// the table of actions says which commands, options, tools and paths are always of those kinds. Nothing is ever allowed by
/// an export. What the host's rules cannot say is named on standard error, and in the export.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign export codex-rules > ~/.codex/rules/countersign.rules
  countersign export claude-code --check
  countersign export gemini --check policies/countersign.toml

Exit: 0 written, or the host has them; 1 --check found a difference; 2 the policy could not be used")]
pub(crate) struct Arguments {
    /// Whose rules
    #[arg(value_enum)]
    target: TargetName,
    /// Write nothing; compare with this file [default: where the host looks for it]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    check: Option<Option<PathBuf>>,
    /// How it is shown: as the host reads it, or json, with what the host cannot say
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The rules of hosts by their names on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum TargetName {
    ClaudeCode,
    CodexRules,
    CodexRequirements,
    Gemini,
}

impl From<TargetName> for ExportTarget {
    fn from(name: TargetName) -> Self {
        match name {
            TargetName::ClaudeCode => Self::ClaudeCode,
            TargetName::CodexRules => Self::CodexRules,
            TargetName::CodexRequirements => Self::CodexRequirements,
            TargetName::Gemini => Self::Gemini,
        }
    }
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { target, check, format } = arguments;
    let target = ExportTarget::from(*target);
    let root = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let refused = Workspace::find(&root).and_then(|workspace| Refused::find(&workspace));
    let refused = refused.map_err(Failure::CouldNotTell)?;
    let exported = export(target, &refused.denials, &refused.source);
    if let Some(file) = check {
        let path = match file {
            Some(path) => path.clone(),
            None => default_place(target, &root).map_err(Failure::CouldNotTell)?,
        };
        return compare(target, &exported, &path, console);
    }
    match format {
        Format::Text => {
            console.data(&exported.text)?;
            console.say(&in_words(target, &exported));
        }
        Format::Json => console.data(&json(target, &refused, &exported).to_pretty())?,
    }
    Ok(Exit::Yes)
}

/// Whether a file of the host has these rules.
fn compare(target: ExportTarget, wanted: &Export, path: &Path, console: Console) -> Result<Exit, Failure> {
    let found = files::read_if_there(path).map_err(Failure::CouldNotTell)?.unwrap_or_default();
    let Some(found) = drift(target, wanted, &String::from_utf8_lossy(&found)) else {
        console.say(&format!("`{}` has every rule of the policy in this folder\n", path.display()));
        return Ok(Exit::Yes);
    };
    console.data(&difference(&path.display().to_string(), &found, &wanted.text))?;
    console
        .say(&format!("`{}` is not what the policy says: `countersign export {target}`\n", path.display()));
    Ok(Exit::No)
}

fn in_words(target: ExportTarget, exported: &Export) -> String {
    let Export { text: _, rules, gaps } = exported;
    let mut words = format!("{} rules for {target}, which allow nothing\n", rules.len());
    words.push_str(&format!(
        "{} denials that they cannot express, and that Countersign alone makes:\n",
        gaps.len()
    ));
    words.extend(gaps.iter().map(|Gap { what, why }| format!("  {}: {why}\n", what)));
    words
}

fn json(target: ExportTarget, refused: &Refused, exported: &Export) -> Json<'static> {
    let Export { text, rules, gaps } = exported;
    let gaps = gaps.iter().map(|Gap { what, why }| {
        Json::object([("what", Json::from(what.clone())), ("why", Json::from(*why))])
    });
    Json::object([
        ("schema", Json::from("countersign.export@1")),
        ("target", Json::from(target.as_str())),
        ("source", Json::from(refused.source.clone())),
        ("denied_kinds", Json::array(refused.kinds.iter().map(|kind| Json::from(kind.as_str())))),
        ("rules", Json::array(rules.iter().cloned())),
        ("not_expressed", Json::array(gaps)),
        ("text", Json::from(text.clone())),
    ])
}

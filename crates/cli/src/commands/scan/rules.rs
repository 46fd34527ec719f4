//! `countersign scan rules`: the rules, and how many files each of their globs meets.

use std::fmt::Write as _;

use countersign_canon::{Issue, Json, Wire as _};
use countersign_scan::{Bundle, Plan, codes, escape_text};

use super::TargetArguments;
use crate::{
    console::Console,
    exit::Exit,
    failure::Failure,
    scan::{
        Found,
        walk::{GlobCounts, count_globs},
    },
};

/// List the rules and how many files each glob meets
///
/// A glob that meets no file is pointed out: the rule may look at nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign scan rules
  countersign scan rules infra --format json

Exit: 0 listed, 2 the rules cannot be used or the target cannot be read")]
pub(super) struct Arguments {
    #[command(flatten)]
    target: TargetArguments,
    /// For people, or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let target = arguments.target.folder()?;
    let place = arguments.target.rules()?;
    let bundle = crate::scan::bundle::load(place.read()?)?;
    let counts = count_globs(&Plan::new(&bundle), &target, &place.inside_files()).map_err(|unreadable| {
        let mut found = Found { unreadable: vec![unreadable], ..Found::default() };
        match found.unreadable_issues() {
            Some(issues) => Failure::Unusable(vec![(None, issues)]),
            None => Failure::CouldNotTell(Issue::new(codes::SCAN_UNREADABLE, "the target cannot be read")),
        }
    })?;
    console.data(&match arguments.format {
        Format::Text => as_text(&bundle, &counts),
        Format::Json => as_json(&bundle, &counts).to_pretty(),
    })?;
    Ok(Exit::Yes)
}

/// The globs of a rule with their texts and counts.
fn globs<'b>(
    bundle: &'b Bundle,
    places: &'b [u32],
    counts: &'b GlobCounts,
) -> impl Iterator<Item = (&'b str, u64)> {
    places.iter().filter_map(|place| {
        let glob = bundle.globs().get(usize::try_from(*place).ok()?)?;
        Some((glob.as_str(), counts.of(*place)))
    })
}

fn as_text(bundle: &Bundle, counts: &GlobCounts) -> String {
    let mut text = String::new();
    for rule in bundle.rules() {
        // Writing to a String cannot fail.
        let _infallible =
            writeln!(text, "{} {} ({})", rule.id, escape_text(rule.title.as_str()), rule.rule_type);
        for (glob, files) in globs(bundle, &rule.globs, counts) {
            let note = if files == 0 { "  <- meets no file" } else { "" };
            let _infallible = writeln!(text, "  {files:>7} files  {}{note}", escape_text(glob));
        }
        let _infallible = writeln!(text, "  {:>7} patterns", rule.patterns.len());
    }
    let _infallible = writeln!(
        text,
        "{} rules enforced, {} deprecated and ignored; policy {}",
        bundle.rules().len(),
        bundle.deprecated_ignored(),
        bundle.hash()
    );
    text
}

fn as_json(bundle: &Bundle, counts: &GlobCounts) -> Json<'static> {
    let number = |count: u64| Json::from(u32::try_from(count).unwrap_or(u32::MAX));
    let rules = bundle.rules().iter().map(|rule| {
        let globs = globs(bundle, &rule.globs, counts).map(|(glob, files)| {
            Json::object([("glob", Json::from(glob.to_owned())), ("files", number(files))])
        });
        let patterns = rule.patterns.iter().filter_map(|pattern| bundle.pattern(*pattern));
        Json::object([
            ("id", rule.id.write()),
            ("rule_type", rule.rule_type.write()),
            ("title", rule.title.write()),
            ("globs", Json::array(globs)),
            ("patterns", Json::array(patterns.map(|pattern| pattern.write()))),
        ])
    });
    Json::object([
        ("policy_hash", bundle.hash().write()),
        ("rules", Json::array(rules)),
        ("deprecated_ignored", Json::from(u32::try_from(bundle.deprecated_ignored()).unwrap_or(u32::MAX))),
    ])
}

//! `countersign scan`: a repository against its boundaries and invariants.

mod explain;
mod rules;
mod test;

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use countersign_canon::{Issue, NonEmpty};
use countersign_scan::{Bundle, Format, Mode, Outcome, Paint, Plan, Report, RuleFileName, Scope, codes};

use crate::{
    console::Console,
    effects::{
        clock::Stopwatch,
        environment, terminal,
        tree::{self, Kind},
    },
    exit::Exit,
    failure::Failure,
    scan::{
        Found,
        bundle::{self, Place},
        changes,
        git::{self, GitRef, Repository},
        progress::Progress,
        walk::{self, Walk},
    },
};

/// Check a repository against its boundary and invariant rules
///
/// Rules are globs and plain texts: a file whose path meets a rule's glob must not contain any of its patterns. The
/// bundle is a folder with boundaries.yml, invariants.yml and deprecated.yml (read and counted, never enforced). Any
/// violation fails the run: there is no warning mode, no suppression comment and no baseline.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  countersign scan
  countersign scan infra --rules policy/rules --format sarif --out scan.sarif
  countersign scan --diff-base origin/main
  countersign scan --staged
  countersign scan --explain TF-NET-001 terraform/main.tf
  countersign scan rules
  countersign scan test

Exit: 0 PASS, 1 FAIL, 2 it could not be told: a bad rule, an unknown reference, an unreadable file"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    scan: ScanArguments,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Rules(rules::Arguments),
    Test(test::Arguments),
}

#[derive(Debug, clap::Args)]
struct ScanArguments {
    #[command(flatten)]
    target: TargetArguments,
    /// Only files added or changed since the last commit that REF and HEAD share, as they are in HEAD
    #[arg(long, value_name = "REF", value_parser = GitRef::parse, allow_hyphen_values = true)]
    diff_base: Option<GitRef>,
    /// Only files staged for the next commit, as they are in the index
    #[arg(long, conflicts_with = "diff_base")]
    staged: bool,
    /// Only files that git tracks, as they are in the work tree
    #[arg(long, conflicts_with_all = ["diff_base", "staged"])]
    git_tracked: bool,
    /// json, text, sarif, junit, github or markdown; text on a terminal and json elsewhere if not given
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    format: Option<Format>,
    /// Write the report to this file, whole or not at all, instead of to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show why a rule does or does not refuse a file
    #[arg(long, num_args = 2, value_names = ["RULE", "FILE"],
        conflicts_with_all = ["diff_base", "staged", "git_tracked", "out"])]
    explain: Option<Vec<String>>,
    /// Show how long each stage took
    #[arg(long)]
    stats: bool,
    /// How many threads search; as many as the machine has if not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// What every form of the command needs: a target and its rules.
#[derive(Debug, clap::Args)]
struct TargetArguments {
    /// The folder to look at
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The folder with the rules [default: rules in PATH]
    #[arg(long, value_name = "DIR")]
    rules: Option<PathBuf>,
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::parse(text).map_err(|issue| match &issue.hint {
        Some(hint) => format!("{} ({hint})", issue.message),
        None => format!("{}; expected {}", issue.message, issue.expected.as_deref().unwrap_or_default()),
    })
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match (&arguments.command, &arguments.scan.explain) {
        (Some(Command::Rules(arguments)), _) => rules::run(arguments, console),
        (Some(Command::Test(arguments)), _) => test::run(arguments, console),
        (None, Some(names)) => explain::run(&arguments.scan, names, console),
        (None, None) => scan(&arguments.scan, console),
    }
}

impl TargetArguments {
    /// The target's folder, without links in its path.
    fn folder(&self) -> Result<PathBuf, Failure> {
        let refused = |message: String| {
            let issue = Issue::new(codes::SCAN_TARGET, message).with_expected("a folder");
            Failure::CouldNotTell(issue.with_hint("name the folder to scan"))
        };
        let shown = self.path.display();
        let folder = tree::canonical(&self.path)
            .map_err(|error| refused(format!("`{shown}` cannot be scanned: {error}")))?;
        match tree::kind(&folder) {
            Ok(Kind::Folder) => Ok(folder),
            Ok(_) => Err(refused(format!("`{shown}` is not a folder"))),
            Err(error) => Err(refused(format!("`{shown}` cannot be scanned: {error}"))),
        }
    }

    /// Where the rules are.
    fn rules(&self) -> Result<Place, Failure> {
        Place::find(&self.path, self.rules.as_deref())
    }

    /// The rules as they are on disk.
    fn bundle(&self) -> Result<Bundle, Failure> {
        bundle::load(self.rules()?.read()?)
    }
}

/// What a scan looks at: which files, and from where the rules come.
enum Source {
    WorkTree,
    Tracked(Repository),
    Git { repository: Repository, scope: Scope, files: Vec<git::TreeFile>, rules: Option<Vec<git::TreeFile>> },
}

fn scan(arguments: &ScanArguments, console: Console) -> Result<Exit, Failure> {
    let mut stages = Stages::start();
    let target = arguments.target.folder()?;
    let place = arguments.target.rules()?;
    let source = source(arguments, &target, &place).map_err(Failure::CouldNotTell)?;
    stages.lap("list");
    let bundle = load(&place, &source)?;
    let plan = Plan::new(&bundle);
    stages.lap("rules");
    let excluded = place.inside_files();
    let (mut found, scope) = search(arguments, &target, &plan, &excluded, source)?;
    stages.lap("search");
    if let Some(issues) = found.unreadable_issues() {
        return Err(Failure::Unusable(vec![(None, issues)]));
    }
    let report = Report::new(&bundle, scope, found.counts, found.skipped, found.files);
    stages.lap("order");
    write(arguments, &report, console)?;
    stages.lap("write");
    if arguments.stats {
        console.say(&stages.shown(&report, threads(arguments)));
    }
    Ok(match report.outcome() {
        Outcome::Pass => Exit::Yes,
        Outcome::Fail => Exit::No,
    })
}

/// Asks git, if it is to be asked.
fn source(arguments: &ScanArguments, target: &Path, place: &Place) -> Result<Source, Issue> {
    let open = || Repository::open(git::in_folder(target));
    if let Some(reference) = &arguments.diff_base {
        let (repository, head, base) = Repository::open_at(git::in_folder(target), reference)?;
        let (base, files) = repository.changed_since_common(&base, &head)?;
        let rules = match &place.inside {
            Some(_) => Some(repository.commit_files(&head, &place.inside_files())?),
            None => None,
        };
        let scope =
            Scope { mode: Mode::Diff, base: Some(base.as_str().into()), head: Some(head.as_str().into()) };
        return Ok(Source::Git { repository, scope, files, rules });
    }
    if arguments.staged {
        let git = git::in_folder(target).with_index_of_hook();
        let git = git
            .map_err(|error| Issue::new(codes::SCAN_GIT, format!("the index could not be found: {error}")))?;
        let repository = Repository::open(git)?;
        let head = repository.head()?;
        let files = repository.staged(head.as_ref())?;
        let rules = match &place.inside {
            Some(_) => Some(repository.index_files(&place.inside_files())?),
            None => None,
        };
        let scope = Scope { mode: Mode::Staged, base: head.map(|head| head.as_str().into()), head: None };
        return Ok(Source::Git { repository, scope, files, rules });
    }
    if arguments.git_tracked { open().map(Source::Tracked) } else { Ok(Source::WorkTree) }
}

/// Reads the rules from where the files are read.
fn load(place: &Place, source: &Source) -> Result<Bundle, Failure> {
    match source {
        Source::Git { repository, scope, rules: Some(files), .. } => {
            let tree = match scope.mode {
                Mode::Staged => "index",
                Mode::Full | Mode::Tracked | Mode::Diff => "HEAD",
            };
            let shown =
                |name: RuleFileName| format!("{} ({tree})", place.shown.join(name.as_str()).display());
            let sources =
                changes::read_rules(repository, files.clone(), shown).map_err(Failure::CouldNotTell)?;
            if sources.is_empty() {
                let message = format!("there is no rule bundle at `{}` in the {tree}", place.shown.display());
                let issue = Issue::new(codes::SCAN_RULES_MISSING, message).with_hint(
                    "rules inside the target are read from the same tree as the files: commit or stage them",
                );
                return Err(Failure::CouldNotTell(issue));
            }
            bundle::load(sources)
        }
        Source::WorkTree | Source::Tracked(_) | Source::Git { rules: None, .. } => {
            bundle::load(place.read()?)
        }
    }
}

fn search(
    arguments: &ScanArguments,
    target: &Path,
    plan: &Plan,
    excluded: &[Vec<u8>],
    source: Source,
) -> Result<(Found, Scope), Failure> {
    let progress = Progress::default();
    let walk = Walk { plan, target, excluded, threads: threads(arguments), progress: &progress };
    let plain = |mode| Scope { mode, base: None, head: None };
    match source {
        Source::WorkTree => Ok((walk::all_files(walk), plain(Mode::Full))),
        Source::Tracked(repository) => {
            let files = repository.index().map_err(Failure::CouldNotTell)?;
            Ok((changes::search_tracked(walk, files), plain(Mode::Tracked)))
        }
        Source::Git { repository, scope, files, .. } => {
            let found = changes::search_blobs(&repository, walk, files);
            Ok((found.map_err(Failure::CouldNotTell)?, scope))
        }
    }
}

fn threads(arguments: &ScanArguments) -> usize {
    let available = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    arguments.threads.unwrap_or_else(available).get()
}

/// Writes the report where it was asked for, in pieces.
fn write(arguments: &ScanArguments, report: &Report<'_>, console: Console) -> Result<(), Failure> {
    if let Some(out) = &arguments.out {
        let format = arguments.format.unwrap_or(Format::Json);
        return tree::write_whole(out, report.pieces(format, Paint::Plain)).map_err(|error| {
            let message = format!("`{}` could not be written: {error}", out.display());
            Failure::CouldNotTell(Issue::new(codes::SCAN_OUTPUT, message))
        });
    }
    let is_terminal = terminal::stdout_is_terminal();
    let format = arguments.format.unwrap_or(if is_terminal { Format::Text } else { Format::Json });
    let paint =
        if is_terminal && console.colour && !environment::no_colour() { Paint::Colour } else { Paint::Plain };
    match print(report.pieces(format, paint), console) {
        // That nobody reads on does not make the verdict a yes.
        Err(Failure::OutputClosed) => Ok(()),
        printed => printed,
    }
}

/// Prints pieces, many at a time.
fn print(pieces: impl Iterator<Item = String>, console: Console) -> Result<(), Failure> {
    let mut waiting = String::new();
    for piece in pieces {
        waiting.push_str(&piece);
        if waiting.len() >= 64 * 1024 {
            console.data(&waiting)?;
            waiting.clear();
        }
    }
    console.data(&waiting)
}

/// How long each stage took.
struct Stages {
    watch: Stopwatch,
    laps: Vec<(&'static str, std::time::Duration)>,
}

impl Stages {
    fn start() -> Self {
        Self { watch: Stopwatch::start(), laps: Vec::new() }
    }

    fn lap(&mut self, stage: &'static str) {
        self.laps.push((stage, self.watch.elapsed()));
        self.watch = Stopwatch::start();
    }

    fn shown(&self, report: &Report<'_>, threads: usize) -> String {
        let counts = report.counts();
        let laps = self.laps.iter().map(|(stage, time)| {
            let (millis, micros) = (time.as_millis(), time.subsec_micros().checked_rem(1000).unwrap_or(0));
            format!("  {stage:<7} {millis:>6}.{micros:03} ms\n")
        });
        let laps: String = laps.collect();
        format!(
            "{laps}  {} files considered, {} searched, {} bytes, {} violations, {threads} threads\n",
            counts.files_considered,
            counts.files_matched,
            counts.bytes_searched,
            report.violation_count(),
        )
    }
}

/// Something wrong with what was asked for, without a document to point at.
fn could_not_tell(issue: Issue) -> Failure {
    Failure::Unusable(vec![(None, NonEmpty::of(issue))])
}

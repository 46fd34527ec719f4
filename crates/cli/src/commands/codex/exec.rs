//! `countersign codex exec`: a worker, bounded in time, what it tells on record, its last message held to a schema.

use std::{ffi::OsString, io::Write as _, path::PathBuf, time::Duration};

use countersign_canon::{Issue, Json, Object};
use countersign_ledger::Session;
use countersign_policy::{Mode, codes as policy_codes};

use crate::{
    console::Console,
    effects::{
        child::{Child, Errors, Heard, Start},
        clock::Stopwatch,
        environment, files,
    },
    embedded::usage,
    exit::Exit,
    failure::{Failure, codes},
    hosts::{
        codex::{
            bounds::Sandbox,
            contract::Contract,
            probe,
            worker::{self, Ending, Worker},
        },
        gate::{Gate, Lacking},
        workspace::Workspace,
    },
};

/// Run a worker: `codex exec --json`, bounded in time, with what it tells on record
///
/// What the worker tells is normalised into events of a run of its own (`worker:RUN`) in the workspace's log and on standard
/// output, one JSON object a line; the lines as they came are kept in the folder `evidence`. With a schema, the last message
/// is checked against it: Codex itself only asks its model. Nobody is asked during a run, so the sandbox is what holds the
/// worker, read-only unless you say otherwise, and the hooks of `countersign install codex`, if they are there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign codex exec 'Which tests are slow here?'
  countersign codex exec --output-schema report.schema.json --timeout 300 'Report' | countersign events validate --strict -
  countersign codex exec --sandbox workspace-write 'Fix the typo in README.md' -- --skip-git-repo-check

Exit: 0 done and as the schema says, 1 failed, not as the schema says, or not allowed, 2 no end in time, or it could not be
started")]
pub(crate) struct Arguments {
    /// What the worker is told
    prompt: OsString,
    /// The program
    #[arg(long, value_name = "FILE", default_value = "codex")]
    bin: OsString,
    /// How far the worker's commands reach; more than reading needs a workspace whose sessions may write
    #[arg(long, value_name = "MODE", default_value = "read-only")]
    sandbox: Sandbox,
    /// The JSON Schema of the last message
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,
    /// Seconds after which the worker is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// More arguments for `codex exec`
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// How a worker came to its end.
enum Outcome {
    /// By itself, with this exit code.
    Ended(Option<i32>),
    /// It was ended, because its time was up.
    TimedOut,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let folder = environment::current_folder().ok_or_else(|| usage("the current folder has no name"))?;
    let workspace = Workspace::find(&folder).map_err(Failure::CouldNotTell)?;
    let contract = match &arguments.output_schema {
        None => None,
        Some(path) => {
            Some(files::read(path).and_then(|bytes| Contract::load(&bytes)).map_err(Failure::CouldNotTell)?)
        }
    };
    let (allowed, mode) = match arguments.sandbox {
        Sandbox::ReadOnly => (true, Mode::ReadOnly),
        Sandbox::WorkspaceWrite | Sandbox::DangerFullAccess => {
            (workspace.mode == Mode::WritesAllowed, Mode::WritesAllowed)
        }
    };
    if !allowed {
        let code = policy_codes::URM_MODE_DENIED;
        console.say(&format!("{code}: workers may only read in this workspace, as its config.yml says\n"));
        return Ok(Exit::No);
    }
    let gate = Gate::open(workspace, "codex").map_err(Failure::CouldNotTell)?;
    let snapshot = probe::probe(&arguments.bin).map_err(Failure::CouldNotTell)?;
    gate.keep_probe("codex", &snapshot.facts(), &snapshot.to_json()).map_err(Failure::CouldNotTell)?;
    let run = gate.start_run("codex", mode).map_err(Failure::CouldNotTell)?;
    let mut record = Record { gate: &gate, run: &run, console, printed: 0 };
    let needed = ["--json", "--sandbox"].into_iter().chain(contract.as_ref().map(|_| "--output-schema"));
    let missing = needed.into_iter().find(|option| !snapshot.exec_options.contains(option));
    let exit = match missing {
        Some(option) => record.refuse(option),
        None => record.work(arguments, contract.as_ref()),
    };
    let stopped = gate.stop_run(&run).map_err(Failure::CouldNotTell);
    record.print().and(exit).and_then(|exit| stopped.map(|()| exit))
}

/// A run as it goes on record.
struct Record<'r> {
    gate: &'r Gate,
    run: &'r Session,
    console: Console,
    /// How many events were printed.
    printed: i64,
}

impl Record<'_> {
    /// Says no: this Codex cannot be a worker.
    fn refuse(&self, option: &str) -> Result<Exit, Failure> {
        let payload = Json::object([("option", Json::from(option.to_owned()))]);
        let refused = self.gate.refuse(&self.run.session_id, Lacking::Method, payload);
        let (code, decision) = refused.map_err(Failure::CouldNotTell)?;
        let words =
            format!("{code}: this `codex exec` has no `{option}`, as far as the probe found ({decision})\n");
        self.console.say(&words);
        Ok(Exit::No)
    }

    /// Runs the worker to its end, or to the end of its time.
    fn work(&mut self, arguments: &Arguments, contract: Option<&Contract>) -> Result<Exit, Failure> {
        let mut worker = Worker::default();
        let evidence = self.gate.run_evidence(self.run);
        files::write_private(&evidence, "").map_err(Failure::CouldNotTell)?;
        let outcome = self.listen(arguments, &mut worker, &evidence)?;
        let raw = files::read_all(&evidence).map_err(Failure::CouldNotTell)?;
        let message = worker.message.as_deref();
        let problems = contract.map(|contract| contract.problems(message)).unwrap_or_default();
        let status = match (&outcome, &worker.ending) {
            (Outcome::TimedOut, _) => "timed_out",
            (Outcome::Ended(Some(0)), Some(Ending::Completed)) => "completed",
            (Outcome::Ended(_), _) => "failed",
        };
        let mut end = worker::event("end")
            .with("status", Json::from(status))
            .with("lines", Json::from(worker.lines))
            .with("raw", worker::blob(&raw))
            .with("problems", Json::array(problems.iter().cloned().map(Json::from)));
        if let Some(message) = message {
            end = end.with("last_message", worker::blob(message.as_bytes()));
        }
        if let Some(contract) = contract {
            end = end.with("output_schema_sha256", Json::from(contract.sha256.to_string()));
        }
        self.note(end)?;
        self.judge(status, &problems, arguments.timeout)
    }

    /// Hears the worker out; every line is an event before the next one is looked at.
    fn listen(
        &mut self,
        arguments: &Arguments,
        worker: &mut Worker,
        evidence: &std::path::Path,
    ) -> Result<Outcome, Failure> {
        let mut lines = files::append(evidence).map_err(Failure::CouldNotTell)?;
        let start = Start {
            program: &arguments.bin,
            arguments: &command_line(arguments),
            environment: &[],
            folder: None,
        };
        let mut child = Child::start_with(&start, Errors::Shown).map_err(Failure::CouldNotTell)?;
        child.end_input();
        let (watch, limit) = (Stopwatch::start(), Duration::from_secs(u64::from(arguments.timeout)));
        loop {
            match child.hear(limit.saturating_sub(watch.elapsed())) {
                Heard::Line(line) => {
                    let kept = lines.write_all(&line).and_then(|()| lines.write_all(b"\n"));
                    kept.map_err(|error| {
                        let message = format!("`{}` could not be written: {error}", evidence.display());
                        Failure::CouldNotTell(Issue::new(codes::CLI_WRITE_FAILED, message))
                    })?;
                    self.note(worker.take(&line))?;
                }
                Heard::Silence => return Ok(Outcome::TimedOut),
                Heard::End => {
                    return Ok(match child.wait(limit.saturating_sub(watch.elapsed())) {
                        Some(status) => Outcome::Ended(status.code()),
                        None => Outcome::TimedOut,
                    });
                }
            }
        }
    }

    fn judge(&self, status: &str, problems: &[String], timeout: u32) -> Result<Exit, Failure> {
        match status {
            "timed_out" => {
                let message = format!("the worker had no end within {timeout} seconds, and was ended");
                Err(Failure::CouldNotTell(Issue::new(codes::WORKER_TIMEOUT, message)))
            }
            "failed" => {
                self.console.say(&format!("{}: the worker failed\n", codes::WORKER_FAILED));
                Ok(Exit::No)
            }
            _ if !problems.is_empty() => {
                let words =
                    format!("{}: the last message does not fit the schema\n", codes::WORKER_OUTPUT_INVALID);
                self.console
                    .say(&problems.iter().fold(words, |words, problem| format!("{words}  {problem}\n")));
                Ok(Exit::No)
            }
            _ => Ok(Exit::Yes),
        }
    }

    fn note(&mut self, told: Object<'static>) -> Result<(), Failure> {
        self.gate.note_worker(self.run, told).map_err(Failure::CouldNotTell)?;
        self.print()
    }

    /// Prints the events that have come.
    fn print(&mut self) -> Result<(), Failure> {
        let console = self.console;
        self.printed = self.gate.run_events(self.run, self.printed, &mut |line| console.bytes(line))?;
        Ok(())
    }
}

fn command_line(arguments: &Arguments) -> Vec<OsString> {
    let Arguments { prompt, sandbox, output_schema, arguments, .. } = arguments;
    let mut line: Vec<OsString> =
        ["exec", "--json", "--sandbox", sandbox.as_str()].map(OsString::from).into();
    line.extend(
        output_schema.iter().flat_map(|path| ["--output-schema".into(), path.clone().into_os_string()]),
    );
    line.extend(arguments.iter().cloned());
    line.extend(["--".into(), prompt.clone()]);
    line
}

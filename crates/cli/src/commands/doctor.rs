//! `countersign doctor`: what is wrong with this installation, and what to do about it.

mod host;
mod live;

use std::ffi::OsString;

use countersign_canon::{Code, Issue, Json, Sha256, Value};
use countersign_ledger::PolicyVersion;
use countersign_policy::{Policy, shipped};
use countersign_service::{Node, POLICY_FILES, ServiceError, policy_documents};
use countersign_store::{PolicyDocuments, store_codes};

use crate::{
    commands::{install::Client, log::read_copy},
    console::Console,
    effects::files,
    embedded::{Place, Shown, user_folder},
    exit::Exit,
    failure::{Failure, codes},
};

/// Find what is wrong with this installation, and say what to do
///
/// The isolation level says what keeps an agent that runs as this user from approving its own requests: none (nothing
/// does), token (it would have to read a key or a token that is not its own), os-user (the operating system does).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign doctor
  countersign doctor claude-code --bin ~/bin/claude
  countersign doctor codex --bin ~/bin/codex

Exit: 0 nothing is wrong, 1 something is, 2 it could not be found out")]
pub(crate) struct Arguments {
    /// Whether this host is governed, proved with calls that execute nothing
    #[arg(value_enum, value_name = "HOST")]
    client: Option<Client>,
    /// The host's program [default: claude or codex]
    #[arg(long, value_name = "FILE")]
    bin: Option<OsString>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// How something is that was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grade {
    /// As it should be.
    Good,
    /// Not as it should be.
    Wrong,
    /// As it is, and nobody here can change it.
    Note,
}

impl Grade {
    const fn of(is_good: bool) -> Self {
        if is_good { Self::Good } else { Self::Wrong }
    }
}

/// One thing that was looked at.
struct Finding {
    grade: Grade,
    what: String,
    to_do: String,
}

/// Takes what was found: whether it is good, what it is, and what to do if it is not.
type Note<'n> = dyn FnMut(bool, String, String) + 'n;

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { client, bin, place, shown } = arguments;
    if let Some(client) = client {
        return host::run(*client, bin.as_deref(), *shown, console);
    }
    let mut findings = Vec::new();
    let mut note = |is_good: bool, what: String, to_do: String| {
        findings.push(Finding { grade: Grade::of(is_good), what, to_do });
    };
    modes(place, &mut note);
    let isolation = match place.open() {
        Err(Failure::CouldNotTell(issue)) if issue.code != codes::CLI_USAGE => {
            let to_do = what_to_do(issue.code);
            note(false, format!("the store: {}: {issue}", issue.code), to_do.to_owned());
            isolation_from_outside(place, issue.code)
        }
        Err(failure) => return Err(failure),
        Ok(node) => look_inside(&node, place, &mut note)?,
    };
    note(
        isolation == "os-user",
        format!("isolation: {isolation}"),
        "an agent that runs as this user can write the store and read this user's keys: run it as another user"
            .to_owned(),
    );
    show(("isolation", isolation), &findings, *shown, console)
}

/// What helps against a store that does not open.
fn what_to_do(code: Code) -> &'static str {
    if code == store_codes::STORE_OPEN_TO_OTHERS {
        "take the right to write it from others, as said above; then `countersign log verify`: they could have changed it"
    } else if code == store_codes::STORE_CORRUPT {
        "stop the service, keep the store as it is, and put a backup in its place"
    } else if code == store_codes::STORE_ROLLED_BACK {
        "see with `countersign log verify` what is missing; put the newest backup in place of the store"
    } else if code == store_codes::STORE_MISSING {
        "make one with `countersign init`, or name the folder of another with --data"
    } else if code == store_codes::STORE_SCHEMA_NEWER {
        "use the newer version of this program that the store was opened with"
    } else if code == store_codes::STORE_ENGINE_UNSAFE {
        "change the setting that is named, or use another database: nothing is kept where it could be lost"
    } else {
        "see that the disk has room and can be written, or that the database runs and can be reached"
    }
}

/// Looks at who else can read or write the files of the store and of the policy.
fn modes(place: &Place, note: &mut Note<'_>) {
    let private = ["state.db", "state.db-wal", "state.db-shm", "log.key"].map(|name| place.data.join(name));
    let policy = place.data.join("policy");
    let of_policy = POLICY_FILES.map(|name| policy.join(name));
    let folders = [place.data.clone(), policy];
    let mut is_good = true;
    let shared = folders.iter().chain(&of_policy).map(|path| (path, 0o022, "go-w"));
    for (path, refused, bits) in private.iter().map(|path| (path, 0o077, "go=")).chain(shared) {
        let Some(mode) = files::mode_of(path).filter(|mode| mode & refused != 0) else { continue };
        is_good = false;
        let verb = if mode & 0o022 == 0 { "read" } else { "write" };
        let path = path.display();
        note(
            false,
            format!("`{path}` has mode {mode:04o}: other users can {verb} it"),
            format!("chmod {bits} '{path}'"),
        );
    }
    if is_good && files::mode_of(&place.data).is_some() {
        note(
            true,
            "the files: nobody else can write them, or read what is private".to_owned(),
            String::new(),
        );
    }
}

/// Shows what was found, under one word for all of it.
fn show(
    (name, word): (&'static str, &'static str),
    findings: &[Finding],
    shown: Shown,
    console: Console,
) -> Result<Exit, Failure> {
    let is_good = findings.iter().all(|finding| finding.grade != Grade::Wrong);
    let rows = findings.iter().map(|Finding { grade, what, to_do }| {
        let to_do = (*grade == Grade::Wrong).then_some(("to_do", Json::from(to_do.clone())));
        let members = [("ok", Json::from(*grade != Grade::Wrong)), ("what", Json::from(what.clone()))];
        Json::object(members.into_iter().chain(to_do))
    });
    let json = Json::object([(name, Json::from(word)), ("findings", Json::array(rows))]);
    let lines = findings.iter().map(|Finding { grade, what, to_do }| match grade {
        Grade::Good => format!("ok    {what}"),
        Grade::Wrong => format!("WRONG {what}\n      {to_do}"),
        Grade::Note => format!("note  {what}"),
    });
    let lines: Vec<String> = lines.collect();
    shown.show(console, &json, &lines.join("\n"))?;
    Ok(if is_good { Exit::Yes } else { Exit::No })
}

/// The isolation level of a store that this user cannot open.
fn isolation_from_outside(place: &Place, why: Code) -> &'static str {
    // Whoever can see that there is no store can make one.
    if why == store_codes::STORE_MISSING {
        return "none";
    }
    let mode = files::mode_of(&place.data);
    let is_visible = files::mode_of(&place.data.join("state.db")).is_some();
    match mode {
        Some(mode) if mode & 0o077 == 0 && !is_visible => "os-user",
        Some(_) => "none",
        None => "unknown",
    }
}

/// Looks at an open store; the isolation level.
fn look_inside(node: &Node, place: &Place, note: &mut Note<'_>) -> Result<&'static str, Failure> {
    let store = node.store();
    let mut note = |is_good: bool, what: String, to_do: &str| note(is_good, what, to_do.to_owned());
    let mode = files::mode_of(&place.data).unwrap_or_default();
    note(true, format!("the store: `{}`, mode {mode:04o}", place.data.display()), "");
    let keep = "stop the service, keep the store as it is, and compare it with a backup";
    match store.check_integrity() {
        Ok(()) => note(true, "the database: whole".to_owned(), ""),
        Err(error) => note(false, format!("the database: {}: {error}", error.code()), keep),
    }
    let (outside, unreadable) = match read_copy(node) {
        Ok(outside) => (outside, None),
        Err(Failure::CouldNotTell(issue)) => (Vec::new(), Some(issue.to_string())),
        Err(failure) => return Err(failure),
    };
    let verified = node.verify_log(&outside);
    let what = match &verified {
        Ok(report) => format!("the log: {} events verify at {}", report.head.size, report.level),
        Err(error) => format!("the log: {}: {error}", error.code()),
    };
    note(verified.is_ok(), what, keep);
    if let Some(version) = store.version_in_force().map_err(ServiceError::from)? {
        let Finding { grade, what, to_do } = policy(place, &version);
        note(grade == Grade::Good, what, &to_do);
    }
    if let Some(standbys) = store.synchronous_standbys().map_err(ServiceError::from)? {
        note(
            standbys > 0,
            format!("synchronous standbys: {standbys}"),
            "with the disk of the database everything would be lost: start a standby and name it in synchronous_standby_names",
        );
    }
    let name_a_folder = "name a folder outside the store with --checkpoint-dir: only a checkpoint held elsewhere shows a rollback";
    let to_do =
        if unreadable.is_some() { "move it away: the next decision makes another" } else { name_a_folder };
    let fault = store.copy_fault().or(unreadable);
    let copy = place.checkpoints().map_or_else(|| "nowhere".to_owned(), |path| path.display().to_string());
    note(
        fault.is_none() && place.checkpoints().is_some(),
        format!("the checkpoint's copy: {}", fault.as_ref().unwrap_or(&copy)),
        to_do,
    );
    let has_keys = !store.approver_keys().map_err(ServiceError::from)?.is_empty();
    let has_tokens = !store.tokens().map_err(ServiceError::from)?.is_empty();
    let own_keys = user_folder("keys").map(|folder| files::names_in(&folder).len()).unwrap_or_default();
    let approvers = if has_keys { "registered" } else { "none" };
    note(
        has_keys,
        format!("approvers: {approvers}, with {own_keys} private keys of this user"),
        "make a key with `countersign keys generate` and register it with `countersign keys add`",
    );
    Ok(if has_keys || has_tokens { "token" } else { "none" })
}

/// Whether the policy in force is the one in the policy folder, or, without one, the one that ships.
fn policy(place: &Place, version: &PolicyVersion) -> Finding {
    let folder = place.data.join("policy");
    let local = || -> Result<Option<PolicyDocuments>, Issue> {
        let [policy, lattice, allow] = POLICY_FILES.map(|name| folder.join(name));
        let Some(policy) = files::read_if_there(&policy)? else { return Ok(None) };
        let documents = policy_documents(&policy, &files::read(&lattice)?, &files::read(&allow)?);
        Policy::load(&policy).map_err(|issues| issues.first().cloned().unwrap_or_else(no_reason))?;
        documents.map(Some).map_err(|error| Issue::from(&error))
    };
    let [policy, lattice, allow] = shipped::STANDARD.documents();
    let (source, documents) = match local() {
        Err(issue) => {
            let what = format!("the policy folder `{}`: {}: {issue}", folder.display(), issue.code);
            let to_do = "mend it (`countersign policy validate FILE` says everything that is wrong), or take the change back";
            return Finding { grade: Grade::Wrong, what, to_do: to_do.to_owned() };
        }
        Ok(Some(documents)) => ("the policy folder", Ok(documents)),
        Ok(None) => ("what ships", policy_documents(policy, lattice, allow)),
    };
    let in_force = [&version.policy, &version.lattice, &version.allow];
    let is_same = documents.is_ok_and(|it| {
        let documents = [&it.policy, &it.lattice, &it.allow];
        documents.into_iter().zip(in_force).all(|(document, object)| {
            Sha256::of_json(document) == Sha256::of_json(&Json::from(Value::Object(object.clone())))
        })
    });
    let number = version.version.get();
    let word = if is_same { "the same as" } else { "not the same as" };
    Finding {
        grade: Grade::of(is_same),
        what: format!("the policy in force: version {number}, {word} {source}"),
        to_do: "put it in force with `countersign policy activate`, or take the change back".to_owned(),
    }
}

fn no_reason() -> Issue {
    Issue::new(codes::CLI_DEFECT, "the policy was refused without a reason")
}

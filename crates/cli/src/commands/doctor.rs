//! `countersign doctor`: what is wrong with this installation, and what to do about it.

mod host;

use std::ffi::OsString;

use countersign_canon::{Issue, Json, Sha256};
use countersign_ledger::PolicyVersion;
use countersign_policy::shipped;
use countersign_service::{Node, ServiceError, policy_documents};

use crate::{
    commands::install::Client,
    console::Console,
    effects::files,
    embedded::{Place, Shown, user_folder},
    exit::Exit,
    failure::Failure,
};

/// Find what is wrong with this installation, and say what to do
///
/// The isolation level says what keeps an agent that runs as this user from approving its own requests: none (nothing
/// does), token (it would have to read a key or a token that is not its own), os-user (the operating system does).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign doctor
  countersign doctor claude-code
  countersign doctor codex --bin ~/bin/codex

Exit: 0 nothing is wrong, 1 something is, 2 it could not be found out")]
pub(crate) struct Arguments {
    /// Whether this host is governed, proved with calls that execute nothing
    #[arg(value_enum)]
    client: Option<Client>,
    /// The program `codex`, to be asked which hooks it trusts
    #[arg(long, value_name = "FILE", default_value = "codex")]
    bin: OsString,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// One thing that was looked at.
struct Finding {
    is_good: bool,
    what: String,
    to_do: &'static str,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { client, bin, place, shown } = arguments;
    if let Some(client) = client {
        return host::run(*client, bin, *shown, console);
    }
    let mut findings = Vec::new();
    let mut note = |is_good: bool, what: String, to_do: &'static str| {
        findings.push(Finding { is_good, what, to_do });
    };
    let isolation = match place.open() {
        Err(failure) => {
            let code = match &failure {
                Failure::CouldNotTell(issue) => format!("{}: {issue}", issue.code),
                Failure::Refused { .. } | Failure::Unusable(_) | Failure::OutputClosed => {
                    "not open".to_owned()
                }
            };
            note(
                false,
                format!("the store: {code}"),
                "docs/generated/codes.md says what the code means; wrong mode bits: chmod go-w",
            );
            isolation_from_outside(place)
        }
        Ok(node) => look_inside(&node, place, &mut note)?,
    };
    note(
        isolation == "os-user",
        format!("isolation: {isolation}"),
        "an agent that runs as this user can write the store and read this user's keys: run it as another user",
    );
    show(("isolation", isolation), &findings, *shown, console)
}

/// Shows what was found, under one word for all of it.
fn show(
    (name, word): (&'static str, &'static str),
    findings: &[Finding],
    shown: Shown,
    console: Console,
) -> Result<Exit, Failure> {
    let is_good = findings.iter().all(|finding| finding.is_good);
    let rows = findings.iter().map(|Finding { is_good, what, to_do }| {
        let to_do = (!is_good).then_some(("to_do", Json::from(*to_do)));
        let members = [("ok", Json::from(*is_good)), ("what", Json::from(what.clone()))];
        Json::object(members.into_iter().chain(to_do))
    });
    let json = Json::object([(name, Json::from(word)), ("findings", Json::array(rows))]);
    let lines = findings.iter().map(|Finding { is_good, what, to_do }| {
        if *is_good { format!("ok    {what}") } else { format!("WRONG {what}\n      {to_do}") }
    });
    let lines: Vec<String> = lines.collect();
    shown.show(console, &json, &lines.join("\n"))?;
    Ok(if is_good { Exit::Yes } else { Exit::No })
}

/// The isolation level of a store that this user cannot open.
fn isolation_from_outside(place: &Place) -> &'static str {
    let mode = files::mode_of(&place.data);
    let is_visible = files::mode_of(&place.data.join("state.db")).is_some();
    match mode {
        Some(mode) if mode & 0o077 == 0 && !is_visible => "os-user",
        Some(_) => "none",
        None => "unknown",
    }
}

/// Looks at an open store; the isolation level.
fn look_inside(
    node: &Node,
    place: &Place,
    note: &mut dyn FnMut(bool, String, &'static str),
) -> Result<&'static str, Failure> {
    let store = node.store();
    let mode = files::mode_of(&place.data).unwrap_or_default();
    note(true, format!("the store: `{}`, mode {mode:04o}", place.data.display()), "");
    let verified = node.verify_log(&[]);
    let what = match &verified {
        Ok(report) => format!("the log: {} events verify at {}", report.head.size, report.level),
        Err(error) => format!("the log: {}: {error}", error.code()),
    };
    note(verified.is_ok(), what, "stop the service, keep the store as it is, and compare it with a backup");
    let versions = store.policy_versions().map_err(ServiceError::from)?;
    let in_force = store.activations().map_err(ServiceError::from)?.last().cloned();
    let version = in_force.and_then(|it| versions.into_iter().find(|version| version.version == it.version));
    if let Some(version) = version {
        let (is_good, what) = policy(place, &version);
        note(is_good, what, "put it in force with `countersign policy activate`, or take the file back");
    }
    if let Some(standbys) = store.synchronous_standbys().map_err(ServiceError::from)? {
        note(
            standbys > 0,
            format!("synchronous standbys: {standbys}"),
            "with the disk of the database everything would be lost: start a standby and name it in synchronous_standby_names",
        );
    }
    let fault = store.copy_fault();
    let copy = place.checkpoints().map_or_else(|| "nowhere".to_owned(), |path| path.display().to_string());
    let what = fault.as_ref().map_or_else(
        || format!("the checkpoint's copy: {copy}"),
        |fault| format!("the checkpoint's copy: {fault}"),
    );
    note(
        fault.is_none() && place.checkpoints().is_some(),
        what,
        "name a folder outside the store with --checkpoint-dir: only a checkpoint held elsewhere shows a rollback",
    );
    let has_keys = !store.approver_keys().map_err(ServiceError::from)?.is_empty();
    let has_tokens = !store.tokens().map_err(ServiceError::from)?.is_empty();
    let own_keys = user_folder("keys").map(|folder| files::names_in(&folder).len()).unwrap_or_default();
    note(
        has_keys,
        format!(
            "approvers: {}, with {own_keys} private keys of this user",
            if has_keys { "registered" } else { "none" }
        ),
        "make a key with `countersign keys generate` and register it with `countersign keys add`",
    );
    Ok(if has_keys || has_tokens { "token" } else { "none" })
}

/// Whether the policy in force is the one in the policy folder, or, without one, the one that ships.
fn policy(place: &Place, version: &PolicyVersion) -> (bool, String) {
    let folder = place.data.join("policy");
    let read = |name: &str| files::read(&folder.join(name));
    let local = || -> Result<[Vec<u8>; 3], Issue> {
        Ok([
            read("odeu.instructions.v1.json")?,
            read("urm.capability.lattice.v1.json")?,
            read("urm.allow.v1.json")?,
        ])
    };
    let (source, documents) = match local() {
        Ok([policy, lattice, allow]) => ("the policy folder", policy_documents(&policy, &lattice, &allow)),
        Err(_) => {
            let shipped::Bundle { policy, lattice, allow } = shipped::STANDARD;
            ("what ships", policy_documents(policy, lattice, allow))
        }
    };
    let in_force = [&version.policy, &version.lattice, &version.allow];
    let hash = |json: &Json<'_>| Sha256::of_json(json);
    let is_same = documents.is_ok_and(|it| {
        let documents = [&it.policy, &it.lattice, &it.allow];
        documents.into_iter().zip(in_force).all(|(document, object)| {
            hash(document) == hash(&Json::from(countersign_canon::Value::Object(object.clone())))
        })
    });
    let number = version.version.get();
    let word = if is_same { "the same as" } else { "not the same as" };
    (is_same, format!("the policy in force: version {number}, {word} {source}"))
}

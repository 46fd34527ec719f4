//! `countersign approve`: a person's signed yes to one action.

use std::path::{Path, PathBuf};

use countersign_canon::{Issue, Text, Wire as _};
use countersign_ledger::{GRANT_TTL_S_DEFAULT, GrantTtl, Principal, SecretKey};
use countersign_policy::ApprovalId;
use countersign_service::{
    api::{GetApproval, GrantApproval},
    now, sign,
};

use crate::{
    console::Console,
    effects::files,
    embedded::{Place, Shown, usage, user_folder},
    exit::Exit,
    failure::{Failure, codes},
};

/// Makes a key and has its signature count from then on.
const NEW_KEY: &str = "countersign keys add \"$(countersign keys generate --name \"$USER\")\"";

/// Say yes to a request, signed with your key
///
/// The statement that is signed names this action, this session and this duration. The private key stays in this process.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign approve apr_0123
  countersign approve apr_0123 --key ann.key --reason 'release 1.4.2' --ttl 600

Exit: 0 signed, 2 it could not be")]
pub(crate) struct Arguments {
    /// The request
    #[arg(value_parser = ApprovalId::parse)]
    approval: ApprovalId,
    /// Your private key [default: the only one that `countersign keys generate` made for this user]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Why
    #[arg(long, default_value = "")]
    reason: String,
    /// For how many seconds it can be used, 1 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = GRANT_TTL_S_DEFAULT)]
    ttl: i64,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { approval, key, reason, ttl, place, shown } = arguments;
    let ttl = GrantTtl::new(*ttl).ok_or_else(|| usage("the duration is 1 to 86400 seconds"))?;
    let reason = Text::new(reason.clone()).ok_or_else(|| usage("a reason has at most 2000 characters"))?;
    let key = read_key(key.as_deref())?;
    let approver = Principal::parse(key.public().name.as_str()).map_err(|issue| usage(issue.to_string()))?;
    let door = place.door()?;
    let asked = door.ask_as(&approver, GetApproval { approval_id: approval.clone() })?;
    let signed = sign(&asked.approval, &approver, &key, (now()?, ttl), reason)?;
    let granted = door.ask_as(&approver, GrantApproval::new(approval.clone(), signed))?;
    let text = format!("{} {} until {}", granted.approval_id, granted.state, granted.expires_at);
    shown.show(console, &granted.write(), &text)?;
    Ok(Exit::Yes)
}

/// The named private key, or the only one of this user.
fn read_key(path: Option<&Path>) -> Result<SecretKey, Failure> {
    let path = match path {
        Some(path) => path.to_path_buf(),
        None => {
            let found = user_folder("keys").map(|folder| files::names_in(&folder)).unwrap_or_default();
            match found.as_slice() {
                [only] => only.clone(),
                [] => {
                    let issue = Issue::new(codes::CLI_USAGE, "there is no key to sign with")
                        .with_expected("the private key of somebody whose public key is registered")
                        .with_hint(format!("make one and register it with `{NEW_KEY}`, or give --key"));
                    return Err(Failure::CouldNotTell(issue));
                }
                [_, _, ..] => return Err(usage("there are several keys; say which with --key")),
            }
        }
    };
    let bytes = files::read(&path).map_err(Failure::CouldNotTell)?;
    let text = String::from_utf8(bytes).map_err(|_| usage(format!("`{}` is not a key", path.display())))?;
    SecretKey::parse(text.trim_end()).map_err(Failure::CouldNotTell)
}

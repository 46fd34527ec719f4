//! `countersign policy activate`: a policy comes into force.

use std::path::PathBuf;

use countersign_canon::Wire as _;
use countersign_ledger::PolicyVersion;
use countersign_policy::{Policy, PolicyHash};
use countersign_service::{Node, ServiceError, policy_documents};

use super::history::in_words;
use crate::{
    console::Console,
    embedded::{Place, Shown, owner, usage},
    exit::Exit,
    failure::Failure,
    policy_folder,
};

/// Put the policy of the policy folder in force, or an earlier one by its hash
///
/// Rules, lattice and allow policy come into force together, as one numbered version; the log says when and by whom. Nothing
/// is fetched: a hash must be that of the folder's policy or of one that was in force before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy activate --policy-dir policy
  countersign policy activate 1f0c6e3a3a0c4a5d9d51cf5c6d1d4c0e9f0b8a7c6d5e4f3a2b1c0d9e8f7a6b5c

Exit: 0 in force, 2 it could not be put in force")]
pub(crate) struct Arguments {
    /// The hash of the policy [default: whatever is in the folder]
    #[arg(value_name = "HASH", value_parser = PolicyHash::parse)]
    hash: Option<PolicyHash>,
    /// The folder of the three documents [default: policy/ in the folder of the store]
    #[arg(long, value_name = "DIR")]
    policy_dir: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { hash, policy_dir, place, shown } = arguments;
    let node = place.open()?;
    let default = place.data.join("policy");
    let folder = policy_dir.as_deref().unwrap_or(&default);
    let known = hash.as_ref().map_or(Ok(None), |hash| in_history(&node, hash))?;
    let activation = match known {
        Some(version) => node.roll_back(&owner()?, version.version)?,
        None => {
            let [policy, lattice, allow] = policy_folder::read(folder).map_err(Failure::CouldNotTell)?;
            if let Some(hash) = hash {
                let found = Policy::load(&policy).ok().map(|policy| *policy.hash());
                if found != Some(*hash) {
                    return Err(usage(format!(
                        "no policy has this hash, in `{}` or in the history",
                        folder.display()
                    )));
                }
            }
            node.activate(&owner()?, policy_documents(&policy, &lattice, &allow)?)?
        }
    };
    shown.show(console, &activation.write(), &in_words(&node, &activation)?)?;
    Ok(Exit::Yes)
}

fn in_history(node: &Node, hash: &PolicyHash) -> Result<Option<PolicyVersion>, Failure> {
    let versions = node.store().policy_versions().map_err(ServiceError::from)?;
    Ok(versions.into_iter().rfind(|version| version.policy_hash == *hash))
}

//! The ground that an agent's calls are made on: its workspace, and the table that says what calls mean there.

use std::path::{Path, PathBuf};

use countersign_action::{Action, Host, Kind, Place, Table, ToolCall, normalise};
use countersign_canon::{Issue, Text};
use countersign_policy::{ActionHash, NameSet, ProbeFact, ProbeFacts, ProbeSchema};
use countersign_service::{Caller, Client, Door, Node, NodeOptions, ServiceError, api::CallReply};

use super::workspace::{Workspace, first};
use crate::{
    actions,
    effects::{files, folder},
    embedded::user_folder,
    failure::codes,
};

/// The table of actions in a policy folder.
pub(crate) const TABLE: &str = "actions.v1.yml";

/// The socket of a service in its data folder.
pub(crate) const SOCKET: &str = "service.sock";

/// A workspace, and what calls mean there.
pub(crate) struct Ground {
    pub(crate) workspace: Workspace,
    table: Table,
}

/// What is said to a call.
pub(crate) enum Verdict {
    /// It may begin, once.
    Allowed,
    /// It may not.
    Denied(Box<Denial>),
}

/// A no, with everything that helps whoever hears it.
#[derive(Debug, Clone)]
pub(crate) struct Denial {
    /// The code.
    pub(crate) code: String,
    /// The rule that decided, if one did.
    pub(crate) rule: Option<String>,
    /// Why, and what to do instead.
    pub(crate) words: String,
    /// The kind of action that the call is.
    pub(crate) kind: Kind,
    /// What made it that kind, if it is a command line.
    pub(crate) finding: Option<String>,
    /// The action.
    pub(crate) action: ActionHash,
    /// The decision in the log.
    pub(crate) decision: String,
    /// The command with which a person says yes, if that is all that is missing.
    pub(crate) approve: Option<String>,
}

impl Ground {
    /// Reads the table of a workspace.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be used. Then nothing may begin.
    pub(crate) fn new(workspace: Workspace) -> Result<Self, Issue> {
        let own_table = workspace.data.join("policy").join(TABLE);
        // Mostly it is the one that ships.
        let own = match files::holds(&own_table, actions::SHIPPED)? {
            true => None,
            false => files::read_if_there(&own_table)?,
        };
        let table = own.map_or_else(actions::shipped_actions, |bytes| actions::load(&bytes));
        let table = table.map_err(|issues| first(issues.into_vec()))?;
        Ok(Self { workspace, table })
    }

    /// The service that runs on the workspace's data folder, else its store: for one call.
    ///
    /// # Errors
    ///
    /// Fails if neither can be used. Then nothing may begin.
    pub(crate) fn door(&self, component: &str) -> Result<Door, Issue> {
        let running = Client::at_socket(&self.workspace.data.join(SOCKET));
        if let Some(client) = running.map_err(|error| Issue::from(&error))? {
            return Ok(Door::There(client));
        }
        let (node, caller) = self.opened(component, Node::open_store_briefly)?;
        Ok(Door::Here(Box::new(node), caller))
    }

    /// The store of the workspace, and who asks it.
    ///
    /// # Errors
    ///
    /// Fails if the store was lost, or cannot be used.
    pub(crate) fn store(&self, component: &str) -> Result<(Node, Caller), Issue> {
        self.opened(component, Node::open_store)
    }

    fn opened(
        &self,
        component: &str,
        open: impl FnOnce(&NodeOptions, PathBuf) -> Result<Node, ServiceError>,
    ) -> Result<(Node, Caller), Issue> {
        self.workspace.check_store()?;
        let data = self.workspace.data.clone();
        let folder = data.join("policy");
        let options = NodeOptions { data, database: None, checkpoints: user_folder("checkpoints") };
        let issue = |error: ServiceError| Issue::from(&error);
        Ok((open(&options, folder).map_err(issue)?, Caller::owner(component).map_err(issue)?))
    }

    /// Where an act takes place that starts in this folder.
    pub(crate) fn place(&self, cwd: &Path) -> Result<Place, Issue> {
        self.workspace.place(cwd)
    }

    /// What a tool call is.
    pub(crate) fn action(&self, host: Host, call: &ToolCall, place: &Place) -> Result<Action, Issue> {
        normalise(&self.table, host, call, place)
    }

    /// What a probe of this client found, if it was probed in this workspace.
    ///
    /// # Errors
    ///
    /// Fails if what it found cannot be read.
    pub(crate) fn probed(&self, client: &str) -> Result<Vec<String>, Issue> {
        let path = self.workspace.probe_file(client);
        let Some(bytes) = files::read_if_there(&path)? else { return Ok(Vec::new()) };
        let facts = ProbeFacts::load(&bytes).map_err(|issues| first(issues.into_vec()))?;
        Ok(facts.facts.0.iter().map(ToString::to_string).collect())
    }

    /// What is said to a call, after the decision about its action.
    ///
    /// # Errors
    ///
    /// Fails if what a reviewer needs cannot be kept.
    pub(crate) fn verdict(
        &self,
        action: &Action,
        hash: ActionHash,
        reply: CallReply,
    ) -> Result<Verdict, Issue> {
        if reply.may_begin {
            return Ok(Verdict::Allowed);
        }
        if reply.pending_approval.is_some() {
            self.keep_evidence(action)?;
        }
        let worst = action.classification.iter().flat_map(|found| &found.findings);
        let worst = worst.filter(|finding| finding.kind == action.kind && !finding.part.is_empty());
        let finding = worst.map(|it| format!("`{}` ({})", it.part.escape_debug(), it.reason)).next();
        let data = self.workspace.data.display().to_string();
        let approve = |command: String| format!("{command} --data {}", quoted(&data));
        Ok(Verdict::Denied(Box::new(Denial {
            code: reply.decision_code,
            rule: reply.rule.map(|rule| rule.to_string()),
            words: reply.reason,
            kind: action.kind,
            finding,
            action: hash,
            decision: reply.decision_id.to_string(),
            approve: reply.pending_approval.map(|pending| approve(pending.command)),
        })))
    }

    /// Keeps the texts that stand in the payload as hashes, for whoever reviews the request.
    fn keep_evidence(&self, action: &Action) -> Result<(), Issue> {
        for evidence in &action.evidence {
            let path = self.workspace.data.join("evidence").join(evidence.sha256.to_string());
            if files::mode_of(&path).is_none() {
                folder::put(&path, &evidence.text)?;
            }
        }
        Ok(())
    }
}

/// Facts about a client, of which these are known.
///
/// # Errors
///
/// Fails if the client has no name, or a fact is not one.
pub(crate) fn probe_facts(client: &str, facts: &[&str]) -> Result<ProbeFacts, Issue> {
    let facts: Result<NameSet<ProbeFact>, Issue> = facts.iter().map(|fact| ProbeFact::parse(fact)).collect();
    let client = Text::new(client.to_owned())
        .ok_or_else(|| Issue::new(codes::HOOK_INPUT, "the client has no usable name"))?;
    Ok(ProbeFacts { schema: ProbeSchema::V1, client, facts: facts? })
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./".contains(sign);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

//! The gate before an agent's tools: a call in, a recorded yes or no out; the same for hooks and for proxies.

mod run;

use std::path::{Path, PathBuf};

use countersign_action::{Action, Host, Kind, Place, Table, ToolCall, normalise};
use countersign_canon::{Issue, Json, NonEmpty, Text, Wire as _};
use countersign_ledger::OutcomeStatus;
use countersign_policy::{
    ActionHash, ActionKind, AllowPolicy, Lattice, NameSet, Policy, ProbeFact, ProbeFacts, ProbeSchema, Role,
    RuleId, SessionId, action_hash,
};
use countersign_service::{Ask, Caller, Decision, HostCall, NewSession, Node, NodeOptions, policy_documents};

use super::workspace::{Workspace, first};
use crate::{
    actions,
    effects::{files, folder},
    embedded::user_folder,
    failure::codes,
    policy_folder,
};

/// The role that an agent at a person's side acts in.
const ROLE: &str = "copilot";

/// The table of actions in a policy folder.
const TABLE: &str = "actions.v1.yml";

/// LIMIT: a write-ahead log that is longer costs more to read again than to put away; a decision adds some 50 kB.
const WAL_BYTES_LONG: u64 = 600_000;

/// A gate: a workspace, its store, and the table that says what calls mean.
pub(crate) struct Gate {
    node: Node,
    table: Table,
    caller: Caller,
    workspace: Workspace,
}

/// What the gate says to a call.
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

impl Gate {
    /// Opens the store of a workspace and checks that its policy folder is what is in force.
    ///
    /// # Errors
    ///
    /// Fails if the store, the policy or the table of actions cannot be used. Then nothing may begin.
    pub(crate) fn open(workspace: Workspace, component: &str) -> Result<Self, Issue> {
        let options = NodeOptions {
            data: workspace.data.clone(),
            database: None,
            checkpoints: user_folder("checkpoints"),
        };
        let node = Node::open(&options).map_err(|error| Issue::from(&error))?;
        check_policy(&node, &workspace)?;
        let own_table = workspace.data.join("policy").join(TABLE);
        let table = match files::mode_of(&own_table) {
            Some(_) => actions::load_or_shipped(&files::read(&own_table)?),
            None => actions::shipped_actions(),
        };
        let table = table.map_err(|issues| first(issues.into_vec()))?;
        let caller = Caller::owner(component).map_err(|error| Issue::from(&error))?;
        Ok(Self { node, table, caller, workspace })
    }

    /// The session that a host knows by this name.
    pub(crate) fn session(&self, client: &str, name: &str) -> Result<SessionId, Issue> {
        let new = Role::parse(ROLE).map(|role| NewSession::new(role, self.workspace.mode, client))?;
        let session = new.and_then(|new| self.node.host_session(&self.caller, new, name));
        session.map(|session| session.session_id).map_err(|error| Issue::from(&error))
    }

    /// A session of its own.
    pub(crate) fn new_session(&self, client: &str) -> Result<SessionId, Issue> {
        let new = Role::parse(ROLE).map(|role| NewSession::new(role, self.workspace.mode, client))?;
        let session = new.and_then(|new| self.node.start_session(&self.caller, new));
        session.map(|session| session.session_id).map_err(|error| Issue::from(&error))
    }

    /// Whether an action could be allowed in a session, with an approval if it takes one. Nothing is recorded.
    pub(crate) fn is_open(&self, session: &SessionId, action: &Action) -> Result<bool, Issue> {
        let kind = ActionKind::parse(action.kind.as_str())?;
        let ask = Ask::new(kind, action.payload.clone()).in_session(session);
        self.node.is_open(ask).map_err(|error| Issue::from(&error))
    }

    /// The workspace itself as the place of an act.
    pub(crate) fn workspace_place(&self) -> Result<Place, Issue> {
        self.workspace.place(&self.workspace.root)
    }

    /// Where an act takes place that starts in this folder.
    pub(crate) fn place(&self, cwd: &Path) -> Result<Place, Issue> {
        self.workspace.place(cwd)
    }

    /// What a tool call is.
    pub(crate) fn action(&self, host: Host, call: &ToolCall, place: &Place) -> Result<Action, Issue> {
        normalise(&self.table, host, call, place)
    }

    /// Decides an action that a host's call is, and lets it begin if it may.
    ///
    /// # Errors
    ///
    /// Fails if nothing could be decided. Then nothing may begin.
    pub(crate) fn decide(
        &self,
        call: &HostCall,
        action: &Action,
        probe: ProbeFacts,
    ) -> Result<Verdict, Issue> {
        self.workspace.check_store()?;
        let kind = ActionKind::parse(action.kind.as_str())?;
        let hash = action_hash(&kind, &action.payload);
        let ask = Ask { probe: Some(probe), ..Ask::new(kind, action.payload.clone()) };
        let decision = self.node.decide_call(&self.caller, call, ask);
        let decision = decision.map_err(|error| Issue::from(&error))?;
        if decision.is_allowed() && decision.permit.is_some() {
            return Ok(Verdict::Allowed);
        }
        let rule = self.node.deciding_rule(&decision.decided).map_err(|error| Issue::from(&error))?;
        if decision.decided.pending_approval.is_some() {
            self.keep_evidence(action)?;
        }
        Ok(Verdict::Denied(Box::new(self.denial(action, hash, &decision, rule))))
    }

    /// Refuses what the runtime does not have: kinds of action that no lattice knows, so the kernel denies and records them.
    /// Gives the decision in the log.
    pub(crate) fn refuse(
        &self,
        session: &SessionId,
        kind: &str,
        payload: Json<'static>,
    ) -> Result<String, Issue> {
        let ask = Ask::new(ActionKind::parse(kind)?, payload).in_session(session);
        let decision = self.node.decide(&self.caller, ask).map_err(|error| Issue::from(&error))?;
        Ok(decision.decided.decision_id.to_string())
    }

    /// Keeps what a probe found: the facts for the workspace's hooks, and the snapshot in the log.
    ///
    /// # Errors
    ///
    /// Fails if either cannot be kept.
    pub(crate) fn keep_probe(
        &self,
        client: &str,
        facts: &[String],
        snapshot: &Json<'static>,
    ) -> Result<(), Issue> {
        let facts = probe_facts(client, &facts.iter().map(String::as_str).collect::<Vec<_>>())?;
        self.node.note_capabilities(&self.caller, snapshot).map_err(|error| Issue::from(&error))?;
        folder::put(&self.probe_file(client), &facts.write().to_pretty())
    }

    fn probe_file(&self, client: &str) -> PathBuf {
        self.workspace.data.join("probes").join(format!("{client}.json"))
    }

    /// What a probe of this client found, if it was probed in this workspace.
    ///
    /// # Errors
    ///
    /// Fails if what it found cannot be read.
    pub(crate) fn probed(&self, client: &str) -> Result<Vec<String>, Issue> {
        let path = self.probe_file(client);
        if files::mode_of(&path).is_none() {
            return Ok(Vec::new());
        }
        let facts = ProbeFacts::load(&files::read(&path)?).map_err(|issues| first(issues.into_vec()))?;
        Ok(facts.facts.0.iter().map(ToString::to_string).collect())
    }

    /// Notes how a call went that was allowed to begin.
    pub(crate) fn finish(&self, call: &HostCall, status: OutcomeStatus, detail: &str) -> Result<(), Issue> {
        let noted = self.node.finish_call(&self.caller, call, status, detail);
        noted.map_err(|error| Issue::from(&error))
    }

    /// Ends the process's use of the store, mostly without the work of closing it: everything is durable already, and the
    /// next process finds the write-ahead log as a crash would have left it. A long one is put away, since whoever opens the
    /// store next must read all of it.
    pub(crate) fn leave(self) {
        if files::bytes_of(&self.workspace.data.join("state.db-wal")) < WAL_BYTES_LONG {
            std::mem::forget(self);
        }
    }

    fn denial(&self, action: &Action, hash: ActionHash, decision: &Decision, rule: Option<RuleId>) -> Denial {
        let worst = action.classification.iter().flat_map(|found| &found.findings);
        let worst = worst.filter(|finding| finding.kind == action.kind && !finding.part.is_empty());
        let finding = worst.map(|it| format!("`{}` ({})", it.part.escape_debug(), it.reason)).next();
        let pending = decision.decided.pending_approval.as_ref();
        let data = self.workspace.data.display().to_string();
        Denial {
            code: decision.code().to_owned(),
            rule: rule.map(|rule| rule.to_string()),
            words: decision.decided.reason.to_string(),
            kind: action.kind,
            finding,
            action: hash,
            decision: decision.decided.decision_id.to_string(),
            approve: pending.map(|pending| format!("{} --data {}", pending.command, quoted(&data))),
        }
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

/// Checks that the policy in the workspace's folder is valid and in force; a workspace without one goes by its store.
fn check_policy(node: &Node, workspace: &Workspace) -> Result<(), Issue> {
    let folder = workspace.data.join("policy");
    if files::mode_of(&folder).is_none() {
        return Ok(());
    }
    let [policy, lattice, allow] = policy_folder::read(&folder)?;
    if let Ok(documents) = policy_documents(&policy, &lattice, &allow)
        && policy_folder::is_in_force(node, &documents).map_err(|error| Issue::from(&error))?
    {
        return Ok(());
    }
    let refused = |issues: NonEmpty<Issue>| first(issues.into_vec());
    Policy::load(&policy).map_err(refused)?;
    let lattice = Lattice::load(&lattice).map_err(refused)?;
    AllowPolicy::load(&allow, &lattice).map_err(refused)?;
    let message = format!("the policy in `{}` is not the one in force", folder.display());
    Err(Issue::new(codes::HOOK_POLICY_CHANGED, message)
        .with_hint("a person reads it and runs `countersign policy activate`, or takes the change back"))
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./".contains(sign);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

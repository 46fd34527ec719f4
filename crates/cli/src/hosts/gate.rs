//! The gate before an agent's tools for as long as a proxy runs: a call in, a recorded yes or no out.

mod run;

use std::path::Path;

use countersign_action::{Action, Host, Place, ToolCall};
use countersign_canon::{Issue, Json, Object, Wire as _};
use countersign_ledger::{EventKind, OutcomeStatus};
use countersign_policy::{ActionKind, ProbeFact, ProbeFacts, Role, SessionId, action_hash, agents_view};
use countersign_service::{Ask, Caller, Considered, Decision, HostCall, NewSession, Node, ServiceError};

pub(crate) use super::ground::{Verdict, probe_facts};
use super::{ground::Ground, workspace::Workspace};
use crate::effects::folder;

/// The role that an agent at a person's side acts in.
const ROLE: &str = "copilot";

/// LIMIT: how many events are looked at together.
const EVENTS_AT_ONCE: u32 = 500;

/// What a runtime lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// The method, as far as the probe found.
    Method,
    /// Somebody who has opted into what is experimental.
    OptIn,
}

/// A gate: a workspace, its store, and the table that says what calls mean.
pub(crate) struct Gate {
    ground: Ground,
    node: Node,
    caller: Caller,
}

impl Gate {
    /// Opens the store of a workspace and checks that its policy folder is what is in force.
    ///
    /// # Errors
    ///
    /// Fails if the store, the policy or the table of actions cannot be used. Then nothing may begin.
    pub(crate) fn open(workspace: Workspace, component: &str) -> Result<Self, Issue> {
        let ground = Ground::new(workspace)?;
        let (node, caller) = ground.store(component)?;
        node.check_policies().map_err(|error| Issue::from(&error))?;
        Ok(Self { ground, node, caller })
    }

    /// The session that a host knows by this name.
    pub(crate) fn session(&self, client: &str, name: &str) -> Result<SessionId, Issue> {
        let new = Role::parse(ROLE).map(|role| NewSession::new(role, self.ground.workspace.mode, client))?;
        let session = new.and_then(|new| self.node.host_session(&self.caller, new, name));
        session.map(|session| session.session_id).map_err(|error| Issue::from(&error))
    }

    /// A session of its own.
    pub(crate) fn new_session(&self, client: &str) -> Result<SessionId, Issue> {
        let new = Role::parse(ROLE).map(|role| NewSession::new(role, self.ground.workspace.mode, client))?;
        let session = new.and_then(|new| self.node.start_session(&self.caller, new));
        session.map(|session| session.session_id).map_err(|error| Issue::from(&error))
    }

    /// How many events the log has.
    pub(crate) fn log_size(&self) -> Result<u64, Issue> {
        let checkpoint =
            self.node.store().checkpoint().map_err(|error| Issue::from(&ServiceError::from(error)))?;
        checkpoint.map_or(Ok(0), |checkpoint| checkpoint.claim().map(|claim| claim.head.size))
    }

    /// Whether an action was allowed after the log had this size.
    pub(crate) fn has_allowed(&self, since: u64, action: &str) -> Result<bool, Issue> {
        let mut from = since;
        loop {
            let page = self.node.store().log_events(from, EVENTS_AT_ONCE);
            let page = page.map_err(|error| Issue::from(&ServiceError::from(error)))?;
            let Some(last) = page.last() else { return Ok(false) };
            from = last.log_index.saturating_add(1);
            let is_it =
                |detail: &Object<'_>| detail.get("action_hash").and_then(Json::as_str) == Some(action);
            if page.iter().any(|it| it.event.event == EventKind::PolicyEvalPass && is_it(&it.event.detail)) {
                return Ok(true);
            }
        }
    }

    /// What would be decided about an action in a session. Nothing is recorded.
    pub(crate) fn consider(&self, session: &SessionId, action: &Action) -> Result<Considered, Issue> {
        self.node.consider(asked(session, action)?).map_err(|error| Issue::from(&error))
    }

    /// Decides an action without beginning it; where only an approval is missing, it is asked for.
    pub(crate) fn request(&self, session: &SessionId, action: &Action) -> Result<Decision, Issue> {
        self.node.decide(&self.caller, asked(session, action)?).map_err(|error| Issue::from(&error))
    }

    /// The rules in force.
    pub(crate) fn policy_view(&self) -> Result<String, Issue> {
        let version = self.node.in_force().map_err(|error| Issue::from(&error))?;
        Ok(agents_view(&version.policy, "the policy in force"))
    }

    /// The folder of settings and state.
    pub(crate) fn data(&self) -> &Path {
        &self.ground.workspace.data
    }

    /// The workspace itself as the place of an act.
    pub(crate) fn workspace_place(&self) -> Result<Place, Issue> {
        self.place(&self.ground.workspace.root)
    }

    /// Where an act takes place that starts in this folder.
    pub(crate) fn place(&self, cwd: &Path) -> Result<Place, Issue> {
        self.ground.workspace.place(cwd)
    }

    /// What a tool call is.
    pub(crate) fn action(&self, host: Host, call: &ToolCall, place: &Place) -> Result<Action, Issue> {
        self.ground.action(host, call, place)
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
        self.ground.workspace.check_store()?;
        let kind = ActionKind::parse(action.kind.as_str())?;
        let hash = action_hash(&kind, &action.payload);
        let ask = Ask { probe: Some(probe), ..Ask::new(kind, action.payload.clone()) };
        let reply = self.node.answer_call(&self.caller, call, ask).map_err(|error| Issue::from(&error))?;
        self.ground.verdict(action, hash, reply)
    }

    /// Refuses what the runtime does not have: kinds of action that no lattice knows, so the kernel denies and records them.
    /// Gives the code, and the decision in the log.
    pub(crate) fn refuse(
        &self,
        session: &SessionId,
        lacking: Lacking,
        payload: Json<'static>,
    ) -> Result<(String, String), Issue> {
        let (kind, is_disabled) = match lacking {
            Lacking::Method => (ActionKind::parse("runtime.absent")?, false),
            Lacking::OptIn => (ActionKind::parse("runtime.experimental")?, true),
        };
        let disabled = is_disabled.then(|| ProbeFacts::disabled(&kind)).transpose()?;
        let facts: Vec<&str> = disabled.iter().map(ProbeFact::as_str).collect();
        let probe = Some(probe_facts("codex", &facts)?);
        let ask = Ask { probe, ..Ask::new(kind, payload).in_session(session) };
        let decision = self.node.decide(&self.caller, ask).map_err(|error| Issue::from(&error))?;
        Ok((decision.code().to_owned(), decision.decided.decision_id.to_string()))
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
        folder::put(&self.ground.workspace.probe_file(client), &facts.write().to_pretty())
    }

    /// Notes how a call went that was allowed to begin.
    pub(crate) fn finish(&self, call: &HostCall, status: OutcomeStatus, detail: &str) -> Result<(), Issue> {
        let noted = self.node.finish_call(&self.caller, call, status, detail);
        noted.map_err(|error| Issue::from(&error))
    }
}

/// A question about an action in a session.
fn asked(session: &SessionId, action: &Action) -> Result<Ask, Issue> {
    let kind = ActionKind::parse(action.kind.as_str())?;
    Ok(Ask::new(kind, action.payload.clone()).in_session(session))
}

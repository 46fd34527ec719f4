//! What a thread of Codex may be given: it asks before everything that it does not know, and its sandbox has a most.
//!
//! A thread is told so when it starts, and the answer is checked: Codex takes what its managed settings do not allow for
//! something else, without an error.

use clap::ValueEnum;
use countersign_canon::{Issue, Json, Object};
use countersign_policy::Mode;

use super::probe::Snapshot;
use crate::failure::codes;

/// The approval policy under which Codex asks before every command and patch that could change something.
const APPROVAL_POLICY: &str = "untrusted";
/// Who is asked: the client, in whose place we answer.
const REVIEWER: &str = "user";

/// How far commands reach, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Sandbox {
    /// Files can be read.
    ReadOnly,
    /// The workspace can be written.
    WorkspaceWrite,
    /// There is no sandbox.
    DangerFullAccess,
}

/// The bounds of every thread behind one proxy.
#[derive(Debug)]
pub(crate) struct Bounds {
    most: Sandbox,
    requirements: Option<Json<'static>>,
}

impl Sandbox {
    const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::DangerFullAccess];

    /// The most that a session in this mode has if nobody says otherwise.
    pub(crate) const fn of_mode(mode: Mode) -> Self {
        match mode {
            Mode::ReadOnly => Self::ReadOnly,
            Mode::WritesAllowed => Self::WorkspaceWrite,
        }
    }

    /// Its name in settings and options.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::DangerFullAccess => "danger-full-access",
        }
    }

    /// Its name as the type of a policy.
    const fn policy_type(self) -> &'static str {
        match self {
            Self::ReadOnly => "readOnly",
            Self::WorkspaceWrite => "workspaceWrite",
            Self::DangerFullAccess => "dangerFullAccess",
        }
    }

    fn of_policy(policy: Option<&Json<'_>>) -> Option<Self> {
        let found = policy?.get("type")?.as_str()?;
        Self::ALL.into_iter().find(|sandbox| sandbox.policy_type() == found)
    }
}

impl Bounds {
    /// At most this sandbox, and what the managed settings of the probed Codex allow.
    pub(crate) fn new(most: Sandbox, snapshot: &Snapshot) -> Self {
        Self { most, requirements: snapshot.requirements.clone() }
    }

    /// What a thread is started with, whatever the client asks for.
    pub(crate) fn of_thread(&self, params: Object<'static>) -> Object<'static> {
        let asked = params.get("sandbox").and_then(Json::as_str);
        let asked = Sandbox::ALL.into_iter().find(|sandbox| Some(sandbox.as_str()) == asked);
        let sandbox = self.allowed(asked.unwrap_or(self.most));
        params
            .without("permissions")
            .with("approvalPolicy", Json::from(APPROVAL_POLICY))
            .with("approvalsReviewer", Json::from(REVIEWER))
            .with("sandbox", Json::from(sandbox.as_str()))
    }

    /// What a turn is started with: what its thread has, whatever the client asks for.
    pub(crate) fn of_turn(params: Object<'static>) -> Object<'static> {
        let settings = ["approvalPolicy", "approvalsReviewer", "sandboxPolicy", "permissions"];
        settings.into_iter().fold(params, Object::without)
    }

    /// What a command of the client is started with, whatever it asks for.
    pub(crate) fn of_command(&self, params: Object<'static>) -> Object<'static> {
        let asked = Sandbox::of_policy(params.get("sandboxPolicy"));
        let sandbox = self.allowed(asked.unwrap_or(self.most));
        let policy = Json::object([("type", Json::from(sandbox.policy_type()))]);
        params.without("permissionProfile").with("sandboxPolicy", policy)
    }

    /// Checks what a thread really has, given as Codex tells it.
    ///
    /// # Errors
    ///
    /// Fails if it would not ask, or reaches further than it may: then it is not governed.
    pub(crate) fn check(&self, settings: &Json<'_>, sandbox_key: &str) -> Result<(), Issue> {
        let word = |key: &str| settings.get(key).and_then(Json::as_str);
        if word("approvalPolicy") != Some(APPROVAL_POLICY) {
            return Err(unbound("the approval policy", settings.get("approvalPolicy"), APPROVAL_POLICY));
        }
        // Older versions have nobody else to ask.
        if settings.get("approvalsReviewer").is_some() && word("approvalsReviewer") != Some(REVIEWER) {
            return Err(unbound("the reviewer", settings.get("approvalsReviewer"), REVIEWER));
        }
        let policy = settings.get(sandbox_key);
        let most = self.allowed(self.most);
        if Sandbox::of_policy(policy).is_none_or(|sandbox| sandbox > most) {
            return Err(unbound("the sandbox", policy, &format!("at most {}", most.as_str())));
        }
        let is_networked =
            policy.and_then(|it| it.get("networkAccess")).and_then(Json::as_bool) == Some(true);
        if is_networked
            && self.requirement("network").and_then(|it| it.get("enabled")?.as_bool()) == Some(false)
        {
            return Err(unbound("the sandbox", policy, "no network"));
        }
        Ok(())
    }

    /// The most that is allowed of what is asked for; the least if nothing is, and the check of the answer finds out.
    fn allowed(&self, asked: Sandbox) -> Sandbox {
        let modes = self.requirement("allowedSandboxModes").and_then(Json::as_array);
        let is_allowed = |sandbox: &Sandbox| {
            modes.is_none_or(|modes| modes.iter().any(|mode| mode.as_str() == Some(sandbox.as_str())))
        };
        let within = Sandbox::ALL.into_iter().filter(|sandbox| *sandbox <= asked.min(self.most));
        within.filter(is_allowed).max().unwrap_or(Sandbox::ReadOnly)
    }

    fn requirement(&self, key: &str) -> Option<&Json<'static>> {
        self.requirements.as_ref()?.get(key)
    }
}

fn unbound(what: &str, found: Option<&Json<'_>>, expected: &str) -> Issue {
    let found = found.map_or_else(|| "not said".to_owned(), Json::to_canonical);
    let message = format!("{what} that the thread got is {found}, so it is not governed");
    Issue::new(codes::CODEX_UNGOVERNED, message)
        .with_expected(expected.to_owned())
        .with_hint("see what the managed settings allow with `countersign probe codex`")
}

#[cfg(test)]
mod tests;

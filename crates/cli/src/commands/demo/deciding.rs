//! A scene: an agent asks before it acts, and a person's signed yes counts once.

use countersign_canon::{Json, Text};
use countersign_ledger::{
    GRANT_TTL_S_DEFAULT, GrantTtl, KeyName, OutcomeStatus, PendingApproval, Principal, SecretKey, Session,
};
use countersign_policy::{ActionKind, ApprovalId, Mode, NameSet, Role};
use countersign_service::{Ask, Caller, Decision, NewSession, Node, now, sign};

use super::{Stage, defect};
use crate::failure::Failure;

const READ: &[u8] = br#"{"path": "README.md"}"#;
const DESTROY: &[u8] = br#"{"command": "rm -rf /srv/shop"}"#;
const DEPLOY: &[u8] = include_bytes!("../../../../../examples/actions/deploy.json");

/// Plays the scene and gives the session it happened in.
pub(super) fn play(stage: Stage, node: &Node) -> Result<Session, Failure> {
    stage.title("An agent asks before it acts, under the policy that ships")?;
    let agent = Agent::start(stage, node)?;
    agent.acts("fs.read", READ, None)?;
    agent.is_refused("shell.destructive", DESTROY, None)?;
    let Some(pending) = agent.is_refused("deploy", DEPLOY, None)? else {
        return Err(defect("the deployment", "it asks for no approval"));
    };
    stage.line("a person runs", &pending.command)?;

    stage.title("A person says yes, signed, to this action alone; it counts once")?;
    grant(stage, node, &agent.caller, &pending.approval_id)?;
    agent.acts("deploy", DEPLOY, Some(&pending.approval_id))?;
    agent.is_refused("deploy", DEPLOY, Some(&pending.approval_id))?;
    Ok(agent.session)
}

/// An agent with its session.
struct Agent<'n> {
    stage: Stage,
    node: &'n Node,
    caller: Caller,
    session: Session,
}

impl<'n> Agent<'n> {
    fn start(stage: Stage, node: &'n Node) -> Result<Self, Failure> {
        let caller = Caller::owner("demo")?;
        let role = Role::parse("copilot").map_err(|issue| defect("the role", issue))?;
        let session = node.start_session(&caller, NewSession::new(role, Mode::WritesAllowed, "demo")?)?;
        Ok(Self { stage, node, caller, session })
    }

    /// Asks, is given a permit, acts, and says how it went.
    fn acts(&self, kind: &str, payload: &[u8], approval: Option<&ApprovalId>) -> Result<(), Failure> {
        let Some(permit) = self.asks(kind, payload, approval)?.permit else {
            return Err(defect(kind, "it is not allowed"));
        };
        let said = Text::cut("done");
        let done = self.node.finish(&self.caller, permit.id(), OutcomeStatus::Succeeded, said)?;
        self.stage.line("outcome", done.state.as_str())
    }

    /// Asks, and is told no; what it would need, if a person can help.
    fn is_refused(
        &self,
        kind: &str,
        payload: &[u8],
        approval: Option<&ApprovalId>,
    ) -> Result<Option<PendingApproval>, Failure> {
        let decision = self.asks(kind, payload, approval)?;
        if decision.is_allowed() {
            return Err(defect(kind, "it is allowed"));
        }
        Ok(decision.decided.pending_approval)
    }

    /// Asks to act at once, and shows the answer.
    fn asks(&self, kind: &str, payload: &[u8], approval: Option<&ApprovalId>) -> Result<Decision, Failure> {
        let kind = ActionKind::parse(kind).map_err(|issue| defect("the kind of action", issue))?;
        let payload = Json::parse(payload).map_err(|issue| defect("the payload", issue))?.into_owned();
        self.stage.line("asks", &format!("{kind} {}", payload.to_canonical()))?;
        let ask = Ask::new(kind, payload).in_session(&self.session.session_id).to_begin();
        let ask = Ask { approval_id: approval.cloned(), ..ask };
        let decision = self.node.decide(&self.caller, ask)?;
        let word = if decision.is_allowed() { "allowed" } else { "denied" };
        self.stage.line(word, &format!("{}: {}", decision.code(), decision.decided.reason))?;
        Ok(decision)
    }
}

/// A person with a key of her own signs the request; the key is no secret here, since the store vanishes.
fn grant(stage: Stage, node: &Node, admin: &Caller, id: &ApprovalId) -> Result<(), Failure> {
    let ann = Principal::parse("ann").map_err(|issue| defect("the approver", issue))?;
    let name = KeyName::parse("ann").map_err(|issue| defect("the key", issue))?;
    let key = SecretKey::from_seed(name, b"a seed that everybody can read !");
    node.add_key(admin, &key.public(), NameSet::default())?;
    let ttl = GrantTtl::new(GRANT_TTL_S_DEFAULT).ok_or_else(|| defect("the duration", "out of range"))?;
    let signed = sign(&node.approval(id)?, &ann, &key, (now()?, ttl), Text::cut("release 1.4.2"))?;
    let granted = node.grant(&admin.approver(ann), id, signed)?;
    stage.line("ann", &format!("{}, for {} seconds", granted.state, ttl.get()))
}

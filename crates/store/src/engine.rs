//! What each command does to a batch: checks first, then changes.

mod approval;
mod decide;
mod policy;
mod proof;
mod session;

pub(crate) use decide::reply_key;

use countersign_canon::{Nullable, Timestamp};
use countersign_ledger::{Access, Event, EventContext, EventKind, NewEvent, Session, SessionKind, StreamId};

use crate::{
    request::{Call, CallError, Command, Origin, Refusal, Reply},
    working::Working,
};

/// Whether an answer was made now or found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// Now.
    Now,
    /// Before, with the checkpoint of this number.
    Before(u64),
}

/// Carries out one command.
pub(crate) fn run(working: &mut Working<'_>, call: &Call) -> Result<(Reply, Made), CallError> {
    let Call { origin, now, command } = call;
    working.check_credential(origin)?;
    let now = working.clock(*now)?;
    let reply = match command {
        Command::Decide(decide) => {
            let (decided, made) = working.decide(origin, decide, now)?;
            return Ok((Reply::Decided(Box::new(decided)), made));
        }
        Command::StartSession(start) => Reply::Session(working.start_session(origin, start, now)?),
        Command::StopSession(id) => Reply::Session(working.stop_session(origin, id, now)?),
        Command::Grant(id, grant) => Reply::Approval(Box::new(working.grant(origin, id, grant, now)?)),
        Command::Deny(id, reason) => Reply::Approval(Box::new(working.deny(origin, id, reason, now)?)),
        Command::Revoke(id) => Reply::Approval(Box::new(working.revoke(origin, id, now)?)),
        Command::Finish(id, status, detail) => {
            Reply::Execution(Box::new(working.finish(origin, id, *status, detail, now)?))
        }
        Command::Sweep => Reply::Swept(working.sweep(origin, now)?),
        Command::Activate(documents) => Reply::Activated(working.activate(origin, documents, now)?),
        Command::RollBack(version) => Reply::Activated(working.roll_back(origin, *version, now)?),
        Command::KeepProofs(version, proofs) => working.keep_proofs(origin, *version, proofs, now)?,
        Command::AddKey(key) => working.add_key(origin, key, now)?,
        Command::RevokeKey(id) => working.revoke_key(origin, id, now)?,
        Command::AddToken(token) => working.add_token(origin, token, now)?,
        Command::RevokeToken(name) => working.revoke_token(origin, name, now)?,
        Command::Append(events) => Reply::Appended(append(working, events)?),
    };
    Ok((reply, Made::Now))
}

/// Appends events that stand for themselves. What this crate's own commands say, only they can say.
fn append(working: &mut Working<'_>, events: &[NewEvent]) -> Result<Vec<Event>, CallError> {
    for NewEvent { event, .. } in events {
        match event {
            EventKind::CapabilitiesSnapshot
            | EventKind::PolicyLoadFailed
            | EventKind::Advisory
            | EventKind::IntentsEvaluated
            | EventKind::WorkerEvent
            | EventKind::DryRunPlanned
            | EventKind::ScanVerdict => (),
            EventKind::SessionStart
            | EventKind::SessionStop
            | EventKind::ModeChanged
            | EventKind::PolicyEvalStart
            | EventKind::PolicyEvalPass
            | EventKind::PolicyDenied
            | EventKind::ApprovalRequested
            | EventKind::ApprovalGranted
            | EventKind::ApprovalDenied
            | EventKind::ApprovalConsumed
            | EventKind::ApprovalRevoked
            | EventKind::ApprovalExpired
            | EventKind::ExecutionStarted
            | EventKind::ExecutionFinished
            | EventKind::ExecutionInDoubt
            | EventKind::PolicyActivated
            | EventKind::PolicyRolledBack
            | EventKind::ProofRunPass
            | EventKind::ProofRunFail
            | EventKind::KeyAdded
            | EventKind::KeyRevoked
            | EventKind::TokenAdded
            | EventKind::TokenRevoked => {
                let message = format!("{event} is said by the store alone, when it has happened");
                return Err(Refusal::Invalid { message }.into());
            }
        }
    }
    let appended = events.iter().map(|event| working.emit(event).map(|seq| event.clone().at(seq)));
    Ok(appended.collect::<Result<_, _>>()?)
}

impl Origin {
    /// Refuses a caller that has none of these.
    fn require(&self, allowed: &[Access]) -> Result<(), Refusal> {
        if allowed.contains(&self.access) {
            return Ok(());
        }
        let words: Vec<&str> = allowed.iter().map(|access| access.as_str()).collect();
        Err(Refusal::Forbidden { access: self.access, message: format!("this needs {}", words.join(" or ")) })
    }

    /// An event of this origin.
    fn event<D>(
        &self,
        event: EventKind,
        session: Option<&Session>,
        now: Timestamp,
        detail: D,
    ) -> NewEvent<D> {
        let id_if = |kind: SessionKind| session.filter(|it| it.kind == kind).map(|it| it.session_id.clone());
        NewEvent {
            event,
            stream_id: session.map_or_else(|| StreamId::audit(None), Session::stream),
            ts: now,
            source: self.source.clone(),
            context: EventContext {
                session_id: id_if(SessionKind::Session),
                run_id: id_if(SessionKind::Run),
                role: Nullable(session.map(|session| session.role.clone())),
                endpoint: self.endpoint.clone(),
                ir_hash: None,
            },
            detail,
        }
    }
}

fn not_found(what: &'static str, id: &str) -> Refusal {
    Refusal::NotFound { what, id: id.to_owned() }
}

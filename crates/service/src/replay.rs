//! Decides again what was decided, and rebuilds from events alone what the store says.

use std::{collections::BTreeMap, time::Duration};

use countersign_canon::{Code, Issue, Json, Reader, Timestamp, Wire as _};
use countersign_ledger::{
    DecisionId, DecisionRecord, Event, EventKind, LoadedVersion, SessionState, StreamId, ledger_codes,
};
use countersign_policy::Mode;
use countersign_store::Refusal;

use crate::{Node, ServiceError, Tail, clock};

/// LIMIT: how many events are in memory at once.
const PAGE_ROWS: u32 = 1000;
/// How long a follower waits before it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// Something that the events tell otherwise than the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: a session, an approval or an execution, with its id.
    pub what: String,
    /// What the events say.
    pub events: String,
    /// What the store says.
    pub store: String,
}

impl Node {
    /// Decides a stored decision again: what differs, if anything does.
    ///
    /// # Errors
    ///
    /// Fails if there is no such decision, or the store cannot say.
    pub fn redecide(&self, id: &DecisionId) -> Result<(DecisionRecord, Result<(), String>), ServiceError> {
        let missing = |what, id: String| Refusal::NotFound { what, id };
        let record = self.store().decision(id)?.ok_or_else(|| missing("decision", id.to_string()))?;
        let number = record.policy_version;
        let version = self.store().policy_version(number)?;
        let version = version.ok_or_else(|| missing("policy version", number.get().to_string()))?;
        let loaded = LoadedVersion::load(&version).map_err(ServiceError::defect)?;
        let probe = self.probe(record.trace.get("probe_hash").and_then(Json::as_str).unwrap_or_default())?;
        let same = record.redecide(&loaded, &probe);
        Ok((record, same))
    }

    /// Every event of the log, in order.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or whoever takes the events fails.
    pub fn each_event<E: From<ServiceError>>(
        &self,
        take: &mut dyn FnMut(u64, Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut next = 0_u64;
        loop {
            let page = self.store().log_events(next, PAGE_ROWS).map_err(ServiceError::from)?;
            if page.is_empty() {
                return Ok(());
            }
            for logged in page {
                next = logged.log_index.saturating_add(1);
                take(logged.log_index, logged.event)?;
            }
        }
    }

    /// Gives events one by one, each as its canonical line; a follower looks again until whoever takes them has enough.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or whoever takes the events fails.
    pub fn tail<E: From<ServiceError>>(
        &self,
        tail: &Tail,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after = tail.after_seq;
        loop {
            let page = self.page(tail.stream.as_ref(), after).map_err(E::from)?;
            for (place, event) in &page {
                after = *place;
                take(format!("{}\n", event.to_canonical()).as_bytes())?;
            }
            if page.is_empty() {
                if !tail.follow {
                    return Ok(());
                }
                clock::pause(LOOK_AGAIN);
            }
        }
    }

    /// The next events of a stream or of the log, each with the place that a reader can go on from.
    pub(crate) fn page(
        &self,
        stream: Option<&StreamId>,
        after: i64,
    ) -> Result<Vec<(i64, Event)>, ServiceError> {
        if let Some(stream) = stream {
            let events = self.store().some_events(stream, after, PAGE_ROWS)?;
            return Ok(events.into_iter().map(|event| (event.seq.get(), event)).collect());
        }
        let from = u64::try_from(after).unwrap_or_default();
        let events = self.store().log_events(from, PAGE_ROWS)?.into_iter();
        let place = |index: u64| i64::try_from(index).unwrap_or(i64::MAX).saturating_add(1);
        Ok(events.map(|logged| (place(logged.log_index), logged.event)).collect())
    }

    /// Rebuilds sessions, approvals and executions from the events alone, and compares them with the store's.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn replay_events(&self) -> Result<Vec<Difference>, ServiceError> {
        let mut told: BTreeMap<String, String> = BTreeMap::new();
        self.each_event(&mut |_, event| {
            tell(&mut told, &event);
            Ok::<(), ServiceError>(())
        })?;
        let mut kept: BTreeMap<String, String> = BTreeMap::new();
        for session in self.store().sessions()? {
            kept.insert(
                format!("session {}", session.session_id),
                session_words(session.mode, session.state),
            );
        }
        for approval in self.store().approvals(None)? {
            kept.insert(format!("approval {}", approval.approval_id), approval.state.to_string());
        }
        for execution in self.store().executions()? {
            kept.insert(format!("execution {}", execution.permit_id), execution.state.to_string());
        }
        let nothing = || "nothing".to_owned();
        let mut differences = Vec::new();
        for what in told.keys().chain(kept.keys().filter(|what| !told.contains_key(*what))) {
            let events = told.get(what).cloned().unwrap_or_else(nothing);
            let store = kept.get(what).cloned().unwrap_or_else(nothing);
            if events != store {
                differences.push(Difference { what: what.clone(), events, store });
            }
        }
        Ok(differences)
    }
}

fn session_words(mode: Mode, state: SessionState) -> String {
    format!("{mode}, {state}")
}

/// Notes what one event says about a session, an approval or an execution.
fn tell(told: &mut BTreeMap<String, String>, event: &Event) {
    let text = |key: &str| event.detail.get(key).and_then(Json::as_str).unwrap_or_default();
    let session = event.context.session_id.as_ref().or(event.context.run_id.as_ref());
    let session = session.map(|id| format!("session {id}"));
    match event.event {
        EventKind::SessionStart => {
            let words = format!("{}, {}", text("mode"), SessionState::Active);
            told.extend(session.map(|session| (session, words)));
        }
        EventKind::ModeChanged => {
            let words = format!("{}, {}", text("to"), SessionState::Active);
            told.extend(session.map(|session| (session, words)));
        }
        EventKind::SessionStop => {
            if let Some(words) = session.and_then(|session| told.get_mut(&session)) {
                *words = words.replace(SessionState::Active.as_str(), SessionState::Stopped.as_str());
            }
        }
        EventKind::ApprovalRequested
        | EventKind::ApprovalGranted
        | EventKind::ApprovalDenied
        | EventKind::ApprovalConsumed
        | EventKind::ApprovalRevoked
        | EventKind::ApprovalExpired => {
            told.insert(format!("approval {}", text("approval_id")), text("state").to_owned());
        }
        EventKind::ExecutionStarted | EventKind::ExecutionFinished | EventKind::ExecutionInDoubt => {
            told.insert(format!("execution {}", text("permit_id")), text("state").to_owned());
        }
        EventKind::CapabilitiesSnapshot
        | EventKind::PolicyEvalStart
        | EventKind::PolicyEvalPass
        | EventKind::PolicyDenied
        | EventKind::PolicyActivated
        | EventKind::PolicyRolledBack
        | EventKind::PolicyLoadFailed
        | EventKind::KeyAdded
        | EventKind::KeyRevoked
        | EventKind::TokenAdded
        | EventKind::TokenRevoked
        | EventKind::ProofRunPass
        | EventKind::ProofRunFail
        | EventKind::Advisory
        | EventKind::IntentsEvaluated
        | EventKind::WorkerEvent
        | EventKind::DryRunPlanned
        | EventKind::ScanVerdict => (),
    }
}

/// What is wrong with the order of an event, whose stream was at this instant before.
fn order(event: &Event, last: Option<Timestamp>) -> Option<Issue> {
    let invalid = |message: String| Issue::new(ledger_codes::URM_EVENT_INVALID, message);
    match last {
        Some(last) if event.ts < last => Some(
            invalid(format!("{} goes back to {}", event.stream_id, event.ts))
                .with_expected(format!("{last} or later")),
        ),
        None if event.stream_id.is_session() && event.event != EventKind::SessionStart => {
            let message = format!("{} begins with {}", event.stream_id, event.event);
            Some(invalid(message).with_expected(EventKind::SessionStart.as_str()))
        }
        Some(_) | None => None,
    }
}

/// A line that is not the event that should stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFault {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub issue: Issue,
}

/// Checks events one a line: every envelope valid, every stream without a gap.
#[derive(Debug, Default)]
pub struct StreamCheck {
    lines: u64,
    /// The last place and the last instant of each stream.
    streams: BTreeMap<StreamId, (i64, Timestamp)>,
    is_strict: bool,
}

impl StreamCheck {
    /// The same for whole streams: each starts at 1, one of a session or a run with its start, and its time never goes back.
    #[must_use]
    pub fn strict() -> Self {
        Self { is_strict: true, ..Self::default() }
    }

    /// Takes the next line; what is wrong with it.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the line.
    pub fn line(&mut self, text: &[u8]) -> Result<Event, Vec<StreamFault>> {
        const FAMILY: Code = ledger_codes::URM_EVENT_INVALID;
        self.lines = self.lines.saturating_add(1);
        let line = self.lines;
        let fault = |issue: &Issue| StreamFault { line, issue: issue.clone() };
        let read: Result<Event, _> = Reader::read_document(text, FAMILY);
        let event = read.map_err(|issues| issues.iter().map(fault).collect::<Vec<_>>())?;
        let seq = event.seq.get();
        let last = self.streams.insert(event.stream_id.clone(), (seq, event.ts));
        // A piece of a stream may start anywhere.
        let expected = match last {
            Some((last, _)) => last.checked_add(1),
            None => self.is_strict.then_some(1),
        };
        if let Some(expected) = expected.filter(|expected| *expected != seq) {
            let message = format!("{} goes on with {seq}", event.stream_id);
            let issue = Issue::new(ledger_codes::LOG_SEQ, message).with_expected(expected.to_string());
            return Err(vec![fault(&issue)]);
        }
        match self.is_strict.then(|| order(&event, last.map(|(_, ts)| ts))).flatten() {
            Some(issue) => Err(vec![fault(&issue)]),
            None => Ok(event),
        }
    }

    /// How many lines there were.
    #[must_use]
    pub const fn lines(&self) -> u64 {
        self.lines
    }
}

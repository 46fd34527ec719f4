//! The envelope of every event: `urm-events@1`.

use alloc::{
    format,
    string::{String, ToString as _},
};
use core::fmt;

use countersign_canon::{
    Definitions, Issue, Json, Nullable, Object, ObjectSpelling, Reader, Sha256, Text, Timestamp, Value, Wire,
    Within, canon_codes, choice, pattern_schema, record, spell_text,
};

use countersign_policy::{Role, SessionId};

/// The place of an event in its stream: from 1, without gaps.
pub type Seq = Within<1, 9_007_199_254_740_991>;

choice! {
    /// The version of the envelope.
    pub enum EventSchema {
        /// The only one so far.
        V1 = "urm-events@1",
    }
}

choice! {
    /// What happened.
    pub enum EventKind {
        /// A session began.
        SessionStart = "SESSION_START",
        /// A session ended.
        SessionStop = "SESSION_STOP",
        /// A session's mode changed.
        ModeChanged = "MODE_CHANGED",
        /// What a client can do was found out by probing.
        CapabilitiesSnapshot = "CAPABILITIES_SNAPSHOT",
        /// An evaluation is about to begin; nothing is decided yet.
        PolicyEvalStart = "POLICY_EVAL_START",
        /// An action was allowed.
        PolicyEvalPass = "POLICY_EVAL_PASS",
        /// An action was denied.
        PolicyDenied = "POLICY_DENIED",
        /// An approval was asked for.
        ApprovalRequested = "APPROVAL_REQUESTED",
        /// An approval was granted by as many people as it needs.
        ApprovalGranted = "APPROVAL_GRANTED",
        /// An approval was denied by a person.
        ApprovalDenied = "APPROVAL_DENIED",
        /// An approval was used up by the execution it allowed to begin.
        ApprovalConsumed = "APPROVAL_CONSUMED",
        /// An approval was taken back before it was used.
        ApprovalRevoked = "APPROVAL_REVOKED",
        /// An approval, or the request for one, ran out of time.
        ApprovalExpired = "APPROVAL_EXPIRED",
        /// An execution was allowed to begin.
        ExecutionStarted = "EXECUTION_STARTED",
        /// An execution reported its outcome.
        ExecutionFinished = "EXECUTION_FINISHED",
        /// An execution began and its outcome is not known.
        ExecutionInDoubt = "EXECUTION_IN_DOUBT",
        /// A policy came into force.
        PolicyActivated = "POLICY_ACTIVATED",
        /// An earlier policy came back into force.
        PolicyRolledBack = "POLICY_ROLLED_BACK",
        /// A policy could not be loaded; the last good one stays.
        PolicyLoadFailed = "POLICY_LOAD_FAILED",
        /// A key began to count as a person's signature.
        KeyAdded = "KEY_ADDED",
        /// A key stopped counting.
        KeyRevoked = "KEY_REVOKED",
        /// A token began to speak for somebody.
        TokenAdded = "TOKEN_ADDED",
        /// A token stopped counting.
        TokenRevoked = "TOKEN_REVOKED",
        /// A proof obligation was proved.
        ProofRunPass = "PROOF_RUN_PASS",
        /// A proof obligation was refuted or could not be proved.
        ProofRunFail = "PROOF_RUN_FAIL",
        /// A rule left advice.
        Advisory = "ADVISORY",
        /// A set of intents was evaluated.
        IntentsEvaluated = "INTENTS_EVALUATED",
        /// A worker's runtime told something about itself: evidence, never a decision.
        WorkerEvent = "WORKER_EVENT",
        /// An intent was planned without executing anything.
        DryRunPlanned = "DRY_RUN_PLANNED",
        /// A repository was scanned.
        ScanVerdict = "SCAN_VERDICT",
    }
}

record! {
    /// Who says that it happened.
    pub struct Source {
        /// The part of the product.
        component: Text<1, 64>,
        /// Its version.
        version: Text<1, 64>,
        /// Whose product it is.
        provider: Text<1, 64>,
    }
}

record! {
    /// In which circumstances it happened.
    pub struct EventContext {
        /// The session, if there is one.
        session_id: Option<SessionId>,
        /// The run, if there is one.
        run_id: Option<SessionId>,
        /// The role that acted; null if nobody in a role did.
        role: Nullable<Role>,
        /// Where the request came in.
        endpoint: Text<1, 128>,
        /// The hash of the document it is about, if there is one.
        ir_hash: Option<Sha256>,
    }
}

record! {
    /// One event.
    pub struct Event {
        /// The version of this envelope.
        schema: EventSchema,
        /// What happened.
        event: EventKind,
        /// The stream it belongs to.
        stream_id: StreamId,
        /// Its place in the stream.
        seq: Seq,
        /// When, by the clock of the service.
        ts: Timestamp,
        /// Who says so.
        source: Source,
        /// In which circumstances.
        context: EventContext,
        /// What else there is to say about an event of this kind.
        detail: Object<'static>,
    }
}

/// LIMIT: room for an event as most are; a longer one takes more.
const SPELLED_ROOM: usize = 1024;

/// The members of an event's detail.
pub fn detail(members: impl IntoIterator<Item = (&'static str, Json<'static>)>) -> Object<'static> {
    object_of(Json::object(members))
}

/// The object that this is; an empty one if it is something else.
fn object_of(json: Json<'static>) -> Object<'static> {
    match json.value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Object::default()
        }
    }
}

/// An event before the store has given it its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent<D = Object<'static>> {
    /// What happened.
    pub event: EventKind,
    /// The stream it belongs to.
    pub stream_id: StreamId,
    /// When.
    pub ts: Timestamp,
    /// Who says so.
    pub source: Source,
    /// In which circumstances.
    pub context: EventContext,
    /// What else there is to say: a document of its own.
    pub detail: D,
}

impl<D: Wire> NewEvent<D> {
    /// The canonical spelling of the event at this place of its stream.
    #[must_use]
    pub fn spell_at(&self, seq: Seq) -> String {
        let mut out = String::with_capacity(SPELLED_ROOM);
        let mut object = ObjectSpelling::begin(&mut out);
        object.member("context", &self.context);
        object.member("detail", &self.detail);
        object.member("event", &self.event);
        object.member("schema", &EventSchema::V1);
        object.member("seq", &seq);
        object.member("source", &self.source);
        object.member("stream_id", &self.stream_id);
        object.member("ts", &self.ts);
        object.end();
        debug_assert_eq!(out, self.written_at(seq), "there is one spelling");
        out
    }

    /// The same by way of the whole document, to compare with.
    fn written_at(&self, seq: Seq) -> String {
        let Self { event, stream_id, ts, source, context, detail } = self;
        let new = NewEvent {
            event: *event,
            stream_id: stream_id.clone(),
            ts: *ts,
            source: source.clone(),
            context: context.clone(),
            detail: object_of(detail.write()),
        };
        new.at(seq).to_canonical()
    }
}

impl NewEvent {
    /// The event at this place of its stream.
    #[must_use]
    pub fn at(self, seq: Seq) -> Event {
        let Self { event, stream_id, ts, source, context, detail } = self;
        Event { schema: EventSchema::V1, event, stream_id, seq, ts, source, context, detail }
    }
}

/// The name of a stream of events: `copilot:<session>`, `worker:<run>`, `urm_audit:<session or "none">`, `urm_policy`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(
    // INVARIANT: one of the four forms.
    String,
);

impl StreamId {
    /// The stream of a session's actions.
    #[must_use]
    pub fn copilot(session: &SessionId) -> Self {
        Self(format!("copilot:{session}"))
    }

    /// The stream of a run's actions.
    #[must_use]
    pub fn worker(run: &SessionId) -> Self {
        Self(format!("worker:{run}"))
    }

    /// The stream of what has no session or run stream of its own.
    #[must_use]
    pub fn audit(session: Option<&SessionId>) -> Self {
        Self(format!("urm_audit:{}", session.map_or("none", SessionId::as_str)))
    }

    /// The stream of what happens to policies.
    #[must_use]
    pub fn policy() -> Self {
        Self("urm_policy".to_string())
    }

    /// Checks the text and takes it as the name of a stream.
    ///
    /// # Errors
    ///
    /// Fails on any other form.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let is_stream = match text.split_once(':') {
            Some(("copilot" | "worker" | "urm_audit", id)) => SessionId::SHAPE.matches(id),
            Some(_) => false,
            None => text == "urm_policy",
        };
        if is_stream {
            return Ok(Self(text.to_string()));
        }
        let shown: String = text.chars().take(80).collect();
        Err(Issue::new(canon_codes::NAME_SHAPE, format!("`{shown}` is not a stream"))
            .with_expected("copilot:<session>, worker:<run>, urm_audit:<session or none> or urm_policy"))
    }

    /// Whether it is the stream of a session or a run.
    #[must_use]
    pub fn is_session(&self) -> bool {
        self.0.starts_with("copilot:") || self.0.starts_with("worker:")
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for StreamId {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.0.clone())
    }

    fn spell(&self, out: &mut String) {
        spell_text(&self.0, out);
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        let id = SessionId::SHAPE.pattern();
        let id = id.trim_start_matches('^').trim_end_matches('$');
        pattern_schema(&format!("^(urm_policy|(copilot|worker|urm_audit):{id})$"))
    }
}

#[cfg(test)]
mod tests;

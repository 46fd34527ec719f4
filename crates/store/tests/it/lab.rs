//! A store to try things on: people, keys, a policy, and a clock that only moves when told.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, channel},
};

use countersign_canon::{Json, Text, Timestamp};
use countersign_ledger::{
    Access, Approval, ApproverKey, Decided, EventKind, Executor, Grant, GrantTtl, KeyName, Principal, Reason,
    SecretKey, Session, SessionKind, Source,
};
use countersign_policy::{ActionKind, ApprovalId, Mode, Role, SessionId};
use countersign_store::{
    Answer, Call, CallError, Command, Decide, FreshIds, Origin, PolicyDocuments, Proceed, Reply,
    StartSession, Store, StoreOptions,
};
use tempfile::TempDir;

use crate::server::Server;

/// Reading is allowed, writing and deploying too, deploying needs an approval, `secret` is denied.
const POLICY: &str = r#"{"schema": "odeu.instructions.v1", "rules": [
    {"rule_id": "allow_all", "rule_version": 1, "priority": 10, "kind": "allow",
     "when": {"atom": "session_active", "args": []}, "then": {"effect": "allow_action"},
     "message": "a live session may act", "code": "ALLOWED"},
    {"rule_id": "deny_secret", "rule_version": 1, "priority": 1, "kind": "deny",
     "when": {"atom": "action_kind_is", "args": ["secret"]}, "then": {"effect": "deny_action"},
     "message": "secrets stay secret", "code": "SECRET"},
    {"rule_id": "advise", "rule_version": 1, "priority": 5, "kind": "derive",
     "when": {"atom": "action_kind_is", "args": ["fs.write"]}, "then": {"effect": "emit_advisory"},
     "message": "look twice", "code": "LOOK_TWICE"}
]}"#;

const LATTICE: &str = r#"{"schema": "urm.capability.lattice.v1",
    "capabilities": [{"id": "act", "probe": "none"}, {"id": "steer", "probe": ["turn/steer"]}],
    "actions": {
        "fs.read": {"capability": "act", "requires_writes_allowed": false, "requires_approval": false},
        "fs.write": {"capability": "act", "requires_writes_allowed": true, "requires_approval": false},
        "deploy": {"capability": "act", "requires_writes_allowed": true, "requires_approval": true},
        "launch": {"capability": "act", "requires_writes_allowed": true, "requires_approval": true,
                   "approvals": 2, "reviewers": ["security"]},
        "secret": {"capability": "act", "requires_writes_allowed": false, "requires_approval": false},
        "turn.steer": {"capability": "steer", "requires_writes_allowed": false, "requires_approval": false},
        "session.set_mode": {"capability": "act", "requires_writes_allowed": false, "requires_approval": true}
    }}"#;

const ALLOW: &str = r#"{"schema": "urm.allow.v1", "roles": {"copilot": ["act", "steer"], "auditor": []}}"#;

/// A store with people around it.
pub(crate) struct Lab {
    pub(crate) store: Store,
    pub(crate) data: PathBuf,
    options: StoreOptions,
    now: Cell<i64>,
    _folder: Option<TempDir>,
}

impl Lab {
    /// The same on a fresh database of this server.
    pub(crate) fn postgresql(server: &Server) -> Self {
        Self::set_up(Self::on(Some(server.database())))
    }

    /// An embedded store with the policy in force and the keys of ann, bob and sam registered.
    pub(crate) fn sqlite() -> Self {
        Self::set_up(Self::on(None))
    }

    /// An embedded store with nothing in it.
    pub(crate) fn empty() -> Self {
        Self::on(None)
    }

    /// The embedded store in this folder, with everything set up.
    pub(crate) fn at(data: &Path) -> Self {
        let options =
            StoreOptions { data: data.to_path_buf(), database: None, checkpoints: None, now: at(0) };
        Self::set_up(Self::open(options, None))
    }

    /// The embedded store in this folder, set up by whoever opens it first, with the copy of its checkpoint in that one.
    pub(crate) fn with_copy(data: &Path, outside: &Path) -> Self {
        let checkpoints = Some(outside.to_path_buf());
        let options = StoreOptions { data: data.to_path_buf(), database: None, checkpoints, now: at(0) };
        let lab = Self::open(options, None);
        if lab.store.number_in_force().unwrap().is_none() { Self::set_up(lab) } else { lab }
    }

    fn on(database: Option<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join(".countersign");
        let checkpoints = Some(folder.path().join("outside"));
        Self::open(StoreOptions { data, database, checkpoints, now: at(0) }, Some(folder))
    }

    fn open(options: StoreOptions, folder: Option<TempDir>) -> Self {
        let store = Store::open(&options).unwrap();
        Self { store, data: options.data.clone(), options, now: Cell::new(0), _folder: folder }
    }

    /// Another process with a data folder of its own on the same database, or the same folder.
    pub(crate) fn replica(&self) -> Store {
        let data = match self.options.database {
            Some(_) => self.data.with_extension(format!("replica-{}", FreshIds::session(at(0)).unwrap())),
            None => self.data.clone(),
        };
        Store::open(&StoreOptions { data, checkpoints: None, ..self.options.clone() }).unwrap()
    }

    fn set_up(self) -> Self {
        self.activate(POLICY);
        for (name, reviews) in [("ann", &[][..]), ("bob", &[]), ("sam", &["security"])] {
            let key = approver_key(name, reviews);
            self.tell("root", Access::Admin, Command::AddKey(Box::new(key))).unwrap();
        }
        self
    }

    /// Puts these rules in force.
    pub(crate) fn activate(&self, policy: &str) -> Answer {
        self.tell("root", Access::Admin, Command::Activate(Box::new(documents(policy)))).unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        at(self.now.get())
    }

    /// Lets time pass, or sets the clock back.
    pub(crate) fn wait(&self, seconds: i64) {
        self.now.set(self.now.get().saturating_add(seconds));
    }

    /// Tells the store something.
    pub(crate) fn tell(&self, who: &str, access: Access, command: Command) -> Result<Answer, CallError> {
        self.store.call(Call { origin: origin(who, access), now: self.now(), command })
    }

    /// Does this while the writer cannot write, since whoever it answers last does not listen: what is queued meanwhile it
    /// takes in one turn, as soon as this is done.
    pub(crate) fn while_the_writer_is_busy<T>(&self, session: &Session, run: impl FnOnce() -> T) -> T {
        let (entered, is_busy) = channel();
        let (release, released) = channel::<()>();
        let decide = Command::Decide(Box::new(action(Some(session), "fs.read", "prod")));
        let call = Call { origin: origin("agent-1", Access::Agent), now: self.now(), command: decide };
        let listen = move |answer: Result<Answer, CallError>| {
            entered.send(answer.map(drop)).unwrap();
            let _released = released.recv();
        };
        self.store.submit(call, Box::new(listen));
        is_busy.recv().unwrap().unwrap();
        let done = run();
        drop(release);
        done
    }

    /// Queues a command; where its answer will come.
    pub(crate) fn queue(
        &self,
        who: &str,
        access: Access,
        command: Command,
    ) -> Receiver<Result<Answer, CallError>> {
        let (answered, answer) = channel();
        let call = Call { origin: origin(who, access), now: self.now(), command };
        self.store.submit(call, Box::new(move |result| answered.send(result).unwrap()));
        answer
    }

    /// Starts a session of agent-1 in this mode, as an admin would.
    pub(crate) fn session(&self, mode: Mode) -> Session {
        self.start(SessionKind::Session, mode)
    }

    /// Starts a session or a run of agent-1 in this mode, as an admin would.
    pub(crate) fn start(&self, kind: SessionKind, mode: Mode) -> Session {
        let start = StartSession {
            session_id: FreshIds::session(at(0)).unwrap(),
            kind,
            role: Role::parse("copilot").unwrap(),
            mode,
            client: Text::new("test".to_owned()).unwrap(),
        };
        let access = if mode == Mode::WritesAllowed { Access::Admin } else { Access::Agent };
        let answer = self.tell("agent-1", access, Command::StartSession(start)).unwrap();
        let Reply::Session(session) = answer.reply else { panic!("{:?}", answer.reply) };
        session
    }

    /// Decides an action of agent-1.
    pub(crate) fn decide(&self, decide: Decide) -> Result<(Decided, Answer), CallError> {
        let answer = self.tell("agent-1", Access::Agent, Command::Decide(Box::new(decide)))?;
        let Reply::Decided(decided) = &answer.reply else { panic!("{:?}", answer.reply) };
        Ok(((**decided).clone(), answer))
    }

    /// The code and whether a permit came, of an action that is to begin.
    pub(crate) fn code(
        &self,
        session: &Session,
        kind: &str,
        approval: Option<&ApprovalId>,
    ) -> (String, bool) {
        let decide = Decide { approval_id: approval.cloned(), ..action(Some(session), kind, "prod") };
        let (decided, answer) = self.decide(decide).unwrap();
        (code_of(&decided), answer.permit.is_some())
    }

    /// Asks to deploy and is told which approval is missing.
    pub(crate) fn request(&self, session: &Session, kind: &str) -> ApprovalId {
        let (decided, _) = self.decide(action(Some(session), kind, "prod")).unwrap();
        assert_eq!(code_of(&decided), "URM_APPROVAL_REQUIRED");
        decided.pending_approval.unwrap().approval_id
    }

    /// Says yes, signed.
    pub(crate) fn grant(&self, who: &str, id: &ApprovalId) -> Result<Approval, CallError> {
        let approval = self.store.approval(id).unwrap().unwrap();
        let grant = signed(&approval, who, self.now());
        let answer = self.tell(who, Access::Approver, Command::Grant(id.clone(), Box::new(grant)))?;
        let Reply::Approval(approval) = answer.reply else { panic!("{:?}", answer.reply) };
        Ok(*approval)
    }

    /// A deploy that was asked for and granted by ann.
    pub(crate) fn approved(&self, session: &Session) -> ApprovalId {
        let id = self.request(session, "deploy");
        self.grant("ann", &id).unwrap();
        id
    }

    /// What kinds of events the session left, in order.
    pub(crate) fn kinds(&self, session: &Session) -> Vec<EventKind> {
        self.store.events(&session.stream(), 0).unwrap().iter().map(|event| event.event).collect()
    }
}

/// These rules, with the lattice and the allow policy of the lab.
pub(crate) fn documents(policy: &str) -> PolicyDocuments {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap().into_owned();
    PolicyDocuments { policy: json(policy), lattice: json(LATTICE), allow: json(ALLOW) }
}

/// So many seconds after the beginning of the test's time.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix(1_800_000_000_i64.saturating_add(seconds)).unwrap()
}

pub(crate) fn text<const MIN: usize, const MAX: usize>(text: &str) -> Text<MIN, MAX> {
    Text::new(text.to_owned()).unwrap()
}

pub(crate) fn origin(who: &str, access: Access) -> Origin {
    let source = Source { component: text("store"), version: text("0.1.0"), provider: text("countersign") };
    Origin {
        principal: Principal::parse(who).unwrap(),
        access,
        credential: None,
        endpoint: text("test"),
        source,
    }
}

/// An action of this kind on this target, to begin at once.
pub(crate) fn action(session: Option<&Session>, kind: &str, target: &str) -> Decide {
    Decide {
        session_id: session.map(|session| session.session_id.clone()),
        action_kind: ActionKind::parse(kind).unwrap(),
        action_payload: Json::object([("target", Json::from(target.to_owned()))]),
        approval_id: None,
        evidence_refs: Vec::new(),
        warrant: None,
        probe: None,
        proceed: Proceed::Begin,
        client_request_id: None,
        executor: Executor::Reporting,
        fresh: FreshIds::make(at(0)).unwrap(),
    }
}

pub(crate) fn code_of(decided: &Decided) -> String {
    decided.trace.get("decision_code").and_then(Json::as_str).unwrap().to_owned()
}

pub(crate) fn secret(name: &str) -> SecretKey {
    let mut seed = [0; 32];
    seed[..name.len()].copy_from_slice(name.as_bytes());
    SecretKey::from_seed(KeyName::parse(name).unwrap(), &seed)
}

pub(crate) fn approver_key(name: &str, reviews: &[&str]) -> ApproverKey {
    let public_key = secret(name).public().key;
    ApproverKey {
        key_id: public_key.id(),
        approver: Principal::parse(name).unwrap(),
        public_key,
        reviews: reviews.iter().map(|kind| Role::parse(kind).unwrap()).collect(),
        created_at: at(0),
        revoked_at: None,
    }
}

/// A good answer of this person to this request.
pub(crate) fn signed(approval: &Approval, who: &str, granted_at: Timestamp) -> Grant {
    let (ttl_s, reason) = (GrantTtl::new(120).unwrap(), Reason::new("fine".to_owned()).unwrap());
    let approver = Principal::parse(who).unwrap();
    let statement = approval.statement(&approver, granted_at, ttl_s, &reason).unwrap();
    Grant {
        approver,
        key_id: approver_key(who, &[]).key_id,
        signature: statement.sign(&secret(who)),
        granted_at,
        ttl_s,
        reason,
    }
}

pub(crate) fn session_id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// The canonical bytes of something.
pub(crate) fn bytes_of(value: &impl countersign_canon::Wire) -> String {
    value.write().to_canonical()
}

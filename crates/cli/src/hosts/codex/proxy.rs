//! Between a client and `codex app-server`: what the agent asks leave for is answered by the kernel, what the client asks for is
//! decided before the server hears of it, and threads have the settings that make Codex ask at all.
//!
//! Requests for approval never reach the client, and an answer of the client passes only to a question that it was asked: nobody
//! else says yes. Two requests pass without a decision, because they only make less happen: `initialize` and `turn/interrupt`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use countersign_action::{Host, Place, ToolCall};
use countersign_canon::{Issue, Json, Object, Value};
use countersign_ledger::OutcomeStatus;
use countersign_policy::SessionId;
use countersign_service::HostCall;

use super::{
    app_server::Experimental,
    bounds::Bounds,
    method,
    probe::Snapshot,
    refusal::{INVALID_REQUEST, PARSE_ERROR, Refusal, error},
    threads::Threads,
};
use crate::{
    console::Console,
    failure::codes,
    hosts::{
        between::{Between, Passed, in_words},
        gate::{Gate, Lacking, Verdict, probe_facts},
    },
    lines::{
        gist::{Gist, Id},
        message,
    },
};

/// The client under which sessions are known: the same as for hooks.
const CLIENT: &str = "codex";

/// Notifications that this proxy goes by: the server must send them, whether or not the client wants to hear them.
const HEARD: [&str; 6] = [
    "item/started",
    "item/completed",
    "item/fileChange/patchUpdated",
    "turn/started",
    "turn/completed",
    "thread/settings/updated",
];

/// What the server asks of the client that is the client's own business.
const CLIENTS_OWN: [&str; 4] = [
    "item/tool/requestUserInput",
    "account/chatgptAuthTokens/refresh",
    "attestation/generate",
    "currentTime/read",
];

/// What must be there for a thread to be governed: the bounds of its settings, and the two questions.
const THREAD_NEEDS: &str = "configRequirements/read";
const THREAD_ASKS: [&str; 2] = ["item/commandExecution/requestApproval", "item/fileChange/requestApproval"];

/// How a client's request is waited for.
struct Awaited {
    call: HostCall,
    what: What,
}

/// What else the answer to a request says.
enum What {
    /// Nothing.
    Nothing,
    /// The settings that a thread got.
    Thread,
    /// The turn that a thread has begun.
    Turn(String),
}

/// What is known of the server behind a proxy.
pub(crate) struct Runtime {
    /// What the probe found.
    pub(crate) snapshot: Snapshot,
    /// Whether whoever started the proxy opts into what is experimental.
    pub(crate) experimental: Experimental,
    /// The folder in which it was started.
    pub(crate) folder: PathBuf,
}

/// A proxy before one app-server.
pub(crate) struct Proxy<'g> {
    gate: &'g Gate,
    console: Console,
    runtime: Runtime,
    bounds: Bounds,
    /// The session of everything that belongs to no thread; its name is new each time, which makes the names of calls new.
    connection: SessionId,
    calls: u64,
    threads: Threads,
    /// The client's requests by their ids.
    awaited: BTreeMap<Id, Awaited>,
    /// The server's requests that the client is asked, by their ids.
    forwarded: BTreeSet<Id>,
    /// Items at work by thread and id, as they were told.
    items: BTreeMap<(String, String), Json<'static>>,
    /// Calls that were approved, by thread and item.
    approved: BTreeMap<(String, String), Vec<HostCall>>,
    /// What the client does not want to hear.
    muted: BTreeSet<String>,
}

impl<'g> Proxy<'g> {
    pub(crate) fn new(
        gate: &'g Gate,
        runtime: Runtime,
        bounds: Bounds,
        console: Console,
    ) -> Result<Self, Issue> {
        Ok(Self {
            gate,
            console,
            runtime,
            bounds,
            connection: gate.new_session(CLIENT)?,
            calls: 0,
            threads: Threads::default(),
            awaited: BTreeMap::new(),
            forwarded: BTreeSet::new(),
            items: BTreeMap::new(),
            approved: BTreeMap::new(),
            muted: BTreeSet::new(),
        })
    }
}

impl Between for Proxy<'_> {
    fn client_says(&mut self, line: &[u8]) -> Passed {
        let json = match message::read(line) {
            Ok(json) => json.into_owned(),
            Err(issue) => return self.client_refused(&Gist::of(line), &issue),
        };
        let Some(message) = json.as_object() else {
            return self.client_refused(&Gist::of(line), &message::not_one(&json));
        };
        let id = message.get("id").filter(|id| !matches!(id.value, Value::Null));
        match (message.get("method").map(Json::as_str), id.map(|id| Id::of(id).ok_or(id))) {
            (Some(Some("initialized")), None) => Passed::On,
            (None, Some(Ok(id))) if self.forwarded.remove(&id) => Passed::On,
            // An answer to what the client was not asked, or a notification that no server has.
            (None, _) | (Some(_), None) => Passed::Back(None),
            (Some(_), Some(Err(id))) => self.client_refused(&Gist::of(line), &message::no_id(id)),
            (Some(None), Some(Ok(id))) => {
                Passed::Back(Some(error(Some(&id), INVALID_REQUEST, "the method is not a text")))
            }
            (Some(Some(_)), Some(Ok(id))) if self.awaited.contains_key(&id) => {
                Passed::Back(Some(error(Some(&id), INVALID_REQUEST, "this id waits for an answer already")))
            }
            (Some(Some(method)), Some(Ok(id))) => match self.request(message, method, &id) {
                Ok(passed) => passed,
                Err(refusal) => Passed::Back(Some(self.say(&refusal).answer(&id))),
            },
        }
    }

    fn server_says(&mut self, line: &[u8]) -> Passed {
        let read = match message::read_nearly(line) {
            Ok(read) => read,
            Err(issue) => return self.unreadable(line, &issue),
        };
        let params = read.json.get("params").and_then(Json::as_object).cloned().unwrap_or_default();
        match (read.json.get("method").and_then(Json::as_str), &read.id) {
            (Some(method), Some(id)) if read.is_exact() => self.asked(method, &params, id),
            // What is asked for is not quite known, so nobody can grant it; without an answer the agent would wait for ever.
            (Some(_), Some(id)) => {
                let issue =
                    Issue::new(codes::HOOK_INPUT, "the request has values that nobody can keep exactly");
                let refusal =
                    Refusal::from(issue.with_expected("integers of at most 53 bits, whole characters"));
                Passed::Back(Some(self.say(&refusal).answer(id)))
            }
            (Some(method), None) => {
                if read.is_exact() {
                    self.told(method, &params);
                } else {
                    self.told_nearly(method, &params);
                }
                if self.muted.contains(method) { Passed::Back(None) } else { Passed::On }
            }
            (None, Some(id)) => match self.awaited.remove(id) {
                Some(awaited) => self.answered(awaited, &read.json, id),
                None => Passed::On,
            },
            (None, None) => Passed::On,
        }
    }

    fn client_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed {
        match gist.id() {
            // The server waits for this answer, and not for any other.
            Some(id) if gist.is_answer() => {
                let is_asked = self.forwarded.remove(id);
                let words = "the answer of the client could not be read";
                if is_asked {
                    Passed::Instead(error(Some(id), INVALID_REQUEST, words))
                } else {
                    Passed::Back(None)
                }
            }
            Some(id) => Passed::Back(Some(self.say(&Refusal::from(issue.clone())).answer(id))),
            None => Passed::Back(Some(error(None, PARSE_ERROR, &in_words("request", issue)))),
        }
    }

    fn server_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed {
        let Some(id) = gist.id() else { return Passed::Back(None) };
        let answer = self.say(&Refusal::from(issue.clone())).answer(id);
        if gist.is_question() {
            return Passed::Back(Some(answer));
        }
        // If it was an act, nobody can say how it went: it is in doubt.
        if let Some(Awaited { what: What::Turn(thread), .. }) = self.awaited.remove(id) {
            self.threads.answer_turn(&thread, None);
        }
        Passed::Instead(answer)
    }
}

/// What the client asks for.
impl Proxy<'_> {
    fn request(&mut self, message: &Object<'static>, method: &str, id: &Id) -> Result<Passed, Refusal> {
        match method {
            "initialize" => return Ok(Passed::Instead(self.hello(message))),
            "turn/interrupt" => return Ok(Passed::On),
            _ => (),
        }
        let params = match message.get("params").map(|params| &params.value) {
            Some(Value::Object(params)) => params.clone(),
            None | Some(Value::Null) => Object::default(),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return Err(Issue::new(codes::HOOK_INPUT, "the params are not an object").into());
            }
        };
        let named = params.get("threadId").and_then(Json::as_str);
        let thread = named.and_then(|id| self.threads.get(id));
        let (session, folder) = match thread {
            Some(thread) => (thread.session.clone(), thread.folder.clone()),
            None => (self.connection.clone(), self.runtime.folder.clone()),
        };
        self.check_there(&session, method, &params)?;
        let mut call = method::of_client(method, &params)?;
        if method == "turn/start" {
            let thread = thread.ok_or_else(|| {
                Issue::new(
                    codes::CODEX_UNGOVERNED,
                    "this thread is not governed: start or resume it here first",
                )
            })?;
            if thread.is_at_work() {
                call = method::steer(&params);
            }
        }
        let call = self.decide(session, &call, &self.gate.place(&folder)?)?;
        let (what, params) = match method {
            _ if opens_thread(method) => (What::Thread, Some(self.bounds.of_thread(params))),
            "turn/start" => {
                let thread = named.unwrap_or_default().to_owned();
                self.threads.ask_turn(&thread, params.get("cwd").and_then(Json::as_str));
                (What::Turn(thread), Some(Bounds::of_turn(params)))
            }
            "command/exec" => (What::Nothing, Some(self.bounds.of_command(params))),
            _ => (What::Nothing, None),
        };
        self.awaited.insert(id.clone(), Awaited { call, what });
        Ok(match params {
            None => Passed::On,
            Some(params) => Passed::Instead(with_params(message, params)),
        })
    }

    /// The first words, in which nobody opts into what is experimental for us, or out of what this proxy goes by.
    fn hello(&mut self, message: &Object<'static>) -> String {
        let object =
            |json: Option<&Json<'static>>| json.and_then(Json::as_object).cloned().unwrap_or_default();
        let params = object(message.get("params"));
        let mut capabilities = object(params.get("capabilities"));
        let asks = capabilities.get("experimentalApi").and_then(Json::as_bool) == Some(true);
        let is_on = asks && self.runtime.experimental == Experimental::On;
        capabilities = capabilities.with("experimentalApi", Json::from(is_on));
        let unwanted = capabilities.get("optOutNotificationMethods").and_then(Json::as_array);
        if let Some(unwanted) = unwanted {
            let is_heard = |name: &&Json<'static>| name.as_str().is_some_and(|name| HEARD.contains(&name));
            self.muted = unwanted
                .iter()
                .filter(is_heard)
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            let others = Json::array(unwanted.iter().filter(|name| !is_heard(name)).cloned());
            capabilities = capabilities.with("optOutNotificationMethods", others);
        }
        with_params(message, params.with("capabilities", Json::from(Value::Object(capabilities))))
    }

    /// Refuses what this Codex does not have, or has only for those who opt in.
    fn check_there(
        &self,
        session: &SessionId,
        method: &str,
        params: &Object<'static>,
    ) -> Result<(), Refusal> {
        let Runtime { snapshot, experimental, .. } = &self.runtime;
        let is_unasked = |request: &&str| !snapshot.server_requests.contains(*request);
        let missing = match method {
            _ if !snapshot.has(method) => Some(method),
            _ if opens_thread(method) && !snapshot.has(THREAD_NEEDS) => Some(THREAD_NEEDS),
            _ if opens_thread(method) => THREAD_ASKS.into_iter().find(is_unasked),
            _ => None,
        };
        let (lacking, words) = if snapshot.is_experimental(method) && *experimental == Experimental::Off {
            let words = format!("`{method}` is experimental, and nobody opted in with --experimental");
            (Lacking::OptIn, words)
        } else if let Some(missing) = missing {
            let words = format!("this Codex does not have `{missing}`, as far as the probe found");
            (Lacking::Method, words)
        } else {
            return Ok(());
        };
        let input = Json::from(Value::Object(params.clone()));
        let method = Json::from(method.to_owned());
        let payload = Json::object([("method", method), ("input", input)]);
        let (code, decision) = self.gate.refuse(session, lacking, payload)?;
        let words =
            format!("countersign denied this request: {code}\n  why: {words}\n  decision: {decision}\n");
        Err(Refusal { code, words, decision: Some(decision) })
    }

    /// The answer to a request that was let through.
    fn answered(&mut self, awaited: Awaited, json: &Json<'static>, id: &Id) -> Passed {
        let Awaited { call, what } = awaited;
        let result = json.get("result");
        let checked = match (what, result) {
            (What::Thread, Some(result)) => self.govern(result),
            (What::Turn(thread), _) => {
                let turn = result.and_then(|result| result.get("turn")?.get("id")?.as_str());
                self.threads.answer_turn(&thread, turn);
                Ok(())
            }
            (What::Nothing, _) | (What::Thread, None) => Ok(()),
        };
        let is_done = result.is_some() && checked.is_ok();
        self.finish(&call, is_done);
        match checked {
            Ok(()) => Passed::On,
            Err(issue) => Passed::Instead(self.say(&issue.into()).answer(id)),
        }
    }

    /// Takes a thread in whose settings are what they must be.
    fn govern(&mut self, result: &Json<'static>) -> Result<(), Issue> {
        self.bounds.check(result, "sandbox")?;
        let id = result.get("thread").and_then(|thread| thread.get("id")?.as_str());
        let id = id.ok_or_else(|| Issue::new(codes::CODEX_UNGOVERNED, "the thread has no id"))?;
        let folder = result
            .get("cwd")
            .and_then(Json::as_str)
            .map_or_else(|| self.runtime.folder.clone(), PathBuf::from);
        self.threads.govern(id.to_owned(), self.gate.session(CLIENT, id)?, folder);
        Ok(())
    }
}

/// What the server asks for and tells.
impl Proxy<'_> {
    /// A question of the server: answered here, unless it is the client's own business.
    fn asked(&mut self, method: &str, params: &Object<'static>, id: &Id) -> Passed {
        let kind = params.get("_meta").and_then(|meta| meta.get("codex_approval_kind"));
        let is_form = method == "mcpServer/elicitation/request" && kind.is_none();
        if is_form || CLIENTS_OWN.contains(&method) {
            self.forwarded.insert(id.clone());
            return Passed::On;
        }
        let refused = self.approve(method, params).err();
        let word = Json::from(if refused.is_none() { "accept" } else { "decline" });
        if let Some(refusal) = &refused {
            self.say(refusal);
        }
        let result = match method {
            "item/commandExecution/requestApproval" | "item/fileChange/requestApproval" => {
                Json::object([("decision", word)])
            }
            "mcpServer/elicitation/request" => {
                Json::object([("action", word), ("content", Json::from(Value::Null))])
            }
            // What nobody knows how to grant is not granted.
            _ => return Passed::Back(Some(error(Some(id), INVALID_REQUEST, "not granted"))),
        };
        Passed::Back(Some(format!("{{\"id\":{},\"result\":{}}}", id.as_str(), result.to_canonical())))
    }

    /// Lets one act of the agent begin, if it may.
    fn approve(&mut self, method: &str, params: &Object<'static>) -> Result<(), Refusal> {
        let word = |key: &str| params.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        let (thread, named) = (word("threadId"), word("itemId"));
        let item = match method {
            "mcpServer/elicitation/request" => self.called(&thread, params),
            _ => self.items.contains_key(&(thread.clone(), named.clone())).then(|| named.clone()),
        };
        let key = (thread, item.unwrap_or(named));
        let call = method::of_server(method, params, self.items.get(&key))?;
        let (session, folder) = match self.threads.get(&key.0) {
            Some(thread) => (thread.session.clone(), thread.folder.clone()),
            // A thread that the agent itself has begun.
            None => (self.gate.session(CLIENT, &key.0)?, self.runtime.folder.clone()),
        };
        let call = self.decide(session, &call, &self.gate.place(&folder)?)?;
        self.approved.entry(key).or_default().push(call);
        Ok(())
    }

    /// The one call of an MCP tool at work that a question is about: the question does not name the tool.
    fn called(&self, thread: &str, params: &Object<'static>) -> Option<String> {
        let asked = params.get("_meta").and_then(|meta| meta.get("tool_params"));
        let server = params.get("serverName").and_then(Json::as_str);
        let is_meant = |item: &Json<'static>| {
            let word = |key: &str| item.get(key).and_then(Json::as_str);
            word("type") == Some("mcpToolCall") && word("server") == server && item.get("arguments") == asked
        };
        let mut meant = self.items.iter().filter(|((of, _), item)| of == thread && is_meant(item));
        match (meant.next(), meant.next()) {
            (Some(((_, id), _)), None) => Some(id.clone()),
            _ => None,
        }
    }

    /// A line that cannot be read. A request in it is refused, an answer that is waited for is replaced; anything else is shown
    /// to the client, whose answer to it would not pass.
    fn unreadable(&mut self, line: &[u8], issue: &Issue) -> Passed {
        let gist = Gist::of(line);
        let is_awaited = gist.id().is_some_and(|id| gist.is_question() || self.awaited.contains_key(id));
        if is_awaited { self.server_refused(&gist, issue) } else { Passed::On }
    }

    /// What the server tells, but for values that nobody can keep exactly: an item that is told so is not known, so that
    /// nothing is granted for it.
    fn told_nearly(&mut self, method: &str, params: &Object<'static>) {
        if !matches!(method, "item/started" | "item/fileChange/patchUpdated") {
            return self.told(method, params);
        }
        let word = |json: Option<&Json<'static>>| json.and_then(Json::as_str).map(str::to_owned);
        let item = params.get("item").and_then(|item| item.get("id")).or(params.get("itemId"));
        word(params.get("threadId")).zip(word(item)).map(|key| self.items.remove(&key));
    }

    /// What the server tells: which items and turns are at work, and which settings a thread has now.
    fn told(&mut self, method: &str, params: &Object<'static>) {
        let Some(thread) = params.get("threadId").and_then(Json::as_str) else { return };
        let item = params.get("item");
        let named = item.and_then(|item| item.get("id")).or(params.get("itemId")).and_then(Json::as_str);
        let turn = params.get("turn").and_then(|turn| turn.get("id")?.as_str());
        match (method, named, turn) {
            ("item/started", Some(id), _) => {
                self.items.extend(item.map(|item| ((thread.to_owned(), id.to_owned()), item.clone())));
            }
            ("item/fileChange/patchUpdated", Some(id), _) => {
                let changes = params.get("changes").cloned().into_iter().map(|changes| ("changes", changes));
                self.items.insert((thread.to_owned(), id.to_owned()), Json::object(changes));
            }
            ("item/completed", Some(id), _) => {
                let key = (thread.to_owned(), id.to_owned());
                self.items.remove(&key);
                let is_done = item.and_then(|item| item.get("status")?.as_str()) == Some("completed");
                for call in self.approved.remove(&key).unwrap_or_default() {
                    self.finish(&call, is_done);
                }
            }
            ("turn/started", _, Some(turn)) => self.threads.begin_turn(thread, turn),
            ("turn/completed", _, Some(turn)) => {
                self.threads.end_turn(thread, turn);
                self.items.retain(|(of, _), _| of != thread);
                self.approved.retain(|(of, _), _| of != thread);
            }
            ("thread/settings/updated", _, _) => {
                let settings =
                    params.get("threadSettings").cloned().unwrap_or_else(|| Json::from(Value::Null));
                if let Err(issue) = self.bounds.check(&settings, "sandboxPolicy") {
                    self.threads.forget(thread);
                    self.say(&issue.into());
                }
            }
            _ => (),
        }
    }
}

/// What both sides have in common.
impl Proxy<'_> {
    fn decide(&mut self, session: SessionId, call: &ToolCall, place: &Place) -> Result<HostCall, Refusal> {
        self.calls = self.calls.saturating_add(1);
        let host_call = HostCall { session, call: Some(format!("{}:{}", self.connection, self.calls)) };
        let action = self.gate.action(Host::Codex, call, place)?;
        let facts = self.runtime.snapshot.facts();
        let facts = probe_facts(CLIENT, &facts.iter().map(String::as_str).collect::<Vec<_>>())?;
        match self.gate.decide(&host_call, &action, facts)? {
            Verdict::Allowed => Ok(host_call),
            Verdict::Denied(denial) => Err((*denial).into()),
        }
    }

    /// Says a no to whoever started the proxy, too: the person who can approve.
    fn say<'r>(&self, refusal: &'r Refusal) -> &'r Refusal {
        self.console.say(&refusal.words);
        refusal
    }

    /// Notes how a call went. It has happened: a store that cannot note it finds it in doubt later.
    fn finish(&self, call: &HostCall, is_done: bool) {
        let status = if is_done { OutcomeStatus::Succeeded } else { OutcomeStatus::Failed };
        let _in_doubt = self.gate.finish(call, status, "");
    }
}

/// Whether a request is answered with a thread and its settings.
fn opens_thread(method: &str) -> bool {
    matches!(method, "thread/start" | "thread/resume" | "thread/fork")
}

fn with_params(message: &Object<'static>, params: Object<'static>) -> String {
    let message = message.clone().with("params", Json::from(Value::Object(params)));
    Json::from(Value::Object(message)).to_canonical()
}

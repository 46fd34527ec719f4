//! A conversation with `codex app-server`: one JSON object a line, every answer within its time.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    time::Duration,
};

use countersign_canon::{Issue, Json, Number, Value};

use crate::{
    effects::child::{Child, Heard, Start},
    failure::codes,
};

/// LIMIT: how long one answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// LIMIT: how long a server may take to start and say hello, on a machine that is busy with other things.
const HELLO_WITHIN: Duration = Duration::from_secs(20);

/// LIMIT: how many other lines may come before an answer.
const OTHERS_MAX: usize = 2000;

/// A running app-server that has said hello.
pub(crate) struct AppServer {
    child: Child,
    asked: u32,
}

/// What a server says to a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply {
    /// The result.
    Result(Json<'static>),
    /// It refuses, in these words.
    Error(String),
    /// Nothing that can be understood, in time.
    None,
}

/// Whether methods count that are not stable yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Experimental {
    /// They do not.
    Off,
    /// They do.
    On,
}

impl AppServer {
    /// Starts an app-server with these settings and says hello.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be started or does not answer.
    pub(crate) fn start(
        program: &OsStr,
        home: &Path,
        folder: &Path,
        experimental: Experimental,
    ) -> Result<Self, Issue> {
        let child = Child::start(&Start {
            program,
            arguments: &[OsString::from("app-server")],
            environment: &[("CODEX_HOME", home.as_os_str().to_owned())],
            folder: Some(folder),
        })?;
        let mut server = Self { child, asked: 0 };
        let client =
            [("name", "countersign"), ("title", "Countersign"), ("version", env!("CARGO_PKG_VERSION"))];
        let client = Json::object(client.map(|(key, value)| (key, Json::from(value))));
        let is_on = experimental == Experimental::On;
        let capabilities = Json::object([("experimentalApi", Json::from(is_on))]);
        let params = Json::object([("clientInfo", client), ("capabilities", capabilities)]);
        match server.call_within("initialize", params, HELLO_WITHIN) {
            Reply::Result(_) => {
                server.child.say(br#"{"method":"initialized"}"#);
                Ok(server)
            }
            Reply::Error(message) => Err(silent(&message)),
            Reply::None => Err(silent("no answer")),
        }
    }

    /// Asks something and waits for the answer; what else comes in the meantime is passed over.
    pub(crate) fn call(&mut self, method: &str, params: Json<'static>) -> Reply {
        self.call_within(method, params, ANSWER_WITHIN)
    }

    fn call_within(&mut self, method: &str, params: Json<'static>, within: Duration) -> Reply {
        self.asked = self.asked.saturating_add(1);
        let request = Json::object([
            ("method", Json::from(method.to_owned())),
            ("id", Json::from(self.asked)),
            ("params", params),
        ]);
        if !self.child.say(request.to_canonical().as_bytes()) {
            return Reply::None;
        }
        for _ in 0..OTHERS_MAX {
            let Heard::Line(line) = self.child.hear(within) else { return Reply::None };
            let Ok(json) = Json::parse(&line) else { continue };
            if json.get("method").is_none() && self.is_answer(&json) {
                return reply(&json);
            }
        }
        Reply::None
    }

    fn is_answer(&self, json: &Json<'_>) -> bool {
        let id = json.get("id").and_then(Json::as_number).and_then(Number::as_i64);
        id == Some(i64::from(self.asked))
    }
}

fn reply(json: &Json<'_>) -> Reply {
    if let Some(result) = json.get("result") {
        return Reply::Result(result.clone().into_owned());
    }
    match json.get("error").map(|error| &error.value) {
        Some(Value::Object(error)) => {
            Reply::Error(error.get("message").and_then(Json::as_str).unwrap_or_default().to_owned())
        }
        Some(_) | None => Reply::None,
    }
}

fn silent(what: &str) -> Issue {
    let what: String = what.chars().take(200).collect();
    Issue::new(codes::CLI_START_FAILED, format!("`codex app-server` does not answer: {what}"))
}

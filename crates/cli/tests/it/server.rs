//! Effect: process, network. Runs the service as users do, and speaks to it byte by byte.
#![expect(clippy::disallowed_methods, reason = "Effect: process, network")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::Sandbox;

/// What the service says on stderr, in its folder.
const ERRORS: &str = ".service.stderr";

/// A running service with a folder of its own.
pub(crate) struct Service {
    pub(crate) sandbox: Sandbox,
    pub(crate) address: String,
    child: Child,
}

/// What came back: the status and the body.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The text at this pointer of the body.
    pub(crate) fn text(&self, pointer: &str) -> String {
        let json = self.json();
        let text = json.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("no {pointer} in {self:?}")).to_owned()
    }

    /// The status and the code of a refusal, or of a decision.
    pub(crate) fn code(&self) -> (u16, String) {
        let json = self.json();
        let code = json.pointer("/detail/code").or(json.pointer("/decision_code")).and_then(Value::as_str);
        (self.status, code.unwrap_or_default().to_owned())
    }
}

impl Service {
    pub(crate) fn start() -> Self {
        Self::start_in(Sandbox::new(), &[])
    }

    pub(crate) fn start_in(sandbox: Sandbox, more: &[&str]) -> Self {
        let (child, address) = spawn(&sandbox, more, &[]);
        Self { sandbox, address, child }
    }

    /// A service with these variables in its environment.
    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new();
        let (child, address) = spawn(&sandbox, &[], variables);
        Self { sandbox, address, child }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes a token.
    pub(crate) fn token(&self, role: &str, name: &str, database: &[&str]) -> String {
        let ran =
            self.sandbox.run(&[&["token", "create", "--role", role, "--name", name], database].concat());
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        ran.stdout().trim_end().to_owned()
    }

    /// Sends these bytes and reads until the service hangs up.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let Ok(mut stream) = TcpStream::connect(&self.address) else { return String::new() };
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // A service that refuses may hang up before it has read everything.
        let _hung_up = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _hung_up = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// Asks with these header lines.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let answer = self.raw(self.request(method, path, headers, body).as_bytes());
        parse(&answer)
    }

    /// A request, byte by byte.
    fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        format!("{text}\r\n{body}")
    }

    /// Asks as whoever has this token.
    pub(crate) fn get(&self, token: &str, path: &str) -> Reply {
        self.send("GET", path, &[("Authorization", &format!("Bearer {token}"))], "")
    }

    /// Tells as whoever has this token.
    pub(crate) fn post(&self, token: &str, path: &str, body: &Value) -> Reply {
        let bearer = format!("Bearer {token}");
        self.send("POST", path, &with_json(&bearer), &body.to_string())
    }

    /// Asks to begin an action in a session.
    pub(crate) fn decide(&self, token: &str, session: &str, kind: &str, more: Value) -> Reply {
        self.post(token, "/v1/decisions", &to_decide(session, kind, &more))
    }

    /// The same, but for the last byte.
    pub(crate) fn begin_to_decide(&self, token: &str, session: &str, kind: &str, more: &Value) -> Waiting {
        let (bearer, body) = (format!("Bearer {token}"), to_decide(session, kind, more).to_string());
        let request = self.request("POST", "/v1/decisions", &with_json(&bearer), &body);
        let (last, first) = request.as_bytes().split_last().unwrap();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream.write_all(first).unwrap();
        Waiting { stream, last: *last }
    }

    /// Kills the service as a power cut would, and starts it again on the same data.
    pub(crate) fn crash_and_restart(&mut self, more: &[&str]) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.child, self.address) = spawn(&self.sandbox, more, &[]);
    }

    /// Tells the service to stop and waits until it has; its exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        let told = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(told.success());
        let exit = self.child.wait().unwrap().code();
        let said = fs::read_to_string(self.sandbox.path().join(ERRORS)).unwrap();
        assert!(!said.contains("panicked"), "{said}");
        exit
    }

    /// The process of the service.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

/// A request that lacks its last byte.
pub(crate) struct Waiting {
    stream: TcpStream,
    last: u8,
}

impl Waiting {
    /// Sends the last byte.
    pub(crate) fn finish(&mut self) {
        self.stream.write_all(&[self.last]).unwrap();
    }

    /// What comes back.
    pub(crate) fn reply(mut self) -> Reply {
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        parse(&answer)
    }
}

fn with_json(bearer: &str) -> [(&str, &str); 2] {
    [("Authorization", bearer), ("Content-Type", "application/json")]
}

/// What is sent to begin an action in a session.
fn to_decide(session: &str, kind: &str, more: &Value) -> Value {
    let mut body = json!({
        "session_id": session, "action_kind": kind, "action_payload": {"image": "shop:1.4.2"}, "proceed": true
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ended_already = self.child.wait();
    }
}

fn spawn(sandbox: &Sandbox, more: &[&str], variables: &[(&str, &str)]) -> (Child, String) {
    // Beside the folder's own files, none of which begins with a dot and this name.
    let errors = fs::File::create(sandbox.path().join(ERRORS)).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["serve", "--listen", "127.0.0.1:0", "--log", "off"])
        .args(more)
        .current_dir(sandbox.path())
        .env("XDG_DATA_HOME", sandbox.path().join(".user"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(errors)
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let found: Value =
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the service did not start: {line}"));
    let address = found["listening"].as_str().unwrap().trim_start_matches("http://").to_owned();
    (child, address)
}

/// Splits an answer into its parts; a body in chunks is put together.
pub(crate) fn parse(answer: &str) -> Reply {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { unchunk(body) } else { body.to_owned() };
    Reply { status, head: head.to_owned(), body }
}

fn unchunk(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some(piece) = after.get(..size).filter(|_| size > 0) else { break };
        whole.push_str(piece);
        rest = after.get(size..).unwrap_or("").trim_start_matches("\r\n");
    }
    whole
}

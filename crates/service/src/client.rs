//! The service, asked over HTTP: the same requests and replies as in process.

use std::{
    fmt,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use axum::body::Bytes;
use countersign_canon::{Code, Json, Reader, canon_codes};
use countersign_ledger::ledger_codes;
use countersign_policy::codes as policy_codes;
use countersign_store::store_codes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request, Response,
    body::Incoming,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::runtime::Runtime;

use crate::{
    ServiceError,
    api::{Endpoint, Method, Route},
    code::codes,
    dial,
    http::ProblemBody,
    remote::{Lost, Remote, exchange},
};

/// LIMIT: how long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// LIMIT: how large an answer may be.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// Where a service is.
#[derive(Debug, Clone)]
enum Place {
    Network(Remote),
    Socket(PathBuf),
}

/// How a service is asked.
#[derive(Clone, Default)]
pub struct ClientOptions {
    /// The token that says who asks.
    pub token: Option<String>,
    /// The file with the certificates that may vouch for the service; nothing for those that this machine trusts.
    pub roots: Option<PathBuf>,
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions").field("roots", &self.roots).finish_non_exhaustive()
    }
}

/// A service somewhere else.
pub struct Client {
    place: Place,
    token: Option<String>,
    runtime: Runtime,
    /// The connection by which it was found that somebody listens: the first question goes over it.
    connected: Mutex<Option<UnixStream>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("place", &self.place).finish_non_exhaustive()
    }
}

impl Client {
    /// The service at `http://HOST:PORT`, `https://HOST:PORT` or `unix:PATH`.
    ///
    /// # Errors
    ///
    /// Fails if the text is none of these, and if the file of certificates cannot be used.
    pub fn new(url: &str, options: ClientOptions) -> Result<Self, ServiceError> {
        let ClientOptions { token, roots } = options;
        let place = match url.strip_prefix("unix:") {
            Some(path) => Place::Socket(PathBuf::from(path)),
            None => Place::Network(
                Remote::new(url, roots.as_deref()).map_err(|lost| lost_at(url.to_owned(), lost))?,
            ),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| lost_at(url.to_owned(), Lost::Unreachable(error.to_string())))?;
        Ok(Self { place, token, runtime, connected: Mutex::default() })
    }

    /// The service that listens at this socket; nothing if nobody does.
    ///
    /// # Errors
    ///
    /// Fails if that cannot be told.
    pub fn at_socket(path: &Path) -> Result<Option<Self>, ServiceError> {
        let url = format!("unix:{}", path.display());
        match dial::listening(path) {
            Ok(Some(stream)) => {
                let client = Self::new(&url, ClientOptions::default())?;
                Ok(Some(Self { connected: Mutex::new(Some(stream)), ..client }))
            }
            Ok(None) => Ok(None),
            Err(error) => Err(ServiceError::Unreachable { place: url, message: error.to_string() }),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// Fails if the service cannot be reached, says no, or answers with something else.
    // What waits for an answer takes 24 kB of the stack, which a caller with the store in its own process need not touch.
    #[inline(never)]
    pub fn ask<E: Endpoint>(&self, request: &E) -> Result<E::Reply, ServiceError> {
        let (target, body) = address(&E::ROUTE, &request.write());
        let asked = async {
            let response = self.send(E::ROUTE.method, &target, body).await?;
            let status = response.status();
            let collected = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
            let bytes = collected.map_err(|error| self.lost(error))?.to_bytes();
            if !status.is_success() {
                return Err(self.problem(status.as_u16(), &bytes));
            }
            Reader::read_document(&bytes, codes::SERVICE_UNREACHABLE)
                .map_err(|issues| self.lost(issues.first().map(ToString::to_string).unwrap_or_default()))
        };
        let late = |_| self.lost(format!("nothing within {} s", ANSWER_WITHIN.as_secs()));
        self.runtime.block_on(async { tokio::time::timeout(ANSWER_WITHIN, asked).await }).map_err(late)?
    }

    /// Reads an answer line by line, for as long as it goes on.
    ///
    /// # Errors
    ///
    /// Fails if the service cannot be reached, says no or hangs up, and if whoever takes the lines fails.
    pub fn lines<E: From<ServiceError>>(
        &self,
        route: &Route,
        request: &Json<'static>,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (target, body) = address(route, request);
        self.runtime.block_on(async {
            let response = self.send(route.method, &target, body).await?;
            let status = response.status();
            let mut body = response.into_body();
            if !status.is_success() {
                let bytes = body.collect().await.map_err(|error| self.lost(error))?.to_bytes();
                return Err(self.problem(status.as_u16(), &bytes).into());
            }
            let mut rest: Vec<u8> = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| self.lost(error))?;
                rest.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
                let whole =
                    rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last.saturating_add(1));
                let lines: Vec<u8> = rest.drain(..whole).collect();
                lines.split_inclusive(|byte| *byte == b'\n').try_for_each(&mut *take)?;
            }
            Ok(())
        })
    }

    async fn send(
        &self,
        method: Method,
        target: &str,
        body: String,
    ) -> Result<Response<Incoming>, ServiceError> {
        let (host, prefix) = match &self.place {
            Place::Network(remote) => (remote.authority(), remote.path()),
            Place::Socket(_) => ("localhost", String::new()),
        };
        let uri = format!("{prefix}{target}");
        let mut request = Request::builder().method(method.as_str()).uri(uri).header(HOST, host);
        request = request.header(ACCEPT, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if method == Method::Post {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| self.lost(error))?;
        match &self.place {
            Place::Network(remote) => remote.send(request).await.map_err(|lost| self.lost_as(lost)),
            Place::Socket(path) => {
                let connected = self.connected.lock().map_or(None, |mut connected| connected.take());
                let stream = dial::socket(path, connected).await.map_err(|error| self.lost(error))?;
                exchange(TokioIo::new(stream), request).await.map_err(|error| self.lost(error))
            }
        }
    }

    fn lost(&self, error: impl fmt::Display) -> ServiceError {
        self.lost_as(Lost::Unreachable(error.to_string()))
    }

    fn lost_as(&self, lost: Lost) -> ServiceError {
        let place = match &self.place {
            Place::Network(remote) => remote.place(),
            Place::Socket(path) => format!("unix:{}", path.display()),
        };
        lost_at(place, lost)
    }

    /// What the service says is wrong.
    fn problem(&self, status: u16, body: &[u8]) -> ServiceError {
        let read: Result<ProblemBody, _> = Reader::read_document(body, codes::SERVICE_UNREACHABLE);
        let Ok(ProblemBody { detail }) = read else { return self.lost(format!("status {status}")) };
        let text = |key: &str| detail.context.get(key).and_then(Json::as_str);
        let place = text("pointer").map(|pointer| format!(" at {pointer}")).unwrap_or_default();
        match known_code(&detail.code) {
            Some(code) => ServiceError::Remote { code, message: format!("{}{place}", detail.message) },
            None => ServiceError::Remote {
                code: codes::SERVICE_REFUSED,
                message: format!("{}: {}{place}", detail.code, detail.message),
            },
        }
    }
}

fn lost_at(place: String, lost: Lost) -> ServiceError {
    match lost {
        Lost::Unreachable(message) => ServiceError::Unreachable { place, message },
        Lost::Untrusted(message) => ServiceError::Untrusted { place, message },
    }
}

/// The target of a request and its body: fields of the path go there, the others into the query or the body.
fn address(route: &Route, request: &Json<'static>) -> (String, String) {
    let mut target = route.path.to_owned();
    let members = request.as_object().map_or(&[][..], |object| object.members());
    let text = |value: &Json<'_>| value.as_str().map_or_else(|| value.to_canonical(), str::to_owned);
    let in_path: Vec<&str> = route.path_fields().collect();
    let (path, rest): (Vec<_>, Vec<_>) =
        members.iter().partition(|member| in_path.contains(&member.key.as_ref()));
    for member in path {
        target = target.replace(&format!("{{{}}}", member.key), &encode(&text(&member.value)));
    }
    match route.method {
        Method::Get => {
            let pairs = rest.iter().map(|member| format!("{}={}", member.key, encode(&text(&member.value))));
            let query = pairs.collect::<Vec<_>>().join("&");
            (if query.is_empty() { target } else { format!("{target}?{query}") }, String::new())
        }
        Method::Post => {
            let members = rest.iter().map(|member| (member.key.clone(), member.value.clone()));
            (target, Json::object(members).to_canonical())
        }
    }
}

/// Percent encoding of everything but letters, digits, `-`, `.`, `_` and `~`.
fn encode(text: &str) -> String {
    let piece = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(piece).collect()
}

/// A code by its text, if this program has it.
fn known_code(text: &str) -> Option<Code> {
    let tables = [canon_codes::ALL, policy_codes::ALL, ledger_codes::ALL, store_codes::ALL, codes::ALL];
    tables.into_iter().flatten().map(|entry| entry.code).find(|code| code.as_str() == text)
}

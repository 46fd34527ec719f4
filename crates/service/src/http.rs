//! The service over HTTP: one router made from the endpoints, and a door that every request passes.

mod background;
mod body;
mod entry;
mod guard;
mod meters;
mod net;
mod openapi;
mod problem;
mod server;
mod spans;
mod stream;
mod tls;

pub(crate) use self::stream::{EVENTS, EXPORT, EventQuery};
pub use self::{
    openapi::openapi,
    problem::{ProblemBody, ProblemDetail},
    server::{Listening, ServeOptions, serve},
    spans::TraceExport,
    tls::TlsFiles,
};

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::{FromRequestParts as _, RawPathParams, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use countersign_canon::{Code, Json, Reader, Wire, schema_document};
use countersign_store::{Answer, Call, CallError, StoreError};
use tokio::sync::{Semaphore, oneshot, watch};

use self::{
    body::QueryType,
    entry::{Entry, Peer},
    guard::Hosts,
    meters::Meters,
    problem::Problem,
    spans::Spans,
};
use crate::{
    Caller, Node, ServiceError,
    api::{Asked, Endpoint, Method, Visitor, each_endpoint},
    clock,
    code::codes,
};

/// LIMIT: how many questions read the store at once; further ones wait for their turn.
const QUESTIONS_MAX: usize = 8;

/// What a request left behind for whoever keeps the books.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// The route, as the endpoint spells it.
    pub(crate) route: &'static str,
    /// Who asked.
    pub(crate) principal: Option<String>,
}

/// Everything that requests share.
pub(crate) struct Site {
    pub(crate) node: Arc<Node>,
    pub(crate) entry: Entry,
    pub(crate) meters: Meters,
    /// The names under which the service is asked over the network, and over its socket.
    pub(crate) hosts: [Hosts; 2],
    pub(crate) log_size: watch::Sender<u64>,
    pub(crate) closing: watch::Sender<bool>,
    pub(crate) journal: Journal,
    spans: Spans,
    questions: Semaphore,
    writing: Crowd,
    openapi: String,
}

/// How many requests are inside.
#[derive(Debug, Default)]
struct Crowd(AtomicUsize);

/// One of them, from when it came in until it is dropped.
struct Inside<'c> {
    crowd: &'c Crowd,
    found: usize,
}

impl Crowd {
    fn enter(&self) -> Inside<'_> {
        Inside { crowd: self, found: self.0.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Inside<'_> {
    /// Whether nobody was inside when it came in.
    const fn is_alone(&self) -> bool {
        self.found == 0
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.crowd.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where lines about requests go, and which requests get one.
pub(crate) struct Journal {
    pub(crate) write: Box<dyn Fn(&str) + Send + Sync>,
    pub(crate) detail: LogDetail,
}

/// Which requests leave a line in the operator's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogDetail {
    /// None.
    Off,
    /// Those that failed.
    Failures,
    /// All of them.
    Requests,
}

impl Site {
    pub(crate) fn new(node: Arc<Node>, hosts: [Hosts; 2], journal: Journal, spans: Spans) -> Self {
        Self {
            entry: Entry::default(),
            meters: Meters::new(),
            hosts,
            log_size: watch::Sender::new(0),
            closing: watch::Sender::new(false),
            journal,
            spans,
            questions: Semaphore::new(QUESTIONS_MAX),
            writing: Crowd::default(),
            openapi: openapi().to_pretty(),
            node,
        }
    }

    /// Carries out a request of a caller who was let in.
    async fn carry_out<E: Endpoint>(&self, caller: &Caller, request: E) -> Result<E::Reply, ServiceError> {
        match request.ask(caller)? {
            Asked::Change(command, finish) => {
                let call = self.node.prepare(caller, E::ROUTE.path, command)?;
                let answer = self.write(call).await?;
                self.log_size.send_if_modified(|size| {
                    let has_grown = answer.log_size > *size;
                    *size = answer.log_size.max(*size);
                    has_grown
                });
                finish(answer)
            }
            Asked::Question(question) => self.question(question).await,
            Asked::Consideration(consider) => {
                let version = match self.node.known_in_force() {
                    Some(version) => version,
                    None => self.question(|node: &Node| node.in_force()).await?,
                };
                consider(&version)
            }
        }
    }

    /// Has the store carry out a command.
    async fn write(&self, call: Call) -> Result<Answer, CallError> {
        let writing = self.writing.enter();
        if writing.is_alone()
            // Nobody to share a commit with: it is done at once, without waking the writer and being woken by it.
            && let Some(answer) = tokio::task::block_in_place(|| self.node.store().call_alone(&call))
        {
            return answer;
        }
        let (answered, answer) = oneshot::channel::<Result<Answer, CallError>>();
        self.node.store().submit(call, Box::new(move |result| drop(answered.send(result))));
        let gone = |_| StoreError::Unavailable { message: "the writer is gone".to_owned() };
        answer.await.map_err(gone)?
    }

    /// Asks the store something, on a thread that may wait.
    pub(crate) async fn question<R: Send + 'static>(
        &self,
        ask: impl FnOnce(&Node) -> Result<R, ServiceError> + Send + 'static,
    ) -> Result<R, ServiceError> {
        let stopped = || StoreError::Unavailable { message: "the service is stopping".to_owned() };
        let _turn = self.questions.acquire().await.map_err(|_| stopped())?;
        let node = Arc::clone(&self.node);
        tokio::task::spawn_blocking(move || ask(&node)).await.map_err(|_| stopped())?
    }
}

/// The router of a site.
pub(crate) fn router(site: &Arc<Site>) -> Router {
    let mut routes = Routes { site: Arc::clone(site), router: Router::new() };
    each_endpoint(&mut routes);
    let plain = |text: &'static str| move || async move { text };
    let router = routes
        .router
        .route(stream::EVENTS.path, get(stream::events))
        .route(stream::EVENT_STREAM.path, get(stream::event_stream))
        .route(stream::EXPORT.path, get(stream::export))
        .route("/healthz", get(plain("ok\n")))
        .route("/readyz", get(ready))
        .route(meters::ROUTE.path, get(meters::show))
        .route("/openapi.json", get(show_openapi));
    let missing = || async {
        Problem::new(StatusCode::NOT_FOUND, codes::HTTP_NO_ROUTE, "there is no such route").into_response()
    };
    let other_method = || async {
        let message = "this route knows other methods";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, codes::HTTP_METHOD, message).into_response()
    };
    router
        .fallback(missing)
        .method_not_allowed_fallback(other_method)
        .layer(middleware::from_fn_with_state(Arc::clone(site), door))
        .with_state(Arc::clone(site))
}

struct Routes {
    site: Arc<Site>,
    router: Router<Arc<Site>>,
}

impl Visitor for Routes {
    fn visit<E: Endpoint>(&mut self) {
        let filter = match E::ROUTE.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
        };
        let (site, fields) = (Arc::clone(&self.site), Arc::new(QueryFields::of::<E>()));
        let handler = move |request: Request| {
            let (site, fields) = (Arc::clone(&site), Arc::clone(&fields));
            async move { answer::<E>(&site, &fields, request).await }
        };
        let router = std::mem::take(&mut self.router);
        self.router = router.route(E::ROUTE.path, on(filter, handler));
    }
}

/// The fields of a query that are not texts.
pub(crate) struct QueryFields(Json<'static>);

impl QueryFields {
    pub(crate) fn of<T: Wire>() -> Self {
        let document = schema_document::<T>("", "");
        let name = document.get("$ref").and_then(Json::as_str).unwrap_or_default();
        let name = name.trim_start_matches("#/$defs/");
        let declared = document.get("$defs").and_then(|all| all.get(name)?.get("properties")).cloned();
        Self(declared.unwrap_or_else(|| Json::from(true)))
    }

    pub(crate) fn type_of(&self, key: &str) -> QueryType {
        match self.0.get(key).and_then(|field| field.get("type")).and_then(Json::as_str) {
            Some("integer") => QueryType::Number,
            Some("boolean") => QueryType::Truth,
            Some(_) | None => QueryType::Text,
        }
    }
}

async fn answer<E: Endpoint>(site: &Site, fields: &QueryFields, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut answered = Answered { route: E::ROUTE.path, principal: None };
    let response = respond::<E>(site, fields, &mut parts, body, &mut answered).await;
    let mut response = response.unwrap_or_else(IntoResponse::into_response);
    response.extensions_mut().insert(answered);
    response
}

async fn respond<E: Endpoint>(
    site: &Site,
    fields: &QueryFields,
    parts: &mut Parts,
    body: Body,
    answered: &mut Answered,
) -> Result<Response, Problem> {
    let caller = site.admit(&E::ROUTE, parts).await?;
    answered.principal = Some(caller.principal.to_string());
    let path = path_of(parts).await?;
    let bytes;
    let document = match E::ROUTE.method {
        Method::Get => body::parse_query(parts.uri.query().unwrap_or_default(), |key| fields.type_of(key))?,
        Method::Post => {
            bytes = body::read(body, &parts.headers, E::ROUTE.limits).await?;
            body::check_media_type(&parts.headers, &bytes)?;
            body::parse(&bytes, E::ROUTE.limits)?
        }
    };
    let document = body::with_path(document, path)?;
    let request: E = Reader::read_json(&document, codes::HTTP_REQUEST_INVALID).map_err(Problem::bad)?;
    let reply = site.carry_out(&caller, request).await?;
    if let Some(code) = E::decision_code(&reply) {
        site.meters.decided(E::ROUTE.path, code);
    }
    Ok(json_response(E::ROUTE.status, reply.to_canonical()))
}

pub(crate) fn json_response(status: u16, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn path_of(parts: &mut Parts) -> Result<Vec<(String, String)>, Problem> {
    let read = RawPathParams::from_request_parts(parts, &()).await;
    let read = read.map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, codes::HTTP_REQUEST_INVALID, "the path is not UTF-8")
    })?;
    Ok(read.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// The door: names and origins first, then the books.
async fn door(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let start = clock::instant();
    let [network, socket] = &site.hosts;
    let hosts = match request.extensions().get::<Peer>() {
        Some(Peer::Socket(_)) => socket,
        Some(Peer::Network) | None => network,
    };
    let method = request.method().clone();
    let trace = entry::trace_of(request.headers());
    let mut response = match hosts.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    close_shut(response.headers_mut());
    let answered = response.extensions_mut().remove::<Answered>();
    let route = answered.as_ref().map_or("other", |answered| answered.route);
    site.meters.answered(route, method.as_str(), response.status().as_u16(), start.elapsed());
    let code = response.extensions().get::<Code>().copied();
    let principal = answered.as_ref().and_then(|answered| answered.principal.as_deref());
    let line = entry::Line {
        method: method.as_str(),
        route,
        status: response.status().as_u16(),
        taken: start.elapsed(),
        principal,
        code,
        trace: trace.as_ref(),
    };
    site.journal.note(&line);
    site.spans.note(&line);
    response
}

/// What no answer goes without: nothing is kept, sniffed, framed or run.
fn close_shut(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
}

async fn show_openapi(State(site): State<Arc<Site>>) -> Response {
    json_response(200, site.openapi.clone())
}

/// Whether decisions can be made now, and what is wrong otherwise.
async fn ready(State(site): State<Arc<Site>>) -> Response {
    let looked = site.question(|node| Ok(node.store().version_in_force()?)).await;
    let text = |text: String| Json::from(text);
    let (policy, store) = match &looked {
        Ok(version) => (version.as_ref().map(|version| text(version.policy_hash.to_string())), None),
        Err(error) => (None, Some(text(format!("{}: {error}", error.code())))),
    };
    let is_ready = policy.is_some();
    let members = [
        ("ready", Some(Json::from(is_ready))),
        ("policy_hash", policy),
        ("store", store),
        ("policy_fault", site.node.policy_fault().map(text)),
        ("checkpoint_fault", site.node.store().copy_fault().map(text)),
    ];
    let members = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
    json_response(if is_ready { 200 } else { 503 }, Json::object(members).to_canonical())
}

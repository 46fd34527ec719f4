//! Answers that go on: events as lines or as server-sent events, and the whole log as a bundle.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use countersign_canon::{Reader, Wire as _, record};
use countersign_ledger::{Access, Event, StreamId};
use countersign_policy::SessionId;
use countersign_store::{Refusal, StoreError};
use http_body_util::channel::{Channel, Sender};

use super::{Answered, QueryFields, Site, body, problem::Problem};
use crate::{
    Caller, ServiceError,
    api::{ANYBODY, Place, READERS, Route},
    code::codes,
};

/// Events as lines.
pub(crate) const EVENTS: Route = Route::get("/v1/events", ANYBODY, "Read events, one JSON object a line");
/// Events as they happen.
pub(crate) const EVENT_STREAM: Route =
    Route::get("/v1/events/stream", ANYBODY, "Follow events as server-sent events");
/// The whole log.
pub(crate) const EXPORT: Route =
    Route::get("/v1/log/export", READERS, "Export the whole log as a bundle, one JSON object a line");

/// How long a follower waits before it looks for itself: other processes may write to the same store.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// LIMIT: how long a reader may leave a piece unread.
const TAKE_WITHIN: Duration = Duration::from_secs(30);
/// How often a follower that has nothing to say shows that it is there, in looks.
const LOOKS_PER_SIGN: u32 = 20;

record! {
    /// Which events.
    pub struct EventQuery {
        /// One stream, instead of the whole log; an agent must name one of its own.
        stream: Option<StreamId>,
        /// Only what comes after this place: in the stream, or in the log, both counted from 1.
        after_seq: Option<Place>,
        /// Whether to go on when there are no more, until the caller hangs up.
        follow: Option<bool>,
    }
}

/// The pieces of a body; they end early if something goes wrong.
type Pieces = Sender<Bytes, std::io::Error>;

#[derive(Clone, Copy)]
enum Form {
    Lines,
    ServerSent,
}

/// Where a reader is.
struct Cursor {
    stream: Option<StreamId>,
    after: i64,
}

/// `GET /v1/events`.
pub(crate) async fn events(State(site): State<Arc<Site>>, request: Request) -> Response {
    open(site, request, EVENTS, Form::Lines).await
}

/// `GET /v1/events/stream`.
pub(crate) async fn event_stream(State(site): State<Arc<Site>>, request: Request) -> Response {
    open(site, request, EVENT_STREAM, Form::ServerSent).await
}

async fn open(site: Arc<Site>, request: Request, route: Route, form: Form) -> Response {
    let (parts, _) = request.into_parts();
    let mut answered = Answered { route: route.path, principal: None };
    let opened = async {
        let caller = site.admit(&route, &parts).await?;
        answered.principal = Some(caller.principal.to_string());
        let query = read_query(&parts)?;
        check_stream(&site, &caller, query.stream.as_ref()).await?;
        let last =
            parts.headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse::<i64>().ok());
        let after = last.or(query.after_seq.map(Place::get)).unwrap_or_default().max(0);
        let cursor = Cursor { stream: query.stream, after };
        let (pieces, body) = Channel::new(4);
        let follow = query.follow.unwrap_or(matches!(form, Form::ServerSent));
        tokio::spawn(pump(Arc::clone(&site), cursor, form, follow, pieces));
        let kind = match form {
            Form::Lines => "application/x-ndjson",
            Form::ServerSent => "text/event-stream",
        };
        Ok::<_, Problem>(streamed(kind, body))
    };
    let mut response = opened.await.unwrap_or_else(|problem| problem.into_response());
    response.extensions_mut().insert(answered);
    response
}

fn read_query(parts: &Parts) -> Result<EventQuery, Problem> {
    let fields = QueryFields::of::<EventQuery>();
    let query = parts.uri.query().unwrap_or_default();
    let document = body::parse_query(query, |key| fields.type_of(key))?;
    Reader::read_json(&document, codes::HTTP_REQUEST_INVALID).map_err(Problem::bad)
}

/// An agent reads the streams of its own sessions and runs, and nothing else.
async fn check_stream(site: &Site, caller: &Caller, stream: Option<&StreamId>) -> Result<(), Problem> {
    if caller.access != Access::Agent {
        return Ok(());
    }
    let named = stream.and_then(|stream| SessionId::parse(stream.as_str().split_once(':')?.1).ok());
    let owner = match named {
        Some(id) => site.question(move |node| Ok(node.store().session(&id)?)).await?.map(|it| it.owner),
        None => None,
    };
    if owner.as_ref() == Some(&caller.principal) {
        return Ok(());
    }
    let message = "an agent names a stream of its own session".to_owned();
    Err(ServiceError::from(Refusal::Forbidden { access: caller.access, message }).into())
}

fn streamed(kind: &'static str, body: Channel<Bytes, std::io::Error>) -> Response {
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Gives the reader page after page, as fast as it takes them.
async fn pump(site: Arc<Site>, mut cursor: Cursor, form: Form, follow: bool, mut pieces: Pieces) {
    let (mut grown, mut closing) = (site.log_size.subscribe(), site.closing.subscribe());
    let mut looks = 0_u32;
    loop {
        grown.mark_unchanged();
        let (stream, after) = (cursor.stream.clone(), cursor.after);
        let page = match site.question(move |node| node.page(stream.as_ref(), after)).await {
            Ok(page) => page,
            // The reader must see that this is not the end.
            Err(error) => return pieces.abort(std::io::Error::other(error.to_string())),
        };
        cursor.after = page.last().map_or(cursor.after, |(place, _)| *place);
        let text: String = page.iter().map(|(place, event)| write(form, *place, event)).collect();
        let is_sign =
            text.is_empty() && matches!(form, Form::ServerSent) && looks.is_multiple_of(LOOKS_PER_SIGN);
        let text = if is_sign { ": here\n\n".to_owned() } else { text };
        if !text.is_empty() && !give(&mut pieces, text).await {
            return;
        }
        if page.is_empty() {
            if !follow || *closing.borrow() {
                return;
            }
            looks = looks.saturating_add(1);
            let waited = async {
                tokio::select! {
                    _ = grown.changed() => (),
                    _ = closing.changed() => (),
                    () = tokio::time::sleep(LOOK_AGAIN) => (),
                }
            };
            waited.await;
        }
    }
}

fn write(form: Form, place: i64, event: &Event) -> String {
    let body = event.to_canonical();
    match form {
        Form::Lines => format!("{body}\n"),
        Form::ServerSent => format!("id: {place}\nevent: {}\ndata: {body}\n\n", event.event),
    }
}

/// Whether the reader took the piece.
async fn give(pieces: &mut Pieces, text: String) -> bool {
    matches!(tokio::time::timeout(TAKE_WITHIN, pieces.send_data(Bytes::from(text))).await, Ok(Ok(())))
}

/// `GET /v1/log/export`.
pub(crate) async fn export(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let caller = match site.admit(&EXPORT, &parts).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let (mut pieces, body) = Channel::new(4);
    tokio::spawn(async move {
        let runtime = tokio::runtime::Handle::current();
        let exported = site.question(move |node| {
            let mut buffer = String::new();
            let ended = node.export(&mut |line| {
                buffer.push_str(line);
                if buffer.len() < 64 << 10 {
                    return Ok(());
                }
                let piece = std::mem::take(&mut buffer);
                let is_taken = runtime.block_on(give(&mut pieces, piece));
                let gone = || StoreError::Unavailable { message: "the reader hung up".to_owned() };
                if is_taken { Ok(()) } else { Err(ServiceError::from(gone())) }
            });
            match ended {
                Ok(()) => drop(runtime.block_on(give(&mut pieces, buffer))),
                Err(error) => pieces.abort(std::io::Error::other(error.to_string())),
            }
            Ok(())
        });
        drop(exported.await);
    });
    let mut response = streamed("application/x-ndjson", body);
    let principal = Some(caller.principal.to_string());
    response.extensions_mut().insert(Answered { route: EXPORT.path, principal });
    response
}

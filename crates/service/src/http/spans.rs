//! Requests as spans of OpenTelemetry, sent in batches to a collector (OTLP over HTTP, in JSON) if one is named.

use std::{sync::Arc, time::Duration};

use axum::body::Bytes;
use countersign_canon::{Json, Sha256};
use countersign_store::fresh_secret;
use http_body_util::Full;
use hyper::{
    Request,
    header::{CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;

use super::{Site, entry::Line};
use crate::{client::exchange, clock, dial};

/// LIMIT: how many spans wait to be sent; further ones are dropped, never a request.
const WAITING_MAX: usize = 4096;
/// LIMIT: how many spans go in one message.
const BATCH_MAX: usize = 512;
/// How long spans wait for company.
const SEND_EVERY: Duration = Duration::from_secs(2);
/// LIMIT: how long a collector may take.
const SEND_WITHIN: Duration = Duration::from_secs(5);

/// Where spans go.
#[derive(Debug, Clone)]
pub struct TraceExport {
    /// The collector: `http://HOST:PORT`, to which `/v1/traces` is added.
    pub endpoint: String,
    /// What the service calls itself.
    pub service_name: String,
}

/// A finished request.
#[derive(Debug)]
struct Span {
    trace_id: String,
    span_id: String,
    parent_id: Option<String>,
    name: String,
    start_ns: u64,
    end_ns: u64,
    status: u16,
    principal: Option<String>,
}

/// Takes spans, if there is somewhere to send them.
#[derive(Debug, Default)]
pub(crate) struct Spans(Option<mpsc::Sender<Span>>);

/// What waits to be sent.
pub(crate) struct Outbox {
    export: TraceExport,
    spans: mpsc::Receiver<Span>,
}

impl Spans {
    /// Spans, and what sends them: nothing is sent, or kept, unless a collector is named.
    pub(crate) fn new(export: Option<TraceExport>) -> (Self, Option<Outbox>) {
        let Some(export) = export else { return (Self(None), None) };
        let (sender, spans) = mpsc::channel(WAITING_MAX);
        (Self(Some(sender)), Some(Outbox { export, spans }))
    }

    /// Notes a finished request.
    pub(crate) fn note(&self, line: &Line<'_>) {
        let Some(sender) = &self.0 else { return };
        // A request that nobody traces starts a trace of its own.
        let fresh =
            fresh_secret().map(|secret| Sha256::of(secret.as_bytes()).to_string()).unwrap_or_default();
        let end_ns = clock::unix_nanos();
        let taken = u64::try_from(line.taken.as_nanos()).unwrap_or(u64::MAX);
        let span = Span {
            trace_id: line
                .trace
                .map_or_else(|| fresh.chars().take(32).collect(), |trace| trace.trace_id.clone()),
            span_id: fresh.chars().skip(32).take(16).collect(),
            parent_id: line.trace.map(|trace| trace.parent_id.clone()),
            name: format!("{} {}", line.method, line.route),
            start_ns: end_ns.saturating_sub(taken),
            end_ns,
            status: line.status,
            principal: line.principal.map(str::to_owned),
        };
        let _dropped_if_full = sender.try_send(span);
    }
}

impl Outbox {
    /// Sends what has come together, until the service ends.
    pub(crate) async fn run(mut self, site: Arc<Site>) {
        let mut batch = Vec::new();
        loop {
            let waited = tokio::time::timeout(SEND_EVERY, self.spans.recv_many(&mut batch, BATCH_MAX)).await;
            let is_over = matches!(waited, Ok(0)) || *site.closing.borrow();
            if !batch.is_empty() {
                let body = self.message(&batch).to_canonical();
                batch.clear();
                if let Err(message) = self.send(body).await {
                    site.journal.tell("traces", &message);
                }
            }
            if is_over {
                return;
            }
        }
    }

    async fn send(&self, body: String) -> Result<(), String> {
        let authority = self.export.endpoint.strip_prefix("http://").unwrap_or(&self.export.endpoint);
        let authority = authority.trim_end_matches('/');
        let request =
            Request::post("/v1/traces").header(HOST, authority).header(CONTENT_TYPE, "application/json");
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())?;
        let sent = async {
            let stream = dial::network(authority).await.map_err(|error| error.to_string())?;
            let response =
                exchange(TokioIo::new(stream), request).await.map_err(|error| error.to_string())?;
            let status = response.status();
            if status.is_success() { Ok(()) } else { Err(format!("the collector answers {status}")) }
        };
        tokio::time::timeout(SEND_WITHIN, sent)
            .await
            .map_err(|_| "the collector does not answer".to_owned())?
    }

    /// The spans as OTLP has them.
    fn message(&self, batch: &[Span]) -> Json<'static> {
        let spans = batch.iter().map(|span| {
            let attributes = [
                Some(attribute("http.response.status_code", &span.status.to_string())),
                span.principal.as_deref().map(|principal| attribute("enduser.id", principal)),
            ];
            // 2 is an error; 0 says nothing.
            let code = if span.status >= 500 { 2_u32 } else { 0 };
            let parent = span.parent_id.clone().map(|parent| ("parentSpanId", Json::from(parent)));
            let members = [
                ("traceId", Json::from(span.trace_id.clone())),
                ("spanId", Json::from(span.span_id.clone())),
                ("name", Json::from(span.name.clone())),
                // 2 is a server.
                ("kind", Json::from(2_u32)),
                ("startTimeUnixNano", Json::from(span.start_ns.to_string())),
                ("endTimeUnixNano", Json::from(span.end_ns.to_string())),
                ("attributes", Json::array(attributes.into_iter().flatten())),
                ("status", Json::object([("code", Json::from(code))])),
            ];
            Json::object(members.into_iter().chain(parent))
        });
        let scope = Json::object([("name", Json::from("countersign"))]);
        let resource = Json::array([attribute("service.name", &self.export.service_name)]);
        let of_scope = Json::object([("scope", scope), ("spans", Json::array(spans))]);
        let of_resource = Json::object([
            ("resource", Json::object([("attributes", resource)])),
            ("scopeSpans", Json::array([of_scope])),
        ]);
        Json::object([("resourceSpans", Json::array([of_resource]))])
    }
}

fn attribute(key: &'static str, value: &str) -> Json<'static> {
    let value = Json::object([("stringValue", Json::from(value.to_owned()))]);
    Json::object([("key", Json::from(key)), ("value", value)])
}

//! Requests as spans of OpenTelemetry, sent in batches to a collector (OTLP over HTTP, in JSON) if one is named.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::body::Bytes;
use countersign_canon::{Json, Sha256};
use countersign_store::fresh_secret;
use http_body_util::Full;
use hyper::{
    Request,
    header::{CONTENT_TYPE, HOST},
};
use tokio::sync::mpsc;

use super::{Site, entry::Line};
use crate::{
    clock,
    remote::{Lost, Remote},
};

/// LIMIT: how many spans wait to be sent; further ones are dropped, never a request.
const WAITING_MAX: usize = 4096;
/// LIMIT: how many spans go in one message.
const BATCH_MAX: usize = 512;
/// How long spans wait for company.
const SEND_EVERY: Duration = Duration::from_secs(2);
/// LIMIT: how long a collector may take.
const SEND_WITHIN: Duration = Duration::from_secs(5);

/// Where spans go, and what they say about this service.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TraceExport {
    /// The collector with the path that takes traces: `http://HOST:PORT/v1/traces`, or with `https`.
    pub endpoint: String,
    /// The file with the certificates that may vouch for the collector; nothing for those that this machine trusts.
    pub roots: Option<PathBuf>,
    /// Further header lines: who we are, for the collector. They may be secret.
    pub headers: Vec<(String, String)>,
    /// What every span says about this service; `service.name` is among it.
    pub attributes: Vec<(String, String)>,
}

impl std::fmt::Debug for TraceExport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceExport").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl TraceExport {
    /// What OpenTelemetry's variables ask for; nothing unless they name a collector.
    #[must_use]
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let named = |name: &str| variable(name).filter(|value| !value.is_empty());
        // What is said about traces alone counts more than what is said about everything.
        let either = |name: &str| {
            named(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
                .or_else(|| named(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        let is_off = named("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || named("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
        if is_off {
            return None;
        }
        let general = || {
            let base = named("OTEL_EXPORTER_OTLP_ENDPOINT")?;
            Some(format!("{}/v1/traces", base.trim_end_matches('/')))
        };
        let endpoint = named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(general)?;
        let mut attributes = named("OTEL_RESOURCE_ATTRIBUTES").map(|text| pairs(&text)).unwrap_or_default();
        let of_all = attributes.iter().position(|(key, _)| key == "service.name");
        let of_all = of_all.map(|index| attributes.remove(index).1);
        let name = named("OTEL_SERVICE_NAME").or(of_all).unwrap_or_else(|| "countersign".to_owned());
        attributes.insert(0, ("service.name".to_owned(), name));
        Some(Self {
            endpoint,
            roots: either("CERTIFICATE").map(PathBuf::from),
            headers: either("HEADERS").map(|text| pairs(&text)).unwrap_or_default(),
            attributes,
        })
    }
}

/// `key=value,key=value`, values percent-encoded, as OpenTelemetry writes lists; what is not of that form is left out.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |part: &str| {
        let (key, value) = part.split_once('=')?;
        Some((key.trim().to_owned(), decoded(value.trim())?)).filter(|(key, _)| !key.is_empty())
    };
    text.split(',').filter_map(pair).collect()
}

/// A text without its percent encoding; nothing if it is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = byte.and_then(|_| after.get(2..)).unwrap_or(after);
    }
    String::from_utf8(bytes).ok()
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
    collector: Remote,
    export: TraceExport,
    spans: mpsc::Receiver<Span>,
}

impl Spans {
    /// Spans, and what sends them: nothing is sent, or kept, unless a collector is named.
    ///
    /// # Errors
    ///
    /// Fails if what is named cannot be a collector.
    pub(crate) fn new(export: Option<TraceExport>) -> Result<(Self, Option<Outbox>), String> {
        let Some(export) = export else { return Ok((Self(None), None)) };
        let collector = Remote::new(&export.endpoint, export.roots.as_deref());
        let collector = collector.map_err(|lost| format!("`{}`: {}", export.endpoint, words(lost)))?;
        let (sender, spans) = mpsc::channel(WAITING_MAX);
        Ok((Self(Some(sender)), Some(Outbox { collector, export, spans })))
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
        let path = Some(self.collector.path()).filter(|path| !path.is_empty());
        let mut request = Request::post(path.unwrap_or_else(|| "/".to_owned()))
            .header(HOST, self.collector.authority())
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in &self.export.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).map_err(|error| error.to_string())?;
        let sent = tokio::time::timeout(SEND_WITHIN, self.collector.send(request)).await;
        let response = sent.map_err(|_| "the collector does not answer".to_owned())?.map_err(words)?;
        let status = response.status();
        if status.is_success() { Ok(()) } else { Err(format!("the collector answers {status}")) }
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
        let resource = self.export.attributes.iter().map(|(key, value)| attribute(key, value));
        let resource = Json::array(resource);
        let of_scope = Json::object([("scope", scope), ("spans", Json::array(spans))]);
        let of_resource = Json::object([
            ("resource", Json::object([("attributes", resource)])),
            ("scopeSpans", Json::array([of_scope])),
        ]);
        Json::object([("resourceSpans", Json::array([of_resource]))])
    }
}

fn attribute(key: &str, value: &str) -> Json<'static> {
    let value = Json::object([("stringValue", Json::from(value.to_owned()))]);
    Json::object([("key", Json::from(key.to_owned())), ("value", value)])
}

fn words(lost: Lost) -> String {
    match lost {
        Lost::Unreachable(message) | Lost::Untrusted(message) => message,
    }
}

#[cfg(test)]
mod tests;

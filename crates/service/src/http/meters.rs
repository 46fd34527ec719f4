//! What the service counts about itself, in the text form that Prometheus reads.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use countersign_policy::ApprovalState;

use super::{Answered, Site, problem::Problem};
use crate::api::{AUDITORS, Route};

/// The route of the figures.
pub(crate) const ROUTE: Route = Route::get("/metrics", AUDITORS, "Show figures for Prometheus");

/// The upper bounds of the histogram, in microseconds.
const BOUNDS_US: [u64; 12] =
    [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000];

/// How often, and how long it took.
#[derive(Debug, Default, Clone)]
struct Times {
    within: [u64; BOUNDS_US.len()],
    count: u64,
    total_us: u64,
}

/// The figures.
#[derive(Debug)]
pub(crate) struct Meters {
    requests: Mutex<BTreeMap<(&'static str, String, u16), u64>>,
    times: Mutex<BTreeMap<&'static str, Times>>,
    decisions: Mutex<BTreeMap<(&'static str, String), u64>>,
}

impl Meters {
    pub(crate) const fn new() -> Self {
        Self {
            requests: Mutex::new(BTreeMap::new()),
            times: Mutex::new(BTreeMap::new()),
            decisions: Mutex::new(BTreeMap::new()),
        }
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, route: &'static str, method: &str, status: u16, taken: Duration) {
        // Methods that nobody knows share one name, so that nobody can make the list long.
        let method = if matches!(method, "GET" | "POST" | "HEAD") { method } else { "other" };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let count = requests.entry((route, method.to_owned(), status)).or_default();
        *count = count.saturating_add(1);
        drop(requests);
        let micros = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX);
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let times = times.entry(route).or_default();
        times.count = times.count.saturating_add(1);
        times.total_us = times.total_us.saturating_add(micros);
        for (within, _) in times.within.iter_mut().zip(BOUNDS_US).filter(|(_, bound)| micros <= *bound) {
            *within = within.saturating_add(1);
        }
    }

    /// Counts a decision.
    pub(crate) fn decided(&self, route: &'static str, code: &str) {
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        let count = decisions.entry((route, code.to_owned())).or_default();
        *count = count.saturating_add(1);
    }

    fn write(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _infallible = writeln!(out, "{text}");
        };
        line(format_args!("# HELP countersign_requests_total Answers by route, method and status."));
        line(format_args!("# TYPE countersign_requests_total counter"));
        for ((route, method, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner)
        {
            line(format_args!(
                "countersign_requests_total{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {count}"
            ));
        }
        line(format_args!("# HELP countersign_decisions_total Decisions by route and code."));
        line(format_args!("# TYPE countersign_decisions_total counter"));
        for ((route, code), count) in &*self.decisions.lock().unwrap_or_else(PoisonError::into_inner) {
            line(format_args!("countersign_decisions_total{{route=\"{route}\",code=\"{code}\"}} {count}"));
        }
        line(format_args!("# HELP countersign_request_seconds How long answers took, by route."));
        line(format_args!("# TYPE countersign_request_seconds histogram"));
        for (route, times) in &*self.times.lock().unwrap_or_else(PoisonError::into_inner) {
            for (bound, within) in BOUNDS_US.iter().zip(times.within) {
                let bound = seconds(*bound);
                line(format_args!(
                    "countersign_request_seconds_bucket{{route=\"{route}\",le=\"{bound}\"}} {within}"
                ));
            }
            let (count, total) = (times.count, seconds(times.total_us));
            line(format_args!("countersign_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}"));
            line(format_args!("countersign_request_seconds_sum{{route=\"{route}\"}} {total}"));
            line(format_args!("countersign_request_seconds_count{{route=\"{route}\"}} {count}"));
        }
    }
}

/// Microseconds as decimal seconds.
fn seconds(micros: u64) -> String {
    let whole = micros.checked_div(1_000_000).unwrap_or_default();
    let rest = micros.checked_rem(1_000_000).unwrap_or_default();
    format!("{whole}.{rest:06}")
}

/// Shows the figures, and what the store says about itself.
pub(crate) async fn show(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let shown = async {
        let caller = site.admit(&ROUTE, &parts).await?;
        let looked = site.question(|node| {
            let size = node
                .store()
                .checkpoint()?
                .and_then(|note| note.claim().ok())
                .map_or(0, |claim| claim.head.size);
            Ok((size, node.store().count_approvals(ApprovalState::Pending)?))
        });
        let looked = looked.await;
        let mut text = String::new();
        site.meters.write(&mut text);
        let is_up = u8::from(looked.is_ok());
        let _infallible = write!(text, "# TYPE countersign_store_up gauge\ncountersign_store_up {is_up}\n");
        if let Ok((size, pending)) = looked {
            let _infallible = write!(
                text,
                "# TYPE countersign_log_events counter\ncountersign_log_events {size}\n\
                 # TYPE countersign_approvals_pending gauge\ncountersign_approvals_pending {pending}\n"
            );
        }
        Ok::<_, Problem>((text, caller))
    };
    match shown.await {
        Ok((text, caller)) => {
            let mut response = Response::new(Body::from(text));
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
            let principal = Some(caller.principal.to_string());
            response.extensions_mut().insert(Answered { route: ROUTE.path, principal });
            response
        }
        Err(problem) => problem.into_response(),
    }
}

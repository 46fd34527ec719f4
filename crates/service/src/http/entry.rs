//! Who is let in: tokens, the user at the other end of the socket, and how often each may ask.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, StatusCode, header, request::Parts};
use countersign_canon::{Code, Json, Sha256, Text};
use countersign_ledger::{Access, Principal, Token};
use countersign_store::Refusal;

use super::{Journal, LogDetail, Site, problem::Problem};
use crate::{Caller, ServiceError, api::Route, caller::text, clock, code::codes};

/// For how long a token that counted is taken to count still. A command is checked again in its transaction.
const KNOWN_FOR: Duration = Duration::from_secs(1);
/// LIMIT: how many tokens are remembered.
const KNOWN_MAX: usize = 10_000;
/// LIMIT: how many requests a second one principal makes, and how many at once after a pause.
const REQUESTS_PER_S: u32 = 20_000;

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// The network.
    Network,
    /// The socket, from a process of this user, or of another.
    Socket(PeerUser),
}

/// Whose process is at the other end of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PeerUser {
    /// The user that the service runs as.
    Same,
    /// Somebody else.
    Other,
}

/// What is remembered about callers.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    known: Mutex<BTreeMap<Sha256, (Token, Instant)>>,
    budgets: Mutex<BTreeMap<Principal, Budget>>,
}

/// How many requests a principal may still make: it fills up with time.
#[derive(Debug)]
struct Budget {
    left: u32,
    since: Instant,
}

impl Entry {
    fn known(&self, hash: &Sha256) -> Option<Token> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(hash).filter(|(_, since)| since.elapsed() < KNOWN_FOR).map(|(token, _)| token.clone())
    }

    fn remember(&self, token: Token) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(token.token_hash, (token, clock::instant()));
    }

    /// Takes one request off the principal's budget.
    fn spend(&self, principal: &Principal) -> Result<(), Problem> {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::instant();
        if budgets.len() >= KNOWN_MAX {
            budgets.clear();
        }
        budgets.entry(principal.clone()).or_insert_with(|| Budget::full(now)).spend(now)
    }
}

impl Budget {
    const fn full(now: Instant) -> Self {
        Self { left: REQUESTS_PER_S, since: now }
    }

    /// Takes one request off, after what was earned since the last one.
    fn spend(&mut self, now: Instant) -> Result<(), Problem> {
        let millis = u32::try_from(now.duration_since(self.since).as_millis()).unwrap_or(u32::MAX);
        if millis > 0 {
            let earned = millis.saturating_mul(REQUESTS_PER_S.div_ceil(1000));
            *self = Self { left: self.left.saturating_add(earned).min(REQUESTS_PER_S), since: now };
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            let message = format!("more than {REQUESTS_PER_S} requests a second");
            Problem::new(StatusCode::TOO_MANY_REQUESTS, codes::HTTP_TOO_MANY, message)
        })?;
        Ok(())
    }
}

impl Site {
    /// Finds out who asks, and whether they may ask here.
    pub(crate) async fn admit(&self, route: &Route, parts: &Parts) -> Result<Caller, Problem> {
        let caller = self.caller(parts).await?;
        self.entry.spend(&caller.principal)?;
        route.admit(&caller)?;
        Ok(caller)
    }

    async fn caller(&self, parts: &Parts) -> Result<Caller, Problem> {
        let mut given = parts.headers.get_all(header::AUTHORIZATION).iter();
        let (first, second) = (given.next(), given.next());
        let peer = parts.extensions.get::<Peer>().copied().unwrap_or(Peer::Network);
        let Some(value) = first else {
            return match peer {
                // Whoever can open the socket could open the store: they are let in, but only as an agent.
                Peer::Socket(PeerUser::Same) => {
                    let owner = Caller::owner("socket")?;
                    Ok(Caller { access: Access::Agent, ..owner })
                }
                Peer::Socket(PeerUser::Other) | Peer::Network => Err(stranger("there is no token")),
            };
        };
        let secret = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
        let secret =
            secret.filter(|_| second.is_none()).ok_or_else(|| stranger("the token is not a bearer token"))?;
        let hash = Token::hash_of(secret);
        let token = match self.entry.known(&hash) {
            Some(token) => token,
            None => {
                let found = self.question(move |node| Ok(node.store().token(&hash)?)).await?;
                let token = found.filter(|token| is_same(&token.token_hash, &hash));
                let token = token.filter(|token| token.revoked_at.is_none());
                let token = token.ok_or_else(|| stranger("the token is unknown or revoked"))?;
                self.entry.remember(token.clone());
                token
            }
        };
        let component: Text<1, 64> = text("the component", "http")?;
        Ok(Caller { principal: token.name, access: token.access, credential: Some(hash), component })
    }
}

fn stranger(message: &'static str) -> Problem {
    let code = Refusal::Unauthenticated.code();
    Problem::new(StatusCode::UNAUTHORIZED, code, message)
}

/// Compares every byte, however early two hashes differ.
fn is_same(left: &Sha256, right: &Sha256) -> bool {
    let bytes = left.as_bytes().iter().zip(right.as_bytes());
    bytes.fold(0_u8, |differences, (left, right)| differences | (left ^ right)) == 0
}

/// The trace that a caller says this request is part of (W3C trace context).
#[derive(Debug, Clone)]
pub(crate) struct TraceContext {
    pub(crate) trace_id: String,
    pub(crate) parent_id: String,
}

/// What the caller says about its trace, if it does so properly.
pub(crate) fn trace_of(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parts = headers.get("traceparent")?.to_str().ok()?.split('-');
    let (_, trace, parent) = (parts.next()?, parts.next()?, parts.next()?);
    let is_id = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_hexdigit())
            && text.bytes().any(|byte| byte != b'0')
    };
    let is_both = is_id(trace, 32) && is_id(parent, 16);
    is_both.then(|| TraceContext { trace_id: trace.to_owned(), parent_id: parent.to_owned() })
}

/// One line of the operator's log.
pub(crate) struct Line<'l> {
    pub(crate) method: &'l str,
    pub(crate) route: &'l str,
    pub(crate) status: u16,
    pub(crate) taken: Duration,
    pub(crate) principal: Option<&'l str>,
    pub(crate) code: Option<Code>,
    pub(crate) trace: Option<&'l TraceContext>,
}

impl Journal {
    /// Writes the line, if requests like this one get one.
    pub(crate) fn note(&self, line: &Line<'_>) {
        let is_wanted = match self.detail {
            LogDetail::Off => false,
            LogDetail::Failures => line.status >= 400,
            LogDetail::Requests => true,
        };
        if !is_wanted {
            return;
        }
        let text = |text: &str| Json::from(text.to_owned());
        let micros = u32::try_from(line.taken.as_micros()).unwrap_or(u32::MAX);
        let members = [
            ("ts", clock::now().ok().map(|now| Json::from(now.to_string()))),
            ("level", Some(text(if line.status >= 500 { "error" } else { "info" }))),
            ("method", Some(text(line.method))),
            ("route", Some(text(line.route))),
            ("status", Some(Json::from(u32::from(line.status)))),
            ("duration_us", Some(Json::from(micros))),
            ("principal", line.principal.map(text)),
            ("code", line.code.map(Json::from)),
            ("trace_id", line.trace.map(|trace| text(&trace.trace_id))),
        ];
        let members = members.into_iter().filter_map(|(key, value)| Some((key, value?)));
        (self.write)(&format!("{}\n", Json::object(members).to_canonical()));
    }

    /// Writes what went wrong with the service itself.
    pub(crate) fn say(&self, error: &ServiceError, doing: &str) {
        self.tell(doing, &format!("{}: {error}", error.code()));
    }

    /// Writes what happened to the service itself.
    pub(crate) fn tell(&self, doing: &str, message: &str) {
        let members = [
            ("ts", Json::from(clock::now().map(|now| now.to_string()).unwrap_or_default())),
            ("level", Json::from("error")),
            ("doing", Json::from(doing.to_owned())),
            ("message", Json::from(message.to_owned())),
        ];
        (self.write)(&format!("{}\n", Json::object(members).to_canonical()));
    }
}

#[cfg(test)]
mod tests;

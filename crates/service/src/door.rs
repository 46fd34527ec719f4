//! The two ways to a service, as one: in this process, or over HTTP.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::{Principal, Session, StreamId};
use countersign_policy::ApprovalState;

use crate::{
    Caller, Client, Node, ServiceError,
    api::{ApprovalView, Endpoint, ListApprovals, ListSessions, Place},
    http::{EVENTS, EXPORT, EventQuery},
};

/// A service, wherever it is.
#[derive(Debug)]
pub enum Door {
    /// In this process, asked by this caller.
    Here(Box<Node>, Caller),
    /// Somewhere else; a token, or the socket, says who asks.
    There(Client),
}

/// Which events are read.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// One stream, instead of the whole log.
    pub stream: Option<StreamId>,
    /// Only what comes after this place.
    pub after_seq: i64,
    /// Whether to go on when there are no more.
    pub follow: bool,
}

impl Door {
    /// Asks.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not, if the request contradicts itself, and if there is no answer.
    pub fn ask<E: Endpoint>(&self, request: E) -> Result<E::Reply, ServiceError> {
        match self {
            Self::Here(node, caller) => node.ask(caller, request),
            Self::There(client) => client.ask(&request),
        }
    }

    /// Asks as a person who shows by signing who they are; somewhere else the token must be theirs.
    ///
    /// # Errors
    ///
    /// Fails if the person may not, if the request contradicts itself, and if there is no answer.
    pub fn ask_as<E: Endpoint>(&self, person: &Principal, request: E) -> Result<E::Reply, ServiceError> {
        match self {
            Self::Here(node, caller) => node.ask(&caller.approver(person.clone()), request),
            Self::There(client) => client.ask(&request),
        }
    }

    /// Every session that may be seen, page by page.
    ///
    /// # Errors
    ///
    /// Fails if there is no answer.
    pub fn sessions(&self) -> Result<Vec<Session>, ServiceError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.ask(ListSessions { after, limit: None })?;
            all.extend(page.sessions);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Every approval that stands here and may be seen, page by page; all of them if nothing is said.
    ///
    /// # Errors
    ///
    /// Fails if there is no answer.
    pub fn approvals(&self, state: Option<ApprovalState>) -> Result<Vec<ApprovalView>, ServiceError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.ask(ListApprovals { state, after, limit: None })?;
            all.extend(page.approvals);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Gives events one by one, each as its canonical line.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be read, or whoever takes them fails.
    pub fn events<E: From<ServiceError>>(
        &self,
        tail: &Tail,
        take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Here(node, _) => node.tail(tail, take),
            Self::There(client) => {
                let query = EventQuery {
                    stream: tail.stream.clone(),
                    after_seq: Some(Place::clamped(tail.after_seq)),
                    follow: Some(tail.follow),
                };
                client.lines(&EVENTS, &query.write(), take)
            }
        }
    }

    /// Gives the whole log, with everything that its decisions were made from, line by line.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be read, or the line cannot be put.
    pub fn export<E: From<ServiceError>>(
        &self,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Here(node, _) => node.export(&mut |line| put(line.as_bytes())),
            Self::There(client) => client.lines(&EXPORT, &Json::object::<&str>([]), put),
        }
    }
}

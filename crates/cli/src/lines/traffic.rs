//! Lines on their way between a client and a server: what has come, what is to be told, and who is listened to next.
//!
//! Why this cannot come to a standstill. Looking at a line only puts something into a queue, which is never waited for: a
//! side is not listened to while there is no room for what its lines may lead to. That leaves two waits:
//!
//! 1. The server is listened to while there is room for its lines before the client. This waits for the client to read, and
//!    for nobody else.
//! 2. The client is listened to while there is room for its lines before the server, and for answers to itself. This waits
//!    for the client to read, and for the server to read. A server may read only once its own words are taken: that is the
//!    first wait.
//!
//! Both end with a client that reads what it is sent, so they are no circle. What would close one is an answer to the server,
//! which is due because the server has spoken. It is not waited for: it has room of its own, and a server that leaves so many
//! answers unread is given up.

use std::collections::VecDeque;

/// LIMIT: how many bytes wait in one queue, and one line more. Then whoever fills it is not listened to until some have gone.
pub(crate) const QUEUE_BYTES_MAX: usize = 16 << 20;

/// What a line weighs besides its bytes, so that short ones have a limit too.
const LINE_BYTES: usize = 64;

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Whoever started this program.
    Client,
    /// The program behind this one.
    Server,
}

/// What has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// A line of the client, without its end.
    FromClient(Vec<u8>),
    /// A line of the server, without its end.
    FromServer(Vec<u8>),
    /// The client says nothing more.
    ClientEnd,
    /// The server says nothing more.
    ServerEnd,
    /// The server asks and asks, and does not read the answers.
    ServerUnheard,
}

/// Why a side is told a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The other side said something.
    Passed,
    /// It said something itself.
    Answered,
}

/// Everything that is on its way.
#[derive(Debug)]
pub(crate) struct Traffic {
    client: Party,
    server: Party,
    /// Who was listened to last: the other one comes first now.
    last: Side,
}

/// One side's part of it.
#[derive(Debug, Default)]
struct Party {
    said: VecDeque<Vec<u8>>,
    said_bytes: usize,
    end: End,
    told: VecDeque<(Told, Vec<u8>)>,
    passed_bytes: usize,
    answered_bytes: usize,
    hears: Hears,
}

/// Whether a side says more.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It may.
    #[default]
    Open,
    /// It does not, and that is news.
    News,
    /// It does not.
    Known,
}

/// Whether a side is told more.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Hears {
    /// It is.
    #[default]
    More,
    /// Only what waits.
    Rest,
    /// It has gone: nothing.
    Nothing,
}

impl Traffic {
    /// Nothing yet.
    pub(crate) fn new() -> Self {
        Self { client: Party::default(), server: Party::default(), last: Side::Client }
    }

    /// Whether a side may say another line.
    pub(crate) fn has_room(&self, from: Side) -> bool {
        self.party(from).said_bytes < QUEUE_BYTES_MAX
    }

    /// A side has said this.
    pub(crate) fn hear(&mut self, from: Side, line: Vec<u8>) {
        let party = self.party_mut(from);
        party.said_bytes = party.said_bytes.saturating_add(weight(&line));
        party.said.push_back(line);
    }

    /// A side says nothing more.
    pub(crate) fn end(&mut self, from: Side) {
        self.party_mut(from).end = End::News;
    }

    /// What is looked at next, if there is anything whose consequences have room. The two sides take turns.
    pub(crate) fn next(&mut self) -> Option<Came> {
        if self.server.answered_bytes >= QUEUE_BYTES_MAX {
            return Some(Came::ServerUnheard);
        }
        match self.last {
            Side::Client => self.next_of_server().or_else(|| self.next_of_client()),
            Side::Server => self.next_of_client().or_else(|| self.next_of_server()),
        }
    }

    /// Puts a line where a side will be told it; one that has gone is told nothing.
    pub(crate) fn tell(&mut self, to: Side, told: Told, line: Vec<u8>) {
        let party = self.party_mut(to);
        if party.hears == Hears::More {
            let bytes = party.waiting_mut(told);
            *bytes = bytes.saturating_add(weight(&line));
            party.told.push_back((told, line));
        }
    }

    /// A side is told what waits, and nothing more.
    pub(crate) fn close(&mut self, to: Side) {
        let party = self.party_mut(to);
        if party.hears == Hears::More {
            party.hears = Hears::Rest;
        }
    }

    /// A side does not read any more.
    pub(crate) fn deafen(&mut self, to: Side) {
        let party = self.party_mut(to);
        party.hears = Hears::Nothing;
        party.told.clear();
        (party.passed_bytes, party.answered_bytes) = (0, 0);
    }

    /// The next line that a side is told, as `Some(Some(line))`; `Some(None)` if there will be none.
    #[expect(clippy::option_option, reason = "nothing yet and nothing ever are two things to whoever waits")]
    pub(crate) fn next_told(&mut self, to: Side) -> Option<Option<Vec<u8>>> {
        let party = self.party_mut(to);
        match (party.told.pop_front(), party.hears) {
            (Some((told, line)), _) => {
                let bytes = party.waiting_mut(told);
                *bytes = bytes.saturating_sub(weight(&line));
                Some(Some(line))
            }
            (None, Hears::More) => None,
            (None, Hears::Rest | Hears::Nothing) => Some(None),
        }
    }

    fn next_of_client(&mut self) -> Option<Came> {
        let has_room =
            self.server.passed_bytes < QUEUE_BYTES_MAX && self.client.answered_bytes < QUEUE_BYTES_MAX;
        let line = if has_room { self.client.take() } else { None };
        if line.is_some() {
            self.last = Side::Client;
        }
        line.map(Came::FromClient).or_else(|| self.client.take_end().then_some(Came::ClientEnd))
    }

    fn next_of_server(&mut self) -> Option<Came> {
        let has_room = self.client.passed_bytes < QUEUE_BYTES_MAX;
        let line = if has_room { self.server.take() } else { None };
        if line.is_some() {
            self.last = Side::Server;
        }
        line.map(Came::FromServer).or_else(|| self.server.take_end().then_some(Came::ServerEnd))
    }

    const fn party(&self, side: Side) -> &Party {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    const fn party_mut(&mut self, side: Side) -> &mut Party {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}

impl Party {
    fn take(&mut self) -> Option<Vec<u8>> {
        let line = self.said.pop_front()?;
        self.said_bytes = self.said_bytes.saturating_sub(weight(&line));
        Some(line)
    }

    /// Whether its end is news, once everything that it said has been looked at.
    fn take_end(&mut self) -> bool {
        let is_news = self.end == End::News && self.said.is_empty();
        if is_news {
            self.end = End::Known;
        }
        is_news
    }

    const fn waiting_mut(&mut self, told: Told) -> &mut usize {
        match told {
            Told::Passed => &mut self.passed_bytes,
            Told::Answered => &mut self.answered_bytes,
        }
    }
}

const fn weight(line: &[u8]) -> usize {
    line.len().saturating_add(LINE_BYTES)
}

#[cfg(test)]
mod tests;

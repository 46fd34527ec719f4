//! Standing between a client and a server, line by line: what passes, what is answered here, what goes no further.

use countersign_canon::Issue;

use crate::{
    effects::relay::Relay,
    failure::codes,
    lines::{
        gist::Gist,
        traffic::{Came, QUEUE_BYTES_MAX, Side, Told},
    },
};

/// What becomes of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// It goes on as it is.
    On,
    /// This goes on instead.
    Instead(String),
    /// It goes no further; this goes back, if anything does.
    Back(Option<String>),
}

/// Somebody who stands between a client and a server.
pub(crate) trait Between {
    /// A line of the client.
    fn client_says(&mut self, line: &[u8]) -> Passed;

    /// A line of the server.
    fn server_says(&mut self, line: &[u8]) -> Passed;

    /// A line of the client that cannot be passed on; nobody may wait for ever for what it was.
    fn client_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed;

    /// A line of the server that cannot be passed on; nobody may wait for ever for what it was.
    fn server_refused(&mut self, gist: &Gist, issue: &Issue) -> Passed;
}

/// Stands between the two until the server has ended.
///
/// # Errors
///
/// Fails if the server asks on and on without reading the answers.
pub(crate) fn stand(relay: &Relay, between: &mut impl Between) -> Result<(), Issue> {
    loop {
        match relay.next() {
            Came::FromClient(line) => {
                let passed = between.client_says(&line);
                pass(relay, Side::Client, line, passed);
            }
            Came::FromServer(line) => {
                let passed = between.server_says(&line);
                pass(relay, Side::Server, line, passed);
            }
            Came::ClientEnd => relay.close_server(),
            Came::ServerEnd => return Ok(()),
            Came::ServerUnheard => return Err(unheard()),
        }
    }
}

/// Does with a line of one side what was said of it.
fn pass(relay: &Relay, from: Side, line: Vec<u8>, passed: Passed) {
    let other = match from {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    };
    match passed {
        Passed::On => relay.tell(other, Told::Passed, line),
        Passed::Instead(line) => relay.tell(other, Told::Passed, line.into_bytes()),
        Passed::Back(Some(answer)) => relay.tell(from, Told::Answered, answer.into_bytes()),
        Passed::Back(None) => (),
    }
}

/// A no to what was asked for, in the words of an issue.
pub(crate) fn in_words(what: &str, issue: &Issue) -> String {
    let place = issue.offset.map(|offset| format!(", at byte {offset}")).unwrap_or_default();
    let expected = issue.expected.as_ref().map(|it| format!("  expected: {it}\n")).unwrap_or_default();
    let hint = issue.hint.as_ref().map(|hint| format!("  hint: {hint}\n")).unwrap_or_default();
    let code = issue.code;
    format!(
        "countersign denied this {what}: {code}\n  why: {issue}{place}, and doubt is a no\n{expected}{hint}"
    )
}

fn unheard() -> Issue {
    Issue::new(codes::CLI_START_FAILED, "the server asks on and on, and does not read the answers")
        .with_expected(format!("at most {QUEUE_BYTES_MAX} bytes of answers that wait for it"))
        .with_hint("start the server again, or ask those who make it")
}

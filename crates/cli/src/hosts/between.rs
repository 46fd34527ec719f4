//! Standing between a client and a server, line by line: what passes, what is answered here, what goes no further.

use crate::effects::relay::{Came, Relay};

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
}

/// Stands between the two until the server has ended.
pub(crate) fn stand(relay: &mut Relay, between: &mut impl Between) {
    loop {
        match relay.next() {
            Came::FromClient(line) => match between.client_says(&line) {
                Passed::On => relay.tell_server(&line),
                Passed::Instead(line) => relay.tell_server(line.as_bytes()),
                Passed::Back(Some(answer)) => relay.tell_client(answer.as_bytes()),
                Passed::Back(None) => (),
            },
            Came::FromServer(line) => match between.server_says(&line) {
                Passed::On => relay.tell_client(&line),
                Passed::Instead(line) => relay.tell_client(line.as_bytes()),
                Passed::Back(Some(answer)) => relay.tell_server(answer.as_bytes()),
                Passed::Back(None) => (),
            },
            Came::ClientEnd => relay.close_server(),
            Came::ServerEnd => return,
        }
    }
}

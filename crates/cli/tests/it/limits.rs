//! Clients that are slow, huge or too many, and a service that is told to stop.
#![expect(clippy::disallowed_methods, reason = "Effect: process, network, for clients that misbehave")]

use std::{io::Write as _, net::TcpStream, process::Command};

use serde_json::json;

use crate::{
    http::{Town, code},
    postgresql::pause_ms,
    server::Waiting,
};

/// Clients that connect and do not get on: some say nothing, some half a head, some promise a body that does not come.
fn slow_clients(town: &Town, count: usize) -> Vec<TcpStream> {
    let head = format!("POST /v1/decisions HTTP/1.1\r\nHost: {}\r\n", town.service.address);
    let body = format!(
        "{head}Authorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{",
        town.agent
    );
    let connect = |index: usize| {
        let mut stream = TcpStream::connect(&town.service.address).unwrap();
        let said = match index % 3 {
            0 => "",
            1 => head.as_str(),
            _ => body.as_str(),
        };
        stream.write_all(said.as_bytes()).unwrap();
        stream
    };
    (0..count).map(connect).collect()
}

/// A request to read that lacks its last byte.
fn begun(town: &Town) -> Waiting {
    town.service.begin_to_decide(&town.agent, &town.session, "fs.read", &json!({}))
}

#[test]
fn slow_and_huge_clients_do_not_keep_others_out() {
    let town = Town::new();
    let slow = slow_clients(&town, 200);
    let head = format!("POST /v1/decisions HTTP/1.1\r\nHost: {}\r\n", town.service.address);
    let huge = format!("{head}Authorization: Bearer {}\r\nContent-Length: 99999999999\r\n\r\n", town.agent);
    assert!(town.service.raw(huge.as_bytes()).starts_with("HTTP/1.1 413"));
    let long = format!(
        "GET /healthz HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n",
        town.service.address,
        "a".repeat(64 << 10)
    );
    assert!(!town.service.raw(long.as_bytes()).starts_with("HTTP/1.1 200"));
    for _ in 0..20 {
        assert_eq!(town.decide("fs.read", json!({})).code(), code(200, "READ_ALLOWED"));
    }
    let never_finished = begun(&town);
    drop(slow);
    // More than there is room for: who does not get on is put out, so that whoever waits gets in.
    let too_many = slow_clients(&town, 1500);
    assert_eq!(town.decide("fs.read", json!({})).code(), code(200, "READ_ALLOWED"));
    assert_eq!(never_finished.reply().code(), code(408, "HTTP_TOO_SLOW"));
    drop(too_many);
}

#[test]
fn what_is_under_way_is_answered_before_the_service_stops() {
    let town = Town::new();
    let mut under_way: Vec<Waiting> = (0..20).map(|_| begun(&town)).collect();
    // A request of its own is answered only after those before it were let in.
    assert_eq!(town.decide("fs.read", json!({})).status, 200);
    let process = town.service.id().to_string();
    assert!(Command::new("kill").arg(&process).status().unwrap().success());
    while TcpStream::connect(&town.service.address).is_ok() {
        pause_ms(10);
    }
    under_way.iter_mut().for_each(Waiting::finish);
    let replies: Vec<_> = under_way.into_iter().map(|waiting| waiting.reply().code()).collect();
    assert_eq!(
        replies,
        vec![code(200, "READ_ALLOWED"); 20],
        "nobody new is let in, nobody is left without an answer"
    );
    assert_eq!(town.service.stop(), Some(0));
}

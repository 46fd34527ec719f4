//! Order, turns and limits of the traffic between two sides.

use super::*;

/// Lines of this length: one fits less than the limit, two do not.
const HALF: usize = QUEUE_BYTES_MAX / 2;

fn line(byte: u8) -> Vec<u8> {
    vec![byte; HALF]
}

fn from(traffic: &mut Traffic) -> Option<(Side, u8)> {
    match traffic.next()? {
        Came::FromClient(line) => Some((Side::Client, line[0])),
        Came::FromServer(line) => Some((Side::Server, line[0])),
        Came::ClientEnd | Came::ServerEnd | Came::ServerUnheard => None,
    }
}

#[test]
fn the_two_sides_take_turns_and_each_keeps_its_order() {
    let mut traffic = Traffic::new();
    for byte in 1..4 {
        traffic.hear(Side::Client, vec![byte]);
        traffic.hear(Side::Server, vec![byte]);
    }
    let seen: Vec<(Side, u8)> = std::iter::from_fn(|| from(&mut traffic)).collect();
    let (client, server) = (Side::Client, Side::Server);
    assert_eq!(seen, [(server, 1), (client, 1), (server, 2), (client, 2), (server, 3), (client, 3)]);
}

#[test]
fn a_server_that_does_not_read_is_listened_to_all_the_same() {
    let mut traffic = Traffic::new();
    traffic.tell(Side::Server, Told::Passed, line(1));
    traffic.hear(Side::Client, vec![2]);
    assert_eq!(from(&mut traffic), Some((Side::Client, 2)), "below the limit");
    traffic.tell(Side::Server, Told::Passed, line(3));
    traffic.hear(Side::Client, vec![4]);
    assert_eq!(traffic.next(), None, "the server has enough to read");
    for byte in 5..7 {
        traffic.hear(Side::Server, vec![byte]);
        assert_eq!(from(&mut traffic), Some((Side::Server, byte)));
    }
    assert_eq!(traffic.next_told(Side::Server).unwrap().unwrap()[0], 1);
    assert_eq!(from(&mut traffic), Some((Side::Client, 4)), "there is room again");
}

#[test]
fn a_client_that_does_not_read_holds_up_the_server_but_not_what_it_says_itself() {
    let mut traffic = Traffic::new();
    traffic.tell(Side::Client, Told::Passed, line(1));
    traffic.tell(Side::Client, Told::Passed, line(2));
    traffic.hear(Side::Server, vec![3]);
    traffic.hear(Side::Client, vec![4]);
    assert_eq!(from(&mut traffic), Some((Side::Client, 4)));
    assert_eq!(traffic.next(), None);
    traffic.tell(Side::Client, Told::Answered, line(5));
    traffic.tell(Side::Client, Told::Answered, line(6));
    traffic.hear(Side::Client, vec![7]);
    assert_eq!(traffic.next(), None, "answers have their own limit");
    assert_eq!(traffic.next_told(Side::Client).unwrap().unwrap()[0], 1);
    assert_eq!(from(&mut traffic), Some((Side::Server, 3)));
    assert_eq!(traffic.next(), None);
}

#[test]
fn a_server_that_reads_no_answers_is_given_up_at_the_limit() {
    let mut traffic = Traffic::new();
    traffic.tell(Side::Server, Told::Answered, line(1));
    assert_eq!(traffic.next(), None, "below the limit");
    traffic.tell(Side::Server, Told::Answered, line(2));
    assert_eq!(traffic.next(), Some(Came::ServerUnheard));
    traffic.deafen(Side::Server);
    assert_eq!(traffic.next(), None, "one that has gone is found out by its end");
}

#[test]
fn a_reader_has_room_below_the_limit() {
    let mut traffic = Traffic::new();
    traffic.hear(Side::Client, line(1));
    assert!(traffic.has_room(Side::Client));
    traffic.hear(Side::Client, line(2));
    assert!(!traffic.has_room(Side::Client) && traffic.has_room(Side::Server));
    // Short lines weigh something too.
    let mut traffic = Traffic::new();
    for _ in 0..QUEUE_BYTES_MAX / LINE_BYTES {
        traffic.hear(Side::Server, Vec::new());
    }
    assert!(!traffic.has_room(Side::Server));
}

#[test]
fn an_end_comes_once_and_after_everything_that_was_said() {
    let mut traffic = Traffic::new();
    traffic.hear(Side::Client, vec![1]);
    traffic.end(Side::Client);
    assert_eq!(from(&mut traffic), Some((Side::Client, 1)));
    assert_eq!(traffic.next(), Some(Came::ClientEnd));
    assert_eq!(traffic.next(), None);
    traffic.hear(Side::Server, vec![2]);
    traffic.end(Side::Server);
    assert_eq!(from(&mut traffic), Some((Side::Server, 2)));
    assert_eq!(traffic.next(), Some(Came::ServerEnd));
}

#[test]
fn what_waits_is_told_after_the_end_and_nothing_else() {
    let mut traffic = Traffic::new();
    assert_eq!(traffic.next_told(Side::Server), None);
    traffic.tell(Side::Server, Told::Passed, vec![1]);
    traffic.close(Side::Server);
    traffic.tell(Side::Server, Told::Answered, vec![2]);
    assert_eq!(traffic.next_told(Side::Server), Some(Some(vec![1])));
    assert_eq!(traffic.next_told(Side::Server), Some(None));
    traffic.tell(Side::Client, Told::Passed, vec![3]);
    traffic.deafen(Side::Client);
    assert_eq!(traffic.next_told(Side::Client), Some(None));
}

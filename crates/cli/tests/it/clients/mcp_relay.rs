//! `countersign mcp proxy` before small servers that are hard to stand before: how lines flow, and which do not.

use serde_json::json;

use super::desk::Desk;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.countersign(&["init"]);
    desk
}

/// What comes back from a proxy before this server, a line of a shell, for these lines; it must end by itself.
fn said(desk: &Desk, server: &str, lines: &[String]) -> Vec<String> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["mcp", "proxy", "--", "bash", "-c", server];
    let ran = desk.pour(&arguments, input.into_bytes());
    assert_eq!(ran.exit, Some(0), "{} lines came back, {}", ran.stdout().lines().count(), ran.stderr());
    ran.stdout().lines().map(str::to_owned).collect()
}

fn pings(count: usize, bytes: usize) -> Vec<String> {
    let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"x": "y".repeat(bytes)}});
    (0..count).map(|id| ping(id).to_string()).collect()
}

#[test]
fn lines_that_come_all_at_once_pass_in_order() {
    let desk = desk();
    for (count, bytes) in [(1000, 1000), (400, 5000), (300, 20_000)] {
        let lines = pings(count, bytes);
        assert!(said(&desk, "exec cat", &lines) == lines, "{count} lines of {bytes} bytes");
    }
}

/// The server's words are read while it reads none of the client's, and what it says after the client's end is read too.
#[test]
fn a_server_may_say_much_before_it_reads_and_after_the_end() {
    let desk = desk();
    let lines = pings(1000, 1000);
    let much = "yes 'a note of the server' | head -n 200000";
    let came = said(&desk, &format!("{much}; cat; {much}; echo last"), &lines);
    assert_eq!(came.len(), 401_001);
    assert!(came[200_000..201_000] == lines[..] && came[401_000] == "last");
}

#[test]
fn calls_that_come_all_at_once_are_decided_in_order() {
    let desk = desk();
    let call = |id: usize| {
        let method = if id.is_multiple_of(2) { "tools/call" } else { "ping" };
        let arguments = json!({"x": "y".repeat(5000)});
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "x", "arguments": arguments}})
            .to_string()
    };
    let lines: Vec<String> = (0..100).map(call).collect();
    assert!(said(&desk, "exec cat", &lines) == lines);
    let events = desk.countersign(&["events", "tail"]);
    assert_eq!(events.stdout().matches("\"action_kind\":\"mcp.call\"").count(), 50);
}

#[test]
fn a_server_that_dies_or_does_not_read_ends_the_proxy() {
    let desk = desk();
    let lines = pings(300, 20_000);
    assert_eq!(said(&desk, "echo gone", &lines), ["gone"]);
    assert_eq!(said(&desk, "exec 0<&-; sleep 1; echo gone", &lines), ["gone"]);
}

//! What the service says about itself: figures, lines of a log, traces.
#![expect(clippy::disallowed_methods, reason = "Effect: network, to be a collector")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    http::Town,
    server::Service,
    support::{Sandbox, run_in_shell},
};

#[test]
fn figures_count_what_was_asked_decided_and_waits() {
    let town = Town::new();
    let figure = |name: &str| {
        let text = town.service.get(&town.auditor, "/metrics").body;
        let line =
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
        line.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse::<f64>().unwrap()
    };
    town.decide("fs.read", json!({}));
    let names = [
        r#"countersign_decisions_total{route="/v1/decisions",code="READ_ALLOWED"}"#,
        r#"countersign_requests_total{route="/v1/decisions",method="POST",status="200"}"#,
        r#"countersign_request_seconds_count{route="/v1/decisions"}"#,
        "countersign_log_events",
    ];
    let before = names.map(figure);
    assert_eq!(figure("countersign_approvals_pending"), 0.0);
    for _ in 0..3 {
        town.decide("fs.read", json!({}));
    }
    let after = names.map(figure);
    let grown: Vec<f64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    // Each reading that begins leaves its question, its answer and its beginning.
    assert_eq!(grown, [3.0, 3.0, 3.0, 9.0]);
    town.request();
    assert_eq!(figure("countersign_approvals_pending"), 1.0);
    assert_eq!(figure("countersign_store_up"), 1.0);
    let all = r#"countersign_request_seconds_bucket{route="/v1/decisions",le="+Inf"}"#;
    assert_eq!(figure(all), figure(names[2]), "every request is in some bucket");
    let text = town.service.get(&town.auditor, "/metrics");
    assert!(
        text.head.to_ascii_lowercase().contains("content-type: text/plain; version=0.0.4"),
        "{}",
        text.head
    );
    for secret in [&town.agent, &town.admin, &town.session] {
        assert!(!text.body.contains(secret.as_str()), "figures name nobody");
    }
}

/// Serves with these options, asks with and without a token, and gives back the lines of the log.
fn log_of(options: &str) -> Vec<Value> {
    let sandbox = Sandbox::new();
    let script = format!(
        r#"countersign serve --listen 127.0.0.1:0 {options} >at 2>log & until [ -s at ]; do sleep 0.05; done
        U=$(sed 's/.*"listening":"\([^"]*\)".*/\1/' at); T=$(countersign token create --role auditor --name eve)
        P=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
        curl -s -o /dev/null -H "Authorization: Bearer $T" -H "traceparent: $P" $U/v1/sessions
        curl -s -o /dev/null -H "Authorization: Bearer cs_guessed" $U/v1/keys?secret=in_the_address
        kill %1; wait; echo "$T"; cat log"#
    );
    let said = run_in_shell(sandbox.path(), &script);
    let (token, lines) = said.split_once('\n').unwrap();
    assert!(token.starts_with("cs_"), "{said}");
    for secret in [token, "cs_guessed", "in_the_address"] {
        assert!(!lines.contains(secret), "the log holds a secret: {lines}");
    }
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

#[test]
fn requests_leave_lines_of_json_without_secrets() {
    let told = |line: &Value| {
        assert!(line["ts"].is_string() && line["duration_us"].is_u64(), "{line}");
        ["method", "route", "status", "level", "principal", "code", "trace_id"].map(|key| line[key].clone())
    };
    let nothing = Value::Null;
    let listed = [
        json!("GET"),
        json!("/v1/sessions"),
        json!(200),
        json!("info"),
        json!("eve"),
        nothing.clone(),
        json!("4bf92f3577b34da6a3ce929d0e0e4736"),
    ];
    let refused = [
        json!("GET"),
        json!("/v1/keys"),
        json!(401),
        json!("info"),
        nothing.clone(),
        json!("URM_UNAUTHENTICATED"),
        nothing,
    ];
    let lines = |options: &str| log_of(options).iter().map(told).collect::<Vec<_>>();
    assert_eq!(lines("--log requests"), [listed, refused.clone()]);
    assert_eq!(lines(""), [refused], "failures, unless something else is said");
    assert_eq!(log_of("--log off"), Vec::<Value>::new());
}

/// Takes one request as a collector would, and thanks for it.
fn collect(collector: &TcpListener) -> String {
    let (mut stream, _) = collector.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut sent = String::new();
    let mut buffer = [0; 4096];
    while !sent.contains("resourceSpans") || !sent.ends_with('}') {
        let read = stream.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "{sent}");
        sent.push_str(str::from_utf8(&buffer[..read]).unwrap());
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    sent
}

#[test]
fn requests_are_traced_if_a_collector_is_named() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/tenant", collector.local_addr().unwrap());
    let service = Service::start_with(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=a%20b"),
        ("OTEL_SERVICE_NAME", "shop"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
    ]);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    assert_eq!(service.send("GET", "/v1/sessions", &[("traceparent", &parent)], "").status, 401);
    let sent = collect(&collector);
    assert!(sent.starts_with("POST /tenant/v1/traces HTTP/1.1\r\n"), "{sent}");
    for part in [
        trace,
        "00f067aa0ba902b7",
        "GET /v1/sessions",
        "\"shop\"",
        "\"401\"",
        "x-tenant: a b\r\n",
        "deployment.environment",
    ] {
        assert!(sent.contains(part), "{part} is not in {sent}");
    }
}

//! The whole protocol over HTTP, and everybody who is not let in.
#![expect(clippy::disallowed_methods, reason = "Effect: network, for clients that misbehave")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::{io::Write as _, net::TcpStream, time::Duration};

use countersign_canon::{Text, Timestamp};
use countersign_ledger::{Approval, Grant, GrantTtl, KeyName, Principal, SecretKey};
use serde_json::{Value, json};

use crate::{
    server::{Reply, Service},
    support::Sandbox,
};

/// A service with tokens for an agent, two people, an auditor and an admin, ann's and bob's keys, and a session of the agent
/// that may write.
pub(crate) struct Town {
    pub(crate) service: Service,
    pub(crate) agent: String,
    pub(crate) ann: String,
    bob: String,
    pub(crate) auditor: String,
    pub(crate) admin: String,
    pub(crate) session: String,
}

pub(crate) fn key(name: &str) -> SecretKey {
    let mut seed = [7; 32];
    seed[..name.len()].copy_from_slice(name.as_bytes());
    SecretKey::from_seed(KeyName::parse(name).unwrap(), &seed)
}

impl Town {
    pub(crate) fn new() -> Self {
        Self::at(Service::start(), &[])
    }

    pub(crate) fn at(service: Service, database: &[&str]) -> Self {
        let token = |role: &str, name: &str| service.token(role, name, database);
        let (agent, ann, bob) =
            (token("agent", "codex-1"), token("approver", "ann"), token("approver", "bob"));
        let (auditor, admin) = (token("auditor", "eve"), token("admin", "root"));
        for name in ["ann", "bob"] {
            let added = service.post(&admin, "/v1/keys", &json!({"key": key(name).public().to_string()}));
            assert_eq!(added.status, 200, "{added:?}");
        }
        let started = service.post(&agent, "/v1/sessions", &json!({"role": "copilot", "client": "test"}));
        assert_eq!((started.status, started.text("/mode").as_str()), (201, "read_only"));
        let session = started.text("/session_id");
        let town = Self { service, agent, ann, bob, auditor, admin, session };
        // Writing is an action like any other: asked for, approved, done.
        let mode = json!({"action_payload": {"mode": "writes_allowed"}});
        let asked = town.service.decide(&town.agent, &town.session, "session.set_mode", mode.clone());
        assert_eq!(asked.code(), (200, "URM_APPROVAL_REQUIRED".to_owned()), "{asked:?}");
        let id = asked.text("/pending_approval/approval_id");
        assert_eq!(town.grant("ann", &id).status, 200);
        let with = json!({"action_payload": mode["action_payload"], "approval_id": id});
        assert_eq!(town.service.decide(&town.agent, &town.session, "session.set_mode", with).status, 200);
        town
    }

    pub(crate) fn decide(&self, kind: &str, more: Value) -> Reply {
        self.service.decide(&self.agent, &self.session, kind, more)
    }

    /// Asks to deploy and is told which approval is missing.
    pub(crate) fn request(&self) -> String {
        let asked = self.decide("deploy", json!({}));
        assert_eq!(asked.code(), (200, "URM_APPROVAL_REQUIRED".to_owned()), "{asked:?}");
        assert!(asked.text("/pending_approval/command").starts_with("countersign approve apr_"));
        asked.text("/pending_approval/approval_id")
    }

    fn token_of(&self, name: &str) -> &str {
        if name == "ann" { &self.ann } else { &self.bob }
    }

    /// What this person would send to say yes.
    fn signed(&self, name: &str, id: &str) -> Value {
        let view = self.service.get(self.token_of(name), &format!("/v1/approvals/{id}"));
        let approval = serde_json::to_vec(&view.json()["approval"]).unwrap();
        const FAMILY: countersign_canon::Code = countersign_canon::Code::new("TEST");
        let approval: Approval = countersign_canon::Reader::read_document(&approval, FAMILY).unwrap();
        let now = countersign_service::now().unwrap();
        let time = (now, GrantTtl::new(120).unwrap());
        let approver = Principal::parse(name).unwrap();
        let signed =
            countersign_service::sign(&approval, &approver, &key(name), time, Text::cut("fine")).unwrap();
        let Grant { key_id, signature, granted_at, ttl_s, .. } = signed;
        json!({
            "key_id": key_id.to_string(), "signature": signature.to_string(),
            "granted_at": granted_at.to_string(), "ttl_s": ttl_s.get(), "reason": "fine"
        })
    }

    pub(crate) fn grant(&self, name: &str, id: &str) -> Reply {
        let grant = self.signed(name, id);
        self.service.post(self.token_of(name), &format!("/v1/approvals/{id}/grant"), &grant)
    }
}

pub(crate) fn code(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[test]
fn the_whole_protocol_over_http() {
    let town = Town::new();
    assert_eq!(town.decide("fs.read", json!({})).code(), code(200, "READ_ALLOWED"));
    assert_eq!(town.decide("shell.destructive", json!({})).code(), code(200, "DESTRUCTIVE_SHELL_DENIED"));
    let id = town.request();
    assert_eq!(town.request(), id, "the same request is found again");
    let pending = town.service.get(&town.ann, "/v1/approvals?state=pending");
    assert_eq!(pending.text("/approvals/0/action/action_payload/image"), "shop:1.4.2");
    assert_eq!(town.grant("ann", &id).text("/state"), "granted");
    let name = json!({"approval_id": id, "client_request_id": "one"});
    let begun = town.decide("deploy", name.clone());
    assert_eq!(begun.code(), code(200, "APPROVED_WRITE_ALLOWED"));
    let permit = begun.text("/permit/permit_id");
    // A lost answer is found again by its name; the name is no good for another request.
    let again = town.decide("deploy", name);
    assert_eq!(
        (again.text("/permit/permit_id"), &again.json()["idempotent_replay"]),
        (permit.clone(), &json!(true))
    );
    let other = json!({"approval_id": id, "client_request_id": "one", "action_payload": {}});
    assert_eq!(town.decide("deploy", other).code(), code(409, "URM_IDEMPOTENCY_KEY_CONFLICT"));
    let outcome = format!("/v1/executions/{permit}/outcome");
    let done = town.service.post(&town.agent, &outcome, &json!({"status": "succeeded"}));
    assert_eq!(done.text("/state"), "succeeded");
    assert_eq!(town.service.post(&town.agent, &outcome, &json!({"status": "failed"})).status, 409);
    assert_eq!(town.decide("deploy", json!({"approval_id": id})).code(), code(200, "URM_APPROVAL_CONSUMED"));

    let decision = begun.text("/decision_id");
    let replayed = town.service.get(&town.auditor, &format!("/v1/decisions/{decision}/replay"));
    assert_eq!(replayed.json()["same"], json!(true));
    let proof = town.service.get(&town.auditor, "/v1/log/proof?event=3");
    assert_eq!(proof.json()["log_index"], json!(3));
    let story = town.service.get(&town.auditor, &format!("/v1/trace/{permit}"));
    assert!(story.body.contains("EXECUTION_FINISHED") && story.body.contains("APPROVAL_REQUESTED"));
    // Another machine: another folder, no store, nothing but the bundle and a checkpoint that the agent kept.
    let bundle = town.service.get(&town.auditor, "/v1/log/export");
    let elsewhere = Sandbox::new();
    elsewhere.write("audit.bundle", bundle.body);
    elsewhere.write("kept.checkpoint", begun.text("/checkpoint"));
    let verified = elsewhere.run(&["verify", "audit.bundle", "--outside", "kept.checkpoint"]);
    assert!(verified.stdout().starts_with("L3: "), "{}", verified.screen());
    assert!(verified.stdout().contains("8 decisions made again"), "{}", verified.screen());
    assert!(elsewhere.read(".countersign/state.db").is_none(), "no store was made");
    assert_eq!(town.service.stop(), Some(0));
}

#[test]
fn the_commands_say_the_same_over_http_as_on_the_store() {
    let town = Town::new();
    let sandbox = &town.service.sandbox;
    let url = town.service.url();
    sandbox.write("token", format!("{}\n", town.admin)).write("ann.token", &town.ann);
    sandbox.write("ann.key", format!("{}\n", key("ann").to_secret_text())).write("deploy.json", "{}");
    let there = ["--url", url.as_str(), "--token-file", "token"];
    let both = |arguments: &[&str]| {
        let (here, over) = (sandbox.run(arguments), sandbox.run(&[arguments, &there].concat()));
        assert_eq!(here.screen(), over.screen(), "{arguments:?}");
        over
    };
    for command in [
        &["session", "list"][..],
        &["keys", "list"],
        &["token", "list", "--format", "json"],
        &["policy", "history"],
        &["events", "tail"],
        &["events", "tail", "--after-seq", "4"],
        &["log", "checkpoint"],
        &["log", "prove", "--event", "2"],
        &["log", "consistency", "2", "5"],
        &["log", "export"],
        &["pending"],
        &["pending", "--all", "--format", "json"],
    ] {
        assert_eq!(both(command).exit, Some(0), "{command:?}");
    }
    let started = sandbox
        .run(&[&["session", "start", "--role", "copilot", "--mode", "writes_allowed"], &there[..]].concat());
    let session = started.stdout().trim_end();
    let decide =
        ["decide", "--session", session, "--kind", "deploy", "--payload", "deploy.json", "--proceed"];
    let asked = sandbox.run(&[&decide[..], &there].concat());
    assert_eq!(asked.exit, Some(4), "{}", asked.screen());
    let id = asked.stdout().split_whitespace().find(|word| word.starts_with("apr_")).unwrap().to_owned();
    let approve = ["approve", &id, "--key", "ann.key", "--url", &url, "--token-file", "ann.token"];
    let granted = sandbox.run(&approve);
    assert!(granted.stdout().contains("granted until"), "{}", granted.screen());
    let begun = sandbox.run(&[&decide[..], &["--approval", &id], &there].concat());
    assert_eq!(begun.exit, Some(0), "{}", begun.screen());
    let permit = begun.stdout().split_whitespace().find(|word| word.starts_with("per_")).unwrap().to_owned();
    assert_eq!(sandbox.run(&[&["outcome", &permit, "succeeded"], &there[..]].concat()).exit, Some(0));
    both(&["trace", &permit]);
    // Whoever can open the socket is an agent, and no more.
    let socket = ["--url", "unix:.countersign/service.sock"];
    assert_eq!(
        sandbox.run(&[&["session", "start", "--role", "copilot"], &socket[..]].concat()).exit,
        Some(0)
    );
    let refused = sandbox.run(&[&["keys", "list"], &socket[..]].concat());
    assert!(refused.stderr().contains("URM_FORBIDDEN"), "{}", refused.screen());
    let gone = sandbox.run(&["session", "list", "--url", "http://127.0.0.1:1"]);
    assert_eq!(gone.exit, Some(2));
    assert!(gone.stderr().contains("SERVICE_UNREACHABLE"), "{}", gone.screen());
}

/// Every route that changes something, with a body that would be good, and who may.
#[test]
fn every_role_can_do_what_is_its_own_and_nothing_else() {
    let town = Town::new();
    let id = town.request();
    let statement = town.signed("ann", &id);
    let public = key("zoe").public().to_string();
    let hash = "0".repeat(64);
    let posts: [(&str, Value, &[&str]); 11] = [
        ("/v1/sessions", json!({"role": "copilot", "client": "x"}), &["agent", "admin"]),
        ("/v1/sessions", json!({"role": "copilot", "client": "x", "mode": "writes_allowed"}), &["admin"]),
        (&format!("/v1/approvals/{id}/deny"), json!({"reason": "no", "x": 1}), &["ann", "admin"]),
        (&format!("/v1/approvals/{id}/revoke"), json!({}), &["ann", "admin"]),
        ("/v1/keys", json!({"key": public}), &["admin"]),
        ("/v1/keys/00000000/revoke", json!({}), &["admin"]),
        ("/v1/tokens", json!({"name": "mallory", "access": "admin"}), &["admin"]),
        ("/v1/tokens/nobody/revoke", json!({}), &["admin"]),
        ("/v1/policy/activate", json!({"policy_hash": hash}), &["admin"]),
        ("/v1/policy/rollback", json!({"version": 7}), &["admin"]),
        (&format!("/v1/sessions/{}/stop", town.session), json!({"x": 1}), &["agent", "admin"]),
    ];
    let gets: [(&str, &[&str]); 8] = [
        ("/v1/keys", &["auditor", "admin"]),
        ("/v1/tokens", &["admin"]),
        ("/metrics", &["auditor", "admin"]),
        ("/v1/events", &["ann", "auditor", "admin"]),
        ("/v1/log/export", &["ann", "auditor", "admin"]),
        ("/v1/log/proof?event=0", &["ann", "auditor", "admin"]),
        ("/v1/events?stream=urm_policy", &["ann", "auditor", "admin"]),
        ("/v1/trace/x", &["ann", "auditor", "admin"]),
    ];
    let callers =
        [("agent", &town.agent), ("ann", &town.ann), ("auditor", &town.auditor), ("admin", &town.admin)];
    for (name, token) in callers {
        for (path, body, allowed) in &posts {
            let reply = town.service.post(token, path, body);
            assert_eq!(reply.status == 403, !allowed.contains(&name), "{name} POST {path}: {reply:?}");
        }
        for (path, allowed) in &gets {
            let reply = town.service.get(token, path);
            assert_eq!(reply.status == 403, !allowed.contains(&name), "{name} GET {path}: {reply:?}");
        }
        if name != "ann" {
            let grant = town.service.post(token, &format!("/v1/approvals/{id}/grant"), &statement);
            assert_ne!(grant.status, 200, "{name} granted: {grant:?}");
        }
    }
    for path in ["/v1/sessions", "/v1/keys", "/metrics", "/v1/events", "/v1/log/export"] {
        assert_eq!(town.service.send("GET", path, &[], "").status, 401, "{path}");
        assert_eq!(town.service.get("cs_guessed", path).status, 401, "{path}");
    }
    // Sessions of somebody else are not there, and not to act in.
    let stranger = town.service.token("agent", "codex-2", &[]);
    assert_eq!(town.service.get(&stranger, &format!("/v1/sessions/{}", town.session)).status, 404);
    assert_eq!(
        town.service.decide(&stranger, &town.session, "fs.read", json!({})).code(),
        code(403, "URM_FORBIDDEN")
    );
}

#[test]
fn nobody_grants_their_own_request_and_no_signature_counts_for_anything_else() {
    let town = Town::new();
    let id = town.request();
    let grant =
        |body: &Value| town.service.post(&town.ann, &format!("/v1/approvals/{id}/grant"), body).code();
    let good = town.signed("ann", &id);
    let with = |key: &str, value: Value| {
        let mut changed = good.clone();
        changed[key] = value;
        changed
    };
    let invalid = code(400, "URM_APPROVAL_SIGNATURE_INVALID");
    assert_eq!(grant(&with("reason", json!("other"))), invalid, "another reason");
    assert_eq!(grant(&with("ttl_s", json!(86_400))), invalid, "another duration");
    assert_eq!(grant(&with("signature", json!(format!("{}==", "A".repeat(86))))), invalid, "no signature");
    assert_eq!(grant(&town.signed("bob", &id)), invalid, "somebody else's");
    assert_eq!(grant(&with("ttl_s", json!(86_401))).0, 400, "never clamped");
    assert_eq!(grant(&with("granted_at", json!("2020-01-01T00:00:00Z"))), code(400, "URM_APPROVAL_CLOCK"));
    let mut stripped = good.clone();
    stripped.as_object_mut().unwrap().remove("signature");
    assert_eq!(grant(&stripped), code(400, "HTTP_REQUEST_INVALID"));
    let other = town.decide("fs.write_outside", json!({}));
    let other = other.text("/pending_approval/approval_id");
    let replayed = town.service.post(&town.ann, &format!("/v1/approvals/{other}/grant"), &good);
    assert_eq!(replayed.code(), invalid, "a signature for another action");
    assert_eq!(grant(&good).0, 200);
    assert_eq!(grant(&good), code(409, "URM_APPROVAL_STATE_CONFLICT"), "the same answer twice");

    // An admin who asked is told so, also with a good signature.
    let own = town.service.token("admin", "zoe", &[]);
    let added = town.service.post(&own, "/v1/keys", &json!({"key": key("zoe").public().to_string()}));
    assert_eq!(added.status, 200, "{added:?}");
    let mode = json!({"role": "copilot", "client": "x", "mode": "writes_allowed"});
    let session = town.service.post(&own, "/v1/sessions", &mode).text("/session_id");
    let asked = town.service.decide(&own, &session, "deploy", json!({}));
    let id = asked.text("/pending_approval/approval_id");
    let view = town.service.get(&own, &format!("/v1/approvals/{id}")).json()["approval"].to_string();
    const FAMILY: countersign_canon::Code = countersign_canon::Code::new("TEST");
    let approval: Approval = countersign_canon::Reader::read_document(view.as_bytes(), FAMILY).unwrap();
    let (now, ttl_s): (Timestamp, _) = (countersign_service::now().unwrap(), GrantTtl::new(120).unwrap());
    let zoe = Principal::parse("zoe").unwrap();
    let signed =
        countersign_service::sign(&approval, &zoe, &key("zoe"), (now, ttl_s), Text::cut("me")).unwrap();
    let grant = json!({
        "key_id": signed.key_id.to_string(), "signature": signed.signature.to_string(),
        "granted_at": now.to_string(), "ttl_s": 120, "reason": "me"
    });
    let refused = town.service.post(&own, &format!("/v1/approvals/{id}/grant"), &grant);
    assert_eq!(refused.code(), code(403, "URM_APPROVAL_OWN_REQUEST"));
}

#[test]
fn pages_and_names_of_others_are_not_let_in_anywhere() {
    let town = Town::new();
    let bearer = format!("Bearer {}", town.admin);
    for path in ["/healthz", "/readyz", "/openapi.json", "/metrics", "/v1/sessions", "/nowhere"] {
        for host in ["evil.example", "localhost", "127.0.0.1:1", ""] {
            let reply = town.service.send("GET", path, &[("Host", host), ("Authorization", &bearer)], "");
            assert_eq!(reply.code(), code(421, "HTTP_HOST"), "{path} as {host}");
        }
        for (name, value) in
            [("Origin", "http://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")]
        {
            let reply = town.service.send("GET", path, &[(name, value), ("Authorization", &bearer)], "");
            assert_eq!(reply.code(), code(403, "HTTP_ORIGIN"), "{path} from {value}");
        }
        let shut =
            town.service.send("GET", path, &[("Authorization", &bearer)], "").head.to_ascii_lowercase();
        for header in ["cache-control: no-store", "x-content-type-options: nosniff", "frame-ancestors 'none'"]
        {
            assert!(shut.contains(header), "{path} lacks {header}");
        }
        assert!(!shut.contains("access-control-allow"), "{path} lets pages of others in");
    }
    // A form of another page can post, but not as JSON.
    let form = [("Content-Type", "text/plain"), ("Authorization", bearer.as_str())];
    let posted = town.service.send("POST", "/v1/sessions", &form, r#"{"role": "copilot", "client": "x"}"#);
    assert_eq!(posted.code(), code(415, "HTTP_MEDIA_TYPE"));
    assert_eq!(
        town.service.send("DELETE", "/v1/sessions", &[("Authorization", &bearer)], "").code(),
        code(405, "HTTP_METHOD")
    );
    assert_eq!(town.service.send("GET", "/nowhere", &[], "").code(), code(404, "HTTP_NO_ROUTE"));
}

#[test]
fn what_is_malformed_or_too_large_is_refused_with_its_code() {
    let town = Town::new();
    let bearer = format!("Bearer {}", town.agent);
    let headers = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    let send = |body: &str| town.service.send("POST", "/v1/decisions", &headers, body).code();
    let action = |payload: &str| {
        format!(r#"{{"action_kind": "fs.read", "proceed": false, "action_payload": {payload}}}"#)
    };
    assert_eq!(send(""), code(400, "HTTP_REQUEST_INVALID"));
    assert_eq!(send("{"), code(400, "HTTP_REQUEST_INVALID"));
    assert_eq!(send(r#"{"proceed": true, "proceed": false}"#), code(400, "HTTP_REQUEST_INVALID"));
    let timed = r#"{"action_kind": "fs.read", "action_payload": {}, "proceed": true, "evaluation_ts": "2026-01-01T00:00:00Z"}"#;
    assert_eq!(send(timed), code(400, "HTTP_REQUEST_INVALID"), "the time is the service's to give");
    assert_eq!(send(&action(&format!("\"{}\"", "a".repeat(256 << 10)))), code(413, "HTTP_TOO_LARGE"));
    assert_eq!(send(&action(&"[".repeat(200))).0, 400);
    let nested = |depth: usize| action(&format!("{}1{}", "[".repeat(depth), "]".repeat(depth)));
    assert_eq!(send(&nested(31)).0, 200, "exactly at the limit");
    assert_eq!(send(&nested(32)), code(413, "HTTP_TOO_LARGE"), "one past it");
    let keys = |count: usize| {
        let members: Vec<String> = (0..count).map(|index| format!("\"k{index}\": 1")).collect();
        action(&format!("{{{}}}", members.join(",")))
    };
    assert_eq!(send(&keys(1000)).0, 200, "exactly at the limit");
    assert_eq!(send(&keys(1001)), code(413, "HTTP_TOO_LARGE"), "one past it");
}

#[test]
fn a_policy_that_does_not_load_is_a_bad_request_and_changes_nothing() {
    let town = Town::new();
    let in_force = town.service.get(&town.auditor, "/v1/policy").text("/version/policy_hash");
    let rule = |number: usize| {
        json!({"rule_id": format!("r{number}"), "rule_version": 1, "priority": 1, "kind": "deny",
            "when": {"atom": "session_active"}, "then": {"effect": "deny_action"}, "code": "TEST_DENIED", "message": "no"})
    };
    let rules = |count: usize| (0..count).map(rule).collect::<Vec<_>>();
    let too_many = json!({"schema": "odeu.instructions.v1", "rules": rules(501)}).to_string();
    for policy in ["{", too_many.as_str()] {
        town.service.sandbox.write(".countersign/policy/odeu.instructions.v1.json", policy);
        for name in ["urm.capability.lattice.v1.json", "urm.allow.v1.json"] {
            let text = crate::support::shipped_text(&format!("policy/{name}"));
            town.service.sandbox.write(&format!(".countersign/policy/{name}"), &text);
        }
        let refused = town.service.post(&town.admin, "/v1/policy/activate", &json!({}));
        assert_eq!(refused.status, 400, "{refused:?}");
        assert_ne!(refused.code().1, "", "{refused:?}");
    }
    assert_eq!(town.service.get(&town.auditor, "/v1/policy").text("/version/policy_hash"), in_force);
}

#[test]
fn events_are_followed_as_they_happen() {
    let town = Town::new();
    let stream = format!("/v1/events?stream=copilot:{}&after_seq=1", town.session);
    let some = town.service.get(&town.agent, &stream);
    let first: Value = serde_json::from_str(some.body.lines().next().unwrap()).unwrap();
    assert_eq!(first["seq"], json!(2));
    let request = format!(
        "GET /v1/events/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nLast-Event-ID: 3\r\n\r\n",
        town.service.address, town.auditor
    );
    let mut follower = TcpStream::connect(&town.service.address).unwrap();
    follower.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    follower.write_all(request.as_bytes()).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(follower)).map(Result::unwrap);
    assert_eq!(lines.find(|line| line.starts_with("id: ")).unwrap(), "id: 4");
    town.decide("fs.read", json!({"action_payload": {"path": "the one"}}));
    assert!(lines.any(|line| line == "event: EXECUTION_STARTED"));
}

#[test]
fn a_revoked_token_stops_counting_at_once() {
    let town = Town::new();
    assert_eq!(town.decide("fs.read", json!({})).status, 200);
    assert_eq!(town.service.sandbox.run(&["token", "revoke", "codex-1"]).exit, Some(0));
    let refused = town.decide("fs.read", json!({}));
    assert_eq!(refused.code(), code(401, "URM_UNAUTHENTICATED"), "also if it was known a moment ago");
}

#[test]
fn intents_are_weighed_and_verdicts_kept_with_their_events() {
    let town = Town::new();
    let read = |name: &str| -> Value {
        let folder = "examples/intents/evaluations/scenario_c_no_priority";
        serde_json::from_str(&crate::support::shipped_text(&format!("{folder}/{name}.json"))).unwrap()
    };
    let set = read("intent_set_scenario_c_no_priority");
    let intents = [read("intent_deploy_service_a"), read("intent_deploy_service_b")];
    let weighed =
        town.service.post(&town.agent, "/v1/intents/evaluate", &json!({"set": set, "intents": intents}));
    assert_eq!(weighed.status, 200, "{weighed:?}");
    assert_eq!(
        weighed.text("/merge_plan/strategy"),
        "merge_union",
        "without a registry nothing is exclusive"
    );
    let missing =
        town.service.post(&town.agent, "/v1/intents/evaluate", &json!({"set": set, "intents": [{}]}));
    assert_eq!(missing.status, 400, "{missing:?}");
    let folder = |name: &str| crate::support::repository().join("examples/infra-target").join(name);
    let (tree, rules) = (folder("terraform"), folder("rules"));
    let scan = ["scan", tree.to_str().unwrap(), "--rules", rules.to_str().unwrap(), "--format", "json"];
    let verdict: Value = serde_json::from_slice(&town.service.sandbox.run(&scan).stdout).unwrap();
    let kept = town.service.post(&town.agent, "/v1/scan/verdicts", &json!({"verdict": verdict}));
    assert_eq!((kept.status, kept.text("/event").as_str()), (201, "SCAN_VERDICT"), "{kept:?}");
    let events = town.service.get(&town.auditor, "/v1/events").body;
    assert!(events.contains("INTENTS_EVALUATED"));
}

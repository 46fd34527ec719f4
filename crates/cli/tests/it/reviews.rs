//! What reviewers are shown, lists in pages, and plans over HTTP.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::http::Town;

#[test]
fn a_reviewer_sees_the_whole_action_what_changed_and_why() {
    let town = Town::new();
    let payload = |image: &str, password: &str| json!({"action_payload": {"image": image, "db": {"password": password}, "replicas": [1, 2]}});
    let first = town.decide("deploy", payload("shop:1.4.1", "hunter2"));
    let first = first.text("/pending_approval/approval_id");
    assert_eq!(town.grant("ann", &first).status, 200);
    let mut second = payload("shop:1.4.2", "hunter3");
    second["evidence_refs"] = json!([{"kind": "event", "ref": "urm_policy:1", "note": "rolled out before"}]);
    let second = town.decide("deploy", second).text("/pending_approval/approval_id");

    let shown = town.service.get(&town.ann, &format!("/v1/approvals/{second}"));
    let view = shown.json();
    assert_eq!(
        view["action"]["action_payload"],
        json!({"image": "shop:1.4.2", "db": {"password": "[redacted]"}, "replicas": [1, 2]})
    );
    assert_eq!(
        view["changes"],
        json!([
            {"pointer": "/db/password", "before": "[redacted]", "after": "[redacted]"},
            {"pointer": "/image", "before": "shop:1.4.1", "after": "shop:1.4.2"},
        ])
    );
    let rules = view["asked"]["rules"].as_array().unwrap();
    assert!(
        rules.iter().any(|rule| rule["message"] == "Every deployment is approved by a person."
            && rule["words"].as_str().unwrap().starts_with("require_approval when ")),
        "{rules:?}"
    );
    assert_eq!(view["asked"]["risk"]["writes"], json!(true));
    assert_eq!(view["asked"]["risk"]["capability"], json!("deploy"));
    assert_eq!(view["asked"]["evidence_refs"][0]["ref"], json!("urm_policy:1"));
    let url = town.service.url();
    town.service.sandbox.write("ann.token", &town.ann);
    let pending = town.service.sandbox.run(&["pending", "--url", &url, "--token-file", "ann.token"]);
    for part in [
        r#"/image "shop:1.4.1" to "shop:1.4.2""#,
        "risk: writes, uses deploy",
        "evidence: event urm_policy:1",
    ] {
        assert!(pending.stdout().contains(part), "{part}: {}", pending.screen());
    }
    for seen in [shown.body.as_str(), pending.stdout()] {
        assert!(!seen.contains("hunter"), "{seen}");
    }

    // What is not shown is approved all the same: with another secret it is another action.
    let with = |mut body: Value| {
        body["approval_id"] = json!(first);
        town.decide("deploy", body).code().1
    };
    assert_eq!(with(payload("shop:1.4.1", "hunter3")), "URM_APPROVAL_INVALID");
    assert_eq!(with(payload("shop:1.4.1", "hunter2")), "APPROVED_WRITE_ALLOWED");
}

/// Walks through a list with pages of two; every id there is.
fn walk(town: &Town, token: &str, path: &str, list: &str, id: &str) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), String::new());
    loop {
        let page = town.service.get(token, &format!("{path}?limit=2{after}")).json();
        let rows = page[list].as_array().unwrap();
        assert!(rows.len() <= 2, "{page}");
        ids.extend(rows.iter().map(|row| row.pointer(id).unwrap().as_str().unwrap().to_owned()));
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return ids,
        }
    }
}

#[test]
fn lists_come_in_pages_and_are_whole() {
    let town = Town::new();
    let start = |token: &str| {
        let new = json!({"role": "copilot", "client": "test"});
        town.service.post(token, "/v1/sessions", &new).text("/session_id")
    };
    let (mine, others): (Vec<_>, Vec<_>) = (0..3).map(|_| (start(&town.agent), start(&town.admin))).unzip();
    let own: BTreeSet<_> = mine.into_iter().chain([town.session.clone()]).collect();
    let seen = walk(&town, &town.agent, "/v1/sessions", "sessions", "/session_id");
    assert_eq!((seen.len(), seen.into_iter().collect::<BTreeSet<_>>()), (4, own.clone()));
    let all = walk(&town, &town.auditor, "/v1/sessions", "sessions", "/session_id");
    assert_eq!(
        (all.len(), all.into_iter().collect()),
        (7, own.into_iter().chain(others).collect::<BTreeSet<_>>())
    );

    let ask = |image: usize| {
        let body = json!({"action_payload": {"image": image}});
        town.decide("deploy", body).text("/pending_approval/approval_id")
    };
    let asked: BTreeSet<String> = (0..5).map(ask).collect();
    let seen = walk(&town, &town.ann, "/v1/approvals", "approvals", "/approval/approval_id");
    assert!(seen.len() == 6 && asked.iter().all(|id| seen.contains(id)), "{seen:?}");
    let listed = town.service.sandbox.run(&["pending", "--format", "json"]);
    let listed: Vec<Value> = serde_json::from_str(listed.stdout()).unwrap();
    assert_eq!(listed.len(), 5);
    for wrong in ["limit=0", "limit=1001", "limit=two", "after=nobody!"] {
        assert_eq!(town.service.get(&town.ann, &format!("/v1/approvals?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn an_intent_is_planned_and_leaves_its_event() {
    let town = Town::new();
    let path = "examples/intents/evaluations/scenario_c_no_priority/intent_deploy_service_a.json";
    let intent: Value = serde_json::from_str(&crate::support::shipped_text(path)).unwrap();
    let planned = town.service.post(&town.agent, "/v1/dry-runs", &json!({"intent": intent}));
    assert_eq!(planned.status, 200, "{planned:?}");
    let id = planned.text("/result/result_id");
    let events = town.service.get(&town.auditor, "/v1/events").body;
    let event = events.lines().find(|line| line.contains("DRY_RUN_PLANNED")).unwrap();
    let event: Value = serde_json::from_str(event).unwrap();
    assert_eq!(event["detail"]["result_id"], json!(id));
    assert_eq!(event["detail"]["checksum"], planned.json()["result"]["checksum"]);
    let refused = town.service.post(&town.agent, "/v1/dry-runs", &json!({"intent": {}}));
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(town.service.post(&town.ann, "/v1/dry-runs", &json!({"intent": intent})).status, 403);
}

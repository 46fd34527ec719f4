//! Bundles that are made while others write: each is of one state of the store.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::{
    http::Town,
    postgresql::{Server, is_soak},
    server::Service,
    support::Sandbox,
};

/// How many clients write at once.
const WRITERS: usize = 4;

/// Exports again and again, by both ways there are, while decisions, approvals and keys come and go.
fn check(town: &Town, database: &[&str]) {
    let stop = AtomicBool::new(false);
    let rounds = if is_soak() { 60 } else { 6 };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let stop = &stop;
            scope.spawn(move || {
                for round in 0_u64.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let payload = json!({"action_payload": {"image": format!("shop:{writer}.{round}")}});
                    let asked = town.decide("deploy", payload.clone());
                    let id = asked.text("/pending_approval/approval_id");
                    assert_eq!(town.grant("ann", &id).status, 200);
                    let with = json!({"action_payload": payload.get("action_payload"), "approval_id": id});
                    assert_eq!(town.decide("deploy", with).status, 200);
                }
            });
        }
        let sandbox = &town.service.sandbox;
        let verdicts: Vec<String> = (0..rounds)
            .flat_map(|_| {
                let served = town.service.get(&town.auditor, "/v1/log/export");
                sandbox.write("served.bundle", served.body);
                let ran = sandbox.run(&[&["log", "export"], database].concat());
                sandbox.write("here.bundle", ran.stdout());
                let exported = (ran.exit != Some(0)).then(|| ran.screen());
                let verified = ["served.bundle", "here.bundle"].map(|name| {
                    let ran = sandbox.run(&["verify", name]);
                    if ran.exit == Some(0) { String::new() } else { ran.screen() }
                });
                exported.into_iter().chain(verified)
            })
            .collect();
        // Before anything is asserted, or the writers would never end.
        stop.store(true, Ordering::Relaxed);
        assert_eq!(verdicts.concat(), "");
    });
}

#[test]
fn an_export_of_a_store_in_use_is_of_one_instant() {
    check(&Town::new(), &[]);
}

#[test]
fn an_export_of_a_postgresql_store_in_use_is_of_one_instant() {
    let Some(server) = Server::start("exports::an_export_of_a_postgresql_store_in_use") else { return };
    let url = server.database();
    let database = ["--database", url.as_str()];
    check(&Town::at(Service::start_in(Sandbox::new(), &database), &database), &database);
}

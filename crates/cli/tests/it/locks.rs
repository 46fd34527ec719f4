//! What the kernel's founding document rules out, shown on the program as it runs (K0.2, G).

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    http::Town,
    support::{Sandbox, repository, run_in_shell, shipped_under, skip},
};

/// The system sees no program but this one and no way to another machine: no prover is asked, and nothing is fetched.
#[test]
fn deciding_and_activating_start_no_program_and_open_no_socket() {
    if run_in_shell(Path::new("."), "command -v strace").is_empty() {
        skip("deciding_and_activating_start_no_program_and_open_no_socket", "strace is not installed");
        return;
    }
    let sandbox = Sandbox::new();
    let policy = repository().join("policy/strict");
    sandbox.write("payload.json", "{}");
    for command in [
        format!("policy activate --policy-dir {}", policy.display()),
        "decide --kind fs.read --payload payload.json --proceed".to_owned(),
    ] {
        let calls = "execve,execveat,fork,vfork,socket,connect,bind,sendto";
        let shown = run_in_shell(
            sandbox.path(),
            &format!("strace -f -o trace -e trace={calls} countersign {command}; echo \"exit $?\""),
        );
        assert!(shown.contains("exit 0") || shown.contains("exit 1"), "{shown}");
        let trace = sandbox.read("trace").unwrap();
        let calls: Vec<&str> = trace.lines().filter(|line| line.contains('(')).collect();
        assert!(calls.len() == 1 && calls.iter().all(|call| call.contains("execve(")), "{command}: {trace}");
    }
}

#[test]
fn a_policy_comes_from_this_machine_or_not_at_all() {
    let town = Town::new();
    let hash = town.service.get(&town.admin, "/v1/policy").text("/version/policy_hash");
    let ask = |body: Value| town.service.post(&town.admin, "/v1/policy/activate", &body);
    for smuggled in [
        json!({"policy_hash": hash, "url": "https://example.org/policy.json"}),
        json!({"policy_hash": hash, "policy": {"schema": "odeu.instructions.v1", "rules": []}}),
        json!({"policy_hash": "https://example.org/policy.json"}),
    ] {
        assert_eq!(ask(smuggled).code(), (400, "HTTP_REQUEST_INVALID".to_owned()));
    }
    let unknown = ask(json!({"policy_hash": "0".repeat(64)}));
    assert_eq!(unknown.status, 404, "{unknown:?}");
    assert_eq!(town.service.get(&town.admin, "/v1/policy").text("/version/policy_hash"), hash);
}

#[test]
fn one_policy_holds_for_everybody_at_once() {
    let town = Town::new();
    let other = town.service.token("agent", "codex-2", &[]);
    let started = town.service.post(&other, "/v1/sessions", &json!({"role": "auditor", "client": "test"}));
    let session = started.text("/session_id");
    let hashes = || {
        let mine = town.decide("fs.read", json!({})).text("/policy_hash");
        let theirs = town.service.decide(&other, &session, "fs.read", json!({})).text("/policy_hash");
        assert_eq!(mine, theirs);
        mine
    };
    let before = hashes();
    let folder = repository().join("policy/strict");
    let activated =
        town.service.sandbox.run(&["policy", "activate", "--policy-dir", &folder.display().to_string()]);
    assert_eq!(activated.exit, Some(0), "{}", activated.screen());
    assert_ne!(hashes(), before);
    let openapi = town.service.get(&town.admin, "/openapi.json").body;
    assert!(!openapi.contains("tenant"), "no request says whose policy it means");
}

/// The trust lanes are somebody else's: no document of ours has a word for them, so that nothing we say can move one.
#[test]
fn no_document_speaks_of_trust_lanes() {
    const LANES: [&str; 6] =
        ["mapping_trust", "solver_trust", "proof_trust", "kernel_only", "solver_backed", "proof_checked"];
    let mut documents = shipped_under("schemas");
    documents.extend(shipped_under("policy").into_iter().filter(|name| name.ends_with(".json")));
    documents.push("docs/generated/openapi.json".to_owned());
    assert!(documents.len() > 25, "{documents:?}");
    for name in documents {
        let text = crate::support::shipped_text(&name);
        assert!(LANES.iter().all(|lane| !text.contains(lane)), "{name}");
    }
    let sandbox = Sandbox::new();
    let context: Value =
        serde_json::from_str(&crate::support::shipped_text("examples/policy/push.json")).unwrap();
    let policy = repository().join("policy/odeu.instructions.v1.json").display().to_string();
    let evaluate = ["policy", "eval", "--in", &policy, "--context", "context.json"];
    sandbox.write("context.json", context.to_string());
    assert_ne!(sandbox.run(&evaluate).exit, Some(2));
    for lane in LANES {
        let mut context = context.clone();
        context.as_object_mut().unwrap().insert(lane.to_owned(), json!("proof_checked"));
        sandbox.write("context.json", context.to_string());
        let refused = sandbox.run(&evaluate);
        assert_eq!(refused.exit, Some(2), "{}", refused.screen());
    }
}

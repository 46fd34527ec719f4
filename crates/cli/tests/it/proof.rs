//! `countersign policy prove` and `countersign proof`: proved, refuted, damaged, kept beside decisions.

use std::path::Path;

use crate::support::Sandbox;

fn root(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name).display().to_string()
}

#[test]
fn the_built_in_policy_is_proved_and_its_certificate_checked_and_exported() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["policy", "prove", "--certificate", "policy.cert"]);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    assert!(ran.stdout().starts_with("proved   no_write_without_mode_and_approval\n"), "{}", ran.stdout());
    let checked = sandbox.run(&["proof", "check", "policy.cert"]);
    assert_eq!(checked.exit, Some(0), "{}", checked.screen());
    let exported = sandbox.run(&["proof", "export", "policy.cert", "--out", "formulas"]);
    assert_eq!(exported.exit, Some(0), "{}", exported.screen());
    let formula = sandbox.read("formulas/kernel.cnf").unwrap();
    assert!(formula.starts_with("p cnf "), "{formula}");

    let text = sandbox.read("policy.cert").unwrap();
    sandbox.write("damaged.cert", text.replacen("copilot", "copilos", 1));
    let refused = sandbox.run(&["proof", "check", "damaged.cert"]);
    assert_eq!(refused.exit, Some(1), "{}", refused.screen());
    assert!(refused.stderr().contains("PROOF_CERTIFICATE_INVALID"), "{}", refused.stderr());
    assert_eq!(sandbox.run(&["proof", "check", "nowhere.cert"]).exit, Some(2));
}

#[test]
fn an_unsafe_policy_is_refuted_with_a_counterexample() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "open.json",
        r#"{"schema": "odeu.instructions.v1", "rules": [{"rule_id": "allow.all", "rule_version": 1, "priority": 1, "kind": "allow",
        "when": {"atom": "session_active", "args": []}, "then": {"effect": "allow_action"}, "message": "", "code": "OPEN"}]}"#,
    );
    let ran = sandbox.run(&["policy", "prove", "--in", "open.json"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(
        ran.stdout()
            .starts_with("refuted  no_write_without_mode_and_approval\n         kernel: action_kind=")
    );
    let json = sandbox.run(&["policy", "prove", "--in", "open.json", "--format", "json"]);
    assert!(json.stdout().contains("\"status\": \"failed\""), "{}", json.stdout());
    assert!(json.stdout().contains("\"reason\": \"refuted\""), "{}", json.stdout());
}

#[test]
fn built_in_theorems_and_written_ones_come_out_as_they_are() {
    let sandbox = Sandbox::new();
    let standard = root("policy/odeu.instructions.v1.json");
    let strict = root("policy/strict/odeu.instructions.v1.json");
    let obligation = root("examples/proofs/auditors-never-deploy.json");
    let wrong = root("examples/proofs/deployments-need-no-approval.json");
    let cases: [(&[&str], i32); 8] = [
        (&["--in", &strict, "--only-tightens", &standard], 0),
        (&["--in", &standard, "--only-tightens", &strict], 1),
        (&["--in", &standard, "--equivalent", &standard], 0),
        (&["--in", &standard, "--equivalent", &strict], 1),
        (&["--never-fires", "deny.force_push"], 1),
        (&["--shadowed", "deny.force_push"], 1),
        (&["--obligation", &obligation], 0),
        (&["--obligation", &wrong], 1),
    ];
    for (arguments, exit) in cases {
        let ran = sandbox.run(&[&["policy", "prove"], arguments].concat());
        assert_eq!(ran.exit, Some(exit), "{arguments:?}: {}", ran.screen());
    }
    assert_eq!(sandbox.run(&["policy", "prove", "--shadowed", "no.such"]).exit, Some(2));
}

/// The child that the service runs, from outside: proofs are kept, decisions refer to them, and everything verifies.
#[test]
fn proofs_about_the_policy_in_force_stand_beside_decisions() {
    let sandbox = Sandbox::new();
    let session = sandbox.run(&["session", "start", "--role", "copilot", "--format", "json"]);
    let session = session.stdout();
    let id = session.split('"').find(|word| word.starts_with("ses_")).unwrap_or_else(|| panic!("{session}"));
    sandbox.write("payload.json", "\"README.md\"");
    let decide = || {
        let ran = sandbox.run(&[
            "decide",
            "--session",
            id,
            "--kind",
            "fs.read",
            "--payload",
            "payload.json",
            "--format",
            "json",
        ]);
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        ran.stdout().to_owned()
    };
    assert!(!decide().contains("proof:prf_"));
    let proved = sandbox.run(&["policy", "prove", "--in-force"]);
    assert_eq!(proved.exit, Some(0), "{}", proved.screen());
    assert_eq!(
        proved.stdout().lines().collect::<std::collections::BTreeSet<_>>(),
        ["proved   approval_single_use_atomicity", "proved   no_write_without_mode_and_approval"].into()
    );
    assert_eq!(decide().matches("proof:prf_").count(), 2);
    let verified = sandbox.run(&["log", "export", "--out", "bundle.ndjson"]);
    assert_eq!(verified.exit, Some(0), "{}", verified.screen());
    let checked = sandbox.run(&["verify", "bundle.ndjson"]);
    assert_eq!(checked.exit, Some(0), "{}", checked.screen());
    assert!(checked.stdout().trim_end().ends_with(", 2 proofs"), "{}", checked.screen());

    // A certificate with another byte, one of another proof, and none at all.
    let bundle = sandbox.read("bundle.ndjson").unwrap();
    let is_proof = |line: &&str| line.starts_with(r#"{"proof":"#);
    let proofs: Vec<&str> = bundle.lines().filter(is_proof).collect();
    let certificate = |line: &str| {
        let (_, rest) = line.split_once(r#""certificate":""#).unwrap();
        rest.split_once(r#""}}"#).unwrap().0.to_owned()
    };
    let [one, other] = proofs.as_slice() else { panic!("{} proofs", proofs.len()) };
    let damaged = one.replacen("copilot", "copilos", 1);
    assert_ne!(damaged, *one);
    for (touched, code) in [
        (bundle.replace(*one, &damaged), "BUNDLE_PROOF"),
        (bundle.replace(*one, &one.replace(&certificate(one), &certificate(other))), "BUNDLE_PROOF"),
        (bundle.replace(&format!("{one}\n"), ""), "BUNDLE_INCOMPLETE"),
    ] {
        sandbox.write("touched.ndjson", touched);
        let refused = sandbox.run(&["verify", "touched.ndjson", "--format", "json"]);
        assert_eq!(refused.exit, Some(1), "{}", refused.screen());
        assert!(refused.stdout().contains(code), "{code}: {}", refused.screen());
    }
}

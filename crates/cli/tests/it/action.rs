//! `countersign action hash`: the recipe, seen from outside.

use crate::support::Sandbox;

#[test]
fn the_hash_is_the_sha256_of_the_canonical_action() {
    let sandbox = Sandbox::new();
    sandbox.write("payload.json", "{ \"replicas\": 2.0, \"env\": \"prod\" }").write(
        "action.json",
        r#"{"action_payload": {"env": "prod", "replicas": 2}, "action_kind": "deploy"}"#,
    );
    let action_hash = sandbox.run(&["action", "hash", "--kind", "deploy", "--payload", "payload.json"]);
    let canon_hash = sandbox.run(&["canon", "--sha256", "action.json"]);
    assert_eq!(action_hash.exit, Some(0));
    assert_eq!(action_hash.stdout(), canon_hash.stdout());
}

#[test]
fn as_json_it_shows_what_was_hashed() {
    let ran = Sandbox::new().run_with_input(
        &["action", "hash", "--kind", "fs.write", "--payload", "-", "--format", "json"],
        b"{}",
    );
    insta::assert_snapshot!(ran.stdout(), @r#"
    {
      "action_hash": "60660465dd0c6c945f4cc6d3998c122a4d033a5544f8b8c0ad0e247d54ab4c40",
      "action_kind": "fs.write",
      "action_payload": {}
    }
    "#);
}

#[test]
fn a_kind_that_is_none_is_a_usage_error() {
    let ran =
        Sandbox::new().run_with_input(&["action", "hash", "--kind", "no kind", "--payload", "-"], b"{}");
    assert_eq!(ran.exit, Some(2));
    assert!(
        ran.stderr().starts_with("error[CLI_USAGE]: `no kind` is not a kind of action"),
        "{}",
        ran.stderr()
    );
}

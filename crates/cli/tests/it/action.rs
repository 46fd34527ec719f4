//! `countersign action`: what a call is, and the recipe of its hash, seen from outside.

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

/// Runs `classify` in a place that does not depend on the machine.
fn classify(arguments: &[&str], input: &str) -> crate::support::Ran {
    let place = ["action", "classify", "--cwd", "/w/app", "--workspace", "/w/app"];
    Sandbox::new().run_with_input(&[&place, arguments].concat(), input.as_bytes())
}

#[test]
fn a_command_line_is_judged_with_reasons() {
    insta::assert_snapshot!(classify(&["--shell", "cd build && rm -rf * ; echo x > ../y"], "").screen(), @r#"
    exit 0
    --- stdout
    shell.destructive
      action_hash  f2a3c2ca423589321aedb9db5555d74077cf542c227c17076b1acaa6755b03ea
      fs.delete          *  (deletes this path)
      shell.destructive  rm -rf *  (by an option)
      shell.destructive  rm -rf *  (by the table)
      shell.read         echo x  (by the table)
      fs.write_outside   ../y  (writes this path)
    --- stderr
    "#);
}

#[test]
fn a_tool_call_is_shown_as_the_action_it_is() {
    let call = r#"{"tool_name": "Bash", "tool_input": {"command": "git push -f", "description": "publish"}}"#;
    let ran = classify(&["--host", "claude-code", "-", "--format", "json"], call);
    // The table may grow without this test.
    let (front, hash) = ran.stdout().split_once("\"table_hash\": \"").unwrap();
    let shown = format!("{front}\"table_hash\": \"[hash]{}", hash.get(64..).unwrap());
    insta::assert_snapshot!(shown, @r#"
    {
      "action_hash": "03479f91061f99b1dd61bbfbe2c6f8dca1be7f118dd4512b94b79ad6af9459c4",
      "action_kind": "git.push_force",
      "action_payload": {
        "command": "git push -f",
        "cwd": "/w/app"
      },
      "findings": [
        {
          "at": 0,
          "kind": "git.push_force",
          "part": "git push -f",
          "reason": "by an option"
        },
        {
          "at": 0,
          "kind": "git.push_force",
          "part": "git push -f",
          "reason": "by the table"
        }
      ],
      "table_hash": "[hash]"
    }
    "#);
}

#[test]
fn the_kind_and_hash_are_those_of_the_recipe() {
    let call = r#"{"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": "/w/app"}"#;
    let hashes = ["claude-code", "codex"].map(|host| {
        let ran = classify(&["--host", host, "-"], call);
        assert_eq!(ran.exit, Some(0));
        ran.stdout().lines().nth(1).unwrap().rsplit(' ').next().unwrap().to_owned()
    });
    let payload = br#"{"command": "ls", "cwd": "/w/app"}"#;
    let recipe =
        Sandbox::new().run_with_input(&["action", "hash", "--kind", "shell.read", "--payload", "-"], payload);
    assert_eq!(hashes.map(|hash| format!("{hash}\n")), [recipe.stdout(), recipe.stdout()]);
}

#[test]
fn a_call_that_is_none_is_refused() {
    let call = r#"{"tool_name": "Bash", "tool_input": {"cmd": "ls"}}"#;
    insta::assert_snapshot!(classify(&["--host", "codex", "-"], call).screen(), @r#"
    exit 1
    --- stdout
    --- stderr
    error[ACTION_CALL_INVALID]: the call of `Bash` has no usable command
      --> <stdin>
      expected: the field command
    "#);
    assert_eq!(classify(&["--host", "codex", "-"], "{").exit, Some(1));
}

#[test]
fn wrong_usage_is_exit_2() {
    assert_eq!(classify(&[], "").exit, Some(2));
    assert_eq!(classify(&["-"], "{}").exit, Some(2));
    assert_eq!(classify(&["--host", "emacs", "-"], "{}").exit, Some(2));
    assert_eq!(classify(&["--host", "codex", "nowhere.json"], "").exit, Some(2));
    assert_eq!(classify(&["--shell", "ls", "--host", "codex"], "").exit, Some(2));
    assert_eq!(classify(&["--shell", "-x"], "").exit, Some(0));
}

#[test]
fn another_table_is_read_and_its_faults_are_shown() {
    let sandbox = Sandbox::new();
    let head = "schema: countersign.actions.v1\ntools: {}\npaths: []\nvariables: []\nfolders: []\n";
    sandbox
        .write("mine.yml", format!("{head}commands:\n  - {{names: [frob], kind: deploy}}\n"))
        .write("bad.yml", format!("{head}commands:\n  - {{names: [frob], kind: deplyo}}\n"));
    let ran = sandbox.run(&["action", "classify", "--shell", "frob", "--table", "mine.yml"]);
    assert!(ran.stdout().starts_with("deploy\n"), "{}", ran.screen());
    let ran = sandbox.run(&["action", "classify", "--shell", "frob", "--table", "bad.yml"]);
    assert_eq!(ran.exit, Some(1));
    let stderr = ran.stderr();
    assert!(
        stderr.starts_with("error[ACTION_TABLE_INVALID]: unknown value `deplyo`\n  --> bad.yml:7:27"),
        "{stderr}"
    );
    assert!(stderr.ends_with("  hint: did you mean `deploy`?\n"), "{stderr}");
}

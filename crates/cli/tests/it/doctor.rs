//! `countersign doctor`: each thing that can be wrong is found, and what it says to do helps.
#![expect(clippy::disallowed_methods, reason = "Effect: files, to damage a store")]

use crate::support::{Sandbox, repository, run_in_shell};

/// A sandbox with a store and an approver, so that nothing is wrong but that an agent would be the same user.
fn store() -> Sandbox {
    let sandbox = Sandbox::new();
    let made = run_in_shell(
        sandbox.path(),
        "export XDG_DATA_HOME=$PWD/.user; countersign session start --role copilot >/dev/null && \
         countersign keys add \"$(countersign keys generate --name ann 2>/dev/null)\" >/dev/null",
    );
    assert_eq!(made, "");
    sandbox
}

/// What is wrong, and what is to be done about each of it.
fn said(sandbox: &Sandbox) -> Vec<(String, String)> {
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    let lines: Vec<&str> = ran.stdout().lines().collect();
    let pairs = lines.windows(2).filter_map(|pair| match pair {
        [what, to_do] => Some((what.strip_prefix("WRONG ")?.to_owned(), to_do.trim().to_owned())),
        _ => None,
    });
    pairs.collect()
}

/// The same, but for what is wrong with every test: it runs as one user.
fn wrong(sandbox: &Sandbox) -> Vec<(String, String)> {
    let mut said = said(sandbox);
    assert_eq!(said.pop().map(|(what, _)| what).as_deref(), Some("isolation: token"));
    said
}

#[test]
fn a_wrong_mode_bit_is_found_and_what_it_says_to_do_helps() {
    let sandbox = store();
    assert_eq!(wrong(&sandbox), []);
    let policy = repository().join("policy/strict");
    let copied = format!("mkdir .countersign/policy && cp {}/*.json .countersign/policy/", policy.display());
    assert_eq!(run_in_shell(sandbox.path(), &copied), "");
    assert_eq!(sandbox.run(&["policy", "activate"]).exit, Some(0));
    for (file, mode, verb, command) in [
        ("state.db", "0666", "write", "chmod go="),
        ("state.db", "0640", "read", "chmod go="),
        ("log.key", "0604", "read", "chmod go="),
        ("log.key", "0622", "write", "chmod go="),
        ("policy", "0777", "write", "chmod go-w"),
        ("policy/urm.allow.v1.json", "0664", "write", "chmod go-w"),
    ] {
        let path = format!(".countersign/{file}");
        run_in_shell(sandbox.path(), &format!("chmod {mode} {path}"));
        let expected =
            (format!("`{path}` has mode {mode}: other users can {verb} it"), format!("{command} '{path}'"));
        assert_eq!(said(&sandbox).first(), Some(&expected));
        assert_eq!(run_in_shell(sandbox.path(), &expected.1), "");
        assert_eq!(wrong(&sandbox), [], "{file} {mode}");
    }
}

#[test]
fn a_policy_that_is_not_in_force_is_found_and_can_be_put_in_force() {
    let sandbox = store();
    let strict = repository().join("policy/strict");
    let copied = format!("mkdir .countersign/policy && cp {}/*.json .countersign/policy/", strict.display());
    assert_eq!(run_in_shell(sandbox.path(), &copied), "");
    let stale = (
        "the policy in force: version 1, not the same as the policy folder".to_owned(),
        "put it in force with `countersign policy activate`, or take the change back".to_owned(),
    );
    assert_eq!(wrong(&sandbox), [stale]);
    assert_eq!(sandbox.run(&["policy", "activate"]).exit, Some(0));
    assert_eq!(wrong(&sandbox), []);
    assert!(
        sandbox
            .run(&["doctor"])
            .stdout()
            .contains("ok    the policy in force: version 2, the same as the policy folder")
    );
    sandbox.write(".countersign/policy/odeu.instructions.v1.json", r#"{"schema": "odeu.instructions.v1"}"#);
    let found = wrong(&sandbox);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found.iter().all(|(what, to_do)| {
        what.contains("the policy folder `.countersign/policy`: URM_POLICY_INVALID_SCHEMA: ")
            && to_do.contains("countersign policy validate")
    }));
    sandbox.remove(".countersign/policy/urm.allow.v1.json");
    let found = wrong(&sandbox);
    assert!(found.iter().any(|(what, _)| what.contains("urm.allow.v1.json")), "{found:?}");
}

#[test]
fn a_copy_of_the_checkpoint_that_cannot_be_read_is_found_and_nothing_else_is_hidden() {
    let sandbox = store();
    let folder = sandbox.path().join(".user/countersign/checkpoints");
    let copy = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&copy, [0xFF; 40]).unwrap();
    let [(what, to_do)] = &wrong(&sandbox)[..] else { panic!("{:?}", wrong(&sandbox)) };
    assert!(what.starts_with("the checkpoint's copy: `") && what.ends_with("is not a checkpoint"), "{what}");
    assert!(to_do.contains("move it away"), "{to_do}");
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(wrong(&sandbox), []);
    std::fs::create_dir(&copy).unwrap();
    assert!(matches!(&wrong(&sandbox)[..], [(what, _)] if what.contains("could not be read")));
}

#[test]
fn a_damaged_database_and_one_from_the_future_are_named() {
    let sandbox = store();
    let path = sandbox.path().join(".countersign/state.db");
    let whole = std::fs::read(&path).unwrap();
    let mut damaged = whole.clone();
    let middle = whole.len() / 4096 / 2 * 4096;
    damaged.iter_mut().skip(middle).take(4096).for_each(|byte| *byte = 0xA5);
    std::fs::write(&path, damaged).unwrap();
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stdout().contains("STORE_CORRUPT"), "{}", ran.screen());
    assert!(ran.stdout().contains("keep the store as it is"), "{}", ran.screen());
    std::fs::write(&path, whole).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute("INSERT INTO schema_version (version) VALUES (99)", ()).unwrap();
    drop(raw);
    let ran = sandbox.run(&["doctor"]);
    assert!(ran.stdout().contains("WRONG the store: STORE_SCHEMA_NEWER"), "{}", ran.screen());
    assert!(ran.stdout().contains("newer version of this program"), "{}", ran.screen());
}

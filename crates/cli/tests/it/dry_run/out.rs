//! DE2 for real: `--out` in a source tree, by every way there; folders that cannot be written; documents that are there.

use super::{plan, shipped};
use crate::support::{Sandbox, run_in_shell, shell, shipped_text};

const INTENT: &str = "examples/dry-run/docs_change/intent_explain_refunds.json";

/// A work tree that git made, in `tree`, with what the script adds to it.
fn tree(script: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let script =
        format!("git init -q tree && cd tree && mkdir -p src/api && echo x > src/api/a.py && {script}");
    let ran = shell(sandbox.path(), &script);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    sandbox
}

/// Everything under the sandbox, git's own files aside.
fn everything(sandbox: &Sandbox) -> String {
    run_in_shell(sandbox.path(), "find . -path '*/.git' -prune -o -print | sort")
}

#[track_caller]
fn refused(sandbox: &Sandbox, out: &str, code: &str) {
    let before = everything(sandbox);
    let ran = plan(sandbox, INTENT, out, &[]);
    assert_eq!(ran.exit, Some(1), "{out}: {}", ran.screen());
    assert!(ran.stdout().contains(&format!("\"code\": \"{code}\"")), "{out}: {}", ran.screen());
    assert_eq!(everything(sandbox), before, "{out}: something was written");
}

#[test]
fn a_source_tree_is_refused_by_every_way_there() {
    let sandbox = tree(
        "git add . && ln -s tree/src ../link && ln -s ../tree ../tree/loop && ln -s tree/src/new ../nowhere",
    );
    for out in [
        "tree",
        "tree/src",
        "tree/src/api",
        "tree/src/api/deep/er",
        "tree/../tree/src",
        "missing/../tree/src",
        "link",
        "link/api/plans",
        "tree/loop/src",
        "./tree//src/.",
        "nowhere",
        "tree/.git/plans",
    ] {
        refused(&sandbox, out, "DE2_OUT_IN_SOURCE_TREE");
    }
    for out in ["plans", "tree/../beside", "link/../../plans2"] {
        assert_eq!(plan(&sandbox, INTENT, out, &[]).exit, Some(0), "{out}");
    }
}

#[test]
fn a_file_at_the_root_makes_the_whole_tree_a_source_tree() {
    let sandbox = tree("git add . ");
    assert_eq!(
        plan(&sandbox, INTENT, "tree/plans", &[]).exit,
        Some(0),
        "nothing of the index lies around it"
    );
    let sandbox = tree("echo x > README.md && git add .");
    refused(&sandbox, "tree/plans", "DE2_OUT_IN_SOURCE_TREE");
}

#[test]
fn every_kind_of_index_is_read() {
    let kinds = [
        "git add . && git update-index --index-version 4",
        "git add . && git update-index --split-index",
        "git add . && git add --intent-to-add -A && touch src/b.py && git add -N src/b.py",
        "git add . && git commit -qm x && git worktree add -q ../linked && cd .. && mv tree old && mv linked tree && git -C old worktree repair ../tree",
    ];
    for script in kinds {
        let sandbox = tree(script);
        refused(&sandbox, "tree/src/plans", "DE2_OUT_IN_SOURCE_TREE");
    }
    let sandbox = Sandbox::new();
    let ran = shell(
        sandbox.path(),
        "git init -q --object-format=sha256 tree && cd tree && mkdir src && echo x > src/a && git add .",
    );
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    refused(&sandbox, "tree/src", "DE2_OUT_IN_SOURCE_TREE");
}

#[test]
fn an_index_that_cannot_be_read_is_no_permission() {
    let sandbox = tree("git add . && echo garbage > .git/index");
    refused(&sandbox, "tree/plans", "DE2_INDEX_UNREADABLE");
    let sandbox = Sandbox::new();
    sandbox.write("tree/.git", "gitdir elsewhere\n");
    refused(&sandbox, "tree/plans", "DE2_INDEX_UNREADABLE");
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let sandbox = Sandbox::new();
    // Nobody can make files here, root included.
    let ran = plan(&sandbox, INTENT, "/proc/self", &[]);
    assert_eq!(ran.exit, Some(2), "{}", ran.screen());
    assert!(ran.stderr().contains("CLI_WRITE_FAILED"), "{}", ran.stderr());
    sandbox.write("file", "");
    assert_eq!(plan(&sandbox, INTENT, "file", &[]).exit, Some(2));
}

/// No file may grow beyond one block: a write fails halfway, as on a full disk.
#[test]
fn a_disk_that_is_full_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let command =
        format!("trap '' XFSZ; ulimit -f 1; countersign dry-run plan {} --out plans", shipped(INTENT));
    let shown = run_in_shell(sandbox.path(), &command);
    assert!(shown.contains("CLI_WRITE_FAILED"), "{shown}");
    assert_eq!(run_in_shell(&sandbox.path().join("plans"), "ls -A"), "");
}

#[test]
fn a_full_file_system_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    let command = format!(
        "mkdir plans && unshare -rm bash -c 'mount -t tmpfs -o size=8k none plans || exit 9; countersign dry-run plan {} --out plans; echo exit $?; ls -A plans'",
        shipped(INTENT)
    );
    let shown = run_in_shell(sandbox.path(), &command);
    if !shown.contains("exit ") {
        crate::support::skip(
            "a_full_file_system_leaves_nothing_behind",
            "file systems cannot be mounted here",
        );
        return;
    }
    assert!(shown.contains("CLI_WRITE_FAILED") && shown.contains("exit 2\n"), "{shown}");
    assert_eq!(shown.matches("dryexec").count(), 1, "only the message names it: {shown}");
}

#[test]
fn a_document_is_never_written_over_a_different_one() {
    let sandbox = Sandbox::new();
    assert_eq!(plan(&sandbox, INTENT, "plans", &[]).exit, Some(0));
    let name = format!("plans/{}", run_in_shell(&sandbox.path().join("plans"), "ls").trim());
    let first = sandbox.read(&name).unwrap();
    assert_eq!(first, shipped_text("examples/dry-run/docs_change/result.json"));
    let later = sandbox.run(&[
        "dry-run",
        "plan",
        &shipped(INTENT),
        "--out",
        "plans",
        "--now",
        "2027-01-01T00:00:00Z",
    ]);
    assert_eq!(later.exit, Some(0), "the same but for its time");
    assert!(later.stderr().contains("was there already"), "{}", later.stderr());
    assert_eq!(sandbox.read(&name).unwrap(), first);
    sandbox.write(&name, first.replace("refunds", "funds"));
    refused(&sandbox, "plans", "DRY_RUN_OUT_EXISTS");
    assert_ne!(sandbox.read(&name).unwrap(), first);
}

#[test]
fn the_clock_gives_the_time_unless_it_is_told() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["dry-run", "plan", &shipped(INTENT), "--out", "plans"]);
    assert_eq!(ran.exit, Some(0));
    assert!(!ran.stderr().contains("2026-02-12T09:10:00Z"), "{}", ran.stderr());
}

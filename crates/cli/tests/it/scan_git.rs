//! Diff, staged and tracked mode on real repositories, friendly and hostile.

use crate::{
    scan::{one_rule, violations},
    support::{Ran, Sandbox, shell, skip},
};

/// A repository with a first commit: the rules, and one file of each kind of change to come.
fn repository() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf', 'modules/**']", "[bad]"));
    sandbox.write("old.tf", "bad\n").write("changed.tf", "fine\n").write("gone.tf", "bad\n");
    sandbox.write("renamed.tf", "some text that is long enough to be recognised\nbad\n");
    sandbox.write("becomes-link.tf", "fine\n").write("other.md", "bad\n");
    done(shell(
        sandbox.path(),
        "git init -q -b main . && ln -s old.tf becomes-file.tf && git add -A && git commit -qm first && git tag first",
    ));
    sandbox
}

#[track_caller]
fn done(ran: Ran) -> String {
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    ran.stdout().to_owned()
}

/// Scans with these options, expects a verdict and gives its violations.
#[track_caller]
fn scan(sandbox: &Sandbox, options: &str) -> Vec<String> {
    let ran = shell(sandbox.path(), &format!("countersign scan {options}"));
    assert!(matches!(ran.exit, Some(0 | 1)), "{}", ran.screen());
    violations(&ran)
}

/// Scans with these options and expects exit 2 with this code.
#[track_caller]
fn check_refused(sandbox: &Sandbox, options: &str, code: &str) {
    let ran = shell(sandbox.path(), &format!("countersign scan {options}"));
    assert_eq!((ran.exit, ran.stdout()), (Some(2), ""), "{}", ran.screen());
    assert!(ran.stderr().contains(code), "{}", ran.screen());
}

const SECOND: &str = "
    echo bad >> changed.tf; git rm -q gone.tf; git mv renamed.tf moved.tf
    rm becomes-link.tf; ln -s old.tf becomes-link.tf; rm becomes-file.tf; echo bad > becomes-file.tf
    mkdir -p sub; echo bad > sub/added.tf; echo bad > $'new\\nline.tf'; echo bad > $'latin\\xff.tf'
    git add -A; git commit -qm second";

#[test]
fn a_diff_holds_what_was_added_changed_renamed_to_or_changed_in_type() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    let expected = [
        "R-1 becomes-file.tf:1:1 bad",
        "R-1 changed.tf:2:1 bad",
        "R-1 latin\\xff.tf:1:1 bad",
        "R-1 moved.tf:2:1 bad",
        "R-1 new\nline.tf:1:1 bad",
        "R-1 sub/added.tf:1:1 bad",
    ];
    assert_eq!(scan(&sandbox, "--diff-base first"), expected);
    let ran = shell(sandbox.path(), "countersign scan --diff-base first || true");
    let verdict: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(verdict["skipped"], serde_json::json!([{"file": "becomes-link.tf", "reason": "symlink"}]));
    assert_eq!(verdict["target"]["mode"], "diff");
    let commits = done(shell(sandbox.path(), "git rev-parse first HEAD"));
    let commits: Vec<&str> = commits.lines().collect();
    assert_eq!(verdict["target"]["base"], commits[0]);
    assert_eq!(verdict["target"]["head"], commits[1]);
    assert_eq!(verdict["stats"]["files_considered"], 6);
}

#[test]
fn a_dirty_work_tree_changes_nothing() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    let clean = shell(sandbox.path(), "countersign scan --diff-base first || true");
    done(shell(
        sandbox.path(),
        "rm changed.tf; echo fine > sub/added.tf; echo bad > untracked.tf; echo bad > staged.tf; git add staged.tf
         rm -r rules; mkdir rules; echo 'boundaries: nonsense' > rules/boundaries.yml",
    ));
    let dirty = shell(sandbox.path(), "countersign scan --diff-base first || true");
    assert_eq!(dirty.screen(), clean.screen());
}

#[test]
fn a_diff_is_counted_from_the_last_common_commit() {
    let sandbox = repository();
    done(shell(
        sandbox.path(),
        "git checkout -q -b feature; echo bad > feature.tf; git add -A; git commit -qm feature
         git checkout -q main; echo bad > main-only.tf; git add -A; git commit -qm main
         git checkout -q feature",
    ));
    assert_eq!(scan(&sandbox, "--diff-base main"), ["R-1 feature.tf:1:1 bad"]);
    done(shell(sandbox.path(), "git merge -q -m merge main"));
    assert_eq!(scan(&sandbox, "--diff-base main"), ["R-1 feature.tf:1:1 bad"]);
    assert_eq!(scan(&sandbox, "--diff-base first"), ["R-1 feature.tf:1:1 bad", "R-1 main-only.tf:1:1 bad"]);
    assert_eq!(scan(&sandbox, "--diff-base HEAD"), Vec::<String>::new());
}

#[test]
fn a_subfolder_is_a_target_of_its_own() {
    let sandbox = repository();
    done(shell(
        sandbox.path(),
        "mkdir -p 'a b/c'; echo bad > 'a b/c/x.tf'; echo bad > y.tf; git add -A; git commit -qm x",
    ));
    assert_eq!(scan(&sandbox, "'a b' --rules rules --diff-base first"), ["R-1 c/x.tf:1:1 bad"]);
    assert_eq!(scan(&sandbox, "'a b' --rules rules --git-tracked"), ["R-1 c/x.tf:1:1 bad"]);
    done(shell(sandbox.path(), "git config diff.relative true; git config status.relativePaths true"));
    assert_eq!(scan(&sandbox, "'a b' --rules rules --diff-base first"), ["R-1 c/x.tf:1:1 bad"]);
}

#[test]
fn references_that_cannot_be_used_are_errors() {
    let sandbox = repository();
    check_refused(&sandbox, "--diff-base nowhere", "SCAN_GIT_REF");
    check_refused(&sandbox, "--diff-base HEAD:rules", "character");
    check_refused(&sandbox, "--diff-base first..main", "range");
    check_refused(&sandbox, "--diff-base=", "reference");
    check_refused(&sandbox, "--diff-base --output=written", "option");
    check_refused(&sandbox, "--diff-base=--output=written", "option");
    done(shell(sandbox.path(), "! test -e written; git checkout -q --orphan island; git commit -qm island"));
    check_refused(&sandbox, "--diff-base main", "SCAN_GIT_HISTORY");
    let empty = Sandbox::new();
    empty.write("rules/boundaries.yml", one_rule("['**']", "[bad]"));
    check_refused(&empty, "--diff-base main", "SCAN_GIT");
    check_refused(&empty, "--staged", "SCAN_GIT");
    done(shell(empty.path(), "git init -q ."));
    check_refused(&empty, "--diff-base main", "there is no commit yet");
}

#[test]
fn a_shallow_clone_without_the_base_is_an_error() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    done(shell(
        sandbox.path(),
        "git clone -q --depth 1 --no-tags \"file://$PWD\" shallow; cd shallow; git fetch -q --depth 1 origin tag first",
    ));
    check_refused(&sandbox, "shallow --diff-base first", "this clone is shallow");
    check_refused(&sandbox, "shallow --diff-base HEAD~1", "this clone is shallow");
    done(shell(sandbox.path(), "cd shallow; git fetch -q --unshallow"));
    assert_eq!(scan(&sandbox, "shallow --diff-base first").len(), 6);
}

#[test]
fn a_partial_clone_fetches_nothing() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    done(shell(
        sandbox.path(),
        "git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true
         git clone -q --no-checkout --filter=blob:none \"file://$PWD\" partial",
    ));
    let count = "cd partial; find .git/objects -type f | sort | sha256sum";
    let before = done(shell(sandbox.path(), count));
    check_refused(&sandbox, "partial --rules rules --diff-base first", "nothing is fetched");
    assert_eq!(done(shell(sandbox.path(), count)), before);
}

#[test]
fn submodules_are_named_as_not_searched() {
    let sandbox = repository();
    let library = Sandbox::new();
    library.write("main.tf", "bad\n");
    done(shell(library.path(), "git init -q -b main .; git add -A; git commit -qm library"));
    done(shell(
        sandbox.path(),
        &format!(
            "git -c protocol.file.allow=always submodule add -q \"file://{}\" modules/library; git commit -qm submodule",
            library.path().display()
        ),
    ));
    for options in ["--diff-base first", "--git-tracked"] {
        let ran = shell(sandbox.path(), &format!("countersign scan {options} || true"));
        assert!(ran.stdout().contains("\"reason\": \"submodule\""), "{}", ran.screen());
        assert!(!violations(&ran).iter().any(|row| row.contains("library")), "{}", ran.screen());
    }
    // A scan of the whole target sees the files that are checked out there.
    assert!(scan(&sandbox, "").contains(&"R-1 modules/library/main.tf:1:1 bad".to_owned()));
}

/// Every setting that makes git start a program, each leaving a mark if it does.
const HOSTILE: &str = "
    mark() { printf '#!/bin/sh\\necho ran >> %s/marks\\ncat \"$@\" 2>/dev/null\\nexit 0\\n' \"$PWD\" > hostile.sh; chmod +x hostile.sh; }; mark
    h=\"$PWD/hostile.sh\"
    git config diff.external \"$h\"; git config core.fsmonitor \"$h\"; git config core.pager \"$h\"; git config pager.diff-tree \"$h\"
    git config diff.evil.command \"$h\"; git config diff.evil.textconv \"$h\"; git config filter.evil.clean \"$h\"
    git config filter.evil.smudge \"$h\"; git config filter.evil.process \"$h\"; git config core.alternateRefsCommand \"$h\"
    git config core.sshCommand \"$h\"; git config core.editor \"$h\"; git config credential.helper \"$h\"; git config gpg.program \"$h\"
    git config core.hooksPath \"$PWD/hooks\"; mkdir hooks; for n in post-index-change post-checkout reference-transaction; do cp hostile.sh hooks/$n; done
    git config alias.diff-tree \"!$h\"; git config core.attributesFile \"$PWD/attributes\"; echo '*.tf diff=evil filter=evil' > attributes
    mkdir -p .git/info; echo '*.tf diff=evil filter=evil' > .git/info/attributes
    git config diff.orderFile order; echo nothing > order; git config diff.ignoreSubmodules all; git config diff.noprefix true
    git config diff.renames copies; git config core.quotePath true; git config log.showSignature true";

#[test]
fn a_hostile_configuration_starts_nothing_and_changes_nothing() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    done(shell(sandbox.path(), "echo bad > staged.tf; git add staged.tf; echo more >> old.tf"));
    let scans = ["--diff-base first", "--staged", "--git-tracked"];
    let run = |options: &str| {
        let hostile = "export GIT_EXTERNAL_DIFF=$PWD/hostile.sh GIT_PAGER=$PWD/hostile.sh GIT_CONFIG_COUNT=1 \
                       GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=$PWD/hostile.sh GIT_TRACE=$PWD/trace";
        shell(sandbox.path(), &format!("{hostile}; countersign scan {options} || true")).screen()
    };
    let before = scans.map(run);
    done(shell(sandbox.path(), HOSTILE));
    assert_eq!(scans.map(run), before);
    let ran = shell(sandbox.path(), "! test -e marks && ! test -e trace");
    assert_eq!(ran.exit, Some(0), "a configured program was started");
    // The trap works: git itself runs the program.
    done(shell(sandbox.path(), "git status >/dev/null 2>&1 || true; test -e marks"));
}

#[test]
fn replaced_and_grafted_objects_are_read_as_they_were_committed() {
    let sandbox = repository();
    done(shell(sandbox.path(), "echo bad > new.tf; git add -A; git commit -qm new"));
    assert_eq!(scan(&sandbox, "--diff-base first"), ["R-1 new.tf:1:1 bad"]);
    done(shell(sandbox.path(), "git replace $(git rev-parse HEAD:new.tf) $(git rev-parse HEAD:changed.tf)"));
    assert_eq!(scan(&sandbox, "--diff-base first"), ["R-1 new.tf:1:1 bad"]);
}

#[test]
fn staged_mode_reads_the_index() {
    let sandbox = repository();
    done(shell(
        sandbox.path(),
        "echo bad > a.tf; git add a.tf; echo fine > a.tf; echo bad > untracked.tf; git rm -q --cached gone.tf; echo bad >> changed.tf",
    ));
    assert_eq!(scan(&sandbox, "--staged"), ["R-1 a.tf:1:1 bad"]);
    // Rules inside the target come from the index as well.
    done(shell(sandbox.path(), "sed -i s/bad/worse/ rules/boundaries.yml"));
    assert_eq!(scan(&sandbox, "--staged"), ["R-1 a.tf:1:1 bad"]);
    done(shell(sandbox.path(), "git add rules"));
    assert_eq!(scan(&sandbox, "--staged"), Vec::<String>::new());
    done(shell(sandbox.path(), "git rm -rq --cached rules"));
    check_refused(&sandbox, "--staged", "commit or stage them");
}

#[test]
fn staged_mode_works_before_the_first_commit_and_refuses_a_conflict() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]")).write("a.tf", "bad");
    done(shell(sandbox.path(), "git init -q -b main .; git add -A"));
    assert_eq!(scan(&sandbox, "--staged"), ["R-1 a.tf:1:1 bad"]);
    let conflicted = repository();
    done(shell(
        conflicted.path(),
        "git checkout -q -b other; echo other > old.tf; git commit -qam other; git checkout -q main
         echo main > old.tf; git commit -qam main; git merge -q other || true",
    ));
    check_refused(&conflicted, "--staged", "is in conflict");
}

#[test]
fn a_commit_hook_sees_what_is_being_committed() {
    let sandbox = repository();
    // `commit -a` and `commit FILE` hand the hook an index of their own.
    done(shell(
        sandbox.path(),
        "printf '#!/bin/sh\\nexec countersign scan --staged --format text\\n' > .git/hooks/pre-commit
         chmod +x .git/hooks/pre-commit; echo bad >> changed.tf",
    ));
    for commit in ["git commit -qam evil", "git commit -qm evil changed.tf"] {
        let ran = shell(sandbox.path(), commit);
        assert_eq!(ran.exit, Some(1), "{}", ran.screen());
        assert!(ran.screen().contains("changed.tf"), "{}", ran.screen());
    }
    done(shell(sandbox.path(), "git checkout -q changed.tf; echo fine >> changed.tf; git commit -qam good"));
}

#[test]
fn tracked_mode_limits_to_the_index_and_says_so() {
    let sandbox = repository();
    done(shell(
        sandbox.path(),
        "echo '*' > .gitignore; echo bad > untracked.tf; rm gone.tf; mkdir d; echo bad > d/x.tf; git add -f d/x.tf
         mv d e; ln -s e d",
    ));
    let ran = shell(sandbox.path(), "countersign scan --git-tracked || true");
    let rows = violations(&ran);
    assert_eq!(rows, ["R-1 old.tf:1:1 bad", "R-1 renamed.tf:2:1 bad"]);
    let verdict: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(verdict["target"], serde_json::json!({"mode": "tracked"}));
    let skipped = serde_json::json!([
        {"file": "becomes-file.tf", "reason": "symlink"},
        {"file": "d/x.tf", "reason": "missing"},
        {"file": "gone.tf", "reason": "missing"},
    ]);
    assert_eq!(verdict["skipped"], skipped);
    // Ignored files are part of the whole target all the same.
    assert!(scan(&sandbox, "").contains(&"R-1 untracked.tf:1:1 bad".to_owned()));
}

#[test]
fn a_linked_work_tree_is_a_target_too() {
    let sandbox = repository();
    done(shell(
        sandbox.path(),
        "git worktree add -q ../linked -b linked; cd ../linked; echo bad > n.tf; git add -A; git commit -qm n",
    ));
    let ran =
        shell(sandbox.path(), "cd ../linked; countersign scan --diff-base first || true; rm -rf ../linked");
    assert_eq!(violations(&ran), ["R-1 n.tf:1:1 bad"]);
}

#[test]
fn nothing_reaches_the_network() {
    let sandbox = repository();
    done(shell(sandbox.path(), SECOND));
    if shell(sandbox.path(), "unshare -rn true").exit != Some(0) {
        return skip("nothing_reaches_the_network", "this machine has no network namespaces");
    }
    let inside = shell(sandbox.path(), "unshare -rn countersign scan --diff-base first || true");
    let outside = shell(sandbox.path(), "countersign scan --diff-base first || true");
    assert_eq!(inside.screen(), outside.screen());
}

//! `countersign scan` as people and machines see it.
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::support::{Ran, Sandbox, repository, shell, shipped_text};

/// The example bundle, used on one of the example targets, from the repository's root.
fn example(target: &str, options: &str) -> Ran {
    shell(
        repository(),
        &format!("countersign scan examples/{target} --rules examples/infra-target/rules {options}"),
    )
}

/// A bundle of one boundary.
pub(crate) fn one_rule(files: &str, patterns: &str) -> String {
    format!(
        "boundaries:\n  - id: R-1\n    title: A title\n    enforcement: {{mode: fail}}\n    match:\n      files: {files}\n      forbidden_patterns: {patterns}\n"
    )
}

/// The verdict's violations as `rule file:line:column pattern`.
pub(crate) fn violations(ran: &Ran) -> Vec<String> {
    let verdict = serde_json::from_slice::<serde_json::Value>(&ran.stdout);
    assert!(verdict.is_ok(), "{}", ran.screen());
    let verdict = verdict.unwrap();
    let row = |violation: &serde_json::Value| {
        let evidence = &violation["evidence"];
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        assert_eq!(violation["file"], evidence["file"]);
        format!(
            "{} {}:{}:{} {}",
            text(&violation["rule_id"]),
            text(&violation["file"]),
            evidence["line"],
            evidence["column"],
            text(&evidence["pattern"])
        )
    };
    verdict["violations"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_example_bundle_fails_the_terraform_example_with_evidence() {
    let ran = example("infra-target/terraform", "");
    assert_eq!(ran.exit, Some(1));
    let expected = [
        "TF-NET-001 modules/network/main.tf:8:26 0.0.0.0/0",
        "TF-NET-001 modules/network/main.tf:9:26 ::/0",
        "TF-IAM-001 main.tf:23:42 \"Action\": \"*\"",
        "TF-S3-001 main.tf:15:3 acl = \"public-read-write\"",
    ];
    assert_eq!(violations(&ran), expected);
}

#[test]
fn the_example_bundle_fails_the_kubernetes_example_with_evidence() {
    let ran = example("infra-target/k8s", "");
    assert_eq!(ran.exit, Some(1));
    let expected = [
        "K8S-POD-001 base/deployment.yaml:19:13 privileged: true",
        "K8S-POD-002 base/deployment.yaml:14:7 hostNetwork: true",
        "K8S-POD-002 base/deployment.yaml:22:11 hostPath:",
        "K8S-IMG-001 base/deployment.yaml:17:44 :latest",
    ];
    assert_eq!(violations(&ran), expected);
}

#[test]
fn the_clean_twins_pass_and_deprecated_rules_never_enforce() {
    // The clean Terraform twin has `us-east-1`, which only a deprecated rule forbids.
    assert!(shipped_text("examples/infra-target-clean/terraform/main.tf").contains("us-east-1"));
    for target in ["infra-target-clean/terraform", "infra-target-clean/k8s"] {
        let ran = example(target, "");
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        assert!(ran.stdout().contains("\"deprecated_ignored\": 1"));
        assert!(ran.stdout().contains("\"verdict\": \"PASS\""));
    }
}

#[test]
fn verdict_json_has_every_field() {
    insta::assert_snapshot!(example("infra-target/terraform/modules", "").stdout());
}

#[test]
fn the_text_shows_lines_carets_and_remediation() {
    insta::assert_snapshot!(example("infra-target", "--format text").screen());
}

#[test]
fn github_annotations_by_example() {
    insta::assert_snapshot!(example("infra-target/terraform", "--format github").screen());
}

#[test]
fn junit_by_example() {
    insta::assert_snapshot!(example("infra-target/k8s", "--format junit").screen());
}

#[test]
fn markdown_by_example() {
    insta::assert_snapshot!(example("infra-target/k8s", "--format markdown").screen());
}

#[test]
fn sarif_by_example() {
    insta::assert_snapshot!(example("infra-target/terraform/modules", "--format sarif").screen());
}

#[test]
fn rules_are_listed_with_the_files_that_they_meet() {
    insta::assert_snapshot!(shell(repository(), "countersign scan rules examples/infra-target").screen());
}

#[test]
fn the_rules_own_tests_run() {
    insta::assert_snapshot!(shell(repository(), "countersign scan test examples/infra-target").screen());
}

#[test]
fn a_test_that_does_not_hold_fails() {
    let sandbox = Sandbox::new();
    let tests = "    tests:\n      violates:\n        - {file: a.md, content: bad}\n        - {file: a.tf, content: good}\n      passes:\n        - {file: a.tf, content: bad}\n";
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]") + tests);
    insta::assert_snapshot!(sandbox.run(&["scan", "test"]).screen());
    let ran = sandbox.run(&["scan", "test", "--format", "json"]);
    assert!(ran.stdout().contains("\"failed\": 3"), "{}", ran.screen());
}

#[test]
fn a_verdict_is_explained() {
    let explain =
        |options: &str| shell(repository(), &format!("countersign scan examples/infra-target {options}"));
    insta::assert_snapshot!(
        explain("--explain TF-NET-001 terraform/modules/network/main.tf --format text").screen()
    );
    let ran = explain("--explain K8S-POD-001 terraform/main.tf --format text");
    assert!(ran.stdout().ends_with("PASS: no glob of the rule matches the file\n"), "{}", ran.screen());
    let ran = explain("--explain TF-NET-01 terraform/main.tf");
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("did you mean `TF-NET-001`?"), "{}", ran.screen());
    let ran = explain("--explain TF-NET-001 ../../README.md");
    assert_eq!(ran.exit, Some(2), "{}", ran.screen());
}

#[test]
fn a_report_is_written_whole_and_nothing_else_is_left() {
    let sandbox = Sandbox::new();
    sandbox
        .write("rules/boundaries.yml", one_rule("['*.tf']", "[bad]"))
        .write("a.tf", "bad")
        .write("out/x", "");
    let ran = sandbox.run(&["scan", "--out", "out/verdict.json"]);
    assert_eq!((ran.exit, ran.stdout()), (Some(1), ""));
    let printed = sandbox.run(&["scan"]);
    let listed = shell(sandbox.path(), "ls out; cat out/verdict.json");
    assert_eq!(listed.stdout(), format!("verdict.json\nx\n{}", printed.stdout()));
    let ran = sandbox.run(&["scan", "--out", "nowhere/verdict.json"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("SCAN_OUTPUT"), "{}", ran.screen());
}

#[test]
fn that_nobody_reads_the_report_does_not_make_it_a_pass() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**']", "[bad]"));
    for number in 0..2000 {
        sandbox.write(&format!("f{number}"), "bad");
    }
    let ran =
        shell(sandbox.path(), "set +e; countersign scan | head -c 10 >/dev/null; echo ${PIPESTATUS[0]}");
    assert_eq!(ran.stdout(), "1\n", "{}", ran.screen());
}

#[test]
fn stats_are_talk_and_not_part_of_the_verdict() {
    let ran = example("infra-target-clean", "--stats --threads 3");
    assert!(ran.stderr().contains("search") && ran.stderr().contains("3 threads"), "{}", ran.screen());
    assert_eq!(ran.stdout(), example("infra-target-clean", "").stdout());
}

#[test]
fn the_bundles_own_files_are_left_out_and_counted() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**']", "[bad]"));
    sandbox.write("rules/notes.md", "bad").write("policy/boundaries.yml", "bad");
    let ran = sandbox.run(&["scan"]);
    assert_eq!(violations(&ran), ["R-1 policy/boundaries.yml:1:1 bad", "R-1 rules/notes.md:1:1 bad"]);
    assert!(ran.stdout().contains("\"rule_files_excluded\": 1"), "{}", ran.stdout());
    let ran = sandbox.run(&["scan", "policy", "--rules", "rules"]);
    assert_eq!(violations(&ran), ["R-1 boundaries.yml:1:1 bad"]);
}

/// The schema of the verdict and the schemas of the rule files accept what the program reads and writes.
#[test]
fn documents_fit_their_schemas() {
    let check = |schema: &str, document: &serde_json::Value| {
        let schema = serde_json::from_str(&shipped_text(&format!("schemas/{schema}.schema.json"))).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
        validator
    };
    for target in ["infra-target", "infra-target-clean"] {
        let mut verdict: serde_json::Value = serde_json::from_slice(&example(target, "").stdout).unwrap();
        let validator = check("scan_verdict", &verdict);
        verdict["violations"] = serde_json::json!([{"rule_id": "x"}]);
        assert!(!validator.is_valid(&verdict));
    }
    let rule = serde_json::json!({
        "id": "a", "title": "t", "enforcement": {"mode": "fail"},
        "match": {"files": ["**/*.tf"], "forbidden_patterns": ["x"]},
    });
    let validator = check("scan_boundaries", &serde_json::json!({"boundaries": [rule]}));
    for (pointer, wrong) in [
        ("/boundaries/0/enforcement/mode", serde_json::json!("warn")),
        ("/boundaries/0/match/files", serde_json::json!([])),
        ("/boundaries/0/match/files/0", serde_json::json!("./x")),
        ("/boundaries/0/match/files/0", serde_json::json!("x/")),
        ("/boundaries/0/match/forbidden_patterns/0", serde_json::json!("")),
        ("/boundaries", serde_json::json!([])),
    ] {
        let mut file = serde_json::json!({"boundaries": [rule]});
        *file.pointer_mut(pointer).unwrap() = wrong;
        assert!(!validator.is_valid(&file), "{pointer}");
    }
}

/// The schema of SARIF 2.1.0 as Microsoft's validator ships it.
#[test]
fn sarif_fits_the_schema_of_an_independent_validator() {
    let sandbox = Sandbox::new();
    let schema = shipped_text("fixtures/scan/sarif-2.1.0.schema.json");
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    sandbox
        .write("t/rules/boundaries.yml", one_rule("['**']", "[bad]"))
        .write("t/a b%,:#?.tf", "x bad")
        .write("t/u", "\u{feff}bad");
    shell(sandbox.path(), "printf bad > $'t/n\\nl\\xff'; printf '\\xff\\xfeb\\0a\\0d\\0' > t/wide");
    let odd = shell(sandbox.path(), "countersign scan t --format sarif || true");
    for ran in
        [odd, example("infra-target", "--format sarif"), example("infra-target-clean", "--format sarif")]
    {
        let sarif: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let errors: Vec<String> = validator.iter_errors(&sarif).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
        let broken = ran.stdout().replace("\"level\":\"error\"", "\"level\":\"fatal\"");
        assert!(!validator.is_valid(&serde_json::from_str(&broken).unwrap()));
    }
}

/// The script of the GitHub Action, run as a runner would.
#[test]
fn the_github_action_reports_and_fails_as_the_scan_does() {
    let action = shipped_text("action.yml");
    let script = action.split("      run: |\n").nth(1).unwrap();
    let script: String =
        script.lines().map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line))).collect();
    let sandbox = Sandbox::new();
    sandbox
        .write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]"))
        .write("a b/x.tf", "bad")
        .write("script", script);
    let run = |path: &str, rules: &str| {
        let variables = format!(
            "export SCAN_PATH='{path}' SCAN_RULES='{rules}' SCAN_DIFF_BASE= SCAN_SARIF=out.sarif SCAN_PROGRAM=countersign \
             GITHUB_OUTPUT=output GITHUB_STEP_SUMMARY=summary; : > output; : > summary"
        );
        shell(
            sandbox.path(),
            &format!(
                "{variables}; set +e; bash -eo pipefail script; echo \"exit $?\"; cat output summary; grep -c ruleId out.sarif"
            ),
        )
    };
    let ran = run("a b", "rules");
    for expected in
        ["::error file=x.tf,line=1,col=1", "exit 1\nverdict=FAIL\n## Countersign scan: FAIL", "\n1\n"]
    {
        assert!(ran.stdout().contains(expected), "{expected}\n{}", ran.screen());
    }
    sandbox.write("a b/x.tf", "good");
    let ran = run("a b", "rules");
    assert!(ran.stdout().contains("exit 0\nverdict=PASS\n"), "{}", ran.screen());
    let ran = run("a b", "nowhere");
    assert!(ran.stdout().contains("exit 2\n") && !ran.stdout().contains("verdict="), "{}", ran.screen());
}

/// The entries of the pre-commit hooks, run as pre-commit would: without file names.
#[test]
fn the_pre_commit_hooks_refuse_what_the_scan_refuses() {
    let hooks = shipped_text(".pre-commit-hooks.yaml");
    let entries: Vec<&str> = hooks.lines().filter_map(|line| line.strip_prefix("  entry: ")).collect();
    assert_eq!(entries.len(), 2);
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]")).write("x.tf", "bad");
    shell(sandbox.path(), "git init -q . && git add -A");
    for entry in entries {
        let ran = shell(sandbox.path(), entry);
        assert_eq!(ran.exit, Some(1), "{}", ran.screen());
        assert!(ran.stdout().starts_with("R-1 A title (boundary)"), "{}", ran.screen());
    }
}

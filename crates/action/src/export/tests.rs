//! The rules of each host, from a small table, and what counts as drift.

use alloc::{format, string::String, vec::Vec};

use super::{Export, ExportTarget, drift, export};
use crate::{
    Kind,
    denial::tests::{SHIPPED, found},
};

fn of(target: ExportTarget) -> Export {
    export(target, &found(&SHIPPED), "policy_hash 1, table_hash 2")
}

#[test]
fn claude_code_refuses_commands_options_and_paths() {
    let Export { rules, text, .. } = of(ExportTarget::ClaudeCode);
    let expected = [
        "Bash(wipe:*)",
        "Bash(dd:*)",
        "Bash(git clean:*)",
        "Bash(git gc:*)",
        "Bash(run -s:*)",
        "Bash(git push --force:*)",
        "Bash(git push * --force)",
        "Bash(git push * --force *)",
        "Read(//**/.ssh/**)",
        "Edit(//proc/**)",
        "Edit(//null/*)",
    ];
    let without_rm: Vec<&String> = rules.iter().filter(|rule| !rule.starts_with("Bash(rm")).collect();
    assert_eq!(without_rm, expected);
    for rule in ["Bash(rm -r:*)", "Bash(rm -rf:*)", "Bash(rm * -r *)", "Bash(rm * --recursive)"] {
        assert!(rules.iter().any(|found| found == rule), "{rule}: {rules:?}");
    }
    assert!(!text.contains("allow\""), "{text}");
    assert!(text.contains("policy_hash 1, table_hash 2"), "{text}");
}

#[test]
fn codex_forbids_starts_of_commands() {
    let Export { rules, .. } = of(ExportTarget::CodexRules);
    assert_eq!(
        rules.first().unwrap(),
        "prefix_rule(pattern = [[\"wipe\", \"dd\"]], decision = \"forbidden\", justification = \"countersign: \
         shell.destructive is always denied\", match = [[\"wipe\"]])\n"
    );
    let Export { rules, .. } = of(ExportTarget::CodexRequirements);
    assert_eq!(
        rules.last().unwrap(),
        "[[rules.prefix_rules]]\npattern = [{ token = \"git\" }, { token = \"push\" }, { token = \"--force\" }]\n\
         decision = \"forbidden\"\njustification = \"countersign: git.push_force is always denied\"\n\n"
    );
}

#[test]
fn gemini_denies_starts_of_lines_and_tools() {
    let Export { rules, .. } =
        export(ExportTarget::Gemini, &found(&[Kind::GitPushForce, Kind::NetFetch]), "");
    assert_eq!(
        rules,
        [
            "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git push --force\"]\ndecision = \"deny\"\n\
             priority = 999\n\n",
            "[[rule]]\ntoolName = [\"web_fetch\", \"google_web_search\"]\ndecision = \"deny\"\npriority = 999\n\n",
        ]
    );
}

#[test]
fn a_file_has_the_rules_or_it_has_drifted() {
    for target in ExportTarget::ALL {
        let wanted = of(*target);
        assert_eq!(drift(*target, &wanted, &wanted.text), None, "{target}");
        assert!(drift(*target, &wanted, "").is_some(), "{target}");
        let other = export(*target, &found(&SHIPPED), "policy_hash 3, table_hash 2");
        assert!(drift(*target, &wanted, &other.text).is_some(), "{target}");
        let fewer = export(*target, &found(&[Kind::GitPushForce]), "policy_hash 1, table_hash 2");
        assert!(drift(*target, &wanted, &fewer.text).is_some(), "{target}");
        assert!(drift(*target, &fewer, &wanted.text).is_some() || *target == ExportTarget::ClaudeCode);
    }
}

/// A host's file may hold more than what was generated.
#[test]
fn what_stands_beside_the_rules_is_nobodys_business() {
    for target in [ExportTarget::CodexRequirements, ExportTarget::CodexRules, ExportTarget::Gemini] {
        let wanted = of(target);
        assert_eq!(drift(target, &wanted, &format!("# mine\n{}# mine too\n", wanted.text)), None, "{target}");
    }
    let wanted = of(ExportTarget::ClaudeCode);
    let settings = wanted.text.replacen("\"deny\": [", "\"allow\": [\"Read\"], \"deny\": [\"Mine\",", 1);
    assert_eq!(drift(ExportTarget::ClaudeCode, &wanted, &settings), None);
}

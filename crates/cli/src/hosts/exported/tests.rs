//! The corpus of command lines, judged by the kernel's table and by the rules that hosts are given.

use std::{collections::BTreeSet, path::Path};

use countersign_action::{
    Command, CommandRule, Denials, DeniedCommand, DeniedOption, ExportTarget, Kind, Part, Simple, Stands,
    Word, classify_line, export, parse_line,
};
use countersign_policy::Mode;

use super::Refused;
use crate::{
    actions::{
        self,
        tests::{corpus, place, table},
    },
    hosts::workspace::Workspace,
};

fn shipped() -> Refused {
    let nowhere = Path::new("/no/such/folder");
    let workspace = Workspace { root: nowhere.into(), data: nowhere.into(), mode: Mode::WritesAllowed };
    Refused::find(&workspace).unwrap()
}

/// The plain commands of a line, as a host sees them that splits lines: words and nothing to be expanded.
fn plain_commands(line: &str) -> Vec<Vec<String>> {
    let Ok(tree) = parse_line(line) else { return Vec::new() };
    let pipelines =
        tree.list.items.iter().flat_map(|item| {
            std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline))
        });
    let commands = pipelines.flat_map(|pipeline| &pipeline.commands);
    commands
        .filter_map(|command| match command {
            Command::Simple(Simple { words, assignments, .. }) if assignments.is_empty() => {
                words.iter().map(literal).collect()
            }
            Command::Simple(_) | Command::Compound(..) | Command::Function { .. } => None,
        })
        .collect()
}

fn literal(word: &Word) -> Option<String> {
    let part = |part: &Part| match part {
        Part::Quoted(text) | Part::Bare(text) => Some(text.clone()),
        Part::Variable { .. }
        | Part::Substitution(_)
        | Part::Process(_)
        | Part::Arithmetic(_)
        | Part::Array(_) => None,
    };
    word.parts.iter().map(part).collect()
}

/// Whether a command starts with one word of each place; what follows.
fn after<'c>(words: &[Vec<String>], command: &'c [String]) -> Option<&'c [String]> {
    let fits =
        words.len() <= command.len() && words.iter().zip(command).all(|(names, word)| names.contains(word));
    fits.then(|| &command[words.len()..])
}

/// Whether rules that see options only right after their command forbid this one.
fn is_forbidden_by_start(denials: &Denials, command: &[String]) -> bool {
    let by_command = |denied: &DeniedCommand| after(&denied.words, command).is_some();
    let by_option = |denied: &DeniedOption| {
        let rest = after(&denied.words, command);
        let first = rest.and_then(<[String]>::first);
        first.is_some_and(|first| denied.names.contains(first) || denied.bundles.contains(first))
    };
    denials.commands.iter().any(by_command) || denials.options.iter().any(by_option)
}

/// Whether rules that see options anywhere forbid this one.
fn is_forbidden(denials: &Denials, command: &[String]) -> bool {
    let by_option = |denied: &DeniedOption| {
        let rest = after(&denied.words, command).filter(|_| denied.stands == Stands::Anywhere);
        rest.is_some_and(|rest| rest.iter().any(|word| denied.names.contains(word)))
    };
    is_forbidden_by_start(denials, command) || denials.options.iter().any(by_option)
}

#[test]
fn the_shipped_policy_always_denies_three_kinds() {
    assert_eq!(
        Vec::from_iter(shipped().kinds),
        [Kind::GitPushForce, Kind::ShellDestructive, Kind::ShellUnknown]
    );
}

/// The good side: nothing is taken from anybody that the policy would not have taken too.
#[test]
fn what_a_host_would_forbid_the_kernel_denies() {
    let Refused { kinds, denials, .. } = shipped();
    let mut forbidden = 0;
    for (line, kind) in corpus() {
        if plain_commands(&line).iter().any(|command| is_forbidden(&denials, command)) {
            forbidden += 1;
            assert!(kinds.contains(&kind), "{line} is {kind}");
        }
    }
    assert!(forbidden >= 100, "{forbidden} lines of the corpus are forbidden");
}

/// Every name of a command, a sub-command or an option in the shipped table.
fn names(rules: &[CommandRule], known: &mut BTreeSet<String>) {
    for rule in rules {
        let options = rule.options.iter().flat_map(|options| options.iter());
        let all = rule.names.iter().chain(options.flat_map(|option| option.names.iter()));
        known.extend(all.map(|name| name.as_str().to_owned()));
        names(rule.commands.as_deref().unwrap_or_default(), known);
    }
}

/// Lines of the corpus that only the kernel denies, by the start of the gap that tells of them.
const LET_THROUGH: &[(&str, &[&str])] = &[
    ("deleting outside the workspace", &["rm ."]),
    ("git checkout .", &["git checkout ."]),
    (
        "git -c",
        &["git -c alias.x='!rm -rf y' x", "git -c core.pager='sh x' log", "git -c core.sshCommand=x fetch"],
    ),
    ("set -o", &["set -o history"]),
    ("hostname|mount", &["hostname x", "mount a b"]),
    ("ip a|addr", &["ip link set a down"]),
    (
        "commands named by their folder, or started by another",
        &["xargs rm -rf < list", "env git push -f", "sudo git push --force", "watch rm x"],
    ),
    (
        "commands, sub-commands and tools that are not in the table",
        &[
            "python -m http.server",
            "git bisect run ./a",
            "docker run -v /:/h alpine",
            "docker exec a sh",
            "kubectl exec a -- sh",
            "pulumi stack rm prod --force --yes",
            "python3 -m pip config --editor ./evil.sh edit",
            "python3 -m timeit -n1 -r1 'import os'",
            "yarn config set yarnPath ./evil.js",
            "-x",
        ],
    ),
    (
        "options that are not in the table",
        &[
            "mapfile -C rm a",
            "bash -O extglob -c ls",
            "apt-cache policy -o Dir::Bin::dpkg=./evil.sh",
            "csplit -f .claude/settings -b '.json%.0d' s 1",
            "dpkg -x x.deb .claude",
            "tclsh -v <<< 'exec touch x'",
            "zstdcat -f -o .claude/settings.json a.zst",
        ],
    ),
    (
        "options of a command that stand behind its sub-command",
        &["cargo metadata --config 'build.rustc=\"./evil\"'"],
    ),
    ("git config", &["git config --get a b"]),
    (
        "code given inline",
        &["apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: ../a\n*** End Patch\nEOF"],
    ),
];

/// What may follow a command: if all of it is denied, so is the start.
const FOLLOWING: [&str; 10] =
    ["", "x", "ls", "--help", "--version", "-v", "-l --list", "list", "status x", "safe/file.txt"];

/// The bad side, found without the export: a start made of names of the table that the kernel denies whatever follows it is
/// one that a list of starts can say. A host forbids it, or it stands here, under the gap of the export that tells of it.
#[test]
fn what_the_kernel_denies_a_host_forbids_or_its_gap_is_named() {
    let Refused { kinds, denials, .. } = shipped();
    let (table, place) = (table(), place());
    let mut known = BTreeSet::new();
    names(&actions::read(actions::SHIPPED).unwrap().commands, &mut known);
    let is_denied = |line: &str| kinds.contains(&classify_line(&table, &place, line).kind);
    let is_sayable = |command: &[String]| {
        let named = command.iter().take_while(|word| known.contains(*word)).count();
        (1..=named).any(|count| {
            let start = command[..count].join(" ");
            FOLLOWING.iter().all(|more| is_denied(&format!("{start} {more}")))
        })
    };
    let (mut sayable, mut let_through) = (0, Vec::new());
    for (line, _) in corpus().into_iter().filter(|(_, kind)| kinds.contains(kind)) {
        let [command] = plain_commands(&line).try_into().unwrap_or_else(|_| [Vec::new()]);
        if is_sayable(&command) {
            sayable += 1;
            if !is_forbidden(&denials, &command) {
                let_through.push(line);
            }
        }
    }
    let expected: Vec<&str> = LET_THROUGH.iter().flat_map(|(_, lines)| lines.iter().copied()).collect();
    assert_eq!(
        let_through.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        expected.into_iter().collect::<BTreeSet<_>>()
    );
    let gaps = export(ExportTarget::CodexRules, &denials, "").gaps;
    for (gap, _) in LET_THROUGH {
        assert!(gaps.iter().any(|named| named.what.starts_with(gap)), "{gap}");
    }
    assert!(sayable >= 60, "{sayable} lines are denied by their start");
}

#[test]
fn hosts_that_see_only_starts_forbid_fewer_and_say_so() {
    let Refused { denials, .. } = shipped();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    for line in ["rm -rf x", "git push --force origin", "dd if=a of=b"] {
        assert!(is_forbidden_by_start(&denials, &words(line)), "{line}");
    }
    for line in ["rm x -r", "git push origin --force"] {
        assert!(is_forbidden(&denials, &words(line)), "{line}");
        assert!(!is_forbidden_by_start(&denials, &words(line)), "{line}");
    }
    for target in [ExportTarget::CodexRules, ExportTarget::Gemini] {
        let gaps = export(target, &denials, "").gaps;
        assert!(gaps.iter().any(|gap| gap.what.starts_with("an option that is not the first")), "{target}");
    }
}

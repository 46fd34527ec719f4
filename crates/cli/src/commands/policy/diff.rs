//! `countersign policy diff`: what changed in the text, and for whom it changes anything.

use std::{fmt::Write as _, path::PathBuf};

use countersign_canon::{Json, Wire as _};
use countersign_policy::{
    Cdcl, CompareError, DecisionChange, Outcome, Policy, RuleChange, compare, rule_changes, rule_in_words,
};
use countersign_proof::Theorem;

use super::{document::load_or_give_up, facts::facts, proved};
use crate::{console::Console, exit::Exit, failure::Failure, format::Format};

/// Compare two policies: rules added, removed and changed, and every class of contexts whose decision changes
///
/// The second part is complete, not sampled: all contexts are covered. Each class comes with its smallest context,
/// which both policies' own evaluators have decided again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy diff policy/odeu.instructions.v1.json proposed.json
  countersign policy diff old.json new.yaml --format json

Exit: 0 no context changes, 1 some decision changes, 2 could not tell")]
pub(super) struct Arguments {
    /// The policy in force
    old: PathBuf,
    /// The policy that is to replace it
    new: PathBuf,
    /// For people or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let (old, new) = (load_or_give_up(&arguments.old)?, load_or_give_up(&arguments.new)?);
    let rules = rule_changes(&old, &new);
    let decisions = compare(&old, &new, &mut Cdcl::default()).map_err(|error| match error {
        CompareError::Solver(never) => match never {},
        CompareError::Disagreement => proved::disagreement(),
    })?;
    // "No context changes" is not the solver's word alone: a certificate of it is checked.
    let is_equivalent = proved::holds(&Theorem::Equivalent, &new, Some(&old))?;
    if is_equivalent != decisions.is_empty() {
        return Err(proved::disagreement());
    }
    let only_tightens = proved::holds(&Theorem::OnlyTightens, &new, Some(&old))?;
    console.data(&match arguments.format {
        Format::Text => text(&old, &new, &rules, &decisions, only_tightens),
        Format::Json => json(&old, &new, &rules, &decisions, only_tightens).to_pretty(),
    })?;
    Ok(if decisions.is_empty() { Exit::Yes } else { Exit::No })
}

fn json(
    old: &Policy,
    new: &Policy,
    rules: &[RuleChange<'_>],
    decisions: &[DecisionChange<'_>],
    only_tightens: bool,
) -> Json<'static> {
    let decisions = decisions.iter().map(|change| {
        Json::object([
            ("old", change.old.to_json()),
            ("new", change.new.to_json()),
            ("witness", change.witness.write()),
        ])
    });
    Json::object([
        ("schema", Json::from("instruction-policy-diff@1")),
        ("old_policy_hash", old.hash().write()),
        ("new_policy_hash", new.hash().write()),
        ("rules", Json::array(rules.iter().map(RuleChange::to_json))),
        ("decisions", Json::array(decisions)),
        ("only_tightens", Json::from(only_tightens)),
    ])
}

fn text(
    old: &Policy,
    new: &Policy,
    rules: &[RuleChange<'_>],
    decisions: &[DecisionChange<'_>],
    only_tightens: bool,
) -> String {
    let mut text = format!("old policy_hash {}\nnew policy_hash {}\n\n", old.hash(), new.hash());
    if rules.is_empty() {
        text.push_str("No rule is added, removed or changed.\n");
    }
    for change in rules {
        let sign = match change {
            RuleChange::Added(_) => '+',
            RuleChange::Removed(_) => '-',
            RuleChange::Changed { .. } => '~',
        };
        let _infallible = write!(text, "{sign} {}: ", change.rule_id());
        let _infallible = match change {
            RuleChange::Added(rule) | RuleChange::Removed(rule) => writeln!(text, "{}", rule_in_words(rule)),
            RuleChange::Changed { old, new, fields } => {
                let fields = fields.join(", ");
                writeln!(text, "{fields}\n    old: {}\n    new: {}", rule_in_words(old), rule_in_words(new))
            }
        };
    }
    if decisions.is_empty() {
        text.push_str("\nNo context changes: every context is decided as before, with the same code.\n");
        return text;
    }
    let _infallible =
        writeln!(text, "\nDecisions that change: {}, each with its smallest context", decisions.len());
    for (number, change) in (1_u32..).zip(decisions) {
        let DecisionChange { old, new, witness } = change;
        let _infallible = writeln!(
            text,
            "\n{number}. {} -> {}\n   {}",
            outcome(old),
            outcome(new),
            facts(&witness.write())
        );
    }
    text.push_str(if only_tightens {
        "\nThe new policy only tightens: it allows nothing that the old one did not (proved).\n"
    } else {
        "\nThe new policy loosens something: it allows what the old one did not, or asks fewer people for an approval.\n"
    });
    text
}

fn outcome(outcome: &Outcome<'_>) -> String {
    let Outcome { decision, decision_code, approval_need } = outcome;
    let approval = match approval_need {
        None => String::new(),
        Some(need) if need.needs().next().is_none() => ", approval required".to_owned(),
        Some(need) => format!(", approval required of {}", need.in_words()),
    };
    format!("{decision} {decision_code}{approval}")
}

//! `countersign policy explain`: why this decision, and why not another.

use std::{fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use countersign_policy::{Explanation, FailedAtom, RuleExplanation, condition_in_words};

use super::{document::load_or_give_up, eval::ContextArguments};
use crate::{console::Console, exit::Exit, failure::Failure};

/// Say why a context is decided as it is: which rules matched, and which atom kept the others from it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy explain --in policy/odeu.instructions.v1.json --context context.json
  countersign policy explain --in p.json --context c.json --format markdown

Exit: 0 explained, 2 could not evaluate")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    #[command(flatten)]
    context: ContextArguments,
    /// For people, for machines, or for a comment under a change
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load_or_give_up(&arguments.input)?;
    let context = arguments.context.load()?;
    let explanation = policy.explain(&context);
    console.data(&match arguments.format {
        Format::Text => text(&explanation),
        Format::Json => explanation.to_json().to_pretty(),
        Format::Markdown => markdown(&explanation),
    })?;
    Ok(Exit::Yes)
}

/// The sentence, then the rules that matched in order, then the others with what they lacked.
fn text(explanation: &Explanation<'_>) -> String {
    let mut text = format!("{}\n", sentence(&explanation.summary()));
    let (matched, others): (Vec<_>, Vec<_>) = explanation.rules.iter().partition(|rule| rule.matched);
    let _infallible = writeln!(text, "\nRules that matched, in order: {}", matched.len());
    for (number, RuleExplanation { rule, .. }) in (1_u32..).zip(&matched) {
        let (id, effect, code) = (&rule.rule_id, rule.then.effect, &rule.code);
        let _infallible = writeln!(
            text,
            "  {number}. {id}  {effect}  {code}\n     {}\n     because {}",
            rule.message,
            condition_in_words(&rule.when)
        );
    }
    let _infallible = writeln!(text, "\nRules that did not match: {}", others.len());
    for RuleExplanation { rule, failed, .. } in others {
        let _infallible = writeln!(text, "  - {}  {}", rule.rule_id, rule.then.effect);
        for line in FailedAtom::describe_all(failed) {
            let _infallible = writeln!(text, "      {line}");
        }
    }
    let trace = &explanation.trace;
    let _infallible = writeln!(
        text,
        "\npolicy_hash         {}\ninput_context_hash  {}",
        trace.policy_hash(),
        trace.input_context_hash
    );
    text
}

fn markdown(explanation: &Explanation<'_>) -> String {
    let mut text = format!(
        "**{}**\n\n| rule | effect | matched | why |\n| --- | --- | --- | --- |\n",
        sentence(&explanation.summary())
    );
    for RuleExplanation { rule, matched, failed } in &explanation.rules {
        let why = if *matched {
            condition_in_words(&rule.when)
        } else {
            FailedAtom::describe_all(failed).join("; ")
        };
        let (id, effect, why) = (&rule.rule_id, rule.then.effect, why.replace('|', "\\|"));
        let _infallible =
            writeln!(text, "| `{id}` | {effect} | {} | {why} |", if *matched { "yes" } else { "no" });
    }
    let trace = &explanation.trace;
    let _infallible = writeln!(
        text,
        "\npolicy_hash `{}`, input_context_hash `{}`",
        trace.policy_hash(),
        trace.input_context_hash
    );
    text
}

/// With a capital letter, as a person would write it.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", characters.as_str())
}

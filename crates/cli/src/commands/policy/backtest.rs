//! `countersign policy backtest`: what another policy would have said about everything that was decided.

use std::{fmt::Write as _, path::PathBuf};

use countersign_canon::{Json, Wire as _};
use countersign_service::{Backtest, Flip};

use super::document::load;
use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// Decide everything that was recorded again under another policy, and list what would come out otherwise, by rule
///
/// Hard gates stay as they were: a policy cannot change what they refuse. Each kind of change comes with its smallest context.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy backtest --policy next.json
  countersign policy backtest --policy next.yaml --data /var/lib/countersign --format json

Exit: 0 nothing would come out otherwise, 1 something would, or the policy is invalid, 2 the store could not be read")]
pub(crate) struct Arguments {
    /// The other policy, as JSON or YAML
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load(&arguments.policy)?;
    let tested = arguments.place.open()?.backtest(&policy)?;
    arguments.shown.show(console, &as_json(&tested), &in_words(&tested))?;
    Ok(if tested.flips.is_empty() { Exit::Yes } else { Exit::No })
}

fn in_words(tested: &Backtest) -> String {
    let mut text = String::new();
    for Flip { rule_id, before, after, count, context, decision_id } in &tested.flips {
        let rule = rule_id.as_deref().unwrap_or("no rule");
        // Writing to a String cannot fail.
        let _infallible = writeln!(
            text,
            "{count:>7}  {rule}: {} {} instead of {} {}\n         such as {decision_id}: {}",
            after.0,
            after.1,
            before.0,
            before.1,
            context.to_canonical()
        );
    }
    let flipped = tested.flips.iter().map(|flip| flip.count).fold(0_u64, u64::saturating_add);
    let Backtest { decisions, gated, .. } = tested;
    let _infallible = writeln!(
        text,
        "{decisions} decisions made again, {flipped} come out otherwise; {gated} were refused before any rule was asked"
    );
    text
}

fn as_json(tested: &Backtest) -> Json<'static> {
    let number = |number: u64| Json::from(u32::try_from(number).unwrap_or(u32::MAX));
    let said = |(decision, code): &(String, String)| {
        Json::object([
            ("decision", Json::from(decision.clone())),
            ("decision_code", Json::from(code.clone())),
        ])
    };
    let flips = tested.flips.iter().map(|flip| {
        let rule = flip.rule_id.clone().map(|rule| ("rule_id", Json::from(rule)));
        let members = [
            ("before", said(&flip.before)),
            ("after", said(&flip.after)),
            ("count", number(flip.count)),
            ("decision_id", Json::from(flip.decision_id.clone())),
            ("context", flip.context.write()),
        ];
        Json::object(members.into_iter().chain(rule))
    });
    Json::object([
        ("schema", Json::from("instruction-policy-backtest@1")),
        ("decisions", number(tested.decisions)),
        ("gated", number(tested.gated)),
        ("flips", Json::array(flips)),
    ])
}

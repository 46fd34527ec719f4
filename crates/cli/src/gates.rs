//! Gates: one file each, run over the shipped examples; every one of them can fail.

pub(crate) mod dry_run;
pub(crate) mod evaluator;

use countersign_canon::Issue;

use crate::failure::{Failure, codes};

/// What a gate found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Its letter.
    pub(crate) letter: &'static str,
    /// What it checks.
    pub(crate) what: &'static str,
    /// What is wrong; nothing if it passes.
    pub(crate) complaints: Vec<String>,
}

/// The gates with these letters, or all; `gates` are in the order of their letters.
fn chosen<'g, G>(
    gates: &'g [G],
    letter: impl Fn(&G) -> &'static str,
    letters: &[String],
) -> Result<Vec<&'g G>, Failure> {
    let is_named = |gate: &&G| letters.iter().any(|wanted| wanted.to_uppercase() == letter(gate));
    let is_known = |wanted: &&String| gates.iter().any(|gate| wanted.to_uppercase() == letter(gate));
    if let Some(unknown) = letters.iter().find(|wanted| !is_known(wanted)) {
        let issue = Issue::new(codes::CLI_USAGE, format!("there is no gate `{unknown}`"));
        let last = gates.last().map_or("A", &letter);
        return Err(Failure::CouldNotTell(issue.with_expected(format!("letters from A to {last}"))));
    }
    Ok(gates.iter().filter(|gate| letters.is_empty() || is_named(gate)).collect())
}

//! The table of machine codes for people, from the `codes` module of every crate.

use countersign_canon::{CodeEntry, canon_codes};

/// Every crate that declares codes, lowest first. `cargo xtask tidy` refuses a declared code that is not in the table.
const CRATES: &[(&str, &[CodeEntry])] = &[
    ("canon", canon_codes::ALL),
    ("policy", countersign_policy::codes::ALL),
    ("intent", countersign_intent::intent_codes::ALL),
    ("dryrun", countersign_dryrun::dry_run_codes::ALL),
    ("scan", countersign_scan::codes::ALL),
    ("action", countersign_action::codes::ALL),
    ("ledger", countersign_ledger::ledger_codes::ALL),
    ("proof", countersign_proof::proof_codes::ALL),
    ("store", countersign_store::store_codes::ALL),
    ("service", countersign_service::service_codes::ALL),
    ("cli", countersign_cli::codes::ALL),
    ("cli", countersign_cli::yaml_codes::ALL),
];

/// The table as Markdown, sorted by code.
pub(super) fn markdown() -> String {
    let rows = CRATES.iter().flat_map(|(name, entries)| entries.iter().map(move |entry| (entry, *name)));
    let mut rows: Vec<String> = rows
        .map(|(entry, name)| {
            format!("| `{}` | {} | {name} |\n", entry.code, entry.meaning.replace('|', "\\|"))
        })
        .collect();
    rows.sort();
    format!(
        "{}# Codes\n\nEvery refusal carries one of these names. A name never changes its meaning.\n\n\
         | code | meaning | raised by |\n| --- | --- | --- |\n{}",
        super::MARKDOWN_NOTICE,
        rows.concat()
    )
}

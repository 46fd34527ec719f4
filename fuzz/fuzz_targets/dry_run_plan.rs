//! Any intent that loads: planning it ends, twice the same; what comes out reads back, is what validation makes again, and
//! names no path that the intent does not name.
#![no_main]

use countersign_canon::{Json, Timestamp, Wire};
use countersign_dryrun::{
    OverBudget, PlanOptions, Source, dry_run_codes, explain_markdown, explain_svg, explain_text, plan, validate,
};
use countersign_intent::DocumentKind;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(json) = Json::parse(bytes) else { return };
    // Sealed again, so that mutations get past the checksum.
    let Ok(source) = Source::from_json(&DocumentKind::Intent.seal(&json.into_owned()), None) else { return };
    let created_at = Timestamp::parse("2026-01-01T00:00:00Z").expect("a time");
    let options = PlanOptions { registry: None, created_at, over_budget: OverBudget::Allowed };
    match plan(&source, options) {
        Ok(result) => {
            assert_eq!(plan(&source, options).expect("and again"), result);
            let json = result.write();
            let again = validate(&json, &source, None, OverBudget::Allowed).expect("the result is what it should be");
            assert_eq!(again, result);
            assert!(!explain_text(&result).is_empty() && !explain_markdown(&result).is_empty());
            assert!(explain_svg(&result).ends_with("</svg>\n"));
        }
        Err(issues) => assert!(
            issues.iter().all(|issue| issue.code == dry_run_codes::DE5_HIGH_RISK_NO_REVIEW),
            "{issues:?}"
        ),
    }
});

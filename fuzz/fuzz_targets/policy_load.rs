//! Any bytes: a policy loads whole or is refused with codes and places; what loads means the same in every form.
#![no_main]

use std::sync::LazyLock;

use countersign_policy::{Context, Policy};
use libfuzzer_sys::fuzz_target;

static CONTEXTS: LazyLock<Vec<Context>> = LazyLock::new(|| {
    let shipped = Policy::load(countersign_policy::shipped::STANDARD.policy).expect("the shipped policy loads");
    shipped.example_contexts()
});

fuzz_target!(|bytes: &[u8]| {
    match Policy::load(bytes) {
        Ok(policy) => {
            let again = Policy::load(policy.to_document().to_pretty().as_bytes()).expect("what is written loads");
            assert_eq!(again.hash(), policy.hash());
            for context in CONTEXTS.iter() {
                let evaluation = policy.evaluate(context, false);
                assert_eq!(evaluation, policy.evaluate_by_reference(context, false));
                let _words = policy.explain(context).summary();
            }
        }
        Err(issues) => {
            for issue in issues.iter() {
                assert!(issue.code.as_str().starts_with("URM_POLICY_"));
                assert!(issue.hint.is_some());
                assert!(issue.offset.is_none_or(|offset| offset <= bytes.len()));
            }
        }
    }
});

//! Any bytes: the fast way into a decision and the slow one agree, on what is a context and on what it means.
#![no_main]

use std::sync::LazyLock;

use countersign_canon::Wire as _;
use countersign_policy::{Context, Policy};
use libfuzzer_sys::fuzz_target;

static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    Policy::load(countersign_policy::shipped::STANDARD.policy).expect("the shipped policy loads")
});

fuzz_target!(|bytes: &[u8]| {
    match (POLICY.trace(bytes), Context::load(bytes)) {
        (Ok(trace), Ok(context)) => {
            assert_eq!(trace, POLICY.trace_context(&context));
            let canonical = context.to_canonical();
            assert_eq!(Context::load(canonical.as_bytes()).expect("canonical bytes load"), context);
            assert_eq!(POLICY.trace(canonical.as_bytes()).expect("canonical bytes decide"), trace);
        }
        (Err(_), Err(issues)) => {
            assert!(issues.iter().all(|issue| issue.code.as_str() == "URM_CONTEXT_INVALID"));
        }
        (one, other) => panic!("the two ways disagree: {one:?} {other:?}"),
    }
});

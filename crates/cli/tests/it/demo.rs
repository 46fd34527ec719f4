//! `countersign demo`: the story in order, end to end.

use crate::support::Sandbox;

#[test]
fn the_story_is_told_in_order_and_ends_well() {
    let ran = Sandbox::new().run(&["demo"]);
    assert_eq!((ran.exit, ran.stderr()), (Some(0), ""));
    let story = [
        "refused        error[JSON_DUPLICATE_KEY]",
        "allowed        READ_ALLOWED: Looking is free.",
        "denied         DESTRUCTIVE_SHELL_DENIED: Commands that destroy what cannot be brought back are never run.",
        "denied         URM_APPROVAL_REQUIRED: Every deployment is approved by a person.",
        "a person runs  countersign approve apr_",
        "ann            granted, for 120 seconds",
        "allowed        APPROVED_WRITE_ALLOWED",
        "outcome        succeeded",
        "denied         URM_APPROVAL_CONSUMED",
        "SESSION_START",
        "POLICY_EVAL_PASS READ_ALLOWED",
        "POLICY_DENIED DESTRUCTIVE_SHELL_DENIED",
        "ADVISORY DEPLOY_WITHOUT_CHECK",
        "APPROVAL_REQUESTED pending",
        "APPROVAL_GRANTED granted",
        "POLICY_EVAL_PASS APPROVED_WRITE_ALLOWED",
        "APPROVAL_CONSUMED consumed",
        "EXECUTION_FINISHED succeeded",
        "POLICY_DENIED URM_APPROVAL_CONSUMED",
        "log verifies   L2, ",
        "log refused    LOG_FORKED at outside checkpoint of size ",
        "Decision  reject: rejected; 1 question to answer",
        "critical  resource_conflict",
        "option_keep_intent_deploy_service_a",
        "TF-NET-001 No network is open to the whole internet (boundary)",
        "FAIL: 4 violations of 3 rules; 2 files of 2 searched, 5 rules enforced",
    ];
    let mut rest = ran.stdout();
    for line in story {
        let Some((_, after)) = rest.split_once(line) else { panic!("`{line}` is not in\n{rest}") };
        rest = after;
    }
}

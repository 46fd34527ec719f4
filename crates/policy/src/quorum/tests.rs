//! What a quorum covers, and that nothing that a rule asks for gets lost.

use alloc::{format, vec::Vec};

use super::QuorumRule;
use crate::{Policy, codes};

fn document(params: &str) -> alloc::string::String {
    format!(
        r#"{{"schema":"odeu.instructions.v1","rules":[{{"rule_id":"r","rule_version":1,"priority":1,"kind":"require",
        "when":{{"atom":"session_active","args":[]}},"then":{{"effect":"require_approval","params":{params}}},
        "message":"m","code":"C"}}]}}"#
    )
}

fn asked(policy: &Policy) -> alloc::string::String {
    policy.rules()[0].quorum().unwrap().in_words()
}

#[test]
fn what_a_rule_asks_for_is_read_to_both_limits() {
    for (params, words) in [
        ("{}", "one person"),
        (r#"{"approvals":1}"#, "one person"),
        (r#"{"approvals":16}"#, "16 people"),
        (r#"{"approvals":2.0,"reviewers":"security"}"#, "2 people, with a review by `security`"),
        (r#"{"reviewers":" security ,data"}"#, "one person, with a review by `data` and `security`"),
    ] {
        assert_eq!(asked(&Policy::load(document(params).as_bytes()).unwrap()), words, "{params}");
    }
}

#[test]
fn what_cannot_be_read_does_not_load_and_says_what_was_meant() {
    for (params, expected, hint) in [
        (r#"{"approvals":"2"}"#, "a whole number from 1 to 16", "write how many people must approve"),
        (r#"{"approvals":17}"#, "a whole number from 1 to 16", "write how many people must approve"),
        (r#"{"approval":2}"#, "one of approvals, reviewers", "did you mean `approvals`?"),
        (r#"{"reviewer":"security"}"#, "one of approvals, reviewers", "did you mean `reviewers`?"),
        (r#"{"reviewers":5}"#, "kinds of reviewers as one text", "write a value of the expected type"),
    ] {
        let issues = Policy::load(document(params).as_bytes()).unwrap_err();
        let issues: Vec<_> = issues.iter().collect();
        let [issue] = issues.as_slice() else { panic!("{params}: {issues:?}") };
        assert_eq!(issue.code, codes::URM_POLICY_INVALID_SCHEMA);
        assert!(issue.expected.as_ref().unwrap().contains(expected), "{params}: {issue:?}");
        assert!(issue.hint.as_ref().unwrap().contains(hint), "{params}: {issue:?}");
    }
}

#[test]
fn a_policy_from_before_the_check_asks_for_more_people_and_never_for_fewer() {
    for params in [r#"{"approvals":"2"}"#, r#"{"approvals":0}"#, r#"{"approval":2}"#, r#"{"reviewers":5}"#] {
        let policy = Policy::load_activated(document(params).as_bytes()).unwrap();
        assert_eq!(asked(&policy), "16 people", "{params}");
    }
}

#[test]
fn a_quorum_covers_what_asks_for_no_more_people_and_no_other_kinds() {
    let quorum =
        |params: &str| Policy::load(document(params).as_bytes()).unwrap().rules()[0].quorum().unwrap();
    let two = quorum(r#"{"approvals":2}"#);
    let secure = quorum(r#"{"reviewers":"security"}"#);
    let both = two.and(&secure);
    assert_eq!(both, quorum(r#"{"approvals":2,"reviewers":"security"}"#));
    let anybody = QuorumRule::anybody();
    let covers: Vec<Vec<bool>> = [&anybody, &two, &secure, &both]
        .iter()
        .map(|one| [&anybody, &two, &secure, &both].iter().map(|other| one.covers(other)).collect())
        .collect();
    assert_eq!(
        covers,
        [
            [true, false, false, false],
            [true, true, false, false],
            [true, false, true, false],
            [true, true, true, true],
        ]
    );
}

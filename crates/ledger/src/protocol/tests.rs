//! Every arrow that exists, and every one that does not.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::Timestamp;
use countersign_policy::ApprovalState;

use super::{
    ApprovalStep, DOUBT_AFTER_S, ExecutionState, ExecutionStep, Executor, OutcomeStatus, PENDING_TTL_S,
    PERMIT_TTL_S, Quorum, Requirement, begin,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix(1_000_000_i64.saturating_add(seconds)).unwrap()
}

/// From each state, at one moment, where each step leads; `-` for nowhere.
fn arrows(expires_at: i64, now: i64) -> Vec<String> {
    let name = |step: Option<ApprovalStep>| step.map_or("-", |step| step.state.as_str());
    let from = |state: ApprovalState| {
        let step = ApprovalStep { state, expires_at: at(expires_at) };
        let open = name(step.sign(Quorum::Open, at(99), at(now)).ok());
        let reached = name(step.sign(Quorum::Reached, at(99), at(now)).ok());
        let deny = name(step.deny(at(now)).ok());
        let revoke = name(step.revoke(at(now)).ok());
        let expire = name(step.expire(at(now)));
        let begun = name(
            begin(Requirement::Approval(Some(step)), Executor::Reporting, at(now))
                .ok()
                .and_then(|(approval, _)| approval),
        );
        format!("{state}: {open} {reached} {deny} {revoke} {expire} {begun}")
    };
    ApprovalState::ALL.iter().copied().map(from).collect()
}

#[test]
fn in_time_there_are_these_arrows_and_no_others() {
    let expected = [
        "pending: pending granted denied - - -",
        "granted: - - - revoked - consumed",
        "denied: - - - - - -",
        "expired: - - - - - -",
        "consumed: - - - - - -",
        "revoked: - - - - - -",
    ];
    assert_eq!(arrows(10, 0), expected);
    assert_eq!(arrows(10, 10), expected, "the last second still counts");
}

#[test]
fn out_of_time_there_is_one_arrow() {
    let expected = [
        "pending: - - - - expired -",
        "granted: - - - - expired -",
        "denied: - - - - - -",
        "expired: - - - - - -",
        "consumed: - - - - - -",
        "revoked: - - - - - -",
    ];
    assert_eq!(arrows(10, 11), expected);
}

#[test]
fn a_request_waits_a_day_and_a_grant_as_long_as_it_says() {
    let pending = ApprovalStep::request(at(0)).unwrap();
    assert_eq!(pending.expires_at, at(PENDING_TTL_S));
    let granted = pending.sign(Quorum::Reached, at(120), at(5)).unwrap();
    assert_eq!(granted, ApprovalStep { state: ApprovalState::Granted, expires_at: at(120) });
}

#[test]
fn an_execution_begins_only_with_what_it_needs() {
    let begun = ExecutionStep {
        state: ExecutionState::Begun,
        begun_at: at(0),
        expires_at: at(PERMIT_TTL_S),
        executor: Executor::Reporting,
    };
    assert_eq!(begin(Requirement::None, Executor::Reporting, at(0)), Ok((None, begun)));
    assert!(begin(Requirement::Approval(None), Executor::Reporting, at(0)).is_err());
}

#[test]
fn an_outcome_is_reported_once_and_doubt_is_never_retried() {
    let (_, begun) = begin(Requirement::None, Executor::Reporting, at(0)).unwrap();
    assert_eq!(begun.lapse(at(DOUBT_AFTER_S)), None);
    let doubted = begun.lapse(at(DOUBT_AFTER_S.saturating_add(1))).unwrap();
    assert_eq!(doubted.state, ExecutionState::InDoubt);
    for step in [begun, doubted] {
        for (status, state) in [
            (OutcomeStatus::Succeeded, ExecutionState::Succeeded),
            (OutcomeStatus::Failed, ExecutionState::Failed),
        ] {
            let done = step.finish(status).unwrap();
            assert_eq!(done.state, state);
            assert!(done.finish(status).is_err());
            assert_eq!(done.lapse(at(1_000_000)), None);
        }
    }
}

/// Nobody will say how it went: with its permit the execution is over, and nothing that is said later reopens it.
#[test]
fn an_executor_that_never_reports_leaves_an_unreported_execution_when_its_permit_expires() {
    let (_, begun) = begin(Requirement::None, Executor::Silent, at(0)).unwrap();
    assert_eq!(begun.lapse(at(PERMIT_TTL_S)), None);
    let lapsed = begun.lapse(at(PERMIT_TTL_S.saturating_add(1))).unwrap();
    assert_eq!(lapsed.state, ExecutionState::Unreported);
    assert_eq!(lapsed.lapse(at(1_000_000)), None);
    assert!(lapsed.finish(OutcomeStatus::Succeeded).is_err());
    assert_eq!(begun.finish(OutcomeStatus::Failed).unwrap().state, ExecutionState::Failed);
}

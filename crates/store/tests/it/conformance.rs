//! Every claim holds on every database.

use countersign_policy::codes;
use countersign_store::{Store, StoreOptions, store_codes};

use crate::{
    claims,
    lab::{Lab, action, at},
    server::Server,
};

/// One server, and a database of its own for each claim.
#[test]
fn every_claim_holds_on_postgresql() {
    let Some(server) = Server::start("conformance::every_claim_holds_on_postgresql") else { return };
    for (name, claim) in claims::ALL {
        println!("{name}");
        claim(&Lab::postgresql(&server));
    }
}

#[test]
fn a_store_that_was_never_made_is_not_made_by_a_question() {
    let name = "conformance::a_store_that_was_never_made_is_not_made_by_a_question";
    let Some(server) = Server::start(name) else { return };
    for database in [None, Some(server.database())] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let options = StoreOptions { data, database, checkpoints: None, now: at(0) };
        for _ in 0..2 {
            let missing = Store::open_existing(&options).unwrap_err();
            assert_eq!(missing.code(), store_codes::STORE_MISSING, "{missing}");
        }
        drop(Store::open(&options).unwrap());
        assert_eq!(Store::open_existing(&options).unwrap().sessions().unwrap(), []);
    }
}

/// What could be lost, or read by others on the way, is not begun with.
#[test]
fn a_postgresql_that_is_not_safe_is_refused() {
    let Some(server) = Server::start("conformance::a_postgresql_that_is_not_safe_is_refused") else { return };
    let url = server.database();
    let folder = tempfile::tempdir().unwrap();
    let open = |database: &str| {
        let (data, database) = (folder.path().join("data"), Some(database.to_owned()));
        Store::open(&StoreOptions { data, database, checkpoints: None, now: at(0) }).map(drop)
    };
    for (database, found) in [
        (format!("{url} options='-c synchronous_commit=off'"), "synchronous_commit = off"),
        (format!("{url} options='-c synchronous_commit=local'"), "synchronous_commit = local"),
        ("host=db.example user=test".to_owned(), "reached without TLS"),
        ("host=localhost hostaddr=192.0.2.1 user=test".to_owned(), "reached without TLS"),
        ("postgres://test@192.0.2.1/x".to_owned(), "reached without TLS"),
    ] {
        let refused = open(&database).unwrap_err();
        assert_eq!(refused.code(), store_codes::STORE_ENGINE_UNSAFE, "{database}");
        assert!(refused.to_string().contains(found), "{database}: {refused}");
    }
    open(&url).unwrap();
}

#[test]
fn nothing_is_decided_before_a_policy_is_in_force() {
    let refused = Lab::empty().decide(action(None, "fs.read", "x")).unwrap_err();
    assert_eq!(refused.code(), codes::URM_POLICY_NOT_LOADED);
}

#[test]
fn a_write_is_denied_when_the_mode_disallows() {
    claims::a_write_is_denied_when_the_mode_disallows(&Lab::sqlite());
}

#[test]
fn a_valid_approval_works_exactly_once() {
    claims::a_valid_approval_works_exactly_once(&Lab::sqlite());
}

#[test]
fn an_approval_is_never_consumed_by_a_denial_or_a_question() {
    claims::an_approval_is_never_consumed_by_a_denial_or_a_question(&Lab::sqlite());
}

#[test]
fn an_approval_that_is_not_required_stays_unconsumed() {
    claims::an_approval_that_is_not_required_stays_unconsumed(&Lab::sqlite());
}

#[test]
fn every_unusable_approval_is_refused_with_its_code() {
    claims::every_unusable_approval_is_refused_with_its_code(&Lab::sqlite());
}

#[test]
fn what_another_process_changes_is_seen_at_once() {
    claims::what_another_process_changes_is_seen_at_once(&Lab::sqlite());
}

#[test]
fn what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other() {
    claims::what_comes_while_the_writer_is_busy_is_answered_as_one_after_the_other(&Lab::sqlite());
}

#[test]
fn what_was_worked_out_ahead_counts_only_if_nobody_else_has_written() {
    claims::what_was_worked_out_ahead_counts_only_if_nobody_else_has_written(&Lab::sqlite());
}

#[test]
fn a_stopped_session_begins_nothing() {
    claims::a_stopped_session_begins_nothing(&Lab::sqlite());
}

#[test]
fn every_decision_leaves_its_events() {
    claims::every_decision_leaves_its_events(&Lab::sqlite());
}

#[test]
fn a_decision_without_a_session_is_denied_and_recorded() {
    claims::a_decision_without_a_session_is_denied_and_recorded(&Lab::sqlite());
}

#[test]
fn a_denial_asks_for_one_approval_however_often_it_is_repeated() {
    claims::a_denial_asks_for_one_approval_however_often_it_is_repeated(&Lab::sqlite());
}

#[test]
fn a_quorum_is_needed_where_the_lattice_asks_for_one() {
    claims::a_quorum_is_needed_where_the_lattice_asks_for_one(&Lab::sqlite());
}

#[test]
fn an_approval_is_held_to_what_is_needed_now() {
    claims::an_approval_is_held_to_what_is_needed_now(&Lab::sqlite());
}

#[test]
fn an_approval_that_was_granted_before_more_were_needed_is_not_enough() {
    claims::an_approval_that_was_granted_before_more_were_needed_is_not_enough(&Lab::sqlite());
}

#[test]
fn what_is_worked_out_ahead_is_held_to_what_is_needed_by_then() {
    claims::what_is_worked_out_ahead_is_held_to_what_is_needed_by_then(&Lab::sqlite());
}

#[test]
fn nobody_acts_beyond_their_role() {
    claims::nobody_acts_beyond_their_role(&Lab::sqlite());
}

#[test]
fn a_lost_answer_is_found_again_by_its_name() {
    claims::a_lost_answer_is_found_again_by_its_name(&Lab::sqlite());
}

#[test]
fn a_mode_changes_in_the_transaction_that_uses_up_its_approval() {
    claims::a_mode_changes_in_the_transaction_that_uses_up_its_approval(&Lab::sqlite());
}

#[test]
fn what_nobody_reports_closes_with_its_permit() {
    claims::what_nobody_reports_closes_with_its_permit(&Lab::sqlite());
}

#[test]
fn time_ends_what_nobody_ends() {
    claims::time_ends_what_nobody_ends(&Lab::sqlite());
}

#[test]
fn a_clock_set_back_stops_decisions_until_it_has_caught_up() {
    claims::a_clock_set_back_stops_decisions_until_it_has_caught_up(&Lab::sqlite());
}

#[test]
fn the_log_verifies_and_every_decision_is_made_again() {
    claims::the_log_verifies_and_every_decision_is_made_again(&Lab::sqlite());
}

#[test]
fn a_policy_is_put_in_force_and_taken_back_by_number() {
    claims::a_policy_is_put_in_force_and_taken_back_by_number(&Lab::sqlite());
}

#[test]
fn an_execution_has_one_outcome() {
    claims::an_execution_has_one_outcome(&Lab::sqlite());
}

#[test]
fn a_run_acts_in_its_worker_stream() {
    claims::a_run_acts_in_its_worker_stream(&Lab::sqlite());
}

#[test]
fn advice_is_kept_on_a_denial_and_carries_the_decision() {
    claims::advice_is_kept_on_a_denial_and_carries_the_decision(&Lab::sqlite());
}

#[test]
fn only_the_store_says_what_it_has_done() {
    claims::only_the_store_says_what_it_has_done(&Lab::sqlite());
}

#[test]
fn a_proof_changes_nothing_but_the_evidence() {
    claims::a_proof_changes_nothing_but_the_evidence(&Lab::sqlite());
}

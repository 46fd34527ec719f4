//! A store of an earlier version, brought to this one.

use rusqlite::Connection;

use super::{is_current, migrate, migrate_to, version};
use crate::sql::Sql;

/// What was begun before anybody said who reports keeps the time that it had.
#[test]
fn executions_of_an_earlier_store_keep_their_time() {
    let mut connection = Connection::open_in_memory().unwrap();
    let sql: &mut dyn Sql = &mut connection.transaction().unwrap();
    migrate_to(sql, 4).unwrap();
    assert_eq!((version(sql).unwrap(), is_current(sql).unwrap()), (4, false));
    let begun = "INSERT INTO execution (permit_id, approval_id, state, begun_at, body)
        VALUES ('per_1', 'apr_1', 'begun', 100, '{}'), ('per_2', NULL, 'succeeded', 200, '{}')";
    sql.execute(begun, &[]).unwrap();
    migrate(sql).unwrap();
    assert!(is_current(sql).unwrap());
    let query = "SELECT permit_id, approval_id, state, due_at, body FROM execution ORDER BY permit_id";
    let rows = sql.query(query, &[]).unwrap();
    let told = |row: &crate::sql::Row| {
        let [permit, state, body] = [0, 2, 4].map(|column| row.text(column).unwrap().to_owned());
        (permit, state, row.integer(3).unwrap(), body)
    };
    let expected = [("per_1", "begun", 1000), ("per_2", "succeeded", 1100)]
        .map(|(permit, state, due)| (permit.to_owned(), state.to_owned(), due, "{}".to_owned()));
    assert_eq!(rows.iter().map(told).collect::<Vec<_>>(), expected);
    let again = "INSERT INTO execution (permit_id, approval_id, state, due_at, body)
        VALUES ('per_3', 'apr_1', 'begun', 1, '{}')";
    assert!(sql.execute(again, &[]).is_err(), "one execution for each approval, as before");
    migrate(sql).unwrap();
}

/// What was kept by its hash in tables of its own is found in the one for all; decisions and proofs stay what they were.
#[test]
fn documents_of_an_earlier_store_are_found_again() {
    let mut connection = Connection::open_in_memory().unwrap();
    let sql: &mut dyn Sql = &mut connection.transaction().unwrap();
    migrate_to(sql, 6).unwrap();
    for statement in [
        "INSERT INTO action (action_hash, body) VALUES ('a1', 'action')",
        "INSERT INTO probe (probe_hash, body) VALUES ('b1', 'probe')",
        "INSERT INTO proof (proof_id, body) VALUES ('c1', 'proof')",
        "INSERT INTO certificate (proof_hash, body) VALUES ('d1', 'certificate')",
        "INSERT INTO proof_run (policy_version, proof_id, status) VALUES (1, 'c1', 'pass')",
        "INSERT INTO session (session_id, owner, state, body) VALUES ('ses_1', 'me', 'active', 'session')",
        "INSERT INTO decision (log_index, decision_id, decided_at, policy_version, policy_hash, trace_version, body)
         VALUES (7, 'dec_1', 0, 1, 'h', 'v', 'decision')",
    ] {
        sql.execute(statement, &[]).unwrap();
    }
    migrate(sql).unwrap();
    let mut column = |query: &str| -> Vec<String> {
        sql.query(query, &[]).unwrap().iter().map(|row| row.text(0).unwrap().to_owned()).collect()
    };
    let documents = column("SELECT kind || ' ' || hash || ' ' || body FROM document ORDER BY hash");
    assert_eq!(
        documents,
        ["action a1 action", "probe b1 probe", "proof c1 proof", "certificate d1 certificate"]
    );
    assert_eq!(column("SELECT policy_version || proof_id || status FROM proof_run"), ["1c1pass"]);
    assert_eq!(column("SELECT session_id || owner || state || body FROM session"), ["ses_1meactivesession"]);
    assert_eq!(column("SELECT log_index || decision_id || body FROM decision"), ["7dec_1decision"]);
    assert!(sql.execute("DELETE FROM decision", &[]).is_err(), "decisions are append-only, as before");
}

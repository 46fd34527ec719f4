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

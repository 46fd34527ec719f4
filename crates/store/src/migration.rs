//! The schema of the store, as steps that only go forward.

use crate::{StoreError, sql::Sql};

/// A table; the database says how it spells the types and keeps rows from changing.
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns and constraints, with the types `BIGINT` and `TEXT`.
    pub(crate) columns: &'static str,
    /// How its rows are kept.
    pub(crate) form: Form,
}

/// How the rows of a table are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they come, with their key beside them.
    Plain,
    /// The same, and the database refuses to change or delete them.
    AppendOnly,
    /// In the order of their key, where the database can do that: one tree instead of two.
    ByKey,
}

/// One step: what brings a store from the version before to this one.
struct Migration {
    version: i64,
    /// What is done before the tables are made.
    before: &'static [&'static str],
    tables: &'static [Table],
    statements: &'static [&'static str],
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        version: 1,
        before: &[],
        tables: &[Table {
            name: "event",
            columns: "log_index BIGINT PRIMARY KEY, stream_id TEXT NOT NULL, seq BIGINT NOT NULL,
                body TEXT NOT NULL, UNIQUE (stream_id, seq)",
            form: Form::AppendOnly,
        }],
        statements: &[],
    },
    Migration {
        version: 2,
        before: &[],
        tables: &[
            Table {
                name: "checkpoint",
                columns: "number BIGINT PRIMARY KEY, tree_size BIGINT NOT NULL UNIQUE, note TEXT NOT NULL,
                    peaks TEXT NOT NULL, ts BIGINT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "log_key",
                columns: "note_key TEXT PRIMARY KEY, created_at TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "session",
                columns: "session_id TEXT PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL",
                form: Form::Plain,
            },
            Table {
                name: "approval",
                columns: "approval_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, action_hash TEXT NOT NULL,
                    state TEXT NOT NULL, expires_at BIGINT NOT NULL, body TEXT NOT NULL",
                form: Form::Plain,
            },
            Table {
                name: "approver_key",
                columns: "key_id TEXT PRIMARY KEY, approver TEXT NOT NULL, body TEXT NOT NULL",
                form: Form::Plain,
            },
            // One execution for each approval, whatever else goes wrong.
            Table {
                name: "execution",
                columns: "permit_id TEXT PRIMARY KEY, approval_id TEXT UNIQUE, state TEXT NOT NULL,
                    begun_at BIGINT NOT NULL, body TEXT NOT NULL",
                form: Form::Plain,
            },
            Table {
                name: "token",
                columns: "token_hash TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL",
                form: Form::Plain,
            },
            Table {
                name: "policy_version",
                columns: "version BIGINT PRIMARY KEY, policy_hash TEXT NOT NULL, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "activation",
                columns: "number BIGINT PRIMARY KEY, version BIGINT NOT NULL, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "decision",
                columns: "decision_id TEXT PRIMARY KEY, session_id TEXT, decided_at BIGINT NOT NULL,
                    policy_version BIGINT NOT NULL, policy_hash TEXT NOT NULL, trace_version TEXT NOT NULL,
                    log_index BIGINT NOT NULL, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            // What a reviewer looks at; kept only for actions that somebody was asked to approve.
            Table {
                name: "action",
                columns: "action_hash TEXT PRIMARY KEY, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "probe",
                columns: "probe_hash TEXT PRIMARY KEY, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "reply",
                columns:
                    "request_key TEXT PRIMARY KEY, payload_hash TEXT NOT NULL, checkpoint BIGINT NOT NULL,
                    body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
        ],
        statements: &[
            "CREATE INDEX approval_pending ON approval (session_id, action_hash) WHERE state = 'pending'",
            "CREATE INDEX approval_waiting ON approval (expires_at) WHERE state IN ('pending', 'granted')",
            "CREATE INDEX execution_begun ON execution (begun_at) WHERE state = 'begun'",
        ],
    },
    Migration {
        version: 3,
        before: &[],
        // Answers are kept for a day, so unlike the replies before them they know their time and can be deleted.
        tables: &[Table {
            name: "answer",
            columns: "request_key TEXT PRIMARY KEY, payload_hash TEXT NOT NULL, checkpoint BIGINT NOT NULL,
                answered_at BIGINT NOT NULL, body TEXT NOT NULL",
            form: Form::Plain,
        }],
        statements: &[
            "INSERT INTO answer (request_key, payload_hash, checkpoint, answered_at, body)
             SELECT r.request_key, r.payload_hash, r.checkpoint, c.ts, r.body
             FROM reply r JOIN checkpoint c ON c.number = r.checkpoint",
            "DROP TABLE reply",
            "CREATE INDEX answer_age ON answer (answered_at)",
            "CREATE INDEX decision_place ON decision (log_index)",
            "CREATE INDEX execution_place ON execution (begun_at, permit_id)",
        ],
    },
    Migration {
        version: 4,
        before: &[],
        tables: &[
            Table {
                name: "proof",
                columns: "proof_id TEXT PRIMARY KEY, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "certificate",
                columns: "proof_hash TEXT PRIMARY KEY, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            // Which runs there were for a policy version, proved or not.
            Table {
                name: "proof_run",
                columns: "policy_version BIGINT NOT NULL, proof_id TEXT NOT NULL, status TEXT NOT NULL,
                    PRIMARY KEY (policy_version, proof_id)",
                form: Form::AppendOnly,
            },
        ],
        statements: &[],
    },
    Migration {
        version: 5,
        before: &[],
        // Executions of executors that never report are closed sooner than others. Those from before all had 900 seconds.
        tables: &[Table {
            name: "execution_due",
            columns: "permit_id TEXT PRIMARY KEY, approval_id TEXT UNIQUE, state TEXT NOT NULL,
                begun_at BIGINT NOT NULL, due_at BIGINT NOT NULL, body TEXT NOT NULL",
            form: Form::Plain,
        }],
        statements: &[
            "INSERT INTO execution_due (permit_id, approval_id, state, begun_at, due_at, body)
             SELECT permit_id, approval_id, state, begun_at, begun_at + 900, body FROM execution",
            "DROP TABLE execution",
            "ALTER TABLE execution_due RENAME TO execution",
            "CREATE INDEX execution_open ON execution (due_at) WHERE state = 'begun'",
            "CREATE INDEX execution_place ON execution (begun_at, permit_id)",
        ],
    },
    Migration {
        version: 6,
        // A decision changed pages of twelve trees; now of eight. Ids begin with their time, so they are an order.
        before: &[
            "CREATE TABLE kept_decision AS SELECT * FROM decision",
            "CREATE TABLE kept_execution AS SELECT * FROM execution",
            "CREATE TABLE kept_checkpoint AS SELECT * FROM checkpoint",
            "DROP TABLE decision",
            "DROP TABLE execution",
            "DROP TABLE checkpoint",
        ],
        tables: &[
            Table {
                name: "decision",
                columns: "log_index BIGINT PRIMARY KEY, decision_id TEXT NOT NULL UNIQUE, session_id TEXT,
                    decided_at BIGINT NOT NULL, policy_version BIGINT NOT NULL, policy_hash TEXT NOT NULL,
                    trace_version TEXT NOT NULL, body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "execution",
                columns: "permit_id TEXT PRIMARY KEY, approval_id TEXT, state TEXT NOT NULL, due_at BIGINT NOT NULL,
                    body TEXT NOT NULL",
                form: Form::Plain,
            },
            Table {
                name: "checkpoint",
                columns: "number BIGINT PRIMARY KEY, tree_size BIGINT NOT NULL, note TEXT NOT NULL,
                    peaks TEXT NOT NULL, ts BIGINT NOT NULL",
                form: Form::AppendOnly,
            },
        ],
        statements: &[
            "INSERT INTO decision (log_index, decision_id, session_id, decided_at, policy_version, policy_hash,
                 trace_version, body)
             SELECT log_index, decision_id, session_id, decided_at, policy_version, policy_hash, trace_version, body
             FROM kept_decision ORDER BY log_index",
            "INSERT INTO execution (permit_id, approval_id, state, due_at, body)
             SELECT permit_id, approval_id, state, due_at, body FROM kept_execution ORDER BY permit_id",
            "INSERT INTO checkpoint (number, tree_size, note, peaks, ts)
             SELECT number, tree_size, note, peaks, ts FROM kept_checkpoint ORDER BY number",
            "DROP TABLE kept_decision",
            "DROP TABLE kept_execution",
            "DROP TABLE kept_checkpoint",
            "CREATE INDEX execution_open ON execution (due_at) WHERE state = 'begun'",
            // One execution for each approval, whatever else goes wrong.
            "CREATE UNIQUE INDEX execution_approval ON execution (approval_id) WHERE approval_id IS NOT NULL",
        ],
    },
    Migration {
        version: 7,
        // A hook reads the whole schema before every call. So there is less of it: what is kept by its hash has one table,
        // which needs no guard, as a changed body has another hash; what is found by its key alone lies by it. And beside
        // the body of a policy version stands what a hook wants to know of it.
        before: &[
            "CREATE TABLE kept_policy_version AS SELECT * FROM policy_version",
            "CREATE TABLE kept_execution AS SELECT * FROM execution",
            "CREATE TABLE kept_session AS SELECT * FROM session",
            "CREATE TABLE kept_proof_run AS SELECT * FROM proof_run",
            "DROP TABLE policy_version",
            "DROP TABLE execution",
            "DROP TABLE session",
            "DROP TABLE proof_run",
        ],
        tables: &[
            // The hashes stand before the body: behind it, they would have to be looked for at its end.
            Table {
                name: "policy_version",
                columns: "version BIGINT PRIMARY KEY, policy_hash TEXT NOT NULL, lattice_hash TEXT, allow_hash TEXT,
                    body TEXT NOT NULL",
                form: Form::AppendOnly,
            },
            Table {
                name: "execution",
                columns: "permit_id TEXT PRIMARY KEY, approval_id TEXT, state TEXT NOT NULL, due_at BIGINT NOT NULL,
                    body TEXT NOT NULL",
                form: Form::ByKey,
            },
            Table {
                name: "session",
                columns: "session_id TEXT PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, body TEXT NOT NULL",
                form: Form::ByKey,
            },
            Table {
                name: "document",
                columns: "kind TEXT NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, hash)",
                form: Form::ByKey,
            },
            Table {
                name: "proof_run",
                columns: "policy_version BIGINT NOT NULL, proof_id TEXT NOT NULL, status TEXT NOT NULL,
                    PRIMARY KEY (policy_version, proof_id)",
                form: Form::ByKey,
            },
        ],
        statements: &[
            "INSERT INTO policy_version (version, policy_hash, body)
             SELECT version, policy_hash, body FROM kept_policy_version ORDER BY version",
            "INSERT INTO execution (permit_id, approval_id, state, due_at, body)
             SELECT permit_id, approval_id, state, due_at, body FROM kept_execution ORDER BY permit_id",
            "INSERT INTO session (session_id, owner, state, body)
             SELECT session_id, owner, state, body FROM kept_session ORDER BY session_id",
            "INSERT INTO proof_run (policy_version, proof_id, status)
             SELECT policy_version, proof_id, status FROM kept_proof_run",
            "INSERT INTO document (kind, hash, body) SELECT 'action', action_hash, body FROM action",
            "INSERT INTO document (kind, hash, body) SELECT 'probe', probe_hash, body FROM probe",
            "INSERT INTO document (kind, hash, body) SELECT 'proof', proof_id, body FROM proof",
            "INSERT INTO document (kind, hash, body) SELECT 'certificate', proof_hash, body FROM certificate",
            "DROP TABLE kept_policy_version",
            "DROP TABLE kept_execution",
            "DROP TABLE kept_session",
            "DROP TABLE kept_proof_run",
            "DROP TABLE action",
            "DROP TABLE probe",
            "DROP TABLE proof",
            "DROP TABLE certificate",
            "CREATE INDEX execution_open ON execution (due_at) WHERE state = 'begun'",
            "CREATE UNIQUE INDEX execution_approval ON execution (approval_id) WHERE approval_id IS NOT NULL",
        ],
    },
];

/// Whether the store has the newest schema.
///
/// # Errors
///
/// Fails if the store comes from a later version of this program.
pub(crate) fn is_current(sql: &mut dyn Sql) -> Result<bool, StoreError> {
    match version(sql) {
        Ok(version) => Ok(version == known()),
        // A new one has no table to ask. Whatever else is wrong, those who then make it will find.
        Err(StoreError::Unavailable { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Brings the store to the newest schema, in the caller's transaction.
pub(crate) fn migrate(sql: &mut dyn Sql) -> Result<(), StoreError> {
    migrate_to(sql, known())
}

/// Brings the store to this version of the schema, if it has an earlier one.
fn migrate_to(sql: &mut dyn Sql, newest: i64) -> Result<(), StoreError> {
    sql.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)", &[])?;
    let found = version(sql)?;
    let is_due = |migration: &&Migration| (found..newest).contains(&migration.version.saturating_sub(1));
    for migration in MIGRATIONS.iter().filter(is_due) {
        for statement in migration.before {
            sql.execute(statement, &[])?;
        }
        for table in migration.tables {
            sql.create_table(table)?;
        }
        for statement in migration.statements {
            sql.execute(statement, &[])?;
        }
        sql.execute("INSERT INTO schema_version (version) VALUES ($1)", &[migration.version.into()])?;
    }
    Ok(())
}

/// The version of the schema that the store has.
fn version(sql: &mut dyn Sql) -> Result<i64, StoreError> {
    let rows = sql.query("SELECT COALESCE(MAX(version), 0) FROM schema_version", &[])?;
    let (found, known) = (rows.first().map_or(Ok(0), |row| row.integer(0))?, known());
    if found > known { Err(StoreError::SchemaNewer { found, known }) } else { Ok(found) }
}

/// The newest version of the schema.
fn known() -> i64 {
    MIGRATIONS.last().map_or(0, |migration| migration.version)
}

#[cfg(test)]
mod tests;

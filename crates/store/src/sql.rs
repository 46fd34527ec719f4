//! The few SQL things that every database shares: values, rows, and a transaction to run statements in.

use crate::{StoreError, migration::Table};

/// A value that goes into or comes out of a statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cell {
    Null,
    Integer(i64),
    Text(String),
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// One row of an answer.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) Vec<Cell>);

impl Row {
    /// Whether this column has nothing in it.
    pub(crate) fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), Some(Cell::Null) | None)
    }

    pub(crate) fn integer(&self, column: usize) -> Result<i64, StoreError> {
        match self.0.get(column) {
            Some(Cell::Integer(value)) => Ok(*value),
            Some(Cell::Text(_) | Cell::Null) | None => {
                Err(StoreError::corrupt(format!("column {column} is not a number")))
            }
        }
    }

    /// A number that counts something.
    pub(crate) fn count(&self, column: usize) -> Result<u64, StoreError> {
        let value = self.integer(column)?;
        u64::try_from(value).map_err(|_| StoreError::corrupt(format!("column {column} is {value}")))
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.0.get(column) {
            Some(Cell::Text(value)) => Ok(value),
            Some(Cell::Integer(_) | Cell::Null) | None => {
                Err(StoreError::corrupt(format!("column {column} is not a text")))
            }
        }
    }
}

/// Something that runs statements: a transaction, or a connection for a single read.
///
/// Statements number their parameters `$1`, `$2`, … in order of first use, which both databases understand.
pub(crate) trait Sql {
    /// Runs a statement; how many rows it changed.
    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, StoreError>;
    /// Runs a query; its rows.
    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError>;
    /// Inserts rows into a table, all with these columns.
    fn insert(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError>;
    /// Inserts those rows into a table whose keys are not there yet.
    fn insert_new(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError>;
    /// Makes a table.
    fn create_table(&mut self, table: &Table) -> Result<(), StoreError>;
    /// What follows `IN` to mean the texts of the JSON array in the first parameter.
    fn in_list(&self) -> &'static str;
    /// A number that is another one once somebody else has changed the database, for as long as the connection lasts; nothing
    /// if the database has none.
    fn data_version(&mut self) -> Result<Option<i64>, StoreError>;
    /// Tells whoever listens how long the log is now, once the transaction is durable.
    fn announce(&mut self, size: u64);
}

/// A `u64` as a cell; sizes and numbers are far below the limit.
pub(crate) fn count_cell(value: u64) -> Result<Cell, StoreError> {
    let value = i64::try_from(value).map_err(|_| StoreError::corrupt(format!("{value} is too large")))?;
    Ok(Cell::Integer(value))
}

//! The store on real databases.

#[cfg(test)]
mod sqlite;

//! The store on real databases.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod sqlite;

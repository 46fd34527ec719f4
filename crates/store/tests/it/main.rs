//! The store on real databases.

#[cfg(test)]
mod claims;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod lab;
#[cfg(test)]
mod power_cut;
#[cfg(test)]
mod races;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sqlite;
#[cfg(test)]
mod tampering;

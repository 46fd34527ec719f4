//! Lines between programs that speak JSON-RPC, as data: their traffic.

pub(crate) mod traffic;

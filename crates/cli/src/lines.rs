//! Lines between programs that speak JSON-RPC, as data: how they are read, what they say, and their traffic.

pub(crate) mod gist;
pub(crate) mod message;
pub(crate) mod near;
pub(crate) mod traffic;

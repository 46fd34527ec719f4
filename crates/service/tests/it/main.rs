//! The service in one process, on a store in a folder of its own.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod node;

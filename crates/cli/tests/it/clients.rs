//! The real clients, from npm, before a model that the test plays itself. What was denied must not have happened: every
//! claim is about files on the disk.

#![expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "a test fails by panicking")]

mod agent;
mod app_server;
mod claude_code;
mod codex;
mod desk;
mod exec;
mod exports;
mod install;
mod mcp;
mod mcp_relay;
mod model;
mod probe;
mod scenes;
mod settings;

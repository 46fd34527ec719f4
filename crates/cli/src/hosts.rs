//! Agents' hosts: from what a host is about to do to a yes or a no that it understands.

pub(crate) mod between;
pub(crate) mod canary;
pub(crate) mod claude_code;
pub(crate) mod codex;
pub(crate) mod config;
pub(crate) mod exported;
pub(crate) mod gate;
pub(crate) mod ground;
pub(crate) mod hook;
pub(crate) mod installed;
pub(crate) mod mcp;
pub(crate) mod mcp_server;
pub(crate) mod ours;
pub(crate) mod settings;
pub(crate) mod workspace;

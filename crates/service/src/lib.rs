//! Gathers facts, asks the kernel, records the answer, serves it.
//!
//! [`Node`] is the whole service in one process: it opens the store, puts a policy in force if there is none, reads the
//! clock once for each request, and makes the ids. Whoever asks is a [`Caller`], known by a credential.
//!
//! # Examples
//!
//! ```
//! use countersign_canon::Json;
//! use countersign_policy::{ActionKind, Mode, Role};
//! use countersign_service::{Ask, Caller, NewSession, Node, NodeOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let node = Node::open(&NodeOptions { data: folder.path().join("data"), database: None, checkpoints: None })?;
//! let owner = Caller::owner("example")?;
//! let session = node.start_session(&owner, NewSession::new(Role::parse("copilot")?, Mode::ReadOnly, "example")?)?;
//! let ask = Ask::new(ActionKind::parse("fs.read")?, Json::from("README.md")).in_session(&session.session_id);
//! assert_eq!(node.decide(&owner, ask)?.code(), "READ_ALLOWED");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admin;
pub mod api;
mod bundle;
mod caller;
mod client;
mod clock;
mod code;
mod decision;
mod dial;
mod door;
mod error;
mod files;
mod host;
mod http;
mod lineage;
mod node;
mod note;
mod policies;
mod prover;
mod proving;
mod reason;
mod recorded;
mod remote;
mod replay;
mod session;
mod sign;

pub use crate::{
    admin::{generate_key, policy_documents},
    bundle::{BundleCheck, BundleFault, BundleReport},
    caller::Caller,
    client::{Client, ClientOptions},
    clock::now,
    code::codes as service_codes,
    decision::{Ask, Decision},
    door::{Door, Tail},
    error::ServiceError,
    files::holds,
    host::{Considered, HostCall},
    http::{
        Listening, LogDetail, ProblemBody, ProblemDetail, ServeOptions, TlsFiles, TraceExport, openapi, serve,
    },
    lineage::Lineage,
    node::{Node, NodeOptions},
    policies::POLICY_FILES,
    prover::this_program,
    recorded::{Backtest, Flip, Situation},
    replay::{Difference, StreamCheck, StreamFault},
    session::NewSession,
    sign::sign,
};

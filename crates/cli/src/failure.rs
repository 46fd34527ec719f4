//! Why a command could not give the answer it was asked for: the one error type of the program.

use countersign_canon::{Issue, NonEmpty};
use countersign_service::ServiceError;

use crate::{exit::Exit, source::Source};

/// Why a command failed, and who must act.
#[derive(Debug)]
pub enum Failure {
    /// A document was refused: its author must act. Exit 1.
    Refused {
        /// The document.
        source: Source,
        /// Everything that is wrong with it.
        issues: NonEmpty<Issue>,
    },
    /// Documents that the answer needs are unusable: their author must act first. Exit 2.
    Unusable(
        /// Each document with everything that is wrong with it; without a document if all of them together are meant.
        Vec<(Option<Source>, NonEmpty<Issue>)>,
    ),
    /// The question could not be answered: the caller or the machine must act. Exit 2.
    CouldNotTell(Issue),
    /// Nobody reads our output any more, which is their good right. Exit 0.
    OutputClosed,
}

impl Failure {
    /// A document was refused for one reason.
    #[must_use]
    pub fn refused(source: Source, issue: Issue) -> Self {
        Self::Refused { source, issues: NonEmpty::of(issue) }
    }

    /// How the program ends for this reason.
    #[must_use]
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Refused { .. } => Exit::No,
            Self::Unusable(_) | Self::CouldNotTell(_) => Exit::CouldNotTell,
            Self::OutputClosed => Exit::Yes,
        }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        Self::CouldNotTell(Issue::from(&error))
    }
}

/// The codes of the program itself.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The command line is wrong.
        CLI_USAGE
        /// A file could not be read.
        CLI_READ_FAILED
        /// A file or the output could not be written.
        CLI_WRITE_FAILED
        /// DE2: the folder for a plan lies in a source tree.
        DE2_OUT_IN_SOURCE_TREE
        /// DE2: whether the folder for a plan lies in a source tree cannot be told.
        DE2_INDEX_UNREADABLE
        /// Another document has the name that a plan would have.
        DRY_RUN_OUT_EXISTS
        /// The program contradicts itself: a defect of ours.
        CLI_DEFECT
        /// The settings of a workspace are wrong.
        CLI_CONFIG_INVALID
        /// Another program could not be started, or does not answer.
        CLI_START_FAILED
        /// The settings of a host cannot be read or changed.
        INSTALL_SETTINGS
        /// A host does not say that it trusts a hook.
        INSTALL_TRUST
        /// What a host told its hook cannot be understood.
        HOOK_INPUT
        /// A hook had no decision in time.
        HOOK_DEADLINE
        /// A hook broke off: a defect of ours.
        HOOK_DEFECT
        /// A workspace that was set up has no store.
        HOOK_STORE_MISSING
        /// A thread of Codex did not get the settings under which it asks, or is not known to have.
        CODEX_UNGOVERNED
        /// The schema for the last message of a worker is not one.
        WORKER_SCHEMA_INVALID
        /// The last message of a worker does not fit its schema.
        WORKER_OUTPUT_INVALID
        /// A worker said that it failed, or ended without saying anything.
        WORKER_FAILED
        /// A worker had no end in time.
        WORKER_TIMEOUT
    }
}

//! Why the service has no answer: its one error type.

use std::path::PathBuf;

use countersign_canon::{Code, Issue, NonEmpty};
use countersign_ledger::LogFault;
use countersign_store::{CallError, Refusal, StoreError, VerifyError};

use crate::code::codes;

/// Why the service has no answer. A decision is an answer, also if it is a denial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServiceError {
    /// The clock cannot be used.
    #[error("the clock of this machine is before 1970 or after 9999")]
    Clock,
    /// The store could not say. Whatever was asked is denied.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store said no; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The log is not what it should be.
    #[error(transparent)]
    Log(#[from] LogFault),
    /// A text does not have the right length.
    #[error("{what} has {found} characters, it may have {min} to {max}")]
    TextLength {
        /// What the text is.
        what: &'static str,
        /// How long it is.
        found: usize,
        /// How long it must be.
        min: usize,
        /// How long it may be.
        max: usize,
    },
    /// A document is not what it should be.
    #[error("{}", .0.first().map_or_else(String::new, ToString::to_string))]
    Document(
        /// Everything that is wrong with it.
        NonEmpty<Issue>,
    ),
    /// The policy folder holds another policy than the one in force. Whatever was asked is denied.
    #[error("the policy in `{}` is not the one in force", folder.display())]
    PolicyChanged {
        /// The folder.
        folder: PathBuf,
    },
    /// The service could not be reached, or what answered was not one. Whatever was asked is denied.
    #[error("no answer from {place}: {message}")]
    Unreachable {
        /// Where it should be.
        place: String,
        /// What happened instead.
        message: String,
    },
    /// Somebody answered who did not show to be the service. Whatever was asked is denied.
    #[error("{place} is not trusted: {message}")]
    Untrusted {
        /// Where the service should be.
        place: String,
        /// What is wrong with who is there.
        message: String,
    },
    /// The service said no.
    #[error("{message}")]
    Remote {
        /// The code it gave.
        code: Code,
        /// What it said.
        message: String,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {place}: {message}")]
    Listen {
        /// Where.
        place: String,
        /// Why not.
        message: String,
    },
    /// The service contradicts itself: a defect of ours, and not a yes.
    #[error("this is a defect: {message}")]
    Defect {
        /// What cannot be.
        message: String,
    },
}

impl ServiceError {
    /// The frozen machine code of this error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Document(issues) => issues.first().map_or(codes::SERVICE_DEFECT, |issue| issue.code),
            Self::Clock => codes::SERVICE_CLOCK,
            Self::Store(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Log(fault) => fault.code,
            Self::TextLength { .. } => codes::SERVICE_TEXT_LENGTH,
            Self::PolicyChanged { .. } => codes::HOOK_POLICY_CHANGED,
            Self::Unreachable { .. } => codes::SERVICE_UNREACHABLE,
            Self::Untrusted { .. } => codes::SERVICE_UNTRUSTED,
            Self::Remote { code, .. } => *code,
            Self::Listen { .. } => codes::SERVICE_LISTEN,
            Self::Defect { .. } => codes::SERVICE_DEFECT,
        }
    }

    pub(crate) fn defect(message: impl Into<String>) -> Self {
        Self::Defect { message: message.into() }
    }
}

impl From<CallError> for ServiceError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Store(error) => Self::Store(error),
            CallError::Refused(refusal) => Self::Refused(refusal),
        }
    }
}

impl From<VerifyError> for ServiceError {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Store(error) => Self::Store(error),
            VerifyError::Fault(fault) => Self::Log(fault),
        }
    }
}

impl From<&ServiceError> for Issue {
    fn from(error: &ServiceError) -> Self {
        let issue = Self::new(error.code(), error.to_string());
        if matches!(error, ServiceError::PolicyChanged { .. }) {
            let hint = "a person reads it and runs `countersign policy activate`, or takes the change back";
            return issue.with_hint(hint);
        }
        if matches!(error, ServiceError::Untrusted { .. }) {
            let hint = "ask for the service by the name in its certificate; name the certificate that vouches for it with --tls-ca";
            return issue.with_hint(hint);
        }
        issue
    }
}

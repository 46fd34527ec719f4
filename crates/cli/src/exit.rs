//! The one place that maps answers to exit codes.

use std::process::ExitCode;

/// How the program ended. Each command's help lists those it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Yes: done, valid, allowed, passed.
    Yes,
    /// No: refused, invalid, denied, failed.
    No,
    /// Could not tell: wrong usage, an unreadable file, a defect.
    CouldNotTell,
    /// Not yet: a person must answer first.
    Ask,
    /// Not without a person's approval.
    ApprovalRequired,
    /// Stop: what a host takes from its hook as a no.
    Blocked,
}

impl Exit {
    /// The number that the caller sees.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::CouldNotTell | Self::Blocked => 2,
            Self::Ask => 3,
            Self::ApprovalRequired => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

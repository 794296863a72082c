//! How a command ends when it does not succeed (command line, 1.4).

use thiserror::Error;

/// Why a command did not succeed, and the exit code that says so.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// A mistake in how the command was called, found before anything was asked of the state: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// It failed while it ran: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// What was wrong has been said already, line by line: exit code 1, no `ERROR` line.
    #[error("")]
    Told,
    /// It was asked to stop before it had begun: exit code 0, nothing to say.
    #[error("")]
    Stopped,
}

impl Failure {
    /// A usage mistake.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::Usage(message.into())
    }

    /// A failure while running.
    pub fn failed(message: impl Into<String>) -> Self {
        Failure::Failed(message.into())
    }

    /// The program's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) | Failure::Told => 1,
            Failure::Stopped => 0,
        }
    }
}

/// What a command comes to.
pub type Done = Result<(), Failure>;

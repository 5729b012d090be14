//! The end of a session before it had a file.

use crate::control::network::patient::ConnectionError;
use std::io;

/// Why a session came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it speaks a version of the protocol that is not known here")]
    Version,
    #[error("{0}")]
    Refused(String),
    #[error("the description of its recording cannot be read: {0}")]
    Metadata(String),
    /// This end's fault: a recording is lost.
    #[error("{0}")]
    Store(String),
}

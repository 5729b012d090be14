//! Reasons why an agent does not record.

use crate::control::network::patient::ConnectionError;
use crate::control::record::RecordError;
use std::io;
use std::path::PathBuf;

/// Why an agent does not record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    /// No address belongs to the name.
    #[error("failed to find {place}: {source}")]
    Address {
        /// As the user wrote it.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The port is closed, or the way there is.
    #[error("failed to connect to the agent at {place}: {source}")]
    Connect {
        /// The address.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The options are more than a message holds.
    #[error("the options for {0} are longer than the agent's protocol allows (8 KiB)")]
    TooLong(String),
    /// It says why.
    #[error("the agent at {place} does not record: {why}")]
    Refused {
        /// The address.
        place: String,
        /// Reason, in the agent's words.
        why: String,
    },
    /// It says nothing.
    #[error(
        "the agent at {0} closed the connection: an event or option that it does not know, another controller, or no rights; \
         its log says which"
    )]
    Closed(String),
    /// The connection broke, or what came is no answer.
    #[error("failed to set up the recording at {place}: {source}")]
    Broken {
        /// The address.
        place: String,
        /// Why.
        source: ConnectionError,
    },
    /// The description of its recording is none.
    #[error("the description of the recording at {place} cannot be read: {why}")]
    Metadata {
        /// The address.
        place: String,
        /// Why.
        why: String,
    },
    /// Its data does not come through the FIFOs.
    #[error("the data of {place} does not come through its FIFOs: {source} (--no-fifos does without)")]
    Fifos {
        /// The address.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// Its file cannot be made.
    #[error(transparent)]
    File(#[from] RecordError),
    /// A spool beside its file cannot be made.
    #[error("failed to create a spool of {path}: {source}")]
    Spool {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

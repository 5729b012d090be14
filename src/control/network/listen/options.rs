//! Settings of a listener.

use crate::base::units::ByteSize;
use crate::control::network::allow::Network;
use std::path::PathBuf;
use std::time::Duration;

/// Settings of a listener.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Directory of the files.
    pub dir: PathBuf,
    /// Start of their names.
    pub name: String,
    /// Limit of one recording.
    pub max_size: Option<ByteSize>,
    /// Limit of the sessions at once.
    pub max_sessions: usize,
    /// Peers that may connect; everybody who reaches the listener if empty.
    pub allow: Vec<Network>,
    /// Time that an interrupted sender of ours gets to come back.
    pub wait: Duration,
}

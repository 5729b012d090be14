//! Events of an agent, for its log.

use crate::control::network::transport::Address;
use std::fmt;

/// Something that an agent's user may want to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentNotice {
    /// A connection came to nothing.
    Refused {
        /// From where.
        peer: Address,
        /// Why.
        why: String,
    },
    /// A controller asks for a recording.
    Asked {
        /// From where.
        peer: Address,
        /// Its options of `record`.
        args: Vec<String>,
    },
    /// A recording is over.
    Ended {
        /// From where.
        peer: Address,
        /// Its outcome, in a line.
        what: String,
    },
}

impl fmt::Display for AgentNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentNotice::Refused { peer, why } => write!(f, "refused {peer}: {why}"),
            AgentNotice::Asked { peer, args } => write!(f, "{peer} records: {}", args.join(" ")),
            AgentNotice::Ended { peer, what } => write!(f, "{peer}: {what}"),
        }
    }
}

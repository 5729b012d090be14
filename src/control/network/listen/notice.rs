//! Events of a listener, for its log and its exit code.

use crate::base::units::{ByteSize, counted};
use crate::control::network::patient::ConnectionError;
use crate::control::network::transport::Address;
use std::{fmt, io};

/// The protocol of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// trace-cmd's first, of before 2.8.
    V1,
    /// trace-cmd's.
    V3,
    /// Ours.
    Rtrace,
    /// Ours with datagrams.
    RtraceUdp,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::V1 => "V1",
            Protocol::V3 => "V3",
            Protocol::Rtrace => "rtrace",
            Protocol::RtraceUdp => "rtrace over UDP",
        })
    }
}

/// Something that a listener's user may want to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ListenNotice {
    /// A connection came to nothing, and there is no file.
    Refused {
        /// From where.
        peer: Address,
        /// Why.
        why: String,
    },
    /// The way on which a sender and the listener agreed.
    Agreed {
        /// From where.
        peer: Address,
        /// Number of rings: CPUs, of each instance.
        rings: usize,
        /// Size of a sub-buffer in bytes, and the ports of the data; of a sender of ours neither is needed.
        data: Option<(u32, Vec<u16>)>,
        /// Datagrams, not a stream.
        datagrams: bool,
    },
    /// A recording begins, or goes on after a break.
    Began {
        /// From where.
        peer: Address,
        /// Protocol of the session.
        protocol: Protocol,
        /// The file's name.
        file: String,
        /// Goes on after a break.
        again: bool,
    },
    /// A sender of ours is gone. It may come back.
    Interrupted {
        /// The file's name.
        file: String,
        /// Why.
        why: String,
    },
    /// A recording is over.
    Ended(EndedSession),
}

/// A finished recording.
#[derive(Clone, Debug)]
pub struct EndedSession {
    /// The file's name.
    pub file: String,
    /// Size of the file, in bytes.
    pub size: u64,
    /// Events that came, as far as they were counted.
    pub events: Option<u64>,
    /// The reason why it is incomplete, if it is.
    pub incomplete: Option<String>,
}

impl fmt::Display for ListenNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenNotice::Refused { peer, why } => write!(f, "refused {peer}: {why}"),
            ListenNotice::Agreed { peer, rings, data, datagrams } => {
                let how = if *datagrams { "UDP" } else { "TCP" };
                write!(f, "{peer} sends {} over {how}", counted(*rings as u64, "ring"))?;
                match data {
                    Some((size, ports)) => {
                        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                        write!(f, ", sub-buffers of {} to ports {}", ByteSize((*size).into()), ports.join(" "))
                    }
                    None => Ok(()),
                }
            }
            ListenNotice::Began { peer, protocol, file, again } => {
                let how = if *again { "goes on with" } else { "records to" };
                write!(f, "{peer} ({protocol}) {how} {file}")
            }
            ListenNotice::Interrupted { file, why } => {
                write!(f, "{file} is interrupted: {why}; its sender may go on, and `rtrace recover` completes it")
            }
            ListenNotice::Ended(EndedSession { file, size, events, incomplete }) => {
                write!(f, "{file}: {}", ByteSize(*size))?;
                if let Some(events) = events {
                    write!(f, ", {}", counted(*events, "event"))?;
                }
                match incomplete {
                    Some(why) => write!(f, ", INCOMPLETE: {why}"),
                    None => write!(f, ", complete"),
                }
            }
        }
    }
}

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

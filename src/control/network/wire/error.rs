//! Malformed input from a peer.

/// Why a peer's bytes are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// A message's size is below its header's or above the limit.
    #[error("a message declares {0} bytes; 12 to 8192 are allowed")]
    Size(u32),
    /// A message's fixed part is longer than the message.
    #[error("a message of {size} bytes declares a fixed part of {fixed}")]
    FixedSize {
        /// Bytes of the whole message.
        size: u32,
        /// Bytes that the fixed part is said to have.
        fixed: u32,
    },
    /// A frame's size is above the limit.
    #[error("a frame declares {0} bytes, more than any rtrace sends")]
    FrameSize(u32),
    /// A frame's checksum is that of other bytes.
    #[error("a frame of {0} bytes arrived damaged: its checksum differs")]
    Checksum(u32),
    /// A frame of a kind that this version does not know.
    #[error("a frame is of unknown kind {0}")]
    Kind(u32),
    /// A body ends before what it must hold.
    #[error("{0} ends too early")]
    Cut(&'static str),
    /// A value that makes no sense.
    #[error("{what} is {value}, which cannot be")]
    Value {
        /// The field.
        what: &'static str,
        /// Its value, escaped and shortened.
        value: String,
    },
    /// A text without its end, or longer than allowed.
    #[error("{0} is longer than allowed or has no end")]
    Text(&'static str),
    /// A greeting of no known protocol.
    #[error("the greeting `{0}` is of no known protocol")]
    Greeting(String),
}

impl WireError {
    /// A [`WireError::Value`] of bytes that a peer sent.
    pub(super) fn value(what: &'static str, bytes: &[u8]) -> Self {
        WireError::Value { what, value: shown(bytes) }
    }
}

/// The first 40 bytes, what is not printable escaped.
pub(super) fn shown(bytes: &[u8]) -> String {
    bytes.iter().take(40).map(|byte| byte.escape_ascii().to_string()).collect()
}

//! The text that opens a control connection.
//!
//! ```text
//! listener  tracecmd                             8 bytes without NUL
//! sender    -1V3\0                               a V3 sender; "-1" is where V1 has its number of CPUs
//! listener  V3\0
//! sender    766679\0\0
//! listener  OK                                   2 bytes without NUL; messages from here on
//! ```
//! A sender of ours begins with [`OFFER`]. A listener of trace-cmd answers every version that it does not know with `V3\0`
//! and reads another one, so the sender goes on with `-1V3\0`; ours answers [`OURS`], and frames follow. V1 is
//! `CPUS\0PAGESIZE\0OPTIONS\0`, per option its length as text and its bytes; the answer is the ports, `1500,1501\0`.
//!
//! With [`COUNTED_OFFER`] a sender of ours offers V3 with datagrams that are numbered and counted; ours answers [`COUNTED`], and
//! V3's magic follows.

use super::error::shown;
use super::frame::{MAX_CPUS, MAX_PAGE, decimal, port};
use super::{TraceInit, WireError};

/// The first bytes of every listener.
pub const BANNER: &[u8] = b"tracecmd";
/// A V3 sender's version, and a listener's answer to it.
pub const V3: (&[u8], &[u8]) = (b"-1V3\0", b"V3\0");
/// The bytes after a V3 sender's version.
pub const MAGIC: &[u8] = b"766679\0\0";
/// The listener's answer to [`MAGIC`].
pub const OK: &[u8] = b"OK";
/// The version of an rtrace that sends.
pub const OFFER: &[u8] = b"-1V3+rtrace-1\0";
/// The answer of an rtrace that listens.
pub const OURS: &[u8] = b"V3+rtrace-1\0";
/// The version of an rtrace that sends datagrams.
pub const COUNTED_OFFER: &[u8] = b"-1V3+rtrace-udp-1\0";
/// The answer to it of an rtrace that counts them.
pub const COUNTED: &[u8] = b"V3+rtrace-udp-1\0";
/// The longest text of a greeting, in bytes.
pub const MAX_TEXT: usize = 256;

/// The first text of a sender, without its NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// V3: its magic follows.
    V3,
    /// An rtrace: frames follow.
    Ours,
    /// An rtrace that sends numbered datagrams: V3's magic follows.
    Counted,
    /// An unknown version. Answered with `V3\0`; another text follows.
    Unknown,
    /// V1: this many CPUs.
    V1(u32),
}

impl Greeting {
    /// Reads it.
    ///
    /// # Errors
    /// [`WireError::Greeting`], [`WireError::Value`] for an impossible number of CPUs.
    pub fn read(text: &[u8]) -> Result<Self, WireError> {
        let is = |of: &[u8]| of.strip_suffix(b"\0") == Some(text);
        if is(V3.0) {
            return Ok(Greeting::V3);
        }
        if is(OFFER) {
            return Ok(Greeting::Ours);
        }
        if is(COUNTED_OFFER) {
            return Ok(Greeting::Counted);
        }
        if text.starts_with(b"-1V") {
            return Ok(Greeting::Unknown);
        }
        if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
            return Err(WireError::Greeting(shown(text)));
        }
        let cpus = decimal("the number of CPUs", text)?;
        let cpus = u32::try_from(cpus).ok().filter(|cpus| (1..=MAX_CPUS).contains(cpus));
        cpus.map(Greeting::V1).ok_or_else(|| WireError::value("the number of CPUs", text))
    }
}

/// A listener's answer to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionAnswer {
    /// An rtrace.
    Ours,
    /// An rtrace that takes numbered datagrams.
    Counted,
    /// A trace-cmd that knows V3.
    V3,
    /// One that knows V1 only, or no listener at all.
    None,
}

/// Reads a listener's answer, its NUL included; empty if it closed the connection.
///
/// # Errors
/// [`WireError::Greeting`].
pub fn version_answer(bytes: &[u8]) -> Result<VersionAnswer, WireError> {
    match bytes {
        OURS => Ok(VersionAnswer::Ours),
        COUNTED => Ok(VersionAnswer::Counted),
        bytes if bytes == V3.1 => Ok(VersionAnswer::V3),
        [] | [0, ..] => Ok(VersionAnswer::None),
        other => Err(WireError::Greeting(shown(other))),
    }
}

/// V1: the texts after the number of CPUs, one at a time.
#[derive(Debug, Default)]
pub struct V1;

impl V1 {
    /// Reads the page size and the number of options of a V1 sender.
    ///
    /// # Errors
    /// [`WireError::Value`].
    pub fn sizes(page_size: &[u8], options: &[u8]) -> Result<(u32, u32), WireError> {
        let page = u32::try_from(decimal("the page size", page_size)?).ok();
        let page = page.filter(|page| (1..=MAX_PAGE).contains(page));
        let page = page.ok_or_else(|| WireError::value("the page size", page_size))?;
        let count = decimal("the number of options", options)?;
        let count = u32::try_from(count).ok().filter(|count| *count <= 16);
        Ok((page, count.ok_or_else(|| WireError::value("the number of options", options))?))
    }

    /// Reads the length of an option, in bytes.
    ///
    /// # Errors
    /// [`WireError::Value`].
    pub fn option_length(text: &[u8]) -> Result<usize, WireError> {
        let len = usize::try_from(decimal("an option's length", text)?).ok().filter(|len| *len <= MAX_TEXT);
        len.ok_or_else(|| WireError::value("an option's length", text))
    }

    /// A V1 sender's request as a V3 message.
    ///
    /// # Errors
    /// [`WireError::Value`] for an unknown option.
    pub fn init(cpus: u32, page_size: u32, options: &[Vec<u8>]) -> Result<TraceInit, WireError> {
        let name = |option: &Vec<u8>| match option.strip_suffix(b"\0").unwrap_or(option) {
            b"TCP" => Ok("tcp".to_owned()),
            other => Err(WireError::value("an option", other)),
        };
        Ok(TraceInit { cpus, page_size, options: options.iter().map(name).collect::<Result<_, _>>()? })
    }

    /// The answer to a V1 sender.
    pub fn print(ports: &[u16]) -> Vec<u8> {
        let mut text = ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",").into_bytes();
        text.push(0);
        text
    }

    /// Reads [`V1::print`]'s text, without its NUL.
    ///
    /// # Errors
    /// [`WireError::Value`].
    pub fn read_ports(text: &[u8]) -> Result<Vec<u16>, WireError> {
        let text = str::from_utf8(text).map_err(|_| WireError::value("a list of ports", text))?;
        text.split(',').map(port).collect()
    }
}

//! Frames: what two rtraces speak with each other.
//!
//! A header of 16 bytes, big-endian: u32 kind, u32 bytes of the body, u64 xxh64 of the body. The sender's trace file and the
//! spools of its rings are made byte for byte at the listener: FILE frames write to the one, CHUNK frames append to the others.
//! Positions in both say where a sender goes on after a break.
//!
//! Reading integers and texts off the front of a body, and the two layouts that are not plain integers.
//!
//! Numbers as text, and the limits of those that size memory.

use super::WireError;
use crate::file::trace_dat::{MAX_CHUNK, xxh64};

/// The largest body, in bytes: a chunk of the largest size that does not become smaller when packed, and what names it.
pub const MAX_FRAME: usize = MAX_CHUNK.saturating_add(1 << 20);
/// The most rings of a recording.
const MAX_RINGS: u32 = 1 << 16;
/// The longest name, in bytes.
const MAX_NAME: usize = 255;

/// The first 16 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    kind: u32,
    /// Bytes that follow.
    pub body: usize,
    sum: u64,
}

/// A ring of a recording: what its spool is named after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingId {
    /// The instance's name in the file; empty for the top one.
    pub buffer: String,
    /// The CPU's number.
    pub cpu: u32,
}

/// Bytes of a recording that exist, or that must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingSizes {
    /// Bytes of the trace file.
    pub file: u64,
    /// Bytes of each ring's spool.
    pub rings: Vec<u64>,
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Sender: begins a recording, or goes on with the one called `name`.
    Open {
        /// The recording's TRACEID.
        id: u64,
        /// True if spools begin with a chunk count.
        chunked: bool,
        /// The file at the listener; empty to begin.
        name: String,
        /// Its rings, in the order of the table of spools.
        rings: Vec<RingId>,
    },
    /// Sender: bytes of the trace file, at a position.
    File {
        /// Position in the file.
        at: u64,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Sender: a chunk of a ring, at a position of its spool.
    Chunk {
        /// The ring's number.
        ring: u32,
        /// Position in the spool.
        at: u64,
        /// Its bytes, as they are on the disk.
        data: Vec<u8>,
    },
    /// Sender: the recording is complete, and has these sizes.
    End(RingSizes),
    /// Both: still here.
    Alive,
    /// Listener: the recording is written to `name`, and this much of it is there.
    Opened {
        /// The file's name in the listener's directory.
        name: String,
        /// Bytes that exist.
        sizes: RingSizes,
    },
    /// Listener: this much has been written.
    Stored(RingSizes),
    /// Listener: the file is complete, with this many bytes.
    Done(u64),
    /// Listener: it cannot go on, and why. The recording ends at what is there.
    Failed(String),
}

impl FrameHeader {
    /// Its size, in bytes.
    pub const SIZE: usize = 16;

    /// Reads it.
    ///
    /// # Errors
    /// [`WireError::FrameSize`].
    pub fn read(bytes: &[u8; Self::SIZE]) -> Result<Self, WireError> {
        let mut take = Take::new("a frame", bytes);
        let (kind, size, sum) = (take.u32()?, take.u32()?, take.u64()?);
        if size as usize > MAX_FRAME {
            return Err(WireError::FrameSize(size));
        }
        Ok(FrameHeader { kind, body: size as usize, sum })
    }

    /// The same of another body: for tests, which would have to guess a checksum otherwise.
    #[doc(hidden)]
    pub fn with_sum_of(self, body: &[u8]) -> Self {
        FrameHeader { body: body.len(), sum: xxh64(body), ..self }
    }
}

impl Frame {
    /// Reads the body of a frame with `header`.
    ///
    /// # Errors
    /// [`WireError`]; a wrong checksum above all.
    pub fn read(header: FrameHeader, body: &[u8]) -> Result<Self, WireError> {
        if xxh64(body) != header.sum {
            return Err(WireError::Checksum(body.len() as u32));
        }
        let mut take = Take::new("a frame", body);
        let frame = match header.kind {
            1 => open(&mut take)?,
            2 => Frame::File { at: take.u64()?, data: take.rest().to_vec() },
            3 => Frame::Chunk { ring: take.u32()?, at: take.u64()?, data: take.rest().to_vec() },
            4 => Frame::End(sizes(&mut take)?),
            5 => Frame::Alive,
            6 => Frame::Opened { name: name(&mut take)?, sizes: sizes(&mut take)? },
            7 => Frame::Stored(sizes(&mut take)?),
            8 => Frame::Done(take.u64()?),
            9 => Frame::Failed(String::from_utf8_lossy(take.rest()).into_owned()),
            kind => return Err(WireError::Kind(kind)),
        };
        if !take.is_empty() {
            return Err(WireError::Value { what: "a frame's body", value: "longer than its content".to_owned() });
        }
        Ok(frame)
    }

    /// Its bytes, header included.
    pub fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let kind = match self {
            Frame::Open { id, chunked, name, rings } => {
                body.extend(id.to_be_bytes());
                body.extend(u32::from(*chunked).to_be_bytes());
                put_text(&mut body, name);
                body.extend((rings.len() as u32).to_be_bytes());
                for ring in rings {
                    put_text(&mut body, &ring.buffer);
                    body.extend(ring.cpu.to_be_bytes());
                }
                1
            }
            Frame::File { at, data } => return Self::file(*at, data),
            Frame::Chunk { ring, at, data } => return Self::chunk(*ring, *at, data),
            Frame::End(sizes) => put_sizes(&mut body, sizes, 4),
            Frame::Alive => 5,
            Frame::Opened { name, sizes } => {
                put_text(&mut body, name);
                put_sizes(&mut body, sizes, 6)
            }
            Frame::Stored(sizes) => put_sizes(&mut body, sizes, 7),
            Frame::Done(size) => {
                body.extend(size.to_be_bytes());
                8
            }
            Frame::Failed(why) => {
                body.extend_from_slice(why.as_bytes());
                9
            }
        };
        framed(kind, &[&body])
    }

    /// The bytes of a [`Frame::File`] of borrowed data.
    pub fn file(at: u64, data: &[u8]) -> Vec<u8> {
        framed(2, &[&at.to_be_bytes(), data])
    }

    /// The bytes of a [`Frame::Chunk`] of borrowed data.
    pub fn chunk(ring: u32, at: u64, data: &[u8]) -> Vec<u8> {
        framed(3, &[&ring.to_be_bytes(), &at.to_be_bytes(), data])
    }
}

fn open(take: &mut Take<'_>) -> Result<Frame, WireError> {
    let (id, chunked, file) = (take.u64()?, take.u32()? != 0, name(take)?);
    let count = rings(take.u32()?)?;
    let mut rings = Vec::new();
    for _ in 0..count {
        rings.push(RingId { buffer: name(take)?, cpu: take.u32()? });
    }
    Ok(Frame::Open { id, chunked, name: file, rings })
}

fn sizes(take: &mut Take<'_>) -> Result<RingSizes, WireError> {
    let (file, count) = (take.u64()?, rings(take.u32()?)?);
    Ok(RingSizes { file, rings: (0..count).map(|_| take.u64()).collect::<Result<_, _>>()? })
}

fn rings(count: u32) -> Result<u32, WireError> {
    if count > MAX_RINGS {
        return Err(WireError::Value { what: "the number of rings", value: count.to_string() });
    }
    Ok(count)
}

fn name(take: &mut Take<'_>) -> Result<String, WireError> {
    take.text().and_then(|text| if text.len() > MAX_NAME { Err(WireError::Text("a name")) } else { Ok(text) })
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn put_sizes(out: &mut Vec<u8>, sizes: &RingSizes, kind: u32) -> u32 {
    out.extend(sizes.file.to_be_bytes());
    out.extend((sizes.rings.len() as u32).to_be_bytes());
    sizes.rings.iter().for_each(|size| out.extend(size.to_be_bytes()));
    kind
}

fn framed(kind: u32, parts: &[&[u8]]) -> Vec<u8> {
    let body: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Vec::with_capacity(FrameHeader::SIZE.saturating_add(body));
    out.extend(kind.to_be_bytes());
    out.extend((body as u32).to_be_bytes());
    out.extend([0; 8]);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    let sum = xxh64(out.get(FrameHeader::SIZE..).unwrap_or_default());
    if let Some(place) = out.get_mut(8..FrameHeader::SIZE) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
    out
}

/// The rest of a body, whose name errors carry.
pub(super) struct Take<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Take<'a> {
    pub(super) fn new(what: &'static str, rest: &'a [u8]) -> Self {
        Take { rest, what }
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], WireError> {
        let (front, rest) = self.rest.split_at_checked(len).ok_or(WireError::Cut(self.what))?;
        self.rest = rest;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (front, rest) = self.rest.split_first_chunk::<N>().ok_or(WireError::Cut(self.what))?;
        self.rest = rest;
        Ok(*front)
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// A text up to its NUL, which is taken too.
    pub(super) fn text(&mut self) -> Result<String, WireError> {
        let len = self.rest.iter().position(|byte| *byte == 0).ok_or(WireError::Text(self.what))?;
        let text = self.bytes(len)?;
        self.bytes(1)?;
        String::from_utf8(text.to_vec()).map_err(|_| WireError::value(self.what, text))
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

/// The first `N` bytes of a fixed part, filled up with zeros.
pub(super) fn padded<const N: usize>(fixed: &[u8]) -> [u8; N] {
    let mut known = [0; N];
    known.iter_mut().zip(fixed).for_each(|(to, from)| *to = *from);
    known
}

pub(super) fn with_nul(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// More CPUs than any kernel is built for.
pub(super) const MAX_CPUS: u32 = 8192;

/// Larger than any sub-buffer (Linux allows 16 MiB and less).
pub(super) const MAX_PAGE: u32 = 32 << 20;

/// The number of a port, 1 to 65535.
pub(super) fn port(text: &str) -> Result<u16, WireError> {
    let number = decimal("a port", text.as_bytes())?;
    let port = u16::try_from(number).ok().filter(|port| *port > 0);
    port.ok_or_else(|| WireError::value("a port", text.as_bytes()))
}

/// A decimal number of at most 19 digits and nothing else.
///
/// # Errors
/// [`WireError::Value`].
pub fn decimal(what: &'static str, text: &[u8]) -> Result<u64, WireError> {
    let digits = str::from_utf8(text)
        .ok()
        .filter(|text| !text.is_empty() && text.len() < 20 && text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok()).ok_or_else(|| WireError::value(what, text))
}

//! The first bytes of a trace.dat file.

use super::scan::Scan;
use crate::base::abi::{Abi, Endian};
use crate::file::trace_dat::{Codec, FileError};

/// The bytes that a trace.dat file begins with.
pub const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// ```text
/// 17 08 44 "tracing"  version as ASCII, NUL
/// u8 endian (1: big)  u8 sizeof(long) of the recorder  u32 sub-buffer size of the top buffer
/// version 7: codec name NUL, its version NUL, u64 offset of the first options section
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// 6 or 7.
    pub version: u8,
    /// Byte order of the recorded machine, and the size of `long` of the program that recorded; the kernel's own is in
    /// `header_page`.
    pub abi: Abi,
    /// Size of the top buffer's sub-buffers, in bytes.
    pub page_size: u32,
    /// The codec of the file.
    pub codec: Codec,
    /// The recorder's text about its codec's version.
    pub codec_version: String,
    /// Version 7: where the offset of the first options section stands, and what it is.
    pub options: Option<(u64, u64)>,
}

impl Prefix {
    /// Reads it; `scan` stands after it afterwards.
    pub(in crate::file::trace_dat) fn read(scan: &mut Scan<'_>) -> Result<Self, FileError> {
        if scan.remain() == 0 {
            return Err(FileError::Empty);
        }
        if scan.remain() < MAGIC.len() as u64 || scan.bytes(MAGIC.len() as u64)? != MAGIC {
            return Err(FileError::NotTraceDat);
        }
        let version = match scan.cstr()?.as_str() {
            "6" => 6,
            "7" => 7,
            other => return Err(FileError::Version(other.chars().take(20).collect())),
        };
        let bad = |offset, what, value| FileError::Prefix { offset, what, value };
        let mut at = scan.pos();
        let endian = match scan.u8()? {
            0 => Endian::Little,
            1 => Endian::Big,
            n => return Err(bad(at, "the byte order (0 or 1)", n.into())),
        };
        at = scan.pos();
        let long_size = match scan.u8()? {
            n @ (4 | 8) => n,
            n => return Err(bad(at, "the size of a long (4 or 8)", n.into())),
        };
        let abi = Abi { endian, long_size };
        scan.set_abi(abi);
        at = scan.pos();
        let page_size = scan.u32()?;
        if !super::buffer::is_page_size(page_size) {
            return Err(bad(at, "the size of a sub-buffer", page_size.into()));
        }
        let (mut codec, mut codec_version, mut options) = (Codec::None, String::new(), None);
        if version == 7 {
            let offset = scan.pos();
            let name = scan.cstr()?;
            codec = Codec::from_name(&name).ok_or(FileError::Compression { offset, name })?;
            codec_version = scan.cstr()?;
            at = scan.pos();
            options = Some((at, scan.u64()?));
        }
        Ok(Prefix { version, abi, page_size, codec, codec_version, options })
    }
}

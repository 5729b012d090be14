//! Digests of files.

use anyhow::Context;
use rtrace::internal::safe_file::open_seekable;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("failed to read {}", path.display());
    let mut file = open_seekable(path).with_context(failed)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).with_context(failed)? {
            0 => break,
            read => digest.update(&buffer[..read]),
        }
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

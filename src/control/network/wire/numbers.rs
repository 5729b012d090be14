//! Numbers as text, and the limits of those that size memory.

use super::WireError;

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

//! The kernel's own types, where they lie.

use super::{Error, Tracefs};
use crate::base::sys;
use std::ops::Deref;

/// The bytes of `/sys/kernel/btf/vmlinux`.
#[derive(Debug)]
pub struct KernelTypes(KernelTypeBytes);

#[derive(Debug)]
enum KernelTypeBytes {
    Mapped(sys::MappedKernelTypes),
    Read(Vec<u8>),
}

impl Deref for KernelTypes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            KernelTypeBytes::Mapped(types) => types,
            KernelTypeBytes::Read(types) => types,
        }
    }
}

impl Tracefs {
    /// [`Tracefs::kernel_btf`] for who only looks through it: mapped where the kernel can (since Linux 6.16). It hands out
    /// these megabytes page by page otherwise.
    ///
    /// # Errors
    /// As [`Tracefs::kernel_btf`].
    pub fn kernel_types(&self) -> Result<KernelTypes, Error> {
        match sys::MappedKernelTypes::map() {
            Ok(types) => Ok(KernelTypes(KernelTypeBytes::Mapped(types))),
            Err(_) => self.kernel_btf().map(|types| KernelTypes(KernelTypeBytes::Read(types))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_what_is_read() {
        let pair = std::fs::read("/sys/kernel/btf/vmlinux").and_then(|read| Ok((read, sys::MappedKernelTypes::map()?)));
        match pair {
            Ok((read, mapped)) => assert!(mapped[..] == read[..]),
            Err(e) => {
                let why = format!("not run: mapping the kernel's types (Linux 6.16): {e}\n");
                let _ = std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes());
            }
        }
    }
}

//! The ring buffer of the boot before: its addresses are those of a kernel that lay elsewhere.
//!
//! `last_boot_info` of a persistent instance says where that one lay (kernel/trace/trace.c,
//! `show_last_boot_header()`):
//!
//! ```text
//! trace_clock: local            of the newest kernels
//! ffffffff9a000000    [kernel]     since Linux 6.15: `_text` of that boot
//! ffffffffc0a3b000    ext4         since Linux 6.15: the modules of that boot
//! text delta:    -16777216        Linux 6.12: how far this boot's kernel lies after
//! data delta:    -16777216
//! ```
//!
//! Of a boot that is not over it says `# Current`.

use std::collections::HashMap;

/// Addresses of kernel and modules in the boot before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastBoot {
    kernel: KernelLocation,
    /// Module and address.
    modules: Vec<(String, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KernelLocation {
    /// `_text` was here.
    At(u64),
    /// It moved by this many bytes.
    Moved(i64),
}

/// The part of this boot's symbols and strings that holds for the last one's addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsOfLastBoot {
    /// The text of `/proc/kallsyms` as it would have been.
    pub kallsyms: Vec<u8>,
    /// The text of `printk_formats` as it would have been.
    pub printk_formats: Vec<u8>,
}

impl LastBoot {
    /// Parses the text of `last_boot_info`; `None` if it is of no other boot.
    pub fn parse(text: &str) -> Option<Self> {
        let (mut kernel, mut modules) = (None, Vec::new());
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("text"), Some("delta:"), Some(delta)) => {
                    kernel = Some(KernelLocation::Moved(delta.parse().ok()?))
                }
                (Some(address), Some(name), None) => {
                    let Ok(address) = u64::from_str_radix(address, 16) else { continue };
                    match name {
                        "[kernel]" => kernel = Some(KernelLocation::At(address)),
                        module => modules.push((module.to_owned(), address)),
                    }
                }
                _ => {}
            }
        }
        Some(LastBoot { kernel: kernel?, modules })
    }

    /// This boot's symbols at the last boot's addresses. `modules` is the text of `/proc/modules`; symbols of modules that
    /// are not in both boots are left out. `None` if `kallsyms` does not tell where the kernel lies now.
    pub fn apply(&self, kallsyms: &[u8], printk_formats: &[u8], modules: &[u8]) -> Option<AsOfLastBoot> {
        let (text, end) = (address_of(kallsyms, b"_text")?, address_of(kallsyms, b"_end").unwrap_or(u64::MAX));
        // from an address of this boot to one of the last
        let back = match self.kernel {
            KernelLocation::At(address) => address.wrapping_sub(text),
            KernelLocation::Moved(delta) => (delta as u64).wrapping_neg(),
        };
        let now: HashMap<&[u8], u64> = modules.split(|b| *b == b'\n').filter_map(loaded).collect();
        let module_back = |module: &[u8]| {
            let (_, then) = self.modules.iter().find(|(name, _)| name.as_bytes() == module)?;
            now.get(module).map(|now| then.wrapping_sub(*now))
        };
        let mut moved = AsOfLastBoot::default();
        let mut last: Option<(&[u8], Option<u64>)> = None;
        for line in kallsyms.split(|b| *b == b'\n') {
            let Some((address, rest)) = number(line) else { continue };
            let open = rest.iter().position(|b| *b == b'[');
            let module = open.and_then(|at| rest.get(at..)?.strip_prefix(b"[")?.strip_suffix(b"]"));
            let back = match module {
                Some(module) => match last {
                    Some((name, back)) if name == module => back,
                    _ => {
                        let back = module_back(module);
                        last = Some((module, back));
                        back
                    }
                },
                // what lies below is none of the kernel's image: offsets of per-CPU variables
                None if address < text => Some(0),
                None => Some(back),
            };
            if let Some(back) = back {
                moved.kallsyms.extend_from_slice(format!("{:016x}", address.wrapping_add(back)).as_bytes());
                moved.kallsyms.extend_from_slice(rest);
                moved.kallsyms.push(b'\n');
            }
        }
        for line in printk_formats.split(|b| *b == b'\n') {
            let Some((address, rest)) = line.strip_prefix(b"0x").and_then(number) else { continue };
            if (text..end).contains(&address) {
                moved.printk_formats.extend_from_slice(format!("{:#x}", address.wrapping_add(back)).as_bytes());
                moved.printk_formats.extend_from_slice(rest);
                moved.printk_formats.push(b'\n');
            }
        }
        Some(moved)
    }
}

/// The hexadecimal number that a line starts with, and what follows.
fn number(line: &[u8]) -> Option<(u64, &[u8])> {
    let end = line.iter().position(|b| !b.is_ascii_hexdigit())?;
    let (digits, rest) = line.split_at_checked(end)?;
    let digits = std::str::from_utf8(digits).ok()?;
    Some((u64::from_str_radix(digits, 16).ok()?, rest))
}

/// `ffffffff81000000 T _text`
fn address_of(kallsyms: &[u8], name: &[u8]) -> Option<u64> {
    let named = |line: &&[u8]| line.strip_suffix(name).is_some_and(|before| before.ends_with(b" "));
    kallsyms.split(|b| *b == b'\n').find(named).and_then(number).map(|(address, _)| address)
}

/// `ext4 1130496 1 - Live 0xffffffffc0a3b000`: name and address.
fn loaded(line: &[u8]) -> Option<(&[u8], u64)> {
    let mut words = line.split(|b| *b == b' ');
    let name = words.next()?;
    let address = words.nth(4)?.strip_prefix(b"0x")?;
    let address = u64::from_str_radix(std::str::from_utf8(address).ok()?, 16).ok()?;
    Some((name, address)).filter(|_| address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::symbols::{Kallsyms, PrintkFormats};

    const KALLSYMS: &[u8] = b"0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n\
        ffffffff81000100 T vfs_read\nffffffff82000000 B _end\nffffffffc0201000 t ext4_map\t[ext4]\n\
        ffffffffc0301000 t xfs_map\t[xfs]\n";

    #[test]
    fn texts_of_all_kernels() {
        // kernel/trace/trace.c: show_last_boot_header() of Linux 6.15 and of newer ones, tracing_last_boot_read() of 6.12
        let of_6_15 = LastBoot::parse("ffffffff9a000000\t[kernel]\nffffffffc0a3b000\text4\n").unwrap();
        assert_eq!(of_6_15.kernel, KernelLocation::At(0xffff_ffff_9a00_0000));
        assert_eq!(of_6_15.modules, [("ext4".to_owned(), 0xffff_ffff_c0a3_b000)]);
        let newer = LastBoot::parse("trace_clock: local\nffffffff9a000000\t[kernel]\n").unwrap();
        assert_eq!(newer.kernel, of_6_15.kernel);
        let of_6_12 = LastBoot::parse("text delta:\t-4096\ndata delta:\t-4096\n").unwrap();
        assert_eq!(of_6_12.kernel, KernelLocation::Moved(-4096));
        assert_eq!(LastBoot::parse("# Current\n"), None);
        assert_eq!(LastBoot::parse(""), None);
    }

    #[test]
    fn names_are_at_the_addresses_of_then() {
        let modules = b"ext4 1130496 1 - Live 0xffffffffc0200000\nxfs 99 0 - Live 0xffffffffc0300000 (O)\n";
        let printk = b"0xffffffff81800000 : \"fork %d\\n\"\n0xffff888000001000 : \"of a module\\n\"\n";
        let then = LastBoot::parse("ffffffff91000000\t[kernel]\nffffffffc0700000\text4\n").unwrap();
        let moved = then.apply(KALLSYMS, printk, modules).unwrap();
        let kallsyms = Kallsyms::new(moved.kallsyms);
        assert_eq!(kallsyms.lookup(0xffff_ffff_9100_0108).unwrap().name, b"vfs_read");
        assert_eq!(kallsyms.lookup(0xffff_ffff_c070_1000).unwrap().name, b"ext4_map");
        assert_eq!(kallsyms.address_of("xfs_map"), None, "it was not loaded then");
        let printk = PrintkFormats::parse(&moved.printk_formats);
        assert_eq!(printk.iter_whole().map(|(at, _)| at).collect::<Vec<_>>(), [0xffff_ffff_9180_0000]);

        let then = LastBoot::parse("text delta:\t16777216\ndata delta:\t16777216\n").unwrap();
        let kallsyms = Kallsyms::new(then.apply(KALLSYMS, b"", b"").unwrap().kallsyms);
        assert_eq!(kallsyms.address_of("vfs_read"), Some(0xffff_ffff_8000_0100));
        assert_eq!(then.apply(b"ffffffff81000100 T vfs_read\n", b"", b""), None);
    }
}

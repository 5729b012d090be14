//! Kernel functions that appear in print formats because their result cannot be known when the format is written.
//! `scsi_trace_parse_cdb`: what a SCSI command asks for (kernel: drivers/scsi/scsi_trace.c; layouts: SBC-3).

use super::flags::Part;
use super::lex::Escapes;
use crate::base::text::num;
use crate::base::text::plain::until_nul;

/// A function with a text as its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFunction {
    /// `jbd2_dev_to_name(dev)`: `254:0`.
    DeviceName,
    /// `mc_event_error_type(type)` (include/linux/edac.h).
    MemoryError,
    /// `nvme_trace_disk_name(p, name)`, `nullb_trace_disk_name(p, name)`: `disk=nvme0n1, `.
    NvmeDisk,
    /// `nvme_trace_parse_*_cmd(.., opcode, .., cdw10)` and `decode_prq_descriptor`: the bytes as they are.
    Raw,
    /// `scsi_trace_parse_cdb(p, cdb, len)`.
    Scsi,
    /// `__trace_print_untrusted_str(p, text, len)` (Linux 7.1, Landlock): blanks, quotes, `=` and what cannot be printed
    /// escaped.
    Escaped,
    /// `xen_hypercall_name(op)`.
    XenHypercall,
    /// A number's name; what has none is `UNKNOWN`.
    Name(&'static [(u64, &'static str)]),
}

/// The meaning of a function in a print format.
pub(super) enum PrintFunction {
    /// Its first argument, unchanged.
    Identity,
    /// `is_writable_pte(x)`: bit 1.
    Writable,
    /// `__le16_to_cpup(p)`, `get_unaligned_le16(p)` and the like: a number at a place, little endian or not, of this many bytes.
    Unaligned {
        big: bool,
        size: u8,
    },
    /// The argument with its bytes turned around if the recorded machine is little endian.
    Swap(u8),
    /// The argument with its bytes turned around, whatever the machine.
    Turn(u8),
    /// Leading zero bits of a number of this many bytes.
    LeadingZeros(u8),
    /// The logarithm to base 2, rounded down, or up.
    Log2 {
        up: bool,
    },
    Text(TextFunction),
}

impl PrintFunction {
    pub(super) fn of(name: &str) -> Option<PrintFunction> {
        Some(match name {
            "jiffies_to_msecs" | "native_make_pte" | "native_make_pmd" | "native_make_pud" | "native_make_pgd"
            | "native_make_p4d" | "native_pte_val" | "native_pmd_val" | "native_pud_val" | "native_pgd_val"
            | "native_p4d_val" | "pte_val" | "pmd_val" | "pud_val" | "pgd_val" | "p4d_val" => PrintFunction::Identity,
            "is_writable_pte" => PrintFunction::Writable,
            "__le16_to_cpup" | "get_unaligned_le16" => PrintFunction::Unaligned { big: false, size: 2 },
            "__le32_to_cpup" | "get_unaligned_le32" => PrintFunction::Unaligned { big: false, size: 4 },
            "__le64_to_cpup" | "get_unaligned_le64" => PrintFunction::Unaligned { big: false, size: 8 },
            "__be16_to_cpup" | "get_unaligned_be16" => PrintFunction::Unaligned { big: true, size: 2 },
            "__be32_to_cpup" | "get_unaligned_be32" => PrintFunction::Unaligned { big: true, size: 4 },
            "ntohs" | "__ntohs" | "htons" | "__fswab16" | "be16_to_cpu" | "__be16_to_cpu" => PrintFunction::Swap(2),
            "ntohl" | "__ntohl" | "htonl" | "__fswab32" | "be32_to_cpu" | "__be32_to_cpu" => PrintFunction::Swap(4),
            "be64_to_cpu" | "__be64_to_cpu" | "__fswab64" => PrintFunction::Swap(8),
            "__builtin_bswap16" => PrintFunction::Turn(2),
            "__builtin_bswap32" => PrintFunction::Turn(4),
            "__builtin_bswap64" => PrintFunction::Turn(8),
            "__builtin_clz" => PrintFunction::LeadingZeros(4),
            "__builtin_clzl" | "__builtin_clzll" => PrintFunction::LeadingZeros(8),
            "ilog2" | "__ilog2_u32" | "__ilog2_u64" => PrintFunction::Log2 { up: false },
            "order_base_2" | "__order_base_2" => PrintFunction::Log2 { up: true },
            "jbd2_dev_to_name" => PrintFunction::Text(TextFunction::DeviceName),
            "mc_event_error_type" => PrintFunction::Text(TextFunction::MemoryError),
            "nvme_trace_disk_name" | "nullb_trace_disk_name" => PrintFunction::Text(TextFunction::NvmeDisk),
            "nvme_trace_parse_admin_cmd"
            | "nvme_trace_parse_nvm_cmd"
            | "nvme_trace_parse_fabrics_cmd"
            | "decode_prq_descriptor" => PrintFunction::Text(TextFunction::Raw),
            "scsi_trace_parse_cdb" => PrintFunction::Text(TextFunction::Scsi),
            "__trace_print_untrusted_str" => PrintFunction::Text(TextFunction::Escaped),
            "xen_hypercall_name" => PrintFunction::Text(TextFunction::XenHypercall),
            "blk_op_str" => PrintFunction::Text(TextFunction::Name(&BLOCK_OPERATIONS)),
            "blk_zone_cond_str" => PrintFunction::Text(TextFunction::Name(&ZONE_CONDITIONS)),
            _ => return None,
        })
    }
}

impl TextFunction {
    /// Writes the text; `put` is what a part goes through that trace-cmd would print by itself, if it knew the function.
    pub(super) fn write(self, out: &mut Vec<u8>, args: &[u64; 4], data: &[u8], put: Part<'_>) {
        match self {
            TextFunction::DeviceName => {
                num::dec(out, (args[0] as u32 >> 20).into());
                out.push(b':');
                num::dec(out, args[0] & 0xf_ffff);
            }
            TextFunction::MemoryError => out.extend_from_slice(match args[0] {
                0 => b"Corrected",
                1 => b"Uncorrected",
                2 => b"Deferred",
                3 => b"Fatal",
                _ => b"Info",
            }),
            TextFunction::NvmeDisk => {
                let name = until_nul(data);
                if !name.is_empty() {
                    out.extend_from_slice(b"disk=");
                    out.extend_from_slice(name);
                    out.extend_from_slice(b", ");
                }
            }
            TextFunction::Raw => super::pointer::separated(out, data, Some(b' ')),
            TextFunction::Scsi => scsi_cdb(out, data),
            TextFunction::Escaped => {
                let len = usize::try_from(args[0]).unwrap_or(usize::MAX);
                Escapes::UNTRUSTED.write(out, data.get(..len).unwrap_or(data));
            }
            TextFunction::XenHypercall => {
                if let Some(name) = usize::try_from(args[0]).ok().and_then(|i| XEN_HYPERCALLS.get(i)) {
                    out.extend_from_slice(name.as_bytes());
                }
            }
            TextFunction::Name(names) => {
                let name = names.iter().find(|(value, _)| *value == args[0]).map_or("UNKNOWN", |(_, name)| name);
                put(out, name.as_bytes());
            }
        }
    }
}

/// block/blk-core.c, `blk_op_str()`, by the numbers of `enum req_op` in Linux 6.1.192, 6.12.117, 6.18 and 7.3; kernels
/// before that had others for what is done to zones.
const BLOCK_OPERATIONS: [(u64, &str); 14] = [
    (0, "READ"),
    (1, "WRITE"),
    (2, "FLUSH"),
    (3, "DISCARD"),
    (5, "SECURE_ERASE"),
    (7, "ZONE_APPEND"),
    (9, "WRITE_ZEROES"),
    (11, "ZONE_OPEN"),
    (13, "ZONE_CLOSE"),
    (15, "ZONE_FINISH"),
    (17, "ZONE_RESET"),
    (19, "ZONE_RESET_ALL"),
    (34, "DRV_IN"),
    (35, "DRV_OUT"),
];

/// block/blk-zoned.c, `blk_zone_cond_str()`; the numbers are those of include/uapi/linux/blkzoned.h.
const ZONE_CONDITIONS: [(u64, &str); 8] = [
    (0, "NOT_WP"),
    (1, "EMPTY"),
    (2, "IMP_OPEN"),
    (3, "EXP_OPEN"),
    (4, "CLOSED"),
    (13, "READONLY"),
    (14, "FULL"),
    (15, "OFFLINE"),
];

/// include/xen/interface/xen.h, `__HYPERVISOR_*`, as arch/x86/xen/trace.c words them.
const XEN_HYPERCALLS: [&str; 56] = [
    "(set_trap_table)",
    "(mmu_update)",
    "(set_gdt)",
    "(stack_switch)",
    "(set_callbacks)",
    "(fpu_taskswitch)",
    "(sched_op_compat)",
    "(dom0_op)",
    "(set_debugreg)",
    "(get_debugreg)",
    "(update_descriptor)",
    "",
    "(memory_op)",
    "(multicall)",
    "(update_va_mapping)",
    "(set_timer_op)",
    "(event_channel_op_compat)",
    "(xen_version)",
    "(console_io)",
    "(physdev_op_compat)",
    "(grant_table_op)",
    "(vm_assist)",
    "(update_va_mapping_otherdomain)",
    "(iret)",
    "(vcpu_op)",
    "(set_segment_base)",
    "(mmuext_op)",
    "(acm_op)",
    "(nmi_op)",
    "(sched_op)",
    "(callback_op)",
    "(xenoprof_op)",
    "(event_channel_op)",
    "(physdev_op)",
    "(hvm_op)",
    "(sysctl)",
    "(domctl)",
    "",
    "(tmem_op)",
    "",
    "(xenpmu_op)",
    "(dm_op)",
    "",
    "",
    "",
    "",
    "",
    "",
    "(arch_0)",
    "(arch_1)",
    "(arch_2)",
    "(arch_3)",
    "(arch_4)",
    "(arch_5)",
    "(arch_6)",
    "(arch_7)",
];

fn be(cdb: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = cdb.get(at..)?.get(..len)?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Writes ` name=value` pairs, the first without a blank.
fn pairs(out: &mut Vec<u8>, pairs: &[(&str, u64)]) {
    for (i, (name, value)) in pairs.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        num::dec(out, *value);
    }
}

/// Writes what the command descriptor block says; `-` for commands without a rendering and for blocks cut short.
fn scsi_cdb(out: &mut Vec<u8>, cdb: &[u8]) {
    let start = out.len();
    if parse(out, cdb).is_none() {
        out.truncate(start);
        out.push(b'-');
    }
}

fn parse(out: &mut Vec<u8>, cdb: &[u8]) -> Option<()> {
    let protect = |at: usize| be(cdb, at, 1).map(|b| b >> 5);
    let opcode = *cdb.first()?;
    match opcode {
        0x08 | 0x0a => {
            let count = be(cdb, 4, 1)?;
            pairs(out, &[("lba", be(cdb, 1, 3)? & 0x1f_ffff), ("txlen", if count == 0 { 256 } else { count })]);
        }
        // READ/WRITE/VERIFY/WRITE SAME (10), (12), (16)
        0x28 | 0x2a | 0x2f => {
            pairs(out, &[("lba", be(cdb, 2, 4)?), ("txlen", be(cdb, 7, 2)?), ("protect", protect(1)?)]);
        }
        0x41 => pairs(
            out,
            &[
                ("lba", be(cdb, 2, 4)?),
                ("txlen", be(cdb, 7, 2)?),
                ("protect", protect(1)?),
                ("unmap", be(cdb, 1, 1)? >> 3 & 1),
            ],
        ),
        0xa8 | 0xaa | 0xaf => {
            pairs(out, &[("lba", be(cdb, 2, 4)?), ("txlen", be(cdb, 6, 4)?), ("protect", protect(1)?)]);
        }
        0x88 | 0x8a | 0x8f => {
            pairs(out, &[("lba", be(cdb, 2, 8)?), ("txlen", be(cdb, 10, 4)?), ("protect", protect(1)?)]);
        }
        0x93 => pairs(
            out,
            &[
                ("lba", be(cdb, 2, 8)?),
                ("txlen", be(cdb, 10, 4)?),
                ("protect", protect(1)?),
                ("unmap", be(cdb, 1, 1)? >> 3 & 1),
            ],
        ),
        0x42 => pairs(out, &[("regions", be(cdb, 7, 2)?.saturating_sub(8) / 16)]),
        0x9e => {
            let name = match be(cdb, 1, 1)? & 0x1f {
                0x10 => "READ_CAPACITY_16",
                0x12 => "GET_LBA_STATUS",
                _ => return None,
            };
            out.extend_from_slice(name.as_bytes());
            out.push(b' ');
            pairs(out, &[("lba", be(cdb, 2, 8)?), ("alloc_len", be(cdb, 10, 4)?)]);
        }
        0x7f => {
            let name = match be(cdb, 8, 2)? {
                0x09 => "READ",
                0x0a => "VERIFY",
                0x0b => "WRITE",
                0x0d => "WRITE_SAME",
                _ => return None,
            };
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"_32 ");
            pairs(
                out,
                &[
                    ("lba", be(cdb, 12, 8)?),
                    ("txlen", be(cdb, 28, 4)?),
                    ("protect", protect(10)?),
                    ("ei_lbrt", be(cdb, 20, 4)?),
                ],
            );
            if name == "WRITE_SAME" {
                out.push(b' ');
                pairs(out, &[("unmap", be(cdb, 10, 1)? >> 3 & 1)]);
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn commands() {
        let text = |cdb: &[u8]| {
            let mut out = Vec::new();
            super::scsi_cdb(&mut out, cdb);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&[0x28, 0, 0, 1, 2, 3, 0, 0, 8, 0]), "lba=66051 txlen=8 protect=0");
        assert_eq!(text(&[0x08, 0, 0, 5, 0, 0]), "lba=5 txlen=256");
        assert_eq!(text(&[0x28, 0, 0]), "-");
        assert_eq!(text(&[0x00; 6]), "-");
        assert_eq!(text(&[]), "-");
    }
}

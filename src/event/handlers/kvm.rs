//! KVM's events: exit reasons by name, and the page roles that its print formats build with statements.

use super::{Done, Num};
use crate::format::EventFormat;
use crate::print_fmt::{Context, num};

pub(in crate::event) enum Kvm {
    Entry {
        vcpu: Option<Num>,
        rip: Option<Num>,
    },
    Exit {
        reason: Num,
        isa: Option<Num>,
        rip: Option<Num>,
        info1: Option<Num>,
        info2: Option<Num>,
    },
    /// An exit of a guest's guest. The fields are those of Linux before 5.11; later ones have other names, which the
    /// plugin does not find: there the print format counts.
    Nested {
        rip: Option<Num>,
        reason: Num,
        isa: Option<Num>,
        infos: [Num; 4],
    },
    Instruction {
        rip: Num,
        base: Num,
        len: Num,
        bytes: usize,
        failed: Num,
    },
    Page(Page),
}

impl Kvm {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        let field = |name| Num::field(event, name);
        Some(match event.name.as_str() {
            "kvm_entry" => Kvm::Entry { vcpu: field("vcpu_id"), rip: field("rip") },
            "kvm_exit" => Kvm::Exit {
                reason: field("exit_reason")?,
                isa: field("isa"),
                rip: field("guest_rip"),
                info1: field("info1"),
                info2: field("info2"),
            },
            "kvm_nested_vmexit" | "kvm_nested_vmexit_inject" => Kvm::Nested {
                rip: field("rip"),
                reason: field("exit_code")?,
                isa: field("isa"),
                infos: [
                    field("exit_info1")?,
                    field("exit_info2")?,
                    field("exit_int_info")?,
                    field("exit_int_info_err")?,
                ],
            },
            "kvm_emulate_insn" => Kvm::Instruction {
                rip: field("rip")?,
                base: field("csbase")?,
                len: field("len")?,
                bytes: event.fields.iter().find(|f| f.name == "insn")?.offset,
                failed: field("failed")?,
            },
            _ => return None,
        })
    }

    /// An event about a shadow page.
    pub(super) fn page(event: &EventFormat) -> Option<Self> {
        let field = |name| Num::field(event, name);
        Some(Kvm::Page(Page {
            role: field("role")?,
            root: field("root_count"),
            unsync: field("unsync"),
            created: field("created"),
            generation: field("mmu_valid_gen"),
            gfn: field("gfn"),
        }))
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) -> Done {
        match self {
            Kvm::Entry { vcpu, rip } => {
                out.extend_from_slice(b" vcpu ");
                num::dec(out, vcpu.map_or(0, |f| f.get(cx)));
                out.extend_from_slice(b" rip 0x");
                num::hex(out, rip.map_or(0, |f| f.get(cx)));
            }
            Kvm::Exit { reason, isa, rip, info1, info2 } => {
                exit_reason(isa.map_or(1, |f| f.get(cx)), reason.get(cx), out);
                out.extend_from_slice(b" rip 0x");
                num::hex(out, rip.map_or(0, |f| f.get(cx)));
                if let (Some(info1), Some(info2)) = (info1, info2) {
                    out.extend_from_slice(b" info ");
                    num::hex(out, info1.get(cx));
                    out.push(b' ');
                    num::hex(out, info2.get(cx));
                }
            }
            Kvm::Nested { rip, reason, isa, infos } => {
                if let Some(rip) = rip {
                    out.extend_from_slice(b"rip ");
                    num::hex(out, rip.get(cx));
                    out.push(b' ');
                }
                exit_reason(isa.map_or(1, |f| f.get(cx)), reason.get(cx), out);
                for (name, info) in ["info1", "info2", "int_info", "int_info_err"].iter().zip(infos) {
                    out.push(b' ');
                    out.extend_from_slice(name.as_bytes());
                    out.push(b' ');
                    num::hex(out, info.get(cx));
                }
            }
            Kvm::Instruction { rip, base, len, bytes, failed } => {
                num::hex(out, base.get(cx));
                out.push(b':');
                num::hex(out, rip.get(cx));
                out.extend_from_slice(b": ");
                let bytes = cx.data.get(*bytes..).unwrap_or(&[]);
                for (i, byte) in bytes.iter().take(len.get(cx).min(15) as usize).enumerate() {
                    if i > 0 {
                        out.push(b' ');
                    }
                    num::hex_byte(out, *byte);
                }
                if failed.get(cx) != 0 {
                    out.extend_from_slice(b" FAIL");
                }
            }
            Kvm::Page(page) => page.write(cx, out),
        }
        Done::WHOLE
    }
}

/// `reason EPT_VIOLATION`, by Intel's (1) or AMD's (2) numbers.
fn exit_reason(isa: u64, code: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"reason ");
    let table: &[(u16, &str)] = match isa {
        1 => &VMX,
        2 => &SVM,
        _ => &[],
    };
    match table.iter().find(|e| u64::from(e.0) == code & 0xffff) {
        Some((_, name)) => out.extend_from_slice(name.as_bytes()),
        None => {
            out.extend_from_slice(if table.is_empty() { b"UNKNOWN-ISA (" } else { b"UNKNOWN (" });
            num::dec(out, code);
            out.push(b')');
        }
    }
}

/// A shadow page: `union kvm_mmu_page_role` of arch/x86/include/asm/kvm_host.h, as arch/x86/kvm/mmu/mmutrace.h words it.
pub(in crate::event) struct Page {
    role: Num,
    root: Option<Num>,
    unsync: Option<Num>,
    created: Option<Num>,
    generation: Option<Num>,
    gfn: Option<Num>,
}

const ACCESS: [&str; 8] = ["---", "--x", "w--", "w-x", "-u-", "-ux", "wu-", "wux"];

impl Page {
    fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let role = self.role.get(cx);
        let bit = |n: u32| role >> n & 1 == 1;
        out.extend_from_slice(b"sp gen ");
        num::dec(out, self.generation.map_or(0, |f| f.get(cx)));
        out.extend_from_slice(b" gfn ");
        num::hex(out, self.gfn.map_or(0, |f| f.get(cx)));
        out.extend_from_slice(b" l");
        num::dec(out, role & 0xf);
        out.push(b' ');
        num::dec(out, if bit(4) { 4 } else { 8 });
        out.extend_from_slice(b"-byte q");
        num::dec(out, role >> 5 & 3);
        out.extend_from_slice(if bit(7) { b" direct " } else { b" " });
        out.extend_from_slice(ACCESS[(role >> 8 & 7) as usize].as_bytes());
        out.extend_from_slice(if bit(11) { b" invalid " } else { b" " });
        out.extend_from_slice(if bit(12) { b"" } else { b"!" });
        out.extend_from_slice(b"nxe ");
        out.extend_from_slice(if bit(16) { b"!" } else { b"" });
        out.extend_from_slice(b"ad root ");
        num::dec(out, self.root.map_or(0, |f| f.get(cx)));
        out.push(b' ');
        let unsync = self.unsync.is_some_and(|f| f.get(cx) != 0);
        out.extend_from_slice(if unsync { b"unsync" } else { b"sync" });
        if let Some(created) = self.created {
            out.extend_from_slice(if created.get(cx) != 0 { b" new" } else { b" existing" });
        }
    }
}

/// arch/x86/include/uapi/asm/vmx.h.
const VMX: [(u16, &str); 64] = [
    (0, "EXCEPTION_NMI"),
    (1, "EXTERNAL_INTERRUPT"),
    (2, "TRIPLE_FAULT"),
    (3, "INIT_SIGNAL"),
    (4, "SIPI_SIGNAL"),
    (7, "PENDING_INTERRUPT"),
    (8, "NMI_WINDOW"),
    (9, "TASK_SWITCH"),
    (10, "CPUID"),
    (12, "HLT"),
    (13, "INVD"),
    (14, "INVLPG"),
    (15, "RDPMC"),
    (16, "RDTSC"),
    (18, "VMCALL"),
    (19, "VMCLEAR"),
    (20, "VMLAUNCH"),
    (21, "VMPTRLD"),
    (22, "VMPTRST"),
    (23, "VMREAD"),
    (24, "VMRESUME"),
    (25, "VMWRITE"),
    (26, "VMOFF"),
    (27, "VMON"),
    (28, "CR_ACCESS"),
    (29, "DR_ACCESS"),
    (30, "IO_INSTRUCTION"),
    (31, "MSR_READ"),
    (32, "MSR_WRITE"),
    (33, "INVALID_STATE"),
    (34, "MSR_LOAD_FAIL"),
    (36, "MWAIT_INSTRUCTION"),
    (37, "MONITOR_TRAP_FLAG"),
    (39, "MONITOR_INSTRUCTION"),
    (40, "PAUSE_INSTRUCTION"),
    (41, "MCE_DURING_VMENTRY"),
    (43, "TPR_BELOW_THRESHOLD"),
    (44, "APIC_ACCESS"),
    (45, "EOI_INDUCED"),
    (46, "GDTR_IDTR"),
    (47, "LDTR_TR"),
    (48, "EPT_VIOLATION"),
    (49, "EPT_MISCONFIG"),
    (50, "INVEPT"),
    (51, "RDTSCP"),
    (52, "PREEMPTION_TIMER"),
    (53, "INVVPID"),
    (54, "WBINVD"),
    (55, "XSETBV"),
    (56, "APIC_WRITE"),
    (57, "RDRAND"),
    (58, "INVPCID"),
    (59, "VMFUNC"),
    (60, "ENCLS"),
    (61, "RDSEED"),
    (62, "PML_FULL"),
    (63, "XSAVES"),
    (64, "XRSTORS"),
    (67, "UMWAIT"),
    (68, "TPAUSE"),
    (74, "BUS_LOCK"),
    (75, "NOTIFY"),
    (76, "SEAMCALL"),
    (77, "TDCALL"),
];

/// arch/x86/include/uapi/asm/svm.h.
const SVM: [(u16, &str); 62] = [
    (0x000, "read_cr0"),
    (0x003, "read_cr3"),
    (0x004, "read_cr4"),
    (0x008, "read_cr8"),
    (0x010, "write_cr0"),
    (0x013, "write_cr3"),
    (0x014, "write_cr4"),
    (0x018, "write_cr8"),
    (0x020, "read_dr0"),
    (0x021, "read_dr1"),
    (0x022, "read_dr2"),
    (0x023, "read_dr3"),
    (0x024, "read_dr4"),
    (0x025, "read_dr5"),
    (0x026, "read_dr6"),
    (0x027, "read_dr7"),
    (0x030, "write_dr0"),
    (0x031, "write_dr1"),
    (0x032, "write_dr2"),
    (0x033, "write_dr3"),
    (0x034, "write_dr4"),
    (0x035, "write_dr5"),
    (0x036, "write_dr6"),
    (0x037, "write_dr7"),
    (0x040, "DE excp"),
    (0x046, "UD excp"),
    (0x04e, "PF excp"),
    (0x047, "NM excp"),
    (0x051, "AC excp"),
    (0x052, "MC excp"),
    (0x060, "interrupt"),
    (0x061, "nmi"),
    (0x062, "smi"),
    (0x063, "init"),
    (0x064, "vintr"),
    (0x065, "cr0_sel_write"),
    (0x06e, "rdtsc"),
    (0x06f, "rdpmc"),
    (0x070, "pushf"),
    (0x071, "popf"),
    (0x072, "cpuid"),
    (0x073, "rsm"),
    (0x074, "iret"),
    (0x075, "swint"),
    (0x076, "invd"),
    (0x077, "pause"),
    (0x078, "hlt"),
    (0x079, "invlpg"),
    (0x07a, "invlpga"),
    (0x07b, "io"),
    (0x07c, "msr"),
    (0x07d, "task_switch"),
    (0x07f, "shutdown"),
    (0x080, "vmrun"),
    (0x081, "hypercall"),
    (0x082, "vmload"),
    (0x083, "vmsave"),
    (0x084, "stgi"),
    (0x085, "clgi"),
    (0x089, "wbinvd"),
    (0x08a, "monitor"),
    (0x400, "npf"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Abi, Endian};
    use crate::symbols::Symbols;

    const FORMAT: &str = "name: kvm_mmu_get_page
ID: 7
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:__u8 mmu_valid_gen;\toffset:8;\tsize:1;\tsigned:0;
\tfield:__u64 gfn;\toffset:16;\tsize:8;\tsigned:0;
\tfield:__u32 role;\toffset:24;\tsize:4;\tsigned:0;
\tfield:__u32 root_count;\toffset:28;\tsize:4;\tsigned:0;
\tfield:bool unsync;\toffset:32;\tsize:1;\tsigned:0;
\tfield:bool created;\toffset:33;\tsize:1;\tsigned:0;

print fmt: \"%s %s\", ({ trace_seq_printf(p, \"...\"); saved_ptr; }), REC->created ? \"new\" : \"existing\"
";

    /// The bits of the role and the words are those of `KVM_MMU_PAGE_PRINTK` (arch/x86/kvm/mmu/mmutrace.h).
    #[test]
    fn shadow_pages() {
        let event = EventFormat::parse("kvmmmu", FORMAT).unwrap();
        let mut data = [0u8; 36];
        data[8] = 1;
        data[16] = 0x20;
        let role: u32 = 4 | 1 << 7 | 7 << 8 | 1 << 12;
        data[24..28].copy_from_slice(&role.to_le_bytes());
        data[28] = 3;
        data[33] = 1;
        let symbols = Symbols::default();
        let cx = Context { data: &data, abi: Abi { endian: Endian::Little, long_size: 8 }, symbols: &symbols };
        let mut out = Vec::new();
        Kvm::page(&event).unwrap().write(&cx, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "sp gen 1 gfn 20 l4 8-byte q0 direct wux nxe ad root 3 sync new");
    }

    /// The layouts are those of libtraceevent's kvm plugin.
    #[test]
    fn instructions_and_nested_exits() {
        let text = |format: &str, data: &[u8]| {
            let event = EventFormat::parse("kvm", format).unwrap();
            let symbols = Symbols::default();
            let cx = Context { data, abi: Abi { endian: Endian::Little, long_size: 8 }, symbols: &symbols };
            let mut out = Vec::new();
            Kvm::new(&event).unwrap().write(&cx, &mut out);
            String::from_utf8(out).unwrap()
        };
        let instruction = "name: kvm_emulate_insn\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n
\tfield:__u64 rip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:__u32 csbase;\toffset:16;\tsize:4;\tsigned:0;
\tfield:__u8 len;\toffset:20;\tsize:1;\tsigned:0;
\tfield:__u8 insn[15];\toffset:21;\tsize:15;\tsigned:0;
\tfield:__u8 flags;\toffset:36;\tsize:1;\tsigned:0;
\tfield:__u8 failed;\toffset:37;\tsize:1;\tsigned:0;
\nprint fmt: \"\"\n";
        let mut data = [0u8; 38];
        (data[8], data[20], data[21], data[22], data[37]) = (0x10, 2, 0x0f, 0xa2, 1);
        assert_eq!(text(instruction, &data), "0:10: 0f a2 FAIL");
        (data[20], data[37]) = (255, 0);
        assert_eq!(text(instruction, &data).len(), "0:10: ".len() + 15 * 3 - 1, "no more than there is");
        let nested = "name: kvm_nested_vmexit\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n
\tfield:__u64 rip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:__u32 exit_code;\toffset:16;\tsize:4;\tsigned:0;
\tfield:__u64 exit_info1;\toffset:24;\tsize:8;\tsigned:0;
\tfield:__u64 exit_info2;\toffset:32;\tsize:8;\tsigned:0;
\tfield:__u32 exit_int_info;\toffset:40;\tsize:4;\tsigned:0;
\tfield:__u32 exit_int_info_err;\toffset:44;\tsize:4;\tsigned:0;
\tfield:__u32 isa;\toffset:48;\tsize:4;\tsigned:0;
\nprint fmt: \"\"\n";
        let mut data = [0u8; 52];
        (data[8], data[16], data[24], data[32], data[40], data[44], data[48]) = (0xab, 12, 1, 2, 3, 4, 1);
        assert_eq!(text(nested, &data), "rip ab reason HLT info1 1 info2 2 int_info 3 int_info_err 4");
    }
}

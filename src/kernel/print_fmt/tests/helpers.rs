//! Helpers that no kernel could be made to print with (tests/kernel/module has those that could): by the lines of its
//! source.

use super::*;

/// include/trace/stages/stage3_trace_output.h: what lies at `__rel_loc` words counts from after them.
#[test]
fn arrays_at_places_relative_to_their_field() {
    let bits =
        |fmt: &str| text("__rel_loc unsigned long[] m:4", fmt, b"\0\0\x08\0\x0d\0\0\0\0\0\0\0", Semantics::Kernel);
    assert_eq!(bits(r#""%s", __get_rel_bitmask(m)"#), "00000000,0000000d");
    assert_eq!(bits(r#""%s", __get_rel_cpumask(m)"#), "00000000,0000000d");
    let numbers = r#""%s %d", __print_array(__get_rel_dynamic_array(m), __get_rel_dynamic_array_len(m) / 4, 4), __get_rel_dynamic_array_len(m)"#;
    assert_eq!(bits(numbers), "{0xd,0x0} 8");
}

/// `__get_cpumask()` is `__get_bitmask()` to the kernel (stage3_trace_output.h); libtraceevent makes it a list.
#[test]
fn masks_of_cpus() {
    let of = |semantics| {
        let payload = b"\x0c\0\x08\0\x0d\0\0\0\0\0\0\0";
        text("__data_loc cpumask_t m:4", r#""%s", __get_cpumask(m)"#, payload, semantics)
    };
    assert_eq!((of(Semantics::Kernel).as_str(), of(Semantics::TraceCmd).as_str()), ("00000000,0000000d", "0,2-3"));
}

/// stage3_trace_output.h, `__get_sockaddr()`, and lib/vsprintf.c, `ip_addr_string()`. libtraceevent has the words of the
/// relative one in another order.
#[test]
fn socket_addresses_of_a_length_of_their_own() {
    let v4 = [2, 0, 0x1f, 0x90, 192, 168, 1, 5, 0, 0, 0, 0, 0, 0, 0, 0];
    let fields = "__data_loc u8[] a:4";
    let payload = [&[12, 0, 16, 0][..], &v4[..]].concat();
    assert_eq!(both(fields, r#""%pISpc", __get_sockaddr(a)"#, &payload), "192.168.1.5:8080");
    let fields = "__rel_loc u8[] a:4";
    let payload = [&[0, 0, 16, 0][..], &v4[..]].concat();
    assert_eq!(both(fields, r#""%pISpc", __get_rel_sockaddr(a)"#, &payload), "192.168.1.5:8080");
    assert_eq!(both(fields, r#""%pISpc", __get_sockaddr_rel(a)"#, &payload), "192.168.1.5:8080");
}

/// kernel/trace/trace_output.c, `trace_print_array_seq()` and `trace_print_symbols_seq_u64()`: on 32-bit kernels the 64-bit
/// tables stand in formats by their own names.
#[test]
fn tables_of_64_bits() {
    let high = (1u64 << 40).to_le_bytes();
    let flags = r#""%s", __print_flags_u64(REC->a, "|", { 1ULL << 40, "HIGH" }, { 1, "LOW" })"#;
    assert_eq!(both("u64 a:8", flags, &high), "HIGH");
    let symbolic = r#""%s", __print_symbolic_u64(REC->a, { 1ULL << 40, "HIGH" })"#;
    assert_eq!(both("u64 a:8", symbolic, &high), "HIGH");
    assert_eq!(both("u64 a:8", symbolic, &[1, 0, 0, 0, 0, 0, 0, 0]), "0x1");
}

/// stage7_class_define.h: seconds and what is left of a number of nanoseconds.
#[test]
fn nanoseconds_as_seconds() {
    let fmt = r#""%llu.%09u", __print_ns_to_secs(REC->t), __print_ns_without_secs(REC->t)"#;
    assert_eq!(both("u64 t:8", fmt, &3_000_000_042u64.to_le_bytes()), "3.000000042");
    let fmt = r#""%llu.%09u", (REC->t) / 1000000000UL, (u32)((REC->t) % 1000000000UL)"#;
    assert_eq!(both("u64 t:8", fmt, &3_000_000_042u64.to_le_bytes()), "3.000000042");
}

/// lib/hexdump.c, `hex_dump_to_buffer()`, through kernel/trace/trace_output.c, `trace_print_hex_dump_seq()`.
#[test]
fn dumps() {
    let bytes: Vec<u8> = (0x40..0x54).collect();
    let fmt = r#""%s", __print_hex_dump("p ", DUMP_PREFIX_OFFSET, 16, 4, REC->b, 20, true)"#;
    assert_eq!(
        text("u8 b[20]:20", fmt, &bytes, Semantics::Kernel),
        "\np 00000000: 43424140 47464544 4b4a4948 4f4e4d4c  @ABCDEFGHIJKLMNO\n\
         p 00000010: 53525150                             PQRS\n"
    );
}

/// stage3_trace_output.h, `__get_stacktrace()` as kernel/trace/trace_events_synth.c prints it.
#[test]
fn stacks_in_fields() {
    let stack = [0x1004u64.to_le_bytes(), 0x1100u64.to_le_bytes(), [0; 8]].concat();
    let payload = [&[12, 0, 24, 0][..], &stack[..]].concat();
    let shown = text("__data_loc unsigned long[] s:4", r#""%s", __get_stacktrace(s)"#, &payload, Semantics::TraceCmd);
    assert_eq!(shown, "\n=> one+0x4\n=> two+0x0");
}

/// The remains of likely() and of constants after compilers.
#[test]
fn hints_for_the_compiler() {
    assert_eq!(both("u32 a:4", r#""%d", __builtin_expect(!!(REC->a == 7), 1)"#, &[7, 0, 0, 0]), "1");
    assert_eq!(both("u32 a:4", r#""%d", __builtin_constant_p(REC->a) ? 1 : 2"#, &[7, 0, 0, 0]), "2");
}

/// Functions of the kernel within formats, each by its source.
#[test]
fn functions_of_the_kernel() {
    // fs/jbd2/journal.c; the number's text is libtraceevent's
    assert_eq!(both("dev_t d:4", r#""%s", jbd2_dev_to_name(REC->d)"#, &[1, 0, 0xe0, 0x0f]), "254:1");
    // arch/x86/include/asm/pgtable.h, as libtraceevent has it
    assert_eq!(both("u64 e:8", r#""%d", is_writable_pte(REC->e) ? 1 : 0"#, &[2, 0, 0, 0, 0, 0, 0, 0]), "1");
    // arch/x86/xen/multicalls.c
    assert_eq!(both("u32 o:4", r#""op %u%s", REC->o, xen_hypercall_name(REC->o)"#, &[1, 0, 0, 0]), "op 1(mmu_update)");
    // include/asm-generic/unaligned.h, include/linux/byteorder/generic.h
    let numbers =
        r#""%x %x", __le16_to_cpup((__le16 *)__get_dynamic_array(b)), get_unaligned_be16(__get_dynamic_array(b))"#;
    assert_eq!(both("__data_loc u8[] b:4", numbers, &[12, 0, 2, 0, 0x34, 0x12]), "1234 3412");
    // drivers/scsi/scsi_trace.c
    let scsi = r#""%s", scsi_trace_parse_cdb(p, __get_dynamic_array(c), REC->n)"#;
    let payload = [16, 0, 6, 0, 6, 0, 0, 0, 0x08, 0, 0, 5, 3, 0];
    assert_eq!(both("__data_loc u8[] c:4;u32 n:4", scsi, &payload), "lba=5 txlen=3");
    // net/mac80211/trace.h: names of formats that old kernels left as they were
    let names = r#"LOCAL_PR_FMT STA_PR_FMT, REC->w, REC->m"#;
    assert_eq!(both("char w[4]:4;u8 m[6]:6", names, b"phy0\x01\x02\x03\x04\x05\x06"), "phy0  sta:01:02:03:04:05:06");
    // include/trace/events/landlock.h, Linux 7.1
    assert_eq!(both("char t[4]:4", r#""%s", __print_untrusted_str(REC->t)"#, b"ok\0x"), "ok");
    // arch/arm64/kernel/trace-events-emulation.h: quotes within the text, which the kernel's file does not escape
    let quotes = r#""instr="%s" addr=0x%llx", __get_str(i), REC->a"#;
    let payload = [20, 0, 4, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, b'm', b'r', b's', 0];
    assert_eq!(both("__data_loc char[] i:4;u64 a:8", quotes, &payload), "instr=\"mrs\" addr=0x10");
}

/// lib/vsprintf.c: the names of before Linux 5.5 for `%pS` and `%ps`; and what a record has no target of.
#[test]
fn letters_of_old_and_of_pointers_to_elsewhere() {
    let at = 0x1104u64.to_le_bytes();
    assert_eq!(text("void * a:8", r#""%pF %pf", REC->a, REC->a"#, &at, Semantics::TraceCmd), "two+0x4 two");
    for letters in ["d", "D", "V", "Gp", "NF", "C", "g"] {
        let shown = text("void * a:8", &format!(r#""%p{letters}", REC->a"#), &at, Semantics::Kernel);
        assert_eq!(shown, "0000000000001104", "%p{letters}");
    }
}

/// arch/riscv/include/asm/page.h, `pfn_to_page()`: a member of a variable of the kernel's is known as little as a variable.
#[test]
fn members_of_variables_of_the_kernel() {
    let page = "(((struct page *)((kernel_map.page_offset - ((1UL << 12) / sizeof(pgd_t))) - (1UL << (l5_enabled ? 57 : \
                (__builtin_constant_p(sizeof(struct page)) ? 1 : __order_base_2(sizeof(struct page)))))) - base) + (REC->pfn))";
    let fmt = format!(r#""page=%p pfn=0x%lx", {page}, REC->pfn"#);
    let shown = text("u64 pfn:8", &fmt, &0x81u64.to_le_bytes(), Semantics::TraceCmd);
    let base = 0u64.wrapping_sub(512 + 64);
    assert_eq!(shown, format!("page=0x{:x} pfn=0x81", base.wrapping_add(0x81)));
    assert_eq!(both("u64 a:8", r#""%lu", REC->a - kernel_map.size"#, &[0; 8]), "?");
    assert_eq!(
        fails("u64 a:8", r#""%s", REC->a == kernel_map.size ? "a" : "b""#),
        "no value is known for `kernel_map.size`"
    );
    assert_eq!(fails("u64 a:8", r#""%lu", REC->a.b"#), "byte 13: expected `,`, found `.`");
}

//! Whole print formats over real layouts of records.

mod helpers;

use super::*;
use crate::base::abi::{Abi, Endian};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::{Kallsyms, PrintkFormats, Symbols};

const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };

/// Fields `name:type:size` after the common ones, and a print format.
fn event(fields: &str, print_fmt: &str) -> EventFormat {
    let mut text = String::from(
        "name: x\nID: 5\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
         \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
    );
    let mut offset = 8;
    for field in fields.split(';').filter(|f| !f.is_empty()) {
        let (decl, size) = field.rsplit_once(':').unwrap();
        let size: usize = size.parse().unwrap();
        let signed = u8::from(decl.starts_with(['i', 's', 'l']));
        text += &format!("\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n");
        offset += size;
    }
    EventFormat::parse("x", &format!("{text}\nprint fmt: {print_fmt}\n")).unwrap()
}

fn symbols() -> Symbols {
    Symbols {
        kallsyms: Kallsyms::parse(b"1000 T one\n1100 t two\t[mod]\n1200 T end\n"),
        printk: PrintkFormats::parse(b"0x77 : \"a constant\"\n"),
        ..Symbols::default()
    }
}

fn text(fields: &str, print_fmt: &str, payload: &[u8], semantics: Semantics) -> String {
    let symbols = symbols();
    let program = compile(&event(fields, print_fmt), LE, &symbols, semantics).unwrap();
    let data = [&[5, 0, 0, 0, 1, 0, 0, 0], payload].concat();
    let mut out = Vec::new();
    program.render(&Context { data: &data, abi: LE, symbols: &symbols, lists: false }, &mut out);
    String::from_utf8(out).unwrap()
}

/// Both readings agree.
fn both(fields: &str, print_fmt: &str, payload: &[u8]) -> String {
    let kernel = text(fields, print_fmt, payload, Semantics::Kernel);
    assert_eq!(kernel, text(fields, print_fmt, payload, Semantics::TraceCmd));
    kernel
}

#[test]
fn numbers() {
    let minus_two = (-2i32).to_le_bytes();
    assert_eq!(
        both(
            "int a:4",
            r#""%d %u %x %#x %5d|%-5d|%05d", REC->a, REC->a, REC->a, REC->a, REC->a, REC->a, REC->a"#,
            &minus_two
        ),
        "-2 4294967294 fffffffe 0xfffffffe    -2|-2   |-0002"
    );
    assert_eq!(
        both("u64 a:8", r#""%llu %llx %08lx %hhd %c", REC->a, REC->a, REC->a, REC->a, 'x'"#, &300u64.to_le_bytes()),
        "300 12c 0000012c 44 x"
    );
    // a device number, as every file system prints it
    assert_eq!(
        both(
            "dev_t dev:4",
            r#""%d,%d", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1)))"#,
            &((254u32 << 20) | 3).to_le_bytes()
        ),
        "254,3"
    );
}

/// C11 6.3.1.8 and 6.5.8: where libtraceevent, which has no types, differs from the kernel.
#[test]
fn signs_are_the_kernel_s_or_trace_cmd_s() {
    let minus_two = (-2i32).to_le_bytes();
    for (print_fmt, kernel, trace_cmd) in [
        (r#""%lld", REC->a"#, "-2", "4294967294"),
        (r#""%d", REC->a < 0"#, "1", "0"),
        (r#""%d", REC->a >> 1"#, "-1", "2147483647"),
        (r#""%d", REC->a / 2"#, "-1", "2147483647"),
        (r#""%lld", (long long)(short)REC->a"#, "-2", "65534"),
        (r#""%d", (bool)REC->a"#, "1", "-2"),
    ] {
        assert_eq!(text("int a:4", print_fmt, &minus_two, Semantics::Kernel), kernel, "{print_fmt}");
        assert_eq!(text("int a:4", print_fmt, &minus_two, Semantics::TraceCmd), trace_cmd, "{print_fmt}");
    }
}

#[test]
fn division_by_zero_is_zero() {
    assert_eq!(both("int a:4", r#""%d %d", 5 / REC->a, 5 % REC->a"#, &[0; 4]), "0 0");
}

#[test]
fn texts() {
    assert_eq!(
        both("char b[4]:4", r#""%s|%6s|%-6s|%.1s|%*s", REC->b, REC->b, REC->b, REC->b, 5, REC->b"#, b"hi\0z"),
        "hi|    hi|hi    |h|   hi"
    );
    assert_eq!(both("char b[4]:4", r#""%s", REC->b"#, b"full"), "full");
    // __data_loc: offset 12, length 3; __rel_loc: 0 bytes after its own end
    assert_eq!(both("__data_loc char[] s:4", r#""<%s>", __get_str(s)"#, b"\x0c\0\x03\0ok\0"), "<ok>");
    assert_eq!(both("__rel_loc char[] s:4", r#""<%s>", __get_rel_str(s)"#, b"\0\0\x03\0ok\0"), "<ok>");
    // an offset beyond the record
    assert_eq!(both("__data_loc char[] s:4", r#""<%s>", __get_str(s)"#, b"\xff\xff\xff\xff"), "<>");
    assert_eq!(both("const char * p:8", r#""%s", REC->p"#, &0x77u64.to_le_bytes()), "a constant");
    assert_eq!(
        both("int a:4", r#""%s%s", REC->a ? "yes" : "no", !REC->a ? "" : " indeed""#, &[1, 0, 0, 0]),
        "yes indeed"
    );
}

#[test]
fn tables() {
    let symbolic = r#""%s", __print_symbolic(REC->a, { 0, "zero" }, { 1UL << 4, "six" "teen" }, { -1, ((void *)0) })"#;
    assert_eq!(both("int a:4", symbolic, &[0; 4]), "zero");
    assert_eq!(both("int a:4", symbolic, &[16, 0, 0, 0]), "sixteen");
    assert_eq!(both("int a:4", symbolic, &[5, 0, 0, 0]), "0x5");
    // kvm:kvm_inj_exception has no entries at all on some kernels
    assert_eq!(both("int a:4", r#""%s", __print_symbolic(REC->a, { })"#, &[5, 0, 0, 0]), "0x5");
    let flags = r#""%s", __print_flags(REC->a, "|", { 0x3, "AB" }, { 0x1, "A" }, { 0x4, "C" })"#;
    assert_eq!(both("int a:4", flags, &[7, 0, 0, 0]), "AB|C");
    assert_eq!(both("int a:4", flags, &[9, 0, 0, 0]), "A|0x8");
    assert_eq!(both("int a:4", flags, &[0; 4]), "");
    // a type of a wider enum constant than its table's
    assert_eq!(
        both("u64 a:8", r#""%s", __print_symbolic(REC->a, { -6ULL, "TREE_LOG" })"#, &(-6i64).to_le_bytes()),
        "TREE_LOG"
    );
}

#[test]
fn arrays() {
    let fields = "__data_loc u32[] d:4";
    let payload = b"\x0c\0\x08\0\x01\0\0\0\xff\0\0\0";
    assert_eq!(
        both(
            fields,
            r#""%s", __print_array(__get_dynamic_array(d), __get_dynamic_array_len(d) / sizeof(u32), sizeof(u32))"#,
            payload
        ),
        "{0x1,0xff}"
    );
    assert_eq!(both(fields, r#""%s", __print_dynamic_array(d, 4)"#, payload), "{0x1,0xff}");
    assert_eq!(
        both(
            fields,
            r#""%s %s", __print_hex(__get_dynamic_array(d), 2), __print_hex_str(__get_dynamic_array(d), 2)"#,
            payload
        ),
        "01 00 0100"
    );
    assert_eq!(both(fields, r#""%u", ((u32 *)__get_dynamic_array(d))[1]"#, payload), "255");
    assert_eq!(both(fields, r#""%s", __get_bitmask(d)"#, payload), "000000ff,00000001");
    assert_eq!(
        both(
            "unsigned long args[2]:16",
            r#""%lx %lx", REC->args[1], REC->args[0]"#,
            &[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        ),
        "2 1"
    );
    assert_eq!(
        both("u8 b[4]:4", r#""%*phD %*phN %*pbl", 3, REC->b, 4, REC->b, 32, REC->b"#, &[0x0f, 0x81, 0, 1]),
        "0f-81-00 0f810001 0-3,8,15,24"
    );
}

/// Documentation/core-api/printk-formats.rst, sections IPv4, IPv6, MAC and UUID.
#[test]
fn addresses() {
    assert_eq!(both("__u8 ip[4]:4", r#""%pI4 %pi4", REC->ip, REC->ip"#, &[1, 2, 3, 4]), "1.2.3.4 001.002.003.004");
    let six = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8];
    assert_eq!(
        both("__u8 ip[16]:16", r#""%pI6 %pi6 %pI6c", REC->ip, REC->ip, REC->ip"#, &six),
        "0001:0002:0003:0004:0005:0006:0007:0008 00010002000300040005000600070008 1:2:3:4:5:6:7:8"
    );
    let mut mapped = [0u8; 16];
    mapped[10..].copy_from_slice(&[0xff, 0xff, 127, 0, 0, 1]);
    assert_eq!(both("__u8 ip[16]:16", r#""%pI6c", REC->ip"#, &mapped), "::ffff:127.0.0.1");
    assert_eq!(both("__u8 ip[16]:16", r#""%pI6c", REC->ip"#, &[0; 16]), "::");
    let v4 = [2, 0, 0, 80, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(both("__u8 sa[16]:16", r#""%pISpc", REC->sa"#, &v4), "10.0.0.1:80");
    assert_eq!(
        both("u8 m[6]:6", r#""%pM %pm %pMR %pMF", REC->m, REC->m, REC->m, REC->m"#, &[0, 1, 2, 3, 4, 5]),
        "00:01:02:03:04:05 000102030405 05:04:03:02:01:00 00-01-02-03-04-05"
    );
    let id: Vec<u8> = (0..16).collect();
    assert_eq!(
        both("u8 u[16]:16", r#""%pUb %pUL", REC->u, REC->u"#, &id),
        "00010203-0405-0607-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0A0B0C0D0E0F"
    );
}

#[test]
fn symbols_by_address() {
    let at = 0x1110u64.to_le_bytes();
    let print_fmt = r#""%ps %pS", (void *)REC->ip, (void *)REC->ip"#;
    assert_eq!(text("unsigned long ip:8", print_fmt, &at, Semantics::TraceCmd), "two two+0x10");
    // lib/vsprintf.c, symbol_string(): size and module too
    assert_eq!(text("unsigned long ip:8", print_fmt, &at, Semantics::Kernel), "two [mod] two+0x10/0x100 [mod]");
    assert_eq!(text("void * p:8", r#""%p %p", REC->p, 0"#, &at, Semantics::TraceCmd), "0x1110 (nil)");
}

#[test]
fn min_and_max_leave_statement_expressions() {
    let min = r#""%d", ({ int __UNIQUE_ID_x_920 = (REC->a); int __UNIQUE_ID_y_921 = (128); ((__UNIQUE_ID_x_920) < (__UNIQUE_ID_y_921) ? (__UNIQUE_ID_x_920) : (__UNIQUE_ID_y_921)); })"#;
    assert_eq!(both("int a:4", min, &[200, 0, 0, 0]), "128");
    assert_eq!(both("int a:4", min, &[5, 0, 0, 0]), "5");
    assert_eq!(both("int a:4", r#""%d", REC->a ?: 7"#, &[0; 4]), "7");
}

#[test]
fn errors_name_their_cause() {
    let fails = |print_fmt: &str| {
        compile(&event("int a:4", print_fmt), LE, &Symbols::default(), Semantics::Kernel).unwrap_err()
    };
    assert_eq!(fails(r#""%d", REC->b"#), PrintFmtError::UnknownField("b".into()));
    assert_eq!(fails(r#""%d", mystery(REC->a)"#), PrintFmtError::UnknownFunction("mystery".into()));
    assert_eq!(fails(r#""%d %d", REC->a"#), PrintFmtError::MissingArgument(2));
    assert_eq!(fails(r#""%d", "text""#), PrintFmtError::Unfit(1));
    assert!(matches!(fails(r#""%d", REC->a +"#), PrintFmtError::Syntax { expected: "an expression", .. }));
}

/// Widths of pointers (lib/vsprintf.c, `pointer_string()`, `string()`), and `%c`'s.
#[test]
fn widths_of_pointers() {
    let kernel = |print_fmt: &str, payload: &[u8]| text("u64 a:8;u8 b[6]:6", print_fmt, payload, Semantics::Kernel);
    let payload = [&0x1234u64.to_le_bytes()[..], &[0x52, 0x54, 0, 0x12, 0x34, 0xab]].concat();
    assert_eq!(kernel(r#""[%px]", REC->a"#, &payload), "[0000000000001234]");
    assert_eq!(kernel(r#""[%8px] [%-8px]", REC->a, REC->a"#, &payload), "[    1234] [1234    ]");
    assert_eq!(
        kernel(r#""[%20pM] [%-20pM]", REC->b, REC->b"#, &payload),
        "[   52:54:00:12:34:ab] [52:54:00:12:34:ab   ]"
    );
    assert_eq!(kernel(r#""[%3ph]", REC->b"#, &payload), "[52 54 00]");
    assert_eq!(both("int a:4", r#""[%5c] [%-5c]", 'a', 'b'"#, &[0; 4]), "[    a] [b    ]");
}

/// `format_decode()` passes over all letters and digits after the `p`; libtraceevent prints what it does not know.
#[test]
fn letters_after_a_pointer() {
    assert_eq!(text("u64 a:8", r#""%pxyz1 %d", REC->a, 1"#, &[0; 8], Semantics::Kernel), "0000000000000000 1");
}

/// `ip_addr_string()` with all its options.
#[test]
fn socket_addresses() {
    let kernel = |print_fmt: &str, payload: &[u8]| text("u8 a[28]:28", print_fmt, payload, Semantics::Kernel);
    let mut v4 = [0u8; 28];
    v4[..8].copy_from_slice(&[2, 0, 0x1f, 0x90, 192, 168, 1, 5]);
    assert_eq!(
        kernel(r#""%pIS %pISp %piS %pISh", REC->a, REC->a, REC->a, REC->a"#, &v4),
        "192.168.1.5 192.168.1.5:8080 192.168.001.005 5.1.168.192"
    );
    let mut v6 = [0u8; 28];
    v6[..10].copy_from_slice(&[10, 0, 1, 0xbb, 0, 1, 0x23, 0x45, 0xfe, 0x80]);
    (v6[23], v6[24]) = (1, 3);
    assert_eq!(
        kernel(r#""%pISc %pISpc %pISpfsc", REC->a, REC->a, REC->a"#, &v6),
        "fe80::1 [fe80::1]:443 [fe80::1]:443/74565%3"
    );
    assert_eq!(kernel(r#""%pISfs", REC->a"#, &v6), "[fe80:0000:0000:0000:0000:0000:0000:0001]/74565%3");
    assert_eq!(kernel(r#""%pIS", REC->a"#, &[1; 28]), "(einval)");
}

/// `bitmap_string()`: only the bits asked for; `err_ptr()`, `flags_string()`.
#[test]
fn bitmaps_errors_and_flags() {
    let kernel = |print_fmt: &str, payload: &[u8]| text("u64 a[2]:16", print_fmt, payload, Semantics::Kernel);
    let bits = [&0xf000_0000_0000_00e7u64.to_le_bytes()[..], &0xffu64.to_le_bytes()].concat();
    assert_eq!(kernel(r#""%*pb %*pbl", 70, REC->a, 70, REC->a"#, &bits), "3f,f0000000,000000e7 0-2,5-7,60-69");
    let error = |value: i64| text("s64 a:8", r#""%pe", REC->a"#, &value.to_le_bytes(), Semantics::Kernel);
    assert_eq!((error(-22).as_str(), error(-4000).as_str()), ("-EINVAL", "-4000"));
    let flags = |value: u64| text("u64 a:8", r#""%pGv", &REC->a"#, &value.to_le_bytes(), Semantics::Kernel);
    assert_eq!(
        (flags(0x15).as_str(), flags(0).as_str(), flags(1 << 63 | 2).as_str()),
        ("read|exec|mayread", "", "write|0x8000000000000000")
    );
}

/// `REC->ent.pid` (vmscan, Linux 7.0) is `common_pid`.
#[test]
fn the_head_of_a_record_by_its_kernel_name() {
    assert_eq!(both("u32 a:4", r#""pid=%d a=%u", REC->ent.pid, REC->a"#, &[7, 0, 0, 0]), "pid=1 a=7");
}

/// Results of `__trace_print_untrusted_str()`, by its own tests in the kernel (security/landlock/trace.c) and
/// `string_escape_mem()`.
#[test]
fn untrusted_texts_are_escaped() {
    let escaped = |payload: &[u8]| {
        let fmt = format!(r#""%s", __trace_print_untrusted_str(p, __get_str(s), {})"#, payload.len());
        both("__data_loc char[] s:4", &fmt, &[&[12, 0, payload.len() as u8, 0], payload].concat())
    };
    assert_eq!(escaped(b"<too_long>"), "<too_long>");
    assert_eq!(escaped(b"a\0<"), r"a\000<");
    assert_eq!(escaped("\u{2026}".as_bytes()), r"\342\200\246");
    assert_eq!(escaped(b" ='\"\\\n\x1b"), r#"\040\075\047\"\\\n\e"#);
}

/// `&REC->a[1]` is what follows the first element (cxl).
#[test]
fn the_rest_of_an_array() {
    assert_eq!(both("u8 a[4]:4", r#""%s", __print_hex(&REC->a[1], 2)"#, &[1, 2, 3, 4]), "02 03");
    assert_eq!(both("u8 a[4]:4", r#""%s", __print_hex(&REC->a[0], 2)"#, &[1, 2, 3, 4]), "01 02");
}

/// The layers of a Landlock rule, whose names stand in a table within the print format; what ARRAY_SIZE() leaves there says
/// nothing. The kernel's own text of such events is in tests/data/newest.
#[test]
fn tables_within_statements() {
    let names = r#"{ { (1ULL << 0), "execute" }, { (1ULL << 1), "write_file" }, { (1ULL << 2), "read_file" } }"#;
    let call = "__trace_landlock_print_layers( p, __get_dynamic_array(grants), \
         __get_dynamic_array_len(grants) / sizeof(access_mask_t), __layer_names, (sizeof(__layer_names) / \
         sizeof((__layer_names)[0]) + ((int)sizeof(struct {_Static_assert(!(!(!__builtin_types_compatible_p(\
         typeof((__layer_names)), typeof(&(__layer_names)[0])))), \"must be array\");}))))";
    let fmt =
        format!(r#""grants=%s", ({{ static const struct trace_print_flags __layer_names[] = {names}; {call}; }})"#);
    let fields = "access_mask_t request:4;__data_loc access_mask_t[] grants:4";
    let of = |layers: &[u32]| {
        let grants = u32::to_le_bytes((layers.len() as u32 * 4) << 16 | 16);
        let layers: Vec<u8> = layers.iter().flat_map(|layer| layer.to_le_bytes()).collect();
        both(fields, &fmt, &[&[7, 0, 0, 0], &grants[..], &layers[..]].concat())
    };
    assert_eq!(of(&[6, 0, 1]), "grants={write_file|read_file,,execute}");
    assert_eq!(of(&[8]), "grants={}");
    assert_eq!(of(&[]), "grants={}");
}

/// block/blk-core.c, `blk_op_str()`, and block/blk-zoned.c, `blk_zone_cond_str()`.
#[test]
fn operations_on_zones() {
    let fmt = r#""req=%-15s cond=%-10s", blk_op_str(REC->op), blk_zone_cond_str(REC->cond)"#;
    let of = |op, cond| both("u32 op:4;u32 cond:4", fmt, &[op, 0, 0, 0, cond, 0, 0, 0]);
    assert_eq!(of(13, 4), "req=ZONE_CLOSE      cond=CLOSED    ");
    assert_eq!(of(8, 9), "req=UNKNOWN         cond=UNKNOWN   ");
}

/// The expansion of `be16_to_cpu()` in cfg80211's formats of Linux 6.1, which are little endian.
#[test]
fn bytes_are_turned_around() {
    let fmt = r#""%x %x", (__u16)__builtin_bswap16((__u16)(( __u16)(__be16)(REC->a))), __builtin_bswap32(REC->b)"#;
    assert_eq!(both("__be16 a:2;__be32 b:4", fmt, &[0x88, 0x8e, 1, 2, 3, 4]), "888e 1020304");
}

/// `order_base_2(sizeof(struct page))` as arm64's formats of Linux 6.1 spell it out.
#[test]
fn sizes_of_values() {
    let fmt = r#""%d %d", sizeof((sizeof(struct page)) - 1) <= 4 ? 1 : 2, (int)sizeof((char)1)"#;
    assert_eq!(text("u32 a:4", fmt, &[0; 4], Semantics::Kernel), "2 1");
    let fmt = r#""%d", sizeof((sizeof(struct page)) - 1) <= 4 ? 1 : 2"#;
    assert_eq!(both("u32 a:4", fmt, &[0; 4]), "2");
}

fn fails(fields: &str, print_fmt: &str) -> String {
    let of = |semantics| compile(&event(fields, print_fmt), LE, &symbols(), semantics).unwrap_err().to_string();
    assert_eq!(of(Semantics::Kernel), of(Semantics::TraceCmd));
    of(Semantics::Kernel)
}

/// lib/vsprintf.c, `address_val()`, `netdev_bits()` and `fourcc_string()`, whose arguments are fields of the record.
#[test]
fn numbers_by_their_address() {
    let pa = 0x8000_0000u64.to_le_bytes();
    for letters in ["pa", "pap", "pad", "pNF", "20pa"] {
        assert_eq!(both("phys_addr_t a:8", &format!(r#""[%{letters}]", &REC->a"#), &pa), "[0x0000000080000000]");
    }
    assert_eq!(both("dma_addr_t a:4", r#""%pad", &REC->a"#, &[1, 2, 0, 0]), "0x00000201");
    assert_eq!(both("dma_addr_t a[2]:16", r#""%pad", &REC->a[1]"#, &[[0; 8], pa].concat()), "0x0000000080000000");
    let of = |letters: &str, value: u32| both("u32 a:4", &format!(r#""%p{letters}", &REC->a"#), &value.to_le_bytes());
    assert_eq!(of("4cc", 0x3432_5258), "XR24 little-endian (0x34325258)");
    assert_eq!(of("4cc", 0xb432_5258), "XR24 big-endian (0xb4325258)");
    assert_eq!(of("4ch", 0x6750_3030), "gP00 (0x67503030)");
    assert_eq!(of("4chR", 0x6750_3030), "00Pg (0x30305067)");
    assert_eq!(of("4cl", 0x6750_3001), "gP0. (0x67503001)");
    assert_eq!(of("4cb", 0x6750_3030), "00Pg (0x30305067)");
    assert_eq!(both("u8 b[4]:4", r#""%*pE %3pEhp", 4, REC->b, REC->b"#, b"a\n\x01\""), r#"a\n\001" a\x0a\x01"#);
    // a pointer that was recorded leads to memory that was not
    assert_eq!(text("void * a:8", r#""%pa|%pd", REC->a, REC->a"#, &pa, Semantics::TraceCmd), "0x80000000|0x80000000");
    for letters in ["", "S", "d", "Gp", "V", "r", "4xx", "tX"] {
        let found = fails("u64 a:8", &format!(r#""%p{letters}", &REC->a"#));
        assert_eq!(found, "argument 1 does not fit its conversion", "%p{letters}");
    }
}

/// lib/vsprintf.c, `hex_string()` and `pointer_string()`: widths that count and widths that fill.
#[test]
fn widths_precisions_and_flags_of_pointers() {
    assert_eq!(
        both("u8 b[4]:4", r#""%3ph|%ph|%*phN|%6phC", REC->b, REC->b, -2, REC->b, REC->b"#, b"0123"),
        "30 31 32|30|3031|30:31:32:33"
    );
    assert_eq!(
        both("u8 b[6]:6", r#""[%20pM] [%-20pM] [%.5pM]", REC->b, REC->b, REC->b"#, b"RT\0\x12\x34\xab"),
        "[   52:54:00:12:34:ab] [52:54:00:12:34:ab   ] [52:54]"
    );
    let at = 0x1234u64.to_le_bytes();
    let kernel = text("u64 a:8", r#""[%08px] [%#px] [%#10px]", REC->a, REC->a, REC->a"#, &at, Semantics::Kernel);
    assert_eq!(kernel, "[00001234] [0x00000000001234] [    0x1234]");
    assert_eq!(both("s64 a:8", r#""%pe|%8pe", REC->a, REC->a"#, &(-22i64).to_le_bytes()), "-EINVAL| -EINVAL");
}

#[test]
fn names_without_a_value_are_no_zeros() {
    let vendor = "no value is known for `VENDOR_A`";
    for print_fmt in [
        r#""%d", REC->a[VENDOR_A]"#,
        r#""%s", REC->a[0] == VENDOR_A ? "a" : "b""#,
        r#""%d", REC->a[0] + (VENDOR_A << 1)"#,
        r#""%*ph", VENDOR_A, REC->a"#,
    ] {
        assert_eq!(fails("int a[2]:8", print_fmt), vendor, "{print_fmt}");
    }
    assert_eq!(fails("int a:4", r#""%s", names[REC->a]"#), "no value is known for `names`");
    // a variable of the kernel's
    assert_eq!(both("u64 page:8", r#""pfn=%lu", (unsigned long)(REC->page - mem_map)"#, &[9; 8]), "pfn=?");
    // in a table: its value shows as a number
    let shifted = r#""%s", __print_symbolic(REC->a, { 1 << VENDOR_A, "A" })"#;
    assert_eq!(both("int a:4", shifted, &[1, 0, 0, 0]), "0x1");
    let mixed = r#""%s", __print_flags(REC->a, "|", { 1, "ONE" }, { VENDOR_A, "A" })"#;
    assert_eq!(
        (both("int a:4", mixed, &[3, 0, 0, 0]), both("int a:4", mixed, &[0; 4])),
        ("ONE|0x2".into(), String::new())
    );
    let known = Symbols { enumerators: crate::kernel::btf::Enumerators::parse("VENDOR_A 1\n"), ..symbols() };
    for semantics in [Semantics::Kernel, Semantics::TraceCmd] {
        let program = compile(&event("int a[2]:8", r#""%d", REC->a[VENDOR_A]"#), LE, &known, semantics).unwrap();
        let mut out = Vec::new();
        let data = [5, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 20, 0, 0, 0];
        program.render(&Context { data: &data, abi: LE, symbols: &known, lists: false }, &mut out);
        assert_eq!(out, b"20");
    }
}

#[test]
fn sizes_are_those_of_c() {
    let fields = "u16 s[4]:8;struct foo f:24;foo_t t:2;__data_loc u32[] d:4";
    let fmt = r#""%lu %lu %lu %lu %lu %lu %lu %lu %lu", sizeof(REC->s), sizeof(REC->s[0]), sizeof(REC->s)/sizeof(REC->s[0]), sizeof(struct foo), sizeof(foo_t), sizeof("abc"), sizeof(unsigned long), sizeof(*(u32 *)__get_dynamic_array(d)), sizeof(REC->s[0] + 1)"#;
    assert_eq!(both(fields, fmt, &[0; 38]), "8 2 4 24 2 4 8 4 4");
    assert_eq!(fails("int a:4", r#""%lu", sizeof(struct bar)"#), "no size is known for `struct bar`");
    assert_eq!(fails("int a:4", r#""%lu", sizeof(bar_t)"#), "no size is known for `bar_t`");
}

/// A number and an array of one name: the structure of the record calls the array's place `__data_loc_c`.
#[test]
fn two_fields_of_one_name() {
    let fmt = r#""%s %d", __print_hex(__get_dynamic_array(c), REC->c ? 2 : 0), REC->c"#;
    for fields in ["bool c:1;u8 x[3]:3;__data_loc u8[] c:4", "__data_loc u8[] c:4;bool c:1;u8 x[3]:3"] {
        let number = [1u8, 0, 0, 0];
        let place = [16u8, 0, 2, 0];
        let parts = if fields.starts_with("bool") { [number, place] } else { [place, number] };
        assert_eq!(both(fields, fmt, &[&parts.concat()[..], &[0xab, 0xcd]].concat()), "ab cd 1", "{fields}");
    }
}

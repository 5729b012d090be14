//! Any print format (the first line) and any record (the rest), in every reading, byte order and word size: an end, no
//! panic, and an output that is bounded.

use rtrace::abi::{Abi, Endian};
use rtrace::format::EventFormat;
use rtrace::print_fmt::{BinaryFormat, Context, Semantics, compile};
use rtrace::symbols::Symbols;

const FIELDS: &str = "name: x\nID: 5\nformat:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;
\tfield:char b[16];\toffset:12;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] c;\toffset:28;\tsize:4;\tsigned:0;
\tfield:__rel_loc u32[] d;\toffset:32;\tsize:4;\tsigned:0;
\tfield:u64 e;\toffset:36;\tsize:8;\tsigned:0;
\tfield:u8 f[];\toffset:44;\tsize:0;\tsigned:0;

print fmt: ";

pub(crate) fn run(input: &[u8]) {
    let at = input.iter().position(|b| *b == b'\n').unwrap_or(input.len());
    let (print_fmt, data) = (String::from_utf8_lossy(&input[..at]), &input[at..]);
    let bound = (print_fmt.len() + 1) * (20 * data.len() + 2 * 4096 + 64);
    let symbols = Symbols::default();
    let orders = [(Endian::Little, 8), (Endian::Big, 8), (Endian::Little, 4)];
    for (endian, long_size) in orders {
        let abi = Abi { endian, long_size };
        let cx = Context { data, abi, symbols: &symbols, lists: false };
        for format in [BinaryFormat::new(&input[..at], abi), BinaryFormat::kernel(&input[..at], abi)] {
            let mut out = Vec::new();
            format.render(&cx, data, &mut out);
            assert!(out.len() <= bound, "{} bytes from {print_fmt:?}", out.len());
        }
    }
    let Ok(event) = EventFormat::parse("x", &format!("{FIELDS}{print_fmt}\n")) else { return };
    for semantics in [Semantics::Kernel, Semantics::TraceCmd] {
        for (endian, long_size) in orders {
            let abi = Abi { endian, long_size };
            let Ok(program) = compile(&event, abi, &symbols, semantics) else { continue };
            let mut out = Vec::new();
            program.render(&Context { data, abi, symbols: &symbols, lists: false }, &mut out);
            assert!(out.len() <= bound, "{} bytes from {print_fmt:?}", out.len());
        }
    }
}

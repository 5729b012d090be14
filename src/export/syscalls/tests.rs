//! Pairs, losses and words over made records.

use super::{Dialect, SyscallDecoder, SyscallLines};
use crate::base::abi::{Abi, Endian};
use crate::base::units::{CpuId, Timestamp};
use crate::export::{Exporter, Text, TextLines, TextOptions};
use crate::kernel::event::{DecodeOptions, EventTypes, Lost, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;

const RAW_ENTER: u16 = 1;
const RAW_EXIT: u16 = 2;
const ENTER_OPENAT: u16 = 3;
const EXIT_OPENAT: u16 = 4;

const HEAD: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
                    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
                    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

fn format(system: &str, name: &str, id: u16, fields: &str) -> EventFormat {
    let text = format!("name: {name}\nID: {id}\nformat:\n{HEAD}{fields}\nprint fmt: \"\"\n");
    EventFormat::parse(system, &text).unwrap()
}

fn formats() -> Vec<EventFormat> {
    let number = "\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n";
    let args = format!("{number}\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n");
    let ret = format!("{number}\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n");
    let openat = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\
                  \tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n\
                  \tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\
                  \tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n\
                  \tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n\
                  \tfield:__data_loc char[] __filename_val;\toffset:48;\tsize:4;\tsigned:0;\n";
    let left = "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n\
                \tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n";
    vec![
        format("raw_syscalls", "sys_enter", RAW_ENTER, &args),
        format("raw_syscalls", "sys_exit", RAW_EXIT, &ret),
        format("syscalls", "sys_enter_openat", ENTER_OPENAT, openat),
        format("syscalls", "sys_exit_openat", EXIT_OPENAT, left),
    ]
}

const ABI: Abi = Abi { endian: Endian::Little, long_size: 8 };

const OPENAT: i64 = 257;
const CLOEXEC: i64 = 0o2_000_000;

fn names(number: i64) -> Option<&'static str> {
    Some(match number {
        0 => "read",
        15 => "rt_sigreturn",
        257 => "openat",
        60 => "exit",
        9 => "mmap",
        _ => return None,
    })
}

/// (time, task, id, numbers after the head, events lost before).
type Step<'s> = (u64, i32, u16, &'s [i64], u64);

fn lines(steps: &[Step<'_>], dialect: Dialect) -> Vec<String> {
    let (formats, symbols) = (formats(), Symbols::default());
    let types = EventTypes::new(&formats, ABI, &symbols, &DecodeOptions::default());
    let text = Text::new(&types, &symbols, TextOptions::default());
    let decoder = SyscallDecoder::new(&formats, ABI, dialect, Box::new(names));
    let lines = SyscallLines::new(TextLines::new(Vec::new(), vec![(0, text)], vec![&symbols.comms]), vec![decoder]);
    let (mut state, mut out) = (lines.state(), Vec::new());
    for &(at, task, id, numbers, lost) in steps {
        let mut data = [&id.to_le_bytes()[..], &[0, 0], &task.to_le_bytes()].concat();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        if id == ENTER_OPENAT {
            data.extend((4u32 << 16 | 52).to_le_bytes());
            data.extend(b"a\"b\0");
        }
        let lost = if lost > 0 { Lost::Count(lost) } else { Lost::None };
        let record = Record { timestamp: Timestamp(at), cpu: CpuId(1), buffer: 0, lost, data: &data };
        lines.event(&record, || None, &mut state, &mut out);
    }
    lines.end(&mut state, &mut out);
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| line.split_once(": ").map_or(line, |(_, call)| call).to_owned()).collect()
}

#[test]
fn a_call_is_one_line() {
    let steps: &[Step<'_>] = &[
        (1_000, 7, RAW_ENTER, &[OPENAT, -100, 0x7f00, CLOEXEC, 0, 0, 0], 0),
        (2_000, 8, RAW_ENTER, &[9, 0, 4096, 3, 0x22, -1, 0], 0),
        (13_000, 7, RAW_EXIT, &[OPENAT, 3], 0),
        (14_400, 8, RAW_EXIT, &[9, 0x7f11_0000], 0),
        (15_000, 7, RAW_ENTER, &[OPENAT, 5, 0, 0o102, 0o644, 0, 0], 0),
        (15_001, 7, RAW_EXIT, &[OPENAT, -2], 0),
        (15_002, 7, RAW_ENTER, &[777, 1, 2, 3, 4, 5, 0], 0),
        (15_003, 7, RAW_EXIT, &[777, -512], 0),
        (16_000, 7, RAW_ENTER, &[60, 3, 0, 0, 0, 0, 0], 0),
    ];
    assert_eq!(
        lines(steps, Dialect::X86),
        [
            "openat(AT_FDCWD, 0x7f00, O_RDONLY|O_CLOEXEC) = 3 <0.000012>",
            "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f110000 <0.000012>",
            "openat(5, NULL, O_RDWR|O_CREAT, 0644) = -1 ENOENT <0.000000>",
            "syscall_777(0x1, 0x2, 0x3, 0x4, 0x5, 0) = ? ERESTARTSYS <0.000000>",
            "exit(3) = ?",
        ]
    );
}

#[test]
fn bits_are_those_of_the_architecture() {
    let of = |bits, dialect| lines(&[(1, 7, RAW_ENTER, &[OPENAT, 3, 9, bits, 0, 0, 0], 0)], dialect).remove(0);
    assert!(of(0o200_000, Dialect::X86).contains("O_DIRECTORY"));
    assert!(of(0o200_000, Dialect::Arm).contains("O_DIRECT "));
    assert!(of(0o40_000, Dialect::Arm).contains("O_DIRECTORY"));
    assert!(of(0o400_000, Dialect::Powerpc).contains("O_DIRECT "));
    assert!(of(0o20_200_002, Dialect::Generic).contains("O_RDWR|O_TMPFILE"));
}

#[test]
fn what_has_no_partner_is_shown_as_such() {
    let read = |fd| [0, fd, 0x10, 20, 0, 0, 0];
    let (first, second, third) = (read(1), read(2), read(3));
    let steps: &[Step<'_>] = &[
        (1, 7, RAW_EXIT, &[0, 5], 0),
        (2, 7, RAW_ENTER, &first, 0),
        (3, 7, RAW_ENTER, &second, 0),
        (4, 7, RAW_EXIT, &[9, -1], 0),
        (5, 7, RAW_ENTER, &third, 0),
    ];
    assert_eq!(
        lines(steps, Dialect::X86),
        [
            "<... read resumed>) = 5",
            "read(1, 0x10, 20 <unfinished ...>",
            "read(2, 0x10, 20 <unfinished ...>",
            "<... mmap resumed>) = -1 EPERM",
            "read(3, 0x10, 20 <unfinished ...>",
        ]
    );
}

/// The exit that is seen after a loss may be that of another call.
#[test]
fn no_call_spans_a_loss() {
    let read = [0, 1, 0x10, 20, 0, 0, 0];
    let steps: &[Step<'_>] = &[
        (1, 7, RAW_ENTER, &read, 0),
        (2, 8, RAW_ENTER, &read, 0),
        (3, 8, RAW_EXIT, &[0, 20], 4),
        (4, 7, RAW_EXIT, &[0, 9], 0),
    ];
    assert_eq!(
        lines(steps, Dialect::X86),
        [
            "CPU:1 [4 EVENTS DROPPED]",
            "read(1, 0x10, 20 <unfinished, events lost ...>",
            "read(1, 0x10, 20 <unfinished, events lost ...>",
            "<... read resumed>) = 20",
            "<... read resumed>) = 9",
        ]
    );
}

/// Both families tell of the same calls; the named one knows what the pointer points to.
#[test]
fn calls_that_both_families_tell_are_one() {
    let raw = [OPENAT, -100, 0x7f00, 0, 0, 0, 0];
    let named = [OPENAT, -100, 0x7f00, 0, 0];
    let steps: &[Step<'_>] = &[
        (1_000, 7, RAW_EXIT, &[OPENAT, 1], 0),
        (1_001, 7, EXIT_OPENAT, &[OPENAT, 1], 0),
        (2_000, 7, RAW_ENTER, &raw, 0),
        (2_100, 7, ENTER_OPENAT, &named, 0),
        (4_000, 7, EXIT_OPENAT, &[OPENAT, 3], 0),
        (4_100, 7, RAW_EXIT, &[OPENAT, 3], 0),
        (5_000, 7, ENTER_OPENAT, &named, 0),
        (5_100, 7, RAW_ENTER, &raw, 0),
        (6_000, 7, RAW_EXIT, &[OPENAT, 4], 0),
        (6_100, 7, EXIT_OPENAT, &[OPENAT, 4], 0),
    ];
    assert_eq!(
        lines(steps, Dialect::X86),
        [
            "<... openat resumed>) = 1",
            "openat(AT_FDCWD, \"a\\\"b\", O_RDONLY) = 3 <0.000002>",
            "openat(AT_FDCWD, \"a\\\"b\", O_RDONLY) = 4 <0.000001>",
        ]
    );
}

#[test]
fn a_handlers_end_has_no_number() {
    let steps: &[Step<'_>] = &[(1, 7, RAW_ENTER, &[15, 0, 0, 0, 0, 0, 0], 0), (2, 7, RAW_EXIT, &[-1, 0], 0)];
    assert_eq!(lines(steps, Dialect::X86), ["rt_sigreturn() = 0 <0.000000>"]);
}

/// A record cut off gives zeros and no panic.
#[test]
fn short_records_are_read() {
    let steps: &[Step<'_>] = &[(1, 7, RAW_ENTER, &[257], 0), (2, 7, RAW_EXIT, &[], 0)];
    assert_eq!(lines(steps, Dialect::X86).len(), 2);
}

//! Commands of ioctl: by name, else in their parts.

use super::kind::Dialect;
use super::set::hex;
use crate::base::text::num;

/// Commands that many programs use (include/uapi/asm-generic/ioctls.h, include/uapi/linux).
const NAMES: &[(u64, &str)] = &[
    (0x5401, "TCGETS"),
    (0x5402, "TCSETS"),
    (0x5403, "TCSETSW"),
    (0x5404, "TCSETSF"),
    (0x5409, "TCSBRK"),
    (0x540b, "TCFLSH"),
    (0x540e, "TIOCSCTTY"),
    (0x540f, "TIOCGPGRP"),
    (0x5410, "TIOCSPGRP"),
    (0x5413, "TIOCGWINSZ"),
    (0x5414, "TIOCSWINSZ"),
    (0x541b, "FIONREAD"),
    (0x5421, "FIONBIO"),
    (0x5422, "TIOCNOTTY"),
    (0x5429, "TIOCGSID"),
    (0x5450, "FIONCLEX"),
    (0x5451, "FIOCLEX"),
    (0x5452, "FIOASYNC"),
    (0x2400, "PERF_EVENT_IOC_ENABLE"),
    (0x2401, "PERF_EVENT_IOC_DISABLE"),
    (0x2403, "PERF_EVENT_IOC_RESET"),
    (0x4004_9409, "FICLONE"),
    (0x4020_940d, "FICLONERANGE"),
    (0x8008_6601, "FS_IOC_GETFLAGS"),
    (0x4008_6602, "FS_IOC_SETFLAGS"),
    (0xc020_660b, "FS_IOC_FIEMAP"),
    (0x8008_1272, "BLKGETSIZE64"),
    (0xae80, "KVM_RUN"),
];

/// Appends a command.
pub(super) fn write(command: u64, dialect: Dialect, out: &mut Vec<u8>) {
    if dialect == Dialect::Powerpc {
        return hex(command, out); // numbered and divided otherwise
    }
    if let Some((_, name)) = NAMES.iter().find(|(named, _)| *named == command) {
        return out.extend_from_slice(name.as_bytes());
    }
    // include/uapi/asm-generic/ioctl.h: 2 bits of direction, 14 of size, 8 of type, 8 of number.
    let direction: &[u8] = match command >> 30 & 3 {
        0 => b"_IOC_NONE",
        1 => b"_IOC_WRITE",
        2 => b"_IOC_READ",
        _ => b"_IOC_READ|_IOC_WRITE",
    };
    out.extend_from_slice(b"_IOC(");
    out.extend_from_slice(direction);
    for part in [command >> 8 & 0xff, command & 0xff, command >> 16 & 0x3fff] {
        out.extend_from_slice(b", ");
        if part == 0 { num::dec(out, 0) } else { hex(part, out) }
    }
    out.push(b')');
}

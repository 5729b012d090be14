//! Files and directories.

use crate::export::syscalls::kind::{Dialect, Set};

type ConstantNames = &'static [(u64, &'static str)];

/// asm-generic/fcntl.h.
const OPEN_GENERIC: ConstantNames = &[
    (0o20_200_000, "O_TMPFILE"),
    (0o4_010_000, "O_SYNC"),
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1_000, "O_TRUNC"),
    (0o2_000, "O_APPEND"),
    (0o4_000, "O_NONBLOCK"),
    (0o10_000, "O_DSYNC"),
    (0o20_000, "O_ASYNC"),
    (0o40_000, "O_DIRECT"),
    (0o100_000, "O_LARGEFILE"),
    (0o200_000, "O_DIRECTORY"),
    (0o400_000, "O_NOFOLLOW"),
    (0o1_000_000, "O_NOATIME"),
    (0o2_000_000, "O_CLOEXEC"),
    (0o10_000_000, "O_PATH"),
];

/// arch/arm and arch/arm64.
const OPEN_ARM: ConstantNames = &[
    (0o20_040_000, "O_TMPFILE"),
    (0o4_010_000, "O_SYNC"),
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1_000, "O_TRUNC"),
    (0o2_000, "O_APPEND"),
    (0o4_000, "O_NONBLOCK"),
    (0o10_000, "O_DSYNC"),
    (0o20_000, "O_ASYNC"),
    (0o40_000, "O_DIRECTORY"),
    (0o100_000, "O_NOFOLLOW"),
    (0o200_000, "O_DIRECT"),
    (0o400_000, "O_LARGEFILE"),
    (0o1_000_000, "O_NOATIME"),
    (0o2_000_000, "O_CLOEXEC"),
    (0o10_000_000, "O_PATH"),
];

/// arch/powerpc.
const OPEN_POWERPC: ConstantNames = &[
    (0o20_040_000, "O_TMPFILE"),
    (0o4_010_000, "O_SYNC"),
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1_000, "O_TRUNC"),
    (0o2_000, "O_APPEND"),
    (0o4_000, "O_NONBLOCK"),
    (0o10_000, "O_DSYNC"),
    (0o20_000, "O_ASYNC"),
    (0o40_000, "O_DIRECTORY"),
    (0o100_000, "O_NOFOLLOW"),
    (0o200_000, "O_LARGEFILE"),
    (0o400_000, "O_DIRECT"),
    (0o1_000_000, "O_NOATIME"),
    (0o2_000_000, "O_CLOEXEC"),
    (0o10_000_000, "O_PATH"),
];

const ACCESS: ConstantNames = &[(0, "O_RDONLY"), (1, "O_WRONLY"), (2, "O_RDWR"), (3, "O_ACCMODE")];

/// Flags of open, alone (`open_bits`) or with the access mode (`open`).
pub(super) fn of_dialect(name: &str, dialect: Dialect) -> Option<Set> {
    let bits = match dialect {
        Dialect::Generic | Dialect::X86 => OPEN_GENERIC,
        Dialect::Arm => OPEN_ARM,
        Dialect::Powerpc => OPEN_POWERPC,
    };
    match name {
        "open" => Some(Set { mask: 3, values: ACCESS, bits }),
        "open_bits" => Some(Set::bits(bits)),
        _ => None,
    }
}

/// The argument of F_SETFD.
pub(super) const FD_FLAGS: Set = Set::bits(&[(1, "FD_CLOEXEC")]);

/// The argument of F_ADD_SEALS.
pub(super) const SEALS: Set = Set::bits(&[
    (1, "F_SEAL_SEAL"),
    (2, "F_SEAL_SHRINK"),
    (4, "F_SEAL_GROW"),
    (8, "F_SEAL_WRITE"),
    (0x10, "F_SEAL_FUTURE_WRITE"),
    (0x20, "F_SEAL_EXEC"),
]);

const AT: ConstantNames = &[
    (0x100, "AT_SYMLINK_NOFOLLOW"),
    (0x200, "AT_EACCESS"),
    (0x400, "AT_SYMLINK_FOLLOW"),
    (0x800, "AT_NO_AUTOMOUNT"),
    (0x1000, "AT_EMPTY_PATH"),
    (0x2000, "AT_STATX_FORCE_SYNC"),
    (0x4000, "AT_STATX_DONT_SYNC"),
    (0x8000, "AT_RECURSIVE"),
];

pub(super) const SETS: &[(&str, Set)] = &[
    ("access", Set { mask: 0, values: &[(0, "F_OK")], bits: &[(4, "R_OK"), (2, "W_OK"), (1, "X_OK")] }),
    ("at", Set::bits(AT)),
    (
        "statx_at",
        Set {
            mask: 0x6000,
            values: &[(0, "AT_STATX_SYNC_AS_STAT"), (0x2000, "AT_STATX_FORCE_SYNC"), (0x4000, "AT_STATX_DONT_SYNC")],
            bits: AT,
        },
    ),
    ("unlinkat", Set::bits(&[(0x200, "AT_REMOVEDIR")])),
    (
        "fadvise",
        Set::values(&[
            (0, "POSIX_FADV_NORMAL"),
            (1, "POSIX_FADV_RANDOM"),
            (2, "POSIX_FADV_SEQUENTIAL"),
            (3, "POSIX_FADV_WILLNEED"),
            (4, "POSIX_FADV_DONTNEED"),
            (5, "POSIX_FADV_NOREUSE"),
        ]),
    ),
    (
        "falloc",
        Set::bits(&[
            (1, "FALLOC_FL_KEEP_SIZE"),
            (2, "FALLOC_FL_PUNCH_HOLE"),
            (4, "FALLOC_FL_NO_HIDE_STALE"),
            (8, "FALLOC_FL_COLLAPSE_RANGE"),
            (0x10, "FALLOC_FL_ZERO_RANGE"),
            (0x20, "FALLOC_FL_INSERT_RANGE"),
            (0x40, "FALLOC_FL_UNSHARE_RANGE"),
        ]),
    ),
    (
        "fcntl",
        Set::values(&[
            (0, "F_DUPFD"),
            (1, "F_GETFD"),
            (2, "F_SETFD"),
            (3, "F_GETFL"),
            (4, "F_SETFL"),
            (5, "F_GETLK"),
            (6, "F_SETLK"),
            (7, "F_SETLKW"),
            (8, "F_SETOWN"),
            (9, "F_GETOWN"),
            (10, "F_SETSIG"),
            (11, "F_GETSIG"),
            (15, "F_SETOWN_EX"),
            (16, "F_GETOWN_EX"),
            (36, "F_OFD_GETLK"),
            (37, "F_OFD_SETLK"),
            (38, "F_OFD_SETLKW"),
            (1024, "F_SETLEASE"),
            (1025, "F_GETLEASE"),
            (1026, "F_NOTIFY"),
            (1030, "F_DUPFD_CLOEXEC"),
            (1031, "F_SETPIPE_SZ"),
            (1032, "F_GETPIPE_SZ"),
            (1033, "F_ADD_SEALS"),
            (1034, "F_GET_SEALS"),
        ]),
    ),
    ("flock", Set { mask: 0xb, values: &[(1, "LOCK_SH"), (2, "LOCK_EX"), (8, "LOCK_UN")], bits: &[(4, "LOCK_NB")] }),
    (
        "inotify",
        Set::bits(&[
            (0xfff, "IN_ALL_EVENTS"),
            (0x1, "IN_ACCESS"),
            (0x2, "IN_MODIFY"),
            (0x4, "IN_ATTRIB"),
            (0x8, "IN_CLOSE_WRITE"),
            (0x10, "IN_CLOSE_NOWRITE"),
            (0x20, "IN_OPEN"),
            (0x40, "IN_MOVED_FROM"),
            (0x80, "IN_MOVED_TO"),
            (0x100, "IN_CREATE"),
            (0x200, "IN_DELETE"),
            (0x400, "IN_DELETE_SELF"),
            (0x800, "IN_MOVE_SELF"),
            (0x100_0000, "IN_ONLYDIR"),
            (0x200_0000, "IN_DONT_FOLLOW"),
            (0x400_0000, "IN_EXCL_UNLINK"),
            (0x1000_0000, "IN_MASK_CREATE"),
            (0x2000_0000, "IN_MASK_ADD"),
            (0x8000_0000, "IN_ONESHOT"),
        ]),
    ),
    (
        "mount",
        Set::bits(&[
            (0x1, "MS_RDONLY"),
            (0x2, "MS_NOSUID"),
            (0x4, "MS_NODEV"),
            (0x8, "MS_NOEXEC"),
            (0x10, "MS_SYNCHRONOUS"),
            (0x20, "MS_REMOUNT"),
            (0x40, "MS_MANDLOCK"),
            (0x80, "MS_DIRSYNC"),
            (0x100, "MS_NOSYMFOLLOW"),
            (0x400, "MS_NOATIME"),
            (0x800, "MS_NODIRATIME"),
            (0x1000, "MS_BIND"),
            (0x2000, "MS_MOVE"),
            (0x4000, "MS_REC"),
            (0x8000, "MS_SILENT"),
            (0x1_0000, "MS_POSIXACL"),
            (0x2_0000, "MS_UNBINDABLE"),
            (0x4_0000, "MS_PRIVATE"),
            (0x8_0000, "MS_SLAVE"),
            (0x10_0000, "MS_SHARED"),
            (0x20_0000, "MS_RELATIME"),
            (0x100_0000, "MS_STRICTATIME"),
            (0x200_0000, "MS_LAZYTIME"),
        ]),
    ),
    ("umount", Set::bits(&[(1, "MNT_FORCE"), (2, "MNT_DETACH"), (4, "MNT_EXPIRE"), (8, "UMOUNT_NOFOLLOW")])),
    ("rename", Set::bits(&[(1, "RENAME_NOREPLACE"), (2, "RENAME_EXCHANGE"), (4, "RENAME_WHITEOUT")])),
    (
        "rwf",
        Set::bits(&[
            (1, "RWF_HIPRI"),
            (2, "RWF_DSYNC"),
            (4, "RWF_SYNC"),
            (8, "RWF_NOWAIT"),
            (0x10, "RWF_APPEND"),
            (0x20, "RWF_NOAPPEND"),
            (0x40, "RWF_ATOMIC"),
        ]),
    ),
    (
        "splice",
        Set::bits(&[(1, "SPLICE_F_MOVE"), (2, "SPLICE_F_NONBLOCK"), (4, "SPLICE_F_MORE"), (8, "SPLICE_F_GIFT")]),
    ),
    (
        "statx",
        Set::bits(&[
            (0xfff, "STATX_ALL"),
            (0x7ff, "STATX_BASIC_STATS"),
            (0x1, "STATX_TYPE"),
            (0x2, "STATX_MODE"),
            (0x4, "STATX_NLINK"),
            (0x8, "STATX_UID"),
            (0x10, "STATX_GID"),
            (0x20, "STATX_ATIME"),
            (0x40, "STATX_MTIME"),
            (0x80, "STATX_CTIME"),
            (0x100, "STATX_INO"),
            (0x200, "STATX_SIZE"),
            (0x400, "STATX_BLOCKS"),
            (0x800, "STATX_BTIME"),
            (0x1000, "STATX_MNT_ID"),
            (0x2000, "STATX_DIOALIGN"),
            (0x4000, "STATX_MNT_ID_UNIQUE"),
            (0x8000, "STATX_SUBVOL"),
        ]),
    ),
    (
        "sync_range",
        Set::bits(&[
            (1, "SYNC_FILE_RANGE_WAIT_BEFORE"),
            (2, "SYNC_FILE_RANGE_WRITE"),
            (4, "SYNC_FILE_RANGE_WAIT_AFTER"),
        ]),
    ),
    ("whence", Set::values(&[(0, "SEEK_SET"), (1, "SEEK_CUR"), (2, "SEEK_END"), (3, "SEEK_DATA"), (4, "SEEK_HOLE")])),
];

//! Memory.

use crate::export::syscalls::kind::{Dialect, Set};

type ConstantNames = &'static [(u64, &'static str)];

const MAP_TYPES: ConstantNames = &[(1, "MAP_SHARED"), (2, "MAP_PRIVATE"), (3, "MAP_SHARED_VALIDATE")];

/// asm-generic/mman.h.
const MAP_GENERIC: ConstantNames = &[
    (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"),
    (0x100, "MAP_GROWSDOWN"),
    (0x800, "MAP_DENYWRITE"),
    (0x1000, "MAP_EXECUTABLE"),
    (0x2000, "MAP_LOCKED"),
    (0x4000, "MAP_NORESERVE"),
    (0x8000, "MAP_POPULATE"),
    (0x1_0000, "MAP_NONBLOCK"),
    (0x2_0000, "MAP_STACK"),
    (0x4_0000, "MAP_HUGETLB"),
    (0x8_0000, "MAP_SYNC"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];

/// arch/x86: one more.
const MAP_X86: ConstantNames = &[
    (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"),
    (0x40, "MAP_32BIT"),
    (0x80, "MAP_ABOVE4G"),
    (0x100, "MAP_GROWSDOWN"),
    (0x800, "MAP_DENYWRITE"),
    (0x1000, "MAP_EXECUTABLE"),
    (0x2000, "MAP_LOCKED"),
    (0x4000, "MAP_NORESERVE"),
    (0x8000, "MAP_POPULATE"),
    (0x1_0000, "MAP_NONBLOCK"),
    (0x2_0000, "MAP_STACK"),
    (0x4_0000, "MAP_HUGETLB"),
    (0x8_0000, "MAP_SYNC"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];

/// arch/powerpc: two others.
const MAP_POWERPC: ConstantNames = &[
    (0x10, "MAP_FIXED"),
    (0x20, "MAP_ANONYMOUS"),
    (0x40, "MAP_NORESERVE"),
    (0x80, "MAP_LOCKED"),
    (0x100, "MAP_GROWSDOWN"),
    (0x800, "MAP_DENYWRITE"),
    (0x1000, "MAP_EXECUTABLE"),
    (0x8000, "MAP_POPULATE"),
    (0x1_0000, "MAP_NONBLOCK"),
    (0x2_0000, "MAP_STACK"),
    (0x4_0000, "MAP_HUGETLB"),
    (0x8_0000, "MAP_SYNC"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];

/// Flags of mmap.
pub(super) fn of_dialect(name: &str, dialect: Dialect) -> Option<Set> {
    let bits = match dialect {
        Dialect::X86 => MAP_X86,
        Dialect::Generic | Dialect::Arm => MAP_GENERIC,
        Dialect::Powerpc => MAP_POWERPC,
    };
    (name == "map").then_some(Set { mask: 0xf, values: MAP_TYPES, bits })
}

pub(super) const SETS: &[(&str, Set)] = &[
    (
        "madvise",
        Set::values(&[
            (0, "MADV_NORMAL"),
            (1, "MADV_RANDOM"),
            (2, "MADV_SEQUENTIAL"),
            (3, "MADV_WILLNEED"),
            (4, "MADV_DONTNEED"),
            (8, "MADV_FREE"),
            (9, "MADV_REMOVE"),
            (10, "MADV_DONTFORK"),
            (11, "MADV_DOFORK"),
            (12, "MADV_MERGEABLE"),
            (13, "MADV_UNMERGEABLE"),
            (14, "MADV_HUGEPAGE"),
            (15, "MADV_NOHUGEPAGE"),
            (16, "MADV_DONTDUMP"),
            (17, "MADV_DODUMP"),
            (18, "MADV_WIPEONFORK"),
            (19, "MADV_KEEPONFORK"),
            (20, "MADV_COLD"),
            (21, "MADV_PAGEOUT"),
            (22, "MADV_POPULATE_READ"),
            (23, "MADV_POPULATE_WRITE"),
            (24, "MADV_DONTNEED_LOCKED"),
            (25, "MADV_COLLAPSE"),
            (100, "MADV_HWPOISON"),
            (101, "MADV_SOFT_OFFLINE"),
        ]),
    ),
    (
        "memfd",
        Set::bits(&[
            (1, "MFD_CLOEXEC"),
            (2, "MFD_ALLOW_SEALING"),
            (4, "MFD_HUGETLB"),
            (8, "MFD_NOEXEC_SEAL"),
            (0x10, "MFD_EXEC"),
        ]),
    ),
    ("mlock2", Set::bits(&[(1, "MLOCK_ONFAULT")])),
    ("mlockall", Set::bits(&[(1, "MCL_CURRENT"), (2, "MCL_FUTURE"), (4, "MCL_ONFAULT")])),
    ("mremap", Set::bits(&[(1, "MREMAP_MAYMOVE"), (2, "MREMAP_FIXED"), (4, "MREMAP_DONTUNMAP")])),
    ("msync", Set::bits(&[(1, "MS_ASYNC"), (2, "MS_INVALIDATE"), (4, "MS_SYNC")])),
    (
        "prot",
        Set {
            mask: 0,
            values: &[(0, "PROT_NONE")],
            bits: &[
                (1, "PROT_READ"),
                (2, "PROT_WRITE"),
                (4, "PROT_EXEC"),
                (8, "PROT_SEM"),
                (0x100_0000, "PROT_GROWSDOWN"),
                (0x200_0000, "PROT_GROWSUP"),
            ],
        },
    ),
];

//! Waiting for descriptors, futexes, and what the kernel offers beside files, memory and tasks.
//! Sets of names by their word in the table of signatures.

use super::{files, memory, sockets, tasks};
use crate::export::syscalls::kind::{Dialect, Set, ValueKind};

pub(super) const SETS: &[(&str, Set)] = &[
    (
        "arch_prctl",
        Set::values(&[
            (0x1001, "ARCH_SET_GS"),
            (0x1002, "ARCH_SET_FS"),
            (0x1003, "ARCH_GET_FS"),
            (0x1004, "ARCH_GET_GS"),
            (0x1011, "ARCH_GET_CPUID"),
            (0x1012, "ARCH_SET_CPUID"),
            (0x1021, "ARCH_GET_XCOMP_SUPP"),
            (0x1022, "ARCH_GET_XCOMP_PERM"),
            (0x1023, "ARCH_REQ_XCOMP_PERM"),
            (0x3001, "ARCH_CET_STATUS"),
            (0x5001, "ARCH_SHSTK_ENABLE"),
            (0x5002, "ARCH_SHSTK_DISABLE"),
            (0x5003, "ARCH_SHSTK_LOCK"),
            (0x5004, "ARCH_SHSTK_UNLOCK"),
            (0x5005, "ARCH_SHSTK_STATUS"),
        ]),
    ),
    (
        "bpf",
        Set::values(&[
            (0, "BPF_MAP_CREATE"),
            (1, "BPF_MAP_LOOKUP_ELEM"),
            (2, "BPF_MAP_UPDATE_ELEM"),
            (3, "BPF_MAP_DELETE_ELEM"),
            (4, "BPF_MAP_GET_NEXT_KEY"),
            (5, "BPF_PROG_LOAD"),
            (6, "BPF_OBJ_PIN"),
            (7, "BPF_OBJ_GET"),
            (8, "BPF_PROG_ATTACH"),
            (9, "BPF_PROG_DETACH"),
            (10, "BPF_PROG_TEST_RUN"),
            (11, "BPF_PROG_GET_NEXT_ID"),
            (12, "BPF_MAP_GET_NEXT_ID"),
            (13, "BPF_PROG_GET_FD_BY_ID"),
            (14, "BPF_MAP_GET_FD_BY_ID"),
            (15, "BPF_OBJ_GET_INFO_BY_FD"),
            (16, "BPF_PROG_QUERY"),
            (17, "BPF_RAW_TRACEPOINT_OPEN"),
            (18, "BPF_BTF_LOAD"),
            (19, "BPF_BTF_GET_FD_BY_ID"),
            (20, "BPF_TASK_FD_QUERY"),
            (22, "BPF_MAP_FREEZE"),
            (28, "BPF_LINK_CREATE"),
            (29, "BPF_LINK_UPDATE"),
        ]),
    ),
    ("close_range", Set::bits(&[(2, "CLOSE_RANGE_UNSHARE"), (4, "CLOSE_RANGE_CLOEXEC")])),
    ("epoll_create", Set::bits(&[(0o2_000_000, "EPOLL_CLOEXEC")])),
    ("epoll_op", Set::values(&[(1, "EPOLL_CTL_ADD"), (2, "EPOLL_CTL_DEL"), (3, "EPOLL_CTL_MOD")])),
    ("eventfd", Set::bits(&[(1, "EFD_SEMAPHORE"), (0o4_000, "EFD_NONBLOCK"), (0o2_000_000, "EFD_CLOEXEC")])),
    (
        "futex",
        Set {
            mask: !0x180,
            values: &[
                (0, "FUTEX_WAIT"),
                (1, "FUTEX_WAKE"),
                (2, "FUTEX_FD"),
                (3, "FUTEX_REQUEUE"),
                (4, "FUTEX_CMP_REQUEUE"),
                (5, "FUTEX_WAKE_OP"),
                (6, "FUTEX_LOCK_PI"),
                (7, "FUTEX_UNLOCK_PI"),
                (8, "FUTEX_TRYLOCK_PI"),
                (9, "FUTEX_WAIT_BITSET"),
                (10, "FUTEX_WAKE_BITSET"),
                (11, "FUTEX_WAIT_REQUEUE_PI"),
                (12, "FUTEX_CMP_REQUEUE_PI"),
                (13, "FUTEX_LOCK_PI2"),
            ],
            bits: &[(0x80, "FUTEX_PRIVATE_FLAG"), (0x100, "FUTEX_CLOCK_REALTIME")],
        },
    ),
    ("getrandom", Set::bits(&[(1, "GRND_NONBLOCK"), (2, "GRND_RANDOM"), (4, "GRND_INSECURE")])),
    (
        "keyctl",
        Set::values(&[
            (0, "KEYCTL_GET_KEYRING_ID"),
            (1, "KEYCTL_JOIN_SESSION_KEYRING"),
            (2, "KEYCTL_UPDATE"),
            (3, "KEYCTL_REVOKE"),
            (5, "KEYCTL_SETPERM"),
            (6, "KEYCTL_DESCRIBE"),
            (8, "KEYCTL_LINK"),
            (9, "KEYCTL_UNLINK"),
            (10, "KEYCTL_SEARCH"),
            (11, "KEYCTL_READ"),
        ]),
    ),
    (
        "membarrier",
        Set::values(&[
            (0, "MEMBARRIER_CMD_QUERY"),
            (1, "MEMBARRIER_CMD_GLOBAL"),
            (2, "MEMBARRIER_CMD_GLOBAL_EXPEDITED"),
            (4, "MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED"),
            (8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"),
            (16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"),
            (32, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE"),
            (64, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"),
            (128, "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ"),
            (256, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ"),
        ]),
    ),
    (
        "perf_open",
        Set::bits(&[
            (1, "PERF_FLAG_FD_NO_GROUP"),
            (2, "PERF_FLAG_FD_OUTPUT"),
            (4, "PERF_FLAG_PID_CGROUP"),
            (8, "PERF_FLAG_FD_CLOEXEC"),
        ]),
    ),
    ("rseq", Set::bits(&[(1, "RSEQ_FLAG_UNREGISTER")])),
    (
        "seccomp",
        Set::values(&[
            (0, "SECCOMP_SET_MODE_STRICT"),
            (1, "SECCOMP_SET_MODE_FILTER"),
            (2, "SECCOMP_GET_ACTION_AVAIL"),
            (3, "SECCOMP_GET_NOTIF_SIZES"),
        ]),
    ),
    (
        "seccomp_flags",
        Set::bits(&[
            (1, "SECCOMP_FILTER_FLAG_TSYNC"),
            (2, "SECCOMP_FILTER_FLAG_LOG"),
            (4, "SECCOMP_FILTER_FLAG_SPEC_ALLOW"),
            (8, "SECCOMP_FILTER_FLAG_NEW_LISTENER"),
            (0x10, "SECCOMP_FILTER_FLAG_TSYNC_ESRCH"),
            (0x20, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"),
        ]),
    ),
    (
        "uring_enter",
        Set::bits(&[
            (1, "IORING_ENTER_GETEVENTS"),
            (2, "IORING_ENTER_SQ_WAKEUP"),
            (4, "IORING_ENTER_SQ_WAIT"),
            (8, "IORING_ENTER_EXT_ARG"),
            (0x10, "IORING_ENTER_REGISTERED_RING"),
        ]),
    ),
];

/// The set of this name with the values of an architecture.
pub(in crate::export::syscalls) fn set(name: &str, dialect: Dialect) -> Option<Set> {
    let of_dialect = || files::of_dialect(name, dialect).or_else(|| memory::of_dialect(name, dialect));
    of_dialect().or_else(|| {
        let tables = [files::SETS, memory::SETS, sockets::SETS, tasks::SETS, SETS];
        tables.iter().copied().flatten().find(|(named, _)| *named == name).map(|(_, set)| *set)
    })
}

/// The kind of fcntl's argument after the command `command`.
pub(in crate::export::syscalls) fn fcntl_argument(command: u64, dialect: Dialect) -> Option<ValueKind> {
    const F_DUPFD: u64 = 0;
    const F_SETFD: u64 = 2;
    const F_SETFL: u64 = 4;
    Some(match command & 0xffff_ffff {
        F_DUPFD | 1030 => ValueKind::Int,
        F_SETFD => ValueKind::Named(files::FD_FLAGS),
        F_SETFL => ValueKind::Named(set("open", dialect)?),
        1031 => ValueKind::Int,
        1033 => ValueKind::Named(files::SEALS),
        5..=7 | 12..=16 | 36..=38 => ValueKind::Pointer,
        _ => return None,
    })
}

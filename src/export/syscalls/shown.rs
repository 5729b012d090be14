//! Number of meaningful arguments of calls where it depends on their values.

/// Number of `args` of the call `name` to show, of the `len` that it has.
pub(super) fn shown(name: &str, args: &[u64], len: usize) -> usize {
    let arg = |nth: usize| args.get(nth).copied().unwrap_or_default() & 0xffff_ffff;
    let shown = match name {
        // Permissions count only with O_CREAT and O_TMPFILE, which are the same everywhere.
        "open" if !creates(arg(1)) => 2,
        "openat" if !creates(arg(2)) => 3,
        // F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS
        "fcntl" | "fcntl64" if matches!(arg(1), 1 | 3 | 9 | 11 | 1025 | 1032 | 1034) => 2,
        "futex" | "futex_time64" => match arg(1) & 0x7f {
            0 => 4,     // FUTEX_WAIT
            1 => 3,     // FUTEX_WAKE
            3 => 5,     // FUTEX_REQUEUE
            6 => 4,     // FUTEX_LOCK_PI
            7 | 8 => 2, // FUTEX_UNLOCK_PI, FUTEX_TRYLOCK_PI
            _ => len,
        },
        // The new address counts with MREMAP_FIXED and MREMAP_DONTUNMAP.
        "mremap" if arg(3) & 6 == 0 => 4,
        // FIOCLEX and FIONCLEX, TIOCNOTTY: no argument.
        "ioctl" if matches!(arg(1), 0x5450 | 0x5451 | 0x5422) => 2,
        // PR_SET_NAME and PR_GET_NAME take one argument, PR_GET_DUMPABLE and the like none.
        "prctl" => match arg(0) {
            1 | 2 | 4 | 8 | 15 | 16 | 23 | 24 | 36 | 37 => 2,
            3 | 7 => 1,
            _ => len,
        },
        _ => len,
    };
    shown.min(len)
}

/// O_CREAT, or the bit of O_TMPFILE that no other flag has.
fn creates(flags: u64) -> bool {
    flags & (0o100 | 0o20_000_000) != 0
}

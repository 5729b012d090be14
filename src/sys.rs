//! The system calls that no safe wrapper offers: the one file of this crate with unsafe code.
#![expect(
    unsafe_code,
    reason = "fork, signal, sched_setscheduler, setpriority, pidfd_open, waitpid, kill, PTRACE_LISTEN, PTRACE_CONT, perf_event_open, mmap and stores of constant size into a vector have no safe form; each block says why it is sound"
)]

use nix::libc;
use nix::sys::statfs::{SYSFS_MAGIC, fstatfs};
use nix::unistd::{SysconfVar, sysconf};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Appends the first `len` bytes of `piece` by storing all of it. The safe forms (`extend_from_slice`, `extend` by value)
/// are instantiated out of line for any length, as calls of `memcpy`, which cost more than the few bytes they move.
#[inline(always)]
pub(crate) fn append_piece<const N: usize>(out: &mut Vec<u8>, piece: &[u8; N], len: usize) {
    let old = out.len();
    if out.capacity() - old < N {
        out.reserve(N);
    }
    // SAFETY: there is room for N bytes behind the `old` that are there. All N are written before the length
    // says that at most N of them belong to the vector.
    unsafe {
        out.as_mut_ptr().add(old).cast::<[u8; N]>().write_unaligned(*piece);
        out.set_len(old + len.min(N));
    }
}

/// Room behind a vector's end that pieces of text are stored to. Where the next one goes is kept here rather than in the
/// vector, so that it can stay in a register from piece to piece; each call consumes the value and gives it back for
/// that reason. What was stored belongs to the vector after [`Tail::done`].
#[must_use = "what was written is lost without `done`"]
pub(crate) struct Tail<'a> {
    out: &'a mut Vec<u8>,
    /// Between the vector's end and the end of its capacity, behind what was stored.
    at: *mut u8,
    /// The address up to which `at` has room for any piece behind it: with the pieces' own sizes each would be subtracted
    /// from the end again.
    last: usize,
}

/// The size of the largest piece, in bytes.
const LARGEST: usize = 64;

impl<'a> Tail<'a> {
    #[inline(always)]
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        let room = out.spare_capacity_mut().as_mut_ptr_range();
        Tail { at: room.start.cast(), last: room.end.addr().saturating_sub(LARGEST), out }
    }

    /// Appends the first `len` bytes of `piece` by storing all of it.
    #[inline(always)]
    pub(crate) fn piece<const N: usize>(self, piece: &[u8; N], len: usize) -> Self {
        const { assert!(N <= LARGEST) };
        let Tail { out, mut at, mut last } = self;
        if at.addr() > last {
            (at, last) = room_for(out, at);
        }
        // SAFETY: there are at least LARGEST bytes of the vector's capacity behind `at`: that is what was checked, and
        // what `room_for` ensures. All N are written, so that the at most N by which `at` moves are initialised.
        unsafe {
            at.cast::<[u8; N]>().write_unaligned(*piece);
            Tail { out, at: at.add(len.min(N)), last }
        }
    }

    /// Has something appended to the vector itself.
    #[inline(always)]
    pub(crate) fn with(self, append: impl FnOnce(&mut Vec<u8>)) -> Self {
        let out = self.done();
        append(out);
        Tail::new(out)
    }

    /// The vector, with all that was appended.
    #[inline(always)]
    pub(crate) fn done(self) -> &'a mut Vec<u8> {
        let Tail { out, at, .. } = self;
        let len = at.addr() - out.as_ptr().addr();
        // SAFETY: `at` lies between the vector's old end and the end of its capacity, and every byte before it has been
        // written by `piece`.
        unsafe { out.set_len(len) };
        out
    }
}

/// Makes room for any piece behind the vector and what a [`Tail`] has stored before `at`; gives the new place, and up to
/// where there is room. It takes and gives single words: a `Tail` that is passed on as a whole has to be in memory, all
/// along.
#[cold]
#[inline(never)]
fn room_for(out: &mut Vec<u8>, at: *mut u8) -> (*mut u8, usize) {
    let Tail { at, last, .. } = {
        let out = Tail { out, at, last: 0 }.done();
        out.reserve(LARGEST);
        Tail::new(out)
    };
    (at, last)
}

/// What a gated child will become: everything it needs, allocated before the fork.
#[derive(Debug)]
pub(crate) struct ExecImage {
    path: CString,
    argv: Vec<CString>,
    shell: CString,
    shell_argv: Vec<CString>,
    /// Another user and its environment.
    user: Option<(Identity, Vec<CString>)>,
}

/// The numbers of a user, as the kernel knows it.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Vec<u32>,
}

impl ExecImage {
    /// The program at `path` with the arguments `argv` (the program's own name first). A file that the kernel cannot
    /// run for lack of a header is handed to `/bin/sh`, as execvp(3) does.
    pub(crate) fn new(path: CString, argv: Vec<CString>) -> Self {
        let shell = c"/bin/sh".to_owned();
        let mut shell_argv = vec![shell.clone(), path.clone()];
        shell_argv.extend(argv.iter().skip(1).cloned());
        ExecImage { path, argv, shell, shell_argv, user: None }
    }

    /// The same, run by another user with this environment. Privileges are given up before the exec, all of them.
    pub(crate) fn run_as(mut self, identity: Identity, environment: Vec<CString>) -> Self {
        self.user = Some((identity, environment));
        self
    }
}

/// Forks a child that waits for one byte on `gate` and then becomes `image`; end of file on `gate` makes it leave. It closes
/// `closed` at once: the write end of `gate`, and what is not to outlive this process, such as locks.
/// When it cannot become `image`, the child writes `errno` as four native bytes to `status`, which closes on exec.
/// It starts with no signal blocked and SIGPIPE at its default.
///
/// # Errors
/// When the kernel refuses the fork.
pub(crate) fn fork_gated(
    image: &ExecImage,
    gate: BorrowedFd<'_>,
    status: BorrowedFd<'_>,
    closed: &[BorrowedFd<'_>],
) -> io::Result<i32> {
    let argv = pointers(&image.argv);
    let shell_argv = pointers(&image.shell_argv);
    let environment = image.user.as_ref().map(|(_, environment)| pointers(environment));
    let user = image.user.as_ref().map(|(identity, _)| identity).zip(environment.as_deref());
    let (gate, status) = (gate.as_raw_fd(), status.as_raw_fd());
    let closed: Vec<RawFd> = closed.iter().map(AsRawFd::as_raw_fd).collect();
    // SAFETY: between fork and exec the child calls only async-signal-safe functions (sigprocmask, signal, close, read,
    // write, execv, execve, _exit) and raw system calls, on memory that was allocated before the fork. So it does not
    // matter which locks other threads held.
    let pid = unsafe { libc::fork() };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => run_child((&image.path, &argv), (&image.shell, &shell_argv), user, [gate, status], &closed),
        pid => Ok(pid),
    }
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect()
}

/// The child's life from the fork to the exec.
fn run_child(
    (path, argv): (&CStr, &[*const libc::c_char]),
    (shell, shell_argv): (&CStr, &[*const libc::c_char]),
    user: Option<(&Identity, &[*const libc::c_char])>,
    [gate, status]: [RawFd; 2],
    closed: &[RawFd],
) -> ! {
    // SAFETY: all pointers are valid: the strings and the NULL-terminated arrays outlive the calls, `none` and `byte`
    // are locals. Nothing here allocates.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        for fd in closed {
            libc::close(*fd);
        }
        let mut byte = 0u8;
        loop {
            match libc::read(gate, (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(125),
            }
        }
        let dropped = user.is_none_or(|(user, _)| become_user(user));
        let exec = |path: &CStr, argv: &[*const libc::c_char]| match user {
            Some((_, environment)) => libc::execve(path.as_ptr(), argv.as_ptr(), environment.as_ptr()),
            None => libc::execv(path.as_ptr(), argv.as_ptr()),
        };
        if dropped {
            exec(path, argv);
            if *libc::__errno_location() == libc::ENOEXEC {
                exec(shell, shell_argv);
            }
        }
        let errno: i32 = *libc::__errno_location();
        libc::write(status, (&raw const errno).cast(), size_of::<i32>());
        libc::_exit(if errno == libc::ENOENT { 127 } else { 126 });
    }
}

/// The system calls that change the groups and the user, by number. Old 32-bit machines have two generations of them,
/// of which the first knows 16-bit numbers only.
#[cfg(not(any(target_arch = "x86", target_arch = "arm", target_arch = "sparc", target_arch = "m68k")))]
use libc::{SYS_setgid, SYS_setgroups, SYS_setuid};
#[cfg(any(target_arch = "x86", target_arch = "arm", target_arch = "sparc", target_arch = "m68k"))]
use libc::{SYS_setgid32 as SYS_setgid, SYS_setgroups32 as SYS_setgroups, SYS_setuid32 as SYS_setuid};

/// Gives the calling process, which has one thread, the groups and the user of `user`; `errno` says why not.
///
/// These are raw system calls: the functions of the C library carry the change to all threads and take locks for that,
/// which a child of fork(2) must not wait for.
fn become_user(user: &Identity) -> bool {
    // SAFETY: `groups` is valid for the stated number of entries; the other calls take numbers only.
    unsafe {
        libc::syscall(SYS_setgroups, user.groups.len(), user.groups.as_ptr()) == 0
            && libc::syscall(SYS_setgid, user.gid) == 0
            && libc::syscall(SYS_setuid, user.uid) == 0
    }
}

/// Makes the end of a child something to wait for, also where our parent ignored `SIGCHLD`: the disposition is inherited,
/// and with it the kernel reaps children itself, so that neither a signal nor a status would come.
///
/// # Process state
/// Sets the disposition of `SIGCHLD` to its default for the whole process. Call it before anything installs a handler.
pub fn notice_children() {
    // SAFETY: SIG_DFL is a valid disposition of a valid signal; the call touches no memory of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Gives the calling thread the real-time priority `priority` (SCHED_FIFO, 1 to 99); children do not inherit it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, `EINVAL` for another number.
pub(crate) fn real_time(priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: the call reads `param` and changes nothing but this thread's scheduling.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &param) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The wait status of the child `pid`, as wait(2) encodes it: `None` while there is none and `flags` has `WNOHANG`. nix's
/// waitpid(2) has no value for a child that a real-time signal ended, and loses it.
///
/// # Errors
/// `ECHILD` if there is no such child, `EINTR`.
pub(crate) fn wait_for(pid: i32, flags: i32) -> io::Result<Option<i32>> {
    let mut status = 0;
    // SAFETY: the call writes one int to `status`, which outlives it.
    match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        _ => Ok(Some(status)),
    }
}

/// Sends the signal `number`, which may be a real-time one, to the process `pid`.
///
/// # Errors
/// `ESRCH` if there is no such process, `EPERM` if it is not ours to signal.
pub(crate) fn send_signal(pid: i32, number: i32) -> io::Result<()> {
    // SAFETY: the call takes two numbers and changes nothing in this process, unless it is the one signalled.
    let done = unsafe { libc::kill(pid, number) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets the task `pid`, which this thread traces (`PTRACE_SEIZE`) and a signal has stopped, stay stopped until SIGCONT.
///
/// # Errors
/// `ESRCH` if it is not stopped so.
pub(crate) fn ptrace_listen(pid: i32) -> io::Result<()> {
    // SAFETY: the request takes two null pointers and changes nothing in this process.
    let done = unsafe { libc::ptrace(libc::PTRACE_LISTEN, pid, ptr::null_mut::<u8>(), ptr::null_mut::<u8>()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets the stopped task `pid`, which this thread traces, run on with the signal `number`; 0 for none.
///
/// # Errors
/// `ESRCH` if it is not stopped.
pub(crate) fn ptrace_cont(pid: i32, number: i32) -> io::Result<()> {
    // SAFETY: the request takes a null pointer and a number, and changes nothing in this process.
    let done = unsafe { libc::ptrace(libc::PTRACE_CONT, pid, ptr::null_mut::<u8>(), libc::c_long::from(number)) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives the calling thread the nice value `nice` (-20, the most favoured, to 19); new threads and children inherit it.
///
/// # Errors
/// `EACCES` without `CAP_SYS_NICE`, where it would be favoured more than now.
pub(crate) fn nice_thread(nice: i32) -> io::Result<()> {
    // SAFETY: both calls take numbers and change nothing but this thread's scheduling; for Linux a "process" is a thread.
    let done = unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::syscall(libc::SYS_gettid) as libc::id_t, nice) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A descriptor that becomes readable when the process `pid` has ended (since Linux 5.3).
///
/// # Errors
/// `ESRCH` when there is no such process; `EINVAL` when `pid` is a thread that does not lead its process.
pub(crate) fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers and returns a new descriptor that nobody else owns.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// The kernel's side-band about tasks on one CPU: forks, exits and names, through perf_event_open(2).
///
/// It needs `CAP_PERFMON` or root, and Linux 4.1 for its clock.
#[derive(Debug)]
pub(crate) struct TaskEvents {
    fd: OwnedFd,
    map: *mut u8,
    map_len: usize,
    data_len: usize,
}

// SAFETY: the mapping is made by `open`, unmapped by `drop`, and no pointer to it leaves the value; nothing about it
// depends on the thread. It is not Sync: `tsc_conversion` reads words that only the kernel writes, but `drain` moves the
// tail without a lock.
unsafe impl Send for TaskEvents {}

/// Where `struct perf_event_mmap_page` keeps the kernel's and our position, in bytes.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

impl TaskEvents {
    /// Starts listening on `cpu` with a buffer of `data_len` bytes: a power of two, at least a page. Each record ends
    /// with its `CLOCK_MONOTONIC` time. Readable for poll(2) when a quarter of the buffer is used.
    ///
    /// # Errors
    /// What the kernel says to perf_event_open or mmap; [`io::ErrorKind::InvalidInput`] for another `data_len`.
    pub(crate) fn open(cpu: u32, data_len: usize) -> io::Result<Self> {
        let page = page_size();
        let quarter = u32::try_from(data_len / 4).ok().filter(|_| data_len.is_power_of_two() && data_len >= page);
        let quarter = quarter.ok_or(io::ErrorKind::InvalidInput)?;
        const SOFTWARE: u32 = 1;
        const DUMMY: u64 = 9;
        const SAMPLE_TIME: u64 = 1 << 2;
        const SIZE: u32 = 104; // PERF_ATTR_SIZE_VER4, the first with a clock id
        // comm, task, watermark, sample_id_all, use_clockid: bit fields, which C counts from the top on big-endian.
        let bits: u64 = 1 << 9 | 1 << 13 | 1 << 14 | 1 << 18 | 1 << 25;
        let bits = if cfg!(target_endian = "big") { bits.reverse_bits() } else { bits };
        let mut attr = [0u8; SIZE as usize];
        attr[0..4].copy_from_slice(&SOFTWARE.to_ne_bytes());
        attr[4..8].copy_from_slice(&SIZE.to_ne_bytes());
        attr[8..16].copy_from_slice(&DUMMY.to_ne_bytes());
        attr[24..32].copy_from_slice(&SAMPLE_TIME.to_ne_bytes());
        attr[40..48].copy_from_slice(&bits.to_ne_bytes());
        attr[48..52].copy_from_slice(&quarter.to_ne_bytes());
        attr[92..96].copy_from_slice(&libc::CLOCK_MONOTONIC.to_ne_bytes());
        const FD_CLOEXEC: libc::c_ulong = 8;
        // SAFETY: `attr` is a whole attribute of the size it states; the result is a descriptor nobody else owns.
        let fd = unsafe {
            let fd = libc::syscall(libc::SYS_perf_event_open, attr.as_ptr(), -1, cpu, -1, FD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(fd as RawFd)
        };
        let map_len = page + data_len; // less than 2^35
        // SAFETY: a fresh shared mapping at an address of the kernel's choice; checked before use, unmapped by Drop.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                map_len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(TaskEvents { fd, map: map.cast(), map_len, data_len })
    }

    /// How this CPU's time stamp counter becomes nanoseconds, as `(counter * multiplier) >> shift`; `None` where the kernel
    /// does not keep time by it.
    pub(crate) fn tsc_conversion(&self) -> Option<(u32, u16)> {
        const LOCK: usize = 8;
        const CAPABILITIES: usize = 40;
        const TIME_SHIFT: usize = 50;
        const TIME_MULT: usize = 52;
        const USER_TIME: u64 = 1 << 3;
        let user_time = if cfg!(target_endian = "big") { USER_TIME.reverse_bits() } else { USER_TIME };
        // SAFETY: all four lie in the mapped first page, aligned to their size, and are only read. The kernel writes them
        // at any time, hence volatile; its lock word says when the others belong together.
        unsafe {
            let lock = || self.map.add(LOCK).cast::<u32>().read_volatile();
            loop {
                let before = lock();
                std::sync::atomic::fence(Ordering::Acquire);
                let capabilities = self.map.add(CAPABILITIES).cast::<u64>().read_volatile();
                let shift = self.map.add(TIME_SHIFT).cast::<u16>().read_volatile();
                let multiplier = self.map.add(TIME_MULT).cast::<u32>().read_volatile();
                std::sync::atomic::fence(Ordering::Acquire);
                if before == lock() {
                    return (capabilities & user_time != 0 && multiplier != 0).then_some((multiplier, shift));
                }
            }
        }
    }

    /// Appends what the kernel wrote since the last call: whole records, one after the other.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) {
        // SAFETY: both words lie in the mapped first page, 8-aligned, and are meant for atomic access from both sides.
        let (head, tail) =
            unsafe { (&*self.map.add(DATA_HEAD).cast::<AtomicU64>(), &*self.map.add(DATA_TAIL).cast::<AtomicU64>()) };
        let (end, start) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        let len = (end.wrapping_sub(start) as usize).min(self.data_len);
        let at = start as usize % self.data_len;
        let first = len.min(self.data_len - at);
        // SAFETY: the data area is `data_len` bytes from the mapping's second page on; the kernel does not write what
        // lies between tail and head until the tail moves, below.
        unsafe {
            let data = self.map.add(self.map_len - self.data_len);
            out.extend_from_slice(std::slice::from_raw_parts(data.add(at), first));
            out.extend_from_slice(std::slice::from_raw_parts(data, len - first));
        }
        tail.store(end, Ordering::Release);
    }
}

impl AsFd for TaskEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for TaskEvents {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `open` with this length and is not used after.
        unsafe { libc::munmap(self.map.cast(), self.map_len) };
    }
}

/// The types of the running kernel, mapped: its own memory, which nothing changes while it runs.
#[derive(Debug)]
pub(crate) struct KernelTypes {
    map: *mut u8,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone and is only read.
unsafe impl Send for KernelTypes {}
// SAFETY: as above.
unsafe impl Sync for KernelTypes {}

impl KernelTypes {
    /// Maps `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// What the kernel says: `ENODEV` before Linux 6.16; and if what lies there is not of sysfs.
    pub(crate) fn map() -> io::Result<Self> {
        let file = File::open("/sys/kernel/btf/vmlinux")?;
        if fstatfs(&file)?.filesystem_type() != SYSFS_MAGIC {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let len = file.metadata()?.len() as usize;
        // SAFETY: a fresh private mapping at an address of the kernel's choice; checked before use, unmapped by Drop. The
        // file is sysfs's, so it can be neither written nor cut.
        let map = unsafe { libc::mmap(ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(KernelTypes { map: map.cast(), len })
    }
}

impl Deref for KernelTypes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `map` made the mapping of this length, it lasts as long as this value, and nothing writes to it.
        unsafe { std::slice::from_raw_parts(self.map, self.len) }
    }
}

impl Drop for KernelTypes {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length and is not used after.
        unsafe { libc::munmap(self.map.cast(), self.len) };
    }
}

/// The machine's page size in bytes.
pub(crate) fn page_size() -> usize {
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_perf_buffer_is_a_power_of_two_of_a_page_or_more() {
        for len in [0, 1, page_size() / 2, page_size() + 1, 3 * page_size(), usize::MAX, 1 << 40] {
            let error = TaskEvents::open(0, len).expect_err("a length that no ring has");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{len}");
        }
    }
}

//! Processes and threads: scheduling, ends, signals, stops.

use nix::libc;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::thread::JoinHandleExt;
use std::ptr;
use std::thread::JoinHandle;

/// Makes the end of a child something to wait for, also where our parent ignored `SIGCHLD`: the disposition is inherited,
/// and with it the kernel reaps children itself, so that neither a signal nor a status would come.
///
/// # Process state
/// Sets the disposition of `SIGCHLD` to its default for the whole process. Call it before anything installs a handler.
pub fn notice_children() {
    // SAFETY: SIG_DFL is a valid disposition of a valid signal; the call touches no memory of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Goes on in a child that leads a session of its own, and gives its pid in the parent, which is to end. Threads do not come
/// along: to be called before the first.
///
/// # Errors
/// `EAGAIN`, `ENOMEM`; [`io::ErrorKind::Unsupported`] if there are other threads.
pub fn background() -> io::Result<Option<u32>> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: no other thread is there that could hold a lock which the child would wait for, so the child may do anything.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // It leads no group yet, so this does not fail.
            nix::unistd::setsid()?;
            Ok(None)
        }
        child => Ok(Some(child.cast_unsigned())),
    }
}

/// Gives the calling thread the real-time priority `priority` (SCHED_FIFO, 1 to 99); children do not inherit it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_NICE`, `EINVAL` for another number.
pub(crate) fn real_time(priority: i32) -> io::Result<()> {
    set_scheduling(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, priority)
}

/// Takes a real-time priority of the calling thread back.
///
/// # Errors
/// The system call's error.
pub(crate) fn no_real_time() -> io::Result<()> {
    set_scheduling(libc::SCHED_OTHER, 0)
}

fn set_scheduling(policy: i32, priority: i32) -> io::Result<()> {
    // The system call itself: musl's function of that name does nothing.
    // SAFETY: the call reads one int, the kernel's `struct sched_param`, and changes nothing but this thread's scheduling.
    let done = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
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

/// The scheduling that a thread had before [`make_idle`].
#[derive(Clone, Copy)]
pub(crate) struct Scheduling {
    policy: libc::c_int,
    param: libc::sched_param,
}

/// Lets `thread` run only while its CPU has nothing else to do (SCHED_IDLE, since Linux 2.6.23). Gives its former scheduling.
///
/// # Errors
/// `ESRCH` if it has ended.
pub(crate) fn make_idle<T>(thread: &JoinHandle<T>) -> io::Result<Scheduling> {
    let mut before = Scheduling { policy: 0, param: no_priority() };
    // SAFETY: the thread is neither joined nor detached while its handle lives; the call writes to `before` alone.
    let done = unsafe {
        let thread = thread.as_pthread_t() as libc::pthread_t;
        libc::pthread_getschedparam(thread, &raw mut before.policy, &raw mut before.param)
    };
    if done != 0 {
        return Err(io::Error::from_raw_os_error(done));
    }
    let idle = Scheduling { policy: libc::SCHED_IDLE, param: no_priority() };
    schedule(thread, idle).map(|()| before)
}

/// Schedules `thread` so.
///
/// # Errors
/// `ESRCH` if it has ended, `EPERM` where it would be favoured more than it may be.
pub(crate) fn schedule<T>(thread: &JoinHandle<T>, scheduling: Scheduling) -> io::Result<()> {
    // SAFETY: the thread is neither joined nor detached while its handle lives; the call reads `param`.
    let done = unsafe {
        let thread = thread.as_pthread_t() as libc::pthread_t;
        libc::pthread_setschedparam(thread, scheduling.policy, &scheduling.param)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(done)) }
}

/// Parameters of a policy without priorities.
fn no_priority() -> libc::sched_param {
    // SAFETY: one integer, in musl's version several: all zeros are a value.
    unsafe { std::mem::zeroed() }
}

/// A descriptor that becomes readable when the process `pid` has ended (since Linux 5.3).
///
/// # Errors
/// `ESRCH` when there is no such process; `EINVAL` when `pid` is a thread that does not lead its process.
pub(crate) fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers and returns a new descriptor without another owner.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

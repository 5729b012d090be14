//! A child that waits at a gate and then becomes another program.

use nix::libc;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

/// The image of a gated child: everything it needs, allocated before the fork.
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
/// A child that cannot become `image` writes `errno` as four native bytes to `status`, which closes on exec. It starts
/// with no signal blocked and SIGPIPE at its default.
///
/// # Errors
/// If the kernel refuses the fork.
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

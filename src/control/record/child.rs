//! The traced command: found before anything is set up, forked early, held at a gate until tracing is armed.

use super::proc_maps::ProcMaps;
use super::user::User;
use crate::base::sys::{self, ExecImage, Identity};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::unistd::{AccessFlags, Pid as NixPid, access, pipe2};
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::base::units::Pid;

/// A command that cannot be run; the two kinds are env(1)'s 127 and 126.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No such program, in `PATH` or at the path given.
    #[error("failed to run `{}`: command not found", .0.display())]
    NotFound(PathBuf),
    /// It is there, but it cannot be executed.
    #[error("failed to run `{}`: {}", .0.display(), .1.desc())]
    NotRunnable(PathBuf, Errno),
    /// An argument with a NUL byte in it.
    #[error("an argument of the command contains a NUL byte")]
    Nul,
    /// The machine refused a pipe or a process.
    #[error("failed to start the command: {0}")]
    Start(#[source] io::Error),
}

/// A program and its arguments, known to exist and to be executable.
#[derive(Debug)]
pub struct RecordedCommand {
    program: PathBuf,
    image: ExecImage,
}

impl RecordedCommand {
    /// Looks `words[0]` up as a shell would: as a path if it has a slash, else in the directories of `path`.
    ///
    /// # Errors
    /// [`CommandError::NotFound`] and [`CommandError::NotRunnable`].
    pub fn find(words: &[OsString], path: Option<&OsStr>) -> Result<Self, CommandError> {
        let name = words.first().map_or(OsStr::new(""), OsString::as_os_str);
        let program = find_program(name, path)?;
        let c_string = |s: &OsStr| CString::new(s.as_bytes()).map_err(|_| CommandError::Nul);
        let argv = words.iter().map(|word| c_string(word)).collect::<Result<_, _>>()?;
        let image = ExecImage::new(c_string(program.as_os_str())?, argv);
        Ok(RecordedCommand { program, image })
    }

    /// Makes it run as another user, with `environment` but for that user's own variables.
    pub fn run_as(mut self, user: &User, environment: &[(OsString, OsString)]) -> Self {
        let (uid, gid, groups) = user.ids();
        self.image = self.image.run_as(Identity { uid, gid, groups }, user.environment(environment));
        self
    }

    /// Forks the process that will become the command. It does nothing until [`Child::open_gate`].
    ///
    /// # Errors
    /// [`CommandError::Start`].
    pub fn fork(self) -> Result<Child, CommandError> {
        self.fork_without(&[])
    }

    /// The same; the process does not share `held`. A lock that it shared would outlive this process until it has noticed
    /// its end.
    ///
    /// # Errors
    /// [`CommandError::Start`].
    pub fn fork_without(self, held: &[BorrowedFd<'_>]) -> Result<Child, CommandError> {
        let pipe = || pipe2(OFlag::O_CLOEXEC).map_err(|e| CommandError::Start(e.into()));
        let ((gate_read, gate), (status, status_write)) = (pipe()?, pipe()?);
        let closed: Vec<_> = held.iter().copied().chain([gate.as_fd()]).collect(); // or the gate never sees its end
        let pid = sys::fork_gated(&self.image, gate_read.as_fd(), status_write.as_fd(), &closed)
            .map_err(CommandError::Start)?;
        // Only before Linux 5.3 there is none; a signal says it then.
        let end = sys::pidfd_open(pid).ok();
        Ok(Child {
            program: self.program,
            pid: Pid(pid),
            end,
            gate: Some(gate),
            status: File::from(status),
            ended: None,
            traced: false,
            maps: None,
        })
    }
}

fn find_program(name: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, CommandError> {
    if name.as_bytes().contains(&b'/') {
        let program = PathBuf::from(name);
        return match executable(&program) {
            Ok(()) => Ok(program),
            Err(Errno::ENOENT) => Err(CommandError::NotFound(program)),
            Err(errno) => Err(CommandError::NotRunnable(program, errno)),
        };
    }
    let mut refused = None;
    for dir in env::split_paths(path.unwrap_or(OsStr::new("/bin:/usr/bin"))).filter(|_| !name.is_empty()) {
        let program = dir.join(name);
        match executable(&program) {
            Ok(()) => return Ok(program),
            Err(Errno::EACCES) if refused.is_none() => refused = Some(program),
            Err(_) => {}
        }
    }
    Err(match refused {
        Some(program) => CommandError::NotRunnable(program, Errno::EACCES),
        None => CommandError::NotFound(PathBuf::from(OsString::from_vec(name.as_bytes().to_vec()))),
    })
}

fn executable(path: &Path) -> Result<(), Errno> {
    let kind = nix::sys::stat::stat(path)?.st_mode & nix::libc::S_IFMT;
    if kind != nix::libc::S_IFREG {
        return Err(Errno::EACCES);
    }
    access(path, AccessFlags::X_OK)
}

/// The command's process, before and after its gate was opened.
#[derive(Debug)]
pub struct Child {
    program: PathBuf,
    pid: Pid,
    end: Option<OwnedFd>,
    gate: Option<OwnedFd>,
    status: File,
    ended: Option<Ended>,
    /// Its memory map is kept, for which it is traced, to be looked at once more before it is gone.
    traced: bool,
    maps: Option<ProcMaps>,
}

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It returned this status.
    Status(u8),
    /// A signal of this number ended it.
    Signal(u8),
}

impl Ended {
    /// The status a shell would give: 128 plus the number for a signal.
    pub fn code(self) -> u8 {
        match self {
            Ended::Status(status) => status,
            Ended::Signal(number) => number.saturating_add(128),
        }
    }
}

impl Child {
    /// The process's id: the same before and after it became the command.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Readable when it has ended. SIGCHLD may go to another thread of this process, this is ours.
    pub(super) fn end(&self) -> Option<BorrowedFd<'_>> {
        self.end.as_ref().map(AsFd::as_fd)
    }

    /// Will know the command's memory map when it ends. Only the thread that calls this may ask how it ended.
    ///
    /// # Errors
    /// [`CommandError::Start`] if it may not be traced.
    pub(super) fn keep_maps(&mut self) -> Result<(), CommandError> {
        ptrace::seize(NixPid::from_raw(self.pid.0), ptrace::Options::PTRACE_O_TRACEEXIT)
            .map_err(|e| CommandError::Start(e.into()))?;
        self.traced = true;
        Ok(())
    }

    /// Its memory map: the one it has, or the one it had when it ended.
    pub(super) fn maps(&mut self) -> Option<&ProcMaps> {
        if self.ended.is_none() {
            self.look_at_maps();
        }
        self.maps.as_ref()
    }

    fn look_at_maps(&mut self) {
        if self.traced
            && let Some(now) = ProcMaps::read(self.pid)
        {
            self.maps = Some(now);
        }
    }

    /// Lets the process become the command, and returns once it did.
    ///
    /// # Errors
    /// [`CommandError::NotFound`] or [`CommandError::NotRunnable`] when the kernel refused after all.
    pub fn open_gate(&mut self) -> Result<(), CommandError> {
        let Some(gate) = self.gate.take() else { return Ok(()) };
        File::from(gate).write_all(&[1]).map_err(CommandError::Start)?;
        while self.traced && !readable_soon(&self.status) {
            self.try_wait(); // a signal may have stopped it before the exec
        }
        let mut errno = [0; 4];
        // End of file: the exec closed the other end.
        match self.status.read_exact(&mut errno) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                self.look_at_maps();
                Ok(())
            }
            Err(e) => Err(CommandError::Start(e)),
            Ok(()) => Err(match Errno::from_raw(i32::from_ne_bytes(errno)) {
                Errno::ENOENT => CommandError::NotFound(self.program.clone()),
                errno => CommandError::NotRunnable(self.program.clone(), errno),
            }),
        }
    }

    /// The end of the command, if it has ended.
    pub fn try_wait(&mut self) -> Option<Ended> {
        self.wait_with(libc::WNOHANG)
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) -> Option<Ended> {
        self.wait_with(0)
    }

    fn wait_with(&mut self, flags: i32) -> Option<Ended> {
        while self.ended.is_none() {
            match sys::wait_for(self.pid.0, flags) {
                Ok(Some(status)) => self.changed(status),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) | Err(_) => break,
            }
        }
        self.ended
    }

    /// Takes a wait status: it ended, or it is traced and stops for that.
    fn changed(&mut self, status: i32) {
        if libc::WIFEXITED(status) {
            self.ended = Some(Ended::Status(libc::WEXITSTATUS(status) as u8));
        } else if libc::WIFSIGNALED(status) {
            self.ended = Some(Ended::Signal(libc::WTERMSIG(status) as u8));
        } else if libc::WIFSTOPPED(status) && self.traced {
            match (libc::WSTOPSIG(status), status >> 16) {
                (signal, 0) => self.go_on(signal),
                (_, libc::PTRACE_EVENT_EXIT) => {
                    self.look_at_maps();
                    self.go_on(0);
                }
                (libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU, _) => {
                    let _ = sys::ptrace_listen(self.pid.0); // it was stopped, and stays so
                }
                _ => self.go_on(0),
            }
        }
    }

    /// Lets it run on after a stop, with the signal of this number; 0 for none.
    fn go_on(&self, signal: i32) {
        let _ = sys::ptrace_cont(self.pid.0, signal); // ESRCH: it was killed meanwhile
    }

    /// Sends it a signal, if it still runs.
    pub fn signal(&mut self, signal: Signal) {
        self.send(signal as i32);
    }

    /// Sends it the signal of this number, real-time signals included, if it still runs.
    pub fn send(&mut self, number: i32) {
        if self.try_wait().is_none() {
            // It is our unreaped child, so the id is still its own; a refusal would change nothing.
            let _ = sys::send_signal(self.pid.0, number);
        }
    }
}

/// True if something can be read from `file` within a twentieth of a second.
fn readable_soon(file: &File) -> bool {
    let mut fds = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    matches!(poll(&mut fds, 50u8), Ok(1..))
}

impl Drop for Child {
    /// A process still held at its gate leaves; one that became the command goes on.
    fn drop(&mut self) {
        if self.gate.take().is_some() {
            self.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    fn start(command: &[&str]) -> Child {
        let path = env::var_os("PATH");
        RecordedCommand::find(&words(command), path.as_deref()).unwrap().fork().unwrap()
    }

    /// Writes a file that is to be executed. If it were open here, a process that another test forks now would have it open
    /// until its gate opens, and nothing could execute it (`ETXTBSY`).
    fn write_by_another(path: &Path, text: &str) {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "printf %s \"$1\" > \"$2\"", "sh", text]).arg(path);
        assert!(shell.status().unwrap().success());
    }

    #[test]
    fn nothing_runs_before_the_gate_opens() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let mut child = start(&["touch", mark.to_str().unwrap()]);
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!mark.exists());
        assert_eq!(child.try_wait(), None);
        child.open_gate().unwrap();
        assert_eq!(child.wait(), Some(Ended::Status(0)));
        assert!(mark.exists());
    }

    #[test]
    fn status_and_signal() {
        let mut child = start(&["sh", "-c", "exit 7"]);
        child.open_gate().unwrap();
        assert_eq!(child.wait().map(Ended::code), Some(7));
        let mut child = start(&["sh", "-c", "kill -TERM $$"]);
        child.open_gate().unwrap();
        assert_eq!(child.wait().map(Ended::code), Some(143));
    }

    #[test]
    fn a_command_that_a_real_time_signal_ended_has_ended() {
        let number = libc::SIGRTMIN() + 1;
        let mut child = start(&["sh", "-c", &format!("kill -{number} $$")]);
        child.open_gate().unwrap();
        assert_eq!(child.wait(), Some(Ended::Signal(number as u8)));
    }

    #[test]
    fn a_process_at_its_gate_does_not_hold_a_lock() {
        let dir = tempfile::tempdir().unwrap();
        // Each is open once only, as the lock.
        let lock = |name: &str| crate::file::trace_dat::FileLock::take(&File::create(dir.path().join(name)).unwrap());
        let (held, _shared) = (lock("held").unwrap(), lock("shared").unwrap());
        let path = env::var_os("PATH");
        let command = RecordedCommand::find(&words(&["true"]), path.as_deref()).unwrap();
        let mut child = command.fork_without(&held.held()).unwrap();
        let open = fs::read_dir(format!("/proc/{}/fd", child.pid())).unwrap().flatten().map(|fd| fd.path());
        let open: Vec<PathBuf> = open.collect();
        let shares = |name: &str| open.iter().any(|fd| fs::read_link(fd).is_ok_and(|to| to == dir.path().join(name)));
        let since = std::time::Instant::now();
        while shares("held") {
            assert!(since.elapsed().as_secs() < 60, "the process at its gate has the lock");
        }
        assert!(shares("shared"), "what is not named is shared");
        child.open_gate().unwrap();
        assert_eq!(child.wait(), Some(Ended::Status(0)));
    }

    #[test]
    fn a_dropped_gate_ends_the_process() {
        let child = start(&["true"]);
        let pid = child.pid();
        drop(child);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn not_found_and_not_runnable() {
        let dir = tempfile::tempdir().unwrap();
        let plain = dir.path().join("plain");
        write_by_another(&plain, "#!/no/such/interpreter\n");
        let path = Some(dir.path().as_os_str());
        assert!(matches!(RecordedCommand::find(&words(&["nothing"]), path), Err(CommandError::NotFound(_))));
        assert!(matches!(RecordedCommand::find(&words(&["plain"]), path), Err(CommandError::NotRunnable(..))));
        assert!(matches!(RecordedCommand::find(&words(&["/"]), path), Err(CommandError::NotRunnable(..))));
        assert!(matches!(RecordedCommand::find(&words(&["/no/such"]), path), Err(CommandError::NotFound(_))));
        assert!(matches!(RecordedCommand::find(&words(&[""]), path), Err(CommandError::NotFound(_))));
        fs::set_permissions(&plain, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut child = RecordedCommand::find(&words(&["plain"]), path).unwrap().fork().unwrap();
        assert!(matches!(child.open_gate(), Err(CommandError::NotFound(_))));
    }

    #[test]
    fn a_script_without_a_header_goes_to_the_shell() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        write_by_another(&script, "exit $1\n");
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let mut child = start(&[script.to_str().unwrap(), "9"]);
        child.open_gate().unwrap();
        assert_eq!(child.wait().map(Ended::code), Some(9));
    }

    #[test]
    fn the_map_at_its_end_is_known() {
        let mut child = start(&["sh", "-c", "kill -USR1 $$; exit 3"]);
        child.keep_maps().unwrap();
        child.open_gate().unwrap();
        // USR1 ends it: a signal reaches the command although it is traced.
        assert_eq!(child.wait(), Some(Ended::Signal(10)));
        let maps = String::from_utf8(child.maps().unwrap().option()).unwrap();
        assert!(maps.contains("libc"), "the loader has done its work by then: {maps}");
    }

    #[test]
    fn a_traced_command_can_be_stopped_and_continued() {
        let mut child = start(&["sh", "-c", "kill -STOP $$; exit 4"]);
        child.keep_maps().unwrap();
        child.open_gate().unwrap();
        let state = |pid: Pid| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        // Any other reason to stop it is over at the next look.
        let (mut stopped, since) = (0, std::time::Instant::now());
        while stopped < 200 {
            assert_eq!(child.try_wait(), None);
            stopped = if state(child.pid()).contains(") t ") { stopped + 1 } else { 0 };
            assert!(since.elapsed().as_secs() < 600, "{}", state(child.pid()));
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.signal(Signal::SIGCONT);
        assert_eq!(child.wait(), Some(Ended::Status(4)));
    }
}

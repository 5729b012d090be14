//! FIFOs between a host and its guest: a virtio-serial port per CPU, by which data gets to the host without any network.
//! A guest's FIFOs on its host.
//!
//! On the host a pair of FIFOs per CPU, `DIR/GUEST/trace-pipe-cpuN.in` and `.out`, which the emulator keeps open; in the guest
//! the port `/dev/virtio-ports/trace-pipe-cpuN`, which it connects with them. Names are trace-cmd's.
//!
//! As the emulator keeps them open, a FIFO has no end, and holds what a session that was killed has left. Between two of ours
//! the data begins with a [mark](super::wire::FifoMark), and the agent says at the end how much it has sent. An agent of
//! trace-cmd's does neither: there all that is in the FIFOs when it answers is dropped, and the end is
//! that nothing comes any more once it has answered CLOSE.

use crate::control::network::patient::TICK;
use crate::control::network::wire::FifoMark;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, mkfifo};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Folder of all guests' FIFOs, trace-cmd's.
pub const FIFO_FOLDER: &str = "/var/lib/trace-cmd/virt";
/// More CPUs than any guest has.
const MAX_CPUS: u32 = 8192;
/// Mode of a guest's folder.
const FOLDER_MODE: u32 = 0o750;

/// The FIFOs of a guest on its host.
#[derive(Clone, Debug)]
pub struct GuestFifos(PathBuf);

impl GuestFifos {
    /// Those of the guest `name` below `folder`. `None` of a name that leads elsewhere.
    pub fn of(folder: &Path, name: &str) -> Option<Self> {
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        is_name.then(|| GuestFifos(folder.join(name)))
    }

    /// The guest's folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The path of a CPU's pair, without `.in` and `.out`.
    pub fn path(&self, cpu: u32) -> PathBuf {
        self.0.join(port_name(cpu))
    }

    /// Opens those that the guest writes to, of all CPUs from 0 on that have one. Empty if there are none.
    ///
    /// # Errors
    /// The file system's, with the path.
    pub(in crate::control::network) fn open(&self) -> io::Result<Vec<FifoReader>> {
        let mut readers = Vec::new();
        for cpu in 0..MAX_CPUS {
            let path = self.path(cpu).with_extension("out");
            match FifoReader::open(&path) {
                Ok(reader) => readers.push(reader),
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
            }
        }
        Ok(readers)
    }

    /// Makes the FIFOs of `cpus`, with `mode` whatever the umask, of `group`. Those that are there get both, too.
    ///
    /// # Errors
    /// The file system's, with the path; [`io::ErrorKind::AlreadyExists`] if another kind of file has the name.
    pub fn create(&self, cpus: u32, mode: u32, group: Option<Gid>) -> io::Result<()> {
        let at = |path: &Path, error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let owned = |path: &Path| chown(path, None, group.map(Gid::as_raw));
        let folder = DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.0);
        folder.and_then(|()| owned(&self.0)).map_err(|error| at(&self.0, error))?;
        for cpu in 0..cpus {
            for end in ["in", "out"] {
                let path = self.path(cpu).with_extension(end);
                let made = match mkfifo(&path, Mode::from_bits_truncate(mode)) {
                    Err(Errno::EEXIST) if is_fifo(&path) => Ok(()),
                    made => made.map_err(io::Error::from),
                };
                let set = made.and_then(|()| owned(&path));
                set.and_then(|()| fs::set_permissions(&path, Permissions::from_mode(mode)))
                    .map_err(|error| at(&path, error))?;
            }
        }
        Ok(())
    }
}

fn is_fifo(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|file| file.file_type().is_fifo())
}

// A FIFO's end in the guest: the virtio-serial port of a CPU.

/// Folder of the ports, whose names are those that the host gave them.
pub const PORT_FOLDER: &str = "/dev/virtio-ports";
/// Time in which the host must take some data, or it counts as gone.
const STALLED: Duration = Duration::from_secs(30);

/// A port that is open for writing; no other process of the guest can open it meanwhile.
#[derive(Debug)]
pub(super) struct GuestPort(File);

/// Opens the ports of `cpus` CPUs below `folder`.
///
/// # Errors
/// The kernel's, with the path: there is no such port, or another process has it, or the host has no FIFO there.
pub(super) fn open_ports(folder: &Path, cpus: u32) -> io::Result<Vec<GuestPort>> {
    let open = |cpu: u32| {
        let path = folder.join(port_name(cpu));
        let opened = GuestPort::open(&path);
        opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    };
    (0..cpus).map(open).collect()
}

impl GuestPort {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        let file = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
        let kind = file.metadata()?.file_type();
        if !kind.is_char_device() && !kind.is_fifo() {
            return Err(io::Error::other("it is not a port"));
        }
        let port = GuestPort(file);
        match port.wait(Duration::ZERO).intersects(PollFlags::POLLHUP | PollFlags::POLLERR) {
            true => Err(io::Error::other("the host does not listen there")),
            false => Ok(port),
        }
    }

    /// Writes all of `bytes`, unless `is_over` says meanwhile that they are not wanted.
    ///
    /// # Errors
    /// [`io::ErrorKind::BrokenPipe`] if so, [`io::ErrorKind::TimedOut`] if the host takes nothing for half a minute; the kernel's.
    pub(in crate::control::network) fn write_all(
        &mut self,
        mut bytes: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut since = Instant::now();
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(written) => {
                    bytes = &bytes[written..];
                    since = Instant::now();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if is_over() {
                        return Err(io::ErrorKind::BrokenPipe.into());
                    }
                    if since.elapsed() > STALLED {
                        let text = format!("the host took nothing from its FIFO for {} s", STALLED.as_secs());
                        return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                    }
                    self.wait(TICK);
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Waits until it takes data.
    fn wait(&self, most: Duration) -> PollFlags {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLOUT)];
        let _ = poll(&mut fds, PollTimeout::try_from(most).unwrap_or(PollTimeout::MAX));
        fds[0].revents().unwrap_or(PollFlags::empty())
    }
}

/// Name of a CPU's port in the guest, and of its FIFOs on the host but for their endings.
fn port_name(cpu: u32) -> String {
    format!("trace-pipe-cpu{cpu}")
}

// A FIFO's end on the host, from which a guest's data is read.

/// Bytes that are read at a time where they are dropped.
const PIECE: usize = 64 << 10;
/// Time after which nothing more is left of an earlier session: the emulator goes on at once when the FIFO has room again.
const QUIET: Duration = Duration::from_millis(50);
/// Limit of that, if it does not end.
const LONGEST: Duration = Duration::from_secs(2);
/// A FIFO without a writer cannot be polled.
const PAUSE: Duration = Duration::from_millis(20);

/// A FIFO that is open for reading; reads do not wait.
#[derive(Debug)]
pub(super) struct FifoReader {
    path: PathBuf,
    file: File,
    /// Read already.
    pending: Vec<u8>,
}

impl FifoReader {
    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)?;
        if !file.metadata()?.file_type().is_fifo() {
            return Err(io::Error::other("it is not a FIFO"));
        }
        Ok(FifoReader { path: path.to_owned(), file, pending: Vec::new() })
    }

    /// Drops all up to the mark. Gives the number of bytes that preceded it.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if it does not come `within` that time; the kernel's.
    pub(in crate::control::network) fn skip_to(&mut self, mark: FifoMark, within: Duration) -> io::Result<u64> {
        let (since, mut seen, mut dropped) = (Instant::now(), Vec::new(), 0);
        let mut piece = vec![0; PIECE];
        loop {
            match self.read(&mut piece)? {
                Some(read) => seen.extend_from_slice(&piece[..read]),
                None if since.elapsed() > within => {
                    let text = format!("nothing of this recording comes out of {}", self.path.display());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, text));
                }
                None => self.wait(),
            }
            if let Some(begin) = mark.find(&seen) {
                dropped += begin as u64;
                self.pending = seen.split_off(begin + FifoMark::SIZE);
                return Ok(dropped);
            }
            // The mark may have come in part.
            let past = seen.len().saturating_sub(FifoMark::SIZE - 1);
            dropped += past as u64;
            seen.drain(..past);
        }
    }

    /// Drops what is there, and what comes right after it. Gives the number of bytes.
    pub(in crate::control::network) fn drop_rest(&mut self) -> io::Result<u64> {
        let (since, mut last, mut dropped) = (Instant::now(), None, 0);
        let mut piece = vec![0; PIECE];
        loop {
            match self.read(&mut piece)? {
                Some(read) => {
                    dropped += read as u64;
                    last = Some(Instant::now());
                }
                None if last.is_none_or(|last: Instant| last.elapsed() > QUIET) => return Ok(dropped),
                None => thread::sleep(PAUSE),
            }
            if since.elapsed() > LONGEST {
                return Err(io::Error::other(format!("{} is in use by another recording", self.path.display())));
            }
        }
    }

    /// Reads what is there; `None` if that is nothing.
    pub(in crate::control::network) fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        if !self.pending.is_empty() {
            let len = self.pending.len().min(into.len());
            into.iter_mut().zip(self.pending.drain(..len)).for_each(|(to, from)| *to = from);
            return Ok(Some(len));
        }
        loop {
            match self.file.read(into) {
                // It has no writer.
                Ok(0) => return Ok(None),
                Ok(read) => return Ok(Some(read)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    /// Waits until there is something to read, a [`TICK`] at most.
    pub(in crate::control::network) fn wait(&self) {
        let mut fds = [PollFd::new(self.file.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut fds, PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX));
        let said = fds[0].revents().unwrap_or(PollFlags::empty());
        if said.contains(PollFlags::POLLHUP) && !said.contains(PollFlags::POLLIN) {
            thread::sleep(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::io::{Read, Write};

    #[test]
    fn pairs_are_made_once() {
        let dir = tempfile::tempdir().unwrap();
        for wrong in ["", "..", "a/b", ".hidden"] {
            assert!(GuestFifos::of(dir.path(), wrong).is_none(), "{wrong}");
        }
        let fifos = GuestFifos::of(dir.path(), "vm").unwrap();
        fifos.create(2, 0o620, None).unwrap();
        fifos.create(2, 0o640, None).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        let name = |cpu: u32, end: &str| dir.path().join(format!("vm/trace-pipe-cpu{cpu}.{end}"));
        assert_eq!((mode(&name(0, "in")), mode(&name(1, "out"))), (0o640, 0o640));
        fs::remove_file(name(1, "in")).unwrap();
        fs::write(name(1, "in"), "").unwrap();
        let error = fifos.create(2, 0o640, None).unwrap_err();
        assert!(error.to_string().contains("trace-pipe-cpu1.in"), "{error}");
    }

    #[test]
    fn ports_that_lead_somewhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = |cpu: u32| dir.path().join(port_name(cpu));
        let why = |cpus: u32| open_ports(dir.path(), cpus).unwrap_err().to_string();
        assert!(why(1).contains("trace-pipe-cpu0: No such file"), "{}", why(1));
        std::fs::write(path(1), "").unwrap();
        nix::unistd::mkfifo(&path(0), Mode::S_IRWXU).unwrap();
        // It has no reader.
        assert!(why(1).contains("trace-pipe-cpu0: No such device"), "{}", why(1));
        let mut host = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path(0)).unwrap();
        assert!(why(2).contains("trace-pipe-cpu1: it is not a port"), "{}", why(2));
        let mut ports = open_ports(dir.path(), 1).unwrap();
        // More than it holds, and not wanted.
        let error = ports[0].write_all(&vec![5; 1 << 20], &|| true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        let mut into = vec![0; 1 << 20];
        assert!(host.read(&mut into).unwrap() >= 4096);
    }

    #[test]
    fn data_begins_at_the_mark() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cpu0.out");
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        let mut fifo = FifoReader::open(&path).unwrap();
        let mut emulator = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let (mark, mut into) = (FifoMark::new(7), [0; 100]);
        emulator.write_all(&[1; 5000]).unwrap();
        emulator.write_all(&FifoMark::new(6).bytes()).unwrap();
        let missing = fifo.skip_to(mark, Duration::ZERO).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::TimedOut);
        assert!(missing.to_string().contains("cpu0.out"), "{missing}");
        emulator.write_all(&[&[2; 10][..], &mark.bytes(), &[3; 4]].concat()).unwrap();
        assert_eq!(fifo.skip_to(mark, Duration::ZERO).unwrap(), 10);
        assert_eq!(fifo.read(&mut into[..3]).unwrap(), Some(3));
        assert_eq!((fifo.read(&mut into).unwrap(), into[0]), (Some(1), 3));
        assert_eq!(fifo.read(&mut into).unwrap(), None);
        emulator.write_all(&[4; 50]).unwrap();
        assert_eq!((fifo.drop_rest().unwrap(), fifo.read(&mut into).unwrap()), (50, None));
        // No writer: neither an end nor a busy loop.
        drop(emulator);
        let since = Instant::now();
        fifo.wait();
        assert!(fifo.read(&mut into).unwrap().is_none() && since.elapsed() >= PAUSE);
    }

    #[test]
    fn only_fifos_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cpu0.out");
        std::fs::write(&path, "x").unwrap();
        assert!(FifoReader::open(&path).unwrap_err().to_string().contains("not a FIFO"));
    }
}

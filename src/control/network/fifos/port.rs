//! A FIFO's end in the guest: the virtio-serial port of a CPU.

use crate::control::network::patient::TICK;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Folder of the ports, whose names are those that the host gave them.
pub const PORT_FOLDER: &str = "/dev/virtio-ports";
/// Time in which the host must take some data, or it counts as gone.
const STALLED: Duration = Duration::from_secs(30);

/// A port that is open for writing; no other process of the guest can open it meanwhile.
#[derive(Debug)]
pub(in crate::control::network) struct GuestPort(File);

/// Opens the ports of `cpus` CPUs below `folder`.
///
/// # Errors
/// The kernel's, with the path: there is no such port, or another process has it, or the host has no FIFO there.
pub(in crate::control::network) fn open_ports(folder: &Path, cpus: u32) -> io::Result<Vec<GuestPort>> {
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
pub(super) fn port_name(cpu: u32) -> String {
    format!("trace-pipe-cpu{cpu}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use std::io::Read;

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
}

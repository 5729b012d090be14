//! A FIFO's end on the host, from which a guest's data is read.

use crate::control::network::patient::TICK;
use crate::control::network::wire::FifoMark;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

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
pub(in crate::control::network) struct FifoReader {
    path: PathBuf,
    file: File,
    /// Read already.
    pending: Vec<u8>,
}

impl FifoReader {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
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
    use std::io::Write;

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

//! The socket of a recorder at which other processes of its user ask for saves: `rtrace save`.
//!
//! Its name is an abstract one, so that nothing is left of it when the recorder is gone. Who asks has the file open that
//! the save goes to, and says under which number: the recorder opens no path that somebody names.

use super::saver::Save;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::Duration;

/// Time that a process has to say what it wants.
const PATIENCE: Duration = Duration::from_secs(1);
/// More bytes than a request has.
const LONGEST: u64 = 64;

/// The listening socket.
#[derive(Debug)]
pub(super) struct SaveDoor(UnixListener);

/// A save that another process asks for.
pub(super) struct SaveRequest {
    /// The process that asks.
    pub(super) pid: i32,
    /// The file to write to.
    pub(super) file: File,
    /// The newest of this length; all if `None`.
    pub(super) last: Option<Duration>,
    /// Takes the answer.
    pub(super) answer: UnixStream,
}

impl AsFd for SaveDoor {
    /// Readable when somebody asks.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The socket's address for the recorder of this number.
fn address(pid: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("rtrace-record-{pid}"))
}

impl SaveDoor {
    /// Opens the door of this process.
    ///
    /// # Errors
    /// The socket's error; one that is open already.
    pub(super) fn open() -> io::Result<Self> {
        let listener = UnixListener::bind_addr(&address(std::process::id())?)?;
        listener.set_nonblocking(true)?;
        Ok(SaveDoor(listener))
    }

    /// The next request. One of another user, or that is none, is answered by the end of its connection.
    pub(super) fn request(&self) -> Option<SaveRequest> {
        loop {
            match self.0.accept() {
                Ok((stream, _)) => match read(stream) {
                    Ok(request) => return Some(request),
                    Err(_) => continue,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

/// Reads `save DESCRIPTOR NANOSECONDS`, or `save DESCRIPTOR all`.
fn read(stream: UnixStream) -> io::Result<SaveRequest> {
    let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
    let peer = getsockopt(&stream, PeerCredentials)?;
    if peer.uid() != 0 && peer.uid() != geteuid().as_raw() {
        return Err(refused());
    }
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(LONGEST)).read_line(&mut line)?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["save", descriptor, last] = words[..] else { return Err(refused()) };
    let descriptor: u32 = descriptor.parse().map_err(|_| refused())?;
    let last = match last {
        "all" => None,
        nanoseconds => Some(Duration::from_nanos(nanoseconds.parse().map_err(|_| refused())?)),
    };
    let file = OpenOptions::new().read(true).write(true).open(format!("/proc/{}/fd/{descriptor}", peer.pid()))?;
    Ok(SaveRequest { pid: peer.pid(), file, last, answer: stream })
}

/// Lets the recorder of number `pid` save its newest `last`, or all that it keeps, to `file`, which is empty.
///
/// # Errors
/// [`io::ErrorKind::ConnectionRefused`] if no such process answers, or another user's; [`io::ErrorKind::UnexpectedEof`] if it
/// ended before it was done. That it could not save is said in [`Save::error`].
pub fn ask_to_save(pid: i32, file: &File, last: Option<Duration>) -> io::Result<Save> {
    let mut stream = UnixStream::connect_addr(&address(pid as u32)?)?;
    let peer = getsockopt(&stream, PeerCredentials)?;
    if peer.pid() != pid {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let last = last.map_or("all".to_owned(), |last| last.as_nanos().to_string());
    writeln!(stream, "save {} {last}", file.as_raw_fd())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    serde_json::from_slice(&answer).map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

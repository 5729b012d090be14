//! A connection that is read with patience: a peer that is slow is waited for, one that says nothing at all is not.
//! Connections whose other end may vanish without a word: its machine is cut off, or loses power.

use super::transport::Stream;
use super::wire::{Frame, FrameHeader, HEADER, MAX_TEXT, Message, MessageHeader, WireError};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{KeepAlive, TcpKeepCount, TcpKeepIdle, TcpKeepInterval, TcpNoDelay};
use std::io;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Interval between two calls of a reader's `tick` while nothing comes.
pub(super) const TICK: Duration = Duration::from_millis(250);
/// Limit of one write: a peer that takes nothing for so long is gone.
const WRITE: Duration = Duration::from_secs(30);
/// Bytes of a body that are read at a time, so that a claimed size costs nothing.
const PIECE: usize = 64 << 10;

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The peer closed it.
    #[error("the peer closed the connection")]
    Closed,
    /// Nothing came.
    #[error("nothing came for {} s", .0.as_secs())]
    Silent(Duration),
    /// This side is to end.
    #[error("interrupted")]
    Stopped,
    /// The peer sent what cannot be.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// The connection broke.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A connection whose reads return every [`TICK`].
#[derive(Debug)]
pub(super) struct Patient {
    stream: Stream,
    /// Time without a byte after which it is given up.
    pub(super) silence: Duration,
}

impl Patient {
    pub(super) fn new(stream: Stream, silence: Duration) -> io::Result<Self> {
        if stream.is_ip() {
            keep_alive(&stream)?;
            setsockopt(&stream, TcpNoDelay, &true)?;
        }
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(WRITE))?;
        Ok(Patient { stream, silence })
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }

    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), ConnectionError> {
        Ok((&self.stream).write_all(bytes)?)
    }

    /// Reads some bytes; 0 at the end of the stream.
    pub(super) fn read(&self, into: &mut [u8], tick: &mut Tick<'_>) -> Result<usize, ConnectionError> {
        let since = Instant::now();
        loop {
            match (&self.stream).read(into) {
                Ok(read) => return Ok(read),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    tick()?;
                    if since.elapsed() > self.silence {
                        return Err(ConnectionError::Silent(self.silence));
                    }
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn fill(&self, into: &mut [u8], tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
        let mut filled = 0;
        while let Some(rest) = into.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.read(rest, tick)? {
                0 => return Err(ConnectionError::Closed),
                read => filled += read,
            }
        }
        Ok(())
    }

    /// Reads `len` bytes.
    pub(super) fn bytes(&self, len: usize, tick: &mut Tick<'_>) -> Result<Vec<u8>, ConnectionError> {
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let start = bytes.len();
            bytes.resize(len.min(start + PIECE), 0);
            self.fill(&mut bytes[start..], tick)?;
        }
        Ok(bytes)
    }

    /// Reads a text up to its NUL, which is left out.
    pub(super) fn text(&self, tick: &mut Tick<'_>) -> Result<Vec<u8>, ConnectionError> {
        let (mut text, mut byte) = (Vec::new(), [0]);
        loop {
            self.fill(&mut byte, tick)?;
            match byte {
                [0] => return Ok(text),
                _ if text.len() == MAX_TEXT => return Err(WireError::Text("a greeting's text").into()),
                [byte] => text.push(byte),
            }
        }
    }

    /// Reads a message of trace-cmd's.
    pub(super) fn message(&self, tick: &mut Tick<'_>) -> Result<Message, ConnectionError> {
        let mut header = [0; HEADER];
        self.fill(&mut header, tick)?;
        let header = MessageHeader::read(&header)?;
        Ok(Message::read(header, &self.bytes(header.body, tick)?)?)
    }

    /// Sends a request and reads its answer. A peer that serves others only answers before it is asked, and closes: its
    /// words are there though the request finds the connection closed.
    pub(super) fn ask(&self, request: &[u8], tick: &mut Tick<'_>) -> Result<Message, ConnectionError> {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        match self.write(request) {
            Err(ConnectionError::Io(e)) if !matches!(e.kind(), BrokenPipe | ConnectionReset) => Err(e.into()),
            _ => self.message(tick),
        }
    }

    /// Reads a frame.
    pub(super) fn frame(&self, tick: &mut Tick<'_>) -> Result<Frame, ConnectionError> {
        let mut header = [0; FrameHeader::SIZE];
        self.fill(&mut header, tick)?;
        let header = FrameHeader::read(&header)?;
        Ok(Frame::read(header, &self.bytes(header.body, tick)?)?)
    }
}

/// Called every [`TICK`] while nothing comes; an error ends the reading.
pub(super) type Tick<'a> = dyn FnMut() -> Result<(), ConnectionError> + 'a;

/// Seconds of silence after which the kernel asks whether the other end is there.
const IDLE: u32 = 30;
/// Seconds between two such questions.
const INTERVAL: u32 = 5;
/// Questions without an answer after which the connection is over.
const COUNT: u32 = 5;

/// Lets the kernel end a connection whose peer does not answer, within a minute instead of two hours.
fn keep_alive(stream: &Stream) -> io::Result<()> {
    setsockopt(stream, TcpKeepIdle, &IDLE)?;
    setsockopt(stream, TcpKeepInterval, &INTERVAL)?;
    setsockopt(stream, TcpKeepCount, &COUNT)?;
    Ok(setsockopt(stream, KeepAlive, &true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::network::transport::Address;
    use std::net::TcpListener;

    #[test]
    fn an_answer_of_before_the_question_is_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = Message::Refused("its address is not allowed".to_owned());
        for answer in [Some(&refused), None] {
            let stream = Stream::connect(&Address::Ip(listener.local_addr().unwrap()), WRITE).unwrap();
            let control = Patient::new(stream, WRITE).unwrap();
            let (mut peer, _) = listener.accept().unwrap();
            answer.into_iter().for_each(|answer| peer.write_all(&answer.bytes()).unwrap());
            drop(peer);
            // The first byte is answered with a reset; what is written after that fails.
            while control.write(&[0]).is_ok() {}
            match (control.ask(&[0], &mut || Ok(())), answer) {
                (Ok(found), Some(sent)) => assert_eq!(&found, sent),
                (Err(ConnectionError::Closed), None) => {}
                (found, _) => panic!("{found:?}"),
            }
        }
    }
}

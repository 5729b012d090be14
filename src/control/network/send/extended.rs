//! Sending to a listener of ours.
//!
//! One thread sends what the queue has, another takes the listener's answers. After a break the first one connects again, names
//! the file, hears what of it is there, and goes on from there.

use super::connect::{Greeted, greet};
use super::queue::SendQueue;
use crate::base::units::CpuId;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::Address;
use crate::control::network::wire::{Frame, OFFER, RingId};
use crate::control::record::{Dropped, Remote, RemoteRing, Sent};
use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A sender that has nothing else to say says so as often.
const ALIVE: Duration = Duration::from_secs(2);
/// A listener says something every quarter of a second; one that has not for so long is gone or unreachable.
const SILENCE: Duration = Duration::from_secs(30);
/// Time between two attempts to connect again.
const PAUSE: Duration = Duration::from_millis(500);
/// Bytes of the trace file per frame.
const PIECE: usize = 1 << 20;
/// Start of the trace file that changes: its header says where the options are.
const HEAD: usize = 64;
/// Size of the chunk count at the start of a spool of chunks, in bytes.
const COUNT: u64 = 4;

/// A recording on its way.
#[derive(Debug)]
pub(super) struct ExtendedSender {
    place: String,
    queue: Arc<SendQueue>,
    begin: Mutex<Begin>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The settings of the thread that sends, until it starts.
#[derive(Debug)]
struct Begin {
    rings: Vec<RingId>,
    chunked: bool,
    link: Option<Link>,
}

#[derive(Debug)]
struct Link {
    control: Patient,
    addresses: Vec<Address>,
    patience: Duration,
}

impl ExtendedSender {
    pub(super) fn new(place: &str, addresses: Vec<Address>, control: Patient, patience: Duration) -> Self {
        let link = Some(Link { control, addresses, patience });
        ExtendedSender {
            place: place.to_owned(),
            queue: Arc::default(),
            begin: Mutex::new(Begin { rings: Vec::new(), chunked: false, link }),
            thread: Mutex::new(None),
        }
    }

    fn start(&self, id: u64) -> io::Result<()> {
        let mut begin = self.begin.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Link { control, addresses, patience }) = begin.link.take() else { return Ok(()) };
        let open = Opening { id, chunked: begin.chunked, rings: begin.rings.clone() };
        let (queue, place) = (Arc::clone(&self.queue), self.place.clone());
        let work =
            move || SenderThread { queue: &queue, place, addresses, patience, open, name: String::new() }.run(control);
        let thread = thread::Builder::new().name("rtrace/send".to_owned()).spawn(work)?;
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

impl Remote for ExtendedSender {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn wants_all_first(&self) -> bool {
        false
    }

    fn ring(&self, buffer: &str, cpu: CpuId, chunked: bool) -> Box<dyn RemoteRing> {
        let mut begin = self.begin.lock().unwrap_or_else(PoisonError::into_inner);
        begin.rings.push(RingId { buffer: buffer.to_owned(), cpu: cpu.0 });
        begin.chunked = chunked;
        let number = self.queue.change(|state| state.add_ring(if chunked { COUNT } else { 0 }));
        Box::new(ExtendedSenderRing { queue: Arc::clone(&self.queue), number })
    }

    fn file(&self, id: u64, bytes: Vec<u8>) -> io::Result<()> {
        self.start(id)?;
        self.queue.change(|state| {
            state.file = Arc::new(bytes);
            state.version += 1;
            state.failed.clone().map_or(Ok(()), |why| Err(io::Error::other(why)))
        })
    }

    fn give_up(&self) {
        let why = "given up at a signal, before the listener said that it has all".to_owned();
        self.queue.change(|state| {
            if state.done.is_none() {
                state.failed.get_or_insert(why);
            }
        });
    }

    fn finish(&self) -> io::Result<Sent> {
        self.queue.change(|state| state.ended = true);
        let result = self.queue.result();
        match result {
            Ok(_) => self.join(),
            // It ends by itself, as soon as it looks: that may take it as long as a connection.
            Err(_) => drop(self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()),
        }
        result.map(|size| Sent { size: Some(size) }).map_err(io::Error::other)
    }
}

impl Drop for ExtendedSender {
    fn drop(&mut self) {
        self.queue.change(|state| {
            if state.done.is_none() {
                state.failed.get_or_insert_with(|| "the recording was given up".to_owned());
            }
        });
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

#[derive(Debug)]
struct ExtendedSenderRing {
    queue: Arc<SendQueue>,
    number: usize,
}

impl RemoteRing for ExtendedSenderRing {
    fn append(&mut self, chunk: &[u8], raw: u64) -> io::Result<()> {
        self.queue.push(self.number, chunk, raw)
    }

    fn note(&mut self, events: u64) {
        self.queue.note(self.number, events);
    }

    fn taken(&self) -> u64 {
        self.queue.lock().rings.get(self.number).map_or(0, |ring| ring.end)
    }

    fn settle(&mut self) -> Dropped {
        self.queue.settle(self.number)
    }
}

/// The fields of [`Frame::Open`] that stay the same.
struct Opening {
    id: u64,
    chunked: bool,
    rings: Vec<RingId>,
}

/// The thread that sends.
struct SenderThread<'a> {
    queue: &'a SendQueue,
    place: String,
    addresses: Vec<Address>,
    patience: Duration,
    open: Opening,
    /// The file's name at the listener, once it has one.
    name: String,
}

impl SenderThread<'_> {
    fn run(mut self, control: Patient) {
        let (mut link, mut contact) = (Ok(control), Instant::now());
        loop {
            let broken = match link.and_then(|control| self.serve(control, &mut contact)) {
                Ok(()) => return,
                Err(why) => why,
            };
            if self.queue.lock().failed.is_some() {
                return;
            }
            if contact.elapsed() > self.patience {
                let waited = self.patience.as_secs();
                let why = format!("{} is out of reach for {waited} s: {broken}", self.place);
                return self.queue.change(|state| state.failed = Some(why));
            }
            drop(self.queue.wait(self.queue.lock(), PAUSE));
            link = match greet(&self.place, &self.addresses, OFFER) {
                Ok(Greeted::Ours(control)) => Ok(control),
                Ok(Greeted::TraceCmd(_) | Greeted::Counted(_)) => Err("another listener is there now".to_owned()),
                Err(error) => Err(error.to_string()),
            };
        }
    }

    /// Sends over one connection. An error is a break; without one there is a result.
    fn serve(&mut self, mut control: Patient, contact: &mut Instant) -> Result<(), String> {
        control.silence = SILENCE;
        let Opening { id, chunked, rings } = &self.open;
        let open = Frame::Open { id: *id, chunked: *chunked, name: self.name.clone(), rings: rings.clone() };
        let text = |e: ConnectionError| e.to_string();
        control.write(&open.bytes()).map_err(text)?;
        let sizes = match control.frame(&mut || Ok(())).map_err(text)? {
            Frame::Opened { name, sizes } => {
                self.name = name;
                sizes
            }
            Frame::Failed(why) => {
                self.queue.change(|state| state.failed = Some(format!("the listener: {why}")));
                return Ok(());
            }
            _ => return Err("the listener sent an unexpected message".to_owned()),
        };
        *contact = Instant::now();
        let fits = self.queue.change(|state| {
            state.broken = None;
            let fits = state.resume(&sizes);
            if let Err(why) = &fits {
                state.failed = Some(why.clone());
            }
            fits.is_ok()
        });
        if !fits {
            return Ok(());
        }
        let sent = thread::scope(|scope| {
            let reader = scope.spawn(|| self.listen(&control));
            let sent = self.send(&control, sizes.file).map_err(text);
            let _ = control.stream().shutdown(Shutdown::Both);
            let heard = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            *contact = heard.unwrap_or(*contact).max(*contact);
            sent
        });
        let state = self.queue.lock();
        match (&state.broken, state.done.is_some() || state.failed.is_some()) {
            (_, true) => Ok(()),
            (Some(why), false) => Err(why.clone()),
            (None, false) => sent.and(Err("the connection broke".to_owned())),
        }
    }

    /// Takes the listener's answers until the connection ends. Gives the time of the last one.
    fn listen(&self, control: &Patient) -> Option<Instant> {
        let mut heard = None;
        loop {
            let frame = control.frame(&mut || Ok(()));
            if frame.is_ok() {
                heard = Some(Instant::now());
            }
            let goes_on = self.queue.change(|state| match frame {
                Ok(Frame::Stored(sizes)) => {
                    state.failed = state.failed.take().or(state.written(&sizes).err());
                    state.failed.is_none()
                }
                Ok(Frame::Alive) => true,
                Ok(Frame::Done(size)) => {
                    state.failed = state.failed.take().or(state.completed(size).err());
                    false
                }
                Ok(Frame::Failed(why)) => {
                    state.failed = Some(format!("the listener: {why}"));
                    false
                }
                Ok(_) => {
                    state.broken = Some("the listener sent an unexpected message".to_owned());
                    false
                }
                Err(error) => {
                    state.broken = Some(error.to_string());
                    false
                }
            });
            if !goes_on {
                return heard;
            }
        }
    }

    /// Sends what there is until the recording or the connection ends. The listener has `have` bytes of the file.
    fn send(&self, control: &Patient, have: u64) -> Result<(), ConnectionError> {
        let (mut have, mut version, mut end_sent) = (have, 0, false);
        loop {
            let mut state = self.queue.lock();
            if state.failed.is_some() || state.done.is_some() || state.broken.is_some() {
                return Ok(());
            }
            if state.version != version {
                let file = Arc::clone(&state.file);
                version = state.version;
                drop(state);
                have = send_file(control, &file, have)?;
            } else if let Some((ring, at, data)) = state.next() {
                drop(state);
                control.write(&Frame::chunk(ring, at, &data))?;
            } else if state.ended && !end_sent {
                let sizes = state.sizes();
                state.end_sent = true;
                drop(state);
                end_sent = true;
                control.write(&Frame::End(sizes).bytes())?;
            } else if std::mem::take(&mut state.urgent) && !end_sent {
                drop(state);
                control.write(&Frame::Alive.bytes())?;
            } else {
                let since = Instant::now();
                drop(self.queue.wait(state, ALIVE));
                if since.elapsed() >= ALIVE && !end_sent {
                    control.write(&Frame::Alive.bytes())?;
                }
            }
        }
    }
}

/// Sends the file from its byte `have` on, and then its start, which says where to find the rest.
fn send_file(control: &Patient, file: &[u8], have: u64) -> Result<u64, ConnectionError> {
    let mut at = usize::try_from(have).unwrap_or(usize::MAX).min(file.len());
    while let Some(rest) = file.get(at..).filter(|rest| !rest.is_empty()) {
        let piece = &rest[..rest.len().min(PIECE)];
        control.write(&Frame::file(at as u64, piece))?;
        at += piece.len();
    }
    control.write(&Frame::file(0, &file[..file.len().min(HEAD)]))?;
    Ok(file.len() as u64)
}

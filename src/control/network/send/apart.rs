//! A recording of several buffers at a listener that takes one: a session for each, which makes a file of its own there.

use super::classic::ClassicSender;
use crate::base::units::CpuId;
use crate::control::record::{Remote, RemoteRing, Sent};
use std::io;
use std::thread;

/// The sessions of a recording, in the order of its buffers. There is one at least.
#[derive(Debug)]
pub(super) struct Apart {
    place: String,
    sessions: Vec<ClassicSender>,
}

impl Apart {
    pub(super) fn new(place: &str, sessions: Vec<ClassicSender>) -> Self {
        Apart { place: place.to_owned(), sessions }
    }
}

impl Remote for Apart {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn wants_all_first(&self) -> bool {
        true
    }

    fn ring(&self, buffer: &str, cpu: CpuId, chunked: bool) -> Box<dyn RemoteRing> {
        let session = self.sessions.iter().find(|session| session.buffer() == buffer);
        session.unwrap_or(&self.sessions[0]).ring(buffer, cpu, chunked)
    }

    fn file(&self, id: u64, bytes: Vec<u8>) -> io::Result<()> {
        self.sessions.iter().try_for_each(|session| {
            session.file(id, bytes.clone()).map_err(|error| io::Error::new(error.kind(), of_session(session, &error)))
        })
    }

    fn finish(&self) -> io::Result<Sent> {
        // A listener takes its time over each file: over all of them at once.
        let failed: Vec<String> = thread::scope(|scope| {
            let finish = |session| scope.spawn(move || ClassicSender::finish(session));
            let threads: Vec<_> = self.sessions.iter().map(finish).collect();
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            let failed =
                |(session, ended): (&ClassicSender, io::Result<Sent>)| Some(of_session(session, &ended.err()?));
            self.sessions.iter().zip(ended).filter_map(failed).collect()
        });
        match failed.is_empty() {
            true => Ok(Sent { size: None }),
            false => Err(io::Error::other(failed.join("; "))),
        }
    }
}

/// The failure of a session, and whose it is.
fn of_session(session: &ClassicSender, error: &io::Error) -> String {
    match session.buffer() {
        "" => format!("the main buffer: {error}"),
        buffer => format!("instance {buffer}: {error}"),
    }
}

//! Sessions of senders of ours, in frames.
//!
//! All that is written is acknowledged with its position. After a break the sender names its file and gets the positions
//! that are there, from another process too: they are read from the files. A recording counts as complete only when its
//! sender has said so and every position is as it says.

use super::notice::{EndedSession, ListenNotice, Protocol, SessionError};
use super::recording;
use super::recording::{FoundFile, StoreError, UnfinishedRecording, path_of};
use super::share::{GREETING, ListenerState};
use crate::base::units::seconds;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::Address;
use crate::control::network::wire::{Frame, RingSizes};
use crate::file::trace_dat::write::{Added, Unfinished, recover_with};
use crate::file::trace_dat::{LossCause, Recovered, SpoolEntry, Trace, UnsavedEvents, WriteError, recover};
use std::path::Path;
use std::time::{Duration, Instant};

/// A sender says something every second or two; one that has not for so long is gone or unreachable.
const SILENCE: Duration = Duration::from_secs(30);
/// Data after which an acknowledgement is due, in bytes.
const ACK_BYTES: usize = 256 << 10;
/// Time after which it is due whatever came.
const ACK_TIME: Duration = Duration::from_millis(200);

/// A session, after its greeting.
pub(super) fn session(shared: &ListenerState<'_>, mut control: Patient, peer: Address) -> Result<(), SessionError> {
    control.silence = GREETING;
    let Frame::Open { id, chunked, name, rings } = control.frame(&mut || shared.go_on())? else {
        return Err(SessionError::Refused("its first frame does not open a recording".to_owned()));
    };
    control.silence = SILENCE;
    shared.log(&ListenNotice::Agreed { peer, rings: rings.len(), data: None, datagrams: false });
    // Before anything is made for them.
    let _share = shared.descriptors.take(&peer.host(), rings.len()).map_err(|why| refuse(&control, &why))?;
    let stream = || control.stream().try_clone();
    let most = shared.options.max_size.map(|size| size.0);
    if name.is_empty() {
        let made = recording::create(&shared.options.dir, &shared.options.name, peer);
        let (path, file) = made.map_err(|error| unable(&control, format!("failed to make a file: {error}")))?;
        let name = name_of(&path);
        shared.take(&name, stream()?);
        let begun = UnfinishedRecording::begin(path.clone(), file, &rings, chunked, most);
        return match begun {
            Ok(recording) => serve(shared, &control, peer, recording, false),
            Err(error) => {
                let _ = std::fs::remove_file(path);
                shared.release(&name);
                Err(match error {
                    StoreError::Refused(_) => refuse(&control, &error.to_string()),
                    _ => unable(&control, error.to_string()),
                })
            }
        };
    }
    let Some(path) = path_of(&shared.options.dir, &name) else {
        return Err(refuse(&control, "no recording of this listener has that name"));
    };
    if !shared.take(&name, stream()?) {
        return Err(refuse(&control, "the recording is in use"));
    }
    match UnfinishedRecording::find(&path, id, &rings, most) {
        Ok(FoundFile::Unfinished(recording)) => serve(shared, &control, peer, recording, true),
        Ok(FoundFile::Complete(size, rings)) => {
            shared.release(&name);
            confirm(shared, &control, name, size, &rings)
        }
        Err(error) => {
            shared.release(&name);
            Err(refuse(&control, &format!("cannot go on with {name}: {error}")))
        }
    }
}

/// Tells the sender that it will come to nothing.
fn refuse(control: &Patient, why: &str) -> SessionError {
    let _ = control.write(&Frame::Failed(why.to_owned()).bytes());
    SessionError::Refused(why.to_owned())
}

/// The same, if what it sends cannot be stored.
fn unable(control: &Patient, why: String) -> SessionError {
    let _ = control.write(&Frame::Failed(why.clone()).bytes());
    SessionError::Store(why)
}

/// A sender that did not hear that its recording is complete.
fn confirm(
    shared: &ListenerState<'_>,
    control: &Patient,
    name: String,
    size: u64,
    there: &[u64],
) -> Result<(), SessionError> {
    let sizes = RingSizes { file: size, rings: there.to_vec() };
    control.write(&Frame::Opened { name, sizes }.bytes())?;
    loop {
        match control.frame(&mut || shared.go_on())? {
            Frame::End(sizes) if sizes.rings == there => return Ok(control.write(&Frame::Done(size).bytes())?),
            Frame::Alive | Frame::File { .. } => {}
            _ => return Err(refuse(control, "the recording was completed meanwhile, with what had come by then")),
        }
    }
}

/// The end of a connection.
enum ConnectionEnd {
    /// With the recording, which has these sizes.
    Complete(RingSizes),
    /// The sender is gone.
    Gone(ConnectionError),
    /// The listener cannot store what comes.
    Unable(StoreError),
}

fn serve(
    shared: &ListenerState<'_>,
    control: &Patient,
    peer: Address,
    mut recording: UnfinishedRecording,
    again: bool,
) -> Result<(), SessionError> {
    let name = recording.name();
    shared.log(&ListenNotice::Began { peer, protocol: Protocol::Rtrace, file: name.clone(), again });
    let opened = Frame::Opened { name: name.clone(), sizes: recording.sizes() };
    let end = match control.write(&opened.bytes()) {
        Ok(()) => receive(shared, control, &mut recording).unwrap_or_else(ConnectionEnd::Gone),
        Err(error) => ConnectionEnd::Gone(error),
    };
    let there = recording.sizes();
    if let (ConnectionEnd::Gone(error), 0) = (&end, there.file) {
        // Nothing to come back to.
        recording.remove();
        shared.release(&name);
        let why = format!("{error}; it had sent nothing, and the file is removed");
        ended(shared, &name, 0, Some(why));
        return Ok(());
    }
    let path = recording.release();
    match end {
        ConnectionEnd::Complete(sizes) if sizes == there => match recover(&path) {
            Ok(Recovered::Finished { written, .. }) => {
                shared.release(&name);
                let (file, size) = (name.clone(), written.file_size);
                let trace = std::fs::File::open(&path).ok().and_then(|file| Trace::open_lazily(file, false).ok());
                let events = trace.and_then(|trace| trace.indexed_events());
                shared.log(&ListenNotice::Ended(EndedSession { file, size, events, incomplete: None }));
                let _ = control.write(&Frame::Done(written.file_size).bytes());
            }
            outcome => {
                let why = match outcome {
                    Err(error) => full(&error),
                    Ok(_) => "its table of spools is missing".to_owned(),
                };
                shared.release(&name);
                let why = format!("failed to complete the file: {why}; `rtrace recover` completes it");
                ended(shared, &name, size_of_file(&path), Some(why.clone()));
                let _ = control.write(&Frame::Failed(why).bytes());
            }
        },
        ConnectionEnd::Complete(_) => {
            let why = "its sender says that it is complete, but more or less came than it says".to_owned();
            let _ = control.write(&Frame::Failed(why.clone()).bytes());
            finish_as_incomplete(shared, &path, &name, why);
        }
        ConnectionEnd::Gone(error) => {
            shared.log(&ListenNotice::Interrupted { file: name.clone(), why: error.to_string() });
            match shared.is_stopped() {
                true => shared.release(&name),
                false => shared.await_sender(&name, &peer.host(), Instant::now() + shared.options.wait),
            }
        }
        ConnectionEnd::Unable(error) => {
            let _ = control.write(&Frame::Failed(error.to_string()).bytes());
            finish_as_incomplete(shared, &path, &name, error.to_string());
        }
    }
    Ok(())
}

/// Takes frames until the recording or the connection ends.
fn receive(
    shared: &ListenerState<'_>,
    control: &Patient,
    recording: &mut UnfinishedRecording,
) -> Result<ConnectionEnd, ConnectionError> {
    let (mut since, mut acked) = (0, Instant::now());
    loop {
        let sizes = recording.sizes();
        let mut due = since > 0;
        let mut tick = || {
            shared.go_on()?;
            let said = if std::mem::take(&mut due) { Frame::Stored(sizes.clone()) } else { Frame::Alive };
            control.write(&said.bytes())
        };
        let frame = control.frame(&mut tick)?;
        if since > 0 && !due {
            (since, acked) = (0, Instant::now());
        }
        let stored = match frame {
            Frame::File { at, data } => recording.write(at, &data).map(|()| data.len()),
            Frame::Chunk { ring, at, data } => recording.append(ring, at, &data).map(|()| data.len()),
            Frame::End(sizes) => return Ok(ConnectionEnd::Complete(sizes)),
            // The sender wants to know.
            Frame::Alive => Ok(ACK_BYTES),
            _ => Err(StoreError::Refused("a frame that only listeners send")),
        };
        match stored {
            Ok(len) => since += len,
            Err(error) => return Ok(ConnectionEnd::Unable(error)),
        }
        if since >= ACK_BYTES || acked.elapsed() > ACK_TIME {
            control.write(&Frame::Stored(recording.sizes()).bytes())?;
            (since, acked) = (0, Instant::now());
        }
    }
}

/// Completes the recording `file`, whose sender did not come back.
pub(super) fn abandoned(shared: &ListenerState<'_>, file: &str) {
    let why = format!("its sender went away and was not back after {}", seconds(shared.options.wait));
    finish_as_incomplete(shared, &shared.options.dir.join(file), file, why);
}

/// Completes a recording with what came, marked as lacking events of every ring.
fn finish_as_incomplete(shared: &ListenerState<'_>, path: &Path, name: &str, why: String) {
    let marks = |unfinished: Unfinished<'_>| {
        let entries = unfinished.trace.spools.iter().flat_map(|table| &table.entries);
        let cause = LossCause::UNFINISHED;
        let mark = |e: &SpoolEntry| UnsavedEvents { buffer: e.buffer.clone(), cpu: e.cpu, events: None, cause };
        let unsaved = entries.map(mark).collect();
        Added { comms: Vec::new(), unsaved }
    };
    let (size, why) = match recover_with(path, marks) {
        Ok(Recovered::Finished { written, .. }) => (written.file_size, why),
        Ok(Recovered::NeverBegan) => (0, format!("{why}; it had sent nothing, and the file is removed")),
        Ok(_) => (size_of_file(path), why),
        Err(error) => {
            (size_of_file(path), format!("{why}; not completed, `rtrace recover` does that: {}", full(&error)))
        }
    };
    shared.release(name);
    ended(shared, name, size, Some(why));
}

fn ended(shared: &ListenerState<'_>, file: &str, size: u64, incomplete: Option<String>) {
    shared.log(&ListenNotice::Ended(EndedSession { file: file.to_owned(), size, events: None, incomplete }));
}

fn size_of_file(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn full(error: &WriteError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

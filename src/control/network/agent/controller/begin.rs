//! The answer to a controller, the description of the recording, and its end.

use super::remote::{Controller, ControllerState, io_error};
use super::watching::DataWays;
use crate::control::network::send::{description, opened};
use crate::control::network::wire::{Message, TraceResponse};
use crate::file::trace_dat::write::Version;
use crossbeam_channel::unbounded;
use std::sync::atomic::Ordering;
use std::{io, thread};

impl Controller {
    /// Answers, sends the description and connects the data.
    pub(super) fn begin(&self, state: &mut ControllerState, id: u64, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        let description = description(&mut trace, Version::V6)?;
        let mut ways = self.ways(state)?;
        let sync = self.comparison(&trace.clock())?;
        let (protocol, sync_port) =
            sync.as_ref().map_or((String::new(), 0), |sync| (sync.protocol.to_owned(), sync.port.into()));
        let (flags, page_size, ports) = (ways.flags(&self.request), trace.prefix.page_size, ways.ports());
        let response = TraceResponse { flags, page_size, id, protocol, sync_port, ports };
        self.control.write(&Message::TraceResponse(response).bytes()).map_err(io_error)?;
        let (closing, over) = unbounded();
        if let Some(sync) = sync {
            let thread = thread::Builder::new().name("rtrace/clocks".to_owned());
            state.sync = Some(match self.guest_cpus.filter(|_| !self.request.ours) {
                Some(cpus) => thread.spawn(self.answering(sync, cpus, id, over))?,
                None => thread.spawn(self.syncing(sync))?,
            });
        }
        if let DataWays::Fifos(ports) = &mut ways {
            state.through_fifos = Some(page_size);
            // Before the description: a controller takes that after it has dropped what an earlier session left.
            self.mark(ports, id)?;
        }
        for message in Message::data(&description) {
            self.control.write(&message).map_err(io_error)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)?;
        let watching = self.watching(closing);
        state.watch = Some(thread::Builder::new().name("rtrace/control".to_owned()).spawn(watching)?);
        self.connect(&state.streams, ways)?;
        self.shared.connected.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Says how much went into each FIFO, which has no end.
    pub(super) fn send_counts(&self, state: &ControllerState) -> io::Result<()> {
        let counts = state.through_fifos.map_or_else(Vec::new, |size| state.streams.counts(size));
        let messages = counts.into_iter().flat_map(|count| Message::Count(count).bytes());
        self.control.write(&messages.collect::<Vec<u8>>()).map_err(io_error)
    }

    /// Names of tasks, statistics and other facts that were not known at the beginning.
    pub(super) fn send_rest(&self, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        // The controller has them.
        trace.kallsyms = Vec::new().into();
        trace.btf = Vec::new().into();
        for message in Message::data(&description(&mut trace, Version::V6)?) {
            self.control.write(&message).map_err(io_error)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)
    }
}

//! A guest as the controller, which asks its host (TRACE_PROXY): the end in two parts, and trace-cmd's roles in comparing clocks.

use super::comparing::Offer;
use super::remote::{Controller, io_error};
use crate::base::abi::Abi;
use crate::control::network::patient::ConnectionError;
use crate::control::network::sync::{Answerer, Comparing};
use crate::control::network::wire::Message;
use crate::file::trace_dat::OptionId;
use crossbeam_channel::Receiver;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Time in which the guest asks for the second part.
const LAST: Duration = Duration::from_secs(30);

impl Controller {
    /// Compares the clock of a guest of trace-cmd's, with `cpus`, as a controller does, until it says CLOSE. `id` is the TRACEID of
    /// the recording here.
    pub(super) fn answering(
        &self,
        offer: Offer,
        cpus: u32,
        id: u64,
        over: Receiver<()>,
    ) -> impl FnOnce() -> Option<String> + Send + use<> {
        let (shared, peer) = (Arc::clone(&self.shared), self.peer.host());
        let Offer { socket, clock, .. } = offer;
        move || {
            let stream = match socket.accept(&peer, &shared.phase) {
                Ok(Some(stream)) => stream,
                Ok(None) => return Some("the guest did not connect for it".to_owned()),
                Err(error) => return Some(error.to_string()),
            };
            let mut answerer = match Answerer::new(stream, Comparing::Probes(Box::new(clock)), cpus as usize) {
                Ok(answerer) => answerer,
                Err(error) => return Some(error.to_string()),
            };
            if let Err(error) = answerer.round(&mut || Ok(())) {
                return Some(error.to_string());
            }
            let compared = answerer.run(Duration::ZERO, &over, id);
            let failed = compared.failed.clone();
            *shared.compared.lock().unwrap_or_else(PoisonError::into_inner) = Some(compared);
            failed
        }
    }

    /// The second part of the end, for a guest: options for its own file, by which its times become this machine's.
    pub(super) fn end_proxy(&self) -> io::Result<()> {
        let since = Instant::now();
        let mut tick = || match self.ended.load(Ordering::Relaxed) {
            true => Err(ConnectionError::Stopped),
            false if since.elapsed() > LAST => Err(ConnectionError::Silent(LAST)),
            false => Ok(()),
        };
        match self.control.message(&mut tick).map_err(io_error)? {
            Message::Continue => {}
            _ => return Err(io::Error::other("the guest sent another message than CONT")),
        }
        let compared = self.shared.compared.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(shift) = compared.and_then(|compared| compared.shift) {
            let data = shift.write(Abi::HOST);
            let (id, size) = (OptionId::TIME_SHIFT.0.to_ne_bytes(), (data.len() as u32).to_ne_bytes());
            for message in Message::data(&[&id[..], &size, &data].concat()) {
                self.control.write(&message).map_err(io_error)?;
            }
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)
    }
}

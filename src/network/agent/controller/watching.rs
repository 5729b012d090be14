//! The end of a recording, as its controller says it.

use super::remote::Controller;
use crate::network::patient::{ConnectionError, TICK};
use crate::network::wire::Message;
use crossbeam_channel::Sender;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Interval of empty messages to a guest of trace-cmd's that waits for the end: 5 s without one are the end to it.
const STILL_THERE: Duration = Duration::from_secs(2);
/// Time that a controller gets to connect to the ports of the data.
const CONNECT: Duration = Duration::from_secs(60);

impl Controller {
    /// Waits for the controller's CLOSE or end, and ends the recording then. `closing` hears of a CLOSE. A guest of
    /// trace-cmd's is kept waiting until the end is sent.
    pub(super) fn watching(&self, closing: Sender<()>) -> impl FnOnce() + Send + use<> {
        let (control, shared, stop) = (Arc::clone(&self.control), Arc::clone(&self.shared), Arc::clone(&self.stop));
        let (ended, is_guest) = (Arc::clone(&self.ended), self.guest_cpus.is_some() && !self.request.ours);
        move || {
            let until = Instant::now() + CONNECT;
            let mut tick = || match shared.connected.load(Ordering::Relaxed) {
                _ if shared.left.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed) => {
                    Err(ConnectionError::Stopped)
                }
                false if Instant::now() > until => Err(ConnectionError::Silent(CONNECT)),
                _ => Ok(()),
            };
            loop {
                match control.message(&mut tick) {
                    Ok(Message::Close) => {
                        shared.closed.store(true, Ordering::Relaxed);
                        let _ = closing.send(());
                        shared.phase.end();
                        break;
                    }
                    Ok(Message::NotSupported | Message::Refused(_)) => {}
                    Ok(_) if control.write(&Message::NotSupported.bytes()).is_ok() => {}
                    _ => {
                        shared.phase.abort();
                        break;
                    }
                }
            }
            let _ = stop.write(1);
            let over = || {
                let flags = [&shared.last_words, &shared.left, &*ended];
                flags.into_iter().any(|flag| flag.load(Ordering::Relaxed))
            };
            let mut since = Instant::now();
            while is_guest && shared.closed.load(Ordering::Relaxed) && !over() {
                thread::sleep(TICK / 10);
                if since.elapsed() >= STILL_THERE {
                    since = Instant::now();
                    let _ = control.write(&Message::no_data());
                }
            }
        }
    }
}

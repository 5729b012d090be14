//! The end of a recording, as its controller says it.

use super::remote::Controller;
use crate::control::network::patient::ConnectionError;
use crate::control::network::wire::Message;
use crossbeam_channel::Sender;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time that a controller gets to connect to the ports of the data.
const CONNECT: Duration = Duration::from_secs(60);

impl Controller {
    /// Waits for the controller's CLOSE or end, and ends the recording then. `closing` hears of a CLOSE.
    pub(super) fn watching(&self, closing: Sender<()>) -> impl FnOnce() + Send + use<> {
        let (control, shared, stop) = (Arc::clone(&self.control), Arc::clone(&self.shared), Arc::clone(&self.stop));
        let ended = Arc::clone(&self.ended);
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
        }
    }
}

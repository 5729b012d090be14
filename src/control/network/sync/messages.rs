//! Messages as they come, on either side.

use crate::control::network::patient::{ConnectionError, Patient, Tick};
use crate::control::network::wire::{Message, TimeSync};
use std::io;

/// The next message of time synchronization.
pub(super) fn next(control: &Patient, tick: &mut Tick<'_>) -> Result<TimeSync, ConnectionError> {
    match control.message(tick)? {
        Message::TimeSync(message) => Ok(message),
        _ => Err(io::Error::other("the peer sent something else than time synchronization").into()),
    }
}

/// A message that is not the one that is due.
pub(super) fn unexpected(message: &TimeSync) -> ConnectionError {
    let what: String = format!("{message:?}").chars().take(60).collect();
    io::Error::other(format!("the peer sent another message of time synchronization than the one that is due: {what}"))
        .into()
}

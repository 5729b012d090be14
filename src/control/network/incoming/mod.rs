//! A recording that arrives in trace-cmd's way: its description, then bare sub-buffers per CPU.
//!
//! The file is an unfinished recording of ours from the moment its description is there, so `report` reads it while it
//! grows and `recover` completes what a killed process leaves. It is a version 7 file whatever the other machine wrote,
//! compressed here.

mod data;
mod recording;

pub(super) use data::{DataSocket, Phase};
pub(super) use recording::{ConnectionResult, Finished, Incoming, IncomingMetadata, collect, full, new_private};

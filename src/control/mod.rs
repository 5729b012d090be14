//! The kernel steered and recorded: tracefs, recordings, recordings across machines.

pub mod network;
pub mod record;
pub mod tracefs;

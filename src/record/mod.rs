//! Recording: what the user asked for as data, applied, run, drained into spools and assembled into one file.

mod child;
mod chunk;
mod comms;
mod spool;
mod stop;
mod worker;

pub use child::{Child, Command, CommandError, Ended};
pub use chunk::{Compression, MAX_CHUNK, chunk_size};
pub use comms::{Comm, CommLearner};
pub use spool::Spool;
pub use stop::{Arrived, Signals, Watched, wait};
pub use worker::{Drain, Drained, Progress, Worker, WorkerError};

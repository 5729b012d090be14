//! Recording: what the user asked for as data, applied, run, drained into spools and assembled into one file.
//!
//! - [`Plan`] says what to do and does nothing;
//! - [`record()`] does it: sets tracefs up through a [`Journal`](crate::tracefs::Journal), starts one [`Worker`] per CPU,
//!   lets the command go, waits for the end, completes the file, and only then takes everything back;
//! - [`Spool`] is what a worker writes: the bytes of the finished file's section but for the chunk count;
//! - [`Stream`] hands sub-buffers out while they are filled, without a file;
//! - [`extract()`] stores what is in the rings already: stopped buffers, snapshots, the last boot's;
//! - [`header()`] says in a file without events what a recording would say of the kernel;
//! - [`Summary`] says what came of it.

mod arguments;
mod child;
mod chunk;
mod comms;
mod date;
mod dry_run;
mod effort;
mod ending;
mod error;
mod extract;
mod former;
mod functions;
mod header;
mod limits;
mod machine;
mod metadata;
mod output;
mod own;
mod plan;
mod proc_maps;
mod session;
mod setup;
mod spool;
mod start;
mod stop;
mod store;
mod stream;
mod summary;
mod tsc;
mod user;
mod view;
mod worker;

pub use crate::sys::notice_children;
pub use child::{Child, Command, CommandError, Ended};
pub use chunk::{Compression, MAX_CHUNK, chunk_size};
pub use comms::{Comm, CommLearner};
pub use date::wall_clock_at_zero;
pub use dry_run::{COMMAND_PID, OWN_PID, dry_run};
pub use effort::{Effort, Efforts};
pub use error::{PlanError, RecordError};
pub use extract::{Extracted, Ring, extract};
pub use functions::Functions;
pub use header::header;
pub use limits::{Budget, Limits, MIN_RING_SHARE, Reached};
pub use machine::Machine;
pub use plan::{BufferPlan, EventPlan, Place, Plan, Tasks};
pub use session::{Live, Observer, record};
pub use spool::{Dropped, Keep, Spool};
pub use start::{Mode, start};
pub use stop::{Arrived, Signals, Watched, wait};
pub use store::Tally;
pub use stream::{Audience, LiveBuffer, LiveFacts, Stream, Streamed};
pub use summary::{BufferSummary, CpuSummary, Summary, Totals};
pub use user::{User, UserError};
pub use view::uname;
pub use worker::{Drain, Drained, Progress, Worker, WorkerError};

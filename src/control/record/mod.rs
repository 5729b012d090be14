//! Recording: what the user asked for as data, applied, run, drained into spools and assembled into one file.
//!
//! - [`Plan`] says what to do and does nothing;
//! - [`record()`] does it: sets tracefs up through a [`Journal`](crate::control::tracefs::Journal), starts one [`Worker`] per CPU,
//!   lets the command go, waits for the end, completes the file, and takes everything back;
//! - [`Spool`] is what a worker writes: the bytes of the finished file's section but for the chunk count;
//! - [`Remote`] takes a recording that leaves no file on this machine; a [`ChunkSink`] is either, for a worker;
//! - a [`Sentry`] looks at some events while they are recorded, and can end the recording, or have the newest of it saved ([`Save`]);
//! - [`LiveStream`] hands sub-buffers out while they are filled, without a file;
//! - [`extract()`] stores what is in the rings already: stopped buffers, snapshots, the last boot's;
//! - [`recover()`] finishes the file of a killed recorder, with what is in its rings still;
//! - [`header()`] says in a file without events what a recording would say of the kernel;
//! - [`RecordSummary`] says what came of it.

mod asked;
mod cgroup_spool;
mod cgroup_tree;
mod cgroup_watch;
mod child;
mod chunk;
mod comms;
mod drain;
mod draining;
mod ending;
mod error;
mod extract;
mod former;
mod from_boot;
mod functions;
mod kept_tasks;
mod languages;
mod limits;
mod live_rings;
mod machine;
mod map_watch;
mod metadata;
mod observer;
mod offline;
mod output;
mod own;
mod plan;
mod proc_maps;
mod quota_sampler;
mod recover;
mod save_door;
mod save_place;
mod saver;
mod saves;
mod sentry;
mod session;
mod settings;
mod setup;
mod sink;
mod spool;
mod start;
mod start_at;
mod stop;
mod store;
mod stream;
mod summary;
mod symbols;
mod task_lists;
mod tasks;
mod trace_clock;
mod user;
mod wall_clock;
mod watch;
mod worker;

pub use crate::base::safe_file::FileOwner;
pub use crate::control::tracefs::BootForm;
pub use crate::file::trace_dat::Compression;
#[doc(hidden)]
pub use cgroup_tree::container_names;
pub use cgroup_tree::{CgroupHierarchy, CgroupPlace, CgroupPlan};
pub use child::{CommandError, Ended};
pub use chunk::{Efforts, PackingEffort};
pub use error::{PlanError, RecordError};
pub use extract::{Extracted, Ring, extract};
pub use from_boot::from_boot;
pub use functions::FunctionFilters;
pub use limits::{Limits, Reached, Rotate, free_space};
pub use live_rings::{Audience, LiveBuffer, LiveFacts};
pub use machine::{MachineSettings, TracerSettings, TracerTime};
pub use observer::{Live, Observer};
pub use plan::{BufferPlan, EventPlan, Plan, SavePlan, TargetBuffer, Tasks};
pub use saver::{Save, SavesMade};
pub use sentry::Sentry;
pub use session::{Beside, become_real_time, record, record_beside};
pub use spool::Dropped;
pub use start_at::StartAt;
pub use store::RingTally;
pub use stream::{LiveStream, Streamed};
pub use summary::{BufferSummary, CpuSummary, RecordSummary, Totals};
pub use user::{User, UserError};
pub use watch::Interference;
pub use worker::WorkerError;

// Internal: for the program and its tests.
#[doc(hidden)]
pub use crate::base::sys::notice_children;
#[doc(hidden)]
pub use child::{Child, RecordedCommand};
#[doc(hidden)]
pub use chunk::{MAX_CHUNK, chunk_size};
#[doc(hidden)]
pub use comms::CommLearner;
#[doc(hidden)]
pub use drain::{Drain, Progress};
#[doc(hidden)]
pub use extract::header;
#[doc(hidden)]
pub use limits::{Budget, MIN_RING_SHARE};
#[doc(hidden)]
pub use metadata::uname;
#[doc(hidden)]
pub use output::{new_file, trace_id};
#[doc(hidden)]
pub use own::{filter_of_other_tasks, filter_of_others};
#[doc(hidden)]
pub use recover::{Rings, left_unfinished, recover};
#[doc(hidden)]
pub use save_door::ask_to_save;
#[doc(hidden)]
pub use sink::{ChunkSink, Remote, RemoteRing, Sent};
#[doc(hidden)]
pub use spool::{AppendError, Keep, Spool};
#[doc(hidden)]
pub use start::{COMMAND_PID, Mode, OWN_PID, dry_run, start};
#[doc(hidden)]
pub use stop::{Arrived, Signals, Watched, wait};
#[doc(hidden)]
pub use store::{Fed, Feed};
#[doc(hidden)]
pub use tasks::{Comm, threads_of};
#[doc(hidden)]
pub use trace_clock::{TraceClockReader, main_clock};
#[doc(hidden)]
pub use wall_clock::wall_clock_at_zero;
#[doc(hidden)]
pub use worker::{Drained, Worker};

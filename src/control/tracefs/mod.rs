//! Internal, but for [`Tracefs`] and [`Journal`]. The only code that spells a tracefs path: instances, events, knobs.
//!
//! - [`Tracefs`] is a mounted tracing directory, [`Instance`] its top level or one of `instances/`: reading goes
//!   through them;
//! - [`Journal`] is the only way to write: it notes the old value, writes, logs the write as a shell line and puts
//!   everything back in reverse order, also after a `kill -9` (see [`Orphan`]);
//! - [`Feature`] says what this kernel can do and which CONFIG is missing.
//!
//! Kernel documentation: `Documentation/trace/ftrace.rst` and `events.rst`.

mod access;
mod boot_form;
mod buffer;
mod clock;
mod dry;
mod error;
mod error_log;
mod event_settings;
mod feature;
mod files;
mod function_profile;
mod functions;
mod instance;
mod journal;
mod kvm;
mod machine_knobs;
mod monitors;
mod mount;
mod remotes;
mod root;
mod stats;
mod status;
mod words_of_others;

pub use crate::kernel::events::{EventName, EventSelection, glob_matches};
pub use access::consumes;
pub use boot_form::{BootForm, BootSetting};
pub use buffer::BufferSize;
pub use clock::TraceClock;
pub use dry::DryRun;
pub use error::Error;
pub use error_log::{LogEntry, missing_config};
pub use feature::{Feature, KernelTypes};
pub use files::{Files, RealFiles, WriteMode};
pub use function_profile::{FunctionProfile, StackTrace};
pub use functions::FunctionList;
pub use instance::Instance;
pub use journal::{
    JOURNAL_DIR, Journal, JournalledRecording, Orphan, Orphans, RecordedBuffer, ResetPlan, UndoError, WriteLog,
    find_orphans, find_orphans_within,
};
pub use kvm::{KvmFolders, KvmGuest};
pub use machine_knobs::MachineKnob;
pub use mount::{MountPoint, mount_points};
pub use remotes::RemoteState;
pub use root::Tracefs;
pub use stats::CpuStats;
pub use status::{Status, boot_clock};

//! All of a trace file but its events: prefix, options, sections, and what they say.

mod attach;
pub(super) mod buffer;
mod enabled_events;
mod extents;
mod kernel_view;
mod meta;
mod open;
mod option_checks;
pub(super) mod options;
pub(super) mod owned_dir;
mod page_size;
pub(super) mod prefix;
pub(super) mod private_options;
mod proc_maps;
mod salvage;
pub(super) mod scan;
mod sections;
pub(super) mod siblings;
mod spool_table;
pub(super) mod sums;
pub(super) mod times;
mod trace;
mod unsaved;
mod v6;
mod v7;

pub use buffer::{Buffer, BufferOption, CpuData, DataLayout};
pub use enabled_events::EnabledEvents;
pub use kernel_view::{KernelOptions, KernelView};
pub use options::RawOption;
pub use prefix::{MAGIC, Prefix};
pub use proc_maps::{Mapping, ProcessMap};
pub use sections::Section;
pub use siblings::{Siblings, spool_name};
pub use spool_table::{SpoolEntry, SpoolTable};
pub use trace::Trace;
pub use unsaved::UnsavedEvents;

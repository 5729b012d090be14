//! Linux tracing through tracefs: recorded, decoded and steered. The library of the program `rtrace`.
//!
//! A [`Recording`] is opened once; a [`Query`] selects events of it and lends each [`Event`] in the order of time:
//!
//! ```
//! use rtrace::Recording;
//! use std::collections::BTreeMap;
//!
//! let recording = Recording::open_path("tests/data/traces/host/small-zlib.dat")?;
//!
//! let mut counts: BTreeMap<String, u64> = BTreeMap::new();
//! recording.query().for_each(|event| *counts.entry(event.name().to_owned()).or_default() += 1)?;
//! counts.iter().for_each(|(name, count)| println!("{count:>12} {name}"));
//! assert_eq!(counts["sched_switch"], 6);
//!
//! let outcome = recording.query().filter("sched:sched_switch: next_pid == 0")?.for_each(|event| {
//!     println!("[{:03}] {} ns {}: {}", event.cpu(), event.timestamp().0, event.name(), event.text());
//! })?;
//! assert_eq!((outcome.events, outcome.lost, outcome.damage.count), (2, 0, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An output format implements [`Exporter`], a question to many events [`Analysis`]; queries drive both on any number of
//! threads:
//!
//! ```
//! use rtrace::Recording;
//! use rtrace::analysis::Wakeups;
//!
//! let recording = Recording::open_path("tests/data/traces/host/small-zlib.dat")?;
//! let wakeups = Wakeups::new(recording.trace.formats(), recording.trace.abi, &recording.symbols);
//! let (latencies, outcome) = recording.query().threads(4).analyse(wakeups)?;
//! assert!(latencies.all.count > 0 && latencies.all.longest.0 > 0 && outcome.damage.count == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has whole programs: `print`, `count`, `filter`, `latency`, `live` and `payload`.
//!
//! # Public API
//!
//! - [`recording`]: [`Recording`], [`Query`], [`Event`], [`Outcome`]; [`LiveMerge`](recording::LiveMerge) while events happen;
//! - [`export`] and [`analysis`]: the traits [`Exporter`] and [`Analysis`], and their implementations;
//! - [`filter`], [`trigger`], [`hist`], [`synth`], [`probe`]: the kernel's event languages, parsed and checked;
//! - [`format`](mod@format) and [`print_fmt`]: event formats and their texts, for payloads from elsewhere too;
//! - [`record`](mod@record): [`Plan`] and [`record`](record::record()) make a recording.
//!
//! [`abi`], [`event`], [`events`], [`symbols`], [`syntax`], [`tracefs`] and [`units`] hold the types that these share. All
//! else is internal.
//!
//! The library never prints, never exits and knows neither the command line nor the terminal. `docs/architecture.md` in
//! the source is the map.

mod answer;
mod base;
mod control;
pub mod export;
mod file;
mod kernel;
mod language;
mod read;

pub use answer::analysis;
pub use base::{abi, syntax, units};
pub use control::{record, tracefs};
pub use kernel::{event, events, format, print_fmt, symbols};
pub use language::{filter, hist, probe, synth, trigger};
pub use read::recording;

pub use analysis::Analysis;
pub use export::Exporter;
pub use record::Plan;
pub use recording::{Event, Outcome, Query, Recording};

/// Public for the program `rtrace`, its tests and benchmarks, and changed without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::answer::{assertion, comparison, table};
    pub use crate::base::{safe_file, wall_time};
    pub use crate::control::network;
    pub use crate::export::answers;
    pub use crate::export::page;
    pub use crate::file::{ring_buffer, trace_dat};
    pub use crate::kernel::btf;
    pub use crate::read::merge;
}

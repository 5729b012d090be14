//! Linux tracing through tracefs: recorded, decoded and steered. The library behind the program `rtrace`.
//!
//! A recording is opened once; a query says which of its events are wanted and lends them in the order of time:
//!
//! ```
//! use rtrace::recording::Recording;
//! use std::collections::BTreeMap;
//! use std::fs::File;
//!
//! let recording = Recording::open(File::open("tests/data/traces/host/small-zlib.dat")?)?;
//!
//! let mut counts: BTreeMap<String, u64> = BTreeMap::new();
//! recording.query().for_each(|event| *counts.entry(event.name().to_owned()).or_default() += 1)?;
//! assert!(counts["sched_switch"] > 0);
//!
//! let mut printed = Vec::new();
//! let outcome = recording
//!     .query()
//!     .filter("sched:sched_switch: next_pid == 0")?
//!     .first(10)
//!     .for_each(|event| printed.push(format!("[{:03}] {}: {}", event.cpu(), event.name(), event.text())))?;
//! assert!(printed.iter().all(|line| line.contains("swapper")));
//! assert_eq!((outcome.events, outcome.lost, outcome.damage.count), (2, 0, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/` has whole programs: `print`, `count`, `filter` and `latency`.
//!
//! # What to use
//!
//! - [`recording`]: [`Recording`](recording::Recording), [`Query`](recording::Query), [`Event`](recording::Event);
//! - [`filter`], [`trigger`], [`hist`], [`synth`], [`probe`]: the kernel's event languages, parsed and checked;
//! - [`format`](mod@format) and [`print_fmt`]: event formats and their texts, for payloads from elsewhere too;
//! - [`record`]: [`Plan`](record::Plan) and [`record`](record::record) make a recording.
//!
//! The other modules serve these and the program `rtrace`. They are public for its tests and benchmarks, and change
//! without notice.
//!
//! The library never prints, never exits and knows neither the command line nor the terminal. `docs/architecture.md` in
//! the source is the map.

// shared
pub mod abi;
pub mod btf;
pub mod events;
pub mod filter;
pub mod format;
pub mod hist;
mod lazy;
pub mod probe;
pub mod safe_file;
pub mod syntax;
pub mod synth;
mod text;
pub mod trace_dat;
pub mod trigger;
pub mod units;

// decode
pub mod analysis;
pub mod event;
pub mod export;
pub mod merge;
pub mod print_fmt;
pub mod recording;
pub mod ring_buffer;
pub mod symbols;

// control
pub mod record;
mod sys;
pub mod tracefs;

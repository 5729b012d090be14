//! The library behind `rtrace`: Linux tracing through tracefs, recorded, decoded and steered.
//!
//! `docs/architecture.md` is the map. In short, three columns that meet only in the modules at the top:
//!
//! - shared: [`units`], [`abi`], [`format`](mod@format) and the little languages;
//! - decode: bytes of a trace file in, text or records out; opens no path, reads no clock;
//! - control: the only code that touches tracefs.
//!
//! The library never prints, never exits and knows neither the command line nor the terminal.

pub mod abi;
pub mod format;
pub mod units;

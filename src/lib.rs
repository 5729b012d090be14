//! The library behind `rtrace`: Linux tracing through tracefs, recorded, decoded and steered.
//!
//! `docs/architecture.md` is the map. In short, three columns that meet only in the modules at the top:
//!
//! - shared: [`units`], [`abi`], [`btf`], [`format`](mod@format), [`trace_dat`] and the little languages ([`syntax`], [`filter`],
//!   [`trigger`], [`hist`], [`synth`], [`probe`]);
//! - decode: bytes of a trace file in, text or records out; opens no path, reads no clock ([`ring_buffer`],
//!   [`print_fmt`], [`symbols`], [`event`], [`merge`], [`analysis`], [`export`]);
//! - control: the only code that touches tracefs ([`tracefs`], [`record`]).
//!
//! The library never prints, never exits and knows neither the command line nor the terminal.

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

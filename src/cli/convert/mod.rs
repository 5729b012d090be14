//! `rtrace convert`.

mod args;
mod command;
mod ctf;
mod directory;
mod events;
mod markers;
mod origin;
mod parts;
mod perfetto;
mod progress;
mod stacks;
mod tables;
mod target;
mod trace_dat;
mod tracks;

pub(crate) use args::ConvertArgs;
pub(crate) use command::run;
pub(crate) use events::write_tables;
pub(crate) use trace_dat::{ALL, RecordingCopy, write_edited};

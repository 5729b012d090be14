//! The front door: a recording opened, its events selected, ordered and handed out.

pub mod merge;
pub mod recording;

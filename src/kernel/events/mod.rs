//! Event names and the language of `-e`: which events are meant, of a kernel or of a recording.

mod glob;
mod name;
mod selection;

pub use glob::glob_matches;
pub use name::EventName;
pub use selection::{EventSelection, NoEvent};

//! `-` as the name of a file: standard input and standard output.

mod input;
mod output;
mod unnamed;

pub(crate) use input::open;
pub(crate) use output::{Outgoing, check, deliver, is_stdout, named, say_of, temporary};

//! `rtrace generate DIR`, hidden: writes `man/`, `completions/` and the columns of analyses from the command line's own description and from
//! `docs/reference`.
//!
//! The two folders are committed; a test runs this and compares, and `cargo run -- generate .` brings them up to date.

mod command;
mod pages;
mod roff;

pub(crate) use command::{GenerateArgs, run};

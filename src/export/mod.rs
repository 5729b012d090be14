//! One exporter per output format.

mod columns;
mod text;

pub use text::{Text, TextOptions, TimeColumn};

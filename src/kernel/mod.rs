//! The kernel's description of its events: formats, types, symbols, print formats.

pub mod btf;
pub mod event;
pub mod events;
pub mod format;
pub mod print_fmt;
pub mod symbols;

//! The kernel's event languages: parsed, checked, printed, evaluated.

pub mod filter;
pub mod hist;
pub mod probe;
pub mod synth;
pub mod trigger;

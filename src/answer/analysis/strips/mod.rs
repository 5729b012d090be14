//! Strips: each CPU's events, losses and occupation in columns of equal time, for pictures of any window.

mod follow;
#[cfg(test)]
mod tests;

pub use follow::{Strip, StripCell, StripScale};
pub use follow::{StripPart, Strips};

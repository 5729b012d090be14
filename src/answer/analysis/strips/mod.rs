//! Strips: each CPU's events, losses and occupation in columns of equal time, for pictures of any window.

mod cells;
mod follow;
#[cfg(test)]
mod tests;

pub use cells::{Strip, StripCell, StripScale};
pub use follow::{StripPart, Strips};

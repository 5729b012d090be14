//! The front door: a [`Recording`] is opened once, the same way for everybody.

mod open;

pub use open::Recording;

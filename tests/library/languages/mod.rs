//! The event languages against what kernels said, in captured texts.

mod captured;
mod examples;
mod filter;
mod probe;
mod reference;
mod round_trip;
mod trigger;

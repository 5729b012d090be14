//! The event languages against what kernels said: captured texts, and the running kernel where it can be asked.

#[path = "../common/echoes.rs"]
mod echoes;
#[path = "../common/not_run.rs"]
mod not_run;

mod captured;
#[path = "../common/examples.rs"]
mod documented;
mod examples;
mod filter;
mod filter_agrees;
mod probe;
mod reference;
mod round_trip;
mod trigger;

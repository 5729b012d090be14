//! The clocks of two machines, compared while both record: trace-cmd's protocol `ptp`, and for guests of KVM `kvm`.
//!
//! On a connection of its own the controller asks for rounds: one before tracing is on, one from time to time, one after
//! CLOSE. In a round the agent sends probes for each of its CPUs ([`Prober`]), which the controller sends back at once and
//! stamps ([`Answerer`]). Stamps are readings of the trace clocks. A probe leaves at `s`, is stamped `c` at the controller, and
//! is back at `r`: `c` lies between, so that `c - (s + r) / 2`, to be added to the agent's times, is wrong by `(r - s) / 2` at
//! most. The fastest probe of a series counts.

mod answering;
mod fastest;
#[cfg(test)]
mod tests;

pub(super) use answering::Prober;
pub(super) use answering::{Answerer, Comparing, SyncResult};

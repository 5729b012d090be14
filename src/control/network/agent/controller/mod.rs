//! The controller as a recording's other end.
//!
//! The answer to its request needs to know the rings, so it goes out with the description. The controller connects to each
//! CPU's port then, or reads the FIFOs; tracing starts after that.

mod remote;
mod session;

pub(super) use remote::Controller;

//! Requests to block devices: time in the queue, at the device, depth. `rtrace help analyses` has the definitions.
//!
//! ```text
//!   block_rq_insert ---- queue ----> block_rq_issue ---- device ----> block_rq_complete
//!   `---------------------------- total -------------------------------'
//! ```

mod events;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use events::{BlockDevice, IoOperation};
pub(in crate::answer::analysis) use events::{RequestEvent, RequestEvents, RequestStep};
pub use follow::Io;
pub use report::{
    DepthTimes, DeviceIo, IO_NEEDS, IoCounts, IoReport, IoRequests, LongestRequest, OngoingRequest, TaskIo,
};

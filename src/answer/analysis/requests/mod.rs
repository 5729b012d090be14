//! Requests: what the threads that carry them do from a begin to an end. `rtrace help analyses` has the definitions.
//!
//! ```text
//!   begin, by one thread     taken by another one            end
//!     |--- run -|- io -|- run -|  queued  |- wait -|- run ---|
//!     |  a leg of the first    |          |  a leg of the    |
//!     |                        |          |  second          |
//! ```
//!
//! At most one thread carries a request at any time, and a thread at most one request. The states of the threads in their
//! legs, and the time in which no thread carries it, add up to a request's span exactly.

mod carriers;
mod causes;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use follow::{MarkerPattern, RequestSide};
pub use follow::{RequestPlan, RequestTimes};
pub use report::{REQUEST_NEEDS, RequestCounts, RequestPart, RequestPiece, RequestReport, TimedRequest};

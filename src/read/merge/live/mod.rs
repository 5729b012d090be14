//! Internal, but for what [`recording`](crate::read::recording) names. Records of running rings in the order of time.

mod ordered;
mod queue;

pub use ordered::LiveMerge;

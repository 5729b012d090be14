//! Numbers instead of events: how many of what kind, where, when and by whom.

mod counts;
mod exporter;
mod shown;

pub use counts::{BufferCounts, CpuTally, EventTally};
pub use exporter::{Count, EventSummary};
pub use shown::SummaryBuffer;

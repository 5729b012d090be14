//! Numbers instead of events: how many of what kind, where, when and by whom.

mod count;
mod counts;
mod exporter;
mod json;
mod text;

pub use count::Count;
pub use counts::{BufferCounts, CpuTally, EventTally};
pub use exporter::EventSummary;
pub use text::SummaryBuffer;

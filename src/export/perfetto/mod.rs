//! Perfetto's trace format: <https://perfetto.dev/docs/reference/trace-packet-proto>, for its viewer and its SQL engine.
//!
//! Each CPU's events stand in bundles (`FtraceEventBundle`). An event that Perfetto knows is its own message, from which
//! the engine builds `sched`, `thread_state`, slices and counters; all others describe themselves ([`program`]). The
//! recording's time stamps are the trace's: the engine takes them for CLOCK_BOOTTIME, and a clock snapshot says what else
//! they are.
//!
//! | recording | trace |
//! |---|---|
//! | event | a row of `ftrace_event` of the same name, its fields as arguments |
//! | lost events | `lost_events` of the bundle they were lost before, an instant on a track of their CPU, and what runs on the CPU meanwhile; ends of handlers |
//! | switches that do not follow each other | what runs on the CPU between them |
//! | the CPUs' counters at the end | `FtraceStats` |
//! | tasks' names, their processes | `ProcessTree` |
//! | function_graph | slices, with the functions' names; with the values returned as arguments `retval`, where they were recorded |
//! | markers | those of atrace's syntax as the engine reads them, all others as instants |
//! | kernel stacks | arguments by name, and samples with call stacks |
//! | several files | a machine each |
//! | an instance's events that the top buffer has too | events that describe themselves, with a field `instance` |

mod bundle;
mod calls;
mod exporter;
mod gaps;
mod header;
mod known;
mod program;
mod proto;
mod stacks;
mod tracks;

pub use exporter::{LeftOut, Perfetto, PerfettoBuffer, PerfettoState};
pub use header::PerfettoFile;
pub use tracks::{CounterField, PerfettoCounters, perfetto_counter, perfetto_requests, perfetto_slices};

//! Interrupts, soft interrupts, timers and work items: durations with nesting taken out, and delays. `rtrace help analyses`
//! has the definitions.
//!
//! ```text
//!   CPU:  irq_handler_entry ... exit      nested in      softirq_entry ... timer_expire_entry ... exit ... softirq_exit
//!         own time of the outer one = its time - the time of those within
//! ```

mod events;
mod follow;
mod report;
#[cfg(test)]
mod tests;

pub use events::HandlerKind;
pub use follow::Irqs;
pub use report::{CpuIrqs, Handler, HandlerOnCpu, HandlerSpan, IRQ_NEEDS, IrqCounts, IrqReport, IrqSource, LongestIrq};

//! Functions of the kernel, as function_graph saw them called: how long they took, with and without those they called, time
//! off the CPU and interrupts taken out.
//!
//! ```text
//! funcgraph_entry: func=vfs_read depth=1          funcgraph_exit: func=vfs_read depth=1
//! ```

mod follow;
#[cfg(test)]
mod tests;

pub use follow::FunctionTimes;
pub use follow::{
    CalledFunction, FUNCTION_NEEDS, FoldedFrame, FoldedTime, FunctionCounts, FunctionReport, LongestCall,
};

//! Names for numbers: kernel addresses, trace_printk strings and task names, each parsed from the text the kernel gives.

mod comms;
mod kallsyms;
mod printk;

pub use comms::Comms;
pub use kallsyms::{Kallsyms, Symbol};
pub use printk::PrintkFormats;

/// Everything a recording says of names outside of its format files. Immutable once read; what is learnt while printing
/// lies in [`event::State`](crate::event::State).
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// `/proc/kallsyms` of the recorded kernel.
    pub kallsyms: Kallsyms,
    /// `printk_formats`: the addresses of constant strings.
    pub printk: PrintkFormats,
    /// `saved_cmdlines`: what the tasks were called.
    pub comms: Comms,
}

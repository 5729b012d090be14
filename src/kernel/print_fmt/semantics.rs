//! The two readings of a print format.

/// The reader of a print format whose meaning a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The kernel's: C's types, signs and conversions.
    Kernel,
    /// libtraceevent's, as trace-cmd 3.4 uses it: fields are read unsigned, casts only cut, all comparisons are unsigned.
    TraceCmd,
}

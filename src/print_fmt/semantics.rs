//! The two readings of a print format.

/// Whose reading of a print format a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The kernel's: C's types, signs and conversions.
    Kernel,
    /// libtraceevent's, as trace-cmd 3.4 uses it: fields are read unsigned, casts only cut, all comparisons are unsigned.
    TraceCmd,
}

//! Options for the texts of events, decided before the first one.

use crate::kernel::print_fmt::Semantics;

/// Options that [`EventTypes`](super::EventTypes) are built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whose reading of print formats to follow.
    pub semantics: Semantics,
    /// True if events with a wording of their own in trace-cmd (its plugins) get it; `false` is trace-cmd's `-N`.
    pub plugins: bool,
    /// True if the text is the list of the fields; trace-cmd's `-r`.
    pub raw: bool,
    /// Layout of the function tracer's events.
    pub function: FunctionOptions,
    /// Layout of the function_graph tracer's events.
    pub graph: GraphOptions,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            semantics: Semantics::TraceCmd,
            plugins: true,
            raw: false,
            function: FunctionOptions::default(),
            graph: GraphOptions::default(),
        }
    }
}

/// trace-cmd's `-O ftrace:...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionOptions {
    /// Indent functions below their callers.
    pub indent: bool,
    /// Show callers: `func <-- parent`.
    pub parent: bool,
    /// Show the offset within the function.
    pub offset: bool,
}

impl Default for FunctionOptions {
    fn default() -> Self {
        FunctionOptions { indent: true, parent: false, offset: false }
    }
}

/// trace-cmd's `-O fgraph:...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// Repeat the function's name after its closing brace.
    pub tail: bool,
    /// Show how deep the call is nested.
    pub depth: bool,
    /// Do not show return values.
    pub retval_skip: bool,
    /// Show return values in decimal.
    pub retval_dec: bool,
    /// Show return values in hexadecimal.
    pub retval_hex: bool,
}

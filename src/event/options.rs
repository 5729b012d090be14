//! How events are to be printed, decided before the first one.

use crate::print_fmt::Semantics;

/// What [`EventTypes`](super::EventTypes) are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whose reading of print formats to follow.
    pub semantics: Semantics,
    /// Whether events with a wording of their own in trace-cmd (its plugins) get it; `false` is trace-cmd's `-N`.
    pub plugins: bool,
    /// Whether the text is the list of the fields; trace-cmd's `-r`.
    pub raw: bool,
    /// How the function tracer's events look.
    pub function: FunctionOptions,
    /// How the function_graph tracer's events look.
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
    /// Repeat the function's name behind its closing brace.
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

//! Spans, diagnostics and tokens: shared by the little languages.

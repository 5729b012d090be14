//! Synthetic events, from options or from SQL.

//! Event triggers: parse, check, print.

//! One exporter per output format.

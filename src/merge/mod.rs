//! Per-CPU streams to one stream ordered by (timestamp, cpu).

//! Histogram triggers and the tables the kernel prints for them.

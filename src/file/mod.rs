//! Sub-buffers and trace.dat files, read and written.

pub mod ring_buffer;
pub mod trace_dat;

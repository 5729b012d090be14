//! `print fmt` compiled once per event to a program that writes straight into the output buffer.

//! Whole kernels, booted under QEMU: what needs a kernel of its own, or another one than this machine's.

mod captured;
mod events;
mod guest_machine;
mod harness;
mod hist;
mod text;

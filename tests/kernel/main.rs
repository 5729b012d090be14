//! Whole kernels, booted under QEMU: what needs a kernel of its own, or another one than this machine's.

mod captured;
#[path = "../common/examples.rs"]
mod documented;
#[path = "../common/echoes.rs"]
mod echoes;
mod events;
mod examples;
mod forms;
mod guest_machine;
mod harness;
#[path = "../common/help_examples.rs"]
mod help_examples;
mod hist;
mod languages;
mod load;
mod module;
mod newest;
#[path = "../common/not_run.rs"]
mod not_run;
mod peers;
mod persistent;
mod recorder;
mod text;
#[path = "../common/trace_cmd.rs"]
mod trace_cmd;
mod tracers;
mod verbs;
mod whole;
mod whole_file;

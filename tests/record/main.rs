//! `rtrace record`: the command line, the whole recorder over a fake tracing directory, and the running kernel.

#[path = "../common/environment.rs"]
mod environment;
#[path = "../common/knobs.rs"]
mod knobs;
#[path = "../common/not_run.rs"]
mod not_run;

mod allocations;
mod command_line;
mod ends;
mod fake;
mod host;
mod limits;
mod names;
mod often;
mod state;
mod user_stacks;

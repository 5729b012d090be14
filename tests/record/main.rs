//! `rtrace record`: the command line, the whole recorder over a fake tracing directory, and the running kernel.

#[path = "../common"]
mod common {
    pub(crate) mod account;
    pub(crate) mod bounded;
    pub(crate) mod counting;
    pub(crate) mod environment;
    pub(crate) mod example_programs;
    pub(crate) mod help_examples;
    pub(crate) mod installed_trace_cmd;
    pub(crate) mod knobs;
    pub(crate) mod listening;
    pub(crate) mod long;
    pub(crate) mod not_run;
    #[cfg(feature = "view")]
    #[expect(dead_code, reason = "tests of `view` use more of it")]
    pub(crate) mod on_screen;
    pub(crate) mod profiles;
    #[expect(dead_code, reason = "the command line's tests use more of it")]
    pub(crate) mod pty;
    pub(crate) mod small_disk;
}

mod agent;
mod allocations;
mod analyses;
mod at_once;
mod balance;
mod cgroups;
mod changed;
mod ci_jobs;
mod clocks;
mod command_line;
mod datagrams;
mod ends;
mod fake;
mod fifos;
mod filter_agrees;
#[cfg(feature = "view")]
mod growing;
mod host;
mod languages;
mod limits;
mod live_example;
mod names;
mod network;
mod often;
mod orphan_rings;
mod overlap;
mod profiles;
mod readme;
mod recipes;
mod rights;
mod running_ring;
mod saves;
mod service;
mod standard_output;
mod state;
mod stop_if;
mod syscalls;
mod threads;
#[cfg(feature = "view")]
mod top;
mod tracefs;
mod triggers;
mod user_stacks;
mod wall_clock;

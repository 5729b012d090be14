//! Other kernels, booted under QEMU, and the other program: what trace-cmd reads and writes.

#[path = "../common"]
mod common {
    pub(crate) mod bounded;
    pub(crate) mod echoes;
    #[expect(dead_code, reason = "the command line's tests use more of it")]
    pub(crate) mod environment;
    pub(crate) mod examples;
    #[expect(dead_code, reason = "other tests use more of it")]
    pub(crate) mod guest_files;
    pub(crate) mod help_examples;
    pub(crate) mod installed_trace_cmd;
    #[expect(dead_code, reason = "the recorder's tests use more of it")]
    pub(crate) mod listening;
    pub(crate) mod long;
    pub(crate) mod not_run;
    #[expect(dead_code, reason = "other tests use more of it")]
    pub(crate) mod synthetic;
    pub(crate) mod trace_cmd;
}

mod all7;
mod captured;
mod clocks;
mod events;
mod examples;
mod forms;
mod from_boot;
mod guest_machine;
mod harness;
mod hist;
mod languages;
mod left_by_guests;
mod load;
mod module;
mod newest;
mod offline;
mod peers;
mod persistent;
mod recorded_hist;
mod recorder;
mod service;
mod stop_if;
mod suites;
mod table;
mod text;
mod tracers;
mod verbs;
mod vsock;
mod whole;
mod whole_file;

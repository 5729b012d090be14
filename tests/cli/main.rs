//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common"]
mod common {
    pub(crate) mod account;
    pub(crate) mod bounded;
    pub(crate) mod corpus;
    pub(crate) mod environment;
    pub(crate) mod example_programs;
    pub(crate) mod guest_files;
    pub(crate) mod help_examples;
    pub(crate) mod installed_trace_cmd;
    pub(crate) mod knobs;
    #[expect(dead_code, reason = "the recorder's tests use more of it")]
    pub(crate) mod listening;
    pub(crate) mod long;
    pub(crate) mod not_run;
    #[cfg(feature = "view")]
    pub(crate) mod on_screen;
    pub(crate) mod profiles;
    pub(crate) mod pty;
    pub(crate) mod small_disk;
    pub(crate) mod synthetic;
    pub(crate) mod trace_files;
}

mod analyze;
mod attach;
mod cgroups;
mod check;
mod completions;
mod contents;
mod contracts;
mod convert;
mod ctf;
mod damaged;
mod diff;
mod doctor;
mod documents;
mod effects;
mod errors;
mod example_programs;
mod examples;
mod files;
mod flame;
mod generated;
mod help;
mod hostile;
mod languages;
mod listen;
mod machine;
mod manual;
mod parts;
mod perfetto;
mod profile;
mod recorded_hist;
mod setup_guest;
mod standard_output;
mod statements;
mod tables;
mod threads;
mod trace_cmd;
mod verbs;
#[cfg(feature = "view")]
mod view;
mod walk;
mod why;
mod widths;

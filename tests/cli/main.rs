//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common/environment.rs"]
mod environment;
#[path = "../common/knobs.rs"]
mod knobs;
#[path = "../common/not_run.rs"]
mod not_run;

mod documents;
mod files;
mod generated;
mod help;
mod languages;
mod trace_cmd;
mod verbs;

//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common/environment.rs"]
mod environment;
#[path = "../common/knobs.rs"]
mod knobs;

mod documents;
mod generated;
mod help;
mod verbs;

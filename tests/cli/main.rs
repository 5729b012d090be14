//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common/environment.rs"]
mod environment;

mod documents;
mod generated;
mod help;

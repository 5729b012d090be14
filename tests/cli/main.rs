//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common/environment.rs"]
mod environment;
#[path = "../common/help_examples.rs"]
mod help_examples;
#[path = "../common/knobs.rs"]
mod knobs;
#[path = "../common/not_run.rs"]
mod not_run;
#[path = "../common/profiles.rs"]
mod profiles;

mod documents;
mod examples;
mod files;
mod generated;
mod help;
mod languages;
mod profile;
mod trace_cmd;
mod verbs;
mod walk;

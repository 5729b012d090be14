//! The built program, as a user meets it: stdout, stderr and exit status.

#[path = "../common"]
mod common {
    pub(crate) mod bounded;
    pub(crate) mod corpus;
    pub(crate) mod environment;
    pub(crate) mod example_programs;
    pub(crate) mod help_examples;
    pub(crate) mod knobs;
    pub(crate) mod not_run;
    pub(crate) mod profiles;
    pub(crate) mod pty;
    pub(crate) mod synthetic;
}

mod documents;
mod example_programs;
mod examples;
mod files;
mod generated;
mod help;
mod hostile;
mod languages;
mod machine;
mod profile;
mod threads;
mod trace_cmd;
mod verbs;
mod walk;

//! `rtrace attach`.

mod command;
mod offsets;
mod vcpus;

pub(crate) use command::{AttachArgs, run};

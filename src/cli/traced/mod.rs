//! Options that record, stream, profile, start and set share: events, tracers, tasks, the command that is run.

mod args;
mod in_order;
mod profile;
mod purpose;
mod tracers;

pub(crate) use args::{SessionArgs, Traced};
pub(crate) use profile::{TracedProfileArgs, WhatArgs, add as add_profile, parse_hook};
pub(crate) use purpose::{add as add_purpose, events_of_purposes, purposes};
pub(crate) use tracers::{mask_of, micros};

//! `rtrace hist`.

mod chains;
mod command;
mod live;
mod output;
mod place;
mod session;
mod spec;

pub(super) use command::{Args, run};
pub(super) use output::OutputArgs;
pub(super) use place::{
    LONG_LIVED, PlaceArgs, SetArgs, add_trigger, clock_note, event, events_with_hists, hist_triggers, remove_all,
    syntax_failure, users,
};
pub(super) use session::{Session, UntilArgs};
pub(super) use spec::read_format;

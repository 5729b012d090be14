//! `rtrace hist`.

mod chain;
mod chains;
mod command;
mod live;
mod output;
mod place;
mod recorded;
mod return_addresses;
mod session;
mod spec;

pub(super) use chain::{definitions, instances, losses_of, triggers_of};
pub(super) use command::{HistArgs, run};
pub(super) use live::HistDisplay;
pub(super) use output::{HistOutputArgs, Printer, moot_output, table_with_variable};
pub(super) use place::{
    HistSetArgs, LONG_LIVED, PlaceArgs, add_trigger, add_triggers, clock_note, event, events_with_hists, hist_triggers,
    lines_in_own, neighbours, remove_all, syntax_failure, users,
};
pub(super) use recorded::{
    Answered, HistLosses, HistRefresh, HistStream, RecordedArgs, TriggerArgs, Triggers, WhereArgs, find_format,
    of_events, show_table,
};
pub(super) use session::{HistSession, UntilArgs, unfired};
pub(super) use spec::{clock, named, read_format};

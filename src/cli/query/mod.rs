//! The events of recordings that a command line asks for: arguments to a query, and what is done with its events. Shared
//! by the commands that decode events.

mod align;
mod answer;
mod args;
mod events;
mod filters;
pub(crate) mod formats;
mod input;
mod nothing;
mod select;
mod selected;
mod stack_buffers;
mod unit;
mod wall;
mod window;

pub(crate) use answer::{answer, one_buffer};
pub(crate) use args::QueryArgs;
pub(crate) use events::QueryEvents;
pub(crate) use input::QueryInput;
pub(crate) use select::SelectArgs;
pub(crate) use selected::{LimitedPart, Selected};
pub(crate) use stack_buffers::stack_buffers;
pub(crate) use unit::ClockUnit;
pub(crate) use wall::WallArgs;
pub(crate) use window::{QueryMoment, WindowArgs};

//! The events of recordings that a command line asks for: arguments to a query, and what is done with its events. Shared
//! by the commands that decode events.

mod args;
mod events;
pub(crate) mod formats;
mod input;
mod nothing;
mod select;
mod window;

pub(crate) use args::QueryArgs;
pub(crate) use events::{QueryEvents, answer, one_buffer};
pub(crate) use formats::{ShownNames, stack_buffers};
pub(crate) use input::{Align, QueryInput, before_zero, moment, parse as parse_align, shift, shifted};
#[cfg(feature = "view")]
pub(crate) use nothing::{no_task_called, none_called};
pub(crate) use rtrace::internal::answers::ClockUnit;
pub(crate) use select::{LimitedPart, SelectArgs, Selected, no_cgroup, no_cgroups};
pub(crate) use window::{
    QueryMoment, WallArgs, WindowArgs, add_wall, local_time, tell_of_early, wall_clock, window_json,
};

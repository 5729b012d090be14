//! The tree of one interval, for another screen than `why`'s own text.

use super::args::WhyArgs;
use super::{command, text};
use crate::cli::analyze::FileArgs;
use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryMoment};
use crate::cli::terminal::PagerArgs;
use rtrace::units::{CpuId, Pid};
use std::num::NonZeroUsize;

/// An interval of a task, taken apart.
pub(crate) struct WhyTree {
    /// The interval.
    pub(crate) title: String,
    /// Notes, then the tree: each line with the moment and the CPU that it leads to.
    pub(crate) lines: Vec<(String, Option<(u64, CpuId)>)>,
}

impl WhyTree {
    /// Of the interval of the task around `at`, in the buffer of this name.
    pub(crate) fn around(events: &QueryEvents<'_>, buffer: &str, pid: Pid, at: u64) -> Result<Self, Failure> {
        let args = WhyArgs {
            task: pid.0.to_string(),
            file: FileArgs::default(),
            at: Some(QueryMoment::at(at)),
            worst: None,
            intervals: NonZeroUsize::MIN,
            call: Vec::new(),
            pair: None,
            depth: 3,
            top: None,
            buffer: Some(buffer.to_owned()),
            json: false,
            pager: PagerArgs::default(),
        };
        let asked = command::WhyQuestion::of(&args, events)?;
        let found = asked.take_apart(asked.longest())?;
        let notes = found.notes().into_iter().map(|note| (format!("Note: {note}"), None));
        Ok(WhyTree { title: found.headline(), lines: notes.chain(text::table(&found, args.lines())).collect() })
    }
}

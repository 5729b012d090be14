//! The arguments of `rtrace report` together with the events that they ask for.

use super::args::ReportArgs;
use crate::cli::query::QueryEvents;
use std::ops::Deref;

/// The output for the files.
pub(super) struct ReportRun<'a> {
    pub(super) args: &'a ReportArgs,
    pub(super) events: QueryEvents<'a>,
}

impl<'a> Deref for ReportRun<'a> {
    type Target = QueryEvents<'a>;

    fn deref(&self) -> &QueryEvents<'a> {
        &self.events
    }
}

//! A query's events for a closure.

use super::{Decoder, Event, Outcome, Query, QueryError};
use crate::kernel::event::{DecodeOptions, Record};
use std::cell::RefCell;
use std::ops::ControlFlow;

impl Query<'_> {
    /// Calls `see` for each event.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn for_each(self, mut see: impl FnMut(&Event<'_>)) -> Result<Outcome, QueryError> {
        self.run(|event| {
            see(event);
            ControlFlow::Continue(())
        })
    }

    /// Calls `see` for each event until it fails, with the first error.
    ///
    /// # Errors
    /// As [`Query::run`], and what `see` returns.
    pub fn try_for_each<E: From<QueryError>>(
        self,
        mut see: impl FnMut(&Event<'_>) -> Result<(), E>,
    ) -> Result<Outcome, E> {
        let mut failed = None;
        let outcome = self.run(|event| match see(event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failed.map_or(Ok(outcome), Err)
    }

    /// Calls `see` for each event until it breaks. Damage costs the damaged page only and is counted in the outcome.
    ///
    /// # Errors
    /// [`QueryError`] before the first event: as [`Query::resolve`], and a file that cannot be read.
    pub fn run(self, mut see: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<Outcome, QueryError> {
        let options = DecodeOptions::default();
        let decoders: Vec<Decoder<'_>> = self.recordings.iter().map(|of| Decoder::new(of, &options)).collect();
        let states: Vec<_> = self.recordings.iter().map(|of| RefCell::new(of.state())).collect();
        let mut resolved = self.resolve()?;
        let mut outcome = resolved.walk(|current| {
            let record = current.record();
            let source = &self.sources[record.buffer];
            let record = Record { buffer: source.buffer, ..record };
            let flow = see(&decoders[source.recording].event(record, &states[source.recording]));
            Ok::<_, QueryError>(flow)
        })?;
        outcome.undecoded =
            states.iter().flat_map(|s| s.borrow().undecoded().map(|(_, n)| n).collect::<Vec<_>>()).sum();
        Ok(outcome)
    }
}

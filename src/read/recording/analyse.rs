//! A query's events through an analysis, on any number of threads.

use super::Exporter;
use super::{ExportError, Outcome, Query, QueryError};
use crate::answer::analysis::Analysis;
use crate::kernel::event::{Consumed, Record};
use crate::read::merge::ahead::{Commit, Following};
use std::io;

impl Query<'_> {
    /// Feeds the events to `analysis`, on as many threads as [`Query::threads`] says. Gives what it found.
    ///
    /// # Errors
    /// [`QueryError`], as [`Query::resolve`], and a file that cannot be read.
    pub fn analyse<A: Analysis>(&self, analysis: A) -> Result<(A::Finding, Outcome), QueryError> {
        let (part, outcome) = self.analyse_on(&analysis, analysis.begin())?;
        Ok((analysis.finish(part), outcome))
    }

    /// One query of several whose events are analysed one after the other: goes on with `part`.
    ///
    /// # Errors
    /// As [`Query::analyse`].
    pub fn analyse_on<A: Analysis>(&self, analysis: &A, part: A::Part) -> Result<(A::Part, Outcome), QueryError> {
        let mut resolved = self.resolve()?;
        resolved.narrow(|source, id| analysis.reads(source, id));
        let exporter = Analysed(analysis);
        if resolved.is_unlimited() {
            return match resolved.on_threads(&exporter, part, &mut io::sink()) {
                Err(ExportError::Query(error)) => Err(error),
                Err(ExportError::Write(error)) => panic!("a thread panicked: {error}"),
                Ok(done) => Ok(done),
            };
        }
        let mut part = part;
        let outcome = resolved.walk(|current| {
            current.export(&exporter, &mut part, &mut Vec::new());
            Ok::<_, QueryError>(std::ops::ControlFlow::Continue(()))
        })?;
        Ok((part, outcome))
    }
}

/// An analysis as an exporter that writes nothing.
struct Analysed<'a, A>(&'a A);

impl<A: Analysis> Exporter for Analysed<'_, A> {
    type State = A::Part;

    const FOLLOWING: Following = Following::OnCpu;

    fn state(&self) -> A::Part {
        self.0.begin()
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        part: &mut A::Part,
        _: &mut Vec<u8>,
    ) -> Consumed {
        self.0.record(record, next, part);
        Consumed::One
    }

    fn fork(&self, _: &A::Part, used: Option<A::Part>) -> A::Part {
        self.0.fork(used)
    }

    fn commit(&self, known: &mut A::Part, done: &mut A::Part, _: &mut Vec<u8>) -> Commit {
        self.0.merge(known, done);
        Commit::Accept
    }
}

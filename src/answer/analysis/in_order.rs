//! Analyses whose every step depends on all events before it.

use super::Analysis;
use super::log::Log;
use crate::kernel::event::Record;

/// An analysis whose every step depends on all events before it. Other threads read, unpack, merge and select for it,
/// and hand it copies of the records that it wants.
pub trait InOrder: Clone + Send + Sync {
    /// The answer.
    type Finding;

    /// False if records of the event type `id` say nothing to it. Such records may be left out, but for those that follow a loss.
    fn reads(&self, _id: u16) -> bool {
        true
    }

    /// True if [`InOrder::record`] does anything with such a record.
    fn wants(&self, _record: &Record<'_>) -> bool {
        true
    }

    /// Takes the next record, in the order of time.
    fn record(&mut self, record: &Record<'_>);

    /// The answer, after the last record.
    fn finish(self) -> Self::Finding;
}

/// The state after all events so far, or copies of later ones.
pub enum Ordered<S> {
    /// The analysis after the events so far.
    Known(S),
    /// Events whose turn has not come.
    Later(Log),
}

impl<S: InOrder> Analysis for S {
    type Part = Ordered<S>;
    type Finding = S::Finding;

    fn reads(&self, _buffer: usize, id: u16) -> bool {
        InOrder::reads(self, id)
    }

    fn begin(&self) -> Ordered<S> {
        Ordered::Known(self.clone())
    }

    fn fork(&self, used: Option<Ordered<S>>) -> Ordered<S> {
        match used {
            Some(Ordered::Later(mut log)) => {
                log.clear();
                Ordered::Later(log)
            }
            _ => Ordered::Later(Log::default()),
        }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Ordered<S>) {
        match part {
            Ordered::Known(analysis) => InOrder::record(analysis, record),
            Ordered::Later(log) if self.wants(record) => log.push(record),
            Ordered::Later(_) => {}
        }
    }

    fn merge(&self, known: &mut Ordered<S>, later: &mut Ordered<S>) {
        if let (Ordered::Known(analysis), Ordered::Later(log)) = (known, later) {
            log.records().for_each(|record| InOrder::record(analysis, &record));
        }
    }

    fn finish(self, known: Ordered<S>) -> S::Finding {
        match known {
            Ordered::Known(analysis) => InOrder::finish(analysis),
            // The state that `begin` made is known.
            Ordered::Later(log) => {
                let mut analysis = self;
                log.records().for_each(|record| InOrder::record(&mut analysis, &record));
                InOrder::finish(analysis)
            }
        }
    }
}

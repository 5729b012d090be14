//! Several analyses of the same events, in one pass.

use super::{Analysis, InOrder};
use crate::event::Record;

/// Two analyses of the same events.
#[derive(Clone, Debug)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Analysis, B: Analysis> Analysis for Both<A, B> {
    type Part = (A::Part, B::Part);
    type Finding = (A::Finding, B::Finding);

    fn begin(&self) -> Self::Part {
        (self.0.begin(), self.1.begin())
    }

    fn fork(&self, used: Option<Self::Part>) -> Self::Part {
        let (a, b) = used.unzip();
        (self.0.fork(a), self.1.fork(b))
    }

    #[inline]
    fn record(&self, record: &Record<'_>, part: &mut Self::Part) {
        self.0.record(record, &mut part.0);
        self.1.record(record, &mut part.1);
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        self.0.merge(&mut known.0, &mut later.0);
        self.1.merge(&mut known.1, &mut later.1);
    }

    fn finish(self, known: Self::Part) -> Self::Finding {
        (self.0.finish(known.0), self.1.finish(known.1))
    }
}

/// Any number of analyses of one type, each of whose steps depends on all events before it.
#[derive(Clone, Debug, Default)]
pub struct Several<T>(pub Vec<T>);

impl<T: InOrder> InOrder for Several<T> {
    type Finding = Vec<T::Finding>;

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        self.0.iter().any(|analysis| analysis.wants(record))
    }

    fn record(&mut self, record: &Record<'_>) {
        self.0.iter_mut().for_each(|analysis| InOrder::record(analysis, record));
    }

    fn finish(self) -> Vec<T::Finding> {
        self.0.into_iter().map(InOrder::finish).collect()
    }
}

/// An analysis, or none.
#[derive(Clone, Debug)]
pub struct Perhaps<A>(pub Option<A>);

impl<A: Analysis> Analysis for Perhaps<A> {
    type Part = Option<A::Part>;
    type Finding = Option<A::Finding>;

    fn begin(&self) -> Self::Part {
        self.0.as_ref().map(A::begin)
    }

    fn fork(&self, used: Option<Self::Part>) -> Self::Part {
        self.0.as_ref().map(|analysis| analysis.fork(used.flatten()))
    }

    #[inline]
    fn record(&self, record: &Record<'_>, part: &mut Self::Part) {
        if let (Some(analysis), Some(part)) = (&self.0, part) {
            analysis.record(record, part);
        }
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        if let (Some(analysis), Some(known), Some(later)) = (&self.0, known, later) {
            analysis.merge(known, later);
        }
    }

    fn finish(self, known: Self::Part) -> Self::Finding {
        self.0.zip(known).map(|(analysis, known)| analysis.finish(known))
    }
}

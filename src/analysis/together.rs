//! Several analyses of the same events, in one pass.

use super::{Analysis, InOrder};
use crate::event::Record;

/// Analyses of different types of the same events.
macro_rules! together {
    ($($analysis:ident $number:tt),*) => {
        impl<$($analysis: Analysis),*> Analysis for ($($analysis,)*) {
            type Part = ($($analysis::Part,)*);
            type Finding = ($($analysis::Finding,)*);

            fn begin(&self) -> Self::Part {
                ($(self.$number.begin(),)*)
            }

            fn fork(&self, used: Option<Self::Part>) -> Self::Part {
                match used {
                    Some(used) => ($(self.$number.fork(Some(used.$number)),)*),
                    None => ($(self.$number.fork(None),)*),
                }
            }

            #[inline]
            fn record(&self, record: &Record<'_>, part: &mut Self::Part) {
                $(self.$number.record(record, &mut part.$number);)*
            }

            fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
                $(self.$number.merge(&mut known.$number, &mut later.$number);)*
            }

            fn finish(self, known: Self::Part) -> Self::Finding {
                ($(self.$number.finish(known.$number),)*)
            }
        }
    };
}

together!(A 0, B 1);
together!(A 0, B 1, C 2);
together!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);

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

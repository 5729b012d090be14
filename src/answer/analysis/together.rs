//! Several analyses of the same events, in one pass.
//! One analysis for each of several groups of buffers.

use super::by_event::ByEvent;
use super::{Analysis, InOrder};
use crate::base::abi::Abi;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::sync::Arc;

/// Analyses of different types of the same events.
macro_rules! pair_up {
    ($($analysis:ident $number:tt),*) => {
        impl<$($analysis: Analysis),*> Analysis for ($($analysis,)*) {
            type Part = ($($analysis::Part,)*);
            type Finding = ($($analysis::Finding,)*);

            fn reads(&self, buffer: usize, id: u16) -> bool {
                $(self.$number.reads(buffer, id))||*
            }

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
            fn record<'n>(
                &self,
                record: &Record<'_>,
                next: impl FnOnce() -> Option<Record<'n>>,
                part: &mut Self::Part,
            ) {
                let (mut next, mut read) = (Some(next), None);
                $(
                    let following = || *read.get_or_insert_with(|| next.take().and_then(|next| next()));
                    self.$number.record(record, following, &mut part.$number);
                )*
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

pair_up!(A 0, B 1);
pair_up!(A 0, B 1, C 2);

/// Analyses of different types of the same events, each of whose steps depends on all events before it; `T` is a tuple of
/// options. Each event goes to those that read it.
#[derive(Clone, Debug)]
pub struct Together<T> {
    analyses: T,
    /// By event: a bit for each analysis that reads it.
    readers: Arc<ByEvent<u16>>,
}

/// Those analyses, for records of a file with these formats.
macro_rules! together {
    ($($analysis:ident $number:tt),*) => {
        impl<$($analysis: InOrder),*> Together<($(Option<$analysis>,)*)> {
            /// Those of `analyses` that are there, for records of a file with these formats.
            pub fn new<'f>(
                formats: impl IntoIterator<Item = &'f EventFormat>,
                abi: Abi,
                analyses: ($(Option<$analysis>,)*),
            ) -> Self {
                let readers = ByEvent::new(formats, abi, |format| {
                    let readers = $(
                        u16::from(analyses.$number.as_ref().is_some_and(|one| one.reads(format.id.0))) << $number
                    )|*;
                    (readers != 0).then_some(readers)
                });
                Together { analyses, readers: Arc::new(readers) }
            }
        }

        impl<$($analysis: InOrder),*> InOrder for Together<($(Option<$analysis>,)*)> {
            type Finding = ($(Option<$analysis::Finding>,)*);

            fn reads(&self, id: u16) -> bool {
                self.readers.has(id)
            }

            #[inline]
            fn wants(&self, record: &Record<'_>) -> bool {
                record.lost != Lost::None || self.readers.of(record).is_some()
            }

            fn record(&mut self, record: &Record<'_>) {
                let readers = match record.lost {
                    Lost::None => self.readers.of(record).copied().unwrap_or(0),
                    _ => u16::MAX,
                };
                $(
                    if readers >> $number & 1 == 1
                        && let Some(analysis) = &mut self.analyses.$number
                    {
                        analysis.record(record);
                    }
                )*
            }

            fn finish(self) -> Self::Finding {
                ($(self.analyses.$number.map(InOrder::finish),)*)
            }
        }
    };
}

together!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);

/// Any number of analyses of one type, each of whose steps depends on all events before it.
#[derive(Clone, Debug, Default)]
pub struct Several<T>(pub Vec<T>);

impl<T: InOrder> InOrder for Several<T> {
    type Finding = Vec<T::Finding>;

    fn reads(&self, id: u16) -> bool {
        self.0.iter().any(|analysis| InOrder::reads(analysis, id))
    }

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

/// One analysis for each of several groups of buffers: for each buffer, or for each recording.
pub struct Grouped<A> {
    analyses: Vec<A>,
    /// By [`Record::buffer`]: the number of the group.
    groups: Vec<usize>,
}

impl<A> Grouped<A> {
    /// An analysis for each buffer: [`Record::buffer`] is an index into `analyses`.
    pub fn by_buffer(analyses: Vec<A>) -> Self {
        Grouped { groups: (0..analyses.len()).collect(), analyses }
    }

    /// An analysis for each group; `groups` has the number of the group for each [`Record::buffer`].
    pub fn new(analyses: Vec<A>, groups: Vec<usize>) -> Self {
        Grouped { analyses, groups }
    }
}

impl<A: Analysis> Analysis for Grouped<A> {
    type Part = Vec<A::Part>;
    type Finding = Vec<A::Finding>;

    fn reads(&self, buffer: usize, id: u16) -> bool {
        let analysis = self.groups.get(buffer).and_then(|group| self.analyses.get(*group));
        analysis.is_some_and(|analysis| analysis.reads(buffer, id))
    }

    fn begin(&self) -> Vec<A::Part> {
        self.analyses.iter().map(A::begin).collect()
    }

    fn fork(&self, used: Option<Vec<A::Part>>) -> Vec<A::Part> {
        let mut used = used.into_iter().flatten();
        self.analyses.iter().map(|analysis| analysis.fork(used.next())).collect()
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, next: impl FnOnce() -> Option<Record<'n>>, parts: &mut Vec<A::Part>) {
        let Some(&group) = self.groups.get(record.buffer) else { return };
        if let (Some(analysis), Some(part)) = (self.analyses.get(group), parts.get_mut(group)) {
            analysis.record(record, next, part);
        }
    }

    fn merge(&self, known: &mut Vec<A::Part>, later: &mut Vec<A::Part>) {
        for ((analysis, known), later) in self.analyses.iter().zip(known).zip(later) {
            analysis.merge(known, later);
        }
    }

    fn finish(self, known: Vec<A::Part>) -> Vec<A::Finding> {
        self.analyses.into_iter().zip(known).map(|(analysis, known)| analysis.finish(known)).collect()
    }
}

//! One analysis for each of several groups of buffers.

use super::Analysis;
use crate::kernel::event::Record;

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

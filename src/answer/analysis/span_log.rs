//! Intervals of time in order, a few bytes each: a long window has millions of them, most of which begin where the one before
//! ends, and are of the same CPU.

use crate::base::varint;
use std::fmt;

/// An interval that a [`SpanLog`] can keep.
pub trait PackedSpan: Copy {
    /// End, in clock units.
    fn end(&self) -> u64;
    /// Appends it to `out`, as far as it differs from the one before, if there is one in the same block.
    fn pack(&self, before: Option<&Self>, out: &mut Vec<u8>);
    /// The inverse of [`PackedSpan::pack`].
    fn unpack(before: Option<&Self>, bytes: &mut PackedBytes<'_>) -> Self;
    /// False if it lies within one before it.
    fn is_outermost(&self) -> bool {
        true
    }
}

/// Spans of a block, or a few more: what a search has to unpack.
const BLOCK: usize = 32;

/// Intervals in order of their begins, an outer one before those within; outermost ones do not overlap.
#[derive(Clone)]
pub struct SpanLog<S> {
    len: usize,
    packed: Vec<SpanBlock>,
    /// The last ones, some two blocks, which may change.
    open: Vec<S>,
}

/// Packed spans, the first of which is an outermost one.
#[derive(Clone)]
struct SpanBlock {
    /// The latest end.
    end: u64,
    count: usize,
    bytes: Box<[u8]>,
}

impl<S> Default for SpanLog<S> {
    fn default() -> Self {
        SpanLog { len: 0, packed: Vec::new(), open: Vec::new() }
    }
}

impl<S: PackedSpan> SpanLog<S> {
    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All intervals in order.
    pub fn iter(&self) -> SpanIter<'_, S> {
        self.blocks(0)
    }

    /// From the first one that ends after `at`, in order.
    pub fn after(&self, at: u64) -> impl Iterator<Item = S> + '_ {
        let first = self.packed.partition_point(|block| block.end <= at);
        self.blocks(first).skip_while(move |span| span.end() <= at)
    }

    fn blocks(&self, first: usize) -> SpanIter<'_, S> {
        SpanIter { blocks: self.packed.get(first..).unwrap_or_default().iter(), block: None, open: self.open.iter() }
    }

    pub(super) fn push(&mut self, span: S) {
        // Where one holds millions, as a handler in a storm of interrupts, they are searched once.
        if span.is_outermost()
            && self.open.len() >= 2 * BLOCK
            && let Some(more) = self.open.iter().skip(BLOCK).position(S::is_outermost)
        {
            self.packed.push(SpanBlock::of(self.open.drain(..BLOCK + more)));
        }
        self.len += 1;
        self.open.push(span);
    }

    /// The last one; it may be changed, but not to begin or end before the one before it.
    pub(super) fn last_mut(&mut self) -> Option<&mut S> {
        self.open.last_mut()
    }

    pub(super) fn pop(&mut self) -> Option<S> {
        let last = self.open.pop();
        self.len -= usize::from(last.is_some());
        if self.open.is_empty()
            && let Some(block) = self.packed.pop()
        {
            self.open.extend(BlockIter::<S>::of(&block));
        }
        last
    }

    /// Forgets those that end by `at`, but for fewer than a block.
    pub(super) fn forget(&mut self, at: u64) {
        let old = self.packed.partition_point(|block| block.end <= at);
        self.len -= self.packed.drain(..old).map(|block| block.count).sum::<usize>();
        if self.packed.is_empty() {
            let old = self.open.partition_point(|span| span.end() <= at);
            self.len -= self.open.drain(..old).count();
        }
    }

    /// Gives back memory that only growing needs.
    pub(super) fn shrink(mut self) -> Self {
        self.packed.shrink_to_fit();
        self.open.shrink_to_fit();
        self
    }
}

impl<S: PackedSpan> Extend<S> for SpanLog<S> {
    fn extend<I: IntoIterator<Item = S>>(&mut self, spans: I) {
        spans.into_iter().for_each(|span| self.push(span));
    }
}

impl<S: PackedSpan + fmt::Debug> fmt::Debug for SpanLog<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl SpanBlock {
    fn of<S: PackedSpan>(spans: impl Iterator<Item = S>) -> Self {
        let (mut bytes, mut before, mut end, mut count) = (Vec::with_capacity(8 * BLOCK), None::<S>, 0, 0);
        for span in spans {
            span.pack(before.as_ref(), &mut bytes);
            end = span.end().max(end);
            count += 1;
            before = Some(span);
        }
        SpanBlock { end, count, bytes: bytes.into_boxed_slice() }
    }
}

/// The intervals of a log; see [`SpanLog::iter`].
pub struct SpanIter<'l, S> {
    blocks: std::slice::Iter<'l, SpanBlock>,
    block: Option<BlockIter<'l, S>>,
    open: std::slice::Iter<'l, S>,
}

impl<S: PackedSpan> Iterator for SpanIter<'_, S> {
    type Item = S;

    fn next(&mut self) -> Option<S> {
        loop {
            if let Some(span) = self.block.as_mut().and_then(Iterator::next) {
                return Some(span);
            }
            match self.blocks.next() {
                Some(block) => self.block = Some(BlockIter::of(block)),
                None => return self.open.next().copied(),
            }
        }
    }
}

struct BlockIter<'b, S> {
    bytes: PackedBytes<'b>,
    before: Option<S>,
}

impl<'b, S: PackedSpan> BlockIter<'b, S> {
    fn of(block: &'b SpanBlock) -> Self {
        BlockIter { bytes: PackedBytes(&block.bytes), before: None }
    }
}

impl<S: PackedSpan> Iterator for BlockIter<'_, S> {
    type Item = S;

    fn next(&mut self) -> Option<S> {
        if self.bytes.0.is_empty() {
            return None;
        }
        self.before = Some(S::unpack(self.before.as_ref(), &mut self.bytes));
        self.before
    }
}

/// Bytes of packed spans that have not been read yet.
pub struct PackedBytes<'b>(&'b [u8]);

impl PackedBytes<'_> {
    /// A byte; 0 after the last one.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number of [`pack_number`].
    pub fn number(&mut self) -> u64 {
        varint::take(|| self.byte())
    }

    /// The number whose difference to `from` [`pack_difference`] wrote.
    pub fn difference(&mut self, from: u64) -> u64 {
        from.wrapping_add_signed(varint::unzigzag(self.number()))
    }
}

/// Appends a number.
pub(super) fn pack_number(number: u64, out: &mut Vec<u8>) {
    varint::put(out, number);
}

/// Appends the difference of a number to another, less or greater.
pub(super) fn pack_difference(number: u64, from: u64, out: &mut Vec<u8>) {
    varint::put(out, varint::zigzag(number.wrapping_sub(from) as i64));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::analysis::{CpuSpan, TaskSpan, TimeIn, Wake, WakeContext, Waker};
    use crate::base::units::{CpuId, Pid};
    use proptest::prelude::*;

    fn task_span() -> impl Strategy<Value = TaskSpan> {
        let wake = (any::<u64>(), any::<i32>(), any::<u32>(), 0..3usize).prop_map(|(at, pid, cpu, context)| Wake {
            at,
            by: Waker { pid: Pid(pid), cpu: CpuId(cpu) },
            context: [WakeContext::Task, WakeContext::SoftIrq, WakeContext::HardIrq][context],
        });
        let state = (0..TimeIn::ALL.len()).prop_map(|state| TimeIn::ALL[state]);
        let times = prop_oneof![any::<(u64, u64)>(), (0..9u64, 1..9u64).prop_map(|(at, time)| (at, at + time))];
        let cpu = proptest::option::of(prop_oneof![0..3u32, any::<u32>()].prop_map(CpuId));
        (state, times, cpu, any::<bool>(), proptest::option::of(wake))
            .prop_map(|(state, (begin, end), cpu, waking, wake)| TaskSpan { state, begin, end, cpu, waking, wake })
    }

    proptest! {
        #[test]
        fn any_spans_come_back(spans in proptest::collection::vec(task_span(), 0..300), popped in 0..300usize) {
            let mut log = SpanLog::default();
            log.extend(spans.iter().copied());
            prop_assert_eq!(log.len(), spans.len());
            prop_assert_eq!(log.iter().collect::<Vec<_>>(), spans.clone());
            let mut left = spans;
            for _ in 0..popped {
                prop_assert_eq!(log.pop(), left.pop());
                prop_assert_eq!(log.is_empty(), left.is_empty());
            }
            log.extend(left.iter().rev().copied());
            left.extend(left.clone().iter().rev());
            prop_assert_eq!(log.shrink().iter().collect::<Vec<_>>(), left);
        }

        #[test]
        fn a_search_finds_what_a_walk_finds(times in proptest::collection::vec((0..3u64, 1..5u64, -2..9i32), 0..400), at in 0..2000u64) {
            let mut now = 0;
            let spans: Vec<CpuSpan> = times.into_iter().map(|(gap, time, task)| {
                let begin = now + gap;
                now = begin + time;
                CpuSpan { task: (task != -2).then_some(Pid(task)), begin, end: now }
            }).collect();
            let mut log = SpanLog::default();
            log.extend(spans.iter().copied());
            let slow: Vec<_> = spans.into_iter().filter(|span| span.end > at).collect();
            prop_assert_eq!(log.after(at).collect::<Vec<_>>(), slow.clone());
            log.forget(at);
            prop_assert_eq!(log.after(at).collect::<Vec<_>>(), slow.clone());
            prop_assert!(log.len() == log.iter().count() && log.len() < slow.len() + BLOCK);
        }
    }

    #[test]
    fn a_usual_span_takes_a_few_bytes() {
        let mut log = SpanLog::default();
        for place in 0..64 * 1000u64 {
            let (begin, end) = (place * 3000, (place + 1) * 3000);
            let wake = Wake { at: end, by: Waker { pid: Pid(29_209), cpu: CpuId(1) }, context: WakeContext::Task };
            let (state, wake) = if place % 2 == 0 { (TimeIn::Run, None) } else { (TimeIn::Sleep, Some(wake)) };
            log.push(TaskSpan { state, begin, end, cpu: Some(CpuId(1)), waking: false, wake });
        }
        let bytes: usize = log.packed.iter().map(|block| block.bytes.len()).sum();
        assert!(bytes < 6 * log.len(), "{bytes} bytes for {} spans", log.len());
    }
}

//! The loop over records, of a whole merge or of one segment.

use super::segment::SegmentStream;
use super::work::{Following, Work};
use crate::kernel::event::Consumed;
use crate::read::merge::{Merge, RecordSource};

/// A segment of all streams, in their order.
#[derive(Default)]
pub(super) struct MergeSegment {
    pub(super) streams: Vec<(SegmentStream, usize)>,
}

/// Works on the current record, and on the buffered ones after it of the same stream.
#[inline(always)]
pub(super) fn some<W: Work, S: RecordSource>(work: &W, merge: &mut Merge<S>, state: &mut W::State, out: &mut Vec<u8>) {
    one(work, merge, state, out);
    let Some(run) = merge.stream_run() else { return };
    let (mut done, mut consumed) = (0, Consumed::One);
    for (record, next) in run.pairs() {
        consumed = match consumed {
            Consumed::One => work.record(&record, || Some(next()), state, out),
            Consumed::Two => Consumed::One,
        };
        done += 1;
    }
    merge.pass(done + usize::from(consumed == Consumed::Two));
}

/// Works on the current record.
#[inline(always)]
pub(super) fn one<W: Work, S: RecordSource>(work: &W, merge: &mut Merge<S>, state: &mut W::State, out: &mut Vec<u8>) {
    match W::FOLLOWING {
        Following::InBuffer => {
            if work.record(&merge.record(), || merge.peek(), state, out) == Consumed::Two {
                merge.skip_peeked();
            }
        }
        Following::OnCpu => {
            if work.record(&merge.record(), || merge.peek_same_cpu(), state, out) == Consumed::Two {
                merge.skip_same_cpu();
            }
        }
    }
}

/// True if the whole segment could be worked on.
pub(super) fn work_on<W: Work>(work: &W, segment: &mut MergeSegment, state: &mut W::State, out: &mut Vec<u8>) -> bool {
    let mut merge = Merge::default();
    for (stream, buffer) in &mut segment.streams {
        merge.add(stream.reader(), *buffer);
    }
    loop {
        match merge.advance() {
            Ok(true) => some(work, &mut merge, state, out),
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

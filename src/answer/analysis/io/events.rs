//! Steps of requests, out of records.

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::fmt;
use std::ops::Deref;

/// A block device's number, as the kernel keeps it in events (`dev_t`, include/linux/kdev_t.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockDevice(pub u32);

/// `MAJOR,MINOR`, as the kernel prints it.
impl fmt::Display for BlockDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0 >> 20, self.0 & 0xf_ffff)
    }
}

/// The operation of a request, by its letters (`rwbs`, `blk_fill_rwbs` in kernel/trace/blktrace.c).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IoOperation {
    /// `R`.
    Read,
    /// `W`, with or without a flush before it.
    Write,
    /// `D`, or `DE`.
    Discard,
    /// `F` alone, or `FF`.
    Flush,
    /// Any other.
    Other,
}

impl IoOperation {
    /// All.
    pub const ALL: [IoOperation; 5] =
        [IoOperation::Read, IoOperation::Write, IoOperation::Discard, IoOperation::Flush, IoOperation::Other];

    /// The operation in a word.
    pub fn name(self) -> &'static str {
        match self {
            IoOperation::Read => "read",
            IoOperation::Write => "write",
            IoOperation::Discard => "discard",
            IoOperation::Flush => "flush",
            IoOperation::Other => "other",
        }
    }

    fn of(letters: &[u8]) -> Self {
        match letters {
            [b'R', ..] | [b'F', b'R', ..] => IoOperation::Read,
            [b'W', ..] | [b'F', b'W', ..] => IoOperation::Write,
            [b'D', ..] | [b'F', b'D', ..] => IoOperation::Discard,
            [b'F', ..] => IoOperation::Flush,
            _ => IoOperation::Other,
        }
    }
}

/// A step of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer::analysis) enum RequestStep {
    Insert,
    Issue,
    Requeue,
    Complete,
    /// Sectors were put before those of the request that begins where they end.
    MergeInFront,
    /// The request became a part of another.
    Merge,
}

/// The event of a record.
#[derive(Clone, Copy, Debug)]
pub(in crate::answer::analysis) struct RequestEvent {
    pub(in crate::answer::analysis) step: RequestStep,
    pub(in crate::answer::analysis) device: BlockDevice,
    pub(in crate::answer::analysis) sector: u64,
    /// Sectors of 512 bytes; 0 of a flush.
    pub(in crate::answer::analysis) sectors: u64,
    pub(in crate::answer::analysis) operation: IoOperation,
    /// Negative `errno` of a completion.
    pub(in crate::answer::analysis) error: i64,
    /// The task that was running.
    pub(in crate::answer::analysis) task: Pid,
}

#[derive(Clone, Debug)]
struct RequestKind {
    step: RequestStep,
    device: RecordNumber,
    sector: RecordNumber,
    sectors: RecordNumber,
    letters: RecordText,
    error: Option<RecordNumber>,
}

impl RequestKind {
    fn of(format: &EventFormat) -> Option<RequestKind> {
        let step = match (format.system.as_str(), format.name.as_str()) {
            ("block", "block_rq_insert") => RequestStep::Insert,
            ("block", "block_rq_issue") => RequestStep::Issue,
            ("block", "block_rq_requeue") => RequestStep::Requeue,
            ("block", "block_rq_complete") => RequestStep::Complete,
            ("block", "block_bio_frontmerge") => RequestStep::MergeInFront,
            ("block", "block_rq_merge") => RequestStep::Merge,
            _ => return None,
        };
        let number = |field| RecordNumber::of(format, field);
        Some(RequestKind {
            step,
            device: number("dev")?,
            sector: number("sector")?,
            sectors: number("nr_sector")?,
            letters: RecordText::of(format, "rwbs")?,
            // Older kernels say `errors`.
            error: number("error").or_else(|| number("errors")),
        })
    }
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(in crate::answer::analysis) struct RequestEvents(ByEvent<RequestKind>);

/// The ids and the common fields of its events.
impl Deref for RequestEvents {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl RequestEvents {
    pub(in crate::answer::analysis) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        RequestEvents(ByEvent::new(formats, abi, RequestKind::of))
    }

    /// True if there are completions, without which no request has a duration.
    pub(in crate::answer::analysis) fn have_completions(&self) -> bool {
        self.0.all().any(|kind| kind.step == RequestStep::Complete)
    }

    pub(in crate::answer::analysis) fn event(&self, record: &Record<'_>) -> Option<RequestEvent> {
        let (abi, data) = (self.0.abi, record.data);
        let kind = self.0.of(record)?;
        Some(RequestEvent {
            step: kind.step,
            device: BlockDevice(kind.device.read(abi, data) as u32),
            sector: kind.sector.read(abi, data),
            sectors: kind.sectors.read(abi, data),
            operation: IoOperation::of(kind.letters.read(abi, data)),
            error: kind.error.map_or(0, |error| error.read_signed(abi, data)),
            task: self.0.task(record),
        })
    }
}

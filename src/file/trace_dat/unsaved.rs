//! Events that happened and are not in the file, and no record of it tells of.

use crate::base::units::{CpuId, counted};
use std::fmt;

/// Events of one CPU that are not in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsavedEvents {
    /// The instance's name in the file; empty for the top buffer.
    pub buffer: String,
    /// The CPU.
    pub cpu: CpuId,
    /// Number of events; `None` if it is unknown.
    pub events: Option<u64>,
    /// Why they are not.
    pub cause: LossCause,
}

/// Why events are not in a file, as a number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossCause(pub u32);

impl LossCause {
    /// A killed recorder had taken them out of the ring buffer and not written them, or their spool is lost.
    pub const KILLED: LossCause = LossCause(0);
    /// The recording was not finished: what its ring buffer and its recorder still held is unknown.
    pub const UNFINISHED: LossCause = LossCause(1);
    /// Another process read them out of the ring buffer.
    pub const READ_BY_OTHERS: LossCause = LossCause(2);
    /// Another process cleared the ring buffer; the number is the least that it held.
    pub const CLEARED: LossCause = LossCause(3);
    /// They could not be written, and recording ended: a full disk, or `--min-free`. The number lacks what happened later.
    pub const NOT_WRITTEN: LossCause = LossCause(4);
    /// Their spool was removed, or they did not arrive on another machine.
    pub const REMOVED: LossCause = LossCause(5);
    /// The ring buffer could not be read to its end.
    pub const UNREAD: LossCause = LossCause(6);
    /// They lay in a damaged place, which a copy lacks.
    pub const DAMAGED: LossCause = LossCause(7);

    /// Part of a sentence about events, and whether there may be more of them than the number says.
    fn words(self) -> (&'static str, bool) {
        match self {
            LossCause::KILLED => ("that the recorder had taken when it was killed are not in the file", false),
            LossCause::UNFINISHED => {
                ("that its ring buffer and its recorder still held, if there were any, are not in the file", false)
            }
            LossCause::READ_BY_OTHERS => {
                ("that another process read out of the ring buffer are not in the file", false)
            }
            LossCause::CLEARED => ("that another process cleared from the ring buffer are not in the file", true),
            LossCause::NOT_WRITTEN => ("are not in the file: they could not be written, and recording ended", true),
            LossCause::REMOVED => ("are not in the file: what they were written to was removed or emptied", false),
            LossCause::UNREAD => ("are not in the file: the ring buffer could not be read to its end", true),
            LossCause::DAMAGED => ("are not in the file: they were damaged in the one that it is a copy of", false),
            _ => ("are not in the file", true),
        }
    }
}

impl fmt::Display for UnsavedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, or_more) = self.cause.words();
        let of = if self.buffer.is_empty() { String::new() } else { format!(" of instance {}", self.buffer) };
        let events = self.events.map_or("events".to_owned(), |events| counted(events, "event"));
        let or_more = if or_more && self.events.is_some() { " or more" } else { "" };
        write!(f, "cpu {}{of}: {events}{or_more} {words}", self.cpu)
    }
}

impl std::error::Error for UnsavedEvents {}

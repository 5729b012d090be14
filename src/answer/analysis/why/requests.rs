//! Requests to block devices whose completion wakes a task.

use crate::answer::analysis::io::{RequestEvent, RequestEvents, RequestStep};
use crate::answer::analysis::map::Map;
use crate::answer::analysis::{BlockDevice, IoOperation};
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// A request, or a part of one, that was completed. Times are in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedRequest {
    /// The device.
    pub device: BlockDevice,
    /// The operation.
    pub operation: IoOperation,
    /// Its first sector, of 512 bytes.
    pub sector: u64,
    /// Number of sectors; 0 of a flush.
    pub sectors: u64,
    /// Negative `errno`; 0 without an error.
    pub error: i64,
    /// `block_rq_issue` of a request that begins there, if it was recorded.
    pub issued: Option<u64>,
    /// `block_rq_complete`.
    pub completed: u64,
}

/// Requests while they are followed.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    events: RequestEvents,
    /// False if completions may be missing without a loss.
    are_whole: bool,
    from: u64,
    to: u64,
    issued: Map<(BlockDevice, u64), u64>,
    done: BTreeMap<CpuId, Vec<CompletedRequest>>,
}

impl Requests {
    /// Those that are completed in the time from `from` to `to`.
    pub(super) fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        (from, to): (u64, u64),
    ) -> Self {
        let events = RequestEvents::new(formats, abi);
        Requests { events, are_whole: true, from, to, issued: Map::default(), done: BTreeMap::new() }
    }

    /// For a recording of a part of what happened: if it lacks completions, the last one before a wakeup may be another's.
    pub(super) fn covering(self, coverage: &Coverage) -> Self {
        let filtered = coverage.filtered().any(|(event, _)| event.system == "block");
        Requests { are_whole: !filtered && !coverage.is_of_some_tasks(), ..self }
    }

    pub(super) fn knows_id(&self, id: u16) -> bool {
        self.events.knows_id(id)
    }

    #[inline]
    pub(super) fn knows(&self, record: &Record<'_>) -> bool {
        self.events.knows(record)
    }

    pub(super) fn record(&mut self, record: &Record<'_>) {
        let at = record.timestamp.0;
        if record.lost != Lost::None {
            self.issued.clear();
            self.done.remove(&record.cpu);
        }
        let Some(RequestEvent { step, device, sector, sectors, operation, error, .. }) = self.events.event(record)
        else {
            return;
        };
        match step {
            RequestStep::Issue => {
                self.issued.insert((device, sector), at);
            }
            RequestStep::Complete => {
                let issued = self.issued.remove(&(device, sector));
                if self.are_whole && at >= self.from && at <= self.to {
                    let done = CompletedRequest { device, operation, sector, sectors, error, issued, completed: at };
                    self.done.entry(record.cpu).or_default().push(done);
                }
            }
            _ => {}
        }
    }

    pub(super) fn finish(self) -> BTreeMap<CpuId, Vec<CompletedRequest>> {
        self.done
    }
}

//! Following requests from insertion to completion.

use super::events::{BlockDevice, IoOperation, RequestEvent, RequestEvents, RequestStep};
use super::report::{
    AtDevice, DeviceIo, IoCounts, IoReport, IoRequests, LongestRequest, OngoingRequest, QueueDepth, TaskIo,
};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{CellPlan, Durations, InOrder, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Requests to block devices; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Io {
    /// Durations before the first one.
    none: Durations,
    events: RequestEvents,
    window: Option<(u64, u64)>,
    /// Requests on their way, by device and the sector that completes next.
    open: Map<(BlockDevice, u64), OpenRequest>,
    devices: BTreeMap<BlockDevice, QueueDepth>,
    requests: BTreeMap<(BlockDevice, IoOperation), IoRequests>,
    by_task: Map<(Pid, BlockDevice, IoOperation), (Durations, u64)>,
    counts: IoCounts,
    /// Tasks whose requests count, and those of them that were met.
    tasks: TaskSet,
    met: BTreeSet<Pid>,
}

/// A request on its way.
#[derive(Clone, Copy, Debug)]
struct OpenRequest {
    operation: IoOperation,
    inserted: Option<u64>,
    /// Since its issue.
    at_device: Option<AtDevice>,
    /// First sector of the request.
    sector: u64,
    sectors: u64,
    /// Sectors that are not complete.
    left: u64,
    /// The task that inserted or issued it first.
    task: Pid,
}

/// Bytes of a sector, whatever the device's blocks are (include/linux/blk_types.h).
const SECTOR: u64 = 512;

impl Io {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Io {
            none: Durations::default(),
            events: RequestEvents::new(formats, abi),
            window: None,
            open: Map::default(),
            devices: BTreeMap::new(),
            requests: BTreeMap::new(),
            by_task: Map::default(),
            counts: IoCounts::default(),
            tasks: TaskSet::All,
            met: BTreeSet::new(),
        }
    }

    /// Counts requests of these tasks alone: those that inserted them or, if they were not inserted, issued them. Depth is of all.
    pub fn of(mut self, tasks: TaskSet) -> Self {
        self.tasks = tasks;
        self
    }

    /// Keeps durations by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        self.none = Durations::in_cells(plan);
        self
    }

    /// True if the formats have `block_rq_complete`, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_completions()
    }

    /// Depth is known up to the last event before.
    fn lose(&mut self) {
        let at = self.window.map_or(0, |window| window.1);
        self.counts.losses += 1;
        self.counts.censored += self.open.len() as u64;
        self.give_up_all(at);
    }

    fn depth(&mut self, device: BlockDevice, at: u64) -> &mut QueueDepth {
        self.devices.entry(device).or_insert_with(|| QueueDepth::new(at))
    }

    /// Nothing more is heard of any request.
    fn give_up_all(&mut self, at: u64) {
        for ((device, _), open) in std::mem::take(&mut self.open) {
            if let Some(there) = open.at_device {
                self.depth(device, at).give_up(there, at);
            }
        }
    }

    /// Takes a request away that leaves the device, if it is there.
    fn take(&mut self, key: (BlockDevice, u64), at: u64) -> Option<OpenRequest> {
        let open = self.open.remove(&key)?;
        if let Some(there) = open.at_device {
            self.depth(key.0, at).leave(there, at);
        }
        Some(open)
    }

    /// Takes a request away whose place another one takes.
    fn replace(&mut self, key: (BlockDevice, u64), at: u64) {
        let Some(open) = self.open.remove(&key) else { return };
        self.counts.unfinished += 1;
        if let Some(there) = open.at_device {
            self.depth(key.0, at).give_up(there, at);
        }
    }

    fn insert(&mut self, event: &RequestEvent, at: u64) {
        let key = (event.device, event.sector);
        // One that was given back is inserted again.
        if let Some(open) = self.open.get(&key)
            && open.at_device.is_none()
            && open.operation == event.operation
            && open.inserted.is_some()
        {
            return;
        }
        self.replace(key, at);
        self.depth(event.device, at);
        self.open.insert(key, OpenRequest::of(event, Some(at)));
    }

    fn issue(&mut self, event: &RequestEvent, at: u64) {
        let key = (event.device, event.sector);
        let waiting = self.open.get(&key).copied();
        let open = match waiting.filter(|open| open.at_device.is_none() && open.operation == event.operation) {
            // Merging makes a request that waits longer.
            Some(open) => OpenRequest { sectors: event.sectors, left: event.sectors, ..open },
            None => {
                self.replace(key, at);
                OpenRequest::of(event, None)
            }
        };
        let at_device = Some(self.depth(event.device, at).issue(at));
        self.open.insert(key, OpenRequest { at_device, ..open });
    }

    /// A request that waits for its issue begins earlier, with what was merged into it.
    fn merge_in_front(&mut self, event: &RequestEvent) {
        let (device, sector) = (event.device, event.sector);
        let behind = (device, sector.wrapping_add(event.sectors));
        let waits = |open: &OpenRequest| open.at_device.is_none() && open.operation == event.operation;
        if self.open.contains_key(&(device, sector)) || !self.open.get(&behind).is_some_and(waits) {
            return;
        }
        if let Some(open) = self.open.remove(&behind) {
            let sectors = open.sectors.saturating_add(event.sectors);
            self.open.insert((device, sector), OpenRequest { sector, sectors, left: sectors, ..open });
        }
    }

    /// A request that waits for its issue becomes a part of another.
    fn merge(&mut self, event: &RequestEvent) {
        let key = (event.device, event.sector);
        if self.open.get(&key).is_some_and(|open| open.at_device.is_none()) {
            self.open.remove(&key);
        }
    }

    fn requeue(&mut self, event: &RequestEvent, at: u64) {
        let key = (event.device, event.sector);
        if let Some(open) = self.take(key, at) {
            self.counts.requeued += 1;
            let inserted = open.inserted.or(open.at_device.map(|there| there.since));
            self.open.insert(key, OpenRequest { inserted, at_device: None, ..open });
        }
    }

    fn complete(&mut self, event: &RequestEvent, at: u64, cpu: CpuId) {
        let key = (event.device, event.sector);
        if let Some(open) = self.open.get(&key)
            && (1..open.left).contains(&event.sectors)
            && event.error == 0
        {
            // A part of it.
            let mut open = *open;
            self.open.remove(&key);
            open.left -= event.sectors;
            let next = (event.device, event.sector.wrapping_add(event.sectors));
            self.open.insert(next, open);
            return;
        }
        let Some((open, issued)) = self.take(key, at).and_then(|open| Some((open, open.at_device?.since))) else {
            self.depth(event.device, at);
            self.counts.without_issue += 1;
            return;
        };
        if !matches!(self.tasks, TaskSet::All) {
            if !self.tasks.contains(open.task, at) {
                return;
            }
            self.met.insert(open.task);
        }
        let begin = open.inserted.unwrap_or(issued);
        let time = at.saturating_sub(begin);
        let operation = open.operation;
        let none = &self.none;
        let requests = self.requests.entry((event.device, operation)).or_insert_with(|| IoRequests {
            device: event.device,
            operation,
            total: none.clone(),
            queued: none.clone(),
            device_time: none.clone(),
            bytes: 0,
            errors: BTreeMap::new(),
            failures: none.clone(),
            longest: None,
        });
        requests.total.add_at(at, time);
        requests.device_time.add_at(at, at.saturating_sub(issued));
        if let Some(inserted) = open.inserted {
            requests.queued.add_at(at, issued.saturating_sub(inserted));
        }
        let bytes = open.sectors.saturating_mul(SECTOR);
        requests.bytes = requests.bytes.saturating_add(bytes);
        let (of_task, sum) = self.by_task.entry((open.task, event.device, operation)).or_default();
        of_task.add(time);
        *sum = sum.saturating_add(bytes);
        if event.error != 0 {
            let errno = i32::try_from(event.error.unsigned_abs()).unwrap_or(i32::MAX);
            *requests.errors.entry(errno).or_default() += 1;
            requests.failures.add_at(at, time);
        }
        if requests.longest.is_none_or(|longest| longest.time < time) {
            requests.longest = Some(LongestRequest { time, at: begin, sector: open.sector, cpu });
        }
    }
}

impl OpenRequest {
    fn of(event: &RequestEvent, inserted: Option<u64>) -> Self {
        let (sector, sectors) = (event.sector, event.sectors);
        OpenRequest {
            operation: event.operation,
            inserted,
            at_device: None,
            sector,
            sectors,
            left: sectors,
            task: event.task,
        }
    }
}

impl InOrder for Io {
    type Finding = IoReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        if record.lost != Lost::None {
            self.lose();
        }
        let Some(event) = self.events.event(record) else { return };
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        match event.step {
            RequestStep::Insert => self.insert(&event, at),
            RequestStep::Issue => self.issue(&event, at),
            RequestStep::Requeue => self.requeue(&event, at),
            RequestStep::Complete => self.complete(&event, at, cpu),
            RequestStep::MergeInFront => self.merge_in_front(&event),
            RequestStep::Merge => self.merge(&event),
        }
    }

    fn finish(mut self) -> IoReport {
        let mut counts = self.counts;
        counts.unfinished += self.open.len() as u64;
        let end = self.window.map_or(0, |window| window.1);
        // One that was not issued may have been merged into another.
        let at_device = |((device, _), open): (&(BlockDevice, u64), &OpenRequest)| {
            let at = open.inserted.unwrap_or(open.at_device?.since);
            open.at_device.filter(|_| self.tasks.contains(open.task, end))?;
            Some(OngoingRequest { device: *device, operation: open.operation, at, time: end.saturating_sub(at) })
        };
        let mut going_on: Vec<OngoingRequest> = self.open.iter().filter_map(at_device).collect();
        going_on.sort_unstable_by_key(|request| (request.at, request.device));
        self.give_up_all(end);
        let devices = self.devices.into_iter().map(|(device, depth)| {
            let (ended, all) = depth.until(end);
            DeviceIo { device, ended, all }
        });
        let task = |((task, device, operation), (total, bytes))| TaskIo { task, device, operation, total, bytes };
        let mut by_task: Vec<TaskIo> = self.by_task.into_iter().map(task).collect();
        by_task.sort_unstable_by_key(|one| (Reverse(one.total.total()), one.task, one.device, one.operation));
        IoReport {
            by_task,
            window: self.window,
            devices: devices.collect(),
            requests: self.requests.into_values().collect(),
            going_on,
            counts,
            tasks: self.met.into_iter().collect(),
        }
    }
}

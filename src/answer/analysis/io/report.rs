//! The answer about requests to block devices.
//! Number of requests at a device, over time.

use super::events::{BlockDevice, IoOperation};
use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::{CpuId, Pid};
use std::collections::{BTreeMap, VecDeque};

/// The events that its numbers need, by the names of `rtrace analyze io --json`. A request's completion comes on any CPU, in the
/// time of any task.
pub const IO_NEEDS: &[Needs] = &[
    Needs::between(
        &[
            "requests.bytes",
            "requests.total",
            "requests.queue",
            "requests.device_time",
            "requests.errors",
            "by_task.bytes",
            "by_task.total",
            "histogram.requests",
        ],
        &["block:block_rq_*", "block:block_bio_frontmerge"],
    ),
    Needs::between(&["requests.longest", "counts.requeued"], &["block:block_rq_*", "block:block_bio_frontmerge"]),
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["devices.busy", "devices.depth"], &["block:block_rq_*", "block:block_bio_frontmerge"])
    },
];

/// Requests of one buffer. All times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct IoReport {
    /// The first and the last event of requests: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Devices, by number.
    pub devices: Vec<DeviceIo>,
    /// Requests by device and operation.
    pub requests: Vec<IoRequests>,
    /// Requests by task, those with the most time first.
    pub by_task: Vec<TaskIo>,
    /// Requests that are at a device at the window's end.
    pub going_on: Vec<OngoingRequest>,
    /// Events that are no part of a request, and losses.
    pub counts: IoCounts,
    /// The tasks of the requests, ascending, if these are those of [some](super::Io::of); else none.
    pub tasks: Vec<Pid>,
}

/// A request that is at a device at the window's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OngoingRequest {
    /// The device.
    pub device: BlockDevice,
    /// The operation.
    pub operation: IoOperation,
    /// Its insertion; of one that was not inserted its issue.
    pub at: u64,
    /// From there to the window's end.
    pub time: u64,
}

/// Events that are no part of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoCounts {
    /// Requests without a completion: those that go on at the end, or that were merged into another.
    pub unfinished: u64,
    /// Completions without the request's issue: it began before the window, or its place changed.
    pub without_issue: u64,
    /// Requests that the device's driver gave back to the queue.
    pub requeued: u64,
    /// Requests that were on when the kernel dropped events.
    pub censored: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// A device.
#[derive(Clone, Debug)]
pub struct DeviceIo {
    /// Number of the device.
    pub device: BlockDevice,
    /// Requests that were issued and not complete, without those of which the end is missing.
    pub ended: DepthTimes,
    /// The same with those, each until the window's end or until another one took its place. Depth lies between the two.
    pub all: DepthTimes,
}

/// Numbers of requests at a device, over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DepthTimes(Vec<u64>);

/// Requests of one operation to one device.
#[derive(Clone, Debug)]
pub struct IoRequests {
    /// The device.
    pub device: BlockDevice,
    /// The operation.
    pub operation: IoOperation,
    /// From insertion to completion; of those that were issued without being inserted, from their issue.
    pub total: Durations,
    /// From insertion to issue (the last one, if it was given back); none of requests that were not inserted.
    pub queued: Durations,
    /// From issue to completion.
    pub device_time: Durations,
    /// Sum of the sizes, in bytes.
    pub bytes: u64,
    /// Number of failed requests by `errno`.
    pub errors: BTreeMap<i32, u64>,
    /// Of failed requests, as `total`.
    pub failures: Durations,
    /// The longest request; of several the first.
    pub longest: Option<LongestRequest>,
}

/// Requests of one operation by one task to one device.
#[derive(Clone, Debug)]
pub struct TaskIo {
    /// The task that inserted them or, if they were not inserted, issued them.
    pub task: Pid,
    /// The device.
    pub device: BlockDevice,
    /// The operation.
    pub operation: IoOperation,
    /// As [`IoRequests::total`].
    pub total: Durations,
    /// Sum of the sizes, in bytes.
    pub bytes: u64,
}

/// The longest request of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongestRequest {
    /// Total time of the request, in clock units.
    pub time: u64,
    /// Begin of the request, in clock units.
    pub at: u64,
    /// Its first sector, of 512 bytes.
    pub sector: u64,
    /// The CPU of the completion.
    pub cpu: CpuId,
}

impl DepthTimes {
    fn new(times: Vec<u64>) -> Self {
        DepthTimes(times)
    }

    /// Time in which 0, 1, 2 … requests were at the device, from its first event to the window's end; in the clock's unit.
    pub fn times(&self) -> &[u64] {
        &self.0
    }

    /// All that time.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Number of requests at the device, averaged over time.
    pub fn mean(&self) -> f64 {
        let time = self.total();
        let sum: f64 = self.0.iter().enumerate().map(|(depth, time)| depth as f64 * *time as f64).sum();
        if time == 0 { 0.0 } else { sum / time as f64 }
    }

    /// Time in which the device had at least one request.
    pub fn busy(&self) -> u64 {
        self.0.iter().skip(1).sum()
    }

    /// The most requests at a time, however short.
    pub fn greatest(&self) -> usize {
        self.0.iter().rposition(|time| *time > 0).unwrap_or(0)
    }
}

/// Changes that wait for the end of a request before them. Where there are more the oldest request counts as one without an end.
const MOST_CHANGES: usize = 1 << 16;

/// Number of requests at a device, over time: of all, and of those alone that were seen to leave it.
#[derive(Clone, Debug)]
pub(super) struct QueueDepth {
    all: DepthLine,
    ended: DepthLine,
    /// What happened since the issue of the oldest request that is at the device.
    changes: VecDeque<DepthChange>,
    /// Number of changes that were taken from the front.
    taken: u64,
    /// Requests that were not seen to leave, but for the oldest of too many.
    endless: u64,
}

/// Time with each number of requests.
#[derive(Clone, Debug)]
struct DepthLine {
    now: usize,
    since: u64,
    times: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct DepthChange {
    at: u64,
    kind: DepthStep,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DepthStep {
    /// A request was issued; it is at the device.
    Issued,
    /// One was issued that has left meanwhile.
    Came,
    /// One was issued of which the end is missing.
    Endless,
    /// One of those that came left.
    Left,
}

/// A request at a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtDevice {
    /// When it was issued.
    pub(super) since: u64,
    /// Number of the change.
    change: u64,
}

impl DepthLine {
    fn change(&mut self, by: isize, at: u64) {
        if self.times.len() <= self.now {
            self.times.resize(self.now + 1, 0);
        }
        if let Some(time) = self.times.get_mut(self.now) {
            *time = time.saturating_add(at.saturating_sub(self.since));
        }
        (self.now, self.since) = (self.now.saturating_add_signed(by), at);
    }
}

impl QueueDepth {
    /// Of a device whose first event is `at` this time.
    pub(super) fn new(at: u64) -> Self {
        let none = DepthLine { now: 0, since: at, times: Vec::new() };
        QueueDepth { all: none.clone(), ended: none, changes: VecDeque::new(), taken: 0, endless: 0 }
    }

    /// A request comes to the device.
    pub(super) fn issue(&mut self, at: u64) -> AtDevice {
        self.all.change(1, at);
        let change = self.taken + self.changes.len() as u64;
        self.changes.push_back(DepthChange { at, kind: DepthStep::Issued });
        if self.changes.len() > MOST_CHANGES {
            self.decide(self.taken, DepthStep::Endless);
        }
        AtDevice { since: at, change }
    }

    /// It leaves the device.
    pub(super) fn leave(&mut self, request: AtDevice, at: u64) {
        self.all.change(-1, at);
        if request.change >= self.taken {
            self.changes.push_back(DepthChange { at, kind: DepthStep::Left });
            self.decide(request.change, DepthStep::Came);
        }
    }

    /// It is no longer there, and nothing says since when.
    pub(super) fn give_up(&mut self, request: AtDevice, at: u64) {
        self.all.change(-1, at);
        self.endless += 1;
        if request.change >= self.taken {
            self.decide(request.change, DepthStep::Endless);
        }
    }

    fn decide(&mut self, change: u64, kind: DepthStep) {
        if let Some(change) = self.changes.get_mut((change - self.taken) as usize) {
            change.kind = kind;
        }
        while let Some(DepthChange { at, kind }) =
            self.changes.front().copied().filter(|one| one.kind != DepthStep::Issued)
        {
            match kind {
                DepthStep::Came => self.ended.change(1, at),
                DepthStep::Left => self.ended.change(-1, at),
                DepthStep::Issued | DepthStep::Endless => {}
            }
            self.changes.pop_front();
            self.taken += 1;
        }
    }

    /// Time with each number of requests up to `end`: of those that were seen to leave, and of all. All requests have left, or were
    /// given up.
    pub(super) fn until(mut self, end: u64) -> (DepthTimes, DepthTimes) {
        self.all.change(0, end);
        self.ended.change(0, end);
        let [all, ended] = [self.all, self.ended].map(|line| DepthTimes::new(line.times));
        if self.endless == 0 { (all.clone(), all) } else { (ended, all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_without_an_end_are_in_one_of_two_depths() {
        let mut depth = QueueDepth::new(0);
        let lost = depth.issue(10);
        let first = depth.issue(20);
        let second = depth.issue(25);
        depth.leave(first, 30);
        depth.leave(second, 50);
        depth.give_up(lost, 100);
        let (ended, all) = depth.until(100);
        assert_eq!(ended.times(), [70, 25, 5]);
        assert_eq!(all.times(), [10, 60, 25, 5]);
    }

    #[test]
    fn with_an_end_of_each_there_is_one_depth() {
        let mut depth = QueueDepth::new(0);
        let oldest = depth.issue(10);
        for at in 0..MOST_CHANGES as u64 {
            let one = depth.issue(20 + 2 * at);
            depth.leave(one, 21 + 2 * at);
        }
        assert!(depth.changes.len() < 10);
        let end = 20 + 2 * MOST_CHANGES as u64;
        depth.leave(oldest, end);
        let (ended, all) = depth.until(end + 5);
        assert_eq!(ended, all);
        assert_eq!(all.times(), [15, 10 + MOST_CHANGES as u64, MOST_CHANGES as u64]);
    }
}

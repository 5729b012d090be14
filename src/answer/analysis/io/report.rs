//! The answer about requests to block devices.

use super::events::{BlockDevice, IoOperation};
use crate::answer::analysis::{Durations, KnownPart, Needs};
use crate::base::units::{CpuId, Pid};
use std::collections::BTreeMap;

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
    pub(super) fn new(times: Vec<u64>) -> Self {
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

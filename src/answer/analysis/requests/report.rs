//! The answer: times of requests by part, and the longest requests.

use crate::answer::analysis::{Durations, Needs};
use crate::base::units::Pid;

/// A part of a request's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// Its thread was on a CPU.
    Run,
    /// Woken, its thread waited for a CPU.
    Wait,
    /// Its thread was preempted.
    Preempted,
    /// Its thread slept until a request to a block device was completed.
    Io,
    /// Its thread slept within a wait for a lock of the kernel or in `futex`.
    Locks,
    /// Its thread slept otherwise in state D.
    Blocked,
    /// Its thread slept otherwise.
    Sleep,
    /// No thread carried it.
    Queued,
    /// No event tells.
    Unknown,
}

impl RequestPart {
    /// All, in the order of their discriminants.
    pub const ALL: [RequestPart; 9] = [
        RequestPart::Run,
        RequestPart::Wait,
        RequestPart::Preempted,
        RequestPart::Io,
        RequestPart::Locks,
        RequestPart::Blocked,
        RequestPart::Sleep,
        RequestPart::Queued,
        RequestPart::Unknown,
    ];

    /// The part in a word.
    pub fn name(self) -> &'static str {
        match self {
            RequestPart::Run => "run",
            RequestPart::Wait => "wait",
            RequestPart::Preempted => "preempted",
            RequestPart::Io => "io",
            RequestPart::Locks => "locks",
            RequestPart::Blocked => "blocked",
            RequestPart::Sleep => "sleep",
            RequestPart::Queued => "queued",
            RequestPart::Unknown => "unknown",
        }
    }
}

/// Times by part, in the clock's unit.
pub(super) type PartTimes = [u64; RequestPart::ALL.len()];

/// A time of a request in one part, in the clock's unit. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPiece {
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// State of the thread that carries the request, or the queue.
    pub part: RequestPart,
    /// The thread that carried it; `None` if none did.
    pub task: Option<Pid>,
}

/// A request that began and ended. Times are in the clock's unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedRequest {
    /// Its key: numbers and texts, divided by commas.
    pub key: Vec<u8>,
    /// Begin, in clock units.
    pub begin: u64,
    /// End, in clock units.
    pub end: u64,
    /// The thread that carried it first, if one did.
    pub task: Option<Pid>,
    /// Number of threads that carried it.
    pub threads: u64,
    /// True if all events of these threads were recorded, but for filters and CPUs.
    pub(super) covered: bool,
    pub(super) times: PartTimes,
    /// Its parts in order, without a gap, if the plan asks for them.
    pub pieces: Vec<RequestPiece>,
}

impl TimedRequest {
    /// From begin to end: the sum of all parts.
    pub fn span(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Time in a part.
    pub fn time(&self, part: RequestPart) -> u64 {
        self.times[part as usize]
    }
}

/// Numbers of requests, and of events that fit to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Requests that began and ended.
    pub requests: u64,
    /// Begins whose key another begin took before an end.
    pub begun_again: u64,
    /// Ends without a begin.
    pub without_begin: u64,
    /// Requests without an end.
    pub unfinished: u64,
    /// Requests that were on where events were lost: they are not counted.
    pub censored: u64,
    /// Requests of threads whose events were not all recorded: they are not counted.
    pub uncovered: u64,
    /// Requests whose end was an event of a thread that did not carry them.
    pub ended_elsewhere: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// Requests of one buffer. All times are in the clock's unit.
#[derive(Clone, Debug, Default)]
pub struct RequestReport {
    /// The first and the last event that was looked at; `None` without a request.
    pub window: Option<(u64, u64)>,
    /// From begin to end.
    pub spans: Durations,
    /// By part: the time of each request in it, also if that is none.
    pub parts: Vec<(RequestPart, Durations)>,
    /// The longest, the longest first; of equal ones the earlier.
    pub longest: Vec<TimedRequest>,
    /// Numbers of requests and events.
    pub counts: RequestCounts,
    /// False if completions of requests to block devices were not recorded, or not all: `Io` is in `Blocked` and `Sleep`.
    pub has_io: bool,
    /// False if waits for locks were not recorded, or not all: `Locks` is in `Blocked` and `Sleep`.
    pub has_locks: bool,
    /// Limits of the recording to begins, ends and what is between, each a sentence.
    pub limits: Vec<String>,
}

/// The events that its numbers need besides those that begin and end requests, by the names of `rtrace analyze requests --json`.
pub const REQUEST_NEEDS: &[Needs] = &[
    Needs::seen(&["counts"], &[]),
    Needs::between(&["spans", "longest.span"], &[]),
    Needs::between(
        &[
            "parts.times",
            "parts.share",
            "longest.run",
            "longest.wait",
            "longest.preempted",
            "longest.io",
            "longest.locks",
            "longest.blocked",
            "longest.sleep",
            "longest.queued",
            "longest.unknown",
        ],
        &["sched:sched_switch", "sched:sched_wak*", "sched:sched_process_fork"],
    ),
];

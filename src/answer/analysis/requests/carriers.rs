//! Threads and the requests that they carry: legs, and what the thread did in each.

use super::causes::Causes;
use super::report::{PartTimes, RequestPart, RequestPiece, TimedRequest};
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::sched::SettledUntil;
use crate::answer::analysis::span_log::SpanLog;
use crate::answer::analysis::{Sched, TaskSpan, TimeIn};
use crate::base::units::Pid;
use std::collections::VecDeque;

/// The number of a request, in order of their begins.
type RequestNumber = u64;

/// Requests that are on, or whose threads' states are not settled.
#[derive(Clone, Debug, Default)]
pub(super) struct Carriers {
    threads: Map<Pid, CarrierThread>,
    requests: Map<RequestNumber, LiveRequest>,
    /// By key: the one that is on.
    on: Map<Vec<u8>, RequestNumber>,
    next: RequestNumber,
    /// Requests of which all is known.
    pub(super) done: Vec<TimedRequest>,
    /// True to keep the parts of each in order.
    keeps_pieces: bool,
}

/// A request while it is followed.
#[derive(Clone, Debug)]
struct LiveRequest {
    text: Vec<u8>,
    begin: u64,
    end: Option<u64>,
    /// The threads that carried it.
    threads: Vec<Pid>,
    carrier: Option<Pid>,
    /// Legs that are not settled.
    unsettled: usize,
    /// True if all events of these threads are there.
    covered: bool,
    times: PartTimes,
    /// Parts while threads carry it, in no order.
    pieces: Vec<RequestPiece>,
}

/// A thread that carries requests, or did.
#[derive(Clone, Debug)]
struct CarrierThread {
    /// Its place among the scheduler's tasks.
    place: usize,
    /// The requests that it has, the one that it carries last.
    stack: Vec<RequestNumber>,
    /// Since when it carries that.
    since: u64,
    legs: VecDeque<CarriedLeg>,
    /// Wakeups where a request to a block device had just been completed.
    completions: VecDeque<u64>,
    /// Waits for locks.
    locked: VecDeque<(u64, u64)>,
}

/// A time in which a thread carried a request.
#[derive(Clone, Copy, Debug)]
struct CarriedLeg {
    request: RequestNumber,
    from: u64,
    to: u64,
}

impl CarrierThread {
    /// The leg that is on ends.
    fn pause(&mut self, at: u64) -> Option<RequestNumber> {
        let (request, from) = (*self.stack.last()?, std::mem::replace(&mut self.since, at));
        (from < at).then(|| {
            self.legs.push_back(CarriedLeg { request, from, to: at });
            request
        })
    }

    /// True if it waited for a lock at `at`: its waits follow each other.
    fn is_locked(&self, at: u64) -> bool {
        let next = self.locked.partition_point(|(_, until)| *until <= at);
        self.locked.get(next).is_some_and(|(since, _)| *since <= at)
    }

    /// The cause of a sleep.
    fn cause(&self, span: &TaskSpan, locked: Option<u64>) -> RequestPart {
        match span.wake {
            _ if locked.is_some_and(|since| since <= span.begin) || self.is_locked(span.begin) => RequestPart::Locks,
            Some(wake) if self.completions.binary_search(&wake.at).is_ok() => RequestPart::Io,
            _ if span.state == TimeIn::Blocked => RequestPart::Blocked,
            _ => RequestPart::Sleep,
        }
    }

    /// Gives `each` the parts of a leg in order, without a gap: begin, end, part.
    fn parts(
        &self,
        leg: &CarriedLeg,
        spans: Option<&SpanLog<TaskSpan>>,
        gone: Option<u64>,
        locked: Option<u64>,
        mut each: impl FnMut(u64, u64, RequestPart),
    ) {
        // One that has ended carries nothing.
        let to = gone.map_or(leg.to, |gone| leg.to.min(gone.max(leg.from)));
        let mut at = leg.from;
        let spans = spans.into_iter().flat_map(|spans| spans.after(leg.from));
        for span in spans.take_while(|span| span.begin < to) {
            let (begin, end) = (span.begin.max(at), span.end.min(to));
            let part = match span.state {
                TimeIn::Run => RequestPart::Run,
                TimeIn::Wait => RequestPart::Wait,
                TimeIn::Preempted => RequestPart::Preempted,
                TimeIn::Sleep | TimeIn::Blocked => self.cause(&span, locked),
                TimeIn::Unknown => continue,
            };
            if begin < end {
                if at < begin {
                    each(at, begin, RequestPart::Unknown);
                }
                each(begin, end, part);
                at = end;
            }
        }
        if at < to {
            each(at, to, RequestPart::Unknown);
        }
    }

    /// Forgets what lies before the legs to come.
    fn trim(&mut self) -> u64 {
        let idle = if self.stack.is_empty() { u64::MAX } else { self.since };
        let from = self.legs.front().map_or(idle, |leg| leg.from);
        // A wakeup that ends a sleep is not before it.
        while self.completions.front().is_some_and(|at| *at < from) {
            self.completions.pop_front();
        }
        while self.locked.front().is_some_and(|(_, until)| *until < from) {
            self.locked.pop_front();
        }
        from
    }
}

impl Carriers {
    /// Keeps the parts of each request in order if that is asked for.
    pub(super) fn new(keeps_pieces: bool) -> Self {
        Carriers { keeps_pieces, ..Carriers::default() }
    }

    /// The request of this key that is on.
    pub(super) fn on(&self, key: &[u8]) -> Option<RequestNumber> {
        self.on.get(key).copied()
    }

    /// The thread that carries it.
    pub(super) fn carrier(&self, request: RequestNumber) -> Option<Pid> {
        self.requests.get(&request)?.carrier
    }

    /// A request begins.
    pub(super) fn begin(&mut self, key: &[u8], text: Vec<u8>, at: u64) -> RequestNumber {
        let number = self.next;
        self.next = number.saturating_add(1);
        self.on.insert(key.to_vec(), number);
        let request = LiveRequest {
            text,
            begin: at,
            end: None,
            threads: Vec::new(),
            carrier: None,
            unsettled: 0,
            covered: true,
            times: PartTimes::default(),
            pieces: Vec::new(),
        };
        self.requests.insert(number, request);
        number
    }

    /// From `at` on `task` carries it.
    pub(super) fn take(&mut self, request: RequestNumber, task: Pid, at: u64, sched: &mut Sched) {
        self.put_down(request, at);
        let place = sched.log(task, at);
        let covers = sched.covers(task);
        if let Some(former) = self.threads.get_mut(&task).filter(|thread| thread.place != place) {
            // Another thread of that number, which has ended.
            let paused = former.pause(at);
            self.count_leg(paused);
            self.settle(task, None, sched);
            self.threads.remove(&task);
        }
        let thread = self.threads.entry(task).or_insert_with(|| CarrierThread {
            place,
            stack: Vec::new(),
            since: at,
            legs: VecDeque::new(),
            completions: VecDeque::new(),
            locked: VecDeque::new(),
        });
        let paused = thread.pause(at);
        thread.stack.push(request);
        thread.since = at;
        self.count_leg(paused);
        if let Some(request) = self.requests.get_mut(&request) {
            request.carrier = Some(task);
            request.covered &= covers;
            if !request.threads.contains(&task) {
                request.threads.push(task);
            }
        }
    }

    /// Takes a request from its carrier, so that none has it.
    fn put_down(&mut self, request: RequestNumber, at: u64) {
        let task = self.requests.get_mut(&request).and_then(|request| request.carrier.take());
        let Some(thread) = task.and_then(|task| self.threads.get_mut(&task)) else { return };
        let paused = if thread.stack.last() == Some(&request) { thread.pause(at) } else { None };
        thread.stack.retain(|one| *one != request);
        self.count_leg(paused);
    }

    fn count_leg(&mut self, of: Option<RequestNumber>) {
        if let Some(request) = of.and_then(|request| self.requests.get_mut(&request)) {
            request.unsettled = request.unsettled.saturating_add(1);
        }
    }

    /// It ends.
    pub(super) fn end(&mut self, key: &[u8], at: u64) {
        let Some(number) = self.on.remove(key) else { return };
        self.put_down(number, at);
        if let Some(request) = self.requests.get_mut(&number) {
            request.end = Some(at);
        }
        self.finish(number);
    }

    /// It is given up: no end of it counts.
    pub(super) fn give_up(&mut self, key: &[u8], at: u64) {
        if let Some(number) = self.on.remove(key) {
            self.put_down(number, at);
            self.requests.remove(&number);
        }
    }

    /// All that are on are given up; gives their number.
    pub(super) fn give_all_up(&mut self) -> u64 {
        let on = std::mem::take(&mut self.on);
        for number in on.values() {
            self.requests.remove(number);
        }
        for thread in self.threads.values_mut() {
            thread.stack.clear();
        }
        on.len() as u64
    }

    /// Number of those that are on.
    pub(super) fn count(&self) -> u64 {
        self.on.len() as u64
    }

    /// A task is woken where a request to a block device has just been completed.
    pub(super) fn complete(&mut self, task: Pid, at: u64) {
        if let Some(thread) = self.threads.get_mut(&task) {
            thread.completions.push_back(at);
        }
    }

    /// A task has waited for a lock.
    pub(super) fn unlock(&mut self, task: Pid, since: u64, until: u64) {
        if let Some(thread) = self.threads.get_mut(&task) {
            thread.locked.push_back((since, until));
        }
    }

    /// Settles what can be settled, and forgets threads that carry nothing.
    pub(super) fn settle_all(&mut self, causes: &Causes, sched: &mut Sched) {
        let tasks: Vec<Pid> = self.threads.keys().copied().collect();
        for task in tasks {
            self.settle(task, causes.locked(task), sched);
            let Some(thread) = self.threads.get_mut(&task) else { continue };
            let from = thread.trim();
            let is_idle = thread.stack.is_empty() && thread.legs.is_empty();
            sched.forget(thread.place, (!is_idle).then_some(from));
            if is_idle {
                self.threads.remove(&task);
            }
        }
    }

    /// Adds the legs of a thread whose states are known for good to their requests.
    fn settle(&mut self, task: Pid, locked: Option<u64>, sched: &Sched) {
        let Some(thread) = self.threads.get_mut(&task) else { return };
        let (spans, settled) = sched.logged(thread.place);
        let (until, gone) = match settled {
            SettledUntil::Now(until) => (until, None),
            SettledUntil::Gone(at) => (u64::MAX, Some(at)),
        };
        let mut settled = Vec::new();
        while let Some(leg) = thread.legs.front().copied().filter(|leg| leg.to <= until) {
            thread.legs.pop_front();
            let Some(request) = self.requests.get_mut(&leg.request) else { continue };
            thread.parts(&leg, spans, gone, locked, |begin, end, part| {
                let time = &mut request.times[part as usize];
                *time = time.saturating_add(end.saturating_sub(begin));
                if self.keeps_pieces {
                    request.pieces.push(RequestPiece { begin, end, part, task: Some(task) });
                }
            });
            request.unsettled = request.unsettled.saturating_sub(1);
            settled.push(leg.request);
        }
        settled.into_iter().for_each(|request| self.finish(request));
    }

    /// Moves a request to those that are done if it has ended and all is known.
    fn finish(&mut self, number: RequestNumber) {
        let ended = |request: &LiveRequest| request.end.filter(|_| request.unsettled == 0);
        let Some(end) = self.requests.get(&number).and_then(ended) else { return };
        let Some(request) = self.requests.remove(&number) else { return };
        let LiveRequest { text: key, begin, threads, covered, mut times, pieces, .. } = request;
        let carried: u64 = times.iter().fold(0, |all, time| all.saturating_add(*time));
        times[RequestPart::Queued as usize] = end.saturating_sub(begin).saturating_sub(carried);
        let (task, count) = (threads.first().copied(), threads.len() as u64);
        let pieces = if self.keeps_pieces { with_queues(pieces, begin, end) } else { Vec::new() };
        self.done.push(TimedRequest { key, begin, end, task, threads: count, covered, times, pieces });
    }
}

/// Pieces in order, and between them the times in which no thread carried the request.
fn with_queues(mut carried: Vec<RequestPiece>, begin: u64, end: u64) -> Vec<RequestPiece> {
    carried.sort_by_key(|piece| piece.begin);
    let queued = |begin, end| RequestPiece { begin, end, part: RequestPart::Queued, task: None };
    let (mut all, mut at) = (Vec::with_capacity(carried.len()), begin);
    for piece in carried {
        if at < piece.begin {
            all.push(queued(at, piece.begin));
        }
        at = piece.end;
        all.push(piece);
    }
    if at < end {
        all.push(queued(at, end));
    }
    all
}

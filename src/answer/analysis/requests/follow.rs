//! Following requests from event to event.

use super::carriers::Carriers;
use super::causes::{Causes, IN_INTERRUPT, ToldCause};
use super::report::{RequestCounts, RequestPart, RequestReport, TimedRequest};
use super::side::{NamedRequest, RequestSide};
use crate::answer::analysis::{Durations, InOrder, Sched};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::events::EventName;
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;

/// The events of requests.
#[derive(Clone, Debug)]
pub struct RequestPlan {
    /// A request begins, and the thread carries it.
    pub begin: RequestSide,
    /// It ends.
    pub end: RequestSide,
    /// Another thread takes it.
    pub carry: Option<RequestSide>,
    /// The names of these events.
    pub events: Vec<EventName>,
    /// Number of the longest requests to keep.
    pub keep: usize,
    /// True to keep the parts of each in order.
    pub pieces: bool,
}

/// Times of requests by what the threads did that carried them; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct RequestTimes {
    plan: RequestPlan,
    sched: Sched,
    causes: Causes,
    carriers: Carriers,
    /// Records since threads were settled.
    unsettled: usize,
    window: Option<(u64, u64)>,
    key: Vec<u8>,
    found: RequestReport,
}

/// Records after which threads are settled: a bound of what is kept of each.
const SETTLE_EVERY: usize = 4096;

impl RequestTimes {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat> + Clone, abi: Abi, plan: RequestPlan) -> Self {
        let causes = Causes::new(formats.clone(), abi);
        RequestTimes {
            sched: Sched::new(formats, abi),
            carriers: Carriers::new(plan.pieces),
            plan,
            causes,
            unsettled: 0,
            window: None,
            key: Vec::new(),
            found: RequestReport {
                parts: RequestPart::ALL.iter().map(|part| (*part, Durations::default())).collect(),
                ..RequestReport::default()
            },
        }
    }

    /// For a recording of a part of what happened: states whose events were not all recorded are unknown.
    pub fn covering(mut self, coverage: &Coverage) -> Self {
        let filtered = |systems: &[&str]| coverage.filtered().any(|(event, _)| systems.contains(&&*event.system));
        // Interrupts complete requests while any task runs.
        self.causes.has_io &= !filtered(&["block", "irq"]) && !coverage.is_of_some_tasks();
        self.causes.has_locks &= !filtered(&["lock", "syscalls"]);
        let filters: Vec<&EventName> = coverage.filtered().map(|(event, _)| event).collect();
        if self.plan.events.iter().any(|event| filters.contains(&event)) {
            self.found.limits = coverage.limits(|event| self.plan.events.contains(event));
        }
        RequestTimes { sched: self.sched.covering(coverage), ..self }
    }

    /// The thread that an event is of: the one that its key names, or the one that wrote it, unless an interrupt did.
    fn thread(&self, named: &NamedRequest, record: &Record<'_>) -> Option<Pid> {
        let (current, context) = self.causes.context(record);
        let task = named.task.or((context & IN_INTERRUPT == 0).then_some(current));
        task.filter(|task| task.0 > 0)
    }

    fn lose(&mut self) {
        self.found.counts.losses = self.found.counts.losses.saturating_add(1);
        let given_up = self.carriers.give_all_up();
        self.found.counts.censored = self.found.counts.censored.saturating_add(given_up);
        self.causes.lose();
    }

    fn end(&mut self, record: &Record<'_>, current: Pid) {
        let Some(named) = self.plan.end.named(record, current, &mut self.key) else { return };
        let Some(number) = self.carriers.on(&self.key) else {
            self.found.counts.without_begin = self.found.counts.without_begin.saturating_add(1);
            return;
        };
        let (thread, carrier) = (self.thread(&named, record), self.carriers.carrier(number));
        let elsewhere = thread.is_some() && thread != carrier;
        self.found.counts.ended_elsewhere = self.found.counts.ended_elsewhere.saturating_add(elsewhere.into());
        self.carriers.end(&self.key, record.timestamp.0);
    }

    fn carry(&mut self, record: &Record<'_>, current: Pid) {
        let Some(named) = self.plan.carry.as_ref().and_then(|side| side.named(record, current, &mut self.key)) else {
            return;
        };
        if let (Some(number), Some(thread)) = (self.carriers.on(&self.key), self.thread(&named, record)) {
            self.carriers.take(number, thread, record.timestamp.0, &mut self.sched);
        }
    }

    fn begin(&mut self, record: &Record<'_>, current: Pid) {
        let at = record.timestamp.0;
        let Some(named) = self.plan.begin.named(record, current, &mut self.key) else { return };
        if self.carriers.on(&self.key).is_some() {
            self.carriers.give_up(&self.key, at);
            self.found.counts.begun_again = self.found.counts.begun_again.saturating_add(1);
        }
        let thread = self.thread(&named, record);
        let number = self.carriers.begin(&self.key, named.text, at);
        if let Some(thread) = thread {
            self.carriers.take(number, thread, at, &mut self.sched);
        }
    }

    /// Adds requests of which all is known.
    fn settle(&mut self) {
        self.unsettled = 0;
        self.carriers.settle_all(&self.causes, &mut self.sched);
        let found = &mut self.found;
        for request in self.carriers.done.drain(..) {
            let counts = &mut found.counts;
            let count = if request.covered { &mut counts.requests } else { &mut counts.uncovered };
            *count = count.saturating_add(1);
            if !request.covered {
                continue;
            }
            found.spans.add(request.span());
            for (part, times) in &mut found.parts {
                times.add(request.time(*part));
            }
            found.longest.push(request);
        }
        if found.longest.len() / 2 > self.plan.keep {
            shorten(&mut found.longest, self.plan.keep);
        }
    }
}

/// Leaves the longest.
fn shorten(requests: &mut Vec<TimedRequest>, keep: usize) {
    requests.sort_unstable_by(|a, b| {
        let order = |one: &TimedRequest| (Reverse(one.span()), one.begin);
        order(a).cmp(&order(b)).then_with(|| a.key.cmp(&b.key))
    });
    requests.truncate(keep);
}

impl InOrder for RequestTimes {
    type Finding = RequestReport;

    fn reads(&self, id: u16) -> bool {
        let RequestPlan { begin, end, carry, .. } = &self.plan;
        let of_plan = begin.reads(id) || end.reads(id) || carry.as_ref().is_some_and(|side| side.reads(id));
        of_plan || InOrder::reads(&self.sched, id) || self.causes.reads(id)
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        let RequestPlan { begin, end, carry, .. } = &self.plan;
        InOrder::wants(&self.sched, record)
            || self.causes.knows(record)
            || begin.knows(record)
            || end.knows(record)
            || carry.as_ref().is_some_and(|side| side.knows(record))
    }

    fn record(&mut self, record: &Record<'_>) {
        if !InOrder::wants(self, record) {
            return;
        }
        let at = record.timestamp.0;
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        if record.lost != Lost::None {
            self.lose();
        }
        if InOrder::wants(&self.sched, record) {
            InOrder::record(&mut self.sched, record);
        } else {
            self.sched.see(record);
        }
        match self.causes.record(record) {
            Some(ToldCause::Io(task)) => self.carriers.complete(task, at),
            Some(ToldCause::Locks(task, since)) => self.carriers.unlock(task, since, at),
            None => {}
        }
        let (current, _) = self.causes.context(record);
        self.end(record, current);
        self.carry(record, current);
        self.begin(record, current);
        self.unsettled += 1;
        if self.unsettled >= SETTLE_EVERY {
            self.settle();
        }
    }

    fn finish(mut self) -> RequestReport {
        self.found.counts.unfinished = self.carriers.count();
        self.sched.close();
        self.settle();
        let RequestTimes { plan, mut found, window, causes: Causes { has_io, has_locks, .. }, .. } = self;
        shorten(&mut found.longest, plan.keep);
        let RequestCounts { requests, uncovered, unfinished, .. } = found.counts;
        let seen = requests > 0 || uncovered > 0 || unfinished > 0;
        RequestReport { window: window.filter(|_| seen), has_io, has_locks, ..found }
    }
}

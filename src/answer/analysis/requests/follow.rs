//! Following requests from event to event.

use super::carriers::Carriers;
use super::causes::{Causes, IN_INTERRUPT, ToldCause};
use super::report::{RequestCounts, RequestPart, RequestReport, TimedRequest};
use crate::answer::analysis::by_event::{ByEvent, RecordText};
use crate::answer::analysis::pairs::{task_of_key, text_of_key, write_key};
use crate::answer::analysis::{Chosen, Durations, InOrder, KeyPart, Sched};
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

// The events that begin a request, hand it on or end it, and the request that they name.

/// Events of one side of requests.
#[derive(Clone, Debug)]
pub enum RequestSide {
    /// Events with fields, which are the key.
    Events(Chosen<'static, Vec<KeyPart>>),
    /// Lines of `trace_marker`.
    Marker(MarkerPattern),
}

/// The begin of a line, as `start *`: `*` stands for the request's key, which has no blank; without it the key is the thread.
#[derive(Clone, Debug)]
pub struct MarkerPattern {
    texts: ByEvent<RecordText>,
    before: Vec<u8>,
    /// The text after the key; `None` if the thread is the key.
    after: Option<Vec<u8>>,
}

/// The request and the thread that an event names.
pub(super) struct NamedRequest {
    /// The key for people.
    pub(super) text: Vec<u8>,
    /// The task of the key, if one part of it names one.
    task: Option<Pid>,
}

impl MarkerPattern {
    /// Of a recording with these formats; `None` if they have no markers.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, pattern: &str) -> Option<Self> {
        let texts = ByEvent::new(formats, abi, |format| {
            let is_print = format.system == "ftrace" && format.name == "print";
            RecordText::of(format, "buf").filter(|_| is_print)
        });
        texts.all().next()?;
        let (before, after) = match pattern.split_once('*') {
            Some((before, after)) => (before, Some(after.as_bytes().to_vec())),
            None => (pattern, None),
        };
        Some(MarkerPattern { texts, before: before.as_bytes().to_vec(), after })
    }

    /// True if the pattern has a key.
    pub fn has_key(&self) -> bool {
        self.after.is_some()
    }

    /// The key in a line that fits, which is empty if the thread is the key.
    fn key<'a>(&self, record: &Record<'a>) -> Option<&'a [u8]> {
        let line = self.texts.of(record)?.read(self.texts.abi, record.data).strip_prefix(self.before.as_slice())?;
        let Some(after) = &self.after else {
            // Not the begin of a longer word.
            let ends = self.before.last().is_none_or(|last| !last.is_ascii_alphanumeric());
            return (ends || !line.first().is_some_and(u8::is_ascii_alphanumeric)).then_some(&[]);
        };
        let word = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        let end = match after.is_empty() {
            true => Some(word),
            false => (1..=word).find(|end| line.get(*end..).is_some_and(|rest| rest.starts_with(after))),
        };
        line.get(..end?).filter(|key| !key.is_empty())
    }
}

impl RequestSide {
    fn reads(&self, id: u16) -> bool {
        match self {
            RequestSide::Events(chosen) => chosen.reads(id),
            RequestSide::Marker(pattern) => pattern.texts.has(id),
        }
    }

    /// True if the record may be one of them.
    #[inline]
    fn knows(&self, record: &Record<'_>) -> bool {
        match self {
            RequestSide::Events(chosen) => chosen.meaning(record).is_some(),
            RequestSide::Marker(pattern) => pattern.texts.of(record).is_some(),
        }
    }

    /// Puts the key of a record, which `current` wrote, into `key`.
    pub(super) fn named(&self, record: &Record<'_>, current: Pid, key: &mut Vec<u8>) -> Option<NamedRequest> {
        match self {
            RequestSide::Events(chosen) => {
                let parts = chosen.meaning(record)?;
                write_key(chosen, parts, record, key);
                Some(NamedRequest { text: text_of_key(parts, key), task: task_of_key(parts, key) })
            }
            RequestSide::Marker(pattern) => {
                let word = pattern.key(record)?;
                let text = if pattern.has_key() { word.to_vec() } else { current.to_string().into_bytes() };
                key.clear();
                key.extend_from_slice(&text);
                Some(NamedRequest { text, task: None })
            }
        }
    }
}

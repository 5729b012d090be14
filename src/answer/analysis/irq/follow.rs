//! Following handlers from entry to exit.

use super::events::{HandlerKind, IrqEvent, IrqEvents};
use super::report::{
    CpuIrqs, Handler, HandlerOnCpu, HandlerSpan, IrqCounts, IrqReport, IrqSource, LongestIrq, SWITCHES,
};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::span_log::SpanLog;
use crate::answer::analysis::{CellPlan, Durations, InOrder, KnownPart, Needs, RowSubject, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Interrupts, soft interrupts, timers and work items; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Irqs {
    events: IrqEvents,
    window: Option<(u64, u64)>,
    sources: IrqSourceTable,
    cpus: BTreeMap<CpuId, CpuHandlers>,
    /// The work item that each worker task runs.
    works: Map<Pid, OpenHandler>,
    /// Requests of work items that have not started.
    queued: Map<u64, u64>,
    counts: IrqCounts,
    /// Tasks whose interruptions count, and those of them that were met.
    tasks: TaskSet,
    met: BTreeSet<Pid>,
    /// True if switches tell when a work item's task was off its CPU.
    has_switches: bool,
    /// Runs to keep: those that have a point of time in common with the first to the second.
    kept: Option<(u64, u64)>,
}

/// All handlers so far.
#[derive(Clone, Debug, Default)]
struct IrqSourceTable {
    /// Durations before the first one.
    none: Durations,
    all: Vec<IrqSource>,
    /// By kind and id; an interrupt may be shared by handlers of several names.
    numbers: Map<(HandlerKind, u64), Vec<usize>>,
}

/// A handler that runs.
#[derive(Clone, Copy, Debug)]
struct OpenHandler {
    kind: HandlerKind,
    key: u64,
    source: usize,
    at: u64,
    /// Time of handlers within, and of a work item's task off its CPU.
    inside: u64,
    /// The begin of a work item's task's time off its CPU, if it is off.
    off: Option<u64>,
}

#[derive(Clone, Debug)]
struct CpuHandlers {
    /// The handlers that run, each within the one before.
    stack: Vec<OpenHandler>,
    /// Requests of soft interrupts that have not started.
    raised: Map<u64, u64>,
    own: [Option<u64>; 7],
    runs: [u64; 7],
    /// Runs that are kept: those within one that has not ended yet, and all others.
    inner: Vec<HandlerSpan>,
    spans: SpanLog<HandlerSpan>,
}

impl Default for CpuHandlers {
    fn default() -> Self {
        let spans = SpanLog::default();
        CpuHandlers {
            stack: Vec::new(),
            raised: Map::default(),
            own: [Some(0); 7],
            runs: [0; 7],
            inner: Vec::new(),
            spans,
        }
    }
}

impl CpuHandlers {
    /// Keeps a run. They end from the inside out, and are kept from the outside in.
    fn keep(&mut self, span: HandlerSpan) {
        self.inner.push(span);
        if self.stack.is_empty() {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.inner.sort_unstable_by_key(|span| (span.begin, span.depth));
        self.spans.extend(self.inner.drain(..));
    }
}

impl Irqs {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Irqs {
            events: IrqEvents::new(formats, abi),
            window: None,
            sources: IrqSourceTable::default(),
            cpus: BTreeMap::new(),
            works: Map::default(),
            queued: Map::default(),
            counts: IrqCounts::default(),
            tasks: TaskSet::All,
            met: BTreeSet::new(),
            has_switches: false,
            kept: None,
        }
    }

    /// Of a recording that holds these events: without all switches of tasks, the own time of work items is not known.
    pub fn covering(mut self, coverage: &Coverage) -> Self {
        let known = Needs::known(&[SWITCHES], "switches", coverage, Lost::None, RowSubject::All);
        let is_recorded = coverage.events.as_ref().is_none_or(|enabled| {
            enabled
                .events
                .iter()
                .any(|(event, _)| (event.system.as_str(), event.name.as_str()) == ("sched", "sched_switch"))
        });
        self.has_switches = known == KnownPart::Whole && is_recorded;
        self
    }

    /// Counts runs that interrupted these tasks alone; of work items those by these workers.
    pub fn of(mut self, tasks: TaskSet) -> Self {
        self.tasks = tasks;
        self
    }

    /// Keeps durations by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        self.sources.none = Durations::in_cells(plan);
        self
    }

    /// Keeps runs as intervals too: those that have a point of time in common with `from` to `to`.
    pub fn with_spans(mut self, from: u64, to: u64) -> Self {
        self.kept = Some((from, to));
        self
    }

    /// True if the formats have exits of handlers, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_handlers()
    }

    fn lose(&mut self, cpu: CpuId) {
        self.counts.losses += 1;
        self.counts.censored += self.works.len() as u64;
        self.works.clear();
        self.queued.clear();
        if let Some(cpu) = self.cpus.get_mut(&cpu) {
            self.counts.censored += cpu.stack.len() as u64;
            cpu.stack.clear();
            cpu.raised.clear();
            cpu.settle();
        }
    }

    fn request(&mut self, kind: HandlerKind, key: u64, at: u64, cpu: CpuId) {
        let requests = match kind {
            HandlerKind::Work => &mut self.queued,
            _ => &mut self.cpus.entry(cpu).or_default().raised,
        };
        requests.entry(key).or_insert(at);
    }

    fn entry(&mut self, source: usize, (kind, key): (HandlerKind, u64), at: u64, place: (CpuId, Pid)) {
        let open = OpenHandler { kind, key, source, at, inside: 0, off: None };
        let cpu = self.cpus.entry(place.0).or_default();
        let requested = match kind {
            HandlerKind::Work => self.queued.remove(&key),
            _ => cpu.raised.remove(&key).filter(|_| kind == HandlerKind::SoftIrq),
        };
        if let (Some(requested), Some(source), true) =
            (requested, self.sources.all.get_mut(source), self.tasks.contains(place.1, at))
        {
            source.delays.add_at(at, at.saturating_sub(requested));
        }
        if kind != HandlerKind::Work {
            cpu.stack.push(open);
        } else if self.works.insert(place.1, open).is_some() {
            self.counts.unfinished += 1;
        }
    }

    fn switch(&mut self, previous: Pid, next: Pid, at: u64) {
        if self.works.is_empty() {
            return;
        }
        if let Some(work) = self.works.get_mut(&previous) {
            work.off = Some(at);
        }
        if let Some(work) = self.works.get_mut(&next)
            && let Some(since) = work.off.take()
        {
            work.inside = work.inside.saturating_add(at.saturating_sub(since));
        }
    }

    fn exit(&mut self, (kind, key): (HandlerKind, u64), at: u64, (number, task): (CpuId, Pid)) {
        let cpu = self.cpus.entry(number).or_default();
        let is_it = |open: &OpenHandler| (open.kind, open.key) == (kind, key);
        let open = if kind == HandlerKind::Work {
            self.works.remove(&task).filter(is_it)
        } else if let Some(depth) = cpu.stack.iter().rposition(is_it) {
            self.counts.contradictions += (cpu.stack.len() - depth - 1) as u64;
            cpu.stack.truncate(depth + 1);
            cpu.stack.pop()
        } else {
            None
        };
        let Some(open) = open else {
            self.counts.without_entry += 1;
            return;
        };
        let time = at.saturating_sub(open.at);
        // A task that ends its work is on a CPU: a switch to it is missing.
        let is_known = kind != HandlerKind::Work || self.has_switches && open.off.is_none();
        let own = is_known.then(|| time.saturating_sub(open.inside));
        if kind != HandlerKind::Work
            && let Some(outer) = cpu.stack.last_mut()
        {
            outer.inside = outer.inside.saturating_add(time);
        }
        add(&mut cpu.own[kind as usize], own);
        cpu.runs[kind as usize] += 1;
        if !matches!(self.tasks, TaskSet::All) {
            if !self.tasks.contains(task, at) {
                return;
            }
            self.met.insert(task);
        }
        // A work item is what a task does.
        if kind != HandlerKind::Work && self.kept.is_some_and(|(from, to)| open.at <= to && at >= from) {
            let (handler, depth) = (open.source as u32, cpu.stack.len() as u32);
            cpu.keep(HandlerSpan { handler, begin: open.at, end: at, depth });
        }
        let Some(source) = self.sources.all.get_mut(open.source) else { return };
        source.times.add_at(at, time);
        add(&mut source.own, own);
        let here = source.cpus.entry(number).or_insert(HandlerOnCpu { times: Durations::default(), own: Some(0) });
        here.times.add(time);
        add(&mut here.own, own);
        if source.longest.is_none_or(|longest| longest.time < time) {
            source.longest = Some(LongestIrq { time, at: open.at, cpu: number });
        }
    }
}

/// Adds to a sum, which is not known any more once a part of it is not.
fn add(sum: &mut Option<u64>, part: Option<u64>) {
    *sum = sum.zip(part).map(|(sum, part)| sum.saturating_add(part));
}

impl IrqSourceTable {
    /// The number of a handler, which is made when it is seen for the first time.
    fn number(&mut self, (kind, id): (HandlerKind, u64), name: &[u8]) -> usize {
        let numbers = self.numbers.entry((kind, id)).or_default();
        let mut known = numbers.iter().copied();
        if let Some(known) = known.find(|number| self.all.get(*number).is_some_and(|source| source.name == name)) {
            return known;
        }
        let (times, delays) = (self.none.clone(), self.none.clone());
        self.all.push(IrqSource {
            kind,
            id,
            name: name.to_vec(),
            times,
            own: Some(0),
            delays,
            longest: None,
            cpus: BTreeMap::new(),
        });
        numbers.push(self.all.len() - 1);
        self.all.len() - 1
    }
}

impl InOrder for Irqs {
    type Finding = IrqReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.lose(record.cpu);
        }
        if !self.events.knows(record) {
            return;
        }
        let task = self.events.task(record);
        let Some(event) = self.events.event(record) else { return };
        let (at, cpu) = (record.timestamp.0, record.cpu);
        if !matches!(event, IrqEvent::Switch { .. }) {
            let begin = self.window.map_or(at, |window| window.0);
            self.window = Some((begin, at));
        }
        match event {
            IrqEvent::Request { kind, key } => self.request(kind, key, at, cpu),
            IrqEvent::Entry { kind, key, id, name } => {
                let source = self.sources.number((kind, id), name);
                self.entry(source, (kind, key), at, (cpu, task));
            }
            IrqEvent::Exit { kind, key } => self.exit((kind, key), at, (cpu, task)),
            IrqEvent::Switch { previous, next } => self.switch(previous, next, at),
        }
    }

    fn finish(mut self) -> IrqReport {
        self.cpus.values_mut().for_each(CpuHandlers::settle);
        let handler = |source: &IrqSource| Handler { kind: source.kind, id: source.id, name: source.name.clone() };
        let handlers = self.sources.all.iter().map(handler).collect();
        let spans = self.cpus.iter_mut().map(|(number, cpu)| (*number, std::mem::take(&mut cpu.spans).shrink()));
        let spans = spans.filter(|(_, spans)| !spans.is_empty()).collect();
        let has_requests = self.events.have_requests();
        let mut counts = self.counts;
        if counts.losses > 0 {
            // A switch that was lost on one CPU is told of by its next record, which may come after the work's end on another.
            let of_work = self.sources.all.iter_mut().filter(|source| source.kind == HandlerKind::Work);
            for source in of_work {
                source.own = None;
                source.cpus.values_mut().for_each(|runs| runs.own = None);
            }
            let work = HandlerKind::Work as usize;
            self.cpus.values_mut().filter(|cpu| cpu.runs[work] > 0).for_each(|cpu| cpu.own[work] = None);
        }
        counts.unfinished += self.works.len() as u64;
        counts.unfinished += self.cpus.values().map(|cpu| cpu.stack.len() as u64).sum::<u64>();
        let mut sources: Vec<_> = self.sources.all.into_iter().filter(|source| source.times.count() > 0).collect();
        let own = |source: &IrqSource| Reverse(source.own.unwrap_or(source.times.total()));
        sources.sort_by(|a, b| (a.kind, own(a), a.id, &a.name).cmp(&(b.kind, own(b), b.id, &b.name)));
        let cpus = self.cpus.into_iter().filter(|(_, cpu)| cpu.runs.iter().any(|runs| *runs > 0));
        let cpus = cpus.map(|(number, cpu)| CpuIrqs { cpu: number, own: cpu.own, runs: cpu.runs }).collect();
        IrqReport {
            window: self.window,
            sources,
            cpus,
            counts,
            has_requests,
            spans,
            handlers,
            tasks: self.met.into_iter().collect(),
        }
    }
}

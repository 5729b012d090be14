//! The recording that is looked at: its times, CPUs and events.

use super::chosen_events::ChosenEvents;
use super::overview::{Overview, of_cpu};
use crate::cli::exit::Failure;
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput};
use crate::cli::terminal::escaped;
use rtrace::analysis::{Strip, StripScale, Strips};
use rtrace::event::{DecodeOptions, PrintState, Record};
use rtrace::internal::trace_dat::{Buffer, Coverage, KeptChunks};
use rtrace::recording::{Decoder, OutputDependence, Query, QueryError, Recording};
use rtrace::units::{CpuId, Lost, Pid, Timestamp};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A CPU of one of the recording's buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewCpu {
    /// Number of the query's source.
    pub(super) source: usize,
    pub(super) cpu: CpuId,
    /// Its name: `cpu3`, with an instance's name before if there are several buffers.
    pub(super) label: String,
    /// True if the file's facts allow to say which task ran: none of the scheduler's switches were left out.
    pub(super) tells_tasks: bool,
}

/// A recording, and the part of it that may be looked at. Many threads may read it.
pub(super) struct ViewSource<'a> {
    pub(super) input: &'a QueryInput,
    pub(super) events: QueryEvents<'a>,
    pub(super) unit: ClockUnit,
    /// What is added to the file's times: it is shown by another one's.
    pub(super) later: i64,
    /// The first and the last moment.
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) cpus: Vec<ViewCpu>,
    pub(super) overview: Overview,
    decoder: Decoder<'a>,
    kept: Arc<KeptChunks>,
}

/// One event, ready to be shown: names and text are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventRow {
    pub(super) at: u64,
    pub(super) source: usize,
    pub(super) cpu: CpuId,
    pub(super) pid: Pid,
    pub(super) comm: String,
    pub(super) name: String,
    pub(super) text: String,
    pub(super) lost: Lost,
}

/// The most events, as estimated, of a window that is decoded while the user waits.
pub(super) const AT_ONCE: u64 = 250_000;
/// Unpacked chunks that are kept, in bytes: of 16 CPUs those of a window at the edge of their chunks.
const KEPT: usize = 32 << 20;
/// The most events, as estimated, that one search reads before it gives the turn back.
pub(super) const SEARCH: u64 = 2_000_000;

impl<'a> ViewSource<'a> {
    /// The recording of `events`, within their window; `None` without any event.
    pub(super) fn new(events: &QueryEvents<'a>) -> Result<Option<Self>, Failure> {
        let input: &'a QueryInput = &events.inputs[0];
        let recording: &'a Recording = &input.recording;
        let kept = Arc::new(KeptChunks::new(KEPT));
        let Some(overview) = Overview::of(&events.query, input, &kept)? else { return Ok(None) };
        let (begin, end) = overview.span();
        let sources = events.query.sources();
        let several = sources.iter().filter(|source| !source.cpus.is_empty()).count() > 1;
        let cpus = sources.iter().enumerate().flat_map(|(number, source)| {
            let buffer = &recording.trace.buffers[source.buffer];
            let coverage = recording.trace.coverage(buffer);
            let switch = |event: &rtrace::events::EventName| event.system == "sched" && event.name == "sched_switch";
            let tells_tasks = coverage.limits(switch).is_empty();
            let name = if buffer.name.is_empty() || !several { String::new() } else { format!("{}:", buffer.name) };
            let label = move |cpu: CpuId| escaped(format!("{name}cpu{}", cpu.0).as_bytes());
            source.cpus.iter().map(move |cpu| {
                let cpu = buffer.cpus[*cpu].cpu;
                ViewCpu { source: number, cpu, label: label(cpu), tells_tasks }
            })
        });
        Ok(Some(ViewSource {
            input,
            events: events.clone(),
            unit: events.unit_of(&events.query),
            later: 0,
            begin,
            end,
            cpus: cpus.collect(),
            overview,
            decoder: Decoder::new(recording, &DecodeOptions::default()),
            kept,
        }))
    }

    /// A query for the events from `from` to `to` that pass the filter.
    pub(super) fn query(&self, from: u64, to: u64, filter: Option<&ChosenEvents>) -> Query<'a> {
        let query = self.events.query.clone().since(Timestamp(from)).until(Timestamp(to));
        let is_small = self.overview.estimate(from, to) <= AT_ONCE;
        let query = if is_small { query.keep_chunks(Arc::clone(&self.kept)) } else { query };
        match filter {
            None => query,
            Some(filter) => query.select(filter.selection()),
        }
    }

    /// The same for those who read a few events at one end.
    fn near(&self, from: u64, to: u64, filter: Option<&ChosenEvents>) -> Query<'a> {
        self.query(from, to, filter).keep_chunks(Arc::clone(&self.kept))
    }

    /// True if there is more than can be decoded while the user waits.
    pub(super) fn is_large(&self) -> bool {
        self.overview.estimate(self.begin, self.end) > AT_ONCE
    }

    /// Why a filter does not fit the recording's events.
    pub(super) fn refusal(&self, filter: &ChosenEvents) -> Option<QueryError> {
        self.query(self.begin, self.end, Some(filter)).resolve().err()
    }

    /// The strips of the columns of `scale`. What is large is read CPU after CPU, so that one chunk at a time is unpacked and none
    /// waits for its turn among all.
    pub(super) fn strips(&self, scale: StripScale, filter: Option<&ChosenEvents>) -> Result<Vec<Strip>, QueryError> {
        let (query, analysis) = (self.query(scale.from(), scale.to(), filter), self.analysis(scale));
        let is_small = self.overview.estimate(scale.from(), scale.to()) <= AT_ONCE;
        let mut strips = if is_small {
            query.analyse(analysis)?.0
        } else {
            query.analyse_by_cpu(&analysis)?.into_iter().flatten().collect()
        };
        if filter.is_none() {
            self.forget_unknown_ends(&mut strips, scale)?;
        }
        Ok(strips)
    }

    fn analysis(&self, scale: StripScale) -> Strips {
        Strips::new(self.input.formats(), self.input.trace.abi, scale)
    }

    /// Nothing is known of the time after the last event of a CPU in the window if events were lost before the next one.
    fn forget_unknown_ends(&self, strips: &mut [Strip], scale: StripScale) -> Result<(), QueryError> {
        for strip in strips {
            let Some(last) = strip.last.filter(|_| scale.to() < self.end) else { continue };
            if self.overview.is_lossless(strip.source, strip.cpu) || !self.is_next_after_loss(strip, scale.to())? {
                continue;
            }
            let first = scale.column(last);
            for (number, cell) in strip.cells.iter_mut().enumerate().skip(first) {
                let known = last.clamp(scale.edge(number), scale.edge(number + 1)) - scale.edge(number);
                cell.known = cell.known.min(known);
                cell.busy = cell.busy.min(known);
            }
        }
        Ok(())
    }

    fn is_next_after_loss(&self, strip: &Strip, to: u64) -> Result<bool, QueryError> {
        let query = of_cpu(&self.near(to.saturating_add(1), self.end, None), strip.source, strip.cpu);
        let mut lost = false;
        query.resolve()?.walk(|current| {
            lost = current.record().lost != Lost::None;
            Ok::<_, QueryError>(ControlFlow::Break(()))
        })?;
        Ok(lost)
    }

    /// The task that ran on a CPU at a moment: the one of its next event; `None` if events were lost before that.
    pub(super) fn running(&self, source: usize, cpu: CpuId, at: u64) -> Result<Option<Pid>, QueryError> {
        let mut pid = None;
        of_cpu(&self.near(at, self.end, None), source, cpu).resolve()?.walk(|current| {
            let record = current.record();
            let row = self.decoder.types().common().head(self.input.trace.abi, record.data);
            pid = (record.lost == Lost::None).then_some(row.pid);
            Ok::<_, QueryError>(ControlFlow::Break(()))
        })?;
        Ok(pid)
    }

    /// At most `most` events from `from` on, in the order of time, up to `to`; and the losses among them, whatever the filter.
    pub(super) fn after(
        &self,
        from: u64,
        to: u64,
        most: usize,
        filter: Option<&ChosenEvents>,
    ) -> Result<Vec<EventRow>, QueryError> {
        let mut rows = Vec::new();
        self.walk(from, to, filter, |record, state| {
            rows.push(self.row(record, state));
            if rows.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(rows)
    }

    /// The last `most` events before `before` that pass the filter, in the order of time, and true if there may be more before.
    pub(super) fn before(
        &self,
        before: u64,
        most: usize,
        filter: Option<&ChosenEvents>,
    ) -> Result<(Vec<EventRow>, bool), QueryError> {
        let mut found = VecDeque::new();
        let mut to = before;
        let mut step = self.overview.time_of_events(before, most as u64).max(1);
        let mut searched = 0;
        let limit = if filter.is_some() { AT_ONCE } else { SEARCH };
        while to > self.begin && found.len() < most && searched < limit {
            let from = to.saturating_sub(step).max(self.begin);
            searched = self.overview.estimate(from, before);
            let mut rows = VecDeque::new();
            self.walk(from, to - 1, filter, |record, state| {
                rows.push_back(self.row(record, state));
                if rows.len() > most {
                    rows.pop_front();
                }
                ControlFlow::Continue(())
            })?;
            rows.append(&mut found);
            found = rows;
            (to, step) = (from, step.saturating_mul(4));
        }
        let more = to > self.begin || found.len() > most;
        let surplus = found.len().saturating_sub(most);
        found.drain(..surplus);
        Ok((found.into(), more))
    }

    fn walk(
        &self,
        from: u64,
        to: u64,
        filter: Option<&ChosenEvents>,
        mut see: impl FnMut(Record<'_>, &RefCell<PrintState>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let state = RefCell::new(self.input.recording.state());
        let query = self.near(from, to, filter).surroundings(OutputDependence::Needless);
        query.resolve()?.walk(|current| Ok::<_, QueryError>(see(current.record(), &state)))?;
        Ok(())
    }

    fn row(&self, record: Record<'_>, state: &RefCell<PrintState>) -> EventRow {
        let source = record.buffer;
        let buffer = self.events.query.sources()[source].buffer;
        let event = self.decoder.event(Record { buffer, ..record }, state);
        let mut text = Vec::new();
        event.write_text(&mut text);
        let name = match event.name() {
            "" => format!("event {}, without a format", event.id().0),
            name => shown(name),
        };
        EventRow {
            at: record.timestamp.0,
            source,
            cpu: record.cpu,
            pid: event.pid(),
            comm: self.comm(event.pid()),
            name,
            text: one_line(&text).trim().to_owned(),
            lost: record.lost,
        }
    }

    /// The name of a task, as it may be shown.
    pub(super) fn comm(&self, pid: Pid) -> String {
        let name = self.input.symbols.comms.name(pid);
        one_line(name)
    }

    /// The name of the buffer whose scheduler events tell what tasks do: the first that has data.
    pub(super) fn sched_buffer(&self) -> &'a Buffer {
        let sources = self.events.query.sources();
        let first = sources.iter().find(|source| !source.cpus.is_empty()).or(sources.first());
        &self.input.trace.buffers[first.map_or(0, |source| source.buffer)]
    }

    /// The part of what happened that was recorded there.
    pub(super) fn coverage(&self) -> Coverage {
        self.input.trace.coverage(self.sched_buffer())
    }

    /// The number of the event's CPU among all.
    pub(super) fn place(&self, source: usize, cpu: CpuId) -> Option<usize> {
        self.cpus.iter().position(|one| one.source == source && one.cpu == cpu)
    }
}

/// Text of anybody's, as it may be shown in a line.
pub(super) fn shown(text: &str) -> String {
    one_line(text.as_bytes())
}

fn one_line(text: &[u8]) -> String {
    escaped(text).replace(['\n', '\t'], " ")
}

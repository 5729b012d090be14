//! The events of recordings that are wanted, step by step.

use super::{BufferSource, Notice, OutputDependence, QueryError, Recording, Selection, Window};
use crate::base::units::{Pid, Timestamp};
use crate::file::trace_dat::{KeptChunks, TimeOptions};
use crate::language::filter::{CpuList, EventFilter};
use std::sync::Arc;

/// Events of one [`Recording`] or several, in the order of time. Each method narrows it, but for `pid`, `tgid` and `comm`,
/// which add to what they named before.
#[derive(Clone)]
#[must_use = "nothing is read before `for_each`, `run`, `export` or `analyse`"]
pub struct Query<'r> {
    pub(super) recordings: Vec<&'r Recording>,
    pub(super) sources: Vec<BufferSource>,
    pub(super) selection: Selection,
    pub(super) surroundings: OutputDependence,
    pub(super) window: Window,
    pub(super) limit: Limit,
    pub(super) threads: usize,
    pub(super) check_order: bool,
    pub(super) pages: bool,
    pub(super) kept: Option<Arc<KeptChunks>>,
    pub(super) notice: Option<&'r (dyn Fn(Notice<'_>) + Sync)>,
}

/// Limit of the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    None,
    First(u64),
    Last(u64),
}

impl Recording {
    /// A query for all events.
    pub fn query(&self) -> Query<'_> {
        Query::of([self])
    }
}

impl<'r> Query<'r> {
    /// A query for all events of these recordings, merged by time.
    pub fn of(recordings: impl IntoIterator<Item = &'r Recording>) -> Self {
        let recordings: Vec<&Recording> = recordings.into_iter().collect();
        Query {
            sources: BufferSource::all(&recordings, &TimeOptions::default()),
            recordings,
            selection: Selection::default(),
            surroundings: OutputDependence::default(),
            window: Window::default(),
            limit: Limit::None,
            threads: 1,
            check_order: false,
            pages: false,
            kept: None,
            notice: None,
        }
    }

    /// Only events that pass one of `filters`: each is `EVENTS: EXPR` in the kernel's filter language, or EVENTS alone;
    /// globs are allowed in EVENTS. They take the place of the filters before.
    ///
    /// # Errors
    /// [`QueryError::Filter`] if an expression cannot be parsed.
    pub fn filters(mut self, filters: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Self, QueryError> {
        let parse = |filter: &str| EventFilter::parse(filter);
        self.selection.filters = filters.into_iter().map(|filter| parse(filter.as_ref())).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Only events that pass `filter`, as [`Query::filters`] with this one alone.
    ///
    /// # Errors
    /// [`QueryError::Filter`] if the expression cannot be parsed.
    pub fn filter(self, filter: &str) -> Result<Self, QueryError> {
        self.filters([filter])
    }

    /// Only events of this task; called again, of these tasks.
    pub fn pid(mut self, pid: Pid) -> Self {
        self.selection.pids.push(pid);
        self
    }

    /// Only events of this process's tasks; called again, of these processes'. The recording must hold the tasks'
    /// processes (trace option `record-tgid`).
    pub fn tgid(mut self, tgid: Pid) -> Self {
        self.selection.tgids.push(tgid);
        self
    }

    /// Only events of tasks whose name matches the glob; called again, either glob.
    pub fn comm(mut self, glob: &str) -> Self {
        self.selection.comms.push(glob.to_owned());
        self
    }

    /// Only events of this selection, in place of all filters, tasks and names so far.
    pub fn select(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Reads more than the selection, for output that depends on dropped events.
    pub fn surroundings(mut self, surroundings: OutputDependence) -> Self {
        self.surroundings = surroundings;
        self
    }

    /// Only events of these CPUs.
    pub fn cpus(mut self, cpus: CpuList) -> Self {
        let recordings = &self.recordings;
        for source in &mut self.sources {
            let data = &recordings[source.recording].trace.buffers[source.buffer].cpus;
            source.cpus.retain(|cpu| cpus.contains(data[*cpu].cpu.0));
        }
        self
    }

    /// Only events of this buffer: an instance, or the empty name for the top buffer. A name that no recording has selects nothing.
    pub fn buffer(mut self, name: &str) -> Self {
        let recordings = &self.recordings;
        self.sources.retain(|source| recordings[source.recording].trace.buffers[source.buffer].name == name);
        self
    }

    /// Only events of these sources, each in place of the one with its number in [`Query::sources`].
    pub fn of_sources(mut self, sources: Vec<BufferSource>) -> Self {
        self.sources = sources;
        self
    }

    /// Only events within this window.
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// Only events from this time on. Chunks before it are not read.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.window.since = Some(time);
        self
    }

    /// Only events up to this time.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.window.until = Some(time);
        self
    }

    /// Only the first `count` of the events that pass all else.
    pub fn first(mut self, count: u64) -> Self {
        self.limit = Limit::First(count);
        self
    }

    /// Only the last `count` of the events that pass all else.
    pub fn last(mut self, count: u64) -> Self {
        self.limit = Limit::Last(count);
        self
    }

    /// Corrects the time stamps of all sources this way.
    pub fn time(mut self, time: &TimeOptions) -> Self {
        let recordings = &self.recordings;
        self.sources.iter_mut().for_each(|source| source.set_time(recordings, time));
        self
    }

    /// Number of threads for [`Query::export`] and [`Query::analyse`]; results are the same for any. The default is 1.
    /// A closure ([`Query::for_each`]) is called on one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Reports where the time stamps of a CPU go backwards. Events are handed out on one thread then.
    pub fn check_order(mut self, check: bool) -> Self {
        self.check_order = check;
        self
    }

    /// Notes which events are the first of their sub-buffer. Events are handed out on one thread then.
    pub fn note_pages(mut self, note: bool) -> Self {
        self.pages = note;
        self
    }

    /// Has unpacked chunks kept for further queries of the same recording, on one thread.
    pub fn keep_chunks(mut self, kept: Arc<KeptChunks>) -> Self {
        (self.kept, self.threads) = (Some(kept), 1);
        self
    }

    /// Calls `notice` for each defect at the moment it is found, besides counting it in the outcome.
    pub fn on_notice(mut self, notice: &'r (dyn Fn(Notice<'_>) + Sync)) -> Self {
        self.notice = Some(notice);
        self
    }

    /// True if events are left out by their task, context, fields or CPU, so that of two that belong together one may be missing.
    pub fn splits_pairs(&self) -> bool {
        let Selection { filters, no_irq, no_softirq, .. } = &self.selection;
        let lacks_cpus = |source: &BufferSource| {
            source.cpus.len() < self.recordings[source.recording].trace.buffers[source.buffer].cpus.len()
        };
        let has_condition = filters.iter().any(|filter| filter.filter().is_some());
        self.selection.by_task() || *no_irq || *no_softirq || has_condition || self.sources.iter().any(lacks_cpus)
    }

    /// The recordings.
    pub fn recordings(&self) -> &[&'r Recording] {
        &self.recordings
    }

    /// The buffers that are read, in the order that decides between equal time stamps.
    pub fn sources(&self) -> &[BufferSource] {
        &self.sources
    }
}

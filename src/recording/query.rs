//! Which events of a recording are wanted, and the loop over them.

use super::event::{Event, Layouts};
use super::{Outcome, QueryError, Recording};
use crate::event::{DecodeOptions, State};
use crate::events::{NoEvent, glob_matches};
use crate::filter::{CpuList, EventFilter, Program, Subject};
use crate::merge::Merge;
use crate::ring_buffer::Lost;
use crate::syntax::nearest;
use crate::trace_dat::TimeOptions;
use crate::units::{Pid, Timestamp};
use std::cell::RefCell;
use std::ops::ControlFlow;

/// Events of a [`Recording`] in the order of time. Each method narrows it; filters widen each other: an event passes if
/// one of them lets it.
#[derive(Clone)]
#[must_use = "nothing is read before `for_each` or `run`"]
pub struct Query<'r> {
    recording: &'r Recording,
    filters: Vec<EventFilter>,
    pids: Vec<Pid>,
    comms: Vec<String>,
    cpus: Option<CpuList>,
    buffer: Option<String>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    limit: u64,
}

/// What the filters say of an event type.
enum Verdict {
    Drop,
    Keep,
    Ask(Vec<Program>),
}

impl Recording {
    /// A query for all events.
    pub fn query(&self) -> Query<'_> {
        Query {
            recording: self,
            filters: Vec::new(),
            pids: Vec::new(),
            comms: Vec::new(),
            cpus: None,
            buffer: None,
            since: None,
            until: None,
            limit: u64::MAX,
        }
    }
}

impl Query<'_> {
    /// Only events that pass `filter`: `EVENTS: EXPR` in the kernel's filter language, or EVENTS alone; globs are allowed
    /// in EVENTS. Called again, events that pass either.
    ///
    /// # Errors
    /// [`QueryError::Filter`] if the expression cannot be parsed.
    pub fn filter(mut self, filter: &str) -> Result<Self, QueryError> {
        self.filters.push(EventFilter::parse(filter)?);
        Ok(self)
    }

    /// Only events of this task; called again, of these tasks.
    pub fn pid(mut self, pid: Pid) -> Self {
        self.pids.push(pid);
        self
    }

    /// Only events of tasks whose name matches the glob; called again, either glob.
    pub fn comm(mut self, glob: &str) -> Self {
        self.comms.push(glob.to_owned());
        self
    }

    /// Only events of these CPUs.
    pub fn cpus(mut self, cpus: CpuList) -> Self {
        self.cpus = Some(cpus);
        self
    }

    /// Only events of this buffer: an instance, or the empty name for the top buffer.
    pub fn buffer(mut self, name: &str) -> Self {
        self.buffer = Some(name.to_owned());
        self
    }

    /// Only events from this time on. Chunks before it are not read.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.since = Some(time);
        self
    }

    /// Only events up to this time.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.until = Some(time);
        self
    }

    /// Only the first `count` of the events that pass all else.
    pub fn first(mut self, count: u64) -> Self {
        self.limit = count;
        self
    }

    /// Calls `see` for each event.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn for_each(self, mut see: impl FnMut(&Event<'_>)) -> Result<Outcome, QueryError> {
        self.run(|event| {
            see(event);
            ControlFlow::Continue(())
        })
    }

    /// Calls `see` for each event until it breaks. Damage costs the damaged page only and is counted in the outcome.
    ///
    /// # Errors
    /// [`QueryError`] before the first event: a filter that no event type of the recording has the fields for, or names
    /// no event; a file that cannot be read.
    pub fn run(self, mut see: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<Outcome, QueryError> {
        let recording = self.recording;
        let (trace, symbols) = (&recording.trace, &recording.symbols);
        let verdicts = self.verdicts()?;
        let types = recording.types(&DecodeOptions::default());
        let state = RefCell::new(State::new(symbols.comms.clone()));
        let layouts = Layouts::of(&types);
        let mut merge = self.merge()?;
        let mut outcome = Outcome::default();
        while outcome.events < self.limit {
            match merge.advance() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    outcome.damage.note(error.error);
                    continue;
                }
            }
            let record = merge.record();
            if self.until.is_some_and(|until| record.timestamp > until) {
                break;
            }
            if self.since.is_some_and(|since| record.timestamp < since) {
                continue;
            }
            match record.lost {
                Lost::None => {}
                Lost::Count(count) => outcome.lost = outcome.lost.saturating_add(count),
                Lost::Unknown => outcome.gaps += 1,
            }
            let head = types.common().head(trace.abi, record.data);
            if !self.pids.is_empty() && !self.pids.contains(&head.pid) {
                continue;
            }
            let comm = || symbols.comms.name(head.pid);
            if !self.comms.is_empty() {
                let name = String::from_utf8_lossy(comm());
                if !self.comms.iter().any(|glob| glob_matches(glob, &name)) {
                    continue;
                }
            }
            let passes = match verdicts.get(usize::from(head.id)) {
                _ if self.filters.is_empty() => true,
                None | Some(Verdict::Drop) => false,
                Some(Verdict::Keep) => true,
                Some(Verdict::Ask(programs)) => {
                    let subject =
                        Subject { data: record.data, cpu: record.cpu, comm: comm(), names: &symbols.kallsyms };
                    programs.iter().any(|program| program.matches(&subject))
                }
            };
            if passes {
                outcome.events += 1;
                if see(&Event { record, head, recording, types: &types, layouts: &layouts, state: &state }).is_break() {
                    break;
                }
            }
        }
        outcome.undecoded = state.borrow().undecoded().map(|(_, count)| count).sum();
        Ok(outcome)
    }

    /// The wanted streams, of the chunks only that the window needs; the top buffer first, which decides between events of
    /// the same time.
    fn merge(&self) -> Result<Merge, QueryError> {
        let trace = &self.recording.trace;
        let time = TimeOptions::default();
        let mut merge = Merge::default();
        let mut buffers: Vec<_> = trace.buffers.iter().enumerate().collect();
        buffers.sort_by_key(|(_, buffer)| !buffer.name.is_empty());
        for (number, buffer) in buffers {
            if self.buffer.as_ref().is_some_and(|name| *name != buffer.name) {
                continue;
            }
            for (cpu, data) in buffer.cpus.iter().enumerate() {
                if self.cpus.as_ref().is_some_and(|cpus| !cpus.contains(data.cpu.0)) {
                    continue;
                }
                let stream = if self.since.is_none() && self.until.is_none() {
                    trace.stream(buffer, cpu, &time)?
                } else {
                    let range = trace.seek(buffer, cpu, &time)?.range(self.since, self.until);
                    trace.stream_of_chunks(buffer, cpu, &time, range)?
                };
                merge.add(stream, number);
            }
        }
        Ok(merge)
    }

    /// By event id.
    fn verdicts(&self) -> Result<Vec<Verdict>, QueryError> {
        let (trace, symbols) = (&self.recording.trace, &self.recording.symbols);
        let mut verdicts: Vec<Verdict> = Vec::new();
        for wanted in &self.filters {
            let mut named = false;
            for format in trace.formats().filter(|format| wanted.names(format)) {
                named = true;
                let program = wanted.filter().map(|f| f.compile(format, trace.abi, &symbols.kallsyms)).transpose()?;
                let id = usize::from(format.id.0);
                if verdicts.len() <= id {
                    verdicts.resize_with(id + 1, || Verdict::Drop);
                }
                let Some(verdict) = verdicts.get_mut(id) else { continue };
                match (verdict, program) {
                    (Verdict::Keep, _) => {}
                    (verdict, None) => *verdict = Verdict::Keep,
                    (Verdict::Ask(programs), Some(program)) => programs.push(program),
                    (verdict, Some(program)) => *verdict = Verdict::Ask(vec![program]),
                }
            }
            if !named {
                let pattern = wanted.events().to_owned();
                let name = pattern.rsplit([':', '/']).next().unwrap_or_default();
                let names = trace.formats().map(|format| format.name.as_str());
                let nearest = nearest(name, names).into_iter().map(str::to_owned).collect();
                return Err(NoEvent { pattern, nearest }.into());
            }
        }
        Ok(verdicts)
    }
}

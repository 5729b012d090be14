//! A selection resolved for one recording.

use super::{OutputDependence, QueryError, Recording, Selection};
use crate::base::syntax::Diagnostic;
use crate::base::units::{EventId, Pid};
use crate::file::trace_dat::{EventIdSet, PidBloom};
use crate::kernel::event::Common;
use crate::kernel::events::glob_matches;
use crate::kernel::format::EventFormat;
use crate::language::filter::{FilterProgram, ReportFilters, Subject};
use std::sync::Arc;

/// A selection resolved for one recording.
pub(super) struct Rules<'a> {
    pub(super) recording: &'a Recording,
    pub(super) common: Common,
    /// The ids that a format describes.
    pub(super) known: EventIdSet,
    pub(super) report: Option<ReportFilters>,
    /// `kernel_stack` and `user_stack`, which stay with the event before them.
    pub(super) stack_events: [Option<EventId>; 2],
    /// By event id; empty if there are no filters of the kernel's language.
    verdicts: Vec<Verdict>,
    pub(super) needs_comm: bool,
    /// The tasks of the selected processes, ascending, if only some are.
    pub(super) threads: Option<Vec<Pid>>,
    /// Drops what the verdicts drop by its type.
    pub(super) sieve: Option<Arc<EventIdSet>>,
    /// The selected tasks, if chunks without them may be skipped.
    pub(super) tasks: Option<PidBloom>,
}

/// The filters' verdict on an event type.
enum Verdict {
    Drop,
    Keep,
    Ask(Vec<FilterProgram>),
}

impl<'a> Rules<'a> {
    pub(super) fn new(
        selection: &Selection,
        recording: &'a Recording,
        number: usize,
        surroundings: OutputDependence,
    ) -> Result<Self, QueryError> {
        let trace = &recording.trace;
        let report = match selection.report_filters.as_slice() {
            [] => None,
            list => Some(ReportFilters::compile(list, trace.formats(), trace.abi).map_err(|error| {
                QueryError::Mismatch { recording: number, event: String::new(), error: Box::new(error) }
            })?),
        };
        let verdicts = verdicts(selection, recording, number)?;
        let known = EventIdSet::new(trace.abi, trace.formats().map(|format| format.id.0));
        let asks = |v: &Verdict| matches!(v, Verdict::Ask(programs) if programs.iter().any(FilterProgram::needs_comm));
        let needs_comm = report.as_ref().is_some_and(ReportFilters::needs_comm) || verdicts.iter().any(asks);
        let threads = threads(selection, recording, number)?;
        Ok(Rules {
            recording,
            common: trace.formats().next().map(Common::of).unwrap_or_default(),
            report,
            stack_events: ["kernel_stack", "user_stack"]
                .map(|name| trace.ftrace_formats.iter().find(|f| f.name == name).map(|f| f.id)),
            sieve: sieve(recording, &verdicts, &known, surroundings),
            known,
            verdicts,
            needs_comm,
            tasks: tasks(selection, recording, threads.as_deref(), surroundings),
            threads,
        })
    }

    /// Leaves out records of event types for which `reads` is false, but for those that follow a loss.
    pub(super) fn narrow(&mut self, reads: impl Fn(u16) -> bool) {
        if self.common.id_is_first() {
            let ids = (0..=u16::MAX).filter(|id| !self.known.contains(*id) || reads(*id));
            self.sieve = Some(Arc::new(EventIdSet::new(self.recording.trace.abi, ids).keeping_losses()));
        }
    }

    /// The id of a record, if no format describes it.
    #[inline(always)]
    pub(super) fn unknown_id(&self, data: &[u8]) -> Option<u16> {
        let id = self.common.event_id(self.recording.trace.abi, data);
        (!self.known.contains(id)).then_some(id)
    }

    /// True if an event of this type may pass the filters of the kernel's language.
    pub(super) fn may_pass(&self, id: u16) -> bool {
        self.verdicts.is_empty() || matches!(self.verdict(id), Some(Verdict::Keep | Verdict::Ask(_)))
    }

    /// True if this event, of a type that may, does pass them.
    pub(super) fn passes(&self, id: u16, subject: &Subject<'_>) -> bool {
        match self.verdict(id) {
            Some(Verdict::Ask(programs)) => programs.iter().any(|program| program.matches(subject)),
            _ => true,
        }
    }

    fn verdict(&self, id: u16) -> Option<&Verdict> {
        self.verdicts.get(usize::from(id))
    }
}

/// By event id.
fn verdicts(selection: &Selection, recording: &Recording, number: usize) -> Result<Vec<Verdict>, QueryError> {
    let (trace, symbols) = (&recording.trace, &recording.symbols);
    let mut verdicts: Vec<Verdict> = Vec::new();
    for wanted in &selection.filters {
        let (mut fits, mut misfits): (_, Vec<(&EventFormat, Diagnostic)>) = (false, Vec::new());
        for format in trace.formats().filter(|format| wanted.names(format)) {
            let compiled = wanted.filter().map(|filter| filter.compile(format, trace.abi, &symbols.kallsyms));
            let program = match compiled.transpose() {
                Ok(program) => program,
                Err(error) => {
                    misfits.push((format, error));
                    continue;
                }
            };
            fits = true;
            let id = usize::from(format.id.0);
            if verdicts.len() <= id {
                verdicts.resize_with(id + 1, || Verdict::Drop);
            }
            match (&mut verdicts[id], program) {
                (Verdict::Keep, _) => {}
                (verdict, None) => *verdict = Verdict::Keep,
                (Verdict::Ask(programs), Some(program)) => programs.push(program),
                (verdict, Some(program)) => *verdict = Verdict::Ask(vec![program]),
            }
        }
        // One of the events must have the fields; the most helpful error is that of the event that was meant.
        let is_near = |error: &Diagnostic| error.hints().iter().any(|hint| hint.starts_with("did you"));
        let best = misfits.into_iter().min_by_key(|(format, error)| (!is_near(error), format.system == "ftrace"));
        if let (false, Some((format, error))) = (fits, best) {
            let (event, error) = (format.name.clone(), Box::new(error));
            return Err(QueryError::Mismatch { recording: number, event, error });
        }
    }
    if verdicts.is_empty() && !selection.filters.is_empty() {
        verdicts.push(Verdict::Drop); // this recording has none of the events
    }
    Ok(verdicts)
}

/// The tasks of the selected processes.
fn threads(selection: &Selection, recording: &Recording, number: usize) -> Result<Option<Vec<Pid>>, QueryError> {
    if selection.tgids.is_empty() {
        return Ok(None);
    }
    let pairs = recording.processes();
    if pairs.is_empty() {
        return Err(QueryError::NoProcesses { recording: number });
    }
    let wanted = |pair: &&(Pid, Pid)| selection.tgids.contains(&pair.1);
    let mut threads: Vec<Pid> = pairs.iter().filter(wanted).map(|pair| pair.0).collect();
    threads.sort_unstable();
    Ok(Some(threads))
}

/// The selected tasks, if no output depends on the events of others. A function_graph entry's does: it may be a leaf.
fn tasks(
    selection: &Selection,
    recording: &Recording,
    threads: Option<&[Pid]>,
    surroundings: OutputDependence,
) -> Option<PidBloom> {
    let trace = &recording.trace;
    let mut views = trace.buffers.iter().filter_map(|buffer| trace.kernel_view(buffer));
    let bits = |pids: &mut dyn Iterator<Item = Pid>| {
        let mut bits = PidBloom::default();
        pids.for_each(|pid| bits.add(pid));
        bits
    };
    let named = |name: &[u8]| selection.comms.iter().any(|p| glob_matches(p, &String::from_utf8_lossy(name)));
    match () {
        () if surroundings >= OutputDependence::Chunks || views.any(|view| view.tracer == "function_graph") => None,
        () if !selection.pids.is_empty() => Some(bits(&mut selection.pids.iter().copied())),
        () if threads.is_some() => threads.map(|threads| bits(&mut threads.iter().copied())),
        () if selection.comms.is_empty() || named(b"<...>") => None,
        () => {
            let comms = &recording.symbols.comms;
            Some(bits(&mut comms.pids().chain([Pid(0)]).filter(|pid| named(comms.name(*pid)))))
        }
    }
}

/// Event ids that the verdicts drop by type, of those that a format describes. Nothing is dropped where output depends on
/// the events around it, whatever becomes of those.
fn sieve(
    recording: &Recording,
    verdicts: &[Verdict],
    known: &EventIdSet,
    surroundings: OutputDependence,
) -> Option<Arc<EventIdSet>> {
    let formats = || recording.trace.formats();
    let kept = |id: EventId| matches!(verdicts.get(usize::from(id.0)), Some(Verdict::Keep | Verdict::Ask(_)));
    let is_call = |f: &EventFormat| f.system == "ftrace" && f.name.ends_with("_entry");
    let id_is_first = formats().next().map(Common::of).unwrap_or_default().id_is_first();
    if verdicts.is_empty()
        || !id_is_first
        || surroundings == OutputDependence::Records
        || formats().any(|f| is_call(f) && kept(f.id))
    {
        return None;
    }
    let ids = (0..=u16::MAX).filter(|id| kept(EventId(*id)) || !known.contains(*id));
    Some(Arc::new(EventIdSet::new(recording.trace.abi, ids).keeping_losses()))
}

//! The events that a query selects: as the caller describes them, and resolved for one recording.

use super::{QueryError, Recording};
use crate::base::syntax::Diagnostic;
use crate::base::units::{CpuId, EventId, Pid};
use crate::file::trace_dat::{Buffer, EventIdSet, PidBloom, RecordTest, Sieve};
use crate::kernel::event::Common;
use crate::kernel::events::glob_matches;
use crate::kernel::format::EventFormat;
use crate::language::filter::{EventFilter, FilterProgram, ReportFilter, ReportFilters, Sign, Subject};
use std::sync::Arc;

/// The events that a query selects: those that pass each of its non-empty lists.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Filters of the kernel's language: an event passes if one of them lets it.
    pub filters: Vec<EventFilter>,
    /// Filters of trace-cmd's language, in the order of the command line.
    pub report_filters: Vec<(ReportFilter, Sign)>,
    /// The tasks.
    pub pids: Vec<Pid>,
    /// The processes, of recordings that hold the tasks' processes (trace option `record-tgid`).
    pub tgids: Vec<Pid>,
    /// The tasks' names, as globs.
    pub comms: Vec<String>,
    /// The cgroups, with all below them, of recordings that hold them (`record --cgroups`): globs of their paths.
    pub cgroups: Vec<String>,
    /// Drops events in hard interrupts.
    pub no_irq: bool,
    /// Drops events in soft interrupts.
    pub no_softirq: bool,
}

impl Selection {
    /// True if it drops nothing.
    pub fn is_everything(&self) -> bool {
        let filters = self.filters.is_empty() && self.report_filters.is_empty();
        filters && !self.by_task() && !self.no_irq && !self.no_softirq
    }

    pub(super) fn by_task(&self) -> bool {
        !self.pids.is_empty() || !self.tgids.is_empty() || !self.comms.is_empty() || !self.cgroups.is_empty()
    }
}

/// Dependence of an event's output on events that the selection drops: these are read for its sake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputDependence {
    /// None. Chunks without events of the selected tasks are skipped, and records of other event types.
    #[default]
    Needless,
    /// On records around it: all chunks are read.
    Chunks,
    /// On losses: records before which the kernel dropped events are handed out, selected or not.
    Losses,
    /// On all other events: records of all types are merged.
    Records,
}

/// A selection resolved for one recording.
pub(super) struct Rules<'a> {
    pub(super) recording: &'a Recording,
    pub(super) common: Common,
    /// The ids that a format describes.
    pub(super) known: EventIdSet,
    pub(super) report: Option<ReportFilters>,
    /// `kernel_stack` and `user_stack`, which stay with the event before them.
    pub(super) stack_events: [Option<EventId>; 2],
    verdicts: Arc<EventVerdicts>,
    pub(super) needs_comm: bool,
    /// The tasks of the selected processes, ascending, if only some are.
    pub(super) threads: Option<Vec<Pid>>,
    /// Drops what the verdicts drop by its type, or by its record alone.
    pub(super) sieve: Option<Arc<Sieve>>,
    /// The selected tasks, if chunks without them may be skipped.
    pub(super) tasks: Option<PidBloom>,
}

/// The filters' verdicts by event id; empty if there are no filters of the kernel's language.
struct EventVerdicts {
    of_events: Vec<Verdict>,
    /// True if they are those of one filter.
    is_single: bool,
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
        let verdicts = Arc::new(EventVerdicts::new(selection, recording, number)?);
        let known = EventIdSet::new(trace.abi, trace.formats().map(|format| format.id.0));
        let asks = |v: &Verdict| matches!(v, Verdict::Ask(programs) if programs.iter().any(FilterProgram::needs_comm));
        let needs_comm = report.as_ref().is_some_and(ReportFilters::needs_comm) || verdicts.of_events.iter().any(asks);
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
            self.sieve = Some(Arc::new(Sieve::new(EventIdSet::new(self.recording.trace.abi, ids), None)));
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
        self.verdicts.of_events.is_empty() || self.verdicts.may_pass(id)
    }

    /// True if this event, of a type that may, does pass them; if it `is_sifted`, the sieve let it pass.
    pub(super) fn passes(&self, id: u16, subject: &Subject<'_>, is_sifted: bool) -> bool {
        let was_asked = || is_sifted && self.sieve.as_ref().is_some_and(|sieve| sieve.has_test());
        match self.verdicts.of(id) {
            Some(Verdict::Ask(programs)) if was_asked() && programs.iter().all(|one| one.reach().is_some()) => true,
            Some(Verdict::Ask(programs)) => programs.iter().any(|program| program.matches(subject)),
            _ => true,
        }
    }
}

impl EventVerdicts {
    fn new(selection: &Selection, recording: &Recording, number: usize) -> Result<Self, QueryError> {
        let of_events = of_events(selection, recording, number)?;
        Ok(EventVerdicts { of_events, is_single: selection.filters.len() == 1 })
    }

    fn of(&self, id: u16) -> Option<&Verdict> {
        self.of_events.get(usize::from(id))
    }

    fn may_pass(&self, id: u16) -> bool {
        matches!(self.of(id), Some(Verdict::Keep | Verdict::Ask(_)))
    }

    /// True if the record of a stack, an event of this format, passes whenever the event that it belongs to does.
    fn keep_stacks_together(&self, format: &EventFormat) -> bool {
        let own =
            format.fields.iter().filter(|field| !field.name.starts_with("common_")).map(|field| field.offset).min();
        let is_common = |program: &FilterProgram| program.reach().is_some_and(|reach| Some(reach) <= own);
        match self.of(format.id.0) {
            Some(Verdict::Ask(programs)) => self.is_single && programs.iter().all(is_common),
            Some(Verdict::Keep) => false,
            Some(Verdict::Drop) | None => true,
        }
    }
}

impl RecordTest for EventVerdicts {
    #[inline]
    fn passes(&self, id: u16, record: &[u8]) -> bool {
        let Some(Verdict::Ask(programs)) = self.of(id) else { return true };
        let subject = Subject { data: record, cpu: CpuId(0), comm: &[], names: &() };
        programs.iter().any(|program| program.reach().is_none() || program.matches(&subject))
    }
}

/// By event id.
fn of_events(selection: &Selection, recording: &Recording, number: usize) -> Result<Vec<Verdict>, QueryError> {
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

/// What the verdicts drop, of the events that a format describes. Nothing is dropped where output depends on the events around
/// it, whatever becomes of those.
fn sieve(
    recording: &Recording,
    verdicts: &Arc<EventVerdicts>,
    known: &EventIdSet,
    surroundings: OutputDependence,
) -> Option<Arc<Sieve>> {
    let formats = || recording.trace.formats();
    let kept = |id: EventId| verdicts.may_pass(id.0);
    let is_call = |f: &EventFormat| f.system == "ftrace" && f.name.ends_with("_entry");
    // Of recordings of others the tracer is not known.
    let is_of_calls = |buffer: &Buffer| {
        let tracer = recording.trace.kernel_view(buffer).map(|view| view.tracer).unwrap_or_default();
        tracer.is_empty() || tracer == "function_graph"
    };
    let may_have_calls = recording.trace.buffers.iter().any(is_of_calls);
    let id_is_first = formats().next().map(Common::of).unwrap_or_default().id_is_first();
    if verdicts.of_events.is_empty()
        || !id_is_first
        || surroundings == OutputDependence::Records
        || (may_have_calls && formats().any(|f| is_call(f) && kept(f.id)))
    {
        return None;
    }
    let ids = (0..=u16::MAX).filter(|id| kept(EventId(*id)) || !known.contains(*id));
    // A stack is taken for that of the event before it.
    let mut stacks = formats().filter(|format| format.system == "ftrace" && format.name.ends_with("_stack"));
    let test = stacks.all(|format| verdicts.keep_stacks_together(format));
    let test = test.then(|| Arc::clone(verdicts) as Arc<dyn RecordTest>);
    Some(Arc::new(Sieve::new(EventIdSet::new(recording.trace.abi, ids), test)))
}

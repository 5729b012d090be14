//! Which events to show.

use super::input::Input;
use super::{Args, Format};
use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::event::{Common, Record, RecordHead};
use rtrace::events::glob_matches;
use rtrace::filter::{EventFilter, Program, ReportFilters, Subject};
use rtrace::format::EventFormat;
use rtrace::syntax::{Diagnostic, did_you_mean};
use rtrace::trace_dat::{Sieve, TaskBits};
use rtrace::units::{EventId, Pid};
use std::collections::HashMap;
use std::sync::Arc;

/// Which events to show, besides `-F`.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct SelectArgs {
    /// Only the events that pass a filter of the kernel's language, as in `sched:sched_switch: prev_prio < 100`
    #[arg(long = "filter", value_name = "EVENTS[: EXPR]", value_parser = kernel_filter)]
    kernel: Vec<EventFilter>,
    /// Only what these tasks did
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<i32>,
    /// Only what the tasks of these processes did, in recordings made with -O record-tgid
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    tgid: Vec<i32>,
    /// Only what tasks of this name did; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    comm: Vec<String>,
    /// Not what happened in hard interrupts
    #[arg(short = 'I', long)]
    no_irq: bool,
    /// Not what happened in soft interrupts
    #[arg(short = 'S', long)]
    no_softirq: bool,
}

impl SelectArgs {
    /// Whether events are chosen by name or content.
    pub(super) fn by_content(&self) -> bool {
        !self.kernel.is_empty() || !self.pid.is_empty() || !self.tgid.is_empty() || !self.comm.is_empty()
    }
}

/// `common_flags` of events in a hard and in a soft interrupt.
const HARDIRQ: u8 = 0x08;
const SOFTIRQ: u8 = 0x10;

fn kernel_filter(text: &str) -> Result<EventFilter, String> {
    EventFilter::parse(text).map_err(|e| format!("\n{e}"))
}

/// The selection of one file, resolved.
struct FileSelection<'a> {
    input: &'a Input,
    common: Common,
    report: Option<ReportFilters>,
    stack_events: [Option<EventId>; 2],
    /// By event id; empty if there is no `--filter`.
    kernel: Vec<Verdict>,
    needs_comm: bool,
    /// The tasks of the wanted processes, ascending, if only some are wanted.
    threads: Option<Vec<Pid>>,
    /// Drops what `--filter` drops by its event.
    sieve: Option<Arc<Sieve>>,
    tasks: Option<TaskBits>,
}

/// What `--filter` says of an event type.
enum Verdict {
    Drop,
    Keep,
    Ask(Vec<Program>),
}

/// Decides which events are shown. Everything is resolved before the first one.
pub(super) struct Selection<'a> {
    files: Vec<FileSelection<'a>>,
    pids: Vec<Pid>,
    comms: &'a [String],
    sources: usize,
    /// The bits of `common_flags` of which none may be set.
    contexts: u8,
    everything: bool,
}

/// What is learnt from the events that were decided on.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Per source and CPU: whether the event before was shown, which a stack follows.
    shown: Vec<Vec<Before>>,
    /// What it is on a CPU of which no event was seen.
    unseen: Before,
    /// Whether a decision depended on that.
    guessed: bool,
    /// Per file, verdicts of `--comm` by pid.
    comms: Vec<HashMap<Pid, bool>>,
}

/// What became of the event before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Hidden,
    Shown,
    NotKnown,
}

impl Seen {
    /// For events that come later, while the ones before them are not all decided on.
    pub(super) fn fork(&self) -> Self {
        let shown = vec![Vec::new(); self.shown.len()];
        Seen { shown, unseen: Before::NotKnown, guessed: false, comms: vec![HashMap::new(); self.comms.len()] }
    }

    /// Whether a decision of this fork depended on earlier events.
    pub(super) fn guessed(&self) -> bool {
        self.guessed
    }

    /// Takes over what the fork `done` has seen, unless it guessed.
    pub(super) fn join(&mut self, done: &mut Seen) {
        for (known, done) in self.shown.iter_mut().zip(std::mem::take(&mut done.shown)) {
            if known.len() < done.len() {
                known.resize(done.len(), self.unseen);
            }
            for (known, done) in known.iter_mut().zip(done) {
                if done != Before::NotKnown {
                    *known = done;
                }
            }
        }
    }
}

impl<'a> Selection<'a> {
    pub(super) fn new(args: &'a Args, inputs: &'a [Input], sources: usize) -> Result<Self, Failure> {
        let mut pids: Vec<Pid> = args.select.pid.iter().map(|p| Pid(*p)).collect();
        pids.sort_unstable();
        let files = inputs.iter().map(|input| FileSelection::new(args, input)).collect::<Result<Vec<_>, _>>()?;
        for filter in &args.select.kernel {
            check_named(filter, inputs)?;
        }
        let none = args.filters.list.is_empty() && args.select.kernel.is_empty();
        let context = |leave_out: bool, flag: u8| if leave_out { flag } else { 0 };
        let contexts = context(args.select.no_irq, HARDIRQ) | context(args.select.no_softirq, SOFTIRQ);
        let everything =
            none && args.select.tgid.is_empty() && pids.is_empty() && args.select.comm.is_empty() && contexts == 0;
        Ok(Selection { files, pids, comms: &args.select.comm, sources, contexts, everything })
    }

    /// A selection of everything.
    pub(super) fn none() -> Self {
        Selection { files: Vec::new(), pids: Vec::new(), comms: &[], sources: 0, contexts: 0, everything: true }
    }

    /// Whether it drops nothing.
    pub(super) fn is_everything(&self) -> bool {
        self.everything
    }

    /// What of the file's records may be left out without asking.
    pub(super) fn sieve(&self, file: usize) -> Option<Arc<Sieve>> {
        self.files.get(file)?.sieve.clone()
    }

    /// The tasks of the file that are asked for, if it is by tasks that it is asked, and if no event's text depends on those
    /// of other tasks around it.
    pub(super) fn tasks(&self, file: usize) -> Option<TaskBits> {
        self.files.get(file)?.tasks
    }

    /// What is known before the first event.
    pub(super) fn nothing_seen(&self) -> Seen {
        let comms = vec![HashMap::new(); self.files.len()];
        Seen { shown: vec![Vec::new(); self.sources], unseen: Before::Hidden, guessed: false, comms }
    }

    /// Whether to show `record`, which is of that file.
    #[inline]
    pub(super) fn accepts(&self, seen: &mut Seen, file: usize, record: &Record<'_>) -> bool {
        self.everything || self.decide(seen, file, record)
    }

    fn decide(&self, seen: &mut Seen, number: usize, record: &Record<'_>) -> bool {
        let file = &self.files[number];
        let abi = file.input.trace.abi;
        let RecordHead { id, pid, flags, .. } = file.common.head(abi, record.data);
        if flags & self.contexts != 0 {
            return false;
        }
        let verdict = file.kernel.get(usize::from(id));
        if !file.kernel.is_empty() && matches!(verdict, None | Some(Verdict::Drop)) {
            return false;
        }
        if !self.pids.is_empty() && self.pids.binary_search(&pid).is_err() {
            return false;
        }
        if file.threads.as_ref().is_some_and(|threads| threads.binary_search(&pid).is_err()) {
            return false;
        }
        if !self.comms.is_empty() && !file.has_comm(pid, self.comms, &mut seen.comms[number]) {
            return false;
        }
        let comm = if file.needs_comm { file.input.symbols.comms.name(pid) } else { &[] };
        let names = &file.input.symbols.kallsyms;
        let subject = Subject { data: record.data, cpu: record.cpu, comm, names };
        if !file.kernel.is_empty() {
            match verdict {
                None | Some(Verdict::Drop) => return false,
                Some(Verdict::Keep) => {}
                Some(Verdict::Ask(programs)) if programs.iter().any(|p| p.matches(&subject)) => {}
                Some(Verdict::Ask(_)) => return false,
            }
        }
        let Some(filters) = &file.report else { return true };
        let cpu = record.cpu.0 as usize & 0xffff;
        let shown = &mut seen.shown[record.buffer];
        if shown.len() <= cpu {
            shown.resize(cpu + 1, seen.unseen);
        }
        if shown[cpu] != Before::Hidden && file.stack_events.contains(&Some(EventId(id))) {
            seen.guessed |= shown[cpu] == Before::NotKnown;
            return true;
        }
        let matches = filters.matches(EventId(id), &subject);
        shown[cpu] = if matches { Before::Shown } else { Before::Hidden };
        matches
    }
}

impl<'a> FileSelection<'a> {
    fn new(args: &Args, input: &'a Input) -> Result<Self, Failure> {
        let formats = || input.trace.formats();
        let usage = |e: &Diagnostic, what: String| {
            let failure = Failure::new(Exit::Usage, anyhow!("{}: {what}{e}", input.path.display()));
            e.hints().iter().fold(failure, |failure, hint| failure.hint(hint.clone()))
        };
        let report = match args.filters.list.as_slice() {
            [] => None,
            list => {
                Some(ReportFilters::compile(list, formats(), input.trace.abi).map_err(|e| usage(&e, String::new()))?)
            }
        };
        let mut kernel: Vec<Verdict> = Vec::new();
        for wanted in &args.select.kernel {
            for format in formats().filter(|f| wanted.names(f)) {
                let program = match wanted.filter() {
                    None => None,
                    Some(filter) => Some(
                        filter
                            .compile(format, input.trace.abi, &input.symbols.kallsyms)
                            .map_err(|e| usage(&e, format!("`{}` cannot be filtered so:\n", format.name)))?,
                    ),
                };
                let id = usize::from(format.id.0);
                if kernel.len() <= id {
                    kernel.resize_with(id + 1, || Verdict::Drop);
                }
                match (&mut kernel[id], program) {
                    (Verdict::Keep, _) => {}
                    (verdict, None) => *verdict = Verdict::Keep,
                    (Verdict::Ask(programs), Some(program)) => programs.push(program),
                    (verdict, Some(program)) => *verdict = Verdict::Ask(vec![program]),
                }
            }
        }
        if kernel.is_empty() && !args.select.kernel.is_empty() {
            kernel.push(Verdict::Drop); // this file has none of the events
        }
        let asks = |v: &Verdict| matches!(v, Verdict::Ask(programs) if programs.iter().any(Program::needs_comm));
        let sieve = sieve(args, input, &kernel);
        let threads = threads(args, input)?;
        Ok(FileSelection {
            input,
            sieve,
            tasks: tasks(args, input, threads.as_deref()),
            threads,
            common: formats().next().map(Common::of).unwrap_or_default(),
            needs_comm: report.as_ref().is_some_and(ReportFilters::needs_comm) || kernel.iter().any(asks),
            report,
            stack_events: ["kernel_stack", "user_stack"]
                .map(|name| input.trace.ftrace_formats.iter().find(|f| f.name == name).map(|f| f.id)),
            kernel,
        })
    }

    fn has_comm(&self, pid: Pid, patterns: &[String], verdicts: &mut HashMap<Pid, bool>) -> bool {
        let comms = &self.input.symbols.comms;
        *verdicts.entry(pid).or_insert_with(|| {
            let name = String::from_utf8_lossy(comms.name(pid));
            patterns.iter().any(|p| glob_matches(p, &name))
        })
    }
}

/// The tasks of the processes that `--tgid` names.
fn threads(args: &Args, input: &Input) -> Result<Option<Vec<Pid>>, Failure> {
    if args.select.tgid.is_empty() {
        return Ok(None);
    }
    let views = input.trace.buffers.iter().filter_map(|buffer| input.trace.kernel_view(buffer));
    let pairs: Vec<(Pid, Pid)> = views.flat_map(|view| view.tgids).collect();
    if pairs.is_empty() {
        let error = anyhow!("{} does not say which process a task belongs to", input.path.display());
        return Err(Failure::new(Exit::Failed, error).hint("`rtrace record -O record-tgid` keeps it.".to_owned()));
    }
    let wanted = |pair: &&(Pid, Pid)| args.select.tgid.contains(&pair.1.0);
    let mut threads: Vec<Pid> = pairs.iter().filter(wanted).map(|pair| pair.0).collect();
    threads.sort_unstable();
    Ok(Some(threads))
}

/// The tasks that are asked for, if nothing that is shown depends on the events of others.
fn tasks(args: &Args, input: &Input, threads: Option<&[Pid]>) -> Option<TaskBits> {
    let views = || input.trace.buffers.iter().filter_map(|buffer| input.trace.kernel_view(buffer));
    let of_neighbours = args.format == Format::Kernel
        || args.ts_check
        || args.layout.ts_diff
        || args.layout.wakeups
        || args.layout.boundary
        || views().any(|view| view.tracer == "function_graph");
    let bits = |pids: &mut dyn Iterator<Item = Pid>| {
        let mut bits = TaskBits::default();
        pids.for_each(|pid| bits.add(pid));
        bits
    };
    let named = |name: &[u8]| args.select.comm.iter().any(|p| glob_matches(p, &String::from_utf8_lossy(name)));
    match () {
        () if of_neighbours => None,
        () if !args.select.pid.is_empty() => Some(bits(&mut args.select.pid.iter().map(|pid| Pid(*pid)))),
        () if threads.is_some() => threads.map(|threads| bits(&mut threads.iter().copied())),
        () if args.select.comm.is_empty() || named(b"<...>") => None,
        () => {
            let comms = &input.symbols.comms;
            Some(bits(&mut comms.pids().chain([Pid(0)]).filter(|pid| named(comms.name(*pid)))))
        }
    }
}

/// What `--filter` drops by its event. Nothing is dropped where an event's text depends on the ones around it, whatever
/// becomes of those.
fn sieve(args: &Args, input: &Input, kernel: &[Verdict]) -> Option<Arc<Sieve>> {
    let formats = || input.trace.formats();
    let kept = |id: EventId| matches!(kernel.get(usize::from(id.0)), Some(Verdict::Keep | Verdict::Ask(_)));
    let is_call = |f: &EventFormat| f.system == "ftrace" && f.name.ends_with("_entry");
    let id_is_first = formats().next().map(Common::of).unwrap_or_default().id_is_first();
    if kernel.is_empty() || !id_is_first || args.format == Format::Kernel || formats().any(|f| is_call(f) && kept(f.id))
    {
        return None;
    }
    let ids = (0..=u16::MAX).filter(|id| kept(EventId(*id)));
    Some(Arc::new(Sieve::new(input.trace.abi, ids)))
}

/// A filter of an event that no file has is a mistake.
fn check_named(filter: &EventFilter, inputs: &[Input]) -> Result<(), Failure> {
    let formats = || inputs.iter().flat_map(|i| i.trace.formats());
    if formats().any(|f| filter.names(f)) {
        return Ok(());
    }
    let failure = Failure::new(Exit::Usage, anyhow!("no event is called `{}`", filter.events()));
    let name = filter.events().rsplit([':', '/']).next().unwrap_or_default();
    Err(match did_you_mean(name, formats().map(|f| f.name.as_str())) {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}

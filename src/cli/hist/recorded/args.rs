//! The recording that is asked, and what its events make of triggers.
//! Events of a recording, by name.

use super::answered::{Answered, HistLosses};
use crate::cli::coverage;
use crate::cli::exit::{Exit, Failure};
use crate::cli::key_names::KeyNames;
use crate::cli::machine::RecordingMachine;
use crate::cli::query::{QueryInput, WindowArgs, answer, one_buffer};
use crate::cli::terminal::PagerArgs;
use crate::cli::trace_file::threads_for;
use crate::cli::traced::events_of_purposes;
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, Histograms, SetupError};
use rtrace::events::EventName;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::{Buffer, Trace};
use rtrace::recording::{OutputDependence, Query, QueryError};
use rtrace::syntax::did_you_mean;
use rtrace::tracefs::Tracefs;
use std::collections::HashSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};

/// The recording that is asked instead of the kernel.
#[derive(clap::Args)]
pub(crate) struct RecordedArgs {
    /// Ask this recording instead of the kernel
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    #[command(flatten)]
    window: WindowArgs,
    /// With -i: buffer to look at, if several hold events; the empty name for the top buffer
    #[arg(long, value_name = "NAME", requires = "input", hide_short_help = true)]
    buffer: Option<String>,
    /// With -i: give tables no more room than the kernel's have (--size), and drop what finds none
    #[arg(long, requires = "input", hide_short_help = true)]
    kernel_map: bool,
    /// With -i: number of threads; the output is the same for any number [default: one per CPU, one for few events]
    #[arg(long, value_name = "N", requires = "input", hide_short_help = true)]
    threads: Option<NonZero<usize>>,
    #[command(flatten)]
    pager: PagerArgs,
}

impl RecordedArgs {
    /// The recording, if one is asked.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.input.as_deref()
    }

    /// The part of its time that is looked at.
    pub(crate) fn window(&self) -> &WindowArgs {
        &self.window
    }

    /// Number of threads that read `trace`.
    pub(crate) fn threads_for(&self, trace: &Trace) -> usize {
        threads_for(self.threads, [trace])
    }

    /// True if only a part of the recording's time is looked at.
    pub(crate) fn is_part(&self) -> bool {
        self.window != WindowArgs::default()
    }

    /// An error where arguments about a recording have none, or where one that is for the kernel (with its name) is given with
    /// a recording.
    pub(crate) fn check(&self, size: Option<u64>, for_the_kernel: &[(&str, bool)]) -> Result<(), Failure> {
        if let Some((name, _)) = for_the_kernel.iter().find(|(_, given)| *given && self.input.is_some()) {
            let error = anyhow!("{name} is for the kernel: it cannot be used with a recording (-i)");
            return Err(Failure::new(Exit::Usage, error));
        }
        match self.input {
            None if self.window != WindowArgs::default() => {
                let error = anyhow!("--since, --until and --around choose a part of a recording: -i FILE names it");
                Err(Failure::new(Exit::Usage, error))
            }
            Some(_) if size.is_some() && !self.kernel_map => {
                let error = anyhow!("--size has no effect: tables made of a recording have room for all entries");
                Err(Failure::new(Exit::Usage, error).hint("--kernel-map gives them the kernel's limits."))
            }
            _ => Ok(()),
        }
    }

    /// Takes the recording's events through the triggers that `setup` makes for it, and has `show` say what came of it.
    /// `failure` words the error of a trigger.
    pub(crate) fn ask(
        &self,
        setup: impl FnOnce(&QueryInput) -> Result<HistSetup, Failure>,
        failure: impl FnOnce(SetupError) -> Failure,
        show: impl FnOnce(&Answered<'_>) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        self.ask_of(self.input.as_deref().unwrap_or(Path::new("trace.dat")), setup, failure, show)
    }

    /// The same of the recording at `path`.
    pub(super) fn ask_of(
        &self,
        path: &Path,
        setup: impl FnOnce(&QueryInput) -> Result<HistSetup, Failure>,
        failure: impl FnOnce(SetupError) -> Failure,
        show: impl FnOnce(&Answered<'_>) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        self.look(path, |query, input, buffer| self.answer((query, input, buffer), setup(input)?, failure, show))
    }

    /// Opens the recording and has `look` answer of the events that the arguments choose.
    pub(crate) fn look(
        &self,
        path: &Path,
        look: impl FnOnce(Query<'_>, &QueryInput, &Buffer) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let _pager = self.pager.start();
        answer(path, &self.window, self.threads, |events, _| {
            let (query, buffer) = one_buffer(self.buffer.as_deref(), events)?;
            look(query, &events.inputs[0], buffer)
        })
    }

    /// Takes events through triggers, and has `show` say what came of it. `failure` words the error of a trigger.
    pub(crate) fn answer(
        &self,
        (query, input, buffer): (Query<'_>, &QueryInput, &Buffer),
        setup: HistSetup,
        failure: impl FnOnce(SetupError) -> Failure,
        show: impl FnOnce(&Answered<'_>) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let setup = HistSetup { kernel_limits: self.kernel_map, uname: input.trace.uname(), ..setup };
        let formats: Vec<_> = input.formats().collect();
        let analysis = Histograms::new(&setup, &formats, input.trace.abi, &input.symbols);
        let analysis = analysis.map_err(failure)?;
        let read: HashSet<_> =
            analysis.events().iter().map(|(system, event)| EventName::new(*system, *event)).collect();
        let query = if analysis.needs_all_events() { query } else { of_events(query, &analysis.events())? };
        let (findings, outcome) = query.analyse(analysis)?;
        let limits = coverage::limits(&input.trace, &buffer.name, |event| read.contains(event));
        let missed = HistLosses { limits: &limits, ..HistLosses::of(input, &outcome) };
        show(&Answered { names: KeyNames::of(input), findings, missed, of: Some((input, buffer)) })
    }

    /// True if tables have no more room than the kernel's.
    pub(crate) fn kernel_map(&self) -> bool {
        self.kernel_map
    }
}

/// Only these events, and all losses, whatever event came after them.
pub(crate) fn of_events<'q>(query: Query<'q>, events: &[(&str, &str)]) -> Result<Query<'q>, QueryError> {
    let names = events.iter().map(|(system, event)| format!("{system}:{event}"));
    query.surroundings(OutputDependence::Losses).filters(names)
}

/// The one event of the recording that `text` names: `sched:sched_switch`, `sched/sched_switch`, `sched_switch`.
pub(crate) fn find_format<'i>(input: &'i QueryInput, text: &str) -> Result<&'i EventFormat, Failure> {
    let named = |format: &&EventFormat| match text.split_once([':', '/']) {
        Some((system, event)) => format.system == system && format.name == event,
        None => format.name == text,
    };
    let found: Vec<&EventFormat> = input.formats().filter(named).collect();
    let path = input.path.display();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let names: Vec<String> = input.formats().map(|f| format!("{}:{}", f.system, f.name)).collect();
            let bare = input.formats().map(|format| format.name.as_str());
            let near = did_you_mean(text, names.iter().map(String::as_str).chain(bare));
            let failure = Failure::new(Exit::Usage, anyhow!("{path} has no event `{text}`"));
            if let Some(hint) = as_raw_syscall(input, text) {
                return Err(failure.hint(hint));
            }
            if let Some(event) = elsewhere(text) {
                let error = anyhow!("{path} has no event `{text}`: it was not recorded");
                return Err(Failure::new(Exit::Usage, error).hint(format!("`rtrace record -e {event}` records it.")));
            }
            Err(failure.hint(near.unwrap_or_else(|| format!("`rtrace report --events {path}` lists those it has."))))
        }
        [first, ..] => {
            let error = anyhow!("`{text}` means {} events of {path}", found.len());
            Err(Failure::new(Exit::Usage, error).hint(format!("Name one: {}:{}.", first.system, first.name)))
        }
    }
}

/// The event of that name that an analysis reads, or that this machine's kernel has.
fn elsewhere(text: &str) -> Option<EventName> {
    let named = |event: &EventName| match text.split_once([':', '/']) {
        Some((system, name)) => event.system == system && event.name == name,
        None => event.name == text,
    };
    let of_kernel = || Tracefs::mounted()?.top().events().ok()?.into_iter().find(named);
    events_of_purposes().find(named).or_else(of_kernel)
}

/// The event that holds the calls of `syscalls:sys_enter_NAME` in a recording of raw_syscalls.
fn as_raw_syscall(input: &QueryInput, text: &str) -> Option<String> {
    let name = text.rsplit([':', '/']).next()?;
    let (raw, call) = ["sys_enter", "sys_exit"].iter().find_map(|raw| {
        let call = name.strip_prefix(raw)?.strip_prefix('_')?;
        Some((*raw, call))
    })?;
    input.formats().find(|format| format.system == "raw_syscalls" && format.name == raw)?;
    // Events are called by the function: newstat is the call stat.
    let is_it = |known: &str| known == call || call.strip_prefix("new") == Some(known);
    let (number, _) = RecordingMachine::of_recording(&input.trace)?.calls().find(|(_, known)| is_it(known))?;
    Some(format!(
        "it has raw_syscalls: {call} is `raw_syscalls:{raw}` with `id == {number}`; `rtrace analyze syscalls {} --call {call}` has its times.",
        input.path.display()
    ))
}

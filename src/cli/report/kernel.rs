//! Events as the kernel's own `trace` file shows them.
//! Several machines' recordings in one report: how well their clocks agree.

use super::args::ReportRun;
use super::text::tell_undecoded;
use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryInput};
use crate::cli::terminal::note;
use rtrace::event::{DecodeOptions, EventTypes, Lost};
use rtrace::export::Kernel;
use rtrace::internal::trace_dat::{GuestFacts, KernelView, OptionId, TimeShift, Trace};
use rtrace::print_fmt::Semantics;
use rtrace::recording::{BufferSource, Query};
use std::io::Write;
use std::ops::ControlFlow;

/// Prints one buffer after the other, as each has a `trace` file of its own.
pub(super) fn print(run: &ReportRun<'_>, out: &mut (impl Write + Send)) -> Result<(), Failure> {
    let (inputs, all) = (run.inputs, run.query.sources());
    let decode = DecodeOptions { semantics: Semantics::Kernel, plugins: false, ..DecodeOptions::default() };
    let types: Vec<EventTypes<'_>> = inputs.iter().map(|input| input.types(&decode)).collect();
    let several = all.len() > 1;
    for (number, source) in all.iter().enumerate() {
        let input = &inputs[source.recording];
        let buffer = &input.trace.buffers[source.buffer];
        if several {
            let name = [input.label(), buffer.name.clone()].join(" ");
            writeln!(out, "{}==> {} <==", if number > 0 { "\n" } else { "" }, name.trim_end())?;
        }
        if let Some(text) = &buffer.text {
            out.write_all(text)?;
            continue;
        }
        let one = QueryEvents { query: run.query.clone().of_sources(vec![source.clone()]), ..run.events.clone() };
        let types = &types[source.recording];
        let view = match input.trace.kernel_view(buffer) {
            Some(view) => KernelView { in_ns: !source.in_ticks, ..view },
            None => guessed(run, input, source, types)?,
        };
        let state = one.export(&Kernel::new(types, &input.symbols, &view), out)?.0;
        tell_undecoded(input, types, state.state());
    }
    Ok(())
}

/// Defaults for a file of another program: its events are counted, the tracer is the one whose entries there are, and
/// all settings are those a kernel boots with.
fn guessed(
    run: &ReportRun<'_>,
    input: &QueryInput,
    source: &BufferSource,
    types: &EventTypes<'_>,
) -> Result<KernelView, Failure> {
    let uname = input.trace.option(OptionId::UNAME).map(|o| o.text()).unwrap_or_default();
    let cpus = input.trace.cpu_count;
    let mut view = KernelView {
        online: cpus,
        possible: cpus,
        release: uname.split(' ').nth(2).unwrap_or_default().to_owned(),
        in_ns: !source.in_ticks,
        ..KernelView::default()
    };
    let entries_of = |name: &str| types.formats().find(|f| f.system == "ftrace" && f.name == name);
    let tracers: Vec<(u16, &str)> =
        [("funcgraph_entry", "function_graph"), ("funcgraph_exit", "function_graph"), ("function", "function")]
            .into_iter()
            .chain([("hwlat", "hwlat"), ("osnoise", "osnoise"), ("timerlat", "timerlat")])
            .filter_map(|(entry, tracer)| Some((entries_of(entry)?.id.0, tracer)))
            .collect();
    let mut begun = Vec::new();
    let all = Query::of(run.query.recordings().iter().copied()).of_sources(vec![source.clone()]);
    all.resolve()?.walk(|current| {
        let record = current.record();
        view.entries += 1;
        view.written += 1;
        if !begun.contains(&record.cpu) {
            begun.push(record.cpu);
            view.written += match record.lost {
                Lost::None => 0,
                Lost::Count(count) => count,
                Lost::Unknown => 1,
            };
        }
        let id = types.common().event_id(types.abi(), record.data);
        if view.tracer == "nop"
            && let Some((_, tracer)) = tracers.iter().find(|t| t.0 == id)
        {
            view.tracer = (*tracer).to_owned();
        }
        Ok::<_, Failure>(ControlFlow::Continue(()))
    })?;
    Ok(view)
}

/// Says of each guest's file by which clock its times are shown, and how exactly.
pub(super) fn tell(inputs: &[QueryInput]) {
    if inputs.len() < 2 {
        return;
    }
    for input in inputs {
        let trace = &input.trace;
        let path = input.path.display();
        if let Some(comparison) = trace.clock_comparison() {
            note!("rtrace: {path}: times {comparison}");
        } else if inputs.iter().any(|host| is_guest_of(trace, &host.trace) && !is_timed_by(&host.trace, trace)) {
            match trace.option(OptionId::TIME_SHIFT) {
                Some(_) => note!("rtrace: {path}: times by the host's clock; the file does not say how exactly"),
                None => note!("rtrace: {path}: times by the guest's own clock, which was not compared with the host's"),
            }
        }
    }
}

/// True if the times of `other` become those of `trace`: by trace-cmd's `record --proxy` each is the other's guest.
fn is_timed_by(other: &Trace, trace: &Trace) -> bool {
    let shift = other.option(OptionId::TIME_SHIFT).and_then(|option| TimeShift::read(option, other.prefix.abi).ok());
    shift.is_some_and(|shift| Some(shift.peer) == trace.id())
}

/// True if `host` names `guest` as a guest of its own.
fn is_guest_of(guest: &Trace, host: &Trace) -> bool {
    let named = |id| {
        host.options(OptionId::GUEST)
            .any(|option| GuestFacts::read(option, host.prefix.abi).is_some_and(|facts| facts.id == id))
    };
    guest.id().is_some_and(named)
}

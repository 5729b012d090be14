//! Events recorded for a profile.

use crate::cli::exit::Failure;
use rtrace::analysis::{Hook, HookError};
use rtrace::record::{BufferPlan, EventPlan, Plan};
use rtrace::tracefs::{EventSelection, Tracefs};

/// The events to record for a profile.
#[derive(clap::Args, Clone)]
pub(crate) struct TracedProfileArgs {
    /// Record what report --profile wants: the scheduler with stack traces, interrupts, page faults, system calls, functions
    #[arg(long)]
    pub(crate) profile: bool,
    #[command(flatten)]
    pub(crate) what: WhatArgs,
    /// Taken as in trace-cmd: it is for report --profile
    #[arg(short = 'G', hide = true)]
    _global_irqs: bool,
    /// Taken as in trace-cmd: it is for report --profile
    #[arg(long = "by-comm", hide = true)]
    _by_comm: bool,
}

/// The part of a profile to record.
#[derive(clap::Args, Clone)]
pub(crate) struct WhatArgs {
    /// For the profile, record only the events and the tracer that are named
    #[arg(short = 'S', long = "only-named")]
    pub(crate) only_named: bool,
    /// Profile the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,ps`, and record them
    #[arg(id = "hook", short = 'H', long = "hook", value_name = "START/END", value_parser = is_hook)]
    hooks: Vec<String>,
}

impl WhatArgs {
    /// The hooks.
    pub(crate) fn hooks(&self) -> Vec<Hook> {
        self.hooks.iter().filter_map(|text| text.parse().ok()).collect()
    }
}

/// `-H`.
pub(crate) fn parse_hook(text: &str) -> Result<Hook, String> {
    text.parse().map_err(|error: HookError| error.to_string())
}

fn is_hook(text: &str) -> Result<String, String> {
    parse_hook(text).map(|_| text.to_owned())
}

/// Events of tasks' time, with stack traces of where they stop and who wakes them.
const WITH_STACKS: [&str; 2] = ["sched:sched_switch", "sched:sched_wakeup"];
const OTHERS: [&str; 9] = [
    "exceptions:page_fault_user",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "irq:softirq_raise",
    "sched:sched_process_exec",
    "raw_syscalls:sys_enter",
    "raw_syscalls:sys_exit",
];
const STACK: &str = "stacktrace";

/// Adds an event, unless it is there; with `stack` it has stack traces.
pub(super) fn want(buffer: &mut BufferPlan, event: &str, stack: bool) {
    want_at(buffer, event, stack, buffer.events.len());
}

fn want_at(buffer: &mut BufferPlan, event: &str, stack: bool, place: usize) {
    let mut known = buffer.events.iter().position(|known| known.enable && known.selection.text() == event);
    if known.is_none() {
        let selection = EventSelection::new(event);
        buffer.events.insert(place, EventPlan { selection, filters: Vec::new(), triggers: Vec::new(), enable: true });
        known = Some(place);
    }
    if let Some(event) = known.and_then(|at| buffer.events.get_mut(at))
        && stack
        && !event.triggers.iter().any(|trigger| trigger.contains(STACK))
    {
        event.triggers.push(STACK.to_owned());
    }
}

/// Adds to some buffers what a profile needs and this kernel has: the events, before those that were named, which may
/// leave some out, and the functions that the kernel is entered by.
pub(crate) fn add(
    plan: &mut Plan,
    buffers: &[usize],
    tracefs: &Tracefs,
    mut warn: impl FnMut(&str),
) -> Result<(), Failure> {
    let top = tracefs.top();
    let (events, tracers) = (top.events()?, top.tracers()?);
    let has = |event: &str| EventSelection::new(event).select(&events).is_ok();
    for number in buffers {
        let Some(buffer) = plan.buffers.get_mut(*number) else { continue };
        let all = WITH_STACKS.iter().map(|event| (event, true)).chain(OTHERS.iter().map(|event| (event, false)));
        for (place, (event, stack)) in all.filter(|(event, _)| has(event)).enumerate() {
            want_at(buffer, event, stack, place.min(buffer.events.len()));
        }
        if buffer.tracer.is_some() {
            continue;
        }
        if tracers.iter().any(|tracer| tracer == "function_graph") {
            buffer.tracer = Some("function_graph".to_owned());
            plan.machine.graph_depth = plan.machine.graph_depth.or(Some(1));
        } else {
            warn("this kernel has no function_graph: the profile says nothing of functions");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtrace::record::TargetBuffer;

    fn events(buffer: &BufferPlan) -> Vec<(&str, &[String])> {
        buffer.events.iter().map(|event| (event.selection.text(), event.triggers.as_slice())).collect()
    }

    #[test]
    fn an_event_that_is_named_already_only_gets_its_stack_traces() {
        let mut buffer = BufferPlan::new(TargetBuffer::Private);
        want(&mut buffer, "irq:entry", false);
        want(&mut buffer, "irq:exit", false);
        want(&mut buffer, "irq:entry", true);
        want(&mut buffer, "irq:entry", true);
        assert_eq!(events(&buffer), [("irq:entry", &["stacktrace".to_owned()][..]), ("irq:exit", &[])]);
        buffer.events[0].enable = false; // left out by -v, it comes back where it is wanted
        want_at(&mut buffer, "irq:entry", false, 0);
        assert_eq!(buffer.events.len(), 3);
        assert!(buffer.events[0].enable && buffer.events[0].triggers.is_empty());
    }
}

//! Starting to trace without recording: the plan is carried out and left so.
//! A recording that only shows what it would write.

use super::error::{PlanError, RecordError};
use super::languages::Armed;
use super::machine::MachineSettings;
use super::plan::{BufferPlan, Plan, TargetBuffer, Tasks};
use super::setup::{ResolvedEvents, SetUpBuffer, choose, no_functions, place, set_buffer, set_filters, set_up};
use super::task_lists::TaskLists;
use crate::base::units::Pid;
use crate::control::tracefs::{Error, EventName, FunctionList, Instance, Journal, WriteMode};

/// The fate of an instance's earlier settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It is switched off first: tracer, events, filters, pids, what the ring buffer holds; tracing is on afterwards.
    Start,
    /// It stays, but for what the plan names; tracing stays on or off.
    Set,
}

/// Carries out `buffers` for `tasks`, of which the command is `command`, and leaves tracing so, or, if anything fails, as it was. Gives warnings: which of
/// the patterns named nothing, if `allow_unknown`, and which filters some of their events cannot have.
///
/// # Errors
/// [`RecordError::Plan`], [`RecordError::Tracefs`].
pub fn start(
    mut journal: Journal,
    buffers: &[BufferPlan],
    (tasks, command): (&Tasks, Option<Pid>),
    machine: &MachineSettings,
    allow_unknown: bool,
    mode: Mode,
) -> Result<Vec<String>, RecordError> {
    if tasks.children && !tasks.is_restricted() {
        return Err(PlanError::NoParents.into());
    }
    machine.tracers.check(journal.tracefs())?;
    let traces_devices = buffers.iter().any(BufferPlan::traces_block_devices)
        || (mode == Mode::Set && journal.tracefs().top().current_tracer().is_ok_and(|running| running == "blk"));
    if !machine.block_devices.is_empty() && !traces_devices {
        return Err(PlanError::NoUse { option: "--device", of: "the blk tracer (-p blk)" }.into());
    }
    for buffer in buffers {
        let running = if mode == Mode::Set { running_tracer(&journal, buffer)? } else { None };
        buffer.functions.check(buffer.tracer.as_deref().or(running.as_deref()))?;
    }
    // The top level's events are those of every instance; a wrong name is found before anything is changed.
    let top = journal.tracefs().top();
    let existing = top.events()?;
    let mut unknown = Vec::new();
    let mut chosen = Vec::new();
    for buffer in buffers {
        chosen.push(choose(&top, allow_unknown, buffer, &existing, &mut unknown)?);
    }
    let unknown = unknown.iter().map(Error::to_string);
    let mut warnings: Vec<String> =
        unknown.chain(chosen.iter().flat_map(|chosen| chosen.warnings.iter().cloned())).collect();
    warnings.extend(no_functions(&journal, buffers, machine).map(str::to_owned));
    warnings.extend(machine.set(&mut journal, buffers)?);
    let mut lists = TaskLists::of(tasks, command);
    if lists.need_news() {
        let later = match lists.only_leave_out() {
            true => "threads that come later are not left out, nor are child processes",
            false => "threads that come later are not traced; -c traces them, and child processes",
        };
        warnings.push(later.to_owned());
    }
    let mut cleared = Vec::new();
    let mut started: Vec<(Instance, Armed)> = Vec::new();
    for (buffer, chosen) in buffers.iter().zip(chosen) {
        let tracefs = journal.tracefs().clone();
        let instance = place(&mut journal, &tracefs, &buffer.place)?;
        if mode == Mode::Start {
            journal.set_on(&instance, false)?;
            if !journal.created(&instance) {
                let removed = switch_off(&mut journal, &instance, &existing)?;
                let is_missed = |(event, _): &&(EventName, String)| {
                    chosen.events.get(event).is_some_and(|wish| wish.filter.is_none())
                };
                if let Some((event, filter)) = removed.iter().find(is_missed) {
                    warnings
                        .push(format!("the filter `{filter}` that {event} had is removed: `-f` after `-e` sets one"));
                }
                cleared.push(instance.clone());
            }
        }
        set_buffer(&mut journal, &instance, buffer)?;
        // The function tracer may be started later, where the kernel lets anybody touch its list.
        let later = mode == Mode::Set && instance.read("set_ftrace_pid").is_ok();
        lists.set(&mut journal, &instance, later || buffer.traces_functions())?;
        let armed = Armed::new(chosen.triggers(), &buffer.functions.commands);
        for list in events(&mut journal, &instance, chosen, buffer, machine)? {
            let all = if list == FunctionList::Filter || list == FunctionList::Graph {
                "all functions are traced"
            } else {
                "no function is left out"
            };
            warnings.push(format!("{} is empty now: {all}", list.file()));
        }
        armed.set_uncounted(&mut journal, &instance)?;
        started.push((instance, armed));
    }
    lists.complete(&mut journal)?;
    // Changes that cannot be undone come when all else has worked.
    for instance in &cleared {
        journal.act(instance, "trace", "", WriteMode::Truncate)?;
    }
    for (instance, armed) in &started {
        if mode == Mode::Start {
            journal.set_on(instance, true)?;
        }
        armed.set_counted(&mut journal, instance)?;
    }
    journal.keep()?;
    Ok(warnings)
}

/// The tracer that runs in the instance of `buffer`, if there are one and a list of functions for it.
fn running_tracer(journal: &Journal, buffer: &BufferPlan) -> Result<Option<String>, Error> {
    let tracefs = journal.tracefs();
    let instance = match &buffer.place {
        _ if buffer.functions.is_empty() => return Ok(None),
        TargetBuffer::Top => tracefs.top(),
        TargetBuffer::Instance(name) if tracefs.instances()?.contains(name) => tracefs.instance(name)?,
        TargetBuffer::Instance(_) | TargetBuffer::Private => return Ok(None),
    };
    Ok(Some(instance.current_tracer()?).filter(|tracer| tracer != "nop"))
}

/// Filters before events, so that nothing unfiltered gets in.
fn events(
    journal: &mut Journal,
    instance: &Instance,
    chosen: ResolvedEvents,
    buffer: &BufferPlan,
    machine: &MachineSettings,
) -> Result<Vec<FunctionList>, RecordError> {
    set_filters(journal, instance, &chosen)?;
    let names: Vec<EventName> = chosen.events.keys().cloned().collect();
    journal.enable_events(instance, &names)?;
    journal.disable_events(instance, &chosen.left_out)?;
    machine.set_tracer(journal, instance, buffer)
}

fn switch_off(
    journal: &mut Journal,
    instance: &Instance,
    existing: &[EventName],
) -> Result<Vec<(EventName, String)>, Error> {
    if instance.current_tracer().is_ok_and(|running| running == "blk") {
        journal.leave_block_devices()?;
    }
    journal.set(instance, "current_tracer", "nop")?;
    journal.disable_events(instance, &instance.enabled_events()?)?;
    for (list, file) in [(FunctionList::Filter, "set_ftrace_filter"), (FunctionList::NoTrace, "set_ftrace_notrace")] {
        let set = |line: &str| !line.is_empty() && !line.starts_with('#');
        if instance.read(file).is_ok_and(|text| text.lines().any(set)) {
            journal.set_functions(instance, list, &[String::new()])?;
        }
    }
    let mut removed = Vec::new();
    for event in existing {
        if let Ok(Some(filter)) = instance.filter(event) {
            journal.set_filter(instance, event, "0")?;
            removed.push((event.clone(), filter));
        }
    }
    if instance.has("set_event_pid") {
        // Set in any case: an empty list is in force as well.
        journal.set(instance, "set_event_pid", "")?;
    }
    Ok(removed)
}

/// The id that stands for the command's process, which there is not.
pub const COMMAND_PID: Pid = Pid(i32::MAX);
/// The id that stands for the recorder's own threads, which are not to be recorded.
pub const OWN_PID: Pid = Pid(i32::MAX - 1);

/// Carries `plan` out but for recording and running the command: `journal` writes to a
/// [`DryRun`](crate::control::tracefs::DryRun) and shows each write. `between` is called where the command would run.
///
/// # Errors
/// As [`record()`](super::record()), as far as can be known without writing.
pub fn dry_run(plan: &Plan, mut journal: Journal, between: impl FnOnce()) -> Result<(), RecordError> {
    plan.check()?;
    let top = journal.tracefs().top();
    let existing = top.events()?;
    let mut unknown = Vec::new();
    let mut buffers: Vec<SetUpBuffer> = Vec::new();
    plan.machine.set(&mut journal, &plan.buffers)?;
    let mut tasks = TaskLists::of(&plan.tasks, Some(COMMAND_PID));
    for (index, buffer) in plan.buffers.iter().enumerate() {
        let chosen = choose(&top, plan.allow_unknown_events, buffer, &existing, &mut unknown)?;
        if index > 0 || buffer.traces() {
            buffers.push(set_up(&mut journal, plan, buffer, chosen, index == 0, &mut tasks)?);
        }
    }
    if let (true, Some(main)) = (plan.date, buffers.first()) {
        super::wall_clock::show_writes(&mut journal, &main.clock.current)?;
    }
    if plan.leaves_itself_out() {
        for buffer in &mut buffers {
            buffer.leave_out(&mut journal, &[OWN_PID])?;
        }
    }
    for buffer in &buffers {
        buffer.switch_on(&mut journal)?;
    }
    between();
    for buffer in &buffers {
        buffer.switch_off(&mut journal)?;
    }
    if plan.keep {
        journal.keep()?
    } else {
        journal.undo()?
    }
    Ok(())
}

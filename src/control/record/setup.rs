//! A buffer's plan, carried out on tracefs: everything but switching it on.

use super::error::{PlanError, RecordError};
use super::languages::Armed;
use super::machine::MachineSettings;
use super::plan::{BufferPlan, Plan, TargetBuffer};
use super::task_lists::TaskLists;
use super::{languages, own};
use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::{CpuStats, Error, EventName, Feature, Instance, Journal, TraceClock, Tracefs};
use crate::file::trace_dat::{Coverage, CoveredTasks, EnabledEvents};
use crate::language::trigger::{FunctionAction, Trigger, TriggerAction};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

/// Fill level of a ring at which its reader is woken, in per cent. The kernel's default of 50 leaves a reader half a
/// ring of time, 2.5 ms for the default size under full load; 10 leaves it nine tenths.
const BUFFER_PERCENT: usize = 10;

/// The option of an instance that gets what applications write to the top level's `trace_marker` (since Linux 6.16).
const COPY_MARKERS: &str = "options/copy_trace_marker";
/// The sub-buffers of a ring that was made for this recording, in KiB. The work of the kernel per sub-buffer (a fresh one
/// for the ring, a pipe slot) costs with those of one page more than copying what is in them. Larger ones are worth
/// little, and the kernel calls allocations beyond this costly (`PAGE_ALLOC_COSTLY_ORDER`): they may fail.
const SUB_BUFFER_KIB: u64 = 32;
/// Least number of sub-buffers of a ring, or its reader could not be woken when it is [`BUFFER_PERCENT`] full.
const LEAST_SUB_BUFFERS: u64 = 32;

/// The settings of one buffer, event by event.
#[derive(Debug, Default)]
pub(super) struct ResolvedEvents {
    /// To be enabled, with filter and triggers.
    pub(super) events: BTreeMap<EventName, EventSettings>,
    /// To be disabled, in an instance that was there before.
    pub(super) left_out: Vec<EventName>,
    /// Events that a trigger or a function's command switches on.
    pub(super) targets: Vec<EventName>,
    /// Filters that some of their events cannot have.
    pub(super) warnings: Vec<String>,
}

impl ResolvedEvents {
    /// The same of `wanted` alone, without triggers.
    pub(super) fn only(&self, wanted: &[EventName]) -> Self {
        let plain = |settings: &EventSettings| EventSettings { triggers: Vec::new(), ..settings.clone() };
        let events = self.events.iter().filter(|(name, _)| wanted.contains(name));
        ResolvedEvents {
            events: events.map(|(name, settings)| (name.clone(), plain(settings))).collect(),
            ..ResolvedEvents::default()
        }
    }

    /// The triggers to set, each with its event.
    pub(super) fn triggers(&self) -> impl Iterator<Item = (&EventName, &String)> {
        self.events.iter().flat_map(|(event, wish)| wish.triggers.iter().map(move |trigger| (event, trigger)))
    }
}

/// The settings of one event.
#[derive(Clone, Debug, Default)]
pub(super) struct EventSettings {
    /// The filter came with a pattern that names this event alone.
    alone: bool,
    pub(super) filter: Option<String>,
    pub(super) triggers: Vec<String>,
}

/// The error that the kernel lacks the buffer's tracer, or monitors, if it does: their events are missing with them.
fn missing_tracer(top: &Instance, buffer: &BufferPlan) -> Result<Option<Error>, Error> {
    if buffer.monitors
        && let Err(error) = top.tracefs().require(&Feature::Monitors)
    {
        return Ok(Some(error));
    }
    let Some(tracer) = &buffer.tracer else { return Ok(None) };
    let wanted = Feature::Tracer(tracer.clone());
    let config = wanted.config();
    let is_there = config.is_none() || top.tracers()?.contains(tracer);
    Ok((!is_there).then(|| Error::NoFeature { what: wanted.name(), config }))
}

/// Finds the events that a buffer's patterns name. Patterns that name nothing go to `unknown` if that is allowed.
pub(super) fn choose(
    top: &Instance,
    allow_unknown: bool,
    buffer: &BufferPlan,
    existing: &[EventName],
    unknown: &mut Vec<Error>,
) -> Result<ResolvedEvents, RecordError> {
    let mut chosen = ResolvedEvents::default();
    for event in &buffer.events {
        let (found, missing) = event.selection.select_known(existing);
        let mut missing = missing.into_iter().map(Error::from);
        if allow_unknown {
            unknown.extend(missing);
        } else if let Some(error) = missing.next() {
            return Err(missing_tracer(top, buffer)?.unwrap_or(error).into());
        }
        if found.is_empty() {
            continue;
        }
        let checked = languages::check(top, event, &found, existing)?;
        let alone = found.len() == 1;
        for name in found {
            if !event.enable {
                chosen.events.remove(&name);
                chosen.left_out.push(name);
                continue;
            }
            let unfiltered = checked.unfiltered.contains(&name);
            let wish = chosen.events.entry(name).or_default();
            if let Some(filter) = checked.filter.as_ref().filter(|_| !unfiltered) {
                wish.filter = Some(filter.clone());
                wish.alone = alone;
            }
            wish.triggers.extend(checked.triggers.iter().cloned());
        }
        chosen.targets.extend(checked.targets);
        chosen.warnings.extend(checked.warnings);
    }
    // These are set when tracing is on: a wrong name is found before.
    for command in buffer.functions.commands.iter().filter(|command| command.count.is_some()) {
        top.tracefs().require_function(&command.function)?;
    }
    chosen.targets.extend(buffer.functions.commands.iter().filter_map(|command| match &command.action {
        FunctionAction::EnableEvent(target) => Some(languages::name(target)),
        _ => None,
    }));
    chosen.targets.retain(|target| existing.contains(target));
    Ok(chosen)
}

/// The way from the top level's `trace_marker` into a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markers {
    /// It is the top level, or one that is recorded beside another.
    Direct,
    /// The kernel copies them into the instance (since Linux 6.16), while it traces: a mark goes to one copy after the
    /// other, and one whose ring is off ends that (`tracing_mark_write`, kernel/trace/trace.c).
    Copied,
    /// This kernel cannot copy them.
    Missing,
}

/// A ring buffer that is set up.
#[derive(Debug)]
pub(super) struct SetUpBuffer {
    pub(super) instance: Instance,
    /// Its name in the file: empty for the main one.
    pub(super) name: String,
    pub(super) clock: TraceClock,
    pub(super) markers: Markers,
    pub(super) sub_buffer: usize,
    pub(super) kib_per_cpu: Option<u64>,
    /// Each CPU and its counters before the recording.
    pub(super) cpus: Vec<(CpuId, CpuStats)>,
    /// Events that an earlier use left in its rings. Reading takes them out, so they become part of the recording.
    pub(super) held_before: u64,
    /// Events that may be recorded: those of the plan, those that a trigger switches on, and those that an existing
    /// instance had enabled.
    pub(super) events: Vec<EventName>,
    /// Of these, the ones that stay enabled from begin to end.
    pub(super) enabled: EnabledEvents,
    /// The events of the plan.
    pub(super) wanted: Vec<EventName>,
    /// True if triggers or commands of the plan switch events or tracing.
    pub(super) switches: bool,
    /// The tasks and CPUs that it is restricted to.
    pub(super) coverage: Coverage,
    /// Threads that come are added to its lists of tasks.
    pub(super) is_told_of_threads: bool,
    /// Set when tracing starts.
    armed: Armed,
    /// Whole sub-buffers that are there when the kernel wakes a reader.
    pub(super) ready_at_wake: usize,
    /// The CPUs' counters are about what is stored.
    pub(super) counted: bool,
    /// Addresses of the kernel's text and data when the stored data was written, if that was before the last boot.
    pub(super) last_boot: Option<String>,
    /// Opened counters of one that vanishes when it was read; none of all others.
    counters: Vec<(CpuId, File)>,
    /// True if it records the text of a latency tracer: there is nothing to drain.
    pub(super) is_text: bool,
    /// The latency above which its latency tracer traces, in microseconds.
    latency_floor: u64,
    /// A trigger or a command on functions may swap its ring into the snapshot.
    pub(super) snapshots: bool,
    /// A tracer of functions runs in it.
    pub(super) traces_functions: bool,
    /// No other owner of its events' filters: it is a new instance.
    filters_are_free: bool,
    /// Some events have filters of the plan.
    has_filters: bool,
    /// Filters that leave out the recorder's threads, as they were set.
    own_filters: BTreeMap<EventName, String>,
}

/// Carries out what `plan` says of the machine and of its buffers, whose events are `chosen`; `tasks` are the plan's.
pub(super) fn set_up_all(
    journal: &mut Journal,
    plan: &Plan,
    chosen: Vec<ResolvedEvents>,
    tasks: &mut TaskLists,
    warn: impl FnMut(&str),
) -> Result<Vec<SetUpBuffer>, RecordError> {
    // A missing feature is found before anything is set for it.
    let top = journal.tracefs().top();
    for tracer in plan.buffers.iter().filter_map(|buffer| buffer.tracer.as_deref()) {
        journal.require_tracer(&top, tracer)?;
    }
    plan.machine.set(journal, &plan.buffers)?.iter().map(String::as_str).for_each(warn);
    let mut buffers = Vec::new();
    for (index, (buffer, chosen)) in plan.buffers.iter().zip(chosen).enumerate() {
        // The main buffer may have nothing to record when there are others. With guests it is what the file holds of here.
        let alone = plan.buffers.len() == 1 && !plan.guests.is_empty();
        if index > 0 || buffer.traces() || alone {
            buffers.push(set_up(journal, plan, buffer, chosen, index == 0, tasks)?);
        }
    }
    Ok(buffers)
}

/// Carries out `buffer`; `main` is the one that is the file's top buffer.
pub(super) fn set_up(
    journal: &mut Journal,
    plan: &Plan,
    buffer: &BufferPlan,
    chosen: ResolvedEvents,
    main: bool,
    tasks: &mut TaskLists,
) -> Result<SetUpBuffer, RecordError> {
    let tracefs = journal.tracefs().clone();
    let instance = place_of_tracer(journal, &tracefs, buffer)?;
    if let Some(tracer) = &buffer.tracer {
        journal.require_tracer(&instance, tracer)?;
    }
    let created = journal.created(&instance);
    journal.remember_on(&instance)?;
    if created {
        journal.set_on(&instance, false)?;
    }
    if created && buffer.sub_buffer.is_none() {
        enlarge_sub_buffers(journal, &instance, buffer)?;
    }
    set_buffer(journal, &instance, buffer)?;
    journal.set_buffer_percent(&instance, BUFFER_PERCENT)?;
    let markers = match instance.name() {
        Some(_) if main && instance.has(COPY_MARKERS) => Markers::Copied,
        Some(_) if main => Markers::Missing,
        _ => Markers::Direct,
    };
    let (is_told_of_threads, of_command) = (tasks.need_news(), tasks.are_of_command());
    let tasks = tasks.set(journal, &instance, buffer.traces_functions())?;
    // An instance that exists is on: what is enabled from here on is not from before.
    let earlier = if created { 0 } else { entries(&cpu_stats(&instance)?) };
    set_filters(journal, &instance, &chosen)?;
    let armed = Armed::new(chosen.triggers(), &buffer.functions.commands);
    let names: Vec<EventName> = chosen.events.keys().cloned().collect();
    journal.enable_events(&instance, &names)?;
    plan.machine.set_tracer(journal, &instance, buffer)?;
    let is_snapshot = |text: &str| text.parse().is_ok_and(|t: Trigger| t.action == TriggerAction::Snapshot);
    let snapshots = chosen.triggers().any(|(_, trigger)| is_snapshot(trigger))
        || buffer.functions.commands.iter().any(|command| command.action == FunctionAction::Snapshot);
    let has_filters = chosen.events.values().any(|wish| wish.filter.is_some());
    let switches = chosen.triggers().any(|(_, trigger)| trigger_switches(trigger))
        || buffer.functions.commands.iter().any(|command| command_switches(&command.action));
    let filtered = chosen.events.iter().map(|(event, wish)| (event.clone(), wish.filter.clone()));
    let enabled = EnabledEvents { events: if switches { Vec::new() } else { filtered.collect() } };
    let mut events = names.clone();
    events.extend(chosen.targets);
    if !created {
        journal.disable_events(&instance, &chosen.left_out)?;
        events.extend(instance.enabled_events()?);
    }
    events.sort_unstable();
    events.dedup();
    let clock = instance.trace_clock()?;
    let sub_buffer = instance.sub_buffer_size()?;
    let kib_per_cpu = instance.buffer_size()?.kib();
    let sub_buffers = kib_per_cpu.map_or(0, |kib| kib as usize * 1024 / sub_buffer);
    let cpus = cpu_stats(&instance)?;
    let mask = instance.read("tracing_cpumask").unwrap_or_default();
    let covered = if mask.is_empty() { None } else { Coverage::cpus_of_mask(&mask, cpus.iter().map(|(cpu, _)| *cpu)) };
    // What an existing instance is restricted to besides is not known.
    let tasks = Some(tasks).filter(|tasks| created || *tasks != CoveredTasks::All);
    Ok(SetUpBuffer {
        name: if main { String::new() } else { instance.name().unwrap_or_default().to_owned() },
        clock,
        markers,
        held_before: earlier.min(entries(&cpus)), // a tracer that was set has emptied the rings
        sub_buffer,
        kib_per_cpu,
        cpus,
        events,
        wanted: names,
        switches,
        enabled,
        coverage: Coverage { tasks, of_command: of_command && created, cpus: covered, ..Coverage::default() },
        is_told_of_threads,
        armed,
        ready_at_wake: (sub_buffers * BUFFER_PERCENT / 100).max(1),
        counted: true,
        last_boot: None,
        counters: Vec::new(),
        is_text: buffer.is_of_latency_tracer(),
        latency_floor: plan.machine.latency_floor.unwrap_or(0),
        snapshots,
        traces_functions: buffer.traces_functions(),
        filters_are_free: created,
        has_filters,
        own_filters: BTreeMap::new(),
        instance,
    })
}

/// True if a trigger switches events or tracing on or off.
fn trigger_switches(trigger: &str) -> bool {
    !trigger.parse().is_ok_and(|trigger: Trigger| {
        use TriggerAction as Action;
        matches!(
            trigger.action,
            Action::Snapshot | Action::StackTrace | Action::Hist(_) | Action::EnableHist(_) | Action::DisableHist(_)
        )
    })
}

/// True if a function's command does.
fn command_switches(action: &FunctionAction) -> bool {
    use FunctionAction as Action;
    matches!(action, Action::TraceOn | Action::TraceOff | Action::EnableEvent(_) | Action::DisableEvent(_))
}

/// The counters of the rings now.
fn cpu_stats(instance: &Instance) -> Result<Vec<(CpuId, CpuStats)>, Error> {
    instance.cpus()?.into_iter().map(|cpu| Ok((cpu, instance.cpu_stats(cpu)?))).collect()
}

/// Number of events in them.
fn entries(cpus: &[(CpuId, CpuStats)]) -> u64 {
    cpus.iter().map(|(_, stats)| stats.entries).sum()
}

/// Gives a new instance larger sub-buffers (since Linux 6.8), where its ring has room for enough of them.
fn enlarge_sub_buffers(journal: &mut Journal, instance: &Instance, buffer: &BufferPlan) -> Result<(), Error> {
    if !instance.has("buffer_subbuf_size_kb") {
        return Ok(());
    }
    let ring = match buffer.size {
        Some(size) => Some(size.0 >> 10),
        None => instance.buffer_size()?.kib(),
    };
    let kib = largest_sub_buffer(ring.unwrap_or(0));
    if kib << 10 > instance.sub_buffer_size()? as u64 {
        // A kernel that has no room for them goes on with its own.
        let _ = journal.set_sub_buffer_size(instance, kib);
    }
    Ok(())
}

/// The sub-buffer size for a ring of `ring` KiB: a power of two, all in KiB.
fn largest_sub_buffer(ring: u64) -> u64 {
    let most = (ring / LEAST_SUB_BUFFERS).clamp(1, SUB_BUFFER_KIB);
    1 << most.ilog2()
}

/// Sets a buffer's clock, size and options.
pub(super) fn set_buffer(journal: &mut Journal, instance: &Instance, buffer: &BufferPlan) -> Result<(), RecordError> {
    if let Some(clock) = &buffer.clock {
        let there = instance.trace_clock()?;
        if !there.available.contains(clock) {
            return Err(PlanError::NoClock { name: clock.clone(), available: there.available }.into());
        }
        journal.set_clock(instance, clock)?;
    }
    if let Some(size) = buffer.sub_buffer {
        journal.set_sub_buffer_size(instance, size.0.div_ceil(1024))?;
    }
    if let Some(asked) = buffer.syscall_bytes {
        let granted = journal.set_syscall_bytes(instance, asked)?;
        if granted < asked {
            return Err(PlanError::SyscallBytes { asked, granted }.into());
        }
    }
    if let Some(mask) = &buffer.cpu_mask {
        journal.set_cpu_mask(instance, mask)?;
    }
    if let Some(size) = buffer.size {
        journal.set_buffer_size(instance, size.0.div_ceil(1024))?;
    }
    for (cpu, size) in &buffer.cpu_sizes {
        journal.set_cpu_buffer_size(instance, *cpu, size.0.div_ceil(1024))?;
    }
    for (name, on) in &buffer.options {
        // `trace_options` has those of other tracers than the present one only if it is theirs.
        if !instance.has(&format!("options/{name}")) {
            journal.tracefs().explain_missing_option(name)?;
            let available = instance.list("options")?.into_iter().map(|(option, _)| option).collect();
            let name = if *on { name.clone() } else { format!("no{name}") };
            return Err(PlanError::NoOption { name, available }.into());
        }
        journal.set_option(instance, name, *on)?;
    }
    Ok(())
}

/// The reason that tracers of functions find nothing, if they do not on this machine.
pub(super) fn no_functions(
    journal: &Journal,
    buffers: &[BufferPlan],
    machine: &MachineSettings,
) -> Option<&'static str> {
    let asked = machine.ftrace.is_none() && buffers.iter().any(BufferPlan::is_of_functions);
    (asked && journal.tracefs().function_tracing_is_off()).then_some(
        "tracing of functions is switched off for the whole machine (kernel.ftrace_enabled is 0), so that there will be \
         none; `--ftrace` switches it on",
    )
}

/// Sets the filters. One that came with a pattern for several events applies to those that have its fields, as the
/// kernel does it for a whole system; it must apply to one of them at least.
pub(super) fn set_filters(journal: &mut Journal, instance: &Instance, chosen: &ResolvedEvents) -> Result<(), Error> {
    let mut applied: BTreeSet<&str> = BTreeSet::new();
    let mut refused: BTreeMap<&str, Error> = BTreeMap::new();
    for (event, wish) in &chosen.events {
        let Some(filter) = &wish.filter else { continue };
        match journal.set_filter(instance, event, filter) {
            Ok(()) => drop(applied.insert(filter)),
            Err(error) if !wish.alone && lacks_field(&error) => {
                journal.set_filter(instance, event, "0")?; // the refused text stays otherwise
                refused.entry(filter).or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    match refused.into_iter().find(|(filter, _)| !applied.contains(filter)) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

fn lacks_field(error: &Error) -> bool {
    matches!(error, Error::File { kernel: Some(entry), .. } if entry.text == "Field not found")
}

/// The instance of a buffer to record. Some tracers work at the top level only; then that is where a private recording
/// takes place.
fn place_of_tracer(journal: &mut Journal, tracefs: &Tracefs, buffer: &BufferPlan) -> Result<Instance, Error> {
    let instance = place(journal, tracefs, &buffer.place)?;
    let Some(tracer) = buffer.tracer.as_ref().filter(|_| buffer.place == TargetBuffer::Private) else {
        return Ok(instance);
    };
    let top = tracefs.top();
    if instance.tracers()?.contains(tracer) || !top.tracers()?.contains(tracer) {
        return Ok(instance);
    }
    if let Some(name) = instance.name() {
        journal.remove_instance(name)?;
    }
    Ok(top)
}

/// The instance that a plan names, made if there is none.
pub(super) fn place(journal: &mut Journal, tracefs: &Tracefs, place: &TargetBuffer) -> Result<Instance, Error> {
    match place {
        TargetBuffer::Top => Ok(tracefs.top()),
        TargetBuffer::Private => journal.create_own_instance(&format!("rtrace-{}", std::process::id())),
        TargetBuffer::Instance(name) if tracefs.instances()?.contains(name) => {
            let instance = tracefs.instance(name)?;
            instance.require_writable().map(|()| instance)
        }
        TargetBuffer::Instance(name) => journal.create_instance(name),
    }
}

/// The counters of an instance that the kernel removes once it was read out. What is open keeps it, and can be read to
/// the end; its paths no longer lead there.
fn open_counters(instance: &Instance) -> Result<Vec<(CpuId, File)>, Error> {
    if !instance.is_read_only() {
        return Ok(Vec::new());
    }
    instance.cpus()?.into_iter().map(|cpu| Ok((cpu, instance.open(&Instance::cpu_file(cpu, "stats"))?))).collect()
}

impl SetUpBuffer {
    /// The text of a CPU's counters now; `None` if they cannot be read.
    pub(super) fn counters(&self, cpu: CpuId) -> Option<String> {
        match self.counters.iter().find(|(of, _)| *of == cpu) {
            Some((_, file)) => std::io::read_to_string(file).ok(),
            None => self.instance.cpu_stats_text(cpu).ok(),
        }
    }

    /// An instance as it is: nothing is set, every event may be in it.
    pub(super) fn as_it_is(instance: &Instance, name: &str) -> Result<Self, Error> {
        let cpus = instance.cpus()?.into_iter().map(|cpu| Ok((cpu, instance.cpu_stats(cpu)?)));
        Ok(SetUpBuffer {
            name: name.to_owned(),
            clock: instance.trace_clock()?,
            markers: Markers::Direct,
            sub_buffer: instance.sub_buffer_size()?,
            kib_per_cpu: instance.buffer_size()?.kib(),
            cpus: cpus.collect::<Result<_, Error>>()?,
            events: Vec::new(),
            wanted: Vec::new(),
            switches: false,
            enabled: EnabledEvents::default(),
            coverage: Coverage::default(),
            is_told_of_threads: false,
            armed: Armed::default(),
            ready_at_wake: 1,
            counted: true,
            last_boot: instance.last_boot()?,
            counters: open_counters(instance)?,
            held_before: 0,
            is_text: false,
            latency_floor: 0,
            snapshots: false,
            traces_functions: false,
            filters_are_free: false,
            has_filters: false,
            own_filters: BTreeMap::new(),
            instance: instance.clone(),
        })
    }

    /// Leaves out what the tasks `tids` do, the recorder's threads.
    pub(super) fn leave_out(&mut self, journal: &mut Journal, tids: &[Pid]) -> Result<(), Error> {
        self.coverage.left_out = tids.to_vec();
        let filtered = self.filters_are_free && self.filter_out(journal, tids);
        if !filtered {
            self.coverage.left_out_interrupts = journal.leave_out(&self.instance, tids)?;
        }
        if self.traces_functions {
            journal.leave_out_functions(&self.instance, tids)?;
        }
        Ok(())
    }

    /// Leaves out what the tasks `tids` do by filters; false if they cannot be set on every event. Those that were set
    /// then pass no less than what else leaves these tasks out.
    fn filter_out(&mut self, journal: &mut Journal, tids: &[Pid]) -> bool {
        for event in self.events.iter().filter(|event| !own::keeps_all(event)) {
            let Some(others) = own::passing_others(event, tids) else { return false };
            let wanted = if self.has_filters { self.instance.filter(event) } else { Ok(None) };
            let filter = match wanted {
                Ok(None) => others,
                Ok(Some(wanted)) => format!("({wanted}) && ({others})"),
                Err(_) => return false,
            };
            if journal.set_filter(&self.instance, event, &filter).is_err() {
                return false;
            }
            self.own_filters.insert(event.clone(), filter);
        }
        true
    }

    /// The filter that an event of the plan has now, `none` if it has none, as far as that is known without asking the kernel.
    pub(super) fn filter_of(&self, event: &EventName) -> Option<String> {
        let none = || (self.filters_are_free && !self.has_filters).then(|| "none".to_owned());
        self.own_filters.get(event).cloned().or_else(none)
    }

    /// Switches it on, with its triggers and counted commands.
    pub(super) fn switch_on(&self, journal: &mut Journal) -> Result<(), Error> {
        // In a ring that is on already a trigger may act at once. To switch the ring on after a `traceoff` would undo it, and
        // the function tracer empties what is switched on (`function_trace_start`, kernel/trace/trace_functions.c).
        let already = self.instance.is_on()?;
        if !already {
            self.armed.set_uncounted(journal, &self.instance)?;
        }
        journal.set_on(&self.instance, true)?;
        if self.markers == Markers::Copied {
            journal.set(&self.instance, COPY_MARKERS, "1")?;
        }
        if already {
            self.armed.set_uncounted(journal, &self.instance)?;
        }
        self.armed.set_counted(journal, &self.instance)?;
        if self.is_text && self.instance.has("tracing_max_latency") {
            // The tracer watches from the moment it is set, whether its ring is on or off. A longer latency than any that
            // will come may have passed, and nothing of it is in the ring.
            journal.set_max_latency(&self.instance, self.latency_floor)?;
        }
        Ok(())
    }

    /// Switches it off; what is in its rings stays.
    pub(super) fn switch_off(&self, journal: &mut Journal) -> Result<(), Error> {
        let copied = match self.markers {
            Markers::Copied => journal.set(&self.instance, COPY_MARKERS, "0").map(drop),
            Markers::Direct | Markers::Missing => Ok(()),
        };
        // It is put back last (`remember_on`): events are off by then, and none is left in the ring.
        journal.stop_for_good(&self.instance).and(copied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_enough_sub_buffers() {
        let sizes = [0, 4, 63, 128, 256, 512, 1408, 1410, 65536].map(largest_sub_buffer);
        assert_eq!(sizes, [1, 1, 1, 4, 8, 16, 32, 32, 32]);
    }
}

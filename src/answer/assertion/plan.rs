//! The measures that quantities need.

use super::ast::{DurationSource, EventsExpr, HistogramQuantity, Latency, Quantity, Reducer};
use super::conditions;
use super::conditions::{Conditions, Names};
use super::measure::Measure;
use crate::answer::analysis::{
    CellPlan, Chosen, EntryFields, EventCount, EventEntries, Extent, Faults, FunctionTimes, HandlerKind, Io, Irqs,
    KeyPart, Locks, Memory, Pairs, Sched, Syscalls, TaskSet,
};
use crate::base::abi::Abi;
use crate::base::syntax::{Diagnostic, Span, Spanned};
use crate::base::units::{EventId, Pid};
use crate::file::trace_dat::Cgroups;
use crate::kernel::events::{EventName, EventSelection, glob_matches};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use crate::language::filter::FilterProgram;
use std::collections::HashMap;
use std::sync::Arc;

/// A text and its name in errors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'t> {
    pub(super) label: &'static str,
    pub(super) text: &'t str,
}

/// The measure that a quantity needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Need {
    /// Index of the measure.
    pub(super) measure: Option<usize>,
    /// Why it cannot be measured.
    pub(super) missing: Option<String>,
    /// The events it is about.
    pub(super) events: Vec<(EventName, EventId)>,
    /// Events any one of which, of whatever task, says that such events were recorded.
    pub(super) ends: Vec<EventId>,
    /// True if it is about tasks that the recording is restricted to: those of cgroups.
    pub(super) is_followed: bool,
}

/// Makes the measures that quantities need, each once.
pub(super) struct Planner<'f, 'a> {
    formats: &'f [&'f EventFormat],
    abi: Abi,
    comms: &'a Comms,
    /// Cells to keep everything by too.
    cells: Option<CellPlan>,
    /// The system calls of the recording's architecture; none if that is not known.
    syscalls: Vec<String>,
    cgroups: Option<Arc<Cgroups>>,
    pub(super) measures: Vec<Measure<'a>>,
    /// Measures that any number of quantities share, by name.
    shared: HashMap<String, usize>,
}

/// The types of some events, each with its filter.
struct Types<'f> {
    formats: Vec<&'f EventFormat>,
    programs: HashMap<EventId, Arc<FilterProgram>>,
}

/// The two events of a pair, and what they are called.
pub(super) struct PairSides<'a> {
    pub(super) begin: Chosen<'a, Vec<KeyPart>>,
    pub(super) end: Chosen<'a, Vec<KeyPart>>,
    pub(super) events: [Vec<(EventName, EventId)>; 2],
}

impl<'f, 'a> Planner<'f, 'a> {
    pub(super) fn new(formats: &'f [&'f EventFormat], abi: Abi, comms: &'a Comms, cells: Option<CellPlan>) -> Self {
        let (syscalls, measures, shared) = (Vec::new(), Vec::new(), HashMap::new());
        Planner { formats, abi, comms, cells, syscalls, cgroups: None, measures, shared }
    }

    /// Refuses names that the recording's architecture does not have, and knows the cgroups of its tasks.
    pub(super) fn with_names(mut self, names: &dyn Names) -> Self {
        self.syscalls = names.syscalls();
        self.cgroups = names.cgroups();
        self
    }

    /// The need of a quantity of the text `of`; what is beyond `limit` (nanoseconds or events) is noted.
    pub(super) fn need(&mut self, quantity: &Spanned<Quantity>, of: Named<'_>, limit: u64) -> Result<Need, Diagnostic> {
        let Spanned { value: quantity, span } = quantity;
        quantity.must_be_a_call(&self.syscalls, of, *span)?;
        if let Some(missing) = quantity.tasks().and_then(|tasks| conditions::unknown(tasks, self.cgroups.as_ref())) {
            return Ok(Need { missing: Some(missing), ..Need::default() });
        }
        let set = quantity.tasks().and_then(|tasks| conditions::set_of(tasks, self.cgroups.as_ref()));
        let is_followed = set.is_some_and(|set| set.is_followed());
        Ok(Need { is_followed, ..self.measured(quantity, of, limit)? })
    }

    fn measured(&mut self, quantity: &Quantity, of: Named<'_>, limit: u64) -> Result<Need, Diagnostic> {
        match quantity {
            Quantity::Lost | Quantity::Duration => Ok(Need::default()),
            Quantity::Count(events) | Quantity::Rate(events) => {
                let limit = if matches!(quantity, Quantity::Rate(_)) { u64::MAX } else { limit };
                self.count(events, of, limit)
            }
            Quantity::Reduced(by, DurationSource::Latency(latency)) => {
                let limit = if *by == Reducer::Count { u64::MAX } else { limit };
                self.pairs(latency, of, limit)
            }
            Quantity::Reduced(_, DurationSource::Hist(hist)) => self.hist(hist, of),
            Quantity::Faults(task) => {
                let in_cgroups = conditions::set_of(task, self.cgroups.as_ref());
                let key = in_cgroups.as_ref().map_or_else(|| "faults".to_owned(), |_| format!("faults {task}"));
                let tasks = in_cgroups.map_or(TaskSet::All, TaskSet::InCgroups);
                Ok(self.shared(&key, "no page faults were recorded: `rtrace record --for faults` does", |planner| {
                    let faults = Faults::new(planner.formats.iter().copied(), planner.abi, tasks);
                    faults.has_events().then(|| Measure::Faults(Box::new(faults)))
                }))
            }
            Quantity::Live(_) => Ok(self.memory()),
            Quantity::Reduced(_, source) | Quantity::Errors(source) => Ok(self.analysis(source)),
            Quantity::Busy => Ok(self.sched("")),
            Quantity::Run(task) => Ok(self.sched(task)),
        }
    }

    /// The same, kept by cell if everything is.
    fn celled<T>(&self, one: T, in_cells: fn(T, CellPlan) -> T) -> T {
        match self.cells {
            Some(plan) => in_cells(one, plan),
            None => one,
        }
    }

    fn add(&mut self, measure: Measure<'a>) -> Option<usize> {
        self.measures.push(measure);
        Some(self.measures.len().saturating_sub(1))
    }

    fn types(&self, events: &EventsExpr, of: Named<'_>) -> Result<Result<Types<'f>, String>, Diagnostic> {
        let mut names: Vec<EventName> =
            self.formats.iter().map(|format| EventName::new(&format.system, &format.name)).collect();
        names.sort_unstable();
        let selection = EventSelection::new(events.names.value.clone());
        let selected = match selection.select(&names) {
            Ok(selected) => selected,
            Err(none) if none.nearest.is_empty() => {
                let call = events.names.value.split_once("sys_enter_").map(|(_, call)| call);
                let calls = call.filter(|_| names.iter().any(|name| name.system == "raw_syscalls"));
                let calls = calls.map(|call| format!(", but system calls were: `count(syscall({call}))`"));
                return Ok(Err(format!("{none}: it was not recorded{}", calls.unwrap_or_default())));
            }
            Err(none) => return Ok(Err(format!("{none}: it was not recorded, but {} was", none.nearest.join(", ")))),
        };
        let is_selected = |format: &&&EventFormat| {
            selected.iter().any(|name| name.system == format.system && name.name == format.name)
        };
        let formats: Vec<&EventFormat> = self.formats.iter().filter(is_selected).copied().collect();
        let mut programs = HashMap::new();
        if let Some(filter) = &events.filter {
            for format in &formats {
                let program = filter.value.compile(format, self.abi, &());
                let program = program.map_err(|error| error.within(of.label, of.text, filter.span.start))?;
                programs.insert(format.id, Arc::new(program));
            }
        }
        Ok(Ok(Types { formats, programs }))
    }

    fn count(&mut self, events: &EventsExpr, of: Named<'_>, limit: u64) -> Result<Need, Diagnostic> {
        let types = match self.types(events, of)? {
            Ok(types) => types,
            Err(missing) => return Ok(Need { missing: Some(missing), ..Need::default() }),
        };
        let chosen = self.chosen(&types, |_| ());
        let count = self.celled(EventCount::new(chosen, limit), EventCount::in_cells);
        let measure = self.add(Measure::Count(Box::new(count)));
        Ok(Need { measure, events: types.names(), ..Need::default() })
    }

    pub(super) fn pairs(&mut self, latency: &Latency, of: Named<'_>, limit: u64) -> Result<Need, Diagnostic> {
        let PairSides { begin, end, events } = match self.sides(latency, of)? {
            Ok(sides) => sides,
            Err(missing) => return Ok(Need { missing: Some(missing), ..Need::default() }),
        };
        let pairs = self.celled(Pairs::new(begin, end, limit), Pairs::in_cells);
        let measure = self.add(Measure::Pairs(Box::new(pairs)));
        Ok(Need { measure, events: events.concat(), ..Need::default() })
    }

    /// The events of a pair, each with the parts of its key; or why there are none.
    pub(super) fn sides(&self, latency: &Latency, of: Named<'_>) -> Result<Result<PairSides<'a>, String>, Diagnostic> {
        let (from, to) = match (self.types(&latency.from, of)?, self.types(&latency.to, of)?) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(missing), _) | (_, Err(missing)) => return Ok(Err(missing)),
        };
        let side = |types: &Types<'f>, keys: Vec<&Spanned<String>>| {
            let mut parts: HashMap<EventId, Vec<KeyPart>> = HashMap::new();
            for format in &types.formats {
                let keys = keys.iter().map(|key| self.key_part(format, key, of)).collect::<Result<_, _>>()?;
                parts.insert(format.id, keys);
            }
            Ok(self.chosen(types, |format| parts.get(&format.id).cloned().unwrap_or_default()))
        };
        let begin = side(&from, latency.keys.iter().map(|(key, _)| key).collect())?;
        let end = side(&to, latency.keys.iter().map(|(_, key)| key).collect())?;
        Ok(Ok(PairSides { begin, end, events: [from.names(), to.names()] }))
    }

    fn chosen<M: Clone>(&self, types: &Types<'_>, meaning: impl Fn(&EventFormat) -> M) -> Chosen<'a, M> {
        Chosen::new(self.formats.iter().copied(), self.abi, self.comms, |format| {
            let selected = types.formats.iter().any(|one| one.id == format.id);
            selected.then(|| (types.programs.get(&format.id).cloned(), meaning(format)))
        })
    }

    /// The states of tasks, told apart by cgroup if `task` names some.
    fn sched(&mut self, task: &str) -> Need {
        let switch = self.formats.iter().find(|format| format.system == "sched" && format.name == "sched_switch");
        let events = switch.map(|format| (EventName::new(&format.system, &format.name), format.id));
        let cgroups = self.cgroups.clone().filter(|_| conditions::glob_of(task).is_some());
        let key = if cgroups.is_some() { "sched by cgroup" } else { "sched" };
        let need = self.shared(key, "sched:sched_switch was not recorded", |planner| {
            let sched = Sched::new(planner.formats.iter().copied(), planner.abi);
            let sched = match cgroups {
                Some(cgroups) => sched.by_cgroup(cgroups),
                None => sched,
            };
            sched.has_events().then(|| Measure::Sched(Box::new(planner.celled(sched, Sched::in_cells))))
        });
        Need { events: events.into_iter().collect(), ..need }
    }

    fn analysis(&mut self, source: &DurationSource) -> Need {
        let (source, task) = source.parts();
        let tasks = self.tasks(task);
        let need = match source {
            // These have measures of their own.
            DurationSource::Latency(_) | DurationSource::Hist(_) | DurationSource::OfTask(..) => Need::default(),
            DurationSource::Wait(task) | DurationSource::Preempted(task) => self.sched(task),
            DurationSource::Syscall(_) => self.shared(
                &format!("syscall {task}"),
                "no system calls were recorded: `rtrace record --for syscalls` does",
                |planner| {
                    let syscalls = Syscalls::new(planner.formats.iter().copied(), planner.abi).of(tasks);
                    syscalls
                        .has_events()
                        .then(|| Measure::Syscalls(Box::new(planner.celled(syscalls, Syscalls::in_cells))))
                },
            ),
            DurationSource::Irq(_) => self.shared(
                &format!("irq {task}"),
                "no interrupts were recorded: `rtrace record --for irq` does",
                |planner| {
                    let irqs = Irqs::new(planner.formats.iter().copied(), planner.abi).of(tasks);
                    irqs.has_events().then(|| Measure::Irqs(Box::new(planner.celled(irqs, Irqs::in_cells))))
                },
            ),
            DurationSource::Io(_) => self.shared(
                &format!("io {task}"),
                "block:block_rq_complete was not recorded: `rtrace record --for io` does",
                |planner| {
                    let io = Io::new(planner.formats.iter().copied(), planner.abi).of(tasks);
                    io.has_events().then(|| Measure::Io(Box::new(planner.celled(io, Io::in_cells))))
                },
            ),
            DurationSource::Function(_) => self.shared(
                "function",
                "no calls of function_graph were recorded: `rtrace record -p function_graph` does",
                |planner| {
                    let functions = FunctionTimes::new(planner.formats.iter().copied(), planner.abi, TaskSet::All);
                    functions.has_events().then(|| Measure::Functions(Box::new(functions)))
                },
            ),
            DurationSource::Lock(_) => {
                self.shared(&format!("lock {task}"), "lock:contention_begin was not recorded", |planner| {
                    let locks = Locks::new(planner.formats.iter().copied(), planner.abi, tasks);
                    locks.has_events().then(|| Measure::Locks(Box::new(locks)))
                })
            }
            DurationSource::Life(_) => self.memory(),
        };
        // That a task has none of them is known where others have some.
        let ends = if task.is_empty() { Vec::new() } else { self.ends(source) };
        Need { ends, ..need }
    }

    /// The tasks that cgroups, a name (a glob) or a pid stand for, and with a name those that have none: they may be among them.
    fn tasks(&self, task: &str) -> TaskSet {
        if let Some(cgroups) = conditions::set_of(task, self.cgroups.as_ref()) {
            return TaskSet::InCgroups(cgroups);
        }
        match (task, task.parse().ok().map(Pid)) {
            ("", _) => TaskSet::All,
            (_, Some(pid)) => [pid].into_iter().collect(),
            (name, None) => {
                let is = |pid: &Pid| glob_matches(name, &String::from_utf8_lossy(self.comms.name(*pid)));
                let others = self.comms.pids().chain([Pid(0)]).filter(|pid| !is(pid));
                TaskSet::Except(Arc::new(others.collect()))
            }
        }
    }

    /// The events that end durations of a source.
    fn ends(&self, source: &DurationSource) -> Vec<EventId> {
        let is_end = |format: &&&EventFormat| {
            let (system, event) = (format.system.as_str(), format.name.as_str());
            match source {
                DurationSource::Syscall(name) => {
                    let of_call = |call: &str| name.is_empty() || glob_matches(name, call);
                    system == "raw_syscalls" && event == "sys_exit"
                        || system == "syscalls" && event.strip_prefix("sys_exit_").is_some_and(of_call)
                }
                DurationSource::Irq(pattern) => {
                    let kind = pattern.split(':').next().unwrap_or_default();
                    HandlerKind::of_exit(system, event)
                        .is_some_and(|one| kind.is_empty() || glob_matches(kind, one.name()))
                }
                DurationSource::Io(_) => system == "block" && event == "block_rq_complete",
                DurationSource::Lock(_) => system == "lock" && event == "contention_end",
                _ => false,
            }
        };
        self.formats.iter().filter(is_end).map(|format| format.id).collect()
    }

    fn memory(&mut self) -> Need {
        self.shared("memory", "no allocations of memory were recorded: `rtrace record --for memory` does", |planner| {
            let memory = Memory::new(planner.formats.iter().copied(), planner.abi);
            memory.has_events().then(|| Measure::Memory(Box::new(memory)))
        })
    }

    fn hist(&mut self, hist: &HistogramQuantity, of: Named<'_>) -> Result<Need, Diagnostic> {
        let types = match self.types(&hist.events, of)? {
            Ok(types) => types,
            Err(missing) => return Ok(Need { missing: Some(missing), ..Need::default() }),
        };
        let mut parts: HashMap<EventId, EntryFields> = HashMap::new();
        for format in &types.formats {
            let keys = hist.keys.iter().map(|key| self.key_part(format, key, of)).collect::<Result<_, _>>()?;
            let fields = match &hist.value {
                None => EntryFields::counted(keys),
                Some(value) => EntryFields::summed(keys, format, &value.value)
                    .ok_or_else(|| no_field(format, &value.value, value.span, "number", of))?,
            };
            parts.insert(format.id, fields);
        }
        let chosen = self.chosen(&types, |format| parts.get(&format.id).cloned().unwrap_or_default());
        let measure = self.add(Measure::Hist(Box::new(EventEntries::new(chosen))));
        Ok(Need { measure, events: types.names(), ..Need::default() })
    }

    fn key_part(&self, format: &EventFormat, key: &Spanned<String>, of: Named<'_>) -> Result<KeyPart, Diagnostic> {
        KeyPart::of(format, &key.value).ok_or_else(|| no_field(format, &key.value, key.span, "number or text", of))
    }

    fn shared(&mut self, name: &str, missing: &str, make: impl FnOnce(&Self) -> Option<Measure<'a>>) -> Need {
        if let Some(known) = self.shared.get(name) {
            return Need { measure: Some(*known), ..Need::default() };
        }
        match make(self) {
            Some(measure) => {
                let measure = self.add(measure);
                self.shared.extend(measure.map(|at| (name.to_owned(), at)));
                Need { measure, ..Need::default() }
            }
            None => Need { missing: Some(missing.to_owned()), ..Need::default() },
        }
    }
}

/// The error that `format` has no such `kind` of field to be used.
fn no_field(format: &EventFormat, field: &str, span: Span, kind: &str, of: Named<'_>) -> Diagnostic {
    let fields = format.fields.iter().map(|field| field.name.as_str());
    let event = EventName::new(&format.system, &format.name);
    // Of a switch, the task that comes: it is what was woken before.
    let prefixed = || {
        let mut names = ["next", "new", "child", "target"].iter().map(|first| format!("{first}_{field}"));
        let one = names.find(|name| format.fields.iter().any(|own| own.name == *name))?;
        let is_pair = of.text.contains("latency(");
        is_pair.then(|| format!("START=END are fields of the two events: `{field}={one}`"))
    };
    let hint = prefixed().or_else(|| crate::base::syntax::did_you_mean(field, fields));
    let role = if kind == "number" { "summed" } else { "a key" };
    Diagnostic::new(of.label, of.text, span, format!("{event} has no {kind} `{field}` to be {role}")).hint_opt(hint)
}

impl Types<'_> {
    fn names(&self) -> Vec<(EventName, EventId)> {
        self.formats.iter().map(|format| (EventName::new(&format.system, &format.name), format.id)).collect()
    }
}

impl Need {
    pub(super) fn names(&self, event: &EventName) -> bool {
        self.events.iter().any(|(one, _)| one == event)
    }

    /// Why nothing is known of events that do not occur: the file does not say that they were enabled.
    pub(super) fn unseen(&self, extent: &Extent, conditions: &Conditions<'_>) -> Option<String> {
        let enabled = |event: &EventName| {
            conditions
                .coverage
                .events
                .as_ref()
                .is_some_and(|enabled| enabled.events.iter().any(|(one, _)| one == event))
        };
        if self.ends.iter().any(|id| extent.has(*id)) {
            return None;
        }
        match self.events.iter().find(|(event, id)| !extent.has(*id) && !enabled(event)) {
            Some((event, _)) => {
                Some(format!("{event} is not in the recording, which does not say that it was enabled"))
            }
            None if self.events.is_empty() => Some("no such events are in the recording".to_owned()),
            None => None,
        }
    }
}

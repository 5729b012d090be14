//! CPUs that are idle: how long in which state, how soon a task runs after it, and at which frequency they run.
//!
//! ```text
//! cpu_idle: state=2 cpu_id=1     cpu_idle: state=4294967295 cpu_id=1 (the end)     cpu_frequency: state=2400000 cpu_id=1
//! ```

use super::by_event::{ByEvent, RecordNumber};
use super::{Durations, InOrder, Needs};
use crate::answer::analysis::by_event::KnownEvents;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// The events that its numbers need, by the names of `rtrace analyze idle --json`.
pub const IDLE_NEEDS: &[Needs] = &[
    Needs::on_cpu(
        &[
            "cpus.idle",
            "cpus.awake",
            "cpus.unknown",
            "cpus.entries",
            "states.residency",
            "states.time",
            "cpus.to_task",
            "cpus.for_nothing",
        ],
        &["power:cpu_idle"],
    ),
    Needs::on_cpu(&["cpus.to_task", "cpus.for_nothing"], &["sched:sched_switch"]),
    Needs::seen(&["states.above", "states.below"], &["power:cpu_idle_miss"]),
    // Written by whichever CPU changes it.
    Needs { of_others: true, ..Needs::between(&["frequencies"], &["power:cpu_frequency"]) },
];

/// States of idle CPUs; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Idle {
    events: ByEvent<IdleEvent>,
    window: Option<(u64, u64)>,
    cpus: BTreeMap<CpuId, IdleCpu>,
    has_switches: bool,
    losses: u64,
}

#[derive(Clone, Copy, Debug)]
enum IdleEvent {
    State { state: RecordNumber, cpu: RecordNumber },
    Miss { state: RecordNumber, cpu: RecordNumber, below: RecordNumber },
    Frequency { khz: RecordNumber, cpu: RecordNumber },
    Switch { prev: RecordNumber },
}

/// `PWR_EVENT_EXIT` (include/trace/events/power.h): the end of an idle state.
const EXIT: u32 = u32::MAX;

/// A CPU while it is followed.
#[derive(Clone, Debug, Default)]
struct IdleCpu {
    state: Option<PowerState>,
    since: u64,
    /// The time of its last event.
    seen: u64,
    /// The end of the last idle state, until a task runs.
    left: Option<u64>,
    frequency: Option<(u64, u64)>,
    found: CpuIdle,
}

/// A CPU's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerState {
    Awake,
    Idle(u32),
}

/// Idle states of one buffer. All times are in the clock's unit.
#[derive(Clone, Debug, Default)]
pub struct IdleReport {
    /// The first event of `power`, and the last one, or the last switch to a task after an idle state: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// By CPU.
    pub cpus: Vec<(CpuId, CpuIdle)>,
    /// False if no switch of any task is there: then nothing is known of tasks that run after an idle state.
    pub has_switches: bool,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// What one CPU did. `idle`, `awake` and `unknown` add up to the window.
#[derive(Clone, Debug, Default)]
pub struct CpuIdle {
    /// In an idle state.
    pub idle: u64,
    /// In none.
    pub awake: u64,
    /// Before its first event, and where events of it are missing.
    pub unknown: u64,
    /// By number of the state.
    pub states: BTreeMap<u32, IdleState>,
    /// From the end of an idle state to the switch from the idle task, where no other idle state lies between.
    pub to_task: Durations,
    /// Ends of idle states after which the CPU went idle again without having run a task.
    pub for_nothing: u64,
    /// Events that contradict what was known: a begin or an end is missing.
    pub contradictions: u64,
    /// Time at each frequency (kHz).
    pub frequencies: BTreeMap<u64, FrequencyTime>,
}

/// One idle state of one CPU.
#[derive(Clone, Debug, Default)]
pub struct IdleState {
    /// From begin to end.
    pub residency: Durations,
    /// All time in it, that of states which the window or a loss cuts off too.
    pub time: u64,
    /// Times that the governor's choice was too deep (`cpu_idle_miss`, since Linux 6.0).
    pub above: u64,
    /// Times that it was not deep enough.
    pub below: u64,
}

/// One frequency of one CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrequencyTime {
    /// Time at it, after the event that set it.
    pub time: u64,
    /// Number of times that it was set.
    pub sets: u64,
}

impl IdleEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let number = |field| RecordNumber::of(format, field);
        Some(match (format.system.as_str(), format.name.as_str()) {
            ("power", "cpu_idle") => IdleEvent::State { state: number("state")?, cpu: number("cpu_id")? },
            ("power", "cpu_idle_miss") => {
                IdleEvent::Miss { state: number("state")?, cpu: number("cpu_id")?, below: number("below")? }
            }
            ("power", "cpu_frequency") => IdleEvent::Frequency { khz: number("state")?, cpu: number("cpu_id")? },
            ("sched", "sched_switch") => IdleEvent::Switch { prev: number("prev_pid")? },
            _ => return None,
        })
    }
}

impl IdleCpu {
    fn starting(at: u64) -> Self {
        IdleCpu { since: at, seen: at, ..IdleCpu::default() }
    }

    /// Its state ends at `at`; the time since counts as that of `state`.
    fn spend(&mut self, state: Option<PowerState>, at: u64) -> u64 {
        let time = at.saturating_sub(self.since);
        let sum = match state {
            None => &mut self.found.unknown,
            Some(PowerState::Awake) => &mut self.found.awake,
            Some(PowerState::Idle(state)) => {
                let of = self.found.states.entry(state).or_default();
                of.time = of.time.saturating_add(time);
                &mut self.found.idle
            }
        };
        *sum = sum.saturating_add(time);
        self.since = at.max(self.since);
        time
    }

    fn enter(&mut self, state: u32, at: u64) {
        let known = self.state.filter(|state| *state == PowerState::Awake);
        self.found.contradictions += u64::from(self.state.is_some() && known.is_none());
        self.spend(known, at);
        self.found.for_nothing += u64::from(self.left.take().is_some());
        self.state = Some(PowerState::Idle(state));
        self.found.states.entry(state).or_default();
    }

    fn exit(&mut self, at: u64) {
        match self.state {
            Some(PowerState::Idle(state)) => {
                let time = self.spend(self.state, at);
                self.found.states.entry(state).or_default().residency.add(time);
            }
            other => {
                self.found.contradictions += u64::from(other.is_some());
                self.spend(None, at);
            }
        }
        (self.state, self.left) = (Some(PowerState::Awake), Some(at));
    }

    /// Nothing is known of it from its last event on.
    fn lose(&mut self) {
        let until = self.seen.max(self.since);
        self.spend(self.state, until);
        (self.state, self.left) = (None, None);
    }

    fn set_frequency(&mut self, khz: Option<u64>, at: u64) {
        if let Some((khz, since)) = self.frequency.take() {
            let of = self.found.frequencies.entry(khz).or_default();
            of.time = of.time.saturating_add(at.saturating_sub(since));
        }
        if let Some(khz) = khz {
            let of = self.found.frequencies.entry(khz).or_default();
            of.sets = of.sets.saturating_add(1);
            self.frequency = Some((khz, at));
        }
    }
}

impl Idle {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Idle {
            events: ByEvent::new(formats, abi, IdleEvent::of),
            window: None,
            cpus: BTreeMap::new(),
            has_switches: false,
            losses: 0,
        }
    }

    /// True if the formats have `cpu_idle` or `cpu_frequency`.
    pub fn has_events(&self) -> bool {
        self.events.all().any(|event| !matches!(event, IdleEvent::Switch { .. }))
    }

    /// Of the CPU of this number, which is unknown until now.
    fn cpu(&mut self, cpu: u64, at: u64) -> &mut IdleCpu {
        let begin = self.window.map_or(at, |window| window.0);
        self.cpus.entry(CpuId(cpu as u32)).or_insert_with(|| IdleCpu::starting(begin))
    }

    fn lose(&mut self, cpu: CpuId) {
        self.losses += 1;
        if let Some(cpu) = self.cpus.get_mut(&cpu) {
            cpu.lose();
        }
        for cpu in self.cpus.values_mut() {
            // A change that was lost may have come right after it.
            let since = cpu.frequency.map_or(0, |(_, since)| since);
            cpu.set_frequency(None, since);
        }
    }
}

impl InOrder for Idle {
    type Finding = IdleReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.lose(record.cpu);
        }
        let (at, abi, data) = (record.timestamp.0, self.events.abi, record.data);
        let Some(&event) = self.events.of(record) else { return };
        if let IdleEvent::Switch { prev } = event {
            self.has_switches = true;
            let left = self.cpus.get_mut(&record.cpu).filter(|_| prev.read(abi, data) == 0);
            if let Some((cpu, left)) = left.and_then(|cpu| cpu.left.take().map(|left| (cpu, left))) {
                cpu.found.to_task.add(at.saturating_sub(left));
                self.window = self.window.map(|(begin, end)| (begin, end.max(at)));
            }
            return;
        }
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        match event {
            IdleEvent::State { state, cpu } => {
                let state = state.read(abi, data) as u32;
                let cpu = self.cpu(cpu.read(abi, data), at);
                if state == EXIT {
                    cpu.exit(at)
                } else {
                    cpu.enter(state, at)
                }
                cpu.seen = at;
            }
            IdleEvent::Miss { state, cpu, below } => {
                let (state, below) = (state.read(abi, data) as u32, below.read(abi, data) != 0);
                let of = self.cpu(cpu.read(abi, data), at).found.states.entry(state).or_default();
                let count = if below { &mut of.below } else { &mut of.above };
                *count = count.saturating_add(1);
            }
            IdleEvent::Frequency { khz, cpu } => {
                let khz = khz.read(abi, data);
                self.cpu(cpu.read(abi, data), at).set_frequency(Some(khz), at);
            }
            IdleEvent::Switch { .. } => {}
        }
    }

    fn finish(self) -> IdleReport {
        let end = self.window.map_or(0, |window| window.1);
        let cpu = |(number, mut cpu): (CpuId, IdleCpu)| {
            cpu.spend(cpu.state, end);
            cpu.set_frequency(None, end);
            (number, cpu.found)
        };
        IdleReport {
            window: self.window,
            cpus: self.cpus.into_iter().map(cpu).collect(),
            has_switches: self.has_switches,
            losses: self.losses,
        }
    }
}

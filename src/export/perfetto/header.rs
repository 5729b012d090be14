//! Packets before and after the events: clocks, the machine, its tasks, its CPUs' counters.
//! A recording to write.

use super::proto::{
    CLOCK_SNAPSHOT, EVENTS_SEQUENCE, FTRACE_STATS, PROCESS_TREE, SYSTEM_INFO, TASK_RENAME, TIMESTAMP, double, message,
    packet, text, uint,
};
use super::stacks::StackSample;
use crate::answer::analysis::stacks::addresses;
use crate::base::units::{Pid, Timestamp};
use crate::file::trace_dat::{Cgroups, OptionId, Trace};
use crate::kernel::event::{EventTypes, Record};
use crate::kernel::symbols::Symbols;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Clocks as Perfetto numbers them (`BuiltinClock`).
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;
const MONOTONIC_RAW: u64 = 5;
const BOOTTIME: u64 = 6;

/// Appends what stands before the events of a file.
pub(super) fn begin(file: &PerfettoFile<'_>, machine: Option<u64>, out: &mut Vec<u8>) {
    clocks(file, machine, out);
    system(file, machine, out);
    tasks(file, machine, out);
}

/// The file's time stamps are the trace's, which the engine takes for CLOCK_BOOTTIME. Their other meaning is said of
/// the first one.
fn clocks(file: &PerfettoFile<'_>, machine: Option<u64>, out: &mut Vec<u8>) {
    let time = file.start.0;
    let own = match file.clock {
        "mono" => Some(MONOTONIC),
        "mono_raw" => Some(MONOTONIC_RAW),
        _ => None,
    };
    let own = if file.in_ticks || file.real.is_some_and(|real| real == time as i64) { None } else { own };
    packet(out, machine, EVENTS_SEQUENCE, |out| {
        message(out, CLOCK_SNAPSHOT, |out| {
            let real = file.real.and_then(|real| u64::try_from(real).ok());
            let clocks = [(BOOTTIME, Some(time)), (REALTIME, real)].into_iter();
            for (clock, time) in clocks.chain(own.map(|own| (own, Some(time)))) {
                let Some(time) = time else { continue };
                message(out, 1, |out| {
                    uint(out, 1, clock);
                    uint(out, 2, time);
                });
            }
            uint(out, 2, BOOTTIME);
        });
    });
}

/// The machine.
fn system(file: &PerfettoFile<'_>, machine: Option<u64>, out: &mut Vec<u8>) {
    let words: Vec<&str> = file.uname.split_whitespace().collect();
    packet(out, machine, EVENTS_SEQUENCE, |out| {
        message(out, SYSTEM_INFO, |out| {
            if let [sysname, _, release, .., hardware] = &*words {
                message(out, 1, |out| {
                    text(out, 1, sysname.as_bytes());
                    text(out, 3, release.as_bytes());
                    text(out, 4, hardware.as_bytes());
                });
            }
            text(out, 4, concat!("rtrace ", env!("CARGO_PKG_VERSION")).as_bytes());
            uint(out, 8, file.trace.cpu_count.into());
            if let [_, name, ..] = &*words {
                text(out, 17, name.as_bytes());
            }
        });
    });
}

/// The tasks' names; and their processes, where the recording knows them.
fn tasks(file: &PerfettoFile<'_>, machine: Option<u64>, out: &mut Vec<u8>) {
    let comms = &file.symbols.comms;
    let named = |pid: Pid| comms.get(pid).unwrap_or_default();
    let processes: BTreeSet<Pid> = file.processes.iter().map(|(_, process)| *process).filter(|p| p.0 > 0).collect();
    if !processes.is_empty() {
        packet(out, machine, EVENTS_SEQUENCE, |out| {
            uint(out, TIMESTAMP, file.start.0);
            message(out, PROCESS_TREE, |out| {
                for process in &processes {
                    message(out, 1, |out| {
                        uint(out, 1, process.0 as u64);
                        let name = in_cgroup(named(*process), file.cgroups, *process);
                        if !name.is_empty() {
                            text(out, 3, &name);
                        }
                        uint(out, 9, 1); // that is the name of its first task
                    });
                }
                for (thread, process) in file.processes.iter().filter(|(thread, process)| thread.0 > 0 && process.0 > 0)
                {
                    message(out, 2, |out| {
                        uint(out, 1, thread.0 as u64);
                        if !named(*thread).is_empty() {
                            text(out, 2, named(*thread));
                        }
                        uint(out, 3, process.0 as u64);
                    });
                }
            });
        });
    }
    for pid in comms.pids().filter(|pid| pid.0 > 0) {
        if file.processes.binary_search_by_key(&pid, |(thread, _)| *thread).is_err() {
            packet(out, machine, EVENTS_SEQUENCE, |out| {
                uint(out, TIMESTAMP, file.start.0);
                message(out, TASK_RENAME, |out| {
                    uint(out, 1, pid.0 as u64);
                    text(out, 2, named(pid));
                });
            });
        }
    }
}

/// The name of a process, with the container that it was in last, or the cgroup unless that is the root:
/// `nginx (/system.slice/web.service)`, `nginx (container web)`.
fn in_cgroup<'n>(name: &'n [u8], cgroups: Option<&Cgroups>, process: Pid) -> Cow<'n, [u8]> {
    let place = cgroups.and_then(|cgroups| {
        let (_, path) = cgroups.of(process).last()?;
        let container = cgroups.container(path).map(|container| format!("container {container}"));
        container.or_else(|| (path != "/").then(|| path.to_owned()))
    });
    match place.filter(|_| !name.is_empty()) {
        Some(place) => Cow::Owned([name, b" (", place.as_bytes(), b")"].concat()),
        None => Cow::Borrowed(name),
    }
}

/// Appends what stands after the events of a file: the CPUs' counters when recording ended.
pub(super) fn end(file: &PerfettoFile<'_>, machine: Option<u64>, out: &mut Vec<u8>) {
    let mut cpus: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
    for option in file.trace.options(OptionId::CPUSTAT) {
        let text = option.text();
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let numbers: BTreeMap<String, f64> =
            lines.filter_map(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?))).collect();
        // Those of the top buffer come first.
        if let Some(cpu) = numbers.get("CPU") {
            cpus.entry(*cpu as u64).or_insert(numbers);
        }
    }
    if cpus.is_empty() {
        return;
    }
    packet(out, machine, EVENTS_SEQUENCE, |out| {
        message(out, FTRACE_STATS, |out| {
            const END: u64 = 2;
            uint(out, 1, END);
            for (cpu, numbers) in &cpus {
                message(out, 2, |out| {
                    uint(out, 1, *cpu);
                    for (field, name) in STATISTICS {
                        match numbers.get(*name) {
                            Some(value) if name.ends_with(" ts") => double(out, *field, *value),
                            Some(value) => uint(out, *field, *value as u64),
                            None => {}
                        }
                    }
                });
            }
        });
    });
}

/// `FtraceCpuStats` and the lines of the kernel's `stats` files.
const STATISTICS: &[(u32, &str)] = &[
    (2, "entries"),
    (3, "overrun"),
    (4, "commit overrun"),
    (5, "bytes"),
    (6, "oldest event ts"),
    (7, "now ts"),
    (8, "dropped events"),
    (9, "read events"),
];

/// A recording whose records come.
#[derive(Clone, Copy)]
pub struct PerfettoFile<'t> {
    /// The file.
    pub trace: &'t Trace,
    /// The machine: `sysname nodename release machine`, or empty.
    pub uname: &'t str,
    /// The cgroups of its tasks.
    pub cgroups: Option<&'t Cgroups>,
    /// Symbols of the file.
    pub symbols: &'t Symbols,
    /// Its event types, for messages that only their text explains.
    pub types: &'t EventTypes<'t>,
    /// Threads and their processes, ascending.
    pub processes: &'t [(Pid, Pid)],
    /// The time stamp of the first event, as records have it.
    pub start: Timestamp,
    /// Nanoseconds since 1970 at that time, if the file knows.
    pub real: Option<i64>,
    /// The trace clock's name.
    pub clock: &'t str,
    /// True if time stamps count something other than nanoseconds.
    pub in_ticks: bool,
}

impl PerfettoFile<'_> {
    /// The process of a thread; the thread itself where that is not known.
    pub(super) fn process(&self, thread: Pid) -> Pid {
        let place = self.processes.binary_search_by_key(&thread, |(thread, _)| *thread);
        place.ok().and_then(|at| self.processes.get(at)).map_or(thread, |(_, process)| *process)
    }

    /// The sample of a stack; `None` if the record holds none.
    pub(super) fn sample(&self, offset: usize, record: &Record<'_>, pid: Pid) -> Option<(StackSample, Box<[u64]>)> {
        let stack: Box<[u64]> = addresses(self.trace.abi, record.data, offset).collect();
        let (pid, tid) = (self.process(pid).0 as u32, pid.0 as u32);
        let sample = StackSample { timestamp: record.timestamp.0, cpu: record.cpu.0, pid, tid };
        (!stack.is_empty()).then_some((sample, stack))
    }
}

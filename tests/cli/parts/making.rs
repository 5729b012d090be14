//! Parts of whole recordings, as a recorder would have made them with a limit.

use rtrace::Recording;
use rtrace::abi::{Abi, Endian};
use rtrace::event::Common;
use rtrace::events::EventName;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::{CopiedPart, Edit, NewFile, PartWriter, StoredRecord, Version, split_edited};
use rtrace::internal::trace_dat::{
    Codec, Coverage, CoveredTasks, EnabledEvents, FilePart, LossCause, OptionId, RawOption, Trace, UnsavedEvents,
};
use rtrace::units::{CpuId, Lost, Pid};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

/// The limit of a part.
pub(super) struct PartLimit {
    /// In words.
    pub(super) text: String,
    /// The only tasks, if it is one to tasks.
    pub(super) pids: Option<String>,
    /// Some tasks of the whole.
    pub(super) tasks: Vec<String>,
}

/// A way to hold less than the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartKind {
    /// Everything.
    All,
    /// Some records of an event are refused by its filter.
    Filter,
    /// Events of some tasks.
    Tasks,
    /// Events of some tasks and of those that they fork.
    Children,
    /// Events on some CPUs.
    Cpus,
    /// A part of the time.
    Window,
    /// Runs of events were dropped.
    Losses,
    /// A flight recorder gave up the oldest events of some CPUs.
    Ring,
    /// A recorder was killed, and the newest events of some CPUs are not in the file.
    Killed,
    /// A copy that rtrace makes of some events.
    Copy,
}

impl PartKind {
    pub(super) const ALL: [PartKind; 10] = [
        PartKind::All,
        PartKind::Filter,
        PartKind::Tasks,
        PartKind::Children,
        PartKind::Cpus,
        PartKind::Window,
        PartKind::Losses,
        PartKind::Ring,
        PartKind::Killed,
        PartKind::Copy,
    ];
}

/// Systems whose events analyses read.
const READ: [&str; 9] =
    ["sched", "irq", "irq_vectors", "timer", "workqueue", "raw_syscalls", "kmem", "lock", "exceptions"];

/// Numbers by chance, the same in each run (splitmix64).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    }
}

/// The fields of the events by which the kernel chooses tasks.
struct TaskFields {
    abi: Abi,
    common: Common,
    /// By event id: offsets of pids of tasks other than the current one, and the child's of a fork.
    others: BTreeMap<u16, (Vec<usize>, Option<usize>)>,
    /// The ids of tracers' entries.
    entries: BTreeSet<u16>,
}

impl TaskFields {
    fn of(trace: &Trace) -> Self {
        let offset = |format: &EventFormat, field: &str| format.field(field).map(|field| field.offset);
        let fields = |format: &EventFormat| {
            let others: &[&str] = match format.name.as_str() {
                "sched_switch" => &["prev_pid", "next_pid"],
                "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => &["pid"],
                _ => &[],
            };
            let child = (format.name == "sched_process_fork").then(|| offset(format, "child_pid")).flatten();
            (others.iter().filter_map(|field| offset(format, field)).collect(), child)
        };
        let others = trace.formats().filter(|format| format.system == "sched");
        let others = others.map(|format| (format.id.0, fields(format))).collect();
        let common = trace.formats().next().map(Common::of).unwrap_or_default();
        let entries = trace.formats().filter(|format| format.system == "ftrace").map(|format| format.id.0).collect();
        TaskFields { abi: trace.abi, common, others, entries }
    }

    fn pid(&self, data: &[u8], offset: usize) -> Pid {
        let bytes: [u8; 4] = data.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
        Pid(match self.abi.endian {
            Endian::Little => i32::from_le_bytes(bytes),
            Endian::Big => i32::from_be_bytes(bytes),
        })
    }

    /// The tasks that an event is of, and the child of a fork.
    fn tasks(&self, data: &[u8]) -> (Vec<Pid>, Option<Pid>) {
        let mut tasks = vec![self.common.pid(self.abi, data)];
        let Some((others, child)) = self.others.get(&self.common.event_id(self.abi, data)) else {
            return (tasks, None);
        };
        tasks.extend(others.iter().map(|offset| self.pid(data, *offset)));
        (tasks, child.map(|offset| self.pid(data, offset)))
    }
}

/// Makes parts of one recording.
pub(super) struct PartMaker<'t> {
    pub(super) trace: &'t Trace,
    pub(super) path: &'t Path,
    pub(super) chance: Chance,
}

impl<'t> PartMaker<'t> {
    pub(super) fn new(trace: &'t Trace, path: &'t Path, seed: u64) -> Self {
        PartMaker { trace, path, chance: Chance(seed) }
    }

    /// Writes a part; gives its limit, `None` if there is none of this kind.
    pub(super) fn make(&mut self, kind: PartKind, to: &Path) -> Option<PartLimit> {
        if kind == PartKind::Copy {
            return self.copy(to);
        }
        let fields = TaskFields::of(self.trace);
        let seen = Seen::of(self.path, &fields);
        let mut coverage = Coverage { tasks: Some(CoveredTasks::All), ..Coverage::default() };
        let mut keeps = Keeps::All;
        let mut time = 0..u64::MAX;
        let mut unsaved = Vec::new();
        match kind {
            PartKind::All | PartKind::Copy => {}
            PartKind::Filter => {
                let there = self.trace.formats().filter(|format| seen.events.contains_key(&format.id.0));
                let read: Vec<&EventFormat> = there.filter(|format| READ.contains(&format.system.as_str())).collect();
                let format = *read.get(self.chance.next(read.len()))?;
                let id = format.id.0;
                let event = EventName::new(&format.system, &format.name);
                let events = vec![(event, Some("by chance".to_owned()))];
                coverage.events = Some(EnabledEvents { events });
                keeps =
                    Keeps::Filtered { id, of: 2 + self.chance.next(4) as u64, salt: self.chance.next(1 << 20) as u64 };
            }
            PartKind::Tasks | PartKind::Children => {
                let all: Vec<Pid> = seen.tasks.iter().copied().filter(|pid| pid.0 > 0).collect();
                let count = 1 + self.chance.next(3);
                let pids: BTreeSet<Pid> =
                    (0..count).filter_map(|_| all.get(self.chance.next(all.len())).copied()).collect();
                let children = kind == PartKind::Children;
                coverage.tasks = Some(CoveredTasks::Only { pids: pids.iter().copied().collect(), children });
                let families =
                    if children { seen.families(&pids) } else { pids.into_iter().map(|pid| (pid, 0)).collect() };
                keeps = Keeps::Tasks(families);
            }
            PartKind::Cpus => {
                let all: Vec<CpuId> = seen.cpus.iter().copied().collect();
                let kept: Vec<CpuId> = all.iter().copied().filter(|_| self.chance.next(2) == 0).collect();
                if kept.is_empty() || kept.len() == all.len() {
                    return None;
                }
                coverage.cpus = Some(kept.clone());
                keeps = Keeps::Cpus(kept);
            }
            PartKind::Window => {
                let length = (seen.time.1 - seen.time.0) as usize;
                let begin = seen.time.0 + self.chance.next(length / 2) as u64;
                time = begin..begin + (length / 4 + self.chance.next(length / 2)) as u64;
            }
            PartKind::Ring | PartKind::Killed => {}
            PartKind::Losses => {
                let (every, run) = (100 + self.chance.next(900), 1 + self.chance.next(50));
                keeps = Keeps::Losing { every, run, counts: seen.counts.clone(), stream: None, at: 0 };
            }
        }
        if matches!(kind, PartKind::Ring | PartKind::Killed) {
            let at = seen.time.0 + self.chance.next((seen.time.1 - seen.time.0) as usize) as u64;
            let cpus: Vec<CpuId> = seen.cpus.iter().copied().filter(|_| self.chance.next(2) == 0).collect();
            if kind == PartKind::Ring {
                coverage.shortened.clone_from(&cpus);
                keeps = Keeps::Within(cpus, at..u64::MAX);
            } else {
                unsaved.clone_from(&cpus);
                keeps = Keeps::Within(cpus, 0..at);
            }
        }
        let text = format!("{kind:?} {coverage:?} {keeps:?} {time:?}").chars().take(400).collect();
        let pids = match &keeps {
            Keeps::Tasks(all) => Some(all.keys().map(ToString::to_string).collect::<Vec<_>>().join(",")),
            _ => None,
        };
        self.write(&coverage, &unsaved, time, PartEdit { fields: &fields, keeps }, to);
        let tasks = seen.tasks.iter().filter(|pid| pid.0 > 0).map(ToString::to_string).collect();
        Some(PartLimit { text, pids, tasks })
    }

    fn write(
        &self,
        coverage: &Coverage,
        unsaved: &[CpuId],
        time: std::ops::Range<u64>,
        mut edit: PartEdit<'_>,
        to: &Path,
    ) {
        let mut from = Trace::open(File::open(self.path).expect("the whole")).expect("the whole");
        for buffer in self.trace.buffers.iter().map(|buffer| buffer.name.as_str()) {
            for cpu in unsaved {
                let mark =
                    UnsavedEvents { buffer: buffer.to_owned(), cpu: *cpu, events: None, cause: LossCause::KILLED };
                let (id, data) = (OptionId::RTRACE_UNSAVED, mark.write(from.abi));
                from.options.push(RawOption { id, data, offset: 0, place: FilePart::Prefix });
            }
            let texts = [
                (OptionId::RTRACE_COVERAGE, Some(coverage.to_text(buffer))),
                (OptionId::RTRACE_EVENTS, coverage.events.as_ref().map(|events| events.to_text(buffer))),
            ];
            for (id, text) in texts.into_iter().filter_map(|(id, text)| Some((id, text?))) {
                let data = [text.as_bytes(), b"\0"].concat();
                from.options.push(RawOption { id, data, offset: 0, place: FilePart::Prefix });
            }
        }
        let buffers: Vec<_> = from.buffers.iter().map(|buffer| buffer.name.clone()).enumerate().collect();
        let names: Vec<&str> = buffers.iter().map(|(_, name)| name.as_str()).collect();
        let streams = from.buffers.iter().enumerate();
        let streams: Vec<_> =
            streams.flat_map(|(at, buffer)| (0..buffer.cpus.len()).map(move |cpu| (at, cpu))).collect();
        let file = NewFile::create(File::create(to).expect("a file"), &from, Version::V7(Codec::None), &names);
        let mut parts = [PartWriter::new(CopiedPart::Time(time), file.expect("a new file"))];
        let damaged = &mut |error| panic!("{error}");
        split_edited(&from, &buffers, &streams, &mut parts, Some(&mut edit), (1, damaged)).expect("a part");
        let [PartWriter { file, .. }] = parts;
        file.finish().expect("a part");
    }
}

/// What a recording holds.
struct Seen {
    events: BTreeMap<u16, u64>,
    tasks: BTreeSet<Pid>,
    cpus: BTreeSet<CpuId>,
    time: (u64, u64),
    forks: Vec<(u64, Pid, Pid)>,
    /// Number of records by buffer and CPU.
    counts: BTreeMap<(usize, CpuId), usize>,
}

impl Seen {
    fn of(path: &Path, fields: &TaskFields) -> Self {
        let (events, tasks, cpus) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut seen = Seen { events, tasks, cpus, time: (u64::MAX, 0), forks: Vec::new(), counts: BTreeMap::new() };
        let recording = Recording::open(File::open(path).expect("the whole")).expect("the whole");
        let see = |event: &rtrace::Event<'_>| {
            let (time, data) = (event.timestamp().0, event.data());
            *seen.events.entry(event.id().0).or_default() += 1;
            let (tasks, child) = fields.tasks(data);
            seen.forks.extend(child.map(|child| (time, tasks[0], child)));
            seen.tasks.extend(tasks);
            let buffer = recording.trace.buffers.iter().position(|buffer| buffer.name == event.buffer());
            *seen.counts.entry((buffer.unwrap_or(0), event.cpu())).or_default() += 1;
            seen.cpus.insert(event.cpu());
            seen.time = (seen.time.0.min(time), seen.time.1.max(time));
        };
        recording.query().for_each(see).expect("the whole");
        seen
    }

    /// These tasks and their descendants, each from when on.
    fn families(&self, pids: &BTreeSet<Pid>) -> BTreeMap<Pid, u64> {
        let mut all: BTreeMap<Pid, u64> = pids.iter().map(|pid| (*pid, 0)).collect();
        for (time, parent, child) in &self.forks {
            if all.get(parent).is_some_and(|since| since <= time) {
                all.entry(*child).or_insert(*time);
            }
        }
        all
    }
}

/// The records that a part holds.
#[derive(Debug)]
enum Keeps {
    All,
    Filtered {
        id: u16,
        of: u64,
        salt: u64,
    },
    /// Tasks, from when on.
    Tasks(BTreeMap<Pid, u64>),
    Cpus(Vec<CpuId>),
    /// Of these CPUs what happened in this time.
    Within(Vec<CpuId>, std::ops::Range<u64>),
    /// After so many records of a stream a run of them is dropped.
    Losing {
        every: usize,
        run: usize,
        counts: BTreeMap<(usize, CpuId), usize>,
        stream: Option<(usize, usize)>,
        at: usize,
    },
}

struct PartEdit<'f> {
    fields: &'f TaskFields,
    keeps: Keeps,
}

impl Edit for PartEdit<'_> {
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool {
        let fields = self.fields;
        match &mut self.keeps {
            Keeps::All => true,
            Keeps::Filtered { id, of, salt } => {
                let mixed = Chance(record.timestamp.0 ^ *salt).next(usize::MAX) as u64;
                fields.common.event_id(fields.abi, record.data) != *id || !mixed.is_multiple_of(*of)
            }
            Keeps::Tasks(all) => {
                // Tracers write entries of their own for all tasks.
                if fields.entries.contains(&fields.common.event_id(fields.abi, record.data)) {
                    return true;
                }
                let (tasks, _) = fields.tasks(record.data);
                let has = |pid: &Pid| all.get(pid).is_some_and(|since| *since <= record.timestamp.0);
                // The event of a switch itself is of both tasks, and so is that of a wakeup.
                tasks.iter().any(has)
            }
            Keeps::Cpus(cpus) => cpus.contains(&record.cpu),
            Keeps::Within(cpus, time) => !cpus.contains(&record.cpu) || time.contains(&record.timestamp.0),
            Keeps::Losing { every, run, counts, stream, at } => {
                *at = if Some(record.stream) == *stream { *at + 1 } else { 0 };
                *stream = Some(record.stream);
                // A mark stands before a record that follows.
                let count = counts.get(&(record.stream.0, record.cpu)).copied().unwrap_or(0);
                *at % *every < *every - *run || *at / *every * *every + *every >= count
            }
        }
    }

    fn loses(&mut self, record: &StoredRecord<'_>) -> Lost {
        match &self.keeps {
            Keeps::Losing { every, run, counts, at, .. }
                if at % every == every - run
                    && counts
                        .get(&(record.stream.0, record.cpu))
                        .is_some_and(|count| at / every * every + every < *count) =>
            {
                Lost::Count(*run as u64)
            }
            _ => Lost::None,
        }
    }
}

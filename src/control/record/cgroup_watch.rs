//! The cgroup of each task while it is recorded, from an instance of its own: forks, and tasks that are moved
//! (`include/trace/events/cgroup.h`, since Linux 4.11). Polling would miss tasks; the kernel's lists of tasks know no cgroups.
//!
//! An event waits for one more look before it counts: rings of several CPUs are read one after the other, and a fork must
//! come after the move of its parent.

use super::cgroup_spool::CgroupSpool;
use super::cgroup_tree::{CgroupHierarchy, CgroupPlan, container_names};
use super::error::RecordError;
use super::offline::is_offline;
use super::quota_sampler::QuotaSampler;
use super::tasks::threads_of;
use super::trace_clock::not_after;
use super::worker::WorkerError;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::{Error, EventName, Instance, Journal};
use crate::file::ring_buffer::{Lost, PageError, PageLayout, Walker};
use crate::file::trace_dat::{CgroupCounters, Cgroups, QuotaCounters, container_in};
use crate::kernel::format::EventFormat;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of the ring of each CPU, in KiB: some ten thousand forks.
const RING: u64 = 512;
/// While it is kept in a file, the longest time between two looks.
const LOOK_AT_LEAST: Duration = Duration::from_millis(250);
/// A manager sets the quota of a cgroup that it has made within this time.
const YOUNG: Duration = Duration::from_secs(2);
/// An event can be read this time after its stamp at the latest, in clock units.
const IN_WRITING: u64 = 1_000_000;
/// Beyond so many entries (32 bytes each) those of tasks that are gone are dropped: nothing is known of their cgroups then.
const MOST: usize = 2 << 20;

/// An event that changes the cgroups of tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CgroupEvent {
    /// A task that has started, the cgroup that it was seen in then, and its number in its own pid namespace, if it was still
    /// there.
    Forked { parent: Pid, child: Pid, seen: Option<String>, inner: Option<Pid> },
    /// A task, or all threads of its process, came to a cgroup of the hierarchy with this number.
    Moved { task: Pid, threads: Vec<Pid>, path: String },
}

/// A task that came to a cgroup of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CameToCgroup {
    pub(super) task: Pid,
    /// The time of that by the trace clock.
    pub(super) at: u64,
    /// The task that started it there; `None` of one that was moved there.
    pub(super) started_by: Option<Pid>,
}

/// A field's place.
type FieldRange = (usize, usize);

/// The places of what is read of the events.
#[derive(Debug)]
struct CgroupFormats {
    fork: (u16, FieldRange, FieldRange),
    /// Of events whose fields are: hierarchy, task, path.
    moves: Vec<(u16, [FieldRange; 3])>,
}

/// The cgroups of tasks while they are recorded.
#[derive(Debug)]
pub(super) struct CgroupWatch {
    plan: CgroupPlan,
    hierarchy: CgroupHierarchy,
    rings: Vec<(CpuId, File)>,
    layout: PageLayout,
    formats: CgroupFormats,
    page: Vec<u8>,
    /// Events by time, and how many of them have waited.
    waiting: Vec<(u64, CgroupEvent)>,
    ripe: usize,
    cgroups: Cgroups,
    /// The kernel's account when tracing began.
    before: BTreeMap<String, CgroupCounters>,
    /// The time of the last event.
    seen: u64,
    /// The last event before events were lost, if that happened.
    lost: Option<u64>,
    /// The watch's own instance.
    instance: Instance,
    /// A copy of the cgroups in a file, for the case of a kill.
    spool: Option<CgroupSpool>,
    /// The last look, by the trace clock and by the machine's.
    looked: Option<(u64, Instant)>,
    /// Reads the throttled time of cgroups that have a quota, if there are any.
    sampler: Option<QuotaSampler>,
    /// Cgroups that are read.
    sampled: HashSet<String>,
    /// Cgroups that are new: they may get a quota yet.
    young: Vec<(String, Instant)>,
}

impl CgroupWatch {
    /// Sets up the watch with the clock of the recording's main buffer, and lets it run.
    ///
    /// # Errors
    /// [`RecordError`]: the kernel has no events of cgroups, or tracefs refuses the instance.
    pub(super) fn start(journal: &mut Journal, plan: &CgroupPlan, clock: &str) -> Result<Option<Self>, RecordError> {
        let Some(hierarchy) = plan.hierarchy.clone() else { return Ok(None) };
        let tracefs = journal.tracefs().clone();
        let names =
            [("sched", "sched_process_fork"), ("cgroup", "cgroup_attach_task"), ("cgroup", "cgroup_transfer_tasks")];
        let names = names.map(|(system, name)| EventName::new(system, name));
        let top = tracefs.top();
        let known: Vec<EventName> = names.iter().filter(|event| top.has(&event.file("enable"))).cloned().collect();
        if known.get(..2) != names.get(..2) {
            let what = "events of cgroups (cgroup_attach_task)".to_owned();
            return Err(Error::NoFeature { what, config: Some("CONFIG_CGROUPS, Linux 4.11") }.into());
        }
        let instance = journal.create_own_instance(&format!("rtrace-{}-cgroups", std::process::id()))?;
        journal.set_on(&instance, false)?;
        journal.set_buffer_size(&instance, RING)?;
        journal.set_clock(&instance, clock)?;
        // Its reader is woken by each event.
        journal.set_buffer_percent(&instance, 0)?;
        journal.enable_events(&instance, &known)?;
        let formats =
            known.iter().map(|event| top.event_format(event).map(|text| EventFormat::parse(&event.system, &text)));
        let formats: Vec<EventFormat> = formats.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let Some(formats) = CgroupFormats::of(&formats) else {
            let what = "fields of the events of cgroups".to_owned();
            return Err(Error::NoFeature { what, config: None }.into());
        };
        let (_, header) = tracefs.header_page()?;
        let layout = PageLayout::new(&header, header.abi(Abi::HOST.endian), instance.sub_buffer_size()?);
        let mut how = OpenOptions::new();
        how.read(true).custom_flags(nix::libc::O_NONBLOCK);
        let open =
            |cpu| Ok((cpu, how.open(instance.trace_pipe_raw(cpu)).map_err(|error| WorkerError::Ring(cpu, error))?));
        let rings = instance.cpus()?.into_iter().map(open).collect::<Result<_, WorkerError>>()?;
        journal.set_on(&instance, true)?;
        let mut cgroups = Cgroups::new(&hierarchy.controllers);
        plan.only.iter().for_each(|place| cgroups.follow(&place.path));
        let mut watch = CgroupWatch {
            plan: plan.clone(),
            page: vec![0; layout.size],
            hierarchy,
            rings,
            layout,
            formats,
            waiting: Vec::new(),
            ripe: 0,
            cgroups,
            before: BTreeMap::new(),
            seen: 0,
            lost: None,
            instance,
            spool: None,
            looked: None,
            sampler: None,
            sampled: HashSet::new(),
            young: Vec::new(),
        };
        watch.look_around(0);
        watch.young.clear();
        let paths = watch.hierarchy.paths();
        paths.iter().for_each(|path| watch.sample(path));
        Ok(Some(watch))
    }

    /// Keeps what is known in `file` as well, which is empty, for the case that we are killed.
    ///
    /// # Errors
    /// The error of writing.
    pub(super) fn keep_in(&mut self, file: File) -> io::Result<()> {
        self.spool = Some(CgroupSpool::new(file, &self.cgroups)?);
        self.looked = None;
        Ok(())
    }

    /// The moment of the next look, whether something happens or not.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.spool.as_ref()?;
        Some(self.looked.map_or_else(Instant::now, |(_, looked)| looked + LOOK_AT_LEAST))
    }

    /// Tracing begins: the kernel counts from here on.
    pub(super) fn begin(&mut self) {
        self.before = self.hierarchy.counters();
    }

    /// Tracing is about to end: what is known of quotas now has events after it.
    pub(super) fn is_ending(&self) {
        self.sampler.iter().for_each(QuotaSampler::read_before_event);
    }

    /// Readable when there is something to look at.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.rings.iter().map(|(_, ring)| ring.as_fd())
    }

    /// Sets the cgroup of each task that there is, since `time`.
    fn look_around(&mut self, time: u64) {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for name in processes.filter_map(|entry| entry.file_name().into_string().ok()) {
            if !name.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            for task in threads_of(&name) {
                if let Some(path) = self.hierarchy.of_task(&name, task) {
                    self.put(task, time, &path);
                    self.number(task, time, inner_pid(task));
                }
            }
        }
        self.put(Pid(0), time, "/"); // idle tasks
    }

    /// Says that `task` is in `path` since `time`.
    fn put(&mut self, task: Pid, time: u64, path: &str) {
        let is_new = !self.cgroups.has(path);
        if let Some(id) = container_in(path).filter(|_| is_new) {
            let name = container_names().into_iter().find(|(_, known)| known == id);
            name.into_iter().for_each(|(name, _)| self.cgroups.set_container(id, &name));
        }
        if is_new {
            self.young.push((path.to_owned(), Instant::now()));
        }
        if let Some(number) = self.cgroups.set(task, time, path)
            && let Some(spool) = &mut self.spool
        {
            spool.moved(&self.cgroups, task, time, number);
        }
    }

    /// Reads the throttled time of the cgroup `path` from now on, if it has a quota.
    fn sample(&mut self, path: &str) {
        let Some(files) = (!self.sampled.contains(path)).then(|| self.hierarchy.quota(path)).flatten() else { return };
        if self.sampler.is_none() && not_after(&self.instance).is_some() {
            // Without it a quota is possible where it could be certain: no reason to record nothing.
            self.sampler = QuotaSampler::start(&self.instance).ok();
        }
        if let Some(sampler) = &self.sampler {
            sampler.add(path, files);
            self.sampled.insert(path.to_owned());
        }
    }

    /// Looks for quotas of cgroups that are new, and of those above them.
    fn sample_young(&mut self) {
        let young = std::mem::take(&mut self.young);
        for (path, _) in &young {
            let mut above = path.as_str();
            while !above.is_empty() {
                self.sample(above);
                above = &above[..above.rfind('/').unwrap_or(0)];
            }
        }
        self.young = young.into_iter().filter(|(_, since)| since.elapsed() < YOUNG).collect();
    }

    /// Says what number `task` has in its own pid namespace since `time`.
    fn number(&mut self, task: Pid, time: u64, inner: Option<Pid>) {
        if self.cgroups.set_inner_pid(task, time, inner)
            && let Some(spool) = &mut self.spool
        {
            spool.numbered(task, time, inner);
        }
    }

    /// Takes what has happened since the last look. Gives the tasks that have come to the cgroups of the plan, each CPU's in
    /// order.
    ///
    /// # Errors
    /// The error of reading a ring.
    pub(super) fn look(&mut self) -> Result<Vec<CameToCgroup>, WorkerError> {
        let now = not_after(&self.instance).unwrap_or(self.seen);
        let last = self.waiting.last().map_or(0, |(time, _)| *time);
        self.ripe = self.waiting.len();
        let mut joined = Vec::new();
        self.drain(&mut joined)?;
        // What is as old as those that waited comes in its order among them.
        self.waiting.sort_by_key(|(time, _)| *time);
        if self.ripe > 0 {
            self.ripe = self.waiting.partition_point(|(time, _)| *time <= last);
        }
        self.settle(self.ripe);
        self.sample_young();
        // What happened before the last look has been read then, and is settled now.
        let looked = self.looked.replace((now, Instant::now()));
        if let Some((until, _)) = looked
            && let Some(spool) = &mut self.spool
        {
            let until = until.saturating_sub(IN_WRITING).min(self.lost.unwrap_or(u64::MAX));
            // A disk that is full takes no more; the recording's end will still have it.
            if spool.write(&self.cgroups, until).is_err() {
                self.spool = None;
            }
        }
        Ok(joined)
    }

    fn drain(&mut self, joined: &mut Vec<CameToCgroup>) -> Result<(), WorkerError> {
        for number in 0..self.rings.len() {
            loop {
                let (cpu, ring) = &mut self.rings[number];
                let cpu = *cpu;
                match ring.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(_) => self.take_page(joined).map_err(|error| WorkerError::Ring(cpu, io::Error::other(error)))?,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock || is_offline(&e) => break,
                    Err(e) => return Err(WorkerError::Ring(cpu, e)),
                }
            }
        }
        Ok(())
    }

    fn take_page(&mut self, joined: &mut Vec<CameToCgroup>) -> Result<(), PageError> {
        let page = self.layout.page(&self.page)?;
        if page.lost != Lost::None {
            self.lost = self.lost.or(Some(self.seen));
        }
        let mut walker = Walker::new(self.layout.abi, 0, &page);
        let mut came = |task: Pid, at, started_by| joined.push(CameToCgroup { task, at, started_by });
        while let Some(place) = walker.step(&self.page)? {
            let Some(event) = place.bytes(&self.page).and_then(|data| self.event(data)) else { continue };
            match &event {
                CgroupEvent::Forked { parent, child, seen: Some(path), .. } if self.plan.holds(path) => {
                    came(*child, place.timestamp, Some(*parent));
                }
                CgroupEvent::Moved { task, threads, path } if self.plan.holds(path) => {
                    threads.iter().chain([task]).for_each(|task| came(*task, place.timestamp, None));
                }
                _ => {}
            }
            self.seen = self.seen.max(place.timestamp);
            self.waiting.push((place.timestamp, event));
        }
        Ok(())
    }

    /// The event of a record, with what can be seen of its tasks now.
    fn event(&self, data: &[u8]) -> Option<CgroupEvent> {
        let number = |(at, len): FieldRange| match data.get(at..at + len)? {
            [a, b] => Some(u32::from(u16::from_ne_bytes([*a, *b]))),
            [a, b, c, d] => Some(u32::from_ne_bytes([*a, *b, *c, *d])),
            _ => None,
        };
        let id = number((0, 2))? as u16;
        let task = |place| number(place).map(|pid| Pid(pid as i32));
        let (fork, parent, child) = self.formats.fork;
        if id == fork {
            let (parent, child) = (task(parent)?, task(child)?);
            let seen = self.hierarchy.of_task(&child.to_string(), child);
            return Some(CgroupEvent::Forked { parent, child, seen, inner: inner_pid(child) });
        }
        let (_, [root, pid, path]) = self.formats.moves.iter().find(|(known, _)| *known == id)?;
        if number(*root)? != self.hierarchy.number {
            return None;
        }
        let (task, place) = (task(*pid)?, number(*path)?);
        let bytes = data.get((place & 0xffff) as usize..)?.get(..(place >> 16) as usize)?;
        let path = String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next()?).into_owned();
        // One move may be that of a whole process.
        let process = task.to_string();
        let is_there = |thread: &Pid| self.hierarchy.of_task(&process, *thread).is_some_and(|now| now == path);
        let threads = threads_of(&process).into_iter().filter(|thread| *thread != task).filter(is_there).collect();
        Some(CgroupEvent::Moved { task, threads, path })
    }

    /// Notes what the first `count` of the events mean.
    fn settle(&mut self, count: usize) {
        let later = self.waiting.split_off(count);
        for (time, event) in std::mem::replace(&mut self.waiting, later) {
            match event {
                _ if self.lost.is_some_and(|until| time > until) => {}
                CgroupEvent::Moved { task, threads, path } => {
                    for task in threads.into_iter().chain([task]) {
                        self.put(task, time, &path);
                    }
                }
                CgroupEvent::Forked { parent, child, seen, inner } => {
                    let inherited = self.cgroups.at(parent, time).map(str::to_owned);
                    let is_moved = |(_, event): &(u64, CgroupEvent)| match event {
                        CgroupEvent::Moved { task, threads, .. } => *task == child || threads.contains(&child),
                        CgroupEvent::Forked { .. } => false,
                    };
                    // clone3() starts a task in another cgroup than its parent's, without an event.
                    let path = match (inherited, seen) {
                        (Some(inherited), Some(seen)) if inherited != seen => {
                            if self.waiting.iter().any(is_moved) {
                                Some(inherited)
                            } else {
                                Some(seen)
                            }
                        }
                        (inherited, seen) => inherited.or(seen),
                    };
                    if let Some(path) = path {
                        self.put(child, time, &path);
                        self.number(child, time, inner);
                    }
                }
            }
        }
        if self.cgroups.len() > MOST {
            self.cgroups.retain(|task| Path::new(&format!("/proc/{task}")).exists());
        }
    }

    /// The cgroups of all tasks in the end.
    ///
    /// # Errors
    /// As [`CgroupWatch::look`].
    pub(super) fn finish(mut self) -> Result<Cgroups, WorkerError> {
        self.look()?;
        self.settle(self.waiting.len());
        Ok(self.known())
    }

    /// The cgroups of tasks so far, and the kernel's account since the begin.
    pub(super) fn known(&self) -> Cgroups {
        let quotas = self.sampler.as_ref().map(QuotaSampler::samples).unwrap_or_default();
        let mut cgroups = self.cgroups.clone().with_quotas(quotas);
        self.lost.into_iter().for_each(|until| cgroups.end_at(until));
        for (path, now) in self.hierarchy.counters() {
            // One that is new has counted since it was made.
            let before = self.before.get(&path).copied().unwrap_or_default();
            let since = CgroupCounters {
                usage: now.usage.map(|usage| usage.saturating_sub(before.usage.unwrap_or(0))),
                quota: now.quota.map(|now| {
                    let before = before.quota.unwrap_or_default();
                    QuotaCounters {
                        throttled: now.throttled.saturating_sub(before.throttled),
                        periods: now.periods.saturating_sub(before.periods),
                        throttled_periods: now.throttled_periods.saturating_sub(before.throttled_periods),
                    }
                }),
            };
            cgroups.set_counters(&path, since);
        }
        cgroups
    }
}

/// The number of `task` in its own pid namespace; `None` if it is gone, and before Linux 4.1.
fn inner_pid(task: Pid) -> Option<Pid> {
    inner_of(&fs::read_to_string(format!("/proc/{task}/status")).ok()?)
}

/// The last number of the line `NSpid:` (Documentation/filesystems/proc.rst), which has one of each namespace from ours on.
fn inner_of(status: &str) -> Option<Pid> {
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    Some(Pid(numbers.split_whitespace().next_back()?.parse().ok()?))
}

impl CgroupFormats {
    fn of(formats: &[EventFormat]) -> Option<Self> {
        let mut found: HashMap<&str, &EventFormat> =
            formats.iter().map(|format| (format.name.as_str(), format)).collect();
        let field = |format: &EventFormat, name: &str| format.field(name).map(|field| (field.offset, field.size));
        let fork = found.remove("sched_process_fork")?;
        let moved = |format: &&EventFormat| {
            Some((format.id.0, [field(format, "dst_root")?, field(format, "pid")?, field(format, "dst_path")?]))
        };
        let moves: Vec<_> = found.values().filter_map(moved).collect();
        let fork = (fork.id.0, field(fork, "parent_pid")?, field(fork, "child_pid")?);
        (!moves.is_empty()).then_some(CgroupFormats { fork, moves })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_in_the_own_pid_namespace_is_the_last_one() {
        let status = |line: &str| format!("Name:\tsh\nPid:\t812\n{line}NSpgid:\t812\t7\n");
        let inner = |line: &str| inner_of(&status(line)).map(|pid| pid.0);
        assert_eq!(inner("NSpid:\t812\t31\t5\n"), Some(5));
        assert_eq!((inner("NSpid:\t812\n"), inner("")), (Some(812), None));
    }
}

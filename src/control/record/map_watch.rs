//! Memory maps of processes that come and go: what the kernel says of forks, of new programs and of each mapping (perf's side-band),
//! put together as `/proc/PID/maps` would have shown it before the process ended.

use super::proc_maps::ProcMaps;
use crate::base::sys::TaskEvents;
use crate::base::units::{Pid, counted};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// Processes whose maps are kept at most, of those that have ended.
const MOST: usize = 8192;

/// Events younger than this may be overtaken by older ones of another CPU that are not readable yet.
const SETTLE: Duration = Duration::from_millis(2);

/// Bytes of a CPU's ring.
const RING: usize = 256 << 10;

/// Listens to the kernel and follows the maps of processes.
#[derive(Debug)]
pub(super) struct MapWatch {
    rings: Vec<TaskEvents>,
    raw: Vec<u8>,
    /// Records that are too young to be put in order.
    pending: Vec<(u64, MapEvent)>,
    maps: FollowedMaps,
}

/// Maps that were followed.
#[derive(Debug, Default)]
pub(super) struct FollowedMaps {
    /// The processes that count, with all that they start; `None` for all.
    family: Option<HashSet<i32>>,
    processes: HashMap<i32, Arc<FollowedMap>>,
    /// Number of places where the kernel had no room for others.
    missed: u64,
    /// Number of processes without room here.
    left_out: u64,
}

/// A process's mappings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FollowedMap {
    /// By start: end, and the file with its build; no file of memory without one.
    ranges: BTreeMap<u64, (u64, Option<Arc<FollowedFile>>)>,
    /// The first file that was mapped, which is the program.
    program: Option<Arc<FollowedFile>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FollowedFile {
    path: String,
    build: Option<Vec<u8>>,
}

/// A record of the side-band.
#[derive(Clone, Debug, PartialEq, Eq)]
enum MapEvent {
    Forked {
        process: i32,
        parent: i32,
    },
    /// The process becomes another program.
    Executed {
        process: i32,
    },
    Mapped {
        process: i32,
        start: u64,
        end: u64,
        file: Option<FollowedFile>,
    },
    Missed,
}

impl MapWatch {
    /// Starts listening on `cpus`. `roots` are the processes that count, with all that they start; without it all do.
    ///
    /// # Errors
    /// If the kernel has no perf events of mappings, or not for us.
    pub(super) fn start(cpus: impl IntoIterator<Item = u32>, roots: Option<HashSet<i32>>) -> io::Result<Self> {
        let mut rings = Vec::new();
        for cpu in cpus {
            match TaskEvents::open_with_maps(cpu, RING, RING / 4) {
                Ok(ring) => rings.push(ring),
                Err(error) if super::offline::is_offline(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let maps = FollowedMaps { family: roots, ..FollowedMaps::default() };
        Ok(MapWatch { rings, raw: Vec::new(), pending: Vec::new(), maps })
    }

    /// Reads the maps of the processes that are there, then listens until `stop` is readable.
    pub(super) fn run(mut self, stop: BorrowedFd<'_>) -> FollowedMaps {
        self.drain();
        for pid in super::tasks::processes() {
            if self.maps.counts(pid)
                && let Some(map) = ProcMaps::read(Pid(pid))
            {
                self.maps.processes.insert(pid, Arc::new(FollowedMap::of(&map)));
            }
        }
        loop {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
            self.drain();
            self.settle(now.saturating_sub(SETTLE).as_nanos() as u64);
            let mut fds = vec![PollFd::new(stop, PollFlags::POLLIN)];
            fds.extend(self.rings.iter().map(|ring| PollFd::new(ring.as_fd(), PollFlags::POLLIN)));
            if poll(&mut fds, PollTimeout::from(250u16)).is_err() || fds[0].any().unwrap_or(false) {
                break;
            }
        }
        self.drain();
        self.settle(u64::MAX);
        self.maps
    }

    fn drain(&mut self) {
        for ring in &mut self.rings {
            self.raw.clear();
            ring.drain(&mut self.raw);
            parse(&self.raw, &mut self.pending);
        }
    }

    /// Takes the events up to `until`, in the order of time.
    fn settle(&mut self, until: u64) {
        self.pending.sort_by_key(|(time, _)| *time);
        let ready = self.pending.partition_point(|(time, _)| *time <= until);
        for (_, event) in self.pending.drain(..ready) {
            self.maps.take(event);
        }
    }
}

impl FollowedMaps {
    fn counts(&self, process: i32) -> bool {
        self.family.as_ref().is_none_or(|family| family.contains(&process))
    }

    fn take(&mut self, event: MapEvent) {
        match event {
            MapEvent::Forked { process, parent } => {
                if !self.counts(parent) {
                    return;
                }
                if let Some(family) = &mut self.family {
                    family.insert(process);
                }
                if let Some(map) = self.processes.get(&parent).cloned() {
                    self.keep(process, map);
                }
            }
            MapEvent::Executed { process } if self.counts(process) => self.keep(process, Arc::default()),
            MapEvent::Mapped { process, start, end, file } if self.counts(process) => {
                if !self.processes.contains_key(&process) {
                    self.keep(process, Arc::default());
                }
                if let Some(map) = self.processes.get_mut(&process) {
                    Arc::make_mut(map).insert(start, end, file);
                }
            }
            MapEvent::Missed => self.missed += 1,
            MapEvent::Executed { .. } | MapEvent::Mapped { .. } => {}
        }
    }

    fn keep(&mut self, process: i32, map: Arc<FollowedMap>) {
        if self.processes.len() >= MOST && !self.processes.contains_key(&process) {
            self.left_out += 1;
            return;
        }
        self.processes.insert(process, map);
    }

    /// The sentence on what is missing.
    pub(super) fn lack(&self) -> Option<String> {
        match (self.missed, self.left_out) {
            (0, 0) => None,
            (0, left_out) => Some(format!("memory maps of {} more are not stored", counted(left_out, "process"))),
            _ => Some(
                "the kernel had no room for some memory maps: names of programs that ended may be missing".to_owned(),
            ),
        }
    }

    /// The maps of all processes but those `known`, in the order of their numbers.
    pub(super) fn others(&self, known: &HashSet<Pid>) -> Vec<ProcMaps> {
        let mut others: Vec<_> = self.processes.iter().filter(|(pid, _)| !known.contains(&Pid(**pid))).collect();
        others.sort_unstable_by_key(|(pid, _)| **pid);
        others.into_iter().filter_map(|(pid, map)| map.maps(Pid(*pid))).collect()
    }
}

impl FollowedMap {
    fn of(map: &ProcMaps) -> Self {
        let mut followed = FollowedMap::default();
        for (start, end, path) in map.mappings() {
            let build = map.build_of(path).map(<[u8]>::to_vec);
            followed.insert(start, end, Some(FollowedFile { path: path.to_owned(), build }));
        }
        followed.program = Some(Arc::new(FollowedFile { path: map.program().to_owned(), build: None }));
        followed
    }

    /// Maps a file, or memory of no file, in place of whatever was there.
    fn insert(&mut self, start: u64, end: u64, file: Option<FollowedFile>) {
        if start >= end {
            return;
        }
        if let Some((&before, (until, _))) = self.ranges.range(..start).next_back()
            && *until > start
        {
            let (until, old) = self.ranges.get(&before).cloned().unwrap_or_default();
            self.ranges.insert(before, (start, old.clone()));
            if until > end {
                self.ranges.insert(end, (until, old));
            }
        }
        while let Some((&within, _)) = self.ranges.range(start..end).next() {
            if let Some((until, old)) = self.ranges.remove(&within).filter(|(until, _)| *until > end) {
                self.ranges.insert(end, (until, old));
            }
        }
        let known = file.as_ref().and_then(|file| {
            self.ranges.values().filter_map(|(_, known)| known.as_ref()).find(|known| ***known == *file).cloned()
        });
        let file = known.or_else(|| file.map(Arc::new));
        if self.program.is_none() {
            self.program = file.clone().filter(|file| file.path.starts_with('/'));
        }
        self.ranges.insert(start, (end, file));
    }

    fn maps(&self, pid: Pid) -> Option<ProcMaps> {
        let program = self.program.as_ref()?.path.clone();
        let named = self.ranges.iter().filter_map(|(start, (end, file))| {
            let file = file.as_ref()?;
            Some((*start, *end, file.path.clone()))
        });
        let builds = self.ranges.values().filter_map(|(_, file)| {
            let file = file.as_ref()?;
            Some((file.path.clone(), file.build.clone()?))
        });
        ProcMaps::of(pid, program, named.collect(), builds.collect())
    }
}

fn u32_at(of: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(of.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(of: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(of.get(at..at + 8)?.try_into().ok()?))
}

/// `misc` and the size of a record, from its head.
fn u16_at(of: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(of.get(at..at + 2)?.try_into().ok()?))
}

/// Reads the records that matter, each with its time; others are skipped.
fn parse(mut records: &[u8], out: &mut Vec<(u64, MapEvent)>) {
    while let Some(((kind, misc), size)) = u32_at(records, 0).zip(u16_at(records, 4)).zip(u16_at(records, 6)) {
        let Some(record) = records.get(..usize::from(size)).filter(|record| record.len() >= 24) else { return };
        records = &records[record.len()..];
        let (body, time) = record.split_at(record.len() - 8);
        let Some(time) = u64_at(time, 0) else { return };
        out.extend(event(kind, misc, body).map(|event| (time, event)));
    }
}

/// The event of a record without its time.
fn event(kind: u32, misc: u16, record: &[u8]) -> Option<MapEvent> {
    const LOST: u32 = 2;
    const COMM: u32 = 3;
    const FORK: u32 = 7;
    const MMAP2: u32 = 10;
    /// `PERF_RECORD_MISC_COMM_EXEC`.
    const EXEC: u16 = 1 << 13;
    /// `PERF_RECORD_MISC_MMAP_BUILD_ID`.
    const HAS_BUILD: u16 = 1 << 14;
    let number = |at| u32_at(record, at).map(|number| number as i32);
    Some(match kind {
        LOST => MapEvent::Missed,
        COMM if misc & EXEC != 0 => MapEvent::Executed { process: number(8)? },
        FORK => {
            let (process, parent, task) = (number(8)?, number(12)?, number(16)?);
            // A thread's process is its parent's.
            if process == parent || process != task {
                return None;
            }
            MapEvent::Forked { process, parent }
        }
        MMAP2 => {
            let (process, start, length) = (number(8)?, u64_at(record, 16)?, u64_at(record, 24)?);
            let id = record.get(44..44 + usize::from(*record.get(40)?).min(20))?;
            let build = (misc & HAS_BUILD != 0 && !id.is_empty()).then(|| id.to_vec());
            let name = record.get(72..)?.split(|byte| *byte == 0).next().unwrap_or_default();
            let path = String::from_utf8_lossy(name).into_owned();
            let is_named = !path.is_empty() && !path.starts_with("//");
            let file = is_named.then_some(FollowedFile { path, build });
            MapEvent::Mapped { process, start, end: start.checked_add(length)?, file }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Option<FollowedFile> {
        Some(FollowedFile { path: path.to_owned(), build: Some(vec![1, 2]) })
    }

    fn shown(map: &FollowedMap) -> Vec<(u64, u64, &str)> {
        let ranges = map.ranges.iter();
        ranges.map(|(start, (end, file))| (*start, *end, file.as_ref().map_or("-", |file| &*file.path))).collect()
    }

    #[test]
    fn what_is_mapped_takes_its_place() {
        let mut map = FollowedMap::default();
        map.insert(100, 200, file("/a"));
        map.insert(120, 140, file("/b"));
        map.insert(190, 220, None);
        assert_eq!(shown(&map), [(100, 120, "/a"), (120, 140, "/b"), (140, 190, "/a"), (190, 220, "-")]);
        map.insert(110, 300, file("/c"));
        assert_eq!(shown(&map), [(100, 110, "/a"), (110, 300, "/c")]);
        map.insert(50, 60, file("/d"));
        map.insert(60, 60, file("/e"));
        assert_eq!(shown(&map), [(50, 60, "/d"), (100, 110, "/a"), (110, 300, "/c")]);
    }

    #[test]
    fn a_child_has_its_parents_map_until_it_is_another_program() {
        let mut maps = FollowedMaps { family: Some([7].into()), ..FollowedMaps::default() };
        let mapped = |process, start, path| MapEvent::Mapped { process, start, end: start + 10, file: file(path) };
        for event in [
            mapped(7, 0, "/sh"),
            mapped(6, 0, "/other"),
            MapEvent::Forked { process: 8, parent: 7 },
            MapEvent::Forked { process: 9, parent: 8 },
            MapEvent::Forked { process: 5, parent: 6 },
            MapEvent::Executed { process: 9 },
            mapped(9, 0, "/ls"),
            mapped(8, 10, "/lib"),
        ] {
            maps.take(event);
        }
        let others = maps.others(&[Pid(7)].into());
        let texts: Vec<String> = others.iter().map(|map| String::from_utf8(map.option()).unwrap()).collect();
        assert_eq!(texts, ["8 2 /sh\n0 a /sh\na 14 /lib\n\0", "9 1 /ls\n0 a /ls\n\0"]);
        assert_eq!(others[1].build_of("/ls"), Some(&[1, 2][..]));
    }

    #[test]
    fn records_are_read_as_the_kernel_writes_them() {
        let record = |kind: u32, misc: u16, body: &[u8], time: u64| {
            let size = (8 + body.len() + 8) as u16;
            let head = [&kind.to_ne_bytes()[..], &misc.to_ne_bytes(), &size.to_ne_bytes()].concat();
            [&head[..], body, &time.to_ne_bytes()].concat()
        };
        let pids = [7i32, 7].map(i32::to_ne_bytes).concat();
        let place = [4096u64, 8192, 0].map(u64::to_ne_bytes).concat();
        let id = [&[3u8, 0, 0, 0][..], &[9, 8, 7], &[0; 17]].concat();
        let name = *b"/bin/a\0\0";
        let mapped = record(10, 1 << 14, &[&pids[..], &place, &id, &[0; 8], &name].concat(), 5);
        let forked = record(7, 0, &[[9i32, 7, 9, 7].map(i32::to_ne_bytes).concat(), vec![0; 8]].concat(), 6);
        let thread = record(7, 0, &[[7i32, 7, 10, 7].map(i32::to_ne_bytes).concat(), vec![0; 8]].concat(), 6);
        let executed = record(3, 1 << 13, &[&pids[..], &[0; 16]].concat(), 7);
        let renamed = record(3, 0, &[&pids[..], &[0; 16]].concat(), 7);
        let all = [mapped, forked, thread, executed, renamed].concat();
        let mut out = Vec::new();
        parse(&all, &mut out);
        let build = Some(vec![9, 8, 7]);
        let file = Some(FollowedFile { path: "/bin/a".to_owned(), build });
        assert_eq!(
            out,
            [
                (5, MapEvent::Mapped { process: 7, start: 4096, end: 12288, file }),
                (6, MapEvent::Forked { process: 9, parent: 7 }),
                (7, MapEvent::Executed { process: 7 }),
            ]
        );
        for len in 0..all.len() {
            parse(&all[..len], &mut Vec::new());
        }
    }
}

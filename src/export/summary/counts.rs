//! Counts of the records of one buffer.

use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::{Lost, Record};
use std::collections::HashMap;

/// Counts of the records of one buffer.
#[derive(Clone, Debug)]
pub struct BufferCounts {
    abi: Abi,
    pid_at: Option<usize>,
    events: Vec<EventTally>,
    cpus: Vec<CpuTally>,
    tasks: Vec<(Pid, EventTally)>,
    by_pid: HashMap<Pid, u32>,
}

/// A number of events, and their bytes in the ring buffer without headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventTally {
    /// Events.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Events and losses of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTally {
    /// The CPU.
    pub cpu: CpuId,
    /// Events of the type.
    pub events: EventTally,
    /// Events that the kernel said it dropped.
    pub lost: u64,
    /// Number of times that the kernel dropped events without a count.
    pub lost_unknown: u64,
    /// The first and the last event.
    pub span: Option<(Timestamp, Timestamp)>,
    /// The task seen last: index into the tasks.
    task: u32,
}

/// No kernel has more CPUs.
const MAX_CPUS: usize = 1 << 16;

impl BufferCounts {
    /// Counts nothing yet. `pid_at` is the offset of `common_pid`, in bytes; `None` if events do not tell their task.
    pub fn new(abi: Abi, pid_at: Option<usize>) -> Self {
        BufferCounts { abi, pid_at, events: Vec::new(), cpus: Vec::new(), tasks: Vec::new(), by_pid: HashMap::new() }
    }

    /// Adds what was counted of records that come after all that were counted here.
    pub fn add_later(&mut self, later: &BufferCounts) {
        if self.events.len() < later.events.len() {
            self.events.resize(later.events.len(), EventTally::default());
        }
        self.events.iter_mut().zip(&later.events).for_each(|(all, more)| *all += *more);
        if self.cpus.len() < later.cpus.len() {
            self.new_cpus(later.cpus.len() - 1);
        }
        for (all, more) in self.cpus.iter_mut().zip(&later.cpus) {
            all.events += more.events;
            all.lost += more.lost;
            all.lost_unknown += more.lost_unknown;
            all.span = all.span.or(more.span).zip(more.span.or(all.span)).map(|(first, last)| (first.0, last.1));
        }
        for (pid, tally) in &later.tasks {
            let task = self.task(*pid);
            self.tasks[task as usize].1 += *tally;
        }
    }

    /// Counts a record by its event only.
    #[inline]
    pub fn count(&mut self, data: &[u8]) {
        let id = usize::from(data.first_chunk().map_or(0, |id| self.abi.u16(*id)));
        if self.events.len() <= id {
            self.events.resize(id + 1, EventTally::default());
        }
        self.events[id].add(data);
    }

    /// The ids of the events that were counted, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u16> {
        self.events.iter().enumerate().filter(|(_, tally)| tally.count > 0).map(|(id, _)| id as u16)
    }

    /// Counts a record by event, CPU and task.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) {
        self.count(record.data);
        let index = record.cpu.0 as usize % MAX_CPUS;
        if self.cpus.len() <= index {
            self.new_cpus(index);
        }
        let cpu = &mut self.cpus[index];
        cpu.events.add(record.data);
        match record.lost {
            Lost::None => {}
            Lost::Count(count) => cpu.lost += count,
            Lost::Unknown => cpu.lost_unknown += 1,
        }
        let first = cpu.span.map_or(record.timestamp, |span| span.0);
        cpu.span = Some((first, record.timestamp));
        let Some(pid_at) = self.pid_at else { return };
        let pid = Pid(self.abi.int(record.data, pid_at, 4).unwrap_or(0) as i32);
        match self.tasks.get_mut(cpu.task as usize) {
            Some((of, tally)) if *of == pid => tally.add(record.data),
            _ => self.other_task(index, pid, record.data),
        }
    }

    #[cold]
    fn new_cpus(&mut self, index: usize) {
        for cpu in self.cpus.len()..=index {
            let cpu = CpuId(cpu as u32);
            let events = EventTally::default();
            self.cpus.push(CpuTally { cpu, events, lost: 0, lost_unknown: 0, span: None, task: 0 });
        }
    }

    fn task(&mut self, pid: Pid) -> u32 {
        *self.by_pid.entry(pid).or_insert_with(|| {
            self.tasks.push((pid, EventTally::default()));
            self.tasks.len() as u32 - 1
        })
    }

    fn other_task(&mut self, cpu: usize, pid: Pid, data: &[u8]) {
        let task = self.task(pid);
        self.cpus[cpu].task = task;
        self.tasks[task as usize].1.add(data);
    }

    /// Per event id that occurred: how often.
    pub fn events(&self) -> impl Iterator<Item = (u16, EventTally)> + '_ {
        self.events.iter().enumerate().filter(|(_, t)| t.count > 0).map(|(id, t)| (id as u16, *t))
    }

    /// The CPUs that had events, by rising number.
    pub fn cpus(&self) -> impl Iterator<Item = &CpuTally> {
        self.cpus.iter().filter(|c| c.events.count > 0)
    }

    /// The tasks that were running, in the order they came up.
    pub fn tasks(&self) -> &[(Pid, EventTally)] {
        &self.tasks
    }

    /// Everything counted.
    pub fn total(&self) -> EventTally {
        let mut total = EventTally::default();
        self.events().for_each(|(_, t)| total += t);
        total
    }

    /// The first and the last event of all.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let spans = || self.cpus().filter_map(|c| c.span);
        Some((spans().map(|s| s.0).min()?, spans().map(|s| s.1).max()?))
    }
}

impl EventTally {
    #[inline]
    fn add(&mut self, data: &[u8]) {
        self.count += 1;
        self.bytes += data.len() as u64;
    }
}

impl std::ops::AddAssign for EventTally {
    fn add_assign(&mut self, other: EventTally) {
        self.count += other.count;
        self.bytes += other.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        let mut summary = BufferCounts::new(Abi::HOST, Some(4));
        let mut add = |ts, cpu, id: u16, pid: i32, lost| {
            let mut data = vec![0; 12];
            data[..2].copy_from_slice(&id.to_ne_bytes());
            data[4..8].copy_from_slice(&pid.to_ne_bytes());
            summary.add(&Record { timestamp: Timestamp(ts), cpu: CpuId(cpu), buffer: 0, lost, data: &data });
        };
        add(10, 1, 7, 100, Lost::None);
        add(11, 1, 7, 0, Lost::Count(5));
        add(12, 3, 9, 100, Lost::Unknown);
        add(13, 1, 7, 100, Lost::None);
        let events: Vec<_> = summary.events().map(|(id, t)| (id, t.count, t.bytes)).collect();
        assert_eq!(events, [(7, 3, 36), (9, 1, 12)]);
        let cpus: Vec<_> = summary.cpus().map(|c| (c.cpu.0, c.events.count, c.lost, c.lost_unknown)).collect();
        assert_eq!(cpus, [(1, 3, 5, 0), (3, 1, 0, 1)]);
        let tasks: Vec<_> = summary.tasks().iter().map(|(pid, t)| (pid.0, t.count)).collect();
        assert_eq!(tasks, [(100, 3), (0, 1)]);
        assert_eq!(summary.span(), Some((Timestamp(10), Timestamp(13))));
        assert_eq!(summary.total(), EventTally { count: 4, bytes: 48 });
    }
}

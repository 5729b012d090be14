//! Cache of formatted line prefixes: task columns, second, millisecond.

use super::RecordHead;
use super::text_cache::TextCache;
use crate::base::text::plain;

/// The columns of recent tasks, of the current second and of the current millisecond. All of it can be formatted again:
/// clones begin empty.
#[derive(Debug, Default)]
pub(crate) struct PrefixCache {
    tasks: Slots<TaskColumns>,
    second: Second,
    fronts: Slots<TaskFront>,
    milli: Milli,
    pub(crate) repeats: TextCache,
}

const ROOM: usize = 48;

#[derive(Clone, Copy, Debug)]
struct TaskColumns {
    pid: i32,
    cpu: u32,
    layout: u8,
    /// 0: the slot is empty.
    len: u8,
    /// Length of the name that is not final, in bytes; 0: it is final.
    provisional: u8,
    text: [u8; ROOM],
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    /// Its start, in nanoseconds.
    start: u64,
    /// 0: none yet.
    len: u8,
    text: [u8; 16],
}

/// A task's columns with the flags after them: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct TaskFront {
    key: FrontKey,
    len: u8,
    text: [u8; ROOM],
}

/// Task, CPU, flags and depths, which are all that such columns tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrontKey(u64);

/// The start of the time column.
#[derive(Clone, Copy, Debug, Default)]
struct Milli {
    /// Its start, in microseconds.
    start: u64,
    /// 0: none yet.
    len: u8,
    text: [u8; 16],
}

impl FrontKey {
    /// No record has it.
    const NONE: FrontKey = FrontKey(u64::MAX);

    #[inline(always)]
    pub(crate) fn new(head: &RecordHead, cpu: u32) -> Option<FrontKey> {
        let cpu = u16::try_from(cpu).ok().filter(|cpu| *cpu < u16::MAX)?;
        let (flags, depths) = (u64::from(head.flags), u64::from(head.preempt_count));
        Some(FrontKey(u64::from(cpu) << 48 | depths << 40 | flags << 32 | u64::from(head.pid.0 as u32)))
    }

    #[inline(always)]
    fn pid(self) -> i32 {
        self.0 as i32
    }

    #[inline(always)]
    fn cpu(self) -> u32 {
        (self.0 >> 48) as u32
    }

    #[inline(always)]
    fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize
    }
}

impl Clone for PrefixCache {
    fn clone(&self) -> Self {
        PrefixCache::default()
    }
}

impl PrefixCache {
    /// Without the columns whose names are not final.
    pub(crate) fn without_provisional(mut self) -> Self {
        self.tasks.iter_mut().filter(|task| task.provisional > 0).for_each(|task| task.len = 0);
        self
    }

    /// Forgets the columns of a task that was printed without a name and has one now. Cached records stay: their text
    /// is made of their own bytes.
    #[cold]
    pub(crate) fn forget_task(&mut self, pid: i32) {
        self.tasks.iter_mut().filter(|task| task.pid == pid).for_each(|task| task.len = 0);
        self.fronts.iter_mut().filter(|front| front.key.pid() == pid).for_each(|front| front.key = FrontKey::NONE);
    }

    /// Forgets everything that depends on names, or has taught some.
    #[cold]
    pub(crate) fn forget_names(&mut self) {
        self.repeats.forget();
        self.tasks.clear();
        self.fronts.clear();
    }

    /// The columns of a task with its flags, and how many bytes of them count, if they are known.
    #[inline(always)]
    pub(crate) fn front(&self, key: FrontKey) -> Option<(&[u8; ROOM], usize)> {
        let front = self.fronts.get(key.cpu(), key.hash())?;
        (front.key == key).then_some((&front.text, usize::from(front.len)))
    }

    /// Remembers them, if they are of the usual size.
    #[cold]
    pub(crate) fn keep_front(&mut self, key: FrontKey, columns: &[u8]) {
        let mut front = TaskFront { key, len: columns.len() as u8, text: [0; ROOM] };
        let Some(text) = front.text.get_mut(..columns.len()) else { return };
        text.copy_from_slice(columns);
        self.fronts.put(key.cpu(), key.hash(), front, TaskFront { key: FrontKey::NONE, ..front });
    }

    /// The time column up to the millisecond in which `micros` lies, how many bytes of it count, and the microseconds
    /// that remain, below 1000; `None` if it is not known.
    #[inline(always)]
    pub(crate) fn milli(&self, micros: u64) -> Option<(&[u8; 16], usize, usize)> {
        let rest = micros.wrapping_sub(self.milli.start);
        (rest < 1000 && self.milli.len > 0).then_some((&self.milli.text, usize::from(self.milli.len), rest as usize))
    }

    /// Remembers the time column of `micros`, which ends with three digits of microseconds and a colon.
    #[cold]
    pub(crate) fn keep_milli(&mut self, micros: u64, column: &[u8]) {
        self.milli = Milli::default();
        let column = column.get(..column.len().saturating_sub(4)).unwrap_or_default();
        if let Some(text) = self.milli.text.get_mut(..column.len()) {
            text.copy_from_slice(column);
            self.milli = Milli { start: micros.saturating_sub(micros % 1000), len: column.len() as u8, ..self.milli };
        }
    }

    /// Appends a task's columns as they are in that layout, and returns how many bytes of them are a name that is not
    /// final; `None` if they are not known.
    #[inline(always)]
    pub(crate) fn put_task(&self, pid: i32, cpu: u32, layout: u8, out: &mut Vec<u8>) -> Option<usize> {
        match self.tasks.get(cpu, pid as usize) {
            Some(task) if task.pid == pid && task.cpu == cpu && task.layout == layout && task.len > 0 => {
                plain::piece(out, &task.text, usize::from(task.len));
                Some(task.provisional.into())
            }
            _ => None,
        }
    }

    /// Remembers a task's columns, if they are of the usual size. The first `provisional` bytes are a name that is not
    /// final.
    #[cold]
    pub(crate) fn keep_task(&mut self, pid: i32, cpu: u32, layout: u8, columns: &[u8], provisional: usize) {
        let (len, provisional) = (columns.len() as u8, provisional as u8);
        let mut task = TaskColumns { pid, cpu, layout, len, provisional, text: [0; ROOM] };
        let Some(text) = task.text.get_mut(..columns.len()) else { return };
        text.copy_from_slice(columns);
        self.tasks.put(cpu, pid as usize, task, TaskColumns { len: 0, ..task });
    }

    /// Appends the text of the second in which `nanos` lies, and gives the rest, below 10^9; `None` if it is not known.
    #[inline(always)]
    pub(crate) fn put_second(&self, nanos: u64, out: &mut Vec<u8>) -> Option<u32> {
        let rest = nanos.wrapping_sub(self.second.start);
        if rest >= 1_000_000_000 || self.second.len == 0 {
            return None;
        }
        plain::piece(out, &self.second.text, usize::from(self.second.len));
        Some(rest as u32)
    }

    /// Remembers the text of the second that starts at `start`.
    #[cold]
    pub(crate) fn keep_second(&mut self, start: u64, column: &[u8]) {
        self.second = Second::default();
        if let Some(text) = self.second.text.get_mut(..column.len()) {
            text.copy_from_slice(column);
            self.second = Second { start, len: column.len() as u8, ..self.second };
        }
    }
}

// Slots of a cache, several per CPU: CPUs that alternate do not evict each other's entries.

/// Values by CPU and hash. It grows with the CPUs that are seen.
#[derive(Clone, Debug)]
struct Slots<T> {
    /// None yet, or a power of two: those of a CPU lie together.
    slots: Vec<T>,
    /// A CPU has two to the power of this.
    bits: u32,
}

/// The fewest slots of all CPUs together, and of one CPU.
const LEAST: usize = 512;
const LEAST_OF_CPU: usize = 16;
/// CPUs beyond these share slots: an absurd number must not fill the memory.
const MOST_CPUS: usize = 1024;

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), bits: 0 }
    }
}

impl<T: Copy> Slots<T> {
    /// The slot of a CPU and a hash, of which the lowest bits count, if the CPU has been seen.
    #[inline(always)]
    fn get(&self, cpu: u32, hash: usize) -> Option<&T> {
        self.slots.get(self.at(cpu, hash))
    }

    /// Puts `value` there; slots that are made for that are `empty`.
    fn put(&mut self, cpu: u32, hash: usize, value: T, empty: T) {
        if self.at(cpu, hash) >= self.slots.len() {
            let cpus = (cpu as usize % MOST_CPUS).saturating_add(1).next_power_of_two();
            let of_cpu = LEAST.checked_div(cpus).unwrap_or_default().max(LEAST_OF_CPU);
            self.bits = of_cpu.ilog2();
            self.slots.clear();
            self.slots.resize(cpus.saturating_mul(of_cpu), empty);
        }
        let at = self.at(cpu, hash);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = value;
        }
    }

    /// All of them.
    fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut()
    }

    /// Forgets all of them.
    fn clear(&mut self) {
        self.slots.clear();
    }

    #[inline(always)]
    fn at(&self, cpu: u32, hash: usize) -> usize {
        let first = (cpu as usize % MOST_CPUS) << self.bits;
        first | hash & !(usize::MAX << self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::TextLookup;
    use super::*;

    #[test]
    fn columns_are_of_their_task_and_second() {
        let mut recent = PrefixCache::default();
        let mut out = Vec::new();
        assert!(recent.put_task(1, 0, 0, &mut out).is_none() && recent.put_second(0, &mut out).is_none());
        recent.keep_task(1, 0, 0, b"one", 0);
        recent.keep_task(2, 0, 0, &[b'-'; ROOM + 1], 0);
        assert_eq!(recent.put_task(1, 0, 0, &mut out), Some(0));
        for (pid, cpu, layout) in [(1, 0, 1), (1, 64, 0), (2, 0, 0), (65, 0, 0)] {
            assert_eq!(recent.put_task(pid, cpu, layout, &mut out), None);
        }
        recent.keep_second(5_000_000_000, b" 5.");
        assert_eq!(recent.put_second(5_999_999_999, &mut out), Some(999_999_999));
        assert_eq!((recent.put_second(6_000_000_000, &mut out), recent.put_second(4, &mut out)), (None, None));
        assert_eq!(out, b"one 5.");
        let head = |pid, flags| RecordHead { id: 1, flags, preempt_count: 0, pid: crate::base::units::Pid(pid) };
        let key = |pid, flags, cpu| FrontKey::new(&head(pid, flags), cpu).unwrap();
        recent.keep_front(key(1, 2, 3), b"one d");
        assert_eq!(recent.front(key(1, 2, 3)).map(|(text, len)| &text[..len]), Some(&b"one d"[..]));
        for other in [key(2, 2, 3), key(1, 1, 3), key(1, 2, 2), key(-1, 255, 65534)] {
            assert!(recent.front(other).is_none());
        }
        assert!(FrontKey::new(&head(1, 1), 65535).is_none());
        recent.keep_milli(5_001_234, b"     5.001234:");
        assert_eq!(recent.milli(5_001_999), Some((b"     5.001\0\0\0\0\0\0", 10, 999)));
        assert!(recent.milli(5_002_000).is_none() && recent.milli(5_000_999).is_none());
        assert!(recent.clone().put_task(1, 0, 0, &mut out).is_none());
        let switch = [1; 24];
        assert!(matches!(recent.repeats.find(1, &switch), TextLookup::Skipped), "the first of all");
        let TextLookup::Miss(at) = recent.repeats.find(1, &switch) else { panic!("it is not known yet") };
        recent.repeats.keep(at, &switch, b"one ==> two\n");
        recent.keep_task(3, 0, 0, b"three?", 5);
        assert_eq!(recent.put_task(3, 0, 0, &mut out), Some(5));
        let mut recent = recent.without_provisional();
        assert_eq!((recent.put_task(3, 0, 0, &mut out), recent.put_task(1, 0, 0, &mut out)), (None, Some(0)));
        recent.forget_task(2);
        assert!(recent.put_task(1, 0, 0, &mut out).is_some() && recent.front(key(1, 2, 3)).is_some());
        recent.forget_task(1);
        assert!(recent.put_task(1, 0, 0, &mut out).is_none() && recent.front(key(1, 2, 3)).is_none());
        assert!(matches!(recent.repeats.find(1, &switch), TextLookup::Hit(_, 12)));
        recent.forget_names();
        // It teaches names, and is to do so again when all have changed.
        assert!(matches!(recent.repeats.find(1, &switch), TextLookup::Miss(_)));
    }

    #[test]
    fn cpus_do_not_share_slots_until_they_are_absurdly_many() {
        let mut slots = Slots::<usize>::default();
        assert_eq!(slots.get(0, 0), None);
        for cpus in [1, 2, 3, 8, 100, MOST_CPUS] {
            slots.put(cpus as u32 - 1, 7, 0, 0); // grows at once, which empties it
            let hashes = (LEAST / cpus.next_power_of_two()).max(LEAST_OF_CPU);
            let all = || (0..cpus).flat_map(|cpu| (0..hashes).map(move |hash| (cpu as u32, hash)));
            all().for_each(|(cpu, hash)| slots.put(cpu, hash, 1 + cpu as usize * 1000 + hash, 0));
            assert!(all().all(|(cpu, hash)| slots.get(cpu, hash) == Some(&(1 + cpu as usize * 1000 + hash))), "{cpus}");
        }
        slots.put(u32::MAX, usize::MAX, 9, 0);
        assert_eq!(slots.get(MOST_CPUS as u32 - 1, LEAST_OF_CPU - 1), Some(&9));
        assert_eq!(slots.iter_mut().count(), MOST_CPUS * LEAST_OF_CPU);
        slots.clear();
        assert_eq!(slots.get(0, 0), None);
    }
}

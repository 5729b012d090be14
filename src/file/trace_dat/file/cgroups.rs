//! The cgroup of each task over time: the content of our RTRACE_CGROUPS option.
//!
//! ```text
//! hierarchy cpu,cpuacct                    its controllers as in /proc/PID/cgroup; empty for that of cgroup v2
//! cgroup 0 /                               number and path
//! cgroup 1 /system.slice/db.service
//! follow 1                                 number of a cgroup that the recording is restricted to
//! container 4f1c2a9be07d... web            id and name of a container, where its manager has one
//! counters 1 usage 1200000 throttled 0 periods 12 throttled_periods 0
//! task 812 0 0 771234 1                    thread id, then pairs of time and cgroup
//! inside 812 771234 5                      thread id, then pairs of time and number in its own pid namespace; 0: not seen
//! until 990000                             only where events were lost: nothing is known of later times
//! ```
//!
//! Times are the main buffer's trace clock; counters are what the kernel counted from begin to end of tracing.

use super::container::container_in;
use super::quota_samples::QuotaSamples;
use crate::base::units::Pid;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::str::FromStr;

/// The cgroups of a recording's tasks. A task without an entry is of no known cgroup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cgroups {
    hierarchy: String,
    paths: Vec<String>,
    numbers: HashMap<String, u32>,
    followed: BTreeSet<u32>,
    counters: BTreeMap<u32, CgroupCounters>,
    /// By task: since when it is in which cgroup, ascending.
    tasks: BTreeMap<Pid, Vec<(u64, u32)>>,
    /// Names of containers by their ids.
    containers: BTreeMap<String, String>,
    /// By task: since when it has which number in its own pid namespace; `None` if it was not seen. Tasks of the recorder's
    /// namespace have no entry.
    inner: BTreeMap<Pid, Vec<(u64, Option<Pid>)>>,
    until: Option<u64>,
    /// Throttled time over time; an option of its own.
    quotas: QuotaSamples,
}

/// The kernel's own account of a cgroup and all below it (`cpu.stat`, `cpuacct.usage`), from begin to end of tracing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupCounters {
    /// CPU time in nanoseconds; `None` if its hierarchy has no account of it.
    pub usage: Option<u64>,
    /// Account of its quota; `None` if it can have none, as where its hierarchy has not the controller `cpu`.
    pub quota: Option<QuotaCounters>,
}

/// The kernel's account of a cgroup's quota, from begin to end of tracing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaCounters {
    /// Time for which its tasks were kept from running by its quota (`cpu.max`), in nanoseconds, summed over CPUs.
    pub throttled: u64,
    /// Periods of its quota that ended.
    pub periods: u64,
    /// Of them, those in which it was throttled.
    pub throttled_periods: u64,
}

/// Digits of a container's id, and how many of them stand for it.
const ID: usize = 64;
const SHORT_ID: usize = 12;
/// In place of a number in a pid namespace that was not seen.
const NOT_SEEN: Pid = Pid(0);
/// The stamps of one fork in two buffers are less than this apart, in clock units.
const STAMPS: u64 = 1_000_000;

impl Cgroups {
    /// Nothing yet, of the hierarchy with these controllers; empty for that of cgroup v2.
    pub fn new(hierarchy: impl Into<String>) -> Self {
        Cgroups { hierarchy: hierarchy.into(), ..Cgroups::default() }
    }

    /// Controllers of the hierarchy, as in `/proc/PID/cgroup`; empty for that of cgroup v2.
    pub fn hierarchy(&self) -> &str {
        &self.hierarchy
    }

    /// The cgroups that tasks are or were in, or that have counters.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The cgroups that the recording is restricted to, with all below them; none if it is not.
    pub fn followed(&self) -> impl Iterator<Item = &str> {
        self.followed.iter().filter_map(|number| self.path(*number))
    }

    /// The kernel's account of `path`, if it was there at the end.
    pub fn counters(&self, path: &str) -> Option<CgroupCounters> {
        self.counters.get(self.numbers.get(path)?).copied()
    }

    /// True if the kernel had an account of some cgroup's quota: else which quotas there were is not known.
    pub fn have_quotas(&self) -> bool {
        self.counters.values().any(|counters| counters.quota.is_some())
    }

    /// Throttled time of cgroups that have quotas, over time.
    pub fn quotas(&self) -> &QuotaSamples {
        &self.quotas
    }

    /// The same with this throttled time.
    #[must_use]
    pub fn with_quotas(self, quotas: QuotaSamples) -> Self {
        Cgroups { quotas, ..self }
    }

    /// The cgroup of `task` at `time`; `None` if that is not known.
    pub fn at(&self, task: Pid, time: u64) -> Option<&str> {
        if self.until.is_some_and(|until| time > until) {
            return None;
        }
        self.path(*at_time(self.tasks.get(&task)?, time)?)
    }

    /// The number of `task` in its own pid namespace at `time`: its own if that is the recorder's. `None` if that is not known.
    pub fn inner_pid(&self, task: Pid, time: u64) -> Option<Pid> {
        self.at(task, time)?;
        match self.inner.get(&task).and_then(|all| at_time(all, time)) {
            Some(seen) => *seen,
            None => Some(task),
        }
    }

    /// True if tasks of other pid namespaces than the recorder's were seen.
    pub fn has_inner_pids(&self) -> bool {
        let is_other = |(task, all): (&Pid, &Vec<(u64, Option<Pid>)>)| {
            all.iter().any(|(_, inner)| inner.is_some_and(|inner| inner != *task))
        };
        self.inner.iter().any(is_other)
    }

    /// The container that the cgroup `path` is of, or one above it: its name, or else the beginning of its id.
    pub fn container<'a>(&'a self, path: &'a str) -> Option<&'a str> {
        let id = container_in(path)?;
        let named = self.containers.get(id).map(String::as_str);
        named.or(if id.len() == ID { id.get(..SHORT_ID) } else { Some(id) })
    }

    /// The containers that cgroups are of.
    pub fn containers(&self) -> BTreeSet<&str> {
        self.paths().filter_map(|path| self.container(path)).collect()
    }

    /// The cgroups of `task`, each with the time since which it is in it.
    pub fn of(&self, task: Pid) -> impl Iterator<Item = (u64, &str)> {
        let moves = self.tasks.get(&task).into_iter().flatten();
        moves.filter_map(|(since, number)| Some((*since, self.path(*number)?)))
    }

    /// The moments at which the cgroup of `task` changes, or ceases to be known, ascending.
    pub fn moves(&self, task: Pid) -> impl DoubleEndedIterator<Item = u64> {
        let changes = self.tasks.get(&task).map_or(&[][..], Vec::as_slice);
        let end = self.until.map(|until| until.saturating_add(1));
        let known = changes.partition_point(|(since, _)| end.is_none_or(|end| *since < end));
        changes.iter().take(known).map(|(since, _)| *since).chain(end)
    }

    /// The time up to which they are known; `None` if that is to the end.
    pub fn until(&self) -> Option<u64> {
        self.until
    }

    /// The tasks that are or were in one of them.
    pub fn known_tasks(&self) -> impl Iterator<Item = Pid> {
        self.tasks.keys().copied()
    }

    /// Number of tasks.
    pub fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Number of tasks, and of changes of cgroups and of numbers in pid namespaces.
    pub fn len(&self) -> usize {
        let inner: usize = self.inner.values().map(Vec::len).sum();
        self.tasks.values().map(Vec::len).sum::<usize>().saturating_add(inner)
    }

    /// True if of no task anything is known.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Says that `task` is in `path` since `time`; gives the number of that cgroup if it was in another. Times of a task ascend.
    pub fn set(&mut self, task: Pid, time: u64, path: &str) -> Option<u32> {
        let number = self.number(path);
        let moves = self.tasks.entry(task).or_default();
        let is_new = moves.last().is_none_or(|(_, last)| *last != number);
        if is_new {
            moves.push((time, number));
        }
        is_new.then_some(number)
    }

    /// Ids and names of containers.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.containers.iter().map(|(id, name)| (id.as_str(), name.as_str()))
    }

    /// True if a task was in `path`, or it has counters.
    pub fn has(&self, path: &str) -> bool {
        self.numbers.contains_key(path)
    }

    /// Says what number `task` has in its own pid namespace since `time`, `None` if that was not seen; true if that is news.
    /// Times of a task ascend.
    pub fn set_inner_pid(&mut self, task: Pid, time: u64, inner: Option<Pid>) -> bool {
        if inner == Some(task) && !self.inner.contains_key(&task) {
            return false;
        }
        let all = self.inner.entry(task).or_default();
        let is_new = all.last().is_none_or(|(_, last)| *last != inner);
        if is_new {
            all.push((time, inner));
        }
        is_new
    }

    /// Says the name of the container `id`. One that no line can hold is none.
    pub fn set_container(&mut self, id: &str, name: &str) {
        let is_word = |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        if is_word(id) && is_word(name) {
            self.containers.insert(id.to_owned(), name.to_owned());
        }
    }

    /// Says that the recording is restricted to `path` and all below.
    pub fn follow(&mut self, path: &str) {
        let number = self.number(path);
        self.followed.insert(number);
    }

    /// Says what the kernel counted.
    pub fn set_counters(&mut self, path: &str, counters: CgroupCounters) {
        let number = self.number(path);
        self.counters.insert(number, counters);
    }

    /// Says that nothing is known of times after `time`.
    pub fn end_at(&mut self, time: u64) {
        self.until = Some(self.until.map_or(time, |until| until.min(time)));
    }

    /// Forgets the tasks that `keep` does not name.
    pub fn retain(&mut self, mut keep: impl FnMut(Pid) -> bool) {
        self.tasks.retain(|task, _| keep(*task));
        self.inner.retain(|task, _| self.tasks.contains_key(task));
    }

    fn path(&self, number: u32) -> Option<&str> {
        self.paths.get(number as usize).map(String::as_str)
    }

    fn number(&mut self, path: &str) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        let number = self.paths.len() as u32;
        self.paths.push(path.to_owned());
        self.numbers.insert(path.to_owned(), number);
        number
    }

    /// The same cgroups by other names, without those of containers: `to` gives that of each path, and different ones of different
    /// paths.
    pub fn with_paths(mut self, to: impl Fn(&str) -> String) -> Self {
        self.paths = self.paths.iter().map(|path| to(path)).collect();
        self.quotas.map(to, |time| time);
        self.containers.clear();
        self.numbers = self.paths.iter().cloned().zip(0..).collect();
        self
    }

    /// As the option holds it.
    pub fn to_text(&self) -> String {
        let mut text = format!("hierarchy {}\n", self.hierarchy);
        for (number, path) in self.paths.iter().enumerate() {
            let _ = writeln!(text, "cgroup {number} {path}");
        }
        for number in &self.followed {
            let _ = writeln!(text, "follow {number}");
        }
        for (id, name) in &self.containers {
            let _ = writeln!(text, "container {id} {name}");
        }
        for (number, CgroupCounters { usage, quota }) in &self.counters {
            let _ = write!(text, "counters {number}");
            if let Some(usage) = usage {
                let _ = write!(text, " usage {usage}");
            }
            if let Some(QuotaCounters { throttled, periods, throttled_periods }) = quota {
                let _ = write!(text, " throttled {throttled} periods {periods} throttled_periods {throttled_periods}");
            }
            text.push('\n');
        }
        for (task, moves) in &self.tasks {
            let _ = write!(text, "task {task}");
            for (since, number) in moves {
                let _ = write!(text, " {since} {number}");
            }
            text.push('\n');
        }
        for (task, all) in &self.inner {
            let _ = write!(text, "inside {task}");
            for (since, inner) in all {
                let _ = write!(text, " {since} {}", inner.unwrap_or(NOT_SEEN));
            }
            text.push('\n');
        }
        if let Some(until) = self.until {
            let _ = writeln!(text, "until {until}");
        }
        text
    }

    /// The inverse of [`Cgroups::to_text`]; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut found = Cgroups::new(lines.next()?.strip_prefix("hierarchy ")?);
        for line in lines {
            let (kind, rest) = line.split_once(' ')?;
            match kind {
                "cgroup" => {
                    let (number, path) = rest.split_once(' ')?;
                    let is_next = number.parse() == Ok(found.paths.len());
                    found.number(Some(path).filter(|_| is_next)?);
                }
                "follow" => {
                    let number = rest.parse().ok()?;
                    found.path(number)?;
                    found.followed.insert(number);
                }
                "counters" => {
                    let (number, counters) = rest.split_once(' ').unwrap_or((rest, ""));
                    let number = number.parse().ok()?;
                    found.path(number)?;
                    found.counters.insert(number, CgroupCounters::parse(counters)?);
                }
                "container" => {
                    let (id, name) = rest.split_once(' ')?;
                    found.set_container(id, name);
                }
                "task" => {
                    let (task, moves) = history(rest, |number: u32| found.path(number).map(|_| number))?;
                    let all = found.tasks.entry(task).or_default();
                    all.extend(moves);
                    ascending(all)?;
                }
                "inside" => {
                    let inner = |number: i32| (number >= 0).then(|| Some(Pid(number)).filter(|pid| *pid != NOT_SEEN));
                    let (task, numbers) = history(rest, inner)?;
                    let all = found.inner.entry(task).or_default();
                    all.extend(numbers);
                    ascending(all)?;
                }
                "until" => found.until = Some(rest.parse().ok()?),
                _ => return None,
            }
        }
        Some(found)
    }

    /// Those that lie beside an unfinished recording: a line `until TIME`, and lines as [`Cgroups::to_text`] has them, those of a
    /// task in as many as there were changes. `None` if the text is something else.
    pub fn of_spool(text: &[u8]) -> Option<Self> {
        let (until, text) = std::str::from_utf8(text).ok()?.split_once('\n')?;
        let until = until.strip_prefix("until ")?.parse().ok()?;
        let mut found = Cgroups::parse(text)?;
        found.end_at(until);
        Some(found)
    }

    /// The same by other times; what holds from before the recording on does so still.
    pub(in crate::file::trace_dat) fn with_times(mut self, to: impl Fn(u64) -> u64) -> Self {
        let moves = self.tasks.values_mut().flatten().map(|(since, _)| since);
        let inner = self.inner.values_mut().flatten().map(|(since, _)| since);
        moves.chain(inner).filter(|since| **since > 0).for_each(|since| *since = to(*since));
        self.until = self.until.map(&to);
        self.quotas.map(str::to_owned, to);
        self
    }
}

/// What holds at `time` of a task's `history`, which ascends.
fn at_time<T>(history: &[(u64, T)], time: u64) -> Option<&T> {
    let after = history.partition_point(|(since, _)| *since <= time);
    let known = match after.checked_sub(1) {
        Some(before) => history.get(before),
        None => history.first().filter(|(since, _)| since.saturating_sub(time) <= STAMPS),
    };
    known.map(|(_, known)| known)
}

/// A task and its history: `TASK TIME NUMBER [TIME NUMBER ...]`.
fn history<N: FromStr, T>(text: &str, of: impl Fn(N) -> Option<T>) -> Option<(Pid, Vec<(u64, T)>)> {
    let mut words = text.split(' ');
    let task = Pid(words.next()?.parse().ok()?);
    let mut all = Vec::new();
    while let Some(since) = words.next() {
        all.push((since.parse().ok()?, of(words.next()?.parse().ok()?)?));
    }
    Some((task, all))
}

fn ascending<T>(history: &[(u64, T)]) -> Option<()> {
    history.is_sorted_by_key(|(since, _)| *since).then_some(())
}

impl CgroupCounters {
    fn parse(text: &str) -> Option<Self> {
        let mut counters = CgroupCounters::default();
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        while let Some(key) = words.next() {
            let value = words.next()?.parse().ok()?;
            match key {
                "usage" => counters.usage = Some(value),
                "throttled" => counters.quota.get_or_insert_default().throttled = value,
                "periods" => counters.quota.get_or_insert_default().periods = value,
                "throttled_periods" => counters.quota.get_or_insert_default().throttled_periods = value,
                _ => return None,
            }
        }
        Some(counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cgroups() -> Cgroups {
        let mut cgroups = Cgroups::new("cpu,cpuacct");
        for (task, time, path) in
            [(7, 0, "/"), (7, 50, "/a b"), (7, 50, "/a b"), (7, 80, "/"), (9, 60, "/a b/c"), (10, 2_000_000, "/")]
        {
            cgroups.set(Pid(task), time, path);
        }
        cgroups.follow("/a b");
        let quota = Some(QuotaCounters { throttled: 6, periods: 7, throttled_periods: 1 });
        let counters = CgroupCounters { usage: Some(5), quota };
        cgroups.set_counters("/a b", counters);
        cgroups.set_counters("/other", CgroupCounters { usage: None, ..counters });
        cgroups.set_counters("/v2", CgroupCounters { quota: None, ..counters });
        cgroups.set_counters("/neither", CgroupCounters::default());
        cgroups.set_inner_pid(Pid(9), 60, Some(Pid(2)));
        cgroups.set_inner_pid(Pid(7), 0, Some(Pid(7)));
        cgroups.set_inner_pid(Pid(10), 2_000_000, None);
        cgroups.set_container(&"c".repeat(64), "web");
        cgroups.end_at(90);
        cgroups
    }

    #[test]
    fn the_cgroup_of_a_task_is_that_of_the_moment() {
        let cgroups = cgroups();
        let at = |task, time| cgroups.at(Pid(task), time);
        assert_eq!([at(7, 0), at(7, 49), at(7, 50), at(7, 80)], [Some("/"), Some("/"), Some("/a b"), Some("/")]);
        assert_eq!([at(9, 59), at(9, 60), at(8, 60)], [Some("/a b/c"), Some("/a b/c"), None], "at its fork");
        assert_eq!(at(10, 50), None, "before its fork");
        assert_eq!((at(7, 90), at(7, 91)), (Some("/"), None), "after a loss");
        assert_eq!(cgroups.of(Pid(7)).count(), 3);
        assert_eq!(cgroups.followed().collect::<Vec<_>>(), ["/a b"]);
    }

    #[test]
    fn a_task_has_a_number_in_its_own_pid_namespace() {
        let mut cgroups = cgroups();
        let at = |cgroups: &Cgroups, task, time| cgroups.inner_pid(Pid(task), time).map(|pid| pid.0);
        assert_eq!([at(&cgroups, 7, 20), at(&cgroups, 9, 60)], [Some(7), Some(2)]);
        assert_eq!([at(&cgroups, 9, 91), at(&cgroups, 8, 20)], [None, None], "after a loss, and of no known task");
        assert!(cgroups.has_inner_pids());
        cgroups.until = None;
        assert_eq!(at(&cgroups, 10, 2_000_000), None, "it was gone before it was looked at");
        // The number of a task that has ended is given again.
        cgroups.set_inner_pid(Pid(9), 80, Some(Pid(9)));
        assert_eq!([at(&cgroups, 9, 79), at(&cgroups, 9, 80)], [Some(2), Some(9)]);
    }

    #[test]
    fn a_container_has_its_name_or_its_id() {
        let cgroups = cgroups();
        let id = |digit: &str| digit.repeat(64);
        assert_eq!(cgroups.container(&format!("/docker/{}/below", id("c"))), Some("web"));
        assert_eq!(cgroups.container(&format!("/docker/{}", id("d"))), Some("dddddddddddd"));
        assert_eq!((cgroups.container("/lxc.payload.db"), cgroups.container("/a b")), (Some("db"), None));
    }

    #[test]
    fn what_is_written_is_read() {
        let written = cgroups();
        assert_eq!(Cgroups::parse(&written.to_text()).as_ref(), Some(&written));
        let v2 = Cgroups::new("");
        assert_eq!(Cgroups::parse(&v2.to_text()), Some(v2));
    }

    #[test]
    fn other_texts_are_none() {
        let head = "hierarchy \ncgroup 0 /\n";
        assert!(Cgroups::parse(head).is_some());
        for line in [
            "cgroup 2 /a",
            "follow 1",
            "counters 0 usage",
            "counters 0 x 1",
            "task 1 5",
            "task 1 5 1",
            "task 1 5 0 4 0",
            "inside 1 5",
            "inside 1 5 -1",
            "inside 1 5 2 4 2",
            "container c",
            "x 1",
        ] {
            assert_eq!(Cgroups::parse(&format!("{head}{line}\n")), None, "{line}");
        }
        assert_eq!(Cgroups::parse(""), None);
    }
}

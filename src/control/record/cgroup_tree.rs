//! The machine's cgroups: hierarchies, their tasks, the kernel's account of them (`Documentation/admin-guide/cgroup-v2.rst`,
//! `cgroup-v1/`).
//! Names of the containers of Docker and of Podman, from their managers' files.

use crate::base::units::Pid;
use crate::file::trace_dat::{CgroupCounters, QuotaCounters};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// A hierarchy of cgroups that is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupHierarchy {
    /// Its number, which trace events call `dst_root`.
    pub(super) number: u32,
    /// Its controllers, as in `/proc/PID/cgroup`: of v1 `cpu,cpuacct`, of a named one `name=systemd`, of v2 nothing.
    pub(super) controllers: String,
    mount: PathBuf,
    /// The cgroup that is mounted there: in a container another than `/`.
    root: String,
}

/// A cgroup that was named: its hierarchy and its path therein, `/` being the hierarchy's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupPlace {
    /// Hierarchy that it is in.
    pub hierarchy: CgroupHierarchy,
    /// Path, as `/proc/PID/cgroup` has it.
    pub path: String,
}

/// The cgroups that a recording is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupPlan {
    /// The hierarchy that is watched: that of [`CgroupPlan::only`], if some are named.
    pub hierarchy: Option<CgroupHierarchy>,
    /// The cgroups, with all below them, whose tasks alone are recorded; all tasks if there are none.
    pub only: Vec<CgroupPlace>,
}

impl CgroupPlan {
    /// True if `path` is one of them or below.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.only.iter().any(|place| place.holds(path))
    }

    /// The threads that are in the cgroups that are named.
    pub(super) fn tasks(&self) -> Vec<Pid> {
        self.only.iter().flat_map(|place| place.hierarchy.tasks_below(&place.path)).collect()
    }
}

/// Deeper cgroups are not looked at: the kernel's own default is no limit, systemd nests a dozen.
const DEPTH: usize = 64;

impl CgroupHierarchy {
    /// Those that are mounted: that of v2 first, then those of v1 by usefulness.
    ///
    /// # Errors
    /// The error of reading `/proc/self/mountinfo` or `/proc/self/cgroup`.
    pub fn all() -> io::Result<Vec<Self>> {
        let (mounts, own) = (fs::read_to_string("/proc/self/mountinfo")?, fs::read_to_string("/proc/self/cgroup")?);
        Ok(hierarchies(&mounts, &own))
    }

    /// The directory of `path`.
    fn dir(&self, path: &str) -> Option<PathBuf> {
        let below = path.strip_prefix(self.root.trim_end_matches('/'))?.trim_start_matches('/');
        let plain = Path::new(below).components().all(|part| matches!(part, Component::Normal(_)));
        Some(if below.is_empty() { self.mount.clone() } else { self.mount.join(below) }).filter(|_| plain)
    }

    /// The path of the cgroup whose directory is `dir`, if it lies here.
    pub fn path_of(&self, dir: &Path) -> Option<String> {
        let below = dir.strip_prefix(&self.mount).ok()?.to_str()?.trim_end_matches('/');
        let path = format!("{}/{below}", self.root.trim_end_matches('/'));
        Some(if path.len() > 1 { path.trim_end_matches('/').to_owned() } else { path })
    }

    /// True if it has a cgroup at `path`.
    pub fn has(&self, path: &str) -> bool {
        self.dir(path).is_some_and(|dir| dir.join("cgroup.procs").exists())
    }

    /// The cgroup of `task` in this hierarchy, `/proc/PID/cgroup` of a thread or process.
    pub(super) fn of_task(&self, process: &str, task: Pid) -> Option<String> {
        let text = fs::read(format!("/proc/{process}/task/{task}/cgroup")).ok()?;
        of_text(&String::from_utf8_lossy(&text), self.number)
    }

    /// All cgroups that can be seen, parents first.
    pub fn paths(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.mount, DEPTH, &mut |dir| found.extend(self.path_of(dir)));
        found
    }

    /// True if a cgroup that can be seen has a quota of CPU time.
    pub fn has_quotas(&self) -> bool {
        let mut has = false;
        walk(&self.mount, DEPTH, &mut |dir| has |= has_quota(dir));
        has
    }

    /// The files of the quota of `path`; `None` if it has none.
    pub(super) fn quota(&self, path: &str) -> Option<QuotaFiles> {
        let dir = self.dir(path).filter(|dir| has_quota(dir))?;
        let open = |file| File::open(dir.join(file)).ok();
        let limit = ["cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"].into_iter().filter_map(open).collect();
        Some(QuotaFiles { stat: open("cpu.stat")?, limit })
    }

    /// The threads in `path` and all below it.
    fn tasks_below(&self, path: &str) -> Vec<Pid> {
        let mut tasks = Vec::new();
        let Some(dir) = self.dir(path) else { return tasks };
        let file = if self.controllers.is_empty() { "cgroup.threads" } else { "tasks" };
        walk(&dir, DEPTH, &mut |dir| {
            let text = fs::read_to_string(dir.join(file)).unwrap_or_default();
            // Tasks of other pid namespaces that have no number here are 0.
            tasks.extend(text.lines().filter_map(|line| line.parse().ok()).filter(|tid| *tid > 0).map(Pid));
        });
        tasks
    }

    /// The kernel's account of each cgroup so far.
    pub(super) fn counters(&self) -> BTreeMap<String, CgroupCounters> {
        let mut all = BTreeMap::new();
        walk(&self.mount, DEPTH, &mut |dir| {
            let read = |file| fs::read_to_string(dir.join(file)).ok();
            let stat = read("cpu.stat");
            let usage = read("cpuacct.usage").and_then(|text| text.trim().parse().ok());
            if (stat.is_some() || usage.is_some())
                && let Some(path) = self.path_of(dir)
            {
                all.insert(path, counters(&stat.unwrap_or_default(), usage));
            }
        });
        all
    }
}

impl CgroupPlace {
    /// True if `path` is this cgroup or one below it.
    fn holds(&self, path: &str) -> bool {
        is_below(path, &self.path)
    }
}

/// True if the cgroup `path` is `top` or one below it.
fn is_below(path: &str, top: &str) -> bool {
    let top = top.trim_end_matches('/');
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if the cgroup of a directory has a quota.
fn has_quota(dir: &Path) -> bool {
    let first = |file| {
        fs::read_to_string(dir.join(file)).ok().and_then(|text| text.split_whitespace().next().map(str::to_owned))
    };
    first("cpu.max").is_some_and(|quota| quota != "max") || first("cpu.cfs_quota_us").is_some_and(|quota| quota != "-1")
}

/// Calls `see` with `dir` and all directories below, parents first.
fn walk(dir: &Path, depth: usize, see: &mut dyn FnMut(&Path)) {
    see(dir);
    let Some(depth) = depth.checked_sub(1) else { return };
    let mut below: Vec<PathBuf> = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    below.sort_unstable();
    below.iter().for_each(|dir| walk(dir, depth, see));
}

/// The path in hierarchy `number`, in a text like `/proc/PID/cgroup`.
fn of_text(text: &str, number: u32) -> Option<String> {
    text.lines().find_map(|line| {
        let (id, rest) = line.split_once(':')?;
        let (_, path) = rest.split_once(':')?;
        // One that was removed while the task was in it.
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        (id.parse() == Ok(number)).then(|| path.to_owned())
    })
}

fn hierarchies(mounts: &str, own: &str) -> Vec<CgroupHierarchy> {
    let of = |controllers: &str| {
        own.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (number, known) = (parts.next()?.parse().ok()?, parts.next()?);
            (known == controllers).then_some(number)
        })
    };
    let mut found: Vec<CgroupHierarchy> = Vec::new();
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else { continue };
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (Some(root), Some(mount), Some(kind), Some(options)) =
            (place.next(), place.next(), kind.next(), kind.nth(1))
        else {
            continue;
        };
        let controllers = match kind {
            "cgroup2" => String::new(),
            "cgroup" => {
                let other = ["rw", "ro", "xattr", "noprefix", "clone_children", "favordynmods", "cpuset_v2_mode"];
                let is_controller = |word: &&str| !other.contains(word) && !word.starts_with("release_agent=");
                options.split(',').filter(is_controller).collect::<Vec<_>>().join(",")
            }
            _ => continue,
        };
        let (root, mount) = (unescaped(root), PathBuf::from(unescaped(mount)));
        if let Some(number) = of(&controllers)
            && found.iter().all(|known| known.number != number)
        {
            found.push(CgroupHierarchy { number, controllers, mount, root });
        }
    }
    let use_of = |hierarchy: &CgroupHierarchy| {
        let first = hierarchy.controllers.split(',').next().unwrap_or_default().to_owned();
        ["", "cpu", "cpuacct", "name=systemd", "memory", "pids"].iter().position(|known| *known == first).unwrap_or(9)
    };
    found.sort_by_key(use_of);
    found
}

/// The text of a field of mountinfo, where blanks are `\040`.
fn unescaped(field: &str) -> String {
    ["\\040", "\\011", "\\012", "\\134"]
        .iter()
        .zip([" ", "\t", "\n", "\\"])
        .fold(field.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The counters in a text like `cpu.stat`: of v2 in microseconds, of v1 in nanoseconds.
fn counters(stat: &str, usage: Option<u64>) -> CgroupCounters {
    let value = |key: &str| {
        let mut lines = stat.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(name, _)| *name == key).and_then(|(_, value)| value.parse::<u64>().ok())
    };
    let microseconds = |key| value(key).map(|us| us.saturating_mul(1000));
    let quota = value("nr_periods").map(|periods| QuotaCounters {
        throttled: throttled(stat).unwrap_or(0),
        periods,
        throttled_periods: value("nr_throttled").unwrap_or(0),
    });
    CgroupCounters { usage: usage.or_else(|| microseconds("usage_usec")), quota }
}

/// Each container's name and id, of all that have both. Those of Kubernetes have their ids in the cgroups' names.
pub fn container_names() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/var/lib/docker/containers").into_iter().flatten().flatten() {
        let text = fs::read(entry.path().join("config.v2.json")).unwrap_or_default();
        found.extend(docker_name(&text).zip(entry.file_name().into_string().ok()));
    }
    let text = fs::read("/var/lib/containers/storage/overlay-containers/containers.json").unwrap_or_default();
    found.extend(podman_names(&text));
    found
}

fn docker_name(config: &[u8]) -> Option<String> {
    let config: Value = serde_json::from_slice(config).ok()?;
    Some(config.get("Name")?.as_str()?.trim_start_matches('/').to_owned())
}

fn podman_names(containers: &[u8]) -> Vec<(String, String)> {
    let all: Vec<Value> = serde_json::from_slice(containers).unwrap_or_default();
    let of = |container: &Value| {
        let id = container.get("id")?.as_str()?.to_owned();
        let names = container.get("names")?.as_array()?.iter();
        Some(names.filter_map(|name| Some((name.as_str()?.to_owned(), id.clone()))).collect::<Vec<_>>())
    };
    all.iter().filter_map(of).flatten().collect()
}

/// The files of a cgroup that tell of its quota, open.
#[derive(Debug)]
pub(super) struct QuotaFiles {
    /// `cpu.stat`.
    pub(super) stat: File,
    /// `cpu.max`; of v1 `cpu.cfs_quota_us` and `cpu.cfs_period_us`.
    pub(super) limit: Vec<File>,
}

/// The throttled time in `cpu.stat`, in nanoseconds: `throttled_usec` of v2, `throttled_time` of v1.
pub(super) fn throttled(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", time) => time.parse::<u64>().ok()?.checked_mul(1_000),
        ("throttled_time", time) => time.parse().ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_where_they_are_mounted() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n\
                      32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      33 31 0:30 /docker/12 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      34 31 0:31 / /sys/fs/cgroup/uni\\040fied rw,relatime shared:9 - cgroup2 none rw\n";
        let own = "5:memory:/\n4:cpu,cpuacct:/docker/12\n0::/\n";
        let all = hierarchies(mounts, own);
        let names: Vec<_> = all.iter().map(|found| (found.number, found.controllers.as_str())).collect();
        assert_eq!(names, [(0, ""), (4, "cpu,cpuacct"), (5, "memory")]);
        let [unified, cpu, _] = &all[..] else { panic!("{all:?}") };
        assert_eq!(unified.path_of(Path::new("/sys/fs/cgroup/uni fied")).as_deref(), Some("/"));
        assert_eq!(unified.dir("/a/b"), Some(PathBuf::from("/sys/fs/cgroup/uni fied/a/b")));
        assert_eq!(cpu.path_of(Path::new("/sys/fs/cgroup/cpu,cpuacct/a")).as_deref(), Some("/docker/12/a"));
        assert_eq!(cpu.dir("/docker/12/a"), Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/a")));
        assert_eq!((cpu.dir("/other"), cpu.dir("/docker/12/../x")), (None, None), "not to be seen from here");
    }

    #[test]
    fn a_task_has_a_cgroup_in_each_hierarchy() {
        let text = "4:cpu,cpuacct:/a:b\n0::/x.slice (deleted)\n";
        assert_eq!(
            [of_text(text, 4), of_text(text, 0), of_text(text, 1)],
            [Some("/a:b".into()), Some("/x.slice".into()), None]
        );
        assert!(is_below("/a/b", "/a") && is_below("/a", "/a") && is_below("/a", "/") && !is_below("/ab", "/a"));
    }

    #[test]
    fn counters_are_nanoseconds_in_both_versions() {
        let v2 = counters("usage_usec 7\nnr_periods 3\nnr_throttled 2\nthrottled_usec 9\n", None);
        let v1 = counters("nr_periods 3\nnr_throttled 2\nthrottled_time 9000\n", Some(7000));
        assert_eq!(v2, v1);
        let quota = QuotaCounters { throttled: 9000, periods: 3, throttled_periods: 2 };
        assert_eq!(v2, CgroupCounters { usage: Some(7000), quota: Some(quota) });
        assert_eq!(counters("usage_usec 7\nuser_usec 5\n", None), CgroupCounters { usage: Some(7000), quota: None });
    }

    #[test]
    fn names_of_containers_are_their_managers() {
        assert_eq!(docker_name(br#"{"ID":"ab","Name":"/web"}"#).as_deref(), Some("web"));
        let podman = br#"[{"id":"cd","names":["x","y"]},{"id":"ef"}]"#;
        let pair = |name: &str| (name.to_owned(), "cd".to_owned());
        assert_eq!(podman_names(podman), [pair("x"), pair("y")]);
        assert!(podman_names(b"{").is_empty() && docker_name(b"").is_none());
    }
}

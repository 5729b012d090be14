//! `record --cgroup`, `--cgroups`: cgroups by the names that people have for them.

use crate::cli::exit::{Exit, Failure};
use anyhow::{Context, anyhow};
use rtrace::record::{CgroupHierarchy, CgroupPlace, CgroupPlan, container_names};
use rtrace::syntax::did_you_mean;
use std::collections::BTreeSet;
use std::path::Path;

/// The cgroups that are recorded.
#[derive(clap::Args, Clone, Default)]
pub(super) struct CgroupArgs {
    /// Only tasks of CGROUP and all below it, now and later: its path, a unit, a container's id or name; may be repeated
    ///
    /// As in `--cgroup /system.slice/db.service`, `--cgroup db.service`, `--cgroup 4f1c2a9be07d`. Tasks that they start are recorded from
    /// their first event on, those that are moved there (`docker exec`) from up to a tenth of a second after that. Implies --cgroups.
    #[arg(long = "cgroup", value_name = "CGROUP", conflicts_with = "dry_run")]
    only: Vec<String>,
    /// Store the cgroup of each task over time, for `analyze cgroups` and `--cgroup` of other commands
    #[arg(long, conflicts_with = "dry_run")]
    cgroups: bool,
}

/// The words before a container's id or name in the names of cgroups, by container managers and systemd.
const MANAGERS: [&str; 7] = ["docker-", "libpod-", "cri-containerd-", "crio-", "lxc.payload.", "machine-", "nspawn-"];
/// Suffixes of units.
const UNITS: [&str; 3] = [".scope", ".service", ".slice"];
/// Fewest digits by which an id is recognised.
const FEWEST: usize = 6;

impl CgroupArgs {
    /// The hierarchy to watch, and the cgroups that are named.
    ///
    /// # Errors
    /// If no cgroup is called so, or several are, or they are of two hierarchies.
    pub(super) fn plan(&self) -> Result<CgroupPlan, Failure> {
        if self.only.is_empty() && !self.cgroups {
            return Ok(CgroupPlan::default());
        }
        let all = CgroupHierarchy::all().context("failed to read which cgroups this machine has")?;
        let only = self.only.iter().map(|name| place_of(name, &all)).collect::<Result<Vec<_>, _>>()?;
        if let [first, others @ ..] = &only[..] {
            if let Some(other) = others.iter().find(|other| other.hierarchy != first.hierarchy) {
                let error = anyhow!("{} and {} are cgroups of two hierarchies", first.path, other.path);
                return Err(Failure::new(Exit::Usage, error).hint("a recording can follow one of them."));
            }
            return Ok(CgroupPlan { hierarchy: Some(first.hierarchy.clone()), only });
        }
        // The one that keeps tasks from CPUs, or else one that somebody has made use of.
        let quotas = all.iter().find(|hierarchy| hierarchy.has_quotas());
        let used = quotas.or_else(|| all.iter().find(|hierarchy| hierarchy.paths().len() > 1)).or(all.first());
        let Some(used) = used else {
            return Err(Failure::new(Exit::Unable, anyhow!("no cgroups are mounted on this machine")));
        };
        Ok(CgroupPlan { hierarchy: Some(used.clone()), only })
    }
}

fn place_of(name: &str, all: &[CgroupHierarchy]) -> Result<CgroupPlace, Failure> {
    let place = |hierarchy: &CgroupHierarchy, path: String| CgroupPlace { hierarchy: hierarchy.clone(), path };
    if name.starts_with('/') {
        let below_mount = |hierarchy: &CgroupHierarchy| {
            let path = hierarchy.path_of(Path::new(name)).filter(|path| hierarchy.has(path))?;
            Some(place(hierarchy, path))
        };
        let path = if name.len() > 1 { name.trim_end_matches('/') } else { name };
        let in_hierarchy = || all.iter().find(|known| known.has(path)).map(|known| place(known, path.to_owned()));
        return all.iter().find_map(below_mount).or_else(in_hierarchy).ok_or_else(|| {
            let hint = did_you_mean(
                path,
                all.iter().flat_map(CgroupHierarchy::paths).collect::<Vec<_>>().iter().map(String::as_str),
            );
            none(name, hint)
        });
    }
    let names: BTreeSet<String> =
        container_names().into_iter().filter(|(known, _)| known == name).map(|(_, id)| id).collect();
    let is_meant = |path: &str| {
        let last = path.rsplit('/').next().unwrap_or_default();
        is_called(last, name) || names.iter().any(|id| is_called(last, id))
    };
    for hierarchy in all {
        let found: Vec<String> = hierarchy.paths().into_iter().filter(|path| is_meant(path)).collect();
        match &found[..] {
            [] => {}
            [path] => return Ok(place(hierarchy, path.clone())),
            [..] => {
                let error = anyhow!("several cgroups are called `{name}`: {}", found.join(", "));
                return Err(Failure::new(Exit::Usage, error).hint("the path of one of them says which."));
            }
        }
    }
    let paths: Vec<String> = all.iter().flat_map(CgroupHierarchy::paths).collect();
    let last = paths.iter().filter_map(|path| path.rsplit('/').next());
    let known = container_names();
    Err(none(name, did_you_mean(name, last.chain(known.iter().map(|(name, _)| name.as_str())))))
}

fn none(name: &str, hint: Option<String>) -> Failure {
    let failure = Failure::new(Exit::Usage, anyhow!("no cgroup is called `{name}`"));
    failure.hint(hint.unwrap_or_else(|| "`systemd-cgls`, or `find /sys/fs/cgroup -type d`, lists them.".to_owned()))
}

/// True if a cgroup's own name, the last part of its path, stands for `name`.
fn is_called(last: &str, name: &str) -> bool {
    let stem = UNITS.iter().find_map(|unit| last.strip_suffix(unit)).unwrap_or(last);
    let rest = MANAGERS.iter().find_map(|manager| stem.strip_prefix(manager)).unwrap_or(stem);
    let is_id = |text: &str| text.len() >= FEWEST && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    last == name || stem == name || rest == name || is_id(name) && rest.len() == 64 && rest.starts_with(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_are_called_as_people_call_them() {
        let id = "4f1c2a9be07d".to_owned() + &"0".repeat(52);
        let called = [
            ("db.service", "db.service"),
            ("db.service", "db"),
            ("docker-ID.scope", "4f1c2a9be07d"),
            ("cri-containerd-ID.scope", "4f1c2a"),
            ("ID", "4f1c2a9b"),
            ("lxc.payload.web", "web"),
            ("machine-deb.scope", "deb"),
        ];
        for (last, name) in called {
            assert!(is_called(&last.replace("ID", &id), name), "{last} {name}");
        }
        for (last, name) in
            [("db.service", "d"), ("docker-ID.scope", "4f1c"), ("docker-ID.scope", "5f1c2a"), ("a4f1c2ab", "4f1c2a")]
        {
            assert!(!is_called(&last.replace("ID", &id), name), "{last} {name}");
        }
    }
}

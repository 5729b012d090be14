//! The recording that an analysis reads, the part of it, and the tasks that count.

use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{self, QueryEvents, QueryInput, WallArgs, WindowArgs, no_cgroup, no_cgroups};
use anyhow::anyhow;
use rtrace::analysis::{CgroupSet, TaskSet};
use rtrace::events::glob_matches;
use rtrace::internal::trace_dat::TimeOptions;
use rtrace::syntax::nearest;
use rtrace::units::Pid;
use std::io::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The events that an analysis reads.
#[derive(clap::Args, Clone, Default)]
pub(in crate::cli) struct FileArgs {
    /// Recording to read [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// Recording to read
    #[arg(short, long, value_name = "FILE", conflicts_with = "file", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    #[command(flatten)]
    window: WindowArgs,
    #[command(flatten)]
    wall: WallArgs,
    /// Number of threads; the output is the same for any number [default: one per CPU, one for few events]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

impl FileArgs {
    /// All events of the recording at `path`.
    pub(in crate::cli) fn of(path: &Path) -> Self {
        FileArgs { file: Some(path.to_owned()), ..FileArgs::default() }
    }

    /// Some events of the recording at `path`.
    pub(in crate::cli) fn of_part(path: &Path, window: &WindowArgs, threads: Option<NonZero<usize>>) -> Self {
        FileArgs { file: Some(path.to_owned()), window: window.clone(), threads, ..FileArgs::default() }
    }

    /// The recording, if one is named.
    pub(in crate::cli) fn named(&self) -> Option<&Path> {
        self.input.as_deref().or(self.file.as_deref())
    }

    /// Names it.
    pub(in crate::cli) fn name(&mut self, path: PathBuf) {
        self.file = Some(path);
    }

    /// The path of the recording.
    pub(in crate::cli) fn path(&self) -> &Path {
        self.named().unwrap_or(Path::new("trace.dat"))
    }

    /// True if the whole of it is asked for.
    pub(in crate::cli) fn is_whole(&self) -> bool {
        self.window.to_text().is_empty()
    }

    /// The options that choose the window, as a command line has them.
    pub(in crate::cli) fn window(&self) -> String {
        self.window.to_text()
    }

    /// Opens the recording and has `print` write what it makes of the events.
    pub(super) fn print(
        &self,
        print: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        self.answer(|events, out| print(events, out).map(|()| Exit::Success))
    }

    /// The same of an answer with an exit code of its own, which counts more than that of damage.
    pub(in crate::cli) fn answer(
        &self,
        answer: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        query::answer(self.path(), &self.window, self.threads, |events, out| {
            answer(&events.clone().by_wall_clock(self.wall)?, out)
        })
    }
}

/// The tasks whose events count in an analysis.
#[derive(clap::Args, Default)]
pub(super) struct TaskArgs {
    /// Only these tasks
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<i32>,
    /// Only tasks of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    comm: Vec<String>,
    /// Only tasks of this cgroup or one below it, while they are in it; may be a glob and be given several times
    #[arg(long, value_name = "PATH", conflicts_with_all = ["pid", "comm"])]
    cgroup: Vec<String>,
}

impl TaskArgs {
    /// True if all tasks count.
    pub(super) fn is_empty(&self) -> bool {
        self.pid.is_empty() && self.comm.is_empty() && self.cgroup.is_empty()
    }

    /// The tasks as a set.
    pub(super) fn set(&self, input: &QueryInput) -> TaskSet {
        match self.cgroups(input) {
            Some(cgroups) => TaskSet::InCgroups(cgroups),
            None => self.chosen(input).map_or(TaskSet::All, |pids| pids.into_iter().collect()),
        }
    }

    /// Refuses cgroups that the recording does not hold.
    pub(super) fn check(&self, input: &QueryInput) -> Result<(), Failure> {
        if self.cgroup.is_empty() {
            return Ok(());
        }
        let Some(cgroups) = input.trace.cgroups(&TimeOptions::default()) else {
            return Err(no_cgroups(&input.path));
        };
        let cgroups = Arc::new(cgroups);
        for glob in &self.cgroup {
            let set = CgroupSet::new(Arc::clone(&cgroups), &[glob]);
            if set.is_empty() {
                return Err(no_cgroup(glob, nearest(glob, cgroups.paths()).first().copied()));
            }
            if set.is_part() {
                let followed: Vec<&str> = cgroups.followed().collect();
                let error = anyhow!("{} does not hold all of {glob}", input.path.display());
                let hint = format!("It is a recording of {} (`record --cgroup`).", followed.join(", "));
                return Err(Failure::new(Exit::Failed, error).hint(hint));
            }
        }
        Ok(())
    }

    /// The note about the time in which it is not known which tasks are among them.
    pub(super) fn unsure(&self, input: &QueryInput) -> Option<String> {
        let until = self.cgroups(input)?.cgroups().until()?;
        Some(format!("events were lost: after {until} (the clock's units) no task's cgroup is known, and none counts"))
    }

    fn cgroups(&self, input: &QueryInput) -> Option<CgroupSet> {
        if self.cgroup.is_empty() {
            return None;
        }
        let cgroups = input.trace.cgroups(&TimeOptions::default())?;
        Some(CgroupSet::new(Arc::new(cgroups), &self.cgroup).only_known())
    }

    /// The tasks; `None` for all.
    fn chosen(&self, input: &QueryInput) -> Option<Vec<Pid>> {
        if self.is_empty() {
            return None;
        }
        let comms = &input.symbols.comms;
        let name = |pid: Pid| String::from_utf8_lossy(comms.get(pid).unwrap_or_default()).into_owned();
        let named = |pid: Pid| self.comm.iter().any(|pattern| glob_matches(pattern, &name(pid)));
        if self.comm.is_empty() {
            return Some(self.pid.iter().map(|pid| Pid(*pid)).collect());
        }
        let chosen = |pid: &Pid| self.pid.is_empty() || self.pid.contains(&pid.0);
        Some(comms.pids().filter(chosen).filter(|pid| named(*pid)).collect())
    }
}

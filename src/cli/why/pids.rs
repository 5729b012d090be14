//! The tasks that a name means.

use super::args::WhyArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use anyhow::anyhow;
use rtrace::analysis::SchedReport;
use rtrace::events::glob_matches;
use rtrace::syntax::did_you_mean;
use rtrace::units::Pid;
use std::collections::{BTreeSet, HashSet};

/// Tasks by pid or name: the names that the scheduler's events give last, and those that the recording keeps.
pub(super) fn pids(args: &WhyArgs, input: &QueryInput, sched: &SchedReport) -> Result<HashSet<Pid>, Failure> {
    let known = |pid: Pid| sched.tasks.iter().any(|task| task.pid == pid);
    if let Ok(pid) = args.task.parse().map(Pid) {
        if pid.0 != 0 && known(pid) {
            return Ok(HashSet::from([pid]));
        }
        let error = anyhow!("{} has no event of task {}{}", input.path.display(), args.task, args.within());
        return Err(Failure::new(Exit::Failed, error).hint(args.remedy()));
    }
    let is_it = |name: &[u8]| glob_matches(&args.task, &String::from_utf8_lossy(name));
    let of_events = sched.tasks.iter().filter(|task| is_it(&task.comm)).map(|task| task.pid);
    let kept = input.symbols.comms.pids().filter(|pid| input.symbols.comms.get(*pid).is_some_and(is_it));
    let found: HashSet<Pid> = of_events.chain(kept.filter(|pid| known(*pid))).filter(|pid| pid.0 != 0).collect();
    if found.is_empty() {
        let error = anyhow!("{} has no event of a task named {}{}", input.path.display(), args.task, args.within());
        let names: BTreeSet<String> =
            sched.tasks.iter().map(|task| String::from_utf8_lossy(&task.comm).into_owned()).collect();
        let near = did_you_mean(&args.task, names.iter().map(String::as_str));
        // As of `worker` where tasks are called `worker-0`, `worker-1`.
        let glob = format!("{}*", args.task);
        let begin_so = names.iter().filter(|name| glob_matches(&glob, name)).count();
        let all = (begin_so > 1).then(|| format!("`'{glob}'` means all tasks whose names begin so."));
        let hints = near.into_iter().chain(all);
        return Err(hints.fold(Failure::new(Exit::Failed, error), Failure::hint).hint(args.remedy()));
    }
    Ok(found)
}

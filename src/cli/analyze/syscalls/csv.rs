//! `rtrace analyze syscalls --csv`.

use super::answer::SyscallsAnswer;
use crate::cli::analyze::{distribution, errno};
use rtrace::analysis::{DescriptorTimes, SyscallTimes, TaskSyscalls};

/// Call, number, calls, failed, total, off_cpu, the distribution, the longest, errors.
pub(super) fn call(found: &SyscallsAnswer<'_>, call: &SyscallTimes) -> Vec<String> {
    let times = call.times.distribution();
    let mut cells = vec![found.name(call), call.number.to_string()];
    cells.extend([times.count, call.failed(), times.total].map(|number| number.to_string()));
    cells.push(off_cpu(found, call.off_cpu));
    cells.extend(distribution::csv(&times));
    let longest = call.longest.map(|longest| (longest.at, longest.pid.0, longest.cpu.0));
    let longest = longest.map(|(at, pid, cpu)| [at.to_string(), pid.to_string(), cpu.to_string()]);
    cells.extend(longest.unwrap_or_default());
    cells.push(errno::list(&call.errors));
    cells
}

/// Pid, comm, calls, failed, total, off_cpu.
pub(super) fn task(found: &SyscallsAnswer<'_>, task: &TaskSyscalls) -> Vec<String> {
    let mut cells = vec![task.pid.0.to_string(), found.comm(task.pid)];
    cells.extend([task.calls, task.errors, task.time].map(|number| number.to_string()));
    cells.push(off_cpu(found, task.off_cpu));
    cells
}

/// Pid, is_process, comm, fd, file, calls, failed, total, off_cpu, max.
pub(super) fn descriptor(found: &SyscallsAnswer<'_>, one: &DescriptorTimes) -> Vec<String> {
    let mut cells = vec![one.pid.0.to_string(), u8::from(one.is_process).to_string(), found.comm(one.pid)];
    cells.extend([one.fd.to_string(), found.file(one).unwrap_or_default()]);
    cells.extend([one.calls, one.errors, one.time].map(|number| number.to_string()));
    cells.extend([off_cpu(found, one.off_cpu), one.longest.to_string()]);
    cells
}

/// Empty where it is not known.
fn off_cpu(found: &SyscallsAnswer<'_>, time: u64) -> String {
    if found.report.has_switches { time.to_string() } else { String::new() }
}

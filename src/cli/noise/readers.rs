//! Threads of user space that timerlat measures: each reads `osnoise/per_cpu/cpuN/timerlat_fd` on its CPU.
//!
//! The kernel kills them with SIGKILL when the tracer is taken away, so each is a process.

use super::args::ReaderArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::Context;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use rtrace::filter::CpuList;
use rtrace::tracefs::{Error, Tracefs};
use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};

/// The running processes. Dropped, they are ended.
pub(super) struct TimerlatReaders(Vec<Child>);

impl TimerlatReaders {
    /// Starts one on each of `cpus`, or of all that are online.
    pub(super) fn start(tracefs: &Tracefs, cpus: Option<&CpuList>) -> Result<Self, Failure> {
        let program = std::env::current_exe().context("failed to find this program's file")?;
        let mut readers = TimerlatReaders(Vec::new());
        for cpu in tracefs.top().cpus()?.into_iter().filter(|cpu| cpus.is_none_or(|cpus| cpus.contains(cpu.0))) {
            let file = tracefs.root().join(format!("osnoise/per_cpu/cpu{}/timerlat_fd", cpu.0));
            if !file.exists() {
                let what = "osnoise/per_cpu/cpuN/timerlat_fd, for threads of user space".to_owned();
                return Err(Error::NoFeature { what, config: Some("Linux 6.5") }.into());
            }
            let mut command = Command::new(&program);
            command.arg("timerlat-reader").arg(cpu.0.to_string()).arg(file).stdin(Stdio::null());
            readers.0.push(command.spawn().context("failed to start a thread of user space")?);
        }
        Ok(readers)
    }
}

impl Drop for TimerlatReaders {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill(); // the kernel has killed it, as a rule
            let _ = child.wait();
        }
    }
}

/// Reads until it is killed, or the tracer ends.
pub(crate) fn read(args: &ReaderArgs) -> Result<Exit, Failure> {
    let mut cpus = CpuSet::new();
    cpus.set(args.cpu).context("failed to name the CPU")?;
    sched_setaffinity(Pid::from_raw(0), &cpus).context("failed to stay on the CPU")?;
    if let Err(error) = rtrace::record::become_real_time(95) {
        note!("rtrace: warning: the thread of CPU {} has no real-time priority: {error}", args.cpu);
    }
    let mut file = File::open(&args.file).with_context(|| format!("failed to open {}", args.file.display()))?;
    let mut none = [0];
    while file.read(&mut none).is_ok() {}
    Ok(Exit::Success)
}

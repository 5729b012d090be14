//! `record --stop`: ends a recorder that runs in the background, as Ctrl-C would.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::{Context, anyhow};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::internal::trace_dat::Trace;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends the recorder that `target` names and waits for its end.
pub(super) fn stop(target: &str) -> Result<Exit, Failure> {
    let pid = recorder(target, "record --stop")?;
    let began = start_time(pid);
    kill(Pid::from_raw(pid), Signal::SIGINT).with_context(|| format!("failed to stop process {pid}"))?;
    while began.is_some() && start_time(pid) == began {
        sleep(LOOK_EVERY);
    }
    note!("rtrace: process {pid} ended its recording");
    Ok(Exit::Success)
}

/// The process that `target` means, which is a recorder: by its number, a file that has it, or the file that it records to.
/// `command` is the one that asks, for its hint.
pub(crate) fn recorder(target: &str, command: &str) -> Result<i32, Failure> {
    let usage = |text: String| Failure::new(Exit::Usage, anyhow!(text));
    if let Ok(pid) = target.parse::<i32>() {
        return match is_recorder(pid) {
            true => Ok(pid),
            false => Err(usage(format!("process {pid} is no recording rtrace"))
                .hint(format!("`rtrace {command} FILE` finds the process that records FILE."))),
        };
    }
    let path = Path::new(target);
    let metadata = path.metadata().with_context(|| format!("failed to look for the recorder of {target}"));
    let metadata = metadata.map_err(|error| {
        let hint = format!("`rtrace {command} FILE` or `rtrace {command} PID` names a recording that runs.");
        let start = "`rtrace record -e EVENT --ring-time 10s -o FILE --daemonize` starts a flight recorder.";
        let failure = Failure::from(error).hint(hint);
        if command == "save" { failure.hint(start) } else { failure }
    })?;
    let named = || fs::read_to_string(path).ok()?.trim().parse().ok();
    let written = if metadata.len() < 32 { named() } else { None };
    let found = written.into_iter().chain(lock_holders(metadata.ino())).find(|pid| is_recorder(*pid));
    found.ok_or_else(|| match Trace::open_path(path) {
        Ok(trace) if trace.spools.is_none() => usage(format!("no process records {target}: it is complete"))
            .hint(format!("`rtrace convert {target} END.dat --since -{}` makes a recording of its end.", last_given())),
        _ => usage(format!("no process records {target}"))
            .hint("`rtrace recover FILE` completes a recording that was killed."),
    })
}

/// The time of `--last`, or an example of one.
fn last_given() -> String {
    let words: Vec<String> = std::env::args().collect();
    let inside = words.iter().find_map(|word| word.strip_prefix("--last=").map(str::to_owned));
    let after = words.iter().skip_while(|word| *word != "--last").nth(1).cloned();
    inside.or(after).unwrap_or_else(|| "10s".to_owned())
}

/// Processes that hold a flock(2) on a file of that number, by /proc/locks:
/// `1: FLOCK  ADVISORY  WRITE 1234 fe:00:131072 0 EOF`.
fn lock_holders(inode: u64) -> Vec<i32> {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words[..] else { return None };
        (place.rsplit(':').next()? == inode.to_string()).then(|| pid.parse().ok())?
    };
    locks.lines().filter_map(holder).collect()
}

/// True if the process runs this program as a recorder.
fn is_recorder(pid: i32) -> bool {
    let exe = |pid: &str| fs::metadata(format!("/proc/{pid}/exe")).map(|exe| (exe.dev(), exe.ino())).ok();
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let records = words.split(|byte| *byte == 0).nth(1).is_some_and(|word| word == b"record");
    pid > 0 && records && exe(&pid.to_string()).is_some_and(|its| exe("self") == Some(its))
}

/// When the process began, in the kernel's ticks, which tells it from a later one of the same number; `None` if it has
/// ended.
fn start_time(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_a_beginning() {
        let own = std::process::id() as i32;
        assert!(start_time(own).is_some_and(|time| time > 0));
        assert!(!is_recorder(own) && !is_recorder(0) && start_time(i32::MAX).is_none());
    }
}

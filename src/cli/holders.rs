//! Processes that hold something that is to be removed.

use super::exit::Failure;
use nix::errno::Errno;
use rtrace::tracefs::{Error, EventName};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Grace period of an event after its program has ended: the kernel lets go of its user events only after a grace
/// period (`user_event_mm_remove` in `kernel/trace/trace_events_user.c`, since Linux 6.4), its perf sessions with its
/// memory.
const AFTERLIFE: Duration = Duration::from_secs(5);

/// The processes with an open file that `wanted` accepts, as `process 1234 (cat)`, and that file.
pub(crate) fn holders(wanted: impl Fn(&Path) -> bool) -> Vec<(String, PathBuf)> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let file = open.flatten().filter_map(|fd| std::fs::read_link(fd.path()).ok()).find(|to| wanted(to))?;
        let comm = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        Some((format!("process {pid} ({})", comm.trim()), file))
    })
    .collect()
}

/// Holders of an event that no instance uses: perf sessions (which of their events it is cannot be seen from outside),
/// open files of the event, programs that have user events registered.
fn of_event(event: &EventName) -> Vec<String> {
    let dir = format!("/events/{}/{}/", event.system, event.name);
    let perf = Path::new("anon_inode:[perf_event]");
    let user = event.system == "user_events";
    let wanted = |file: &Path| {
        file == perf || file.to_string_lossy().contains(&dir) || (user && file.ends_with("user_events_data"))
    };
    holders(wanted)
        .into_iter()
        .map(|(process, file)| match file == perf {
            true => format!("{process} has a perf session, which may use {event}"),
            false => format!("{process} has {} open", file.display()),
        })
        .collect()
}

/// Removes an event with `remove`. While the kernel calls it busy and `users` finds no user, the removal is
/// retried for [`AFTERLIFE`].
///
/// # Errors
/// The kernel's refusal, with who uses the event.
pub(crate) fn remove_event(
    event: &EventName,
    users: impl Fn() -> Vec<String>,
    mut remove: impl FnMut() -> Result<(), Error>,
) -> Result<(), Failure> {
    let end = Instant::now() + AFTERLIFE;
    loop {
        let Err(error) = remove() else { return Ok(()) };
        if error.errno() != Some(Errno::EBUSY) {
            return Err(error.into());
        }
        let mut seen = users();
        if seen.is_empty() {
            seen = of_event(event);
        }
        if !seen.is_empty() {
            return Err(seen.into_iter().fold(error.into(), Failure::hint));
        }
        if Instant::now() >= end {
            let unseen =
                format!("a process that is not seen from here uses {event}, or a perf session, or an open file");
            return Err(Failure::from(error).hint(unseen));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

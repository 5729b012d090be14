//! Which processes hold something that is to be removed.

use rtrace::tracefs::EventName;
use std::path::{Path, PathBuf};

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

/// Who may keep an event busy that no instance uses: perf sessions (which of their events it is cannot be seen from
/// outside), open files of the event, programs that have user events registered.
pub(crate) fn of_event(event: &EventName) -> Vec<String> {
    let dir = format!("/events/{}/{}/", event.system, event.name);
    let perf = Path::new("anon_inode:[perf_event]");
    let user = event.system == "user_events";
    let wanted = |file: &Path| {
        file == perf || file.to_string_lossy().contains(&dir) || (user && file.ends_with("user_events_data"))
    };
    let mut hints: Vec<String> = holders(wanted)
        .into_iter()
        .map(|(process, file)| match file == perf {
            true => format!("{process} has a perf session, which may use {event}"),
            false => format!("{process} has {} open", file.display()),
        })
        .collect();
    if hints.is_empty() {
        hints.push(format!("a process that is not seen from here uses {event}, or a perf session, or an open file"));
    }
    hints
}

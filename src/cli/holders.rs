//! What holds something that is to be removed: processes, probes, the kernel's command line.

use super::exit::Failure;
use nix::errno::Errno;
use rtrace::probe::{Probe, ProbeKind};
use rtrace::tracefs::{Error, EventName, Instance, Tracefs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Grace period of an event after its program has ended: the kernel lets go of its user events only after a grace
/// period (`user_event_mm_remove` in `kernel/trace/trace_events_user.c`, since Linux 6.4), its perf sessions with its
/// memory.
const AFTERLIFE: Duration = Duration::from_secs(5);

/// The processes with an open file that `wanted` accepts, as `process 1234 (cat)`, and that file.
fn holders(wanted: impl Fn(&Path) -> bool) -> Vec<(String, PathBuf)> {
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

/// Event probes on an event. Each keeps it for as long as it exists, whether it is enabled or not
/// (`find_and_get_event` in `kernel/trace/trace_eprobe.c`).
pub(crate) fn event_probes(tracefs: &Tracefs, event: &EventName) -> Vec<String> {
    let text = tracefs.top().read("dynamic_events").unwrap_or_default();
    let probes = text.lines().filter_map(|line| line.parse::<Probe>().ok());
    let is_on = |probe: &Probe| matches!(&probe.kind, ProbeKind::Event { system, event: on } if *system == event.system && *on == event.name);
    let told = |probe: Probe| {
        let name = probe.full_name();
        format!("the event probe {name} is on {event}; `rtrace probe remove {name}` removes it")
    };
    probes.filter(is_on).map(told).collect()
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
            let unseen = format!(
                "a kernel module that fires or records {event}, a perf session, or a process that is not seen from here holds it"
            );
            return Err(Failure::from(error).hint(unseen));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The failure to remove an instance, with the reasons that can be seen.
pub(crate) fn unremoved(error: Error, instance: &Instance) -> Failure {
    if error.errno() != Some(Errno::EBUSY) {
        return error.into();
    }
    let failure = match instance.name().and_then(made_at_boot) {
        Some(parameter) => Failure::from(error)
            .hint(format!("it was made at boot by `{parameter}`, and the kernel keeps such an instance")),
        None => Failure::from(error),
    };
    held_by(instance).into_iter().fold(failure, |failure, holder| failure.hint(format!("held by {holder}")))
}

/// The kernel parameter for which the kernel keeps an instance, if no process does.
pub(crate) fn kept_since_boot(error: &Error, instance: &Instance) -> Option<String> {
    let busy = error.errno() == Some(Errno::EBUSY) && held_by(instance).is_empty();
    instance.name().filter(|_| busy).and_then(made_at_boot)
}

/// The kernel parameter that made the instance, if one did.
fn made_at_boot(name: &str) -> Option<String> {
    let parameters = std::fs::read_to_string("/proc/cmdline").ok()?;
    let of_instance = |word: &&str| {
        let value = word.strip_prefix("trace_instance=");
        value.is_some_and(|value| value.split(['^', '@', ',']).next() == Some(name))
    };
    parameters.split_whitespace().find(of_instance).map(str::to_owned)
}

/// Processes with files of the instance open: `process 1234 (cat): per_cpu/cpu0/trace_pipe_raw`.
pub(crate) fn held_by(instance: &Instance) -> Vec<String> {
    let root = instance.path("");
    let holders = holders(|file| file.starts_with(&root)).into_iter();
    holders.map(|(who, file)| format!("{who}: {}", file.strip_prefix(&root).unwrap_or(&file).display())).collect()
}

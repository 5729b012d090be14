//! Users of the kernel's tracing, as far as their open files show them.
//! Access: where tracefs is mounted, whether this user may record, lockdown.
//! Activity: what traces in each buffer.
//! State that killed recordings left behind.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use crate::cli::args::{TracefsArgs, called};
use rtrace::record::left_unfinished;
use rtrace::tracefs::{Instance, Status, Tracefs, consumes, find_orphans, mount_points};
use rtrace::units::counted;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files of tracefs that a process holds open.
#[derive(Debug, Default)]
struct HeldFiles {
    /// Files that take events out of ring buffers.
    readers: BTreeSet<PathBuf>,
    /// Other files of tracefs.
    files: BTreeSet<PathBuf>,
    /// Number of perf sessions' files.
    perf: usize,
    /// BPF programs at tracepoints and functions, in the kernel's words.
    bpf: BTreeSet<String>,
}

/// Processes that read ring buffers, use perf or BPF, or hold files of tracefs.
pub(super) fn processes(tracefs: &Tracefs, machine: &ExaminedMachine, findings: &mut Findings) {
    let mounts = mount_points(&machine.text("proc/mounts").unwrap_or_default());
    let mut roots: Vec<PathBuf> = mounts.into_iter().map(|mount| mount.path).collect();
    roots.push(tracefs.root().to_owned());
    let before = findings.count(Severity::Warning) + findings.count(Severity::Note);
    for pid in machine.processes() {
        let held = held_by(pid, &roots, machine);
        let Some(process) = machine.process(pid) else { continue };
        tell(&process, pid, &held, findings);
    }
    if findings.count(Severity::Warning) + findings.count(Severity::Note) == before {
        findings.add(
            Area::Activity,
            "processes",
            Severity::Ok,
            "no process is seen that reads rings or uses perf or BPF",
        );
    }
}

fn held_by(pid: u32, roots: &[PathBuf], machine: &ExaminedMachine) -> HeldFiles {
    let mut held = HeldFiles::default();
    for fd in machine.names(&format!("proc/{pid}/fd")) {
        let Some(file) = machine.link(&format!("proc/{pid}/fd/{fd}")) else { continue };
        let name = file.to_string_lossy();
        match &*name {
            "anon_inode:[perf_event]" => held.perf += 1,
            "anon_inode:bpf_link" => {
                let info = machine.text(&format!("proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
                held.bpf.extend(attachment(&info));
            }
            _ if roots.iter().any(|root| file.starts_with(root)) => {
                let group = if consumes(&file) { &mut held.readers } else { &mut held.files };
                group.insert(file);
            }
            _ => {}
        }
    }
    held
}

/// The tracepoint or function that a BPF link is attached to, of `/proc/PID/fdinfo/FD`; `None` of links to cgroups, network
/// devices and the like.
///
/// ```text
/// link_type:      raw_tracepoint
/// tp_name:        sched_switch
/// ```
fn attachment(info: &str) -> Option<String> {
    let value = |name: &str| info.lines().find_map(|line| line.split_once(':').filter(|(key, _)| *key == name));
    let kind = value("link_type")?.1.trim();
    let tracing = ["raw_tracepoint", "tracing", "perf_event", "perf", "kprobe_multi", "uprobe_multi"];
    tracing.contains(&kind).then(|| match value("tp_name") {
        Some((_, point)) => format!("{kind} {}", point.trim()),
        None => kind.to_owned(),
    })
}

fn tell(process: &str, pid: u32, held: &HeldFiles, findings: &mut Findings) {
    let facts = |more| json!({"pid": pid, "files": more});
    if !held.readers.is_empty() {
        let first = held.readers.iter().next().map(|file| file.display().to_string()).unwrap_or_default();
        findings
            .add(Area::Activity, "reader", Severity::Warning, format!("{process} reads {first}: what it takes is missing for others"))
            .advise("end it before `extract`, or a recording with -B of that buffer; other recordings have rings of their own")
            .facts(facts(json!(held.readers)));
    }
    if held.perf > 0 {
        findings
            .add(
                Area::Activity,
                "perf",
                Severity::Note,
                format!("{process} has a perf session, which may use tracepoints or probes"),
            )
            .advise("its events cost time of their own in what is measured")
            .facts(json!({"pid": pid, "descriptors": held.perf}));
    }
    if !held.bpf.is_empty() {
        let at: Vec<&str> = held.bpf.iter().map(String::as_str).collect();
        findings
            .add(Area::Activity, "bpf", Severity::Note, format!("{process} has BPF programs at {}", at.join(", ")))
            .advise("they run at each such event, which costs time in what is measured")
            .facts(json!({"pid": pid, "links": at}));
    }
    if !held.files.is_empty() {
        let first = held.files.iter().next().map(|file| file.display().to_string()).unwrap_or_default();
        let more = match held.files.len() {
            1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        findings
            .add(Area::Activity, "open", Severity::Note, format!("{process} has {first}{more} open"))
            .facts(facts(json!(held.files)));
    }
}

/// The mount points of tracefs and debugfs.
pub(super) fn mounts(machine: &ExaminedMachine, findings: &mut Findings) {
    let mounts = mount_points(&machine.text("proc/mounts").unwrap_or_default());
    for mount in &mounts {
        let text = format!("{} is mounted at {} ({})", mount.kind, mount.path.display(), mount.options);
        findings
            .add(Area::Access, "mount", Severity::Ok, text)
            .facts(json!({"kind": mount.kind, "path": mount.path, "options": mount.options}));
    }
    if mounts.is_empty() {
        findings
            .add(Area::Access, "mount", Severity::Note, "neither tracefs nor debugfs was mounted")
            .advise("rtrace mounts tracefs by itself when root runs it");
    }
}

/// Opens the tracing directory.
pub(super) fn open(args: &TracefsArgs, findings: &mut Findings) -> Option<Tracefs> {
    match args.find() {
        Ok(tracefs) => {
            let text = format!("{} is a tracing directory", tracefs.root().display());
            findings.add(Area::Access, "tracefs", Severity::Ok, text).facts(json!({"path": tracefs.root()}));
            Some(tracefs)
        }
        Err(error) => {
            let finding = findings.add(Area::Access, "tracefs", Severity::Error, error.to_string());
            for hint in error.hints() {
                finding.advise(hint);
            }
            None
        }
    }
}

/// This user's right to write what a recording writes, and to read ring buffers.
pub(super) fn rights(tracefs: &Tracefs, findings: &mut Findings) {
    let refusals = tracefs.recording_refusals();
    let uid = nix::unistd::geteuid();
    for (file, cause) in &refusals {
        let words = cause.to_string();
        let words = words.split(" (os error").next().unwrap_or_default();
        let finding = findings
            .add(Area::Access, "rights", Severity::Error, format!("user {uid} may not use `{file}`: {words}"))
            .facts(json!({"file": file, "error": words, "uid": uid.as_raw()}));
        if uid.is_root() {
            finding.advise("root is refused by lockdown, by a security module, or in a container: see there");
        } else {
            let root = tracefs.root().display();
            finding.advise(format!(
                "run it as root, or let root hand it to a user: `mount -o remount,uid=USER {root}` (a group, `gid=`, may only read)"
            ));
        }
    }
    if refusals.is_empty() {
        findings
            .add(Area::Access, "rights", Severity::Ok, format!("user {uid} may make instances, set events, read rings"))
            .facts(json!({"uid": uid.as_raw()}));
    }
}

/// Kernel lockdown, which closes tracefs at the level `confidentiality`.
pub(super) fn lockdown(machine: &ExaminedMachine, findings: &mut Findings) {
    let file = machine.text("sys/kernel/security/lockdown");
    let level = file.as_deref().and_then(|text| {
        text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']').map(str::to_owned))
    });
    let parameters = machine.text("proc/cmdline").unwrap_or_default();
    let asked = parameters.split_whitespace().filter_map(|word| word.strip_prefix("lockdown=")).next_back();
    let facts = json!({"level": level, "parameter": asked});
    let (severity, text) = match (level.as_deref(), asked) {
        (Some("confidentiality"), _) => {
            (Severity::Error, "the kernel is locked down (confidentiality): it refuses tracefs even to root".to_owned())
        }
        (Some("none"), _) => (Severity::Ok, "the kernel is not locked down".to_owned()),
        (Some(level), _) => (Severity::Ok, format!("lockdown ({level}) leaves tracefs open")),
        (None, Some(level)) => {
            (Severity::Note, format!("the kernel was booted with lockdown={level}; whether it is cannot be read here"))
        }
        (None, None) if machine.names("sys/kernel/security").is_empty() => {
            (Severity::Note, "whether the kernel is locked down cannot be read here: no securityfs".to_owned())
        }
        (None, None) => (Severity::Ok, "no lockdown is to be seen".to_owned()),
    };
    let finding = findings.add(Area::Access, "lockdown", severity, text).facts(facts);
    if severity == Severity::Error {
        finding.advise("boot without lockdown=confidentiality, or without Secure Boot where that asks for it");
    }
}

/// The top level and each instance: tracer, events, filters, triggers.
pub(super) fn instances(tracefs: &Tracefs, machine: &ExaminedMachine, findings: &mut Findings) {
    let names = tracefs.instances().unwrap_or_default();
    let named = names.iter().filter_map(|name| tracefs.instance(name).ok());
    for instance in std::iter::once(tracefs.top()).chain(named) {
        match Status::read(&instance) {
            Ok(status) => buffer(&instance, &status, machine, findings),
            Err(error) => {
                findings.add(Area::Activity, "buffer", Severity::Note, format!("{}: {error}", called(&instance)));
            }
        }
    }
    // Functions that anything is attached to: tracers, probes, BPF programs, live patches.
    let attached = tracefs.top().read("enabled_functions").map_or(0, |text| text.lines().count());
    if attached > 0 {
        findings
            .add(
                Area::Activity,
                "functions",
                Severity::Note,
                format!("{attached} kernel functions are traced, by tracers, probes, BPF or live patches"),
            )
            .advise("`rtrace show enabled_functions` lists them")
            .facts(json!({"functions": attached}));
    }
}

fn buffer(instance: &Instance, status: &Status, machine: &ExaminedMachine, findings: &mut Findings) {
    let events = instance.enabled_events().map_or(0, |events| events.len());
    let owner = instance.name().and_then(owner).and_then(|pid| machine.process(pid));
    let mut parts = Vec::new();
    parts.extend(status.tracer.as_ref().map(|tracer| format!("tracer {tracer}")));
    let mut count = |n: usize, one: &str| {
        if n > 0 {
            parts.push(counted(n as u64, one));
        }
    };
    count(events, "event");
    count(status.filters.len(), "filter");
    count(status.triggers.len(), "trigger");
    count(status.dynamic_events.len(), "dynamic event");
    let idle = parts.is_empty();
    let off = if status.on { "" } else { ", tracing is off" };
    let by = owner.as_ref().map_or_else(String::new, |owner| format!(", made by {owner}"));
    let what = if idle { "nothing set".to_owned() } else { parts.join(", ") };
    // A tracer at the top level slows down the whole machine, and so do enabled events a little.
    let severity = match (&status.tracer, idle && status.on) {
        (Some(_), _) if status.on && owner.is_none() => Severity::Warning,
        (_, true) => Severity::Ok,
        _ => Severity::Note,
    };
    let name = called(instance);
    let finding = findings.add(Area::Activity, "buffer", severity, format!("{name}: {what}{off}{by}")).facts(json!({
        "instance": instance.name(),
        "on": status.on,
        "tracer": status.tracer,
        "events": events,
        "filters": status.filters.len(),
        "triggers": status.triggers.len(),
        "dynamic_events": status.dynamic_events.len(),
        "owner": owner,
    }));
    let of = instance.name().map_or_else(String::new, |name| format!(" -B {name}"));
    if owner.is_none() && !idle {
        finding.advise(format!("`rtrace stat{of}` shows what is set, `rtrace reset{of}` puts it back"));
    }
    if !status.on {
        finding.advise(format!("`rtrace restart{of}` turns it on; `record` without -B has a buffer of its own"));
    }
}

/// The process that made an instance for a recording of rtrace: `rtrace-1234`.
fn owner(instance: &str) -> Option<u32> {
    instance.strip_prefix("rtrace-")?.split('-').next()?.parse().ok()
}

/// Journals of killed processes.
pub(super) fn stale_journals(dir: &Path, findings: &mut Findings) {
    let found = find_orphans(dir);
    for error in &found.unusable {
        findings
            .add(Area::Stale, "journal", Severity::Warning, error.to_string())
            .advise("look at it, and remove it if it is not needed");
    }
    for orphan in &found.orphans {
        let text = format!("`{}` (process {}) was killed and left tracing changed", orphan.command(), orphan.pid());
        let recording = left_unfinished(orphan).map(|recording| recording.path.to_string());
        let finding = findings.add(Area::Stale, "killed", Severity::Warning, text).facts(json!({
            "pid": orphan.pid(),
            "command": orphan.command(),
            "changes": orphan.len(),
            "instances": orphan.instances(),
            "recording": recording,
        }));
        match recording {
            Some(path) => {
                finding.advise(format!("`rtrace recover {path}` finishes its recording and puts tracing back"))
            }
            None => finding.advise("`rtrace reset --stale` puts it back"),
        };
    }
    if found.orphans.is_empty() && found.unusable.is_empty() {
        findings.add(Area::Stale, "journals", Severity::Ok, "no killed recording left a journal");
    }
}

/// Instances that recordings made which are no more, and of which no journal tells.
pub(super) fn stale_instances(tracefs: &Tracefs, dir: &Path, machine: &ExaminedMachine, findings: &mut Findings) {
    let orphans = find_orphans(dir).orphans;
    let journalled: Vec<&str> = orphans.iter().flat_map(|orphan| orphan.instances()).collect();
    let names = tracefs.instances().unwrap_or_default();
    for name in names.into_iter().filter(|name| !journalled.contains(&name.as_str())) {
        let Some(pid) = owner(&name).filter(|pid| *pid != std::process::id() && machine.process(*pid).is_none()) else {
            continue;
        };
        findings
            .add(
                Area::Stale,
                "instance",
                Severity::Warning,
                format!("instance {name} is of process {pid}, which has ended"),
            )
            .advise(format!("`rtrace reset --stale`, or without a journal `rtrace reset -B {name} -d`, removes it"))
            .facts(json!({"instance": name, "pid": pid}));
    }
}

#[cfg(test)]
mod tests {
    use super::{attachment, owner};

    #[test]
    fn links_of_tracing() {
        let info = "pos:\t0\nflags:\t02000000\nlink_type:\traw_tracepoint\nlink_id:\t3\ntp_name:\tsched_switch\n";
        assert_eq!(attachment(info).as_deref(), Some("raw_tracepoint sched_switch"));
        assert_eq!(attachment("link_type:\tkprobe_multi\n").as_deref(), Some("kprobe_multi"));
        assert_eq!(attachment("link_type:\tcgroup\n"), None);
    }

    #[test]
    fn instances_of_recordings() {
        assert_eq!(["rtrace-12", "rtrace-12-date", "web", "rtrace-x"].map(owner), [Some(12), Some(12), None, None]);
    }
}

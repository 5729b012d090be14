//! Users of the kernel's tracing, as far as their open files show them.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use rtrace::tracefs::{Tracefs, consumes, mount_points};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::PathBuf;

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

#[cfg(test)]
mod tests {
    use super::attachment;

    #[test]
    fn links_of_tracing() {
        let info = "pos:\t0\nflags:\t02000000\nlink_type:\traw_tracepoint\nlink_id:\t3\ntp_name:\tsched_switch\n";
        assert_eq!(attachment(info).as_deref(), Some("raw_tracepoint sched_switch"));
        assert_eq!(attachment("link_type:\tkprobe_multi\n").as_deref(), Some("kprobe_multi"));
        assert_eq!(attachment("link_type:\tcgroup\n"), None);
    }
}

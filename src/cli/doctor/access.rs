//! Access: where tracefs is mounted, whether this user may record, lockdown.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use crate::cli::args::TracefsArgs;
use rtrace::tracefs::{Tracefs, mount_points};
use serde_json::json;

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

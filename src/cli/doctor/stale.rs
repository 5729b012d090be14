//! State that killed recordings left behind.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use super::users::owner;
use rtrace::record::left_unfinished;
use rtrace::tracefs::{Tracefs, find_orphans};
use serde_json::json;
use std::path::Path;

/// Journals of killed processes.
pub(super) fn journals(dir: &Path, findings: &mut Findings) {
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
pub(super) fn instances(tracefs: &Tracefs, dir: &Path, machine: &ExaminedMachine, findings: &mut Findings) {
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

//! Activity: what traces in each buffer.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use crate::cli::args::called;
use rtrace::tracefs::{Instance, Status, Tracefs};
use rtrace::units::counted;
use serde_json::json;

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
pub(super) fn owner(instance: &str) -> Option<u32> {
    instance.strip_prefix("rtrace-")?.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn instances_of_recordings() {
        assert_eq!(["rtrace-12", "rtrace-12-date", "web", "rtrace-x"].map(owner), [Some(12), Some(12), None, None]);
    }
}

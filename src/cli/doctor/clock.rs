//! Clocks: whether readings of several CPUs can be compared.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use rtrace::tracefs::{Tracefs, boot_clock};
use serde_json::json;

/// Clock sources that a hypervisor offers, and that are as good as the TSC.
const OF_HYPERVISORS: [&str; 4] = ["kvm-clock", "hyperv_clocksource_tsc_page", "hyperv_clocksource_msr", "xen"];

/// The trace clock in use, and the one after boot, which says whether the kernel trusts its own.
pub(super) fn trace_clock(tracefs: &Tracefs, findings: &mut Findings) {
    let top = tracefs.top();
    let Ok(clock) = top.trace_clock() else { return };
    let chosen = boot_clock(&top);
    let facts = json!({"current": clock.current, "after_boot": chosen, "available": clock.available});
    if chosen == "global" {
        findings
            .add(
                Area::Clock,
                "trace_clock",
                Severity::Warning,
                "the kernel found its local clock unstable: CPUs' times drift apart",
            )
            .advise("record with `-C mono` or `-C global`")
            .facts(facts);
    } else {
        findings.add(Area::Clock, "trace_clock", Severity::Ok, format!("trace clock {}", clock.current)).facts(facts);
    }
}

/// The machine's clock source, and on x86 its time stamp counter.
pub(super) fn source(machine: &ExaminedMachine, findings: &mut Findings) {
    let of = |file: &str| machine.text(&format!("sys/devices/system/clocksource/clocksource0/{file}"));
    let current = of("current_clocksource");
    let available = of("available_clocksource").unwrap_or_default();
    let flags = machine.value("proc/cpuinfo", "flags").unwrap_or_default();
    let has = |flag: &str| flags.split(' ').any(|word| word == flag);
    let tsc = has("tsc").then(|| (has("constant_tsc"), has("nonstop_tsc")));
    let facts = json!({
        "clocksource": current,
        "available": available.split_whitespace().collect::<Vec<_>>(),
        "tsc": tsc.map(|(constant, nonstop)| json!({"constant": constant, "nonstop": nonstop})),
    });
    let name = current.as_deref().unwrap_or_default();
    let (severity, text, advice) = match tsc {
        _ if name.is_empty() => (Severity::Note, "the clock source cannot be read here: no sysfs".to_owned(), None),
        None => (Severity::Ok, format!("clock source {name}"), None),
        Some((true, true)) if name == "tsc" => {
            (Severity::Ok, "clock source tsc, constant and never stopping".to_owned(), None)
        }
        Some((constant, _)) if name == "tsc" => {
            let how = if constant { "stops in deep sleep" } else { "changes with the CPU's frequency" };
            let text = format!("clock source tsc, which {how}: CPUs' times may drift apart");
            (Severity::Warning, text, Some("record with `-C mono`, or with `-C global`"))
        }
        Some(_) if OF_HYPERVISORS.contains(&name) => {
            (Severity::Ok, format!("clock source {name}, the hypervisor's"), None)
        }
        Some(_) => (
            Severity::Warning,
            format!("clock source {name} though the CPU has a TSC: the kernel does not trust it"),
            Some("`dmesg | grep -i tsc` says why; record with `-C mono`, whose readings cost a microsecond or so here"),
        ),
    };
    let finding = findings.add(Area::Clock, "clocksource", severity, text).facts(facts);
    if let Some(advice) = advice {
        finding.advise(advice);
    }
}

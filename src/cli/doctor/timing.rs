//! Influences on durations: frequency scaling, hypervisors.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use serde_json::json;
use std::collections::BTreeSet;

/// Share of stolen time above which durations are doubtful, in percent.
const MUCH_STOLEN: f64 = 1.0;

/// Governors of the CPUs' frequencies.
pub(super) fn frequency(machine: &ExaminedMachine, findings: &mut Findings) {
    let cpus = machine.names("sys/devices/system/cpu").into_iter();
    let cpus: Vec<String> =
        cpus.filter(|name| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok())).collect();
    let governors: BTreeSet<String> = cpus
        .iter()
        .filter_map(|cpu| machine.text(&format!("sys/devices/system/cpu/{cpu}/cpufreq/scaling_governor")))
        .collect();
    let facts = json!({"governors": governors});
    let names: Vec<&str> = governors.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] if cpus.is_empty() => {
            findings.add(Area::Timing, "frequency", Severity::Note, "frequency scaling cannot be read here: no sysfs")
        }
        [] => findings.add(Area::Timing, "frequency", Severity::Ok, "the kernel does not scale the CPUs' frequency"),
        ["performance"] => findings.add(Area::Timing, "frequency", Severity::Ok, "frequency governor performance"),
        names => findings
            .add(
                Area::Timing,
                "frequency",
                Severity::Note,
                format!("frequency governor {}: the same work takes longer on an idle CPU", names.join(", ")),
            )
            .advise("`cpupower frequency-set -g performance` while durations are compared"),
    }
    .facts(facts);
}

/// Hypervisor or emulator, and the time that it took from this machine.
pub(super) fn virtualisation(machine: &ExaminedMachine, findings: &mut Findings) {
    if machine.text("proc/cpuinfo").is_none() {
        let text = "whether this is a virtual machine cannot be read here: no /proc/cpuinfo";
        findings.add(Area::Timing, "virtualisation", Severity::Note, text);
        return;
    }
    let flags = machine.value("proc/cpuinfo", "flags").unwrap_or_default();
    let model = machine.value("proc/cpuinfo", "model name").unwrap_or_default();
    let is_virtual = flags.split(' ').any(|word| word == "hypervisor");
    let stolen = machine.text("proc/stat").as_deref().and_then(stolen);
    let facts = json!({"hypervisor": is_virtual, "model": model, "stolen_percent": stolen});
    let steal = stolen.unwrap_or(0.0);
    let (severity, text, advice) = if model.contains("TCG") {
        let text = "the CPU is emulated: durations are many times too long, and uneven".to_owned();
        (Severity::Warning, text, "compare numbers of this machine with each other only")
    } else if steal >= MUCH_STOLEN {
        let text =
            format!("the hypervisor took {steal:.1} % of the CPUs' time since boot: a task's times include that");
        (Severity::Warning, text, "a gap in which nothing happens on a CPU may be the hypervisor's")
    } else if is_virtual {
        let text = format!("a virtual machine; {steal:.1} % of the CPUs' time was stolen since boot");
        (Severity::Note, text, "exits to the hypervisor lengthen what they interrupt: interrupts, timers, I/O")
    } else {
        findings.add(Area::Timing, "virtualisation", Severity::Ok, "no hypervisor is to be seen").facts(facts);
        return;
    };
    findings.add(Area::Timing, "virtualisation", severity, text).advise(advice).facts(facts);
}

/// The share of stolen time in the first line of `/proc/stat`, in percent of all: user, nice, system, idle, iowait, irq,
/// softirq, steal.
fn stolen(stat: &str) -> Option<f64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let all = ticks.iter().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks));
    let steal = *ticks.get(7)?;
    (all > 0).then(|| steal as f64 * 100.0 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::stolen;

    #[test]
    fn shares() {
        assert_eq!(stolen("cpu  50 0 20 20 0 0 0 10 7 0\ncpu0 1 1\n"), Some(10.0));
        assert_eq!(stolen("cpu  1 2 3\n"), None);
        assert_eq!(stolen(""), None);
    }
}

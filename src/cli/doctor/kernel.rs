//! The kernel: what it has for each command, and whether its functions have names.
//! The kernel's configuration, where it can be read.
//! Clocks: whether readings of several CPUs can be compared.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use flate2::read::GzDecoder;
use rtrace::internal::trace_dat::CpuRanges;
use rtrace::tracefs::{Feature, Tracefs, boot_clock};
use rtrace::units::counted;
use serde_json::json;
use std::collections::HashMap;
use std::io::Read;

/// The commands that need each feature.
fn needs() -> Vec<(&'static str, Feature)> {
    let tracer = |name: &str| Feature::Tracer(name.to_owned());
    vec![
        ("hist", Feature::HistTriggers),
        ("synth, latency", Feature::SyntheticEvents),
        ("probe (of kernel functions)", Feature::Kprobes),
        ("probe (of programs)", Feature::Uprobes),
        ("probe (with types)", Feature::Fprobes),
        ("probe (on events)", Feature::EventProbes),
        ("snapshot", Feature::Snapshot),
        ("record -p function", tracer("function")),
        ("record -p function_graph", tracer("function_graph")),
        ("record -l, -n", Feature::FunctionFilter),
        ("profile functions", Feature::FunctionProfiler),
        ("stack", Feature::StackTracer),
        ("filter set --pid, record -P", Feature::EventPids),
        ("record -T", Feature::TraceOption("stacktrace".to_owned())),
        ("record --subbuf-size", Feature::SubBufferSize),
        ("record --syscall-bytes", Feature::SyscallData),
        ("user events", Feature::UserEvents),
        ("record -p irqsoff", tracer("irqsoff")),
        ("record -p preemptoff", tracer("preemptoff")),
        ("record -p wakeup", tracer("wakeup")),
        ("record -p hwlat", tracer("hwlat")),
        ("record -p osnoise", tracer("osnoise")),
        ("record -p timerlat", tracer("timerlat")),
        ("record -p blk", tracer("blk")),
    ]
}

/// True of what needs the list of functions.
fn is_of_functions(feature: &Feature) -> bool {
    match feature {
        Feature::Tracer(name) => name.starts_with("function"),
        Feature::FunctionFilter => true,
        _ => false,
    }
}

/// Events, and the features that commands need.
pub(super) fn features(tracefs: &Tracefs, machine: &ExaminedMachine, findings: &mut Findings) {
    let config = Config::read(machine);
    let release = machine.text("proc/sys/kernel/osrelease").unwrap_or_default();
    let source = config.file.as_deref().unwrap_or("neither /proc/config.gz nor /boot has it");
    findings
        .add(Area::Kernel, "release", Severity::Ok, format!("Linux {release}; configuration: {source}"))
        .facts(json!({"release": release, "config_file": config.file}));
    match tracefs.top().events() {
        Ok(events) if !events.is_empty() => findings
            .add(
                Area::Kernel,
                "events",
                Severity::Ok,
                format!("{}: record, stream, report", counted(events.len() as u64, "event")),
            )
            .facts(json!({"events": events.len()})),
        _ => findings
            .add(Area::Kernel, "events", Severity::Error, "it offers no events: nothing can be recorded")
            .advise("the kernel needs CONFIG_EVENT_TRACING")
            .facts(json!({"events": 0})),
    };
    let refused = tracefs.function_refusal().is_some();
    for (commands, feature) in needs() {
        let present = feature.is_in(tracefs);
        let name = feature.config();
        let value = name.and_then(|name| config.value(name)).filter(|_| name.is_some_and(|n| n.starts_with("CONFIG_")));
        let facts = json!({
            "feature": feature.name(), "commands": commands, "present": present, "config": name, "configured": value,
        });
        if present && refused && is_of_functions(&feature) {
            let text = format!("{commands}: the kernel refuses its {} (Operation not permitted)", feature.name());
            let advice =
                "the kernel closes `set_ftrace_filter` to all: lockdown, a container or the hypervisor; events work";
            findings.add(Area::Kernel, "feature", Severity::Warning, text).advise(advice).facts(facts);
            continue;
        }
        if present {
            let text = format!("{commands}: {}", feature.name());
            findings.add(Area::Kernel, "feature", Severity::Ok, text).facts(facts);
            continue;
        }
        let text = format!("{commands}: this kernel has no {}", feature.name());
        let finding = findings.add(Area::Kernel, "feature", Severity::Note, text).facts(facts);
        match (name, value) {
            (Some(name), Some("n")) => finding.because(format!("built without {name}")),
            (Some(name), Some(value)) => {
                finding.advise(format!("{name}={value}, so it is hidden: by the boot parameters or a security module"))
            }
            (Some(name), None) if name.starts_with("CONFIG_") => finding.because(format!("it needs {name}")),
            (Some(version), None) => finding.because(format!("it came with {version}")),
            (None, _) => finding,
        };
    }
    let types = tracefs.has_kernel_types();
    let severity = if types { Severity::Ok } else { Severity::Note };
    let text = if types { "list --proto: types (BTF)" } else { "list --proto: this kernel has no types (BTF)" };
    let finding = findings.add(Area::Kernel, "types", severity, text).facts(json!({"present": types}));
    if !types {
        finding.because("it needs CONFIG_DEBUG_INFO_BTF");
    }
}

/// CPUs that are switched off.
pub(super) fn offline_cpus(machine: &ExaminedMachine, findings: &mut Findings) {
    let text = machine.text("sys/devices/system/cpu/offline");
    let Some(cpus) = text.as_deref().and_then(CpuRanges::parse).filter(|cpus| !cpus.is_empty()) else { return };
    let (s, are) = if cpus.is_one() { ("", "is") } else { ("s", "are") };
    findings
        .add(Area::Kernel, "offline", Severity::Note, format!("cpu{s} {cpus} {are} offline: no events until online"))
        .facts(json!({"cpus": cpus.to_string()}));
}

/// Names of functions, and the switch of the function tracer.
pub(super) fn symbols(machine: &ExaminedMachine, findings: &mut Findings) {
    let head = machine.head("proc/kallsyms", 4096).unwrap_or_default();
    let mut lines: Vec<&str> = head.lines().collect();
    lines.pop(); // cut off
    let hidden =
        lines.iter().all(|line| line.split(' ').next().is_some_and(|address| address.trim_matches('0').is_empty()));
    if lines.is_empty() || hidden {
        let restrict = machine.text("proc/sys/kernel/kptr_restrict");
        findings
            .add(
                Area::Kernel,
                "symbols",
                Severity::Warning,
                "addresses in /proc/kallsyms are hidden: functions have no names",
            )
            .advise("record as root, with kernel.kptr_restrict not above 1")
            .facts(json!({"kptr_restrict": restrict}));
    } else {
        findings.add(Area::Kernel, "symbols", Severity::Ok, "functions have names and addresses (/proc/kallsyms)");
    }
    if machine.text("proc/sys/kernel/ftrace_enabled").as_deref() == Some("0") {
        findings
            .add(
                Area::Kernel,
                "ftrace_enabled",
                Severity::Warning,
                "kernel.ftrace_enabled is 0: function tracers record nothing",
            )
            .advise("`sysctl kernel.ftrace_enabled=1`");
    }
    if machine.text("proc/sys/kernel/traceoff_on_warning").as_deref() == Some("1") {
        findings
            .add(
                Area::Kernel,
                "traceoff_on_warning",
                Severity::Note,
                "kernel.traceoff_on_warning is 1: a kernel warning ends tracing",
            )
            .advise("`sysctl kernel.traceoff_on_warning=0` if that is not wanted");
    }
}

/// More than the configuration of any kernel has, in bytes.
const LIMIT: u64 = 4 << 20;

/// The settings of `proc/config.gz`, or of `boot/config-RELEASE`.
#[derive(Debug, Default)]
struct Config {
    /// File that it was read from.
    file: Option<String>,
    settings: HashMap<String, String>,
}

impl Config {
    /// Reads it; empty where no file can be read.
    fn read(machine: &ExaminedMachine) -> Self {
        let gzip = machine.bytes("proc/config.gz").and_then(|packed| {
            let mut text = String::new();
            GzDecoder::new(&packed[..]).take(LIMIT).read_to_string(&mut text).ok()?;
            Some(("/proc/config.gz".to_owned(), text))
        });
        let release = machine.text("proc/sys/kernel/osrelease").unwrap_or_default();
        let found = gzip.or_else(|| {
            let file = format!("boot/config-{release}");
            Some((format!("/{file}"), machine.text(&file)?))
        });
        found.map_or_else(Config::default, |(file, text)| Config { file: Some(file), settings: parse(&text) })
    }

    /// The value of `CONFIG_NAME`: `y`, `m`, `n`; `None` if it is not known.
    fn value(&self, name: &str) -> Option<&str> {
        self.file.as_ref()?;
        Some(self.settings.get(name).map_or("n", String::as_str))
    }
}

/// Options that are not set have no line, or a comment.
fn parse(text: &str) -> HashMap<String, String> {
    let lines = text.lines().filter(|line| line.starts_with("CONFIG_"));
    lines.filter_map(|line| line.split_once('=')).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_and_not_set() {
        let text = "# a comment\nCONFIG_KPROBES=y\nCONFIG_BLK=m\n# CONFIG_HIST_TRIGGERS is not set\n";
        let config = Config { file: Some("/proc/config.gz".into()), settings: parse(text) };
        let values = ["CONFIG_KPROBES", "CONFIG_BLK", "CONFIG_HIST_TRIGGERS"].map(|name| config.value(name));
        assert_eq!(values, [Some("y"), Some("m"), Some("n")]);
        assert_eq!(Config::default().value("CONFIG_KPROBES"), None);
    }
}

//! Settings of which there is one for the whole machine, with their values after boot, where the kernel's source fixes
//! them (`kernel/trace/ftrace.c`, `trace_stack.c`, `trace_sched_switch.c`, `trace_hwlat.c`, `trace_osnoise.c`, `rv/rv.c`).

use super::mount::lies_on_tracefs;
use super::{Error, Instance, Tracefs};
use nix::errno::Errno;
use std::borrow::Cow;

/// The switch of all function tracing.
pub(super) const FTRACE_ENABLED: &str = "/proc/sys/kernel/ftrace_enabled";

/// Each setting with what is written to have it as after boot.
const KNOBS: [(&str, &str); 20] = [
    (FTRACE_ENABLED, "1"),
    ("/proc/sys/kernel/stack_tracer_enabled", "0"),
    ("saved_cmdlines_size", "128"),
    ("tracing_thresh", "0"),
    ("max_graph_depth", "0"),
    ("function_profile_enabled", "0"),
    ("hwlat_detector/width", "500000"),
    ("hwlat_detector/window", "1000000"),
    ("hwlat_detector/mode", "round-robin"),
    ("osnoise/period_us", "1000000"),
    ("osnoise/runtime_us", "1000000"),
    ("osnoise/stop_tracing_us", "0"),
    ("osnoise/stop_tracing_total_us", "0"),
    ("osnoise/timerlat_period_us", "1000"),
    ("osnoise/timerlat_align_us", "0"),
    ("osnoise/print_stack", "0"),
    ("osnoise/options", "DEFAULTS"),
    ("rv/enabled_monitors", ""),
    ("rv/monitoring_on", "1"),
    ("rv/reacting_on", "1"),
];

/// The CPUs that osnoise and timerlat watch; after boot those that the machine may have.
const OSNOISE_CPUS: &str = "osnoise/cpus";

/// A setting that is not as after boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineKnob {
    /// Its file: below the tracing directory, or absolute.
    pub file: Cow<'static, str>,
    /// Present value of the knob.
    pub says: String,
    /// The value to write so that it is as after boot.
    pub after_boot: String,
}

impl MachineKnob {
    /// Its name for people: that of the file, or of the sysctl.
    pub fn name(&self) -> String {
        self.file.strip_prefix("/proc/sys/").map_or_else(|| self.file.to_string(), |name| name.replace('/', "."))
    }
}

impl Tracefs {
    /// The machine's settings that are not as after boot. Those that this kernel lacks, or refuses to show, are left out.
    pub(super) fn machine_knobs(&self) -> Vec<MachineKnob> {
        let top = self.top();
        let all_cpus =
            self.read_bytes("/sys/devices/system/cpu/possible").map(|b| String::from_utf8_lossy(&b).into_owned());
        let all_cpus = all_cpus.map(|list| (OSNOISE_CPUS, list.trim().to_owned()));
        let fixed = KNOBS.iter().map(|(file, value)| (*file, (*value).to_owned()));
        let of_this_tracefs = |file: &str| !file.starts_with('/') || lies_on_tracefs(self.root());
        let knobs = fixed.chain(all_cpus).filter(|(file, _)| of_this_tracefs(file));
        let knobs = knobs.filter_map(|(file, after_boot)| MachineKnob::unless_as_after_boot(&top, file, after_boot));
        let devices = if lies_on_tracefs(self.root()) { self.traced_block_devices() } else { Vec::new() };
        let devices =
            devices.into_iter().map(|file| MachineKnob { file: file.into(), says: "1".into(), after_boot: "0".into() });
        knobs.chain(devices).collect()
    }

    /// True if tracing of functions is switched off for the whole machine (`ftrace_enabled`).
    pub fn function_tracing_is_off(&self) -> bool {
        self.read_bytes(FTRACE_ENABLED).is_ok_and(|said| said.trim_ascii() == b"0")
    }
}

impl MachineKnob {
    fn unless_as_after_boot(top: &Instance, file: &'static str, after_boot: String) -> Option<Self> {
        let says = top.read(file).ok()?.split_whitespace().collect::<Vec<_>>().join(" ");
        (!is_as_after_boot(file, &says, &after_boot)).then_some(MachineKnob { file: file.into(), says, after_boot })
    }
}

/// True if a setting that says `says` is as `after_boot` makes it.
fn is_as_after_boot(file: &str, says: &str, after_boot: &str) -> bool {
    match file {
        // What the kernel makes of 128: since Linux 6.8 the rest of the pages, of 16 and later 20 bytes a name.
        "saved_cmdlines_size" => ["128", "8190", "6552"].contains(&says),
        "hwlat_detector/mode" => says.contains(&format!("[{after_boot}]")),
        "osnoise/options" => says.split_whitespace().next() == Some(after_boot),
        _ => says == after_boot,
    }
}

/// True if nobody may change a setting on this machine.
pub(super) fn is_fixed_here(error: &Error) -> bool {
    matches!(error.errno(), Some(Errno::EPERM | Errno::EACCES | Errno::EROFS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_after_boot() {
        for (file, says, after_boot, is) in [
            (FTRACE_ENABLED, "0", "1", false),
            ("saved_cmdlines_size", "6552", "128", true),
            ("saved_cmdlines_size", "19659", "128", false),
            ("hwlat_detector/mode", "none [round-robin] per-cpu", "round-robin", true),
            ("hwlat_detector/mode", "none round-robin [per-cpu]", "round-robin", false),
            ("osnoise/options", "DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP", "DEFAULTS", true),
            ("osnoise/options", "NO_DEFAULTS OSNOISE_WORKLOAD PANIC_ON_STOP", "DEFAULTS", false),
        ] {
            assert_eq!(is_as_after_boot(file, says, after_boot), is, "{file} {says}");
        }
    }
}

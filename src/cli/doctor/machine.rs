//! Files of the machine: `proc`, `sys` and `boot`.
//! Memory of ring buffers, and room on the disk.
//! Influences on durations: frequency scaling, hypervisors.

use super::finding::{Area, Findings, Severity};
use nix::unistd::{AccessFlags, access};
use rtrace::record::free_space;
use rtrace::tracefs::{BufferSize, Instance, Tracefs};
use rtrace::units::ByteSize;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A root directory whose `proc`, `sys` and `boot` are read. Unreadable files count as missing.
pub(super) struct ExaminedMachine {
    root: PathBuf,
}

impl ExaminedMachine {
    pub(super) fn new(root: &Path) -> Self {
        ExaminedMachine { root: root.to_owned() }
    }

    /// True if it is the machine that this process runs on, not files that describe another.
    fn is_this(&self) -> bool {
        self.root == Path::new("/")
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, file: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(file)).ok()
    }

    /// The text of a file, without blanks around it.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        self.bytes(file).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The first `limit` bytes of a file that may be long, as text.
    pub(super) fn head(&self, file: &str, limit: u64) -> Option<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.path(file)).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Names in a directory, sorted.
    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(dir)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Target of a symbolic link.
    pub(super) fn link(&self, file: &str) -> Option<PathBuf> {
        std::fs::read_link(self.path(file)).ok()
    }

    /// Ids of the processes, but for this one.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = self.names("proc").iter().filter_map(|name| name.parse().ok()).collect();
        pids.retain(|pid| *pid != std::process::id());
        pids.sort_unstable();
        pids
    }

    /// `process 1234 (cat)`; `None` if there is no such process.
    pub(super) fn process(&self, pid: u32) -> Option<String> {
        Some(format!("process {pid} ({})", self.text(&format!("proc/{pid}/comm"))?))
    }

    /// The value of `NAME: value` in a text such as `proc/meminfo` or `proc/cpuinfo`, where it stands first.
    pub(super) fn value(&self, file: &str, name: &str) -> Option<String> {
        let text = self.text(file)?;
        let values = text.lines().filter_map(|line| line.split_once(':'));
        values.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    }
}

/// Free room below which a recording is likely to fill the disk: 256 MiB.
const LITTLE_ROOM: u64 = 256 << 20;

/// Sizes of one buffer's rings, all CPUs together, in KiB.
struct RingMemory {
    now: u64,
    /// Once it is used.
    expanded: u64,
}

fn size_of(instance: &Instance) -> Option<RingMemory> {
    let total = instance.read("buffer_total_size_kb").ok()?;
    Some(match BufferSize::parse(&total)? {
        BufferSize::Kib(kib) => RingMemory { now: kib, expanded: kib },
        BufferSize::Unexpanded { now, expanded } => RingMemory { now, expanded },
        BufferSize::PerCpu => return None,
    })
}

/// The size of a usual recording's rings, and of all that there are now, in KiB.
fn sizes(tracefs: &Tracefs) -> (Option<u64>, u64) {
    let names = tracefs.instances().unwrap_or_default();
    let top = size_of(&tracefs.top());
    let named = names.iter().filter_map(|name| size_of(&tracefs.instance(name).ok()?));
    let now = top.iter().map(|rings| rings.now).chain(named.map(|rings| rings.now)).fold(0, u64::saturating_add);
    (top.map(|rings| rings.expanded), now)
}

/// Ring buffers' memory and what a recording with the usual size needs, against `MemAvailable`.
fn judge(now: u64, usual: Option<u64>, available: Option<u64>, findings: &mut Findings) {
    let facts = json!({"ring_kib": now, "usual_kib": usual, "available_kib": available});
    let Some(available) = available else {
        let text = format!("ring buffers have {}; what is available is not known", size(now));
        findings.add(Area::Memory, "rings", Severity::Note, text).facts(facts);
        return;
    };
    let text = format!("ring buffers have {}, {} are available", size(now), size(available));
    let usual = usual.unwrap_or(0);
    if usual > available {
        findings
            .add(Area::Memory, "rings", Severity::Error, format!("{text}; a recording needs {}", size(usual)))
            .advise("free memory, or record with a smaller buffer: `-b 512K` is the size per CPU")
            .facts(facts);
    } else if now > available / 2 {
        findings
            .add(Area::Memory, "rings", Severity::Warning, format!("{text}: more than half as much again"))
            .advise("`rtrace instance list` shows whose they are; `rtrace reset -b SIZE` makes the top level's smaller")
            .facts(facts);
    } else {
        findings.add(Area::Memory, "rings", Severity::Ok, text).facts(facts);
    }
}

/// The same of this machine.
pub(super) fn rings(tracefs: &Tracefs, machine: &ExaminedMachine, findings: &mut Findings) {
    let available = machine.value("proc/meminfo", "MemAvailable");
    let available = available.and_then(|text| text.split(' ').next()?.parse().ok());
    let (usual, now) = sizes(tracefs);
    judge(now, usual, available, findings);
}

/// Room for a recording in the working directory.
pub(super) fn disk(machine: &ExaminedMachine, findings: &mut Findings) {
    let Some(free) = machine.is_this().then(|| free_space(".".as_ref())).flatten() else { return };
    let text = format!("the working directory has {} free for recordings", size(free / 1024));
    if access(".", AccessFlags::W_OK).is_err() {
        let text = "the working directory cannot be written".to_owned();
        let finding = findings.add(Area::Memory, "disk", Severity::Note, text).facts(json!({"free_bytes": free}));
        finding.advise("record elsewhere with -o");
        return;
    }
    let little = free < LITTLE_ROOM;
    let severity = if little { Severity::Warning } else { Severity::Ok };
    let finding = findings.add(Area::Memory, "disk", severity, text).facts(json!({"free_bytes": free}));
    if little {
        finding.advise("record elsewhere with -o, or bound it: `--max-size`, `--ring`");
    }
}

/// A size in KiB.
fn size(kib: u64) -> ByteSize {
    ByteSize(kib.saturating_mul(1024))
}

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
    // arm64 and riscv64 have no such flag: their boards say so. The emulator's own CPU has an implementer that is reserved for
    // software, or no vendor and twice the emulator's version.
    let said = |field| machine.value("proc/cpuinfo", field);
    let no_vendor = said("mvendorid").as_deref() == Some("0x0");
    let version_twice = said("marchid").is_some_and(|id| id != "0x0" && said("mimpid").as_ref() == Some(&id));
    let is_emulated =
        model.contains("TCG") || said("CPU implementer").as_deref() == Some("0x00") || no_vendor && version_twice;
    let board = machine.text("sys/firmware/devicetree/base/compatible").unwrap_or_default();
    let is_virtual = flags.split(' ').any(|word| word == "hypervisor")
        || ["linux,dummy-virt", "riscv-virtio"].iter().any(|name| board.contains(name));
    let stolen = machine.text("proc/stat").as_deref().and_then(stolen);
    let facts = json!({"hypervisor": is_virtual, "model": model, "stolen_percent": stolen});
    let steal = stolen.unwrap_or(0.0);
    let (severity, text, advice) = if is_emulated {
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
    use super::*;

    #[test]
    fn severities() {
        let verdict = |now, usual, available| {
            let mut findings = Findings::default();
            judge(now, usual, available, &mut findings);
            [Severity::Ok, Severity::Note, Severity::Warning, Severity::Error].map(|s| findings.count(s))
        };
        assert_eq!(verdict(14, Some(2816), Some(1 << 20)), [1, 0, 0, 0]);
        assert_eq!(verdict(600 << 10, Some(2816), Some(1 << 20)), [0, 0, 1, 0]);
        assert_eq!(verdict(14, Some(2816), Some(1 << 10)), [0, 0, 0, 1]);
        assert_eq!(verdict(14, None, None), [0, 1, 0, 0]);
    }

    #[test]
    fn shares() {
        assert_eq!(stolen("cpu  50 0 20 20 0 0 0 10 7 0\ncpu0 1 1\n"), Some(10.0));
        assert_eq!(stolen("cpu  1 2 3\n"), None);
        assert_eq!(stolen(""), None);
    }
}

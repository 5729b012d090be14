//! Memory of ring buffers, and room on the disk.

use super::finding::{Area, Findings, Severity};
use super::machine::ExaminedMachine;
use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};
use rtrace::tracefs::{BufferSize, Instance, Tracefs};
use rtrace::units::ByteSize;
use serde_json::json;

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
    let Some(of) = machine.is_this().then(|| statvfs(".").ok()).flatten() else { return };
    let free = of.blocks_available().saturating_mul(of.fragment_size());
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
}

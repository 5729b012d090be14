//! Recordings of a host and of its guest, each made on its own machine, as `attach` takes them.

use super::synthetic::Synthetic;
use rtrace::format::EventFormat;
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, OptionId};
use std::fs::File;
use std::path::Path;

/// Threads of the host that run a guest's CPUs: CPU and pid.
pub(crate) const VCPUS: [(u32, i32); 2] = [(0, 4300), (1, 4302)];
/// `tsc-offset` of the guest, as its host's KVM has it: the guest's ticks are the host's and this.
pub(crate) const TSC_OFFSET: i64 = -5_000_000_000_000;
/// TRACEIDs of host and guest.
pub(crate) const IDS: [u64; 2] = [0x0123_4567_89ab_cdef, 0x7766_5544_3322_1100];
/// From ticks to nanoseconds: multiplier and shift. Half a nanosecond a tick.
const TSC2NSEC: (u32, u32) = (1 << 9, 10);
/// The host's ticks when it begins.
pub(crate) const BEGIN: u64 = 6_000_000_000_000;

/// The formats of KVM's events in a 6.18 kernel.
fn kvm_formats() -> impl Iterator<Item = EventFormat> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/formats/host-6.18.zst");
    let text = zstd::decode_all(File::open(path).expect("test data")).expect("zstd");
    let text = String::from_utf8(text).expect("formats");
    let formats: Vec<String> = text.split("=== ").filter(|part| part.starts_with("kvm\n")).map(str::to_owned).collect();
    formats
        .into_iter()
        .map(|part| EventFormat::parse("kvm", part.split_once('\n').expect("lines").1).expect("a format"))
}

fn tsc2nsec() -> Vec<u8> {
    [&TSC2NSEC.0.to_le_bytes()[..], &TSC2NSEC.1.to_le_bytes(), &[0; 8]].concat()
}

/// Writes `host.dat` and `guest.dat` to `dir`. The guest runs 100 times on each CPU, and makes an event each time; its host
/// sees it enter before and exit after. With `by_events` the host's file holds the moment when KVM wrote the tsc offset, too.
pub(crate) fn write(dir: &Path, by_events: bool, version: Version) {
    make(dir, by_events, version, false);
}

/// The same; another guest had run on the host before.
pub(crate) fn write_two_guests(dir: &Path) {
    make(dir, true, Version::V7(Codec::Zstd), true);
}

fn make(dir: &Path, by_events: bool, version: Version, other_guest: bool) {
    let mut host = Synthetic::new(2, "4300 CPU 0/KVM\n4302 CPU 1/KVM\n4299 qemu\n")
        .by_clock("x86-tsc")
        .with_option(OptionId::TSC2NSEC, &tsc2nsec());
    host.facts.options.retain(|option| option.id != OptionId::TRACEID);
    let mut host = host.with_option(OptionId::TRACEID, &IDS[0].to_le_bytes());
    host.facts.event_formats.extend(kvm_formats());
    let mut guest = Synthetic::new(2, "77 inside\n").by_clock("x86-tsc");
    guest.facts.options.retain(|option| option.id != OptionId::TRACEID);
    let mut guest = guest.with_option(OptionId::TRACEID, &IDS[1].to_le_bytes());
    if other_guest {
        let cpu = 0u32.to_le_bytes();
        host.event(0, BEGIN - 5000, "kvm_write_tsc_offset", 5300, &[("vcpu_id", &cpu), ("next_tsc_offset", &[1])]);
        host.event(0, BEGIN - 4000, "kvm_entry", 5300, &[("vcpu_id", &cpu)]);
    }
    if by_events {
        for (vcpu, pid) in VCPUS {
            let fields = [("vcpu_id", &vcpu.to_le_bytes()[..]), ("next_tsc_offset", &TSC_OFFSET.to_le_bytes())];
            host.event(vcpu as usize, BEGIN - 1000, "kvm_write_tsc_offset", pid, &fields);
        }
    }
    for turn in 0..100 {
        for (vcpu, pid) in VCPUS {
            let cpu = vcpu as usize;
            let at = BEGIN + turn * 10_000 + u64::from(vcpu) * 77;
            host.event(cpu, at, "kvm_entry", pid, &[("vcpu_id", &vcpu.to_le_bytes())]);
            guest.event(cpu, (at + 1000).wrapping_add_signed(TSC_OFFSET), "sched_process_wait", 77, &[]);
            host.event(cpu, at + 2000, "kvm_exit", pid, &[("vcpu_id", &vcpu.to_le_bytes())]);
            host.event(cpu, at + 3000, "sched_process_wait", 4299, &[]);
        }
    }
    host.write(&dir.join("host.dat"), version);
    guest.write(&dir.join("guest.dat"), version);
}

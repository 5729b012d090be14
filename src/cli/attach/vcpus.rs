//! The threads that run a guest's CPUs, from the events that KVM made in the host's recording.

use crate::cli::exit::{Exit, Failure};
use anyhow::anyhow;
use rtrace::event::Value;
use rtrace::internal::trace_dat::TimeOptions;
use rtrace::recording::{QueryError, Recording};
use rtrace::units::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A moment at which KVM gave a CPU its clock: the host's time, and what is added to its counter for the guest.
pub(super) type Write = (u64, i64);

/// A guest's CPUs, by number.
#[derive(Debug, Default)]
pub(super) struct Vcpus {
    /// The thread of each.
    pub(super) threads: BTreeMap<u32, Pid>,
    /// The offsets that were written.
    pub(super) writes: BTreeMap<u32, Vec<Write>>,
}

/// Reasons why they are not known.
#[derive(Debug)]
pub(super) enum VcpuError {
    Query(QueryError),
    /// No event of KVM's tells of a CPU.
    None,
    /// None of these is the thread of one; those that are.
    Others(BTreeSet<i32>),
    /// Several threads ran the same CPU number: they are of several guests.
    Several(u32, BTreeSet<i32>),
}

impl Vcpus {
    /// Those of `host` that ran in `pids`; in any thread, if there are none.
    pub(super) fn find(host: &Recording, pids: &[i32]) -> Result<Self, VcpuError> {
        if !host.trace.formats().any(|format| format.system == "kvm") {
            return Err(VcpuError::None);
        }
        let mut found = Vcpus::default();
        let mut runners: BTreeMap<u32, BTreeSet<i32>> = BTreeMap::new();
        let mut all = BTreeSet::new();
        let raw = TimeOptions { raw: true, ..TimeOptions::default() };
        let query = host.query().filter("kvm:*").map_err(VcpuError::Query)?.time(&raw);
        let searched = query.for_each(|event| {
            let number = |name| match event.field(name) {
                Some(Value::Unsigned(number)) => Some(number),
                _ => None,
            };
            let Some(vcpu) = number("vcpu_id").and_then(|vcpu| u32::try_from(vcpu).ok()) else { return };
            let pid = event.pid().0;
            let is_runner = matches!(event.name(), "kvm_entry" | "kvm_exit");
            if is_runner {
                all.insert(pid);
            }
            if !pids.is_empty() && !pids.contains(&pid) {
                return;
            }
            match event.name() {
                "kvm_write_tsc_offset" => {
                    let offset = number("next_tsc_offset").map(u64::cast_signed);
                    found.writes.entry(vcpu).or_default().extend(offset.map(|offset| (event.timestamp().0, offset)));
                }
                _ if is_runner => drop(runners.entry(vcpu).or_default().insert(pid)),
                _ => {}
            }
        });
        searched.map_err(VcpuError::Query)?;
        if runners.is_empty() {
            return Err(if all.is_empty() { VcpuError::None } else { VcpuError::Others(all) });
        }
        for (vcpu, pids) in runners {
            match pids.iter().copied().collect::<Vec<_>>()[..] {
                [pid] => drop(found.threads.insert(vcpu, Pid(pid))),
                _ => return Err(VcpuError::Several(vcpu, pids)),
            }
        }
        Ok(found)
    }
}

impl VcpuError {
    /// As a failure of the command, about the host's recording at `path`.
    pub(super) fn failure(self, path: &Path) -> Failure {
        let path = path.display();
        let list = |pids: BTreeSet<i32>| pids.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        match self {
            VcpuError::Query(error) => Failure::from(anyhow::Error::from(error)),
            VcpuError::None => {
                Failure::new(Exit::Usage, anyhow!("{path} has no kvm_entry or kvm_exit that names a CPU"))
                    .hint("`rtrace record -e kvm` on the host records them while the guest runs.")
            }
            VcpuError::Others(pids) => {
                Failure::new(Exit::Usage, anyhow!("none of the threads given ran a guest in {path}"))
                    .hint(format!("those that did: {}.", list(pids)))
            }
            VcpuError::Several(vcpu, pids) => {
                Failure::new(Exit::Usage, anyhow!("several guests ran in {path}: CPU {vcpu} in threads {}", list(pids)))
                    .hint("name the threads of the guest after its file: those of /proc/PID/task of its emulator.")
            }
        }
    }
}

//! Keys of tasks and processes that are unique over recordings: 41 bits of the recording's id and the instance's name, then
//! 22 bits for the number of a task, or for a process's pid (the kernel's largest, `PID_MAX_LIMIT`, has 22). Queries join on
//! `recording` too, which tells apart what has the same 41 bits by chance.
//!
//! The names of a table's files: `host=H/date=2026-11-24/event=sched.sched_switch/STEM-ID.parquet`, which engines read as columns.

use crate::base::units::Pid;

/// Bits of a task's number and of a pid.
const BITS: u32 = 22;

/// The keys of one recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableKeys {
    recording: u64,
}

impl TableKeys {
    pub(super) fn of(recording: u64) -> Self {
        TableKeys { recording }
    }

    /// The key of the first task of an instance; those of the others follow.
    pub(super) fn tasks(self, instance: Option<&str>) -> i64 {
        // FNV-1a, which has the same result on all machines.
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let name = instance.unwrap_or_default().bytes().fold(0xcbf2_9ce4_8422_2325, add);
        base(self.recording ^ if instance.is_some() { name } else { 0 })
    }

    /// The key of a process.
    pub(super) fn process(self, pid: Pid) -> i64 {
        base(self.recording) | i64::from(pid.0) & ((1 << BITS) - 1)
    }
}

/// A key whose lower bits are 0, and which is no negative number.
fn base(mut hash: u64) -> i64 {
    // The end of MurmurHash3: each bit of the number changes half of those of the key.
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ hash >> 33).wrapping_mul(factor);
    }
    ((hash ^ hash >> 33) >> (BITS + 1) << BITS) as i64
}

/// Hive's name for a value that is not known, which engines read as null.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// The name of the file for `event` of a recording.
pub(super) fn file(host: &str, date: Option<&str>, event: &str, stem: &str) -> String {
    let part = |value: &str| if value.is_empty() { UNKNOWN.to_owned() } else { escaped(value) };
    let (host, date, stem) = (part(host), part(date.unwrap_or_default()), escaped(stem));
    format!("host={host}/date={date}/event={}/{stem}.parquet", escaped(event))
}

/// A recording's id as text.
pub(super) fn id(recording: u64) -> String {
    format!("{recording:016x}")
}

/// With everything but letters, digits, `_`, `-` and dots between them as `%XX`: the recording chooses names.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'.' if at > 0 => out.push('.'),
            b'_' | b'-' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out.truncate(200);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_are_unique_over_recordings_and_instances() {
        let of = |recording| TableKeys::of(recording);
        let mut found = BTreeSet::new();
        for recording in 0..1000 {
            assert!(found.insert(of(recording).tasks(None)) && found.insert(of(recording).tasks(Some("irq"))));
        }
        assert!(found.iter().all(|key| *key >= 0 && key % (1 << BITS) == 0));
        let (first, last) = (of(7).process(Pid(0)), of(7).process(Pid((1 << BITS) - 1)));
        assert_eq!((first, last - first), (of(7).tasks(None), (1 << BITS) - 1));
    }

    #[test]
    fn names_cannot_lead_elsewhere() {
        assert_eq!(
            file("web1", Some("2026-11-24"), "irq.softirq_entry", "run"),
            "host=web1/date=2026-11-24/event=irq.softirq_entry/run.parquet"
        );
        let hostile = file("../../etc", None, "a/b\0c", "..");
        assert_eq!(hostile, format!("host=%2E.%2F..%2Fetc/date={UNKNOWN}/event=a%2Fb%00c/%2E..parquet"));
    }
}

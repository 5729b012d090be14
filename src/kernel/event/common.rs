//! The fields every record begins with.

use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::format::EventFormat;

/// Offsets of the common fields. They are the same for all events of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    kind: CommonFieldPlace,
    flags: CommonFieldPlace,
    preempt_count: CommonFieldPlace,
    pid: CommonFieldPlace,
    migrate_disable: Option<CommonFieldPlace>,
    lock_depth: Option<CommonFieldPlace>,
    /// True if the four that all kernels have lie as in [`Common::default`].
    usual: bool,
}

/// The fields at the start of each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// As [`Common::event_id`].
    pub id: u16,
    /// As [`Common::flags`].
    pub flags: u8,
    /// As [`Common::preempt_count`].
    pub preempt_count: u8,
    /// As [`Common::pid`].
    pub pid: Pid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CommonFieldPlace {
    offset: usize,
    size: usize,
}

impl Default for Common {
    /// As all kernels since 2.6.31 have them.
    fn default() -> Self {
        Common {
            kind: CommonFieldPlace { offset: 0, size: 2 },
            flags: CommonFieldPlace { offset: 2, size: 1 },
            preempt_count: CommonFieldPlace { offset: 3, size: 1 },
            pid: CommonFieldPlace { offset: 4, size: 4 },
            migrate_disable: None,
            lock_depth: None,
            usual: true,
        }
    }
}

impl Common {
    /// As this event's format gives them.
    pub fn of(format: &EventFormat) -> Self {
        let find = |name: &str| {
            format.common.iter().find(|f| f.name == name).map(|f| CommonFieldPlace { offset: f.offset, size: f.size })
        };
        let usual = Common::default();
        let found = Common {
            kind: find("common_type").unwrap_or(usual.kind),
            flags: find("common_flags").unwrap_or(usual.flags),
            preempt_count: find("common_preempt_count").unwrap_or(usual.preempt_count),
            pid: find("common_pid").unwrap_or(usual.pid),
            migrate_disable: find("common_migrate_disable"),
            lock_depth: find("common_lock_depth"),
            usual: true,
        };
        let extra = Common { migrate_disable: found.migrate_disable, lock_depth: found.lock_depth, ..usual };
        Common { usual: found == extra, ..found }
    }

    /// True if records begin with their event's id, in two bytes.
    pub fn id_is_first(&self) -> bool {
        self.kind == Common::default().kind
    }

    /// The four fields that all kernels have, at once.
    #[inline(always)]
    pub fn head(&self, abi: Abi, data: &[u8]) -> RecordHead {
        match data.first_chunk::<8>() {
            Some(&[a, b, flags, preempt_count, d, e, f, g]) if self.usual => {
                RecordHead { id: abi.u16([a, b]), flags, preempt_count, pid: Pid(abi.u32([d, e, f, g]) as i32) }
            }
            _ => self.head_anywhere(abi, data),
        }
    }

    #[cold]
    fn head_anywhere(&self, abi: Abi, data: &[u8]) -> RecordHead {
        RecordHead {
            id: abi.uint(data, self.kind.offset, self.kind.size).unwrap_or(0) as u16,
            flags: self.flags(abi, data),
            preempt_count: self.preempt_count(abi, data),
            pid: self.pid(abi, data),
        }
    }

    /// True if [`Common::migrate_disable`] or [`Common::lock_depth`] give anything.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.migrate_disable.is_some() || self.lock_depth.is_some()
    }

    /// `common_type`: the event's id; 0 (which no event has) in a record too short to hold one.
    #[inline]
    pub fn event_id(&self, abi: Abi, data: &[u8]) -> u16 {
        self.head(abi, data).id
    }

    /// `common_flags`: irqs off 0x01, need-resched 0x04, hard irq 0x08, soft irq 0x10, ...
    #[inline]
    pub fn flags(&self, abi: Abi, data: &[u8]) -> u8 {
        abi.uint(data, self.flags.offset, self.flags.size).unwrap_or(0) as u8
    }

    /// `common_preempt_count`: preemption-disable depth in the low half, migrate-disable depth in the high half.
    #[inline]
    pub fn preempt_count(&self, abi: Abi, data: &[u8]) -> u8 {
        abi.uint(data, self.preempt_count.offset, self.preempt_count.size).unwrap_or(0) as u8
    }

    /// `common_pid`: the task that was running.
    #[inline]
    pub fn pid(&self, abi: Abi, data: &[u8]) -> Pid {
        Pid(abi.uint(data, self.pid.offset, self.pid.size).unwrap_or(0) as i32)
    }

    /// `common_migrate_disable` (Linux 5.10-rt and later rt kernels), if there is one.
    pub fn migrate_disable(&self, abi: Abi, data: &[u8]) -> Option<u64> {
        self.migrate_disable.map(|at| abi.uint(data, at.offset, at.size).unwrap_or(0))
    }

    /// `common_lock_depth` (until Linux 2.6.37), if there is one.
    pub fn lock_depth(&self, abi: Abi, data: &[u8]) -> Option<i64> {
        self.lock_depth.map(|at| abi.int(data, at.offset, at.size).unwrap_or(0))
    }
}

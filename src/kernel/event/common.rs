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
    /// None in events of a hypervisor, which has no tasks (Linux 7.0, kernel/trace/remotes).
    pid: Option<CommonFieldPlace>,
    migrate_disable: Option<CommonFieldPlace>,
    lock_depth: Option<CommonFieldPlace>,
    /// True if the four that all kernels have lie as in [`Common::default`].
    usual: bool,
}

/// The fields at the start of each record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Number of the event type, as [`Common::event_id`].
    pub id: u16,
    /// Interrupt flags, as [`Common::flags`].
    pub flags: u8,
    /// Depth of preemption, as [`Common::preempt_count`].
    pub preempt_count: u8,
    /// Task, as [`Common::pid`].
    pub pid: Pid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CommonFieldPlace {
    offset: usize,
    size: usize,
}

impl CommonFieldPlace {
    /// Of a field that reads as 0.
    const NONE: CommonFieldPlace = CommonFieldPlace { offset: 0, size: 0 };
}

impl Default for Common {
    /// As all kernels since 2.6.31 have them.
    fn default() -> Self {
        Common {
            kind: CommonFieldPlace { offset: 0, size: 2 },
            flags: CommonFieldPlace { offset: 2, size: 1 },
            preempt_count: CommonFieldPlace { offset: 3, size: 1 },
            pid: Some(CommonFieldPlace { offset: 4, size: 4 }),
            migrate_disable: None,
            lock_depth: None,
            usual: true,
        }
    }
}

impl Common {
    /// As this event's format gives them. Fields that it does not have are 0, and the task is [`Pid::NONE`]; a format
    /// without any common fields is one whose records have the usual ones.
    pub fn of(format: &EventFormat) -> Self {
        let find = |name: &str| {
            format.common.iter().find(|f| f.name == name).map(|f| CommonFieldPlace { offset: f.offset, size: f.size })
        };
        let usual = Common::default();
        if format.common.is_empty() {
            return usual;
        }
        let found = Common {
            kind: find("common_type").unwrap_or(usual.kind),
            flags: find("common_flags").unwrap_or(CommonFieldPlace::NONE),
            preempt_count: find("common_preempt_count").unwrap_or(CommonFieldPlace::NONE),
            pid: find("common_pid"),
            migrate_disable: find("common_migrate_disable"),
            lock_depth: find("common_lock_depth"),
            usual: true,
        };
        let extra = Common { migrate_disable: found.migrate_disable, lock_depth: found.lock_depth, ..usual };
        Common { usual: found == extra, ..found }
    }

    /// As the formats of a kernel give them: the first that tells its task counts for all.
    pub fn of_all<'f>(formats: impl IntoIterator<Item = &'f EventFormat>) -> Self {
        let mut all = formats.into_iter().map(Common::of).peekable();
        let first = all.peek().copied().unwrap_or_default();
        all.find(|common| common.pid.is_some()).unwrap_or(first)
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

    /// `common_pid`: the task that was running; [`Pid::NONE`] if events do not tell.
    #[inline]
    pub fn pid(&self, abi: Abi, data: &[u8]) -> Pid {
        self.pid.map_or(Pid::NONE, |at| Pid(abi.uint(data, at.offset, at.size).unwrap_or(0) as i32))
    }

    /// The offset of `common_pid`, in bytes; `None` if events do not tell their task.
    pub fn pid_offset(&self) -> Option<usize> {
        self.pid.map(|at| at.offset)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    /// An event of pKVM's hypervisor (Linux 7.0), and one of the kernel.
    #[test]
    fn a_record_without_a_task_has_none() {
        let event = |fields: &str| {
            let kind = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
            let text = format!("name: x\nID: 5\nformat:\n{kind}{fields}\n\nprint fmt: \"\"\n");
            EventFormat::parse("hypervisor", &text).unwrap()
        };
        let kernel = event("\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n");
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        let head = Common::of(&event("")).head(abi, &[5, 0, 255, 255, 1, 2, 3, 4]);
        assert_eq!(head, RecordHead { id: 5, flags: 0, preempt_count: 0, pid: Pid::NONE });
        assert_eq!(Common::of(&event("")).pid_offset(), None);
        let both = Common::of_all([&event(""), &kernel]);
        assert_eq!((both.pid_offset(), both.pid(abi, &[5, 0, 0, 0, 7, 0, 0, 0])), (Some(4), Pid(7)));
    }
}

//! Page faults.
//!
//! ```text
//! page_fault_user: address=0x7f21a8e2d000 ip=0x7f21a8c1a2b4 error_code=0x6
//! ```

use super::by_event::{ByEvent, RecordNumber};
use super::interface::Map;
use super::{InOrder, KnownPart, Needs, TaskSet};
use crate::answer::analysis::by_event::KnownEvents;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::Hash;

/// The events that its numbers need, by the names of `rtrace analyze faults --json`. A task's faults are its own events.
pub const FAULT_NEEDS: &[Needs] = &[Needs {
    tasks: KnownPart::Whole,
    ..Needs::seen(
        &[
            "codes",
            "tasks.user",
            "tasks.kernel",
            "tasks.share",
            "places.user",
            "places.kernel",
            "places.share",
            "pages.user",
            "pages.kernel",
            "pages.share",
        ],
        &["exceptions:page_fault_*"],
    )
}];

/// Page faults; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Faults {
    events: ByEvent<Fault>,
    /// Tasks whose faults count; without any, all tasks.
    of: TaskSet,
    window: Option<(u64, u64)>,
    tasks: Map<Pid, FaultCount>,
    places: Map<u64, FaultCount>,
    pages: Map<u64, FaultCount>,
    codes: BTreeMap<u64, FaultCount>,
    losses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    user: bool,
    address: RecordNumber,
    ip: RecordNumber,
    code: RecordNumber,
}

/// Page faults of one buffer.
#[derive(Clone, Debug, Default)]
pub struct FaultReport {
    /// The first and the last fault, in the clock's unit: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Faults by task, the most first.
    pub tasks: Vec<(Pid, FaultCount)>,
    /// By the instruction that faulted.
    pub places: Vec<(u64, FaultCount)>,
    /// By the first address of the [`FAULT_PAGE`] bytes that the address lies in.
    pub pages: Vec<(u64, FaultCount)>,
    /// By the processor's error code; what its bits mean depends on the processor.
    pub codes: BTreeMap<u64, FaultCount>,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

/// Bytes that count as one page, whatever the recorded machine's pages are.
pub const FAULT_PAGE: u64 = 4096;

/// A number of faults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCount {
    /// From programs (`page_fault_user`).
    pub user: u64,
    /// From the kernel itself (`page_fault_kernel`).
    pub kernel: u64,
}

impl FaultCount {
    /// All.
    pub fn all(self) -> u64 {
        self.user.saturating_add(self.kernel)
    }

    fn add(&mut self, user: bool) {
        let number = if user { &mut self.user } else { &mut self.kernel };
        *number = number.saturating_add(1);
    }
}

impl Fault {
    fn of(format: &EventFormat) -> Option<Self> {
        let user = match (format.system.as_str(), format.name.as_str()) {
            ("exceptions", "page_fault_user") => true,
            ("exceptions", "page_fault_kernel") => false,
            _ => return None,
        };
        let number = |field| RecordNumber::of(format, field);
        Some(Fault { user, address: number("address")?, ip: number("ip")?, code: number("error_code")? })
    }
}

impl Faults {
    /// For records of a file with these formats; faults of these tasks count.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, of: TaskSet) -> Self {
        Faults {
            events: ByEvent::new(formats, abi, Fault::of),
            of,
            window: None,
            tasks: Map::default(),
            places: Map::default(),
            pages: Map::default(),
            codes: BTreeMap::new(),
            losses: 0,
        }
    }

    /// True if the formats have page faults.
    pub fn has_events(&self) -> bool {
        self.events.all().next().is_some()
    }
}

impl InOrder for Faults {
    type Finding = FaultReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        self.losses += u64::from(record.lost != Lost::None);
        let Some(&Fault { user, address, ip, code }) = self.events.of(record) else { return };
        let (at, abi, data) = (record.timestamp.0, self.events.abi, record.data);
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        let pid = self.events.task(record);
        if !self.of.contains(pid, at) {
            return;
        }
        self.tasks.entry(pid).or_default().add(user);
        self.places.entry(ip.read(abi, data)).or_default().add(user);
        self.pages.entry(address.read(abi, data) & !(FAULT_PAGE - 1)).or_default().add(user);
        self.codes.entry(code.read(abi, data)).or_default().add(user);
    }

    fn finish(self) -> FaultReport {
        FaultReport {
            window: self.window,
            tasks: sorted(self.tasks),
            places: sorted(self.places),
            pages: sorted(self.pages),
            codes: self.codes,
            losses: self.losses,
        }
    }
}

/// The most first.
fn sorted<K: Copy + Eq + Hash + Ord>(of: Map<K, FaultCount>) -> Vec<(K, FaultCount)> {
    let mut all: Vec<(K, FaultCount)> = of.into_iter().collect();
    all.sort_by_key(|(key, count)| (Reverse(count.all()), *key));
    all
}

//! Tasks that reclaim memory, or compact it, before they have the pages that they want.
//!
//! ```text
//! mm_vmscan_direct_reclaim_begin: order=0 gfp_flags=GFP_HIGHUSER_MOVABLE     mm_vmscan_direct_reclaim_end: nr_reclaimed=42
//! mm_compaction_begin: zone_start=0x1000 ... mode=sync                       mm_compaction_end: zone_start=0x1000 ...
//! ```

use super::by_event::{ByEvent, RecordNumber};
use super::interface::Map;
use super::{Durations, InOrder, KnownPart, Needs, TaskSet};
use crate::answer::analysis::by_event::KnownEvents;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;

/// The events that its numbers need, by the names of `rtrace analyze reclaim --json`. A task's stalls are told by its own events.
pub const RECLAIM_NEEDS: &[Needs] = &[Needs {
    tasks: KnownPart::Whole,
    ..Needs::between(
        &[
            "kinds.stalls",
            "kinds.pages",
            "kinds.in_vain",
            "kinds.max_order",
            "kinds.longest",
            "tasks.stalls",
            "tasks.pages",
            "tasks.in_vain",
            "tasks.max_order",
            "tasks.longest",
        ],
        &[
            "vmscan:mm_vmscan_*_begin",
            "vmscan:mm_vmscan_*_end",
            "vmscan:mm_vmscan_kswapd_*",
            "compaction:mm_compaction_begin",
            "compaction:mm_compaction_end",
        ],
    )
}];

/// The kernel's reasons to look for free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReclaimKind {
    /// The task itself, as no free page is left (`mm_vmscan_direct_reclaim_begin`).
    Direct,
    /// The task itself, as its cgroup has reached its limit (`mm_vmscan_memcg_reclaim_begin`).
    Cgroup,
    /// Within one of the others, of a cgroup above its soft limit (`mm_vmscan_memcg_softlimit_reclaim_begin`).
    SoftLimit,
    /// The task itself, for pages of one node (`mm_vmscan_node_reclaim_begin`).
    Node,
    /// Pages moved together for a large one, by the task or by kcompactd (`mm_compaction_begin`).
    Compaction,
    /// kswapd at work, which nobody waits for (`mm_vmscan_kswapd_wake` to `mm_vmscan_kswapd_sleep`).
    Kswapd,
}

impl ReclaimKind {
    /// All kinds, in the order of a table.
    pub const ALL: [ReclaimKind; 6] = [
        ReclaimKind::Direct,
        ReclaimKind::Cgroup,
        ReclaimKind::SoftLimit,
        ReclaimKind::Node,
        ReclaimKind::Compaction,
        ReclaimKind::Kswapd,
    ];

    /// `direct`, `cgroup`, `softlimit`, `node`, `compaction`, `kswapd`.
    pub fn name(self) -> &'static str {
        match self {
            ReclaimKind::Direct => "direct",
            ReclaimKind::Cgroup => "cgroup",
            ReclaimKind::SoftLimit => "softlimit",
            ReclaimKind::Node => "node",
            ReclaimKind::Compaction => "compaction",
            ReclaimKind::Kswapd => "kswapd",
        }
    }

    /// Its begin (true) or end.
    fn of(system: &str, name: &str) -> Option<(Self, bool)> {
        Some(match (system, name) {
            ("vmscan", "mm_vmscan_direct_reclaim_begin") => (ReclaimKind::Direct, true),
            ("vmscan", "mm_vmscan_direct_reclaim_end") => (ReclaimKind::Direct, false),
            ("vmscan", "mm_vmscan_memcg_reclaim_begin") => (ReclaimKind::Cgroup, true),
            ("vmscan", "mm_vmscan_memcg_reclaim_end") => (ReclaimKind::Cgroup, false),
            ("vmscan", "mm_vmscan_memcg_softlimit_reclaim_begin") => (ReclaimKind::SoftLimit, true),
            ("vmscan", "mm_vmscan_memcg_softlimit_reclaim_end") => (ReclaimKind::SoftLimit, false),
            ("vmscan", "mm_vmscan_node_reclaim_begin") => (ReclaimKind::Node, true),
            ("vmscan", "mm_vmscan_node_reclaim_end") => (ReclaimKind::Node, false),
            ("compaction", "mm_compaction_begin") => (ReclaimKind::Compaction, true),
            ("compaction", "mm_compaction_end") => (ReclaimKind::Compaction, false),
            ("vmscan", "mm_vmscan_kswapd_wake") => (ReclaimKind::Kswapd, true),
            ("vmscan", "mm_vmscan_kswapd_sleep") => (ReclaimKind::Kswapd, false),
            _ => return None,
        })
    }
}

/// Stalls of tasks for memory; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Reclaim {
    events: ByEvent<ReclaimEvent>,
    of: TaskSet,
    open: Map<(Pid, ReclaimKind), OpenStall>,
    kinds: Map<ReclaimKind, Stalls>,
    tasks: Map<(Pid, ReclaimKind), Stalls>,
    report: ReclaimReport,
}

#[derive(Clone, Copy, Debug)]
struct ReclaimEvent {
    kind: ReclaimKind,
    begins: bool,
    /// log2 of the pages that are wanted at once; of a begin.
    order: Option<RecordNumber>,
    /// Pages that it brought; of an end.
    reclaimed: Option<RecordNumber>,
}

#[derive(Clone, Copy, Debug)]
struct OpenStall {
    at: u64,
    order: Option<u64>,
}

/// Stalls of one kind, or of one task. Times are in the clock's unit.
#[derive(Clone, Debug, Default)]
pub struct Stalls {
    /// From begin to end. One of another kind may lie within.
    pub times: Durations,
    /// Pages reclaimed, of kinds that say so.
    pub pages: Option<u64>,
    /// Stalls after which no page had been reclaimed.
    pub in_vain: Option<u64>,
    /// The greatest order that was wanted.
    pub max_order: Option<u64>,
    /// Begin of the longest, and its task; of several the first to end.
    pub longest: Option<(u64, Pid)>,
}

/// Stalls of one buffer.
#[derive(Clone, Debug, Default)]
pub struct ReclaimReport {
    /// The first and the last begin or end: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// By kind.
    pub kinds: Vec<(ReclaimKind, Stalls)>,
    /// By task and kind, the longest total first.
    pub tasks: Vec<((Pid, ReclaimKind), Stalls)>,
    /// Stalls that go on at the window's end.
    pub unfinished: u64,
    /// Ends of stalls that began before the window.
    pub without_begin: u64,
    /// Stalls that went on where events were lost.
    pub censored: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}

impl ReclaimEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let (kind, begins) = ReclaimKind::of(&format.system, &format.name)?;
        let number = |field| RecordNumber::of(format, field);
        Some(ReclaimEvent { kind, begins, order: number("order"), reclaimed: number("nr_reclaimed") })
    }
}

impl Reclaim {
    /// For records of a file with these formats; stalls of these tasks count.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, of: TaskSet) -> Self {
        Reclaim {
            events: ByEvent::new(formats, abi, ReclaimEvent::of),
            of,
            open: Map::default(),
            kinds: Map::default(),
            tasks: Map::default(),
            report: ReclaimReport::default(),
        }
    }

    /// True if the formats have ends of stalls.
    pub fn has_events(&self) -> bool {
        self.events.all().any(|event| !event.begins)
    }

    fn end(&mut self, task: Pid, kind: ReclaimKind, at: u64, reclaimed: Option<u64>) {
        let Some(open) = self.open.remove(&(task, kind)) else {
            // kswapd says that it sleeps whenever it does.
            self.report.without_begin += u64::from(kind != ReclaimKind::Kswapd);
            return;
        };
        for stalls in [self.kinds.entry(kind).or_default(), self.tasks.entry((task, kind)).or_default()] {
            let time = at.saturating_sub(open.at);
            if stalls.longest.is_none() || stalls.times.greatest() < time {
                stalls.longest = Some((open.at, task));
            }
            stalls.times.add(time);
            stalls.max_order = stalls.max_order.max(open.order);
            if let Some(pages) = reclaimed {
                let (all, in_vain) = (stalls.pages.get_or_insert(0), stalls.in_vain.get_or_insert(0));
                *all = all.saturating_add(pages);
                *in_vain = in_vain.saturating_add(u64::from(pages == 0));
            }
        }
    }
}

impl InOrder for Reclaim {
    type Finding = ReclaimReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.report.losses += 1;
            self.report.censored = self.report.censored.saturating_add(self.open.len() as u64);
            self.open.clear();
        }
        let Some(&ReclaimEvent { kind, begins, order, reclaimed }) = self.events.of(record) else { return };
        let (at, abi, data) = (record.timestamp.0, self.events.abi, record.data);
        let begin = self.report.window.map_or(at, |window| window.0);
        self.report.window = Some((begin, at));
        let task = self.events.task(record);
        if !self.of.may_contain(task) {
            return;
        }
        if begins {
            let order = order.map(|order| order.read(abi, data));
            // kswapd may go on for another order without having slept.
            self.open.entry((task, kind)).or_insert(OpenStall { at, order });
        } else if !self.of.contains(task, at) {
            self.open.remove(&(task, kind));
        } else {
            self.end(task, kind, at, reclaimed.map(|pages| pages.read(abi, data)));
        }
    }

    fn finish(self) -> ReclaimReport {
        let (mut kinds, mut tasks): (Vec<_>, Vec<_>) =
            (self.kinds.into_iter().collect(), self.tasks.into_iter().collect());
        kinds.sort_unstable_by_key(|(kind, _)| *kind);
        tasks.sort_unstable_by_key(|(task, stalls)| (Reverse(stalls.times.total()), *task));
        ReclaimReport { kinds, tasks, unfinished: self.open.len() as u64, ..self.report }
    }
}

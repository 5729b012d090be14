//! Answers that need many events: memory that functions hold, call chains, wakeup latencies, profiles of tasks, what the
//! scheduler did, system calls, interrupts, requests to block devices, functions, times between any two events.
//!
//! Each implements [`Analysis`], by itself or as an [`InOrder`] one, and a query feeds it records. Nothing here knows where
//! they come from.

pub(crate) mod by_event;
mod cells;
mod cgroups;
mod chains;
mod chosen;
mod durations;
mod extent;
mod faults;
mod functions;
mod hist;
mod idle;
pub(crate) mod interface;
mod io;
mod irq;
mod load;
mod locks;
mod mem;
mod memory;
mod net;
mod noise;
mod pairs;
mod profile;
mod reclaim;
mod requests;
mod rows;
mod sched;
mod slices;
mod span_log;
mod spells;
pub(crate) mod stacks;
mod strips;
mod syscalls;
#[cfg(test)]
pub(crate) mod test_formats;
mod timeline;
mod together;
mod wakeups;
mod why;

pub use by_event::KnownEvents;
pub use cells::{Cell, CellPlan, Cells, EventCells, bin, durations_of};
pub use cgroups::{CGROUP_NEEDS, CgroupReport, CgroupSched, CgroupTimes, throttled_time};
pub use chains::{CallChain, CallChains, ChainName};
pub use chosen::{CgroupSet, Chosen, TaskSet};
pub use durations::{Distribution, Durations, Longest};
pub use extent::{EntryFields, EntryReport, EventCount, EventCounts, EventEntries, Extent, Extents};
pub use faults::{FAULT_NEEDS, FAULT_PAGE, FaultCount, FaultReport, Faults};
pub use functions::{
    CalledFunction, FUNCTION_NEEDS, FoldedFrame, FoldedTime, FunctionCounts, FunctionReport, FunctionTimes, LongestCall,
};
pub use hist::{
    EventTrigger, Firing, Firings, Held, HistCounts, HistFindings, HistNames, HistPart, HistSetup, HistTrigger,
    Histograms, SetupError, SnapshotMoment, SyntheticEvent,
};
pub use idle::{CpuIdle, FrequencyTime, IDLE_NEEDS, Idle, IdleReport, IdleState};
pub use interface::{Analysis, InOrder, KnownPart, Log, Missing, Needs, Ordered, RowSubject};
pub use io::{
    BlockDevice, DepthTimes, DeviceIo, IO_NEEDS, Io, IoCounts, IoOperation, IoReport, IoRequests, LongestRequest,
    OngoingRequest, TaskIo,
};
pub use irq::{
    CpuIrqs, Handler, HandlerKind, HandlerOnCpu, HandlerSpan, IRQ_NEEDS, IrqCounts, IrqReport, IrqSource, Irqs,
    LongestIrq,
};
pub use load::{CpuLoad, LoadPeriod, Loads, TaskLoad};
pub use locks::{LOCK_NEEDS, LockCounts, LockKind, LockReport, LockWaits, Locks, LongestLockWait, OngoingLockWait};
pub use mem::{Bytes, FunctionMemory, MemoryUse};
pub use memory::{MEMORY_NEEDS, Memory, MemoryCounts, MemoryReport, MemorySite, PageCount};
pub use net::{NET_NEEDS, Net, NetDevice, NetReport, TcpPair};
pub use noise::{
    CpuNoise, CpuTimer, NOISE_NEEDS, Noise, NoiseSample, NoiseSource, Osnoise, OsnoiseReport, Timerlat, TimerlatReport,
    TimerlatSample,
};
pub use pairs::{KeptPair, KeyPart, PairReport, Pairs, Spot};
pub use profile::{
    Hook, HookError, HookEvent, HookProblem, Profile, ProfiledEvent, ProfiledTask, StackNode, Times, Who,
};
pub use reclaim::{RECLAIM_NEEDS, Reclaim, ReclaimKind, ReclaimReport, Stalls};
pub use requests::{
    MarkerPattern, REQUEST_NEEDS, RequestCounts, RequestPart, RequestPiece, RequestPlan, RequestReport, RequestSide,
    RequestTimes, TimedRequest,
};
pub use rows::{PairCounts, RowAnalysis, RowCell, RowError, RowFindings, RowPart};
pub use sched::{
    CpuSched, CpuSpan, CpuStay, LongestWait, MAP_NEEDS, MOVE_NEEDS, MappedStay, MappedStays, MoveCount, ProvenThrottle,
    SCHED_NEEDS, Sched, SchedCounts, SchedFlows, SchedReport, SpanPlan, TaskMoves, TaskSched, TaskSpan, ThrottledTime,
    TimeHistory, TimeIn, WAKER_NEEDS, Wake, WakeContext, WakeFlow, WakeSource, Waker, least_throttled, most_throttled,
};
pub use slices::{Slices, Thread, TimeSlice};
pub use span_log::{PackedSpan, SpanLog};
pub use spells::{CpuSpells, LossSpellFinder, LossSpells};
pub use strips::{Strip, StripCell, StripPart, StripScale, Strips};
pub use syscalls::{
    DescriptorCalls, DescriptorTimes, LongestSyscall, OngoingSyscall, SYSCALL_NEEDS, SyscallCounts, SyscallReport,
    SyscallTimes, Syscalls, TaskSyscalls,
};
pub use timeline::{Timeline, TimelineFinding, TimelineLane, TimelineSlice, TimelineWait};
pub use together::{Grouped, Several, Together};
pub use wakeups::{Latencies, WakeupLatencies, Wakeups};
pub use why::{
    AwaitedLock, CompletedRequest, Histories, History, InterruptShare, InterruptShares, IntervalPart, LeadingPart,
    Leaves, LossSpan, PartKind, Priority, Quota, QuotaTime, Throttle, critical_path, follow_path,
};

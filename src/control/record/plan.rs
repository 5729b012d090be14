//! The plan of a recording, as data: nothing here opens a file or asks the kernel.

use super::cgroup_tree::CgroupPlan;
use super::functions::{self, FunctionFilters};
use super::limits::{Limits, Rotate};
use super::machine::MachineSettings;
use super::start_at::StartAt;
use super::user::User;
use super::{PlanError, machine};
use crate::base::safe_file::FileOwner;
use crate::base::units::{ByteSize, CpuId, Pid};
use crate::control::tracefs::EventSelection;
use crate::file::trace_dat::Compression;
use crate::file::trace_dat::GuestFacts;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// A whole recording.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The trace.dat to make.
    pub output: PathBuf,
    /// The user that the finished file is given to, if its directory is theirs; it stays the recorder's if `None`.
    pub owner: Option<FileOwner>,
    /// Compression of its data.
    pub compression: Compression,
    /// The ring buffers to record: the main one first, then further instances.
    pub buffers: Vec<BufferPlan>,
    /// `-i`: an event pattern that names nothing is a warning.
    pub allow_unknown_events: bool,
    /// `-a`: the formats of all events are stored, not only of those recorded.
    pub all_formats: bool,
    /// Whose events are recorded.
    pub tasks: Tasks,
    /// The command line that the file says it was made by, as words of a shell.
    pub command_line: Option<String>,
    /// The command and its arguments.
    pub command: Option<Vec<OsString>>,
    /// Path to search for the command: `PATH`.
    pub search_path: Option<OsString>,
    /// Recording ends after this time, the command goes on.
    pub duration: Option<Duration>,
    /// The command is killed after this time.
    pub timeout: Option<Duration>,
    /// Events in the context of the recorder's own threads are recorded too.
    pub own_threads: bool,
    /// The wall clock's time is stored.
    pub date: bool,
    /// The wall clock's microseconds when the trace clock of the main buffer was zero, if they were measured already.
    pub known_date: Option<u64>,
    /// Its limits on the disk.
    pub limits: Limits,
    /// `-r`: the recording threads' real-time priority (SCHED_FIFO, 1 to 99).
    pub priority: Option<i32>,
    /// Added to every time stamp by readers, in the clock's unit.
    pub ts_offset: Option<i64>,
    /// Settings of the whole machine.
    pub machine: MachineSettings,
    /// Whom the command runs as; who records, if `None`.
    pub user: Option<User>,
    /// The variables that the command is given if it runs as another user.
    pub environment: Vec<(OsString, OsString)>,
    /// `-k`: what was set stays, and tracing is off.
    pub keep: bool,
    /// `--nosplice`: the ring buffers are read, not spliced.
    pub no_splice: bool,
    /// `--poll`: the ring buffers are looked at this often, instead of when the kernel says so.
    pub poll_every: Option<Duration>,
    /// `--proc-map`: the memory maps of processes are stored: of those that are named and all that they start, or without any of all.
    pub proc_map: bool,
    /// `--tsc2nsec`: what turns the clock `x86-tsc` into nanoseconds is stored.
    pub tsc2nsec: bool,
    /// `--file-version 6`.
    pub version6: bool,
    /// `-H`: pairs of events, stored for a profile of the recording.
    pub hooks: Vec<String>,
    /// Saves while it goes on.
    pub saves: SavePlan,
    /// `--at`: the moment at which tracing is switched on; at once if `None`.
    pub start_at: Option<StartAt>,
    /// TRACEID of the file; a number that no other recording has if `None`.
    pub id: Option<u64>,
    /// Other machines that record along, each to a file of its own. With them there may be nothing to record here.
    pub guests: Vec<GuestFacts>,
}

impl Plan {
    /// Enables nothing and stores all formats: for what is in the rings already, or as the start of a plan.
    pub fn empty(output: &std::path::Path, compression: Compression) -> Self {
        Plan {
            output: output.to_owned(),
            owner: None,
            compression,
            buffers: Vec::new(),
            allow_unknown_events: false,
            all_formats: true,
            tasks: Tasks::default(),
            command: None,
            command_line: None,
            search_path: None,
            duration: None,
            timeout: None,
            own_threads: true,
            date: false,
            known_date: None,
            limits: Limits::default(),
            priority: None,
            ts_offset: None,
            machine: MachineSettings::default(),
            user: None,
            environment: Vec::new(),
            keep: false,
            no_splice: false,
            poll_every: None,
            proc_map: false,
            tsc2nsec: false,
            version6: false,
            hooks: Vec::new(),
            saves: SavePlan::default(),
            start_at: None,
            id: None,
            guests: Vec::new(),
        }
    }

    /// True if what was recorded may be dropped again for what comes later.
    pub fn is_ring(&self) -> bool {
        self.limits.is_ring() || self.saves.rotate.is_some()
    }

    /// Refuses what cannot be carried out on any machine.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn check(&self) -> Result<(), PlanError> {
        if self.guests.is_empty() && !self.buffers.iter().any(BufferPlan::traces) {
            return Err(PlanError::NoEvents);
        }
        for buffer in &self.buffers {
            buffer.functions.check(buffer.tracer.as_deref())?;
        }
        if self.user.is_some() && self.command.is_none() {
            return Err(PlanError::NoUse { option: "--user", of: "the command" });
        }
        if self.keep && self.buffers.iter().any(|buffer| buffer.place == TargetBuffer::Private && buffer.traces()) {
            return Err(PlanError::NothingToKeep);
        }
        if self.tasks.command && self.command.is_none() {
            return Err(PlanError::NoCommand);
        }
        if self.tasks.children && !self.tasks.is_restricted() {
            return Err(PlanError::NoParents);
        }
        if self.timeout.is_some() && self.command.is_none() {
            return Err(PlanError::NothingToTimeOut);
        }
        if !self.machine.block_devices.is_empty() && !self.buffers.iter().any(BufferPlan::traces_block_devices) {
            return Err(PlanError::NoUse { option: "--device", of: "the blk tracer (-p blk)" });
        }
        if self.version6 { self.check_version6() } else { Ok(()) }
    }

    /// True if the recorder's threads are to be left out: a restriction to named tasks does that already, one to cgroups may have
    /// them among its own, and what stays set afterwards must not be about them.
    pub(super) fn leaves_itself_out(&self) -> bool {
        !self.own_threads && (!self.tasks.is_of_named() || !self.tasks.cgroups.only.is_empty()) && !self.keep
    }

    /// Version 6 has one size of sub-buffers, no compression, and a text or data.
    fn check_version6(&self) -> Result<(), PlanError> {
        let used = || self.buffers.iter().filter(|buffer| buffer.traces());
        let first = used().next().and_then(|buffer| buffer.sub_buffer);
        let what = if self.compression != Compression::None {
            "compressed data"
        } else if used().any(BufferPlan::is_of_latency_tracer) && used().count() > 1 {
            "a latency tracer's text beside other buffers"
        } else if used().any(|buffer| buffer.sub_buffer != first) {
            "buffers with sub-buffers of different sizes"
        } else {
            return Ok(());
        };
        Err(PlanError::Version6(what))
    }
}

/// Files that a recording saves its newest events to while it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavePlan {
    /// `--keep-going`: a find of a sentry is saved, and does not end the recording.
    pub keep_going: bool,
    /// `--after`: time from a find to its save.
    pub after: Duration,
    /// `--last`: the newest of this length is saved; all that is kept if `None`.
    pub last: Option<Duration>,
    /// `--keep`: the oldest beyond this number are removed.
    pub keep: Option<usize>,
    /// `--rotate`: each part of the recording goes to a file of its own, and then need not be kept.
    pub rotate: Option<Rotate>,
}

/// One ring buffer of a recording: the top level, an instance of our own, or a named one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPlan {
    /// Ring buffer to record in.
    pub place: TargetBuffer,
    /// Events to enable or disable in it, in order.
    pub events: Vec<EventPlan>,
    /// Its size per CPU; the kernel's default if `None`.
    pub size: Option<ByteSize>,
    /// Sizes of some CPUs' rings.
    pub cpu_sizes: Vec<(CpuId, ByteSize)>,
    /// Its trace clock; the kernel's default if `None`.
    pub clock: Option<String>,
    /// The size of its sub-buffers; one memory page if `None`.
    pub sub_buffer: Option<ByteSize>,
    /// Bytes of each text that a system call is given by address, as its event holds them; as it was if `None`.
    pub syscall_bytes: Option<u32>,
    /// The CPUs whose events it takes, as `tracing_cpumask` has it; all if `None`.
    pub cpu_mask: Option<String>,
    /// Its tracer; none if `None`.
    pub tracer: Option<String>,
    /// Functions that its tracer traces.
    pub functions: FunctionFilters,
    /// Trace options to switch on or off, in order.
    pub options: Vec<(String, bool)>,
    /// The errors of monitors of runtime verification are recorded in it: the monitors are enabled.
    pub monitors: bool,
}

/// The ring buffer of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetBuffer {
    /// An instance made for this recording; in the file it is the top buffer.
    Private,
    /// The top level.
    Top,
    /// The instance of this name, made and removed if there is none.
    Instance(String),
}

/// One `-e` with the `-f` and `-R` that follow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPlan {
    /// The events.
    pub selection: EventSelection,
    /// Filters, all of which must hold.
    pub filters: Vec<String>,
    /// Triggers to set on each of them.
    pub triggers: Vec<String>,
    /// False after `-v`: the events are left out.
    pub enable: bool,
}

/// Whose events are recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// `-P`: these processes, with all of their threads.
    pub pids: Vec<Pid>,
    /// `--thread`: these threads alone.
    pub threads: Vec<Pid>,
    /// `-F`: the command.
    pub command: bool,
    /// `-c`: and all that they fork.
    pub children: bool,
    /// `--not-pid`: not these processes.
    pub left_out: Vec<Pid>,
    /// `--cgroup`, `--cgroups`: tasks in some cgroups, and the cgroups of all tasks.
    pub cgroups: CgroupPlan,
}

impl Tasks {
    /// True if anything restricts whose events are recorded.
    pub fn is_restricted(&self) -> bool {
        self.is_of_named() || !self.cgroups.only.is_empty()
    }

    /// True if processes or threads are named: the recorder is none of them.
    pub(super) fn is_of_named(&self) -> bool {
        self.command || self.named().next().is_some()
    }

    /// The processes and threads that are named.
    pub fn named(&self) -> impl Iterator<Item = Pid> {
        self.pids.iter().chain(&self.threads).copied()
    }
}

impl BufferPlan {
    /// A buffer with nothing enabled.
    pub fn new(place: TargetBuffer) -> Self {
        BufferPlan {
            place,
            events: Vec::new(),
            size: None,
            cpu_sizes: Vec::new(),
            clock: None,
            sub_buffer: None,
            syscall_bytes: None,
            cpu_mask: None,
            tracer: None,
            functions: FunctionFilters::default(),
            options: Vec::new(),
            monitors: false,
        }
    }

    /// True if anything fills it.
    pub fn traces(&self) -> bool {
        self.tracer.is_some() || self.events.iter().any(|event| event.enable)
    }

    /// True if its tracer traces functions, so that lists of functions and `set_ftrace_pid` mean something.
    pub(super) fn traces_functions(&self) -> bool {
        self.tracer.as_deref().is_some_and(functions::are_traced_by)
    }

    /// True if its tracer follows calls.
    pub(super) fn traces_calls(&self) -> bool {
        self.tracer.as_deref() == Some("function_graph")
    }

    /// True if its tracer has nothing to say where tracing of functions is switched off.
    pub(super) fn is_of_functions(&self) -> bool {
        matches!(self.tracer.as_deref(), Some("function" | "function_graph"))
    }

    pub(super) fn traces_block_devices(&self) -> bool {
        self.tracer.as_deref() == Some("blk")
    }

    /// True if its tracer's result is a text instead of events.
    pub fn is_of_latency_tracer(&self) -> bool {
        self.tracer.as_deref().is_some_and(machine::is_latency_tracer)
    }
}

//! Why a recording did not happen, or is not what it should be.

use super::{CommandError, WorkerError};
use crate::base::syntax::Diagnostic;
use crate::base::units::Pid;
use crate::control::tracefs::{self, BootForm, UndoError};
use crate::file::trace_dat::WriteError;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// A recording that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The other end of a recording without a local file.
    #[error("failed to send the recording to {place}: {source}")]
    Remote {
        /// The destination.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The plan contradicts itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The command cannot be run.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// tracefs refused something.
    #[error(transparent)]
    Tracefs(#[from] tracefs::Error),
    /// A process to watch does not exist.
    #[error("failed to watch process {0}: {1}")]
    Watch(Pid, #[source] io::Error),
    /// A file could not be written.
    #[error("failed to {action} {}: {source}", path.display())]
    Output {
        /// `create`, `write`, `finish`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another recorder writes to that file.
    #[error("{} is being recorded to by another process", .0.display())]
    Busy(PathBuf),
    /// A killed recorder's remains lie where the new ones would.
    #[error("{} is an unfinished recording: {} is still there", path.display(), spool.display())]
    Unfinished {
        /// The trace file.
        path: PathBuf,
        /// The first spool found.
        spool: PathBuf,
    },
    /// The trace file could not be put together.
    #[error("failed to make {}: {source}", path.display())]
    TraceFile {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: Box<WriteError>,
    },
    /// Somebody removed the file, or its directory, while it was recorded to: nothing is left of it.
    #[error("{} was removed while it was recorded to: nothing is left of it", .0.display())]
    Removed(PathBuf),
    /// The file could not be completed: on a full disk, for one. It can be read as it is and completed later.
    #[error("failed to complete {}: {source}", path.display())]
    NotFinished {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: Box<WriteError>,
    },
    /// Everything was recorded, and the file is complete, but not of version 6.
    #[error("failed to write {} as version 6, it is of version 7: {source}", path.display())]
    Version6 {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: Box<WriteError>,
    },
    /// A recording thread could not be started.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The machine gave no thread, descriptor or signal queue.
    #[error("failed to start recording: {0}")]
    Start(#[source] io::Error),
    /// `-r`: the kernel does not grant the priority.
    #[error("failed to set real-time priority {0}: {1}")]
    Priority(i32, #[source] io::Error),
    /// The set-up could not all be undone; the file is complete.
    #[error(transparent)]
    Undo(#[from] UndoError),
}

/// An error with those of its causes that it does not quote, in one line.
pub(super) fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        if !text.contains(&next.to_string()) {
            let _ = write!(text, ": {next}");
        }
        cause = next.source();
    }
    text
}

/// A plan that cannot be carried out anywhere.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Nothing is enabled in any buffer.
    #[error("nothing to record: no event is selected")]
    NoEvents,
    /// The moment of `--at` has passed: it, and the time now.
    #[error("--at {0} is over: it is {1} now")]
    IsOver(String, String),
    /// A stack trace with every function there is.
    #[error("--func-stack takes a stack trace with each function, and -l names none")]
    StackOfEverything,
    /// `--func-stack` is an option of the function tracer.
    #[error("--func-stack is about -p function; -p function_graph takes no stack traces, -T takes them with events")]
    StackInGraph,
    /// A list of functions for a tracer that traces none.
    #[error("-l, -n and -g are about functions, and tracer `{0}` traces none: use -p function or -p function_graph")]
    NoFunctionsIn(String),
    /// `-g` without a graph.
    #[error("-g is about -p function_graph; the functions that -p function shall trace are named with -l")]
    NoGraph,
    /// A file of version 6 has no room for it.
    #[error(
        "a file of version 6 has no room for {0}: leave out --file-version 6, `rtrace convert` may write one later"
    )]
    Version6(&'static str),
    /// `--rotate` of a buffer whose clock does not count nanoseconds.
    #[error(
        "--rotate cuts at a point of time, and the clock `{0}` counts no nanoseconds: -C local, mono, boot or tai does"
    )]
    NoTimeToRotate(String),
    /// `--tsc2nsec` with another clock.
    #[error("--tsc2nsec is about the clock x86-tsc, and the clock of {buffer} is `{clock}`: -C tsc2nsec sets both")]
    NotTsc {
        /// The instance.
        buffer: String,
        /// Clock that was asked for.
        clock: String,
    },
    /// A setting of hwlat, osnoise or timerlat that the kernel would refuse.
    #[error("invalid value for `{file}`: {why}")]
    TracerSetting {
        /// The file, below the tracing directory.
        file: &'static str,
        /// The bound, and the value.
        why: String,
    },
    /// A device that is not there, or not a block device.
    #[error("no block device is called `{name}`")]
    NoDevice {
        /// The name.
        name: String,
        /// Names that exist.
        available: Vec<String>,
    },
    /// A monitor that this kernel does not have.
    #[error("no monitor of runtime verification is called `{name}`; this kernel has {}", .available.join(", "))]
    NoMonitor {
        /// The name or glob.
        name: String,
        /// Names that exist.
        available: Vec<String>,
    },
    /// A filter or trigger that its language or the event's format forbids.
    #[error("invalid {what}: {error}")]
    Language {
        /// `filter`, or `trigger for sched:sched_switch`.
        what: String,
        /// The error, with its place.
        error: Box<Diagnostic>,
    },
    /// `-m` is too little.
    #[error("-m is too small: a CPU needs {} at least", crate::base::units::ByteSize(*.0))]
    PerCpuSize(u64),
    /// A pattern of functions that is no regular expression.
    #[error("failed to understand the functions `{pattern}`: {source}")]
    FunctionPattern {
        /// The pattern.
        pattern: String,
        /// The error in it.
        source: regex::Error,
    },
    /// `--stop-if` cannot be held against what is recorded.
    #[error("--stop-if: {0}")]
    StopIf(String),
    /// An option about something that is not there.
    #[error("{option} is about {of}, and there is none")]
    NoUse {
        /// The option.
        option: &'static str,
        /// The subject of the expression.
        of: &'static str,
    },
    /// `-k` with an instance that goes with the recording.
    #[error("-k keeps what was set, and the instance of a private recording goes with it")]
    NothingToKeep,
    /// A latency tracer leaves one text, when all is over.
    #[error("tracer `{0}` leaves a text at the end, there is nothing to stream")]
    NotLive(String),
    /// `-F` needs a command.
    #[error("-F records the command only, and there is no command; `-P PID` without -F records a process")]
    NoCommand,
    /// `-c` needs `-F` or `-P`.
    #[error("-c follows the children of the tasks given by -F or -P, and there is neither")]
    NoParents,
    /// A trace option that this kernel does not have.
    #[error("this kernel has no trace option `{name}`")]
    NoOption {
        /// The name, with the `no` that was to switch it off.
        name: String,
        /// Names that exist.
        available: Vec<String>,
    },
    /// `--max-size` is less than what a file without any event has.
    #[error("--max-size leaves no room for events: what describes them has {} already", crate::base::units::ByteSize(*.0))]
    MaxSize(u64),
    /// `--ring` is too little for that many CPUs.
    #[error("--ring is too small: {cpus} CPUs need {} at least; a number alone is bytes, `10M` are MiB", crate::base::units::ByteSize(*.least))]
    RingSize {
        /// Ring buffers to be recorded.
        cpus: usize,
        /// The least they need, in bytes.
        least: u64,
    },
    /// `--timeout` is about the command.
    #[error("--timeout ends the command, and there is no command; --duration ends a recording without one")]
    NothingToTimeOut,
    /// More of a system call's texts than the kernel reads.
    #[error("--syscall-bytes {asked}: this kernel reads at most {granted} bytes of each text")]
    SyscallBytes {
        /// Bytes asked for.
        asked: u32,
        /// Bytes that it reads.
        granted: u32,
    },
    /// The kernel cannot be told of it at its boot.
    #[error("{what} has no place in {}", form.map_or("what a kernel reads at its boot".to_owned(), |form| form.to_string()))]
    NotFromBoot {
        /// The part of the plan, in words.
        what: String,
        /// The form that has none for it; `None` if no form has.
        form: Option<BootForm>,
    },
    /// A trace clock that this kernel does not have.
    #[error("no trace clock is called `{name}`; this kernel has {}", available.join(", "))]
    NoClock {
        /// The name asked for.
        name: String,
        /// Names that exist.
        available: Vec<String>,
    },
}

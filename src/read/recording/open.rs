//! A recording: the file, and the names that all its readers use.
//! One buffer of one recording, as a query reads it.

use crate::base::units::{Pid, RecordedClock};
use crate::file::trace_dat::{FileError, OpenError, OptionId, ReadAt, TimeOptions, TimeShift, Trace, WallClock};
use crate::kernel::btf::Enumerators;
use crate::kernel::event::{DecodeOptions, EventTypes, PrintState};
use crate::kernel::symbols::{Comms, Kallsyms, KernelFunctions, LastBoot, PrintkFormats, Symbols};
use std::path::Path;
use std::sync::OnceLock;

/// A trace file with its symbols. Immutable once opened; any number of queries may read it, from any thread.
pub struct Recording {
    /// The file: formats, options, buffers.
    pub trace: Trace,
    /// The recorded kernel's symbols, tasks and types.
    pub symbols: Symbols,
    other_boot: Option<String>,
    processes: OnceLock<Vec<(Pid, Pid)>>,
}

impl Recording {
    /// Opens the recording at `path`, an unfinished one with the events that lie beside it. Damage that leaves anything to
    /// read is noted in [`Trace::damage`]; symbols and types are loaded when they are first needed.
    ///
    /// # Errors
    /// [`OpenError`], which names the path: if it is not a trace.dat file of version 6 or 7, nothing of it can be read, or
    /// its recorder was killed in the moment it was finished.
    pub fn open_path(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Trace::open_path(path).map(Self::from)
    }

    /// Opens a finished recording that is at hand as bytes or an open file; else as [`Recording::open_path`].
    ///
    /// # Errors
    /// [`FileError`] if it is not a trace.dat file of version 6 or 7, or nothing of it can be read.
    pub fn open(io: impl ReadAt + 'static) -> Result<Self, FileError> {
        Trace::open_lazily(io, false).map(Self::from)
    }

    /// All event types, with their print formats compiled as `options` ask.
    pub fn types(&self, options: &DecodeOptions) -> EventTypes<'_> {
        EventTypes::new(self.trace.formats(), self.trace.abi, &self.symbols, options)
    }

    /// The state before the first event, for [`Decoder::event`](super::Decoder::event).
    pub fn state(&self) -> PrintState {
        PrintState::new(self.symbols.comms.clone())
    }

    /// The processes of its tasks, from `saved_tgids` of all buffers: thread and process, ascending.
    pub fn processes(&self) -> &[(Pid, Pid)] {
        self.processes.get_or_init(|| {
            let views = self.trace.buffers.iter().filter_map(|buffer| self.trace.kernel_view(buffer));
            let mut pairs: Vec<(Pid, Pid)> = views.flat_map(|view| view.tgids).collect();
            pairs.sort_unstable();
            pairs
        })
    }

    /// The process of a task, if the recording holds it (trace option `record-tgid`).
    pub fn tgid(&self, pid: Pid) -> Option<Pid> {
        let pairs = self.processes();
        let at = pairs.partition_point(|(thread, _)| *thread < pid);
        pairs.get(at).filter(|(thread, _)| *thread == pid).map(|(_, process)| *process)
    }

    /// The buffer whose boot the symbols are of, if other buffers hold events of another boot (persistent ring buffers,
    /// Linux 6.15): functions of those may be named wrongly. The empty name is the top buffer's.
    pub fn symbols_of_buffer(&self) -> Option<&str> {
        self.other_boot.as_deref()
    }
}

impl From<Trace> for Recording {
    /// Resolves the file's symbols. Where all events are of the boot before the one that the symbols were read in, the
    /// symbols are moved to where they lay then.
    fn from(mut trace: Trace) -> Self {
        let other_boot = move_to_last_boot(&mut trace);
        let symbols = Symbols {
            kallsyms: Kallsyms::new(trace.kallsyms.clone()),
            printk: PrintkFormats::parse(&trace.printk_formats),
            comms: Comms::parse(&trace.saved_cmdlines),
            user: None,
            enumerators: enumerators(&trace),
            functions: KernelFunctions::new(trace.btf.clone()),
        };
        Recording { trace, symbols, other_boot, processes: OnceLock::new() }
    }
}

/// Moves the symbols by the difference between the boots. Gives the buffer whose boot they are of if buffers disagree.
fn move_to_last_boot(trace: &mut Trace) -> Option<String> {
    let texts: Vec<String> = trace.options(OptionId::LAST_BOOT_INFO).map(|option| option.text()).collect();
    let boots = texts.iter().filter_map(|text| text.split_once(':'));
    let boots: Vec<(&str, LastBoot)> =
        boots.filter_map(|(buffer, text)| Some((buffer, LastBoot::parse(text)?))).collect();
    let (_, boot) = boots.first()?;
    let mut with_data = trace.buffers.iter().filter(|buffer| !buffer.cpus.is_empty());
    let of_now = with_data.find(|buffer| boots.iter().all(|(name, of)| buffer.name != *name || of != boot));
    if let Some(buffer) = of_now {
        return Some(buffer.name.clone());
    }
    let moved = boot.apply(trace.kallsyms.get().unwrap_or_default(), &trace.printk_formats, &trace.modules);
    if let Some(moved) = moved {
        (trace.kallsyms, trace.printk_formats) = (moved.kallsyms.into(), moved.printk_formats);
    }
    None
}

/// The values of the names in print formats: as the recorder stored them, else from the file's types.
fn enumerators(trace: &Trace) -> Enumerators {
    if let Some(option) = trace.option(OptionId::RTRACE_ENUMERATORS) {
        return Enumerators::parse(&option.text());
    }
    if !trace.btf.is_there() {
        return Enumerators::default();
    }
    let mut wanted = Enumerators::wanted(trace.event_formats.iter().map(|format| format.print_fmt.as_str()));
    match wanted.is_empty() {
        true => Enumerators::default(),
        // An error of the types is reported where functions' arguments need them.
        false => Enumerators::find(&mut wanted, trace.btf.get().unwrap_or_default(), None).unwrap_or_default(),
    }
}

/// One buffer of one recording. [`Record::buffer`](crate::kernel::event::Record::buffer) of a query's records is an index into
/// [`Query::sources`](super::Query::sources).
#[derive(Clone, Debug)]
pub struct BufferSource {
    /// The recording: index into those of the query.
    pub recording: usize,
    /// The buffer: index into [`Trace::buffers`](crate::file::trace_dat::Trace::buffers).
    pub buffer: usize,
    /// The buffer's CPUs that are read: indices into [`Buffer::cpus`](crate::file::trace_dat::Buffer::cpus).
    pub cpus: Vec<usize>,
    /// True if time stamps count something other than nanoseconds.
    pub in_ticks: bool,
    /// True if reports show time stamps as they are; else as seconds, which is also done with the ticks of `uptime`.
    pub shown_in_ticks: bool,
    /// Corrections of its time stamps.
    pub time: TimeOptions,
}

impl BufferSource {
    /// All sources in the order that decides between equal time stamps: the top buffers of all recordings, then the rest.
    pub(super) fn all(recordings: &[&Recording], time: &TimeOptions) -> Vec<BufferSource> {
        let mut sources = Vec::new();
        for (number, recording) in recordings.iter().enumerate() {
            for (buffer, of) in recording.trace.buffers.iter().enumerate() {
                let cpus = (0..of.cpus.len()).collect();
                let mut source = BufferSource {
                    recording: number,
                    buffer,
                    cpus,
                    in_ticks: false,
                    shown_in_ticks: false,
                    time: *time,
                };
                source.set_time(recordings, time);
                sources.push(source);
            }
        }
        sources.sort_by_key(|s| (!recordings[s.recording].trace.buffers[s.buffer].name.is_empty(), s.recording));
        sources
    }

    /// The wall clock by its times; `None` if nobody knows it.
    pub fn wall_clock(&self, recordings: &[&Recording]) -> Option<WallClock> {
        let trace = &recordings.get(self.recording)?.trace;
        let peer = trace.option(OptionId::TIME_SHIFT).and_then(|option| TimeShift::read(option, trace.prefix.abi).ok());
        let host = peer.and_then(|shift| recordings.iter().find(|other| other.trace.id() == Some(shift.peer)));
        trace.wall_clock(&self.time, host.map(|host| &host.trace)).filter(|_| !self.in_ticks)
    }

    /// Corrects its time stamps as `time` says.
    pub(super) fn set_time(&mut self, recordings: &[&Recording], time: &TimeOptions) {
        let trace = &recordings[self.recording].trace;
        let clock = trace.buffers[self.buffer].clock.as_str();
        let converted = time.frequency.is_some() || trace.option(OptionId::TSC2NSEC).is_some();
        let clock = RecordedClock::of(clock);
        self.in_ticks = time.raw || !(converted || clock.counts_nanoseconds());
        self.shown_in_ticks = time.raw || !(converted || clock.shown_as_seconds);
        self.time = *time;
    }
}

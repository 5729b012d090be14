//! The top level or one of `instances/`: reading.

use super::buffer::BufferSize;
use super::{CpuStats, Error, EventName, TraceClock, Tracefs};
use crate::base::units::CpuId;
use std::path::PathBuf;

/// The directory of all remotes.
pub(super) const REMOTES: &str = "remotes";

/// A set of ring buffers with its own events and knobs: the top level, or one of `instances/`.
///
/// A handle by name, cheap to clone; it does not keep the instance alive. Writing goes through
/// [`Journal`](super::Journal).
#[derive(Clone, Debug)]
pub struct Instance {
    tracefs: Tracefs,
    name: Option<String>,
    /// The directory it lies in.
    folder: &'static str,
}

impl PartialEq for Instance {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.folder) == (&other.name, other.folder) && self.tracefs.root() == other.tracefs.root()
    }
}

impl Instance {
    pub(super) fn top(tracefs: &Tracefs) -> Self {
        Instance { tracefs: tracefs.clone(), name: None, folder: "" }
    }

    /// A remote, of whose files only some are an instance's.
    pub(super) fn remote(tracefs: &Tracefs, name: &str) -> Self {
        Instance { tracefs: tracefs.clone(), name: Some(name.to_owned()), folder: REMOTES }
    }

    pub(super) fn named(tracefs: &Tracefs, name: &str) -> Result<Self, Error> {
        if !Self::is_name(name) {
            return Err(Error::InstanceName { name: name.to_owned() });
        }
        Ok(Instance { tracefs: tracefs.clone(), name: Some(name.to_owned()), folder: "instances" })
    }

    /// True if an instance can have this name: one directory below `instances`.
    pub(super) fn is_name(name: &str) -> bool {
        !(name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0', '\n']) || name.len() > 255)
    }

    /// The tracing directory it belongs to.
    pub fn tracefs(&self) -> &Tracefs {
        &self.tracefs
    }

    /// Its name; `None` for the top level.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Path of one of its files below the tracing directory: `instances/foo/trace_clock`.
    pub fn relative(&self, file: &str) -> String {
        match &self.name {
            Some(name) => format!("{}/{name}/{file}", self.folder),
            None => file.to_owned(),
        }
    }

    /// Full path of one of its files.
    pub fn path(&self, file: &str) -> PathBuf {
        self.tracefs.root().join(self.relative(file))
    }

    /// True if it has that file.
    pub fn has(&self, file: &str) -> bool {
        self.tracefs.files().exists(&self.path(file))
    }

    /// The bytes of one of its files.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn read_bytes(&self, file: &str) -> Result<Vec<u8>, Error> {
        self.tracefs.read_bytes(&self.relative(file))
    }

    /// The text of one of its files; bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn read(&self, file: &str) -> Result<String, Error> {
        self.read_bytes(file).map(text_of)
    }

    /// Opens one of its files for reading piece by piece: `trace`, or `trace_pipe`, which consumes and waits.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn open(&self, file: &str) -> Result<std::fs::File, Error> {
        std::fs::File::open(self.path(file)).map_err(|e| Error::file("open", &self.relative(file), None, e))
    }

    /// Fails if it has no ring buffer of that CPU.
    ///
    /// # Errors
    /// [`Error::NoCpu`]; as [`Instance::cpus`].
    pub fn require_cpu(&self, cpu: CpuId) -> Result<(), Error> {
        let cpus = self.cpus()?;
        if cpus.contains(&cpu) { Ok(()) } else { Err(Error::NoCpu { cpu, cpus }) }
    }

    /// Names in one of its directories, `true` for directories, sorted.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn list(&self, dir: &str) -> Result<Vec<(String, bool)>, Error> {
        self.tracefs.list(&self.relative(dir))
    }

    fn content(&self, file: &str, text: &str) -> Error {
        Error::Content { file: self.relative(file), text: text.trim_end().to_owned() }
    }

    // ---- events ----

    /// The systems with a directory under `events/`, sorted.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn systems(&self) -> Result<Vec<String>, Error> {
        Ok(self.list("events")?.into_iter().filter(|(_, dir)| *dir).map(|(name, _)| name).collect())
    }

    /// The events of one system, sorted, whether they can be enabled or not (those of `ftrace` cannot).
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn events_of(&self, system: &str) -> Result<Vec<EventName>, Error> {
        let names = self.list(&format!("events/{system}"))?;
        Ok(names.into_iter().filter(|(_, dir)| *dir).map(|(name, _)| EventName::new(system, name)).collect())
    }

    /// Every event that can be enabled, sorted: `available_events`, which kernels have at the top level only or in
    /// instances too and which names the same events everywhere, or the directories where that file is missing.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn events(&self) -> Result<Vec<EventName>, Error> {
        let mut events: Vec<EventName> = match self.tracefs.top().read("available_events") {
            Ok(text) => text.lines().filter_map(EventName::parse).collect(),
            Err(_) => {
                let mut events = Vec::new();
                for system in self.systems()?.into_iter().filter(|system| system != "ftrace") {
                    events.extend(self.events_of(&system)?);
                }
                events
            }
        };
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    /// The events that are enabled now, sorted (`set_event`).
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn enabled_events(&self) -> Result<Vec<EventName>, Error> {
        if self.is_read_only() {
            return Ok(Vec::new());
        }
        let mut events: Vec<EventName> = self.read("set_event")?.lines().filter_map(EventName::parse).collect();
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    /// The text of an event's `format` file.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn event_format(&self, event: &EventName) -> Result<String, Error> {
        self.read(&event.file("format"))
    }

    /// The texts of the `format` files of `events`, in their order: fast where those of a system follow each other.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn event_formats(&self, events: &[&EventName]) -> Result<Vec<String>, Error> {
        let mut texts = Vec::with_capacity(events.len());
        for of_system in events.chunk_by(|a, b| a.system == b.system) {
            let system = self.path(&format!("events/{}", of_system[0].system));
            let names: Vec<&str> = of_system.iter().map(|event| event.name.as_str()).collect();
            for (event, text) in of_system.iter().zip(self.tracefs.files().formats(&system, &names)) {
                let failed = |e| Error::file("read", &self.relative(&event.file("format")), None, e);
                texts.push(text_of(text.map_err(failed)?));
            }
        }
        Ok(texts)
    }

    /// The triggers set on an event, without the comment lines.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn triggers(&self, event: &EventName) -> Result<Vec<String>, Error> {
        Ok(trigger_lines(&self.read(&event.file("trigger"))?).map(str::to_owned).collect())
    }

    /// The filter set on an event; `None` for `none`.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`].
    pub fn filter(&self, event: &EventName) -> Result<Option<String>, Error> {
        let text = self.read(&event.file("filter"))?;
        let text = text.trim_end_matches('\n');
        Ok((!text.is_empty() && text != "none").then(|| text.to_owned()))
    }

    // ---- buffer ----

    /// The CPUs with a ring buffer, in order. They need not be contiguous, nor all online.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn cpus(&self) -> Result<Vec<CpuId>, Error> {
        let mut cpus: Vec<CpuId> = self
            .list("per_cpu")?
            .into_iter()
            .filter_map(|(name, _)| name.strip_prefix("cpu")?.parse().ok().map(CpuId))
            .collect();
        cpus.sort_unstable();
        Ok(cpus)
    }

    /// One of a CPU's files, relative to the instance: `per_cpu/cpu0/stats`.
    pub fn cpu_file(cpu: CpuId, file: &str) -> String {
        format!("per_cpu/cpu{cpu}/{file}")
    }

    /// Full path of a CPU's `trace_pipe_raw`. Reading it consumes.
    pub fn trace_pipe_raw(&self, cpu: CpuId) -> PathBuf {
        self.path(&Self::cpu_file(cpu, "trace_pipe_raw"))
    }

    /// The files that take events out of the rings of `cpus` when they are read.
    pub fn consuming_files(&self, cpus: &[CpuId]) -> Vec<PathBuf> {
        let of_cpus =
            cpus.iter().flat_map(|cpu| ["trace_pipe", "trace_pipe_raw"].map(|file| Self::cpu_file(*cpu, file)));
        of_cpus.chain(["trace_pipe".to_owned()]).map(|file| self.path(&file)).collect()
    }

    /// Full path of a CPU's `stats`, whose text [`CpuStats::parse`] reads.
    pub fn stats_file(&self, cpu: CpuId) -> PathBuf {
        self.path(&Self::cpu_file(cpu, "stats"))
    }

    /// Full path of a CPU's `snapshot_raw`. Reading it consumes.
    pub fn snapshot_raw(&self, cpu: CpuId) -> PathBuf {
        self.path(&Self::cpu_file(cpu, "snapshot_raw"))
    }

    /// Of a persistent instance (one whose memory survives a restart, since Linux 6.12) that still holds what an earlier
    /// boot wrote: the text with that kernel's addresses. `None` for all others.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn last_boot(&self) -> Result<Option<String>, Error> {
        if !self.has("last_boot_info") {
            return Ok(None);
        }
        let text = self.read("last_boot_info")?;
        // Once it was written to in this boot it says `# Current`.
        Ok((!text.is_empty() && !text.starts_with("# Current")).then_some(text))
    }

    /// True of a copy of what an earlier boot wrote into a persistent instance (kernel parameter
    /// `trace_instance=NAME=SOURCE`, since Linux 7.0): nothing can be set in it, and the kernel removes it when it is
    /// cleared or was read out. It has hardly a file that is for writing, not even `tracing_on`.
    pub fn is_read_only(&self) -> bool {
        self.name.is_some() && self.has("last_boot_info") && !self.has("tracing_on")
    }

    /// Fails for one that can only be read.
    ///
    /// # Errors
    /// [`Error::ReadOnlyInstance`].
    pub fn require_writable(&self) -> Result<(), Error> {
        match &self.name {
            Some(name) if self.is_read_only() => Err(Error::ReadOnlyInstance { name: name.clone() }),
            _ => Ok(()),
        }
    }

    /// A CPU's counters.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] with the line that is not a counter.
    pub fn cpu_stats(&self, cpu: CpuId) -> Result<CpuStats, Error> {
        let file = Self::cpu_file(cpu, "stats");
        CpuStats::parse(&self.read(&file)?).map_err(|line| self.content(&file, &line))
    }

    /// The text of a CPU's counters, as files keep it.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn cpu_stats_text(&self, cpu: CpuId) -> Result<String, Error> {
        self.read(&Self::cpu_file(cpu, "stats"))
    }

    /// The text of `trace`: what the ring buffer holds, or a latency tracer's worst case.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn trace_text(&self) -> Result<Vec<u8>, Error> {
        self.read_bytes("trace")
    }

    /// The ring buffer's size.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] if it is not a size.
    pub fn buffer_size(&self) -> Result<BufferSize, Error> {
        let text = self.read("buffer_size_kb")?;
        BufferSize::parse(&text).ok_or_else(|| self.content("buffer_size_kb", &text))
    }

    /// The size of a sub-buffer in bytes: `buffer_subbuf_size_kb` (since Linux 6.8), else one page.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] if it is not a size.
    pub fn sub_buffer_size(&self) -> Result<usize, Error> {
        if !self.has("buffer_subbuf_size_kb") {
            return Ok(self.tracefs.header_page()?.1.sub_buffer_size);
        }
        let text = self.read("buffer_subbuf_size_kb")?;
        let kib: Option<usize> = text.trim().parse().ok();
        kib.and_then(|kib| kib.checked_mul(1024)).ok_or_else(|| self.content("buffer_subbuf_size_kb", &text))
    }

    // ---- knobs ----

    /// True if it says which trace clock is in use; a copy of formats may not.
    pub fn has_trace_clock(&self) -> bool {
        self.has("trace_clock")
    }

    /// The trace clock in use and those there are.
    ///
    /// # Errors
    /// [`Error::File`]; [`Error::Content`] if none is marked as current.
    pub fn trace_clock(&self) -> Result<TraceClock, Error> {
        let text = self.read("trace_clock")?;
        TraceClock::parse(&text).ok_or_else(|| self.content("trace_clock", &text))
    }

    /// The tracer in use.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn current_tracer(&self) -> Result<String, Error> {
        Ok(self.read("current_tracer")?.trim().to_owned())
    }

    /// The tracers of this kernel, in the kernel's order.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn tracers(&self) -> Result<Vec<String>, Error> {
        Ok(self.read("available_tracers")?.split_whitespace().map(str::to_owned).collect())
    }

    /// The trace options and whether each is on, in the kernel's order. An instance's set is smaller on old kernels.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn options(&self) -> Result<Vec<(String, bool)>, Error> {
        let known: Vec<String> = self.list("options")?.into_iter().map(|(name, _)| name).collect();
        let text = self.read("trace_options")?;
        let split = |word: &str| match word.strip_prefix("no") {
            // An option whose own name starts with `no` is on if the whole word is a file.
            Some(rest) if !known.iter().any(|k| k == word) => (rest.to_owned(), false),
            _ => (word.to_owned(), true),
        };
        Ok(text.split_whitespace().map(split).collect())
    }

    /// True if the ring buffer takes events.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn is_on(&self) -> Result<bool, Error> {
        Ok(!self.is_read_only() && self.read("tracing_on")?.trim() == "1")
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The lines of a `trigger` file that are triggers.
fn trigger_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

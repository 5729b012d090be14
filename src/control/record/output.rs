//! The trace file and the spools beside it, from the first check to the finished file.

use super::error::RecordError;
use super::former::{Former, lock};
use super::kept_tasks::KeptTasks;
use super::metadata::{AtTheEnd, Formats, KernelMetadata, uname, with_nul};
use super::offline::numa_nodes;
use super::plan::Plan;
use super::proc_maps::ProcMaps;
use super::save_place::SavePlace;
use super::setup::SetUpBuffer;
use super::sink::{ChunkSink, Remote};
use super::spool::{Keep, Spool};
use super::tasks::Comm;
use crate::base::abi::Abi;
use crate::base::safe_file::{FileOwner, PRIVATE, TargetPath, give};
use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::{self, EventName, JournalledRecording, RecordedBuffer, TraceClock, Tracefs};
use crate::file::trace_dat::write::{Version, convert};
use crate::file::trace_dat::{
    BuildIds, ChunkIndex, Compression, Coverage, FileLock, FinishedSpool, OptionId, SectionWriter, SpoolEntry,
    SpoolTable, Trace, UnsavedEvents, WriteError, cgroups_spool_name, comms_spool_name, spool_name,
};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::geteuid;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// The trace file being made. Dropped before [`Output::keep`], it leaves nothing behind.
pub(super) struct Output {
    path: PathBuf,
    file: File,
    /// Goes to the writer when there is one.
    lock: Option<FileLock>,
    /// The file in the way until [`Output::begin`]; `file` is that file until then.
    former: Option<Former>,
    /// The name that the former file has now.
    kept: Option<PathBuf>,
    /// The same, which it loses again if nothing comes of the new one.
    moved: Option<PathBuf>,
    /// Files to remove if nothing comes of it.
    made: Vec<PathBuf>,
    writer: Option<SectionWriter>,
    table: SpoolTable,
    /// The file that the cgroups of tasks go to while recording.
    cgroups: Option<PathBuf>,
    formats: Formats,
    /// The other end, if the file is to be on another machine: `file` is one in memory then.
    remote: Option<Arc<dyn Remote>>,
    /// TRACEID of the file.
    id: u64,
}

/// Facts in a file about its clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClockFacts {
    /// The wall clock when the trace clock was zero, in microseconds.
    pub(super) date: Option<u64>,
    /// Multiplier and shift that make nanoseconds of it.
    pub(super) tsc: Option<(u32, u32)>,
}

/// A trace file that waits for the symbols, which take a while to read.
pub(super) struct SymbolsWriter {
    writer: SectionWriter,
    table: SpoolTable,
    path: PathBuf,
    /// The file, and the other end that it goes to.
    sent: Option<(File, u64, Arc<dyn Remote>)>,
    /// The kernel's BTF, if it is wanted.
    btf: Option<Vec<u8>>,
}

impl Output {
    /// Opens `path` for writing, and leaves what is there alone until [`Output::begin`].
    ///
    /// # Errors
    /// [`RecordError::Output`], [`RecordError::Busy`] if another recorder has it, [`RecordError::Unfinished`] if the
    /// remains of a killed one lie there.
    pub(super) fn create(path: &Path) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Output { action: "create", path: path.to_owned(), source };
        let place = TargetPath::of(path).map_err(failed)?;
        let path = place.path().to_owned();
        let new = |file: File, made: Vec<PathBuf>| -> Result<Self, RecordError> {
            let mut output = Self::without_data(path.clone(), file);
            output.lock = Some(lock(&path, &output.file)?);
            output.made = made;
            Ok(output)
        };
        if !place.is_taken() {
            return new(place.create_new(PRIVATE).map_err(failed)?, vec![path.clone()]);
        }
        let file = place.open_regular().map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.len() == 0 && metadata.uid() == geteuid().as_raw() && metadata.nlink() == 1 {
            file.set_permissions(Permissions::from_mode(PRIVATE)).map_err(failed)?;
            return new(file, Vec::new());
        }
        let former = Former::new(&path, file)?;
        let file = former.file().try_clone().map_err(failed)?;
        let mut output = Self::without_data(path, file);
        output.former = Some(former);
        Ok(output)
    }

    fn without_data(path: PathBuf, file: File) -> Self {
        Output {
            path,
            file,
            lock: None,
            former: None,
            kept: None,
            moved: None,
            made: Vec::new(),
            cgroups: None,
            writer: None,
            table: SpoolTable::default(),
            formats: Formats::default(),
            remote: None,
            id: trace_id(),
        }
    }

    /// A recording that leaves no file here: the trace file is in memory, and goes to `remote` as it becomes known.
    ///
    /// # Errors
    /// If the machine has no memory.
    pub(super) fn remote(remote: Arc<dyn Remote>) -> Result<Self, RecordError> {
        // A name that its files have in the table of spools; readers go by that of the file there.
        let path = PathBuf::from("trace.dat");
        let failed = |source| RecordError::Output { action: "create", path: path.clone(), source };
        let file = File::from(memfd_create(c"rtrace", MFdFlags::MFD_CLOEXEC).map_err(|e| failed(e.into()))?);
        let mut output = Self::without_data(path.clone(), file);
        output.lock = Some(lock(&path, &output.file)?);
        output.remote = Some(remote);
        Ok(output)
    }

    /// The other end, if it wants to have all that is not events before the first of them.
    pub(super) fn wants_all_first(&self) -> bool {
        self.remote.as_ref().is_some_and(|remote| remote.wants_all_first())
    }

    /// Sets its TRACEID.
    pub(super) fn set_id(&mut self, id: u64) {
        self.id = id;
    }

    /// True if there is no file on this machine.
    pub(super) fn other_end(&self) -> Option<Arc<dyn Remote>> {
        self.remote.clone()
    }

    /// True if it leaves no file here.
    pub(super) fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// The name that the file has now which stood where this one is.
    pub(super) fn former(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// Puts a new file where the former one is, which is kept under another name. Before [`Output::begin`].
    pub(super) fn move_former_aside(&mut self) -> Result<(), RecordError> {
        let Some(former) = self.former.take() else { return Ok(()) };
        self.moved = Some(former.move_aside()?);
        self.kept = self.moved.clone();
        let made = TargetPath::of(&self.path).and_then(|place| place.create_new(PRIVATE));
        self.file = made.map_err(self.error("create"))?;
        self.made.push(self.path.clone());
        self.lock = Some(lock(&self.path, &self.file)?);
        Ok(())
    }

    fn error(&self, action: &'static str) -> impl Fn(io::Error) -> RecordError + use<> {
        let path = self.path.clone();
        move |source| RecordError::Output { action, path: path.clone(), source }
    }

    fn name(&self) -> String {
        self.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    }

    /// Makes the spool of one CPU of one buffer.
    pub(super) fn spool(
        &mut self,
        buffer: &SetUpBuffer,
        cpu: CpuId,
        compression: Compression,
        keep: Option<(Keep, Arc<KeptTasks>)>,
    ) -> Result<ChunkSink, RecordError> {
        let file = spool_name(&self.name(), &buffer.name, cpu);
        let path = self.path.with_file_name(&file);
        let entry = SpoolEntry {
            buffer: buffer.name.clone(),
            clock: buffer.clock.current.clone(),
            page_size: buffer.sub_buffer as u32,
            cpu,
            file,
            target: (0, 0),
        };
        let chunked = compression != Compression::None;
        if let Some(remote) = &self.remote {
            self.table.entries.push(entry);
            let index = if chunked { ChunkIndex::with_room() } else { ChunkIndex::default() };
            return Ok(ChunkSink::Remote(remote.ring(&buffer.name, cpu, chunked), index));
        }
        let spool = Spool::create(&path, chunked).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => RecordError::Unfinished { path: self.path.clone(), spool: path.clone() },
            _ => RecordError::Output { action: "create", path: path.clone(), source },
        })?;
        self.made.push(path);
        self.table.entries.push(entry);
        Ok(ChunkSink::Spool(match keep {
            Some((keep, kept)) => spool.keep(keep, Some(kept)),
            None => spool,
        }))
    }

    /// The descriptors that keep the file locked.
    pub(super) fn held(&self) -> Vec<BorrowedFd<'_>> {
        self.lock.iter().flat_map(FileLock::held).chain([self.file.as_fd()]).collect()
    }

    /// The directory and the names of what is saved while it goes on.
    pub(super) fn save_place(&self) -> SavePlace {
        SavePlace::of(&self.path)
    }

    /// A descriptor of the file system it lies on.
    pub(super) fn any_file(&self) -> Result<File, RecordError> {
        self.file.try_clone().map_err(self.error("write"))
    }

    /// The file and where its buffers are recorded from, for the journal.
    pub(super) fn recording(&self, buffers: &[SetUpBuffer]) -> Result<JournalledRecording, RecordError> {
        let file = self.file.metadata().map_err(self.error("look at"))?;
        let path = std::path::absolute(&self.path).map_err(self.error("look at"))?;
        let buffer = |buffer: &SetUpBuffer| RecordedBuffer {
            name: buffer.name.clone(),
            instance: buffer.instance.name().map(str::to_owned),
            read_before: buffer.cpus.iter().filter(|(_, s)| s.read > 0).map(|(cpu, s)| (cpu.0, s.read)).collect(),
        };
        Ok(JournalledRecording {
            path: path.to_string_lossy().into_owned(),
            device: file.dev(),
            inode: file.ino(),
            buffers: buffers.iter().filter(|buffer| !buffer.is_text).map(buffer).collect(),
        })
    }

    /// Makes the file that learnt names go to while recording.
    pub(super) fn comm_spool(&mut self) -> Result<File, RecordError> {
        if self.is_remote() {
            // They are in memory anyway, and are sent at the end.
            return File::options().write(true).open("/dev/null").map_err(self.error("create"));
        }
        let file = comms_spool_name(&self.name());
        let path = self.path.with_file_name(&file);
        let spool =
            OpenOptions::new().append(true).create_new(true).mode(PRIVATE).open(&path).map_err(
                |source| match source.kind() {
                    io::ErrorKind::AlreadyExists => {
                        RecordError::Unfinished { path: self.path.clone(), spool: path.clone() }
                    }
                    _ => RecordError::Output { action: "create", path: path.clone(), source },
                },
            )?;
        self.made.push(path);
        self.table.comms = file;
        Ok(spool)
    }

    /// Makes the file that the cgroups of tasks go to while recording; `None` if there is none on this machine.
    pub(super) fn cgroup_spool(&mut self) -> Result<Option<File>, RecordError> {
        if self.is_remote() {
            return Ok(None);
        }
        let path = self.path.with_file_name(cgroups_spool_name(&self.name()));
        let spool =
            OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(&path).map_err(|source| match source
                .kind()
            {
                io::ErrorKind::AlreadyExists => {
                    RecordError::Unfinished { path: self.path.clone(), spool: path.clone() }
                }
                _ => RecordError::Output { action: "create", path: path.clone(), source },
            })?;
        self.made.push(path.clone());
        self.cgroups = Some(path);
        Ok(Some(spool))
    }

    /// Reads ahead what [`Output::begin`] will want to know of `events`.
    pub(super) fn read_formats<'a>(
        &mut self,
        tracefs: &Tracefs,
        events: impl IntoIterator<Item = &'a EventName>,
    ) -> Result<(), RecordError> {
        self.formats = Formats::read(tracefs, events)?;
        Ok(())
    }

    /// Writes all that is known before the first event: from here on the file can be read, whatever happens.
    pub(super) fn begin(
        &mut self,
        tracefs: &Tracefs,
        plan: &Plan,
        buffers: &[SetUpBuffer],
        time: ClockFacts,
    ) -> Result<SymbolsWriter, RecordError> {
        let Some(main) = buffers.first() else { return Err(super::PlanError::NoEvents.into()) };
        let mut events: Vec<EventName> = buffers.iter().flat_map(|b| b.events.iter().cloned()).collect();
        events.sort_unstable();
        events.dedup();
        // The earlier contents of a ring can be of any event.
        let all = plan.all_formats || buffers.iter().any(|buffer| buffer.held_before > 0);
        let metadata = KernelMetadata::read(tracefs, (!all).then_some(&events), std::mem::take(&mut self.formats))?;
        let file = self.any_file()?;
        file.set_len(0).map_err(self.error("write"))?;
        let codec = plan.compression.codec();
        let lock = self.lock.take();
        let write = || -> Result<SectionWriter, WriteError> {
            let lock = lock.map_or_else(|| FileLock::take(&file), Ok)?;
            let mut writer = SectionWriter::create_locked(file, lock, Abi::HOST, main.sub_buffer as u32, codec)?;
            metadata.write(&mut writer)?;
            if let Some(micros) = time.date {
                writer.option(OptionId::DATE, with_nul(&format!("{micros:#x}")));
            }
            if let Some(offset) = plan.ts_offset {
                writer.option(OptionId::OFFSET, with_nul(&offset.to_string()));
            }
            writer.option(OptionId::TRACECLOCK, clocks(&main.clock).as_bytes());
            for hook in &plan.hooks {
                writer.option(OptionId::HOOK, with_nul(hook));
            }
            writer.option(OptionId::UNAME, with_nul(&uname()));
            writer.option(OptionId::VERSION, with_nul(concat!("rtrace ", env!("CARGO_PKG_VERSION"))));
            writer.option_u64(OptionId::TRACEID, self.id);
            if let Some(nodes) = numa_nodes() {
                writer.option(OptionId::RTRACE_NODES, with_nul(&nodes.to_string()));
            }
            if let Some(line) = &plan.command_line {
                writer.option(OptionId::RTRACE_COMMAND, with_nul(line));
            }
            for guest in &plan.guests {
                writer.option(OptionId::GUEST, guest.write(Abi::HOST));
            }
            if let Some(conversion) = time.tsc {
                writer.option(OptionId::TSC2NSEC, super::trace_clock::option(conversion));
            }
            // Numbers of CPUs may have gaps.
            let highest = main.cpus.iter().map(|(cpu, _)| cpu.0).max();
            writer.option_u32(OptionId::CPUCOUNT, highest.map_or(0, |cpu| cpu.saturating_add(1)));
            if let Some(reading) = super::wall_clock::read(main) {
                writer.option(OptionId::RTRACE_WALL_CLOCK, with_nul(&reading.to_string()));
            }
            for buffer in buffers.iter().filter(|buffer| !buffer.enabled.events.is_empty()) {
                writer.option(OptionId::RTRACE_EVENTS, with_nul(&buffer.enabled.to_text(&buffer.name)));
            }
            for buffer in buffers.iter().filter(|buffer| buffer.coverage != Coverage::default()) {
                writer.option(OptionId::RTRACE_COVERAGE, with_nul(&buffer.coverage.to_text(&buffer.name)));
            }
            if self.is_remote() {
                // Nothing names them if this machine is gone before the end.
                writer.saved_cmdlines(&tracefs.saved_cmdlines().unwrap_or_default())?;
            }
            writer.publish(&self.table)?;
            Ok(writer)
        };
        let writer =
            write().map_err(|source| RecordError::TraceFile { path: self.path.clone(), source: Box::new(source) })?;
        let btf = super::metadata::btf(tracefs, buffers);
        let sent = match &self.remote {
            Some(remote) => Some((self.any_file()?, self.id, Arc::clone(remote))),
            None => None,
        };
        if let Some((file, id, remote)) = sent.as_ref().filter(|sent| !sent.2.wants_all_first()) {
            send_file(file, *id, remote)?;
        }
        Ok(SymbolsWriter { writer, table: self.table.clone(), path: self.path.clone(), btf, sent })
    }

    /// From here on there are events in the spools: no file is removed any more, whatever happens.
    pub(super) fn keep_files(&mut self) {
        self.made.clear();
        self.moved = None;
    }

    /// Takes the writer back from the thread that wrote the symbols.
    pub(super) fn resume(&mut self, writer: SectionWriter) {
        self.writer = Some(writer);
    }

    /// True if the file that is written has no name any more: somebody removed it, or the directory it lies in.
    pub(super) fn was_removed(&self) -> bool {
        !self.is_remote() && self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// The path of the file now, if somebody gave it another one meanwhile.
    pub(super) fn renamed(&self) -> Option<PathBuf> {
        let file = self.file.metadata().ok().filter(|_| !self.is_remote())?;
        let is_it = |path: &Path| {
            let there = path.symlink_metadata();
            there.is_ok_and(|there| (there.dev(), there.ino()) == (file.dev(), file.ino()))
        };
        if is_it(&self.path) {
            return None;
        }
        fs::read_link(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok().filter(|path| is_it(path))
    }

    /// The path of the file.
    fn place(&self) -> PathBuf {
        self.renamed().unwrap_or_else(|| self.path.clone())
    }

    /// Removes the spools of a file that was removed: they are unreadable without it.
    pub(super) fn give_up(mut self, spools: impl IntoIterator<Item = ChunkSink>) {
        self.writer = None;
        spools.into_iter().for_each(ChunkSink::remove);
        if !self.table.comms.is_empty() {
            let _ = fs::remove_file(self.path.with_file_name(&self.table.comms));
        }
        self.cgroups.iter().for_each(|path| drop(fs::remove_file(path)));
    }

    /// Size of the file as it is, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Adds `end` and what is known of tasks, and moves the spools into the file, which lacks `lost`. Gives its size in
    /// bytes.
    pub(super) fn finish(
        &mut self,
        buffers: &[SetUpBuffer],
        end: AtTheEnd,
        (spools, lost): (Vec<Vec<ChunkSink>>, &[UnsavedEvents]),
        (comms, maps): (&[(Pid, Comm)], &[&ProcMaps]),
    ) -> Result<u64, RecordError> {
        let Some(mut writer) = self.writer.take() else { return Ok(0) };
        for entry in &mut self.table.entries {
            let (buffer, cpu) = (entry.buffer.clone(), entry.cpu);
            entry.set_account(lost.iter().filter(|lost| (lost.cpu, &lost.buffer) == (cpu, &buffer)));
        }
        // At its place, while nothing needs space: all that follows may fail, and `recover` reads it.
        let path = self.place();
        let failed = |source| RecordError::NotFinished { path: path.clone(), source: Box::new(source) };
        writer.update_table(&self.table).map_err(failed)?;
        for lost in lost {
            writer.option(OptionId::RTRACE_UNSAVED, lost.write(Abi::HOST));
        }
        for (id, data) in end.options {
            writer.option(id, data);
        }
        for map in maps {
            writer.option(OptionId::PROCMAPS, map.option());
        }
        let builds: BuildIds = maps.iter().flat_map(|map| map.builds()).collect();
        if !builds.is_empty() {
            writer.option(OptionId::RTRACE_BUILDS, with_nul(&builds.to_string()));
        }
        let mut names = Vec::with_capacity(comms.len() * 16);
        for (pid, comm) in comms {
            comm.write_line(*pid, &mut names);
        }
        let dir = self.path.parent().unwrap_or(Path::new(""));
        if let Some(remote) = &self.remote {
            for (buffer, text) in buffers.iter().filter(|b| b.is_text).zip(end.texts) {
                writer.buffer_text(&buffer.name, &buffer.clock.current, &text?).map_err(failed)?;
            }
            for (entry, spool) in self.table.entries.iter().zip(spools.into_iter().flatten()) {
                let ChunkSink::Remote(_, index) = spool else { continue };
                if let Some(data) = index.write(Abi::HOST, &entry.buffer, entry.cpu) {
                    writer.option(OptionId::RTRACE_INDEX, data);
                }
            }
            writer.saved_cmdlines(&names).and_then(|()| writer.publish(&self.table)).map_err(failed)?;
            send_file(&self.file, self.id, remote)?;
            let sent = remote.finish().map_err(|source| RecordError::Remote { place: remote.place(), source })?;
            return Ok(sent.size.unwrap_or_default());
        }
        let mut finished = Vec::new();
        for (entry, spool) in self.table.entries.iter().zip(spools.into_iter().flatten()) {
            if !spool.is_there() {
                continue;
            }
            let (entry, path) = (entry.clone(), dir.join(&entry.file));
            match spool.into_counts() {
                Ok((size, chunks, index)) => finished.push(FinishedSpool { entry, path, size, chunks, index }),
                Err(source) => return Err(failed(WriteError::Spool { path, source })),
            }
        }
        let mut places: Vec<_> = buffers
            .iter()
            .filter(|b| !b.is_text)
            .map(|b| (b.name.clone(), b.clock.current.clone(), b.sub_buffer as u32))
            .collect();
        if let Some(main) = buffers.first().filter(|main| !main.name.is_empty()) {
            // an unused top buffer
            places.insert(0, (String::new(), main.clock.current.clone(), main.sub_buffer as u32));
        }
        for (buffer, text) in buffers.iter().filter(|b| b.is_text).zip(end.texts) {
            writer.buffer_text(&buffer.name, &buffer.clock.current, &text?).map_err(failed)?;
        }
        writer.saved_cmdlines(&names).map_err(failed)?;
        let written = writer.finish(&places, &finished).map_err(failed)?;
        if !self.table.comms.is_empty() {
            let _ = fs::remove_file(dir.join(&self.table.comms));
        }
        self.cgroups.iter().for_each(|path| drop(fs::remove_file(path)));
        Ok(written.file_size)
    }
}

impl Output {
    /// Gives the finished file to `owner`, as far as [`safe_file::give`](give()) does.
    ///
    /// # Errors
    /// [`RecordError::Output`].
    pub(super) fn give(&self, owner: FileOwner) -> Result<(), RecordError> {
        if self.is_remote() {
            return Ok(());
        }
        give(&self.file, &self.place(), owner).map(drop).map_err(self.error("give away"))
    }

    /// Makes a file of version 6 of the finished one, beside it and then in its place. Gives its size in bytes.
    ///
    /// # Errors
    /// [`RecordError::Version6`]; the file stays as it was.
    pub(super) fn rewrite_as_version6(&mut self) -> Result<u64, RecordError> {
        let place = self.place();
        let path = place.with_file_name(format!("{}.{}.tmp", self.name(), std::process::id()));
        let written = self.write_version6(&place, &path).and_then(|written| {
            fs::rename(&path, &place).map_err(|source| WriteError::Write { what: "the file", source })?;
            Ok(written)
        });
        let renamed = written.map(|(file, size)| {
            self.file = file;
            size
        });
        renamed.map_err(|source| {
            let _ = fs::remove_file(&path);
            RecordError::Version6 { path: place.clone(), source: Box::new(source) }
        })
    }

    fn write_version6(&self, from: &Path, path: &Path) -> Result<(File, u64), WriteError> {
        let failed = |source| WriteError::Write { what: "the file", source };
        let trace = Trace::open(File::open(from).map_err(failed)?)?;
        let new =
            OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE).open(path).map_err(failed)?;
        let mut damaged = None;
        let file = new.try_clone().map_err(failed)?;
        let size = convert(&trace, new, Version::V6, 1, &mut |error| {
            damaged.get_or_insert(error);
        })?;
        match damaged {
            None => Ok((file, size)),
            Some(error) => Err(error.into()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        for path in &self.made {
            let _ = fs::remove_file(path);
        }
        if let Some(old) = self.moved.as_ref().filter(|_| self.path.symlink_metadata().is_err()) {
            let _ = fs::rename(old, &self.path);
        }
    }
}

impl SymbolsWriter {
    /// Adds the kernel's symbols and types to the file. Without them the recording is still one, so what goes wrong comes back
    /// beside the writer.
    pub(super) fn write(mut self, kallsyms: Result<Vec<u8>, tracefs::Error>) -> (SectionWriter, Option<RecordError>) {
        let error = match kallsyms {
            Ok(kallsyms) => {
                let mut added = self.writer.kallsyms(kallsyms);
                if let (Ok(()), Some(btf)) = (&added, &self.btf) {
                    added = self.writer.btf(btf);
                }
                let added = added.and_then(|()| self.writer.publish(&self.table));
                let path = self.path;
                let added = added.map_err(|source| RecordError::TraceFile { path, source: Box::new(source) });
                let sent = || self.sent.as_ref().map_or(Ok(()), |(file, id, remote)| send_file(file, *id, remote));
                added.and_then(|()| sent()).err()
            }
            Err(error) => Some(error.into()),
        };
        (self.writer, error)
    }
}

/// Sends the trace file in memory as it is now.
fn send_file(file: &File, id: u64, remote: &Arc<dyn Remote>) -> Result<(), RecordError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; file.metadata()?.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    };
    read()
        .and_then(|bytes| remote.file(id, bytes))
        .map_err(|source| RecordError::Remote { place: remote.place(), source })
}

/// The text of `trace_clock`.
pub(super) fn clocks(clock: &TraceClock) -> String {
    let mark = |name: &String| if *name == clock.current { format!("[{name}]") } else { name.clone() };
    clock.available.iter().map(mark).collect::<Vec<_>>().join(" ") + "\n"
}

/// Makes an empty file at `path`, or where its link leads; a file that is there is kept as `path`.old. Gives the file's own
/// path.
///
/// # Errors
/// As those of a recording that goes there.
pub fn new_file(path: &Path) -> Result<(PathBuf, File), RecordError> {
    let mut output = Output::create(path)?;
    output.move_former_aside()?;
    let file = output.any_file()?;
    output.keep_files();
    Ok((output.path.clone(), file))
}

/// A number that no other recording has, for all practical purposes.
pub fn trace_id() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64);
    now ^ u64::from(std::process::id()).rotate_left(40)
}

//! Files to be rewritten: opened for reading, made beside their place and put there when they are complete.

use super::exit::{Exit, Failure};
use crate::cli::terminal::note;
use anyhow::{Context, anyhow};
use nix::unistd::{getegid, geteuid};
use rtrace::event::Record;
use rtrace::merge::Merge;
use rtrace::recording::Recording;
use rtrace::safe_file::PRIVATE;
use rtrace::trace_dat::{Buffer, FileError, Siblings, TimeOptions, Trace};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Opens a trace file, and of an unfinished recording the spools beside it.
pub(crate) fn open(path: &Path) -> Result<Trace, Failure> {
    let failed = || format!("failed to read {}", path.display());
    let file = File::open(path).with_context(failed)?;
    let mut trace = Trace::open(file.try_clone().with_context(failed)?).map_err(|error| {
        let exit = if error.is_foreign() { Exit::Failed } else { Exit::Incomplete };
        Failure::new(exit, anyhow::Error::new(error).context(failed()))
    })?;
    attach_spools(&mut trace, path, &file)?;
    Ok(trace)
}

/// The same, with the symbols.
pub(crate) fn open_recording(path: &Path) -> Result<Recording, Failure> {
    open(path).map(|trace| resolved(trace, path))
}

/// The file at `path` with its symbols; notes where they are of another boot.
pub(crate) fn resolved(trace: Trace, path: &Path) -> Recording {
    let recording = Recording::from(trace);
    if let Some(buffer) = recording.symbols_of_buffer() {
        let (path, buffer) = (path.display(), if buffer.is_empty() { "the top buffer" } else { buffer });
        note!("rtrace: {path}: functions are named as of {buffer}: other buffers hold events of another boot");
    }
    recording
}

/// Adds what lies beside the recording at `path`, open as `file`, if it is unfinished; returns whether it is.
pub(crate) fn attach_spools(trace: &mut Trace, path: &Path, file: &File) -> Result<bool, Failure> {
    let Some(table) = &trace.spools else { return Ok(false) };
    if table.finishing {
        let error = anyhow!("{}: the recording was killed while it was being finished", path.display());
        return Err(Failure::new(Exit::Incomplete, error)
            .hint(format!("`rtrace recover {}` finishes it; nothing is lost.", path.display())));
    }
    let siblings = Siblings::of(path, file).with_context(|| format!("failed to read {}", path.display()))?;
    trace.attach_spools(&siblings);
    Ok(true)
}

/// The file that a command reads: `-i FILE`, or the last argument.
#[derive(clap::Args)]
pub(crate) struct InputArg {
    /// File to read [default: trace.dat]
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with = "input")]
    file: Option<PathBuf>,
    /// The same, as trace-cmd has it
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
}

impl InputArg {
    pub(crate) fn path(&self) -> &Path {
        self.input.as_ref().or(self.file.as_ref()).map_or(Path::new("trace.dat"), PathBuf::as_path)
    }
}

/// Calls `see` with the records of some CPUs of a buffer, in the order of time. What is damaged is told and passed over.
pub(crate) fn each_record(
    trace: &Trace,
    buffer: &Buffer,
    cpus: std::ops::Range<usize>,
    damage: &mut Damage<'_>,
    mut see: impl FnMut(&Record<'_>),
) -> Result<(), Failure> {
    let mut merge = Merge::default();
    for cpu in cpus {
        merge.add(trace.stream(buffer, cpu, &TimeOptions::default())?, 0);
    }
    loop {
        match merge.advance() {
            Ok(true) => see(&merge.record()),
            Ok(false) => return Ok(()),
            Err(error) => damage.note(&error.error),
        }
    }
}

/// Whether a file that is in the way may be overwritten.
#[derive(clap::Args, Clone, Copy, Default)]
pub(crate) struct Overwrite {
    /// Overwrite the file to write if there is one
    #[arg(long)]
    force: bool,
}

impl Overwrite {
    /// Refuses what is not to be overwritten: any file without `--force`, and whatever is not a file.
    pub(crate) fn check(self, path: &Path) -> Result<(), Failure> {
        match path.symlink_metadata() {
            Err(_) => Ok(()), // making it says why not
            Ok(there) if !there.is_file() && !there.is_symlink() => Err(Failure::new(
                Exit::Failed,
                anyhow!("failed to create {}: it is not a regular file", path.display()),
            )),
            Ok(_) if !self.force => Err(Failure::new(Exit::Usage, anyhow!("{} exists already", path.display()))
                .hint("`--force` overwrites it; `-o FILE` names another one.")),
            Ok(_) => Ok(()),
        }
    }
}

/// The mode for what is made of the recording at `input`: it gives no more away than that file does. Bits of a group
/// mean something else for a file of another group.
pub(crate) fn mode_like(input: &Path) -> u32 {
    const OWNER: u32 = 0o600;
    let Ok(input) = input.metadata() else { return PRIVATE };
    let same = input.uid() == geteuid().as_raw() && input.gid() == getegid().as_raw();
    let others = input.mode() & 0o006;
    if same { OWNER | input.mode() & 0o066 } else { OWNER | others << 3 | others }
}

/// A file being made; dropped before [`Made::keep`] it leaves nothing.
pub(crate) struct Made {
    path: PathBuf,
    temporary: PathBuf,
    overwrite: Overwrite,
    kept: bool,
}

impl Made {
    /// Makes an empty file that will be `path`, with `mode` less the umask.
    pub(crate) fn new(path: &Path, mode: u32, overwrite: Overwrite) -> Result<(Self, File), Failure> {
        overwrite.check(path)?;
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)
            .with_context(|| format!("failed to create {}", path.display()))?;
        Ok((Made { path: path.to_owned(), temporary, overwrite, kept: false }, file))
    }

    /// Puts it in its place.
    pub(crate) fn keep(mut self) -> Result<(), Failure> {
        self.overwrite.check(&self.path)?;
        std::fs::rename(&self.temporary, &self.path)
            .with_context(|| format!("failed to create {}", self.path.display()))?;
        self.kept = true;
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Tells what is damaged; gives the exit code for it.
pub(crate) struct Damage<'a> {
    path: &'a Path,
    count: u64,
}

impl<'a> Damage<'a> {
    /// Starts with what was found when `trace` was opened.
    pub(crate) fn of(path: &'a Path, trace: &Trace) -> Self {
        let mut damage = Damage { path, count: 0 };
        trace.damage.iter().for_each(|found| damage.note(found));
        damage
    }

    pub(crate) fn note(&mut self, found: &FileError) {
        const MOST_LINES: u64 = 100;
        self.count += 1;
        if self.count <= MOST_LINES {
            let chain: Vec<String> = anyhow::Chain::new(found).map(ToString::to_string).collect();
            note!("rtrace: {}: {}", self.path.display(), chain.join(": "));
        }
    }

    pub(crate) fn exit(&self) -> Exit {
        if self.count == 0 { Exit::Success } else { Exit::Incomplete }
    }
}
